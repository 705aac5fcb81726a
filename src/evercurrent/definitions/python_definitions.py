"""Definitions of views of query objects, as a version keeps them: the JSON of the query beside a text for people.

>>> from evercurrent.calculus.nodes import Relation
>>> from evercurrent.data.types import INT, Member
>>> query = Relation("orders", (Member("id", INT),))
>>> kept = python_fields(View("ids", query.fields, query, language="python"))
>>> kept["language"], decode(kept["query"]) == query
('python', True)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evercurrent.calculus.codec import decode, encode
from evercurrent.calculus.walk import relations_of
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import View
from evercurrent.frontend.python.definitions import resolve
from evercurrent.term.handed_over import HandedOver


def python_fields(view: View) -> dict[str, Any]:
    """What the definition of such a view holds instead of a text to be read again; nothing for other views."""
    if view.language != "python":
        return {}
    return {"language": "python", "query": encode(view.query), "order": [list(key) for key in view.order]}


def python_view(definition: Mapping[str, Any], catalog: Catalog, known: HandedOver) -> View:
    """The view that such a definition makes; a QueryError while what it reads is not defined."""
    query = decode(definition["query"], known)
    view = View(
        name=definition["name"],
        fields=query.fields,
        query=query,
        order=tuple((int(p), bool(d), bool(n)) for p, d, n in definition["order"]),
        text=definition["text"],
        language="python",
        policy=definition.get("policy") or "incremental",
        mode=definition.get("mode") or "strict",
        uses=relations_of(query),
    )
    return resolve(view, catalog)
