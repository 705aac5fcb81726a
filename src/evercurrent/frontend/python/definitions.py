"""Tables of row classes, and views of query objects, as the catalog declares them.

>>> from typing import NamedTuple
>>> class Member(NamedTuple):
...     name: str
...     role: str | None
>>> table = table_of_class(Member, "council", key="name")
>>> table.primary_key.columns, [(c.name, str(c.type), c.nullable) for c in table.columns]
(('name',), [('name', 'STRING', False), ('role', 'STRING', True)])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evercurrent.calculus.nodes import Query, Relation
from evercurrent.calculus.show import show
from evercurrent.calculus.walk import is_query, nodes, relations_of
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import ForeignKey, Table, TableColumn, Unique, View
from evercurrent.data.shapes import Shape
from evercurrent.data.types import Member, String, is_numeric
from evercurrent.errors import QueryError
from evercurrent.frontend.python.annotations import columns_of
from evercurrent.frontend.python.core import AnyQuery
from evercurrent.frontend.python.terms import Resists, term_of
from evercurrent.term import build
from evercurrent.term.nodes import Term

Names = str | Sequence[str]


def table_of_class(
    cls: type,
    name: str,
    *,
    key: Names | None = None,
    unique: Sequence[Names] = (),
    references: Mapping[Any, Any] | None = None,
    stored: bool = True,
) -> Table:
    """The table whose rows are instances of a class."""
    found = columns_of(cls)
    defaults = dict(found.defaults)
    columns = tuple(
        TableColumn(m.name, m.type, m.nullable, _default(m, defaults[m.name]) if m.name in defaults else None)
        for m in found.members
    )
    names = {m.name for m in found.members}
    primary = None if key is None else Unique(f"{name}_pk", _columns(key, names, name))
    others = tuple(Unique(f"{name}_key{i}", _columns(u, names, name)) for i, u in enumerate(unique, 1))
    keys = tuple(
        ForeignKey(f"{name}_fk{i}", _columns(child, names, name), *_target(target))
        for i, (child, target) in enumerate((references or {}).items(), 1)
    )
    return Table(name, columns, primary, others, keys, (), stored)


def _columns(given: Names, known: set[str], table: str) -> tuple[str, ...]:
    chosen = (given,) if isinstance(given, str) else tuple(given)
    for column in chosen:
        if column not in known:
            raise QueryError(f"{table} has no column {column}", hint=f"there are {', '.join(sorted(known))}")
    return chosen


def _target(target: Any) -> tuple[str, tuple[str, ...]]:
    """`(Dept, "id")`, `("dept", "id")` or `"dept.id"`."""
    if isinstance(target, str):
        parent, _, column = target.rpartition(".")
        return parent, (column,)
    parent, columns = target
    name = parent.__name__ if isinstance(parent, type) else str(parent)
    return name, (columns,) if isinstance(columns, str) else tuple(columns)


def _default(member: Member, value: Any) -> Term | None:
    try:
        return build.cast(term_of(value), member.type)
    except (Resists, QueryError):
        return None


def shape_over(cls: type, table: str, fields: Sequence[Member]) -> tuple[Shape, list[str]]:
    """A class over a relation that is there already: its shape, and the columns that its fields are."""
    found = columns_of(cls)
    by_name = {f.name.lower(): f for f in fields}
    names = []
    for member in found.members:
        field = by_name.get(member.name.lower())
        if field is None:
            raise QueryError(
                f"{table} has no column {member.name}, which {cls.__name__} has",
                hint=f"its columns are {', '.join(f.name for f in fields)}",
            )
        same = field.type == member.type or (is_numeric(field.type) and is_numeric(member.type))
        if not same and not (isinstance(field.type, String) and isinstance(member.type, String)):
            raise QueryError(
                f"{table}.{field.name} is {field.type}, and {cls.__name__}.{member.name} is {member.type}"
            )
        names.append(field.name)
    return found.shape, names


def view_of_query(name: str, query: AnyQuery, policy: Any = "incremental") -> View:
    """The declaration of a view."""
    made: Query = query._query()
    return View(
        name=name,
        fields=made.fields,
        query=made,
        order=query._read_order(),
        text=show(made),
        language="python",
        policy=policy,
        uses=relations_of(made),
    )


def resolve(view: View, catalog: Catalog) -> View:
    """The same view over another catalog; a QueryError if what it reads is no longer what it was."""
    query = view.query
    assert is_query(query)  # type: ignore[arg-type]
    for node in nodes(query):  # type: ignore[arg-type]
        if isinstance(node, Relation) and node.name in view.uses:
            found = catalog.relation(node.name)
            if found is None:
                raise QueryError(f"there is no table or view {node.name}")
            if found.fields != node.fields:
                raise QueryError(
                    f"the columns of {node.name} are no longer those that {view.name} was defined over",
                    hint=f"drop {view.name} and define it again",
                )
    return view
