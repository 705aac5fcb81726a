"""Definitions of views that only Spark understands, as a version keeps them: the text, the columns and the reason.

>>> from evercurrent.data.types import INT
>>> view = View("firsts", (Member("id", INT),), None, language="spark", shape=OnlySpark("TABLESAMPLE"))
>>> spark_fields(view)["reason"], [name for name, _ in spark_fields(view)["fields"]]
('TABLESAMPLE', ['id'])
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evercurrent.calculus.codec import decode, encode
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import OnlySpark, View
from evercurrent.data.types import Member
from evercurrent.errors import StorageError
from evercurrent.frontend.sql.spark_views import view_heading


def spark_fields(view: View) -> dict[str, Any]:
    """What the definition of such a view holds beside its text; nothing for other views."""
    if not isinstance(view.shape, OnlySpark):
        return {}
    columns = [[f.name, encode(f.type)] for f in view.fields]
    return {"language": "spark", "fields": columns, "reason": view.shape.reason}


def spark_view(definition: Mapping[str, Any], catalog: Catalog) -> View:
    """The view of such a definition. Its text is looked at again: what a definition must not do is refused."""
    text = definition["text"]
    heading = view_heading(text, catalog, definition.get("policy") or "full")
    if heading is None:
        raise StorageError(f"the definition of {definition['name']} is no view")
    return View(
        heading.name,
        tuple(Member(str(name), decode(type_), True) for name, type_ in definition["fields"]),
        None,
        text=text,
        language="spark",
        policy=heading.policy,
        mode=definition.get("mode") or heading.mode,
        uses=heading.uses,
        shape=OnlySpark(str(definition["reason"])),
    )
