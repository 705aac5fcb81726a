"""Why a view has a row: the base rows that it comes from.

    print(db.view("spend").why((7, "12.00")))      spend [7, 12.00] comes from
                                                   orders: (1, 7, 5.00), (2, 7, 7.00), as a table

Views that the view reads are looked through, down to the tables; one that is recomputed in full because it has no plan is
shown itself. What "comes from" means for each operator is said in `algebra.lineage`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, cast

from evercurrent.algebra import build
from evercurrent.algebra.lineage import origins
from evercurrent.algebra.lower import lower
from evercurrent.algebra.nodes import Fixpoint, Plan, Scan, columns
from evercurrent.algebra.origins import Origins
from evercurrent.algebra.walk import Names, names_of, nodes, relations_of, rename_apart, rewrite
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.normalize import normalize
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import Table, TableColumn, View
from evercurrent.data.types import BIGINT, Member
from evercurrent.data.zset import Row, ZSet
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.rows.conversion import RowReader, give_row, give_rows

Contents = Callable[[str, Mapping[int, Set[Any]]], Iterable[tuple[Row, int]]]


@dataclass(frozen=True)
class Why(Mapping[str, list[Row]]):
    """From the name of a base relation to its rows that a row comes from, each as often as it is there.

    `absent` says what was looked for and not found, where that is why (outer joins, NOT EXISTS). `objects` are the
    objects among the rows, where tables are extents of classes.
    """

    view: str
    row: Any
    fields: Mapping[str, tuple[Member, ...]]
    counted: Mapping[str, list[tuple[Row, int]]]
    absent: tuple[str, ...] = ()
    objects: tuple[Any, ...] = ()

    def __getitem__(self, relation: str) -> list[Row]:
        for name, rows in self.counted.items():
            if name.lower() == relation.lower():
                return [row for row, count in rows for _ in range(count)]
        raise KeyError(relation)

    def __iter__(self) -> Iterator[str]:
        return iter(self.counted)

    def __len__(self) -> int:
        return len(self.counted)

    def __str__(self) -> str:
        from evercurrent.display import table_text, value_text

        lines = [f"{self.view} {value_text(self.row)} comes from"]
        for name in self:
            lines.append(table_text(name, *self._table(name)))
        if not self.counted:
            lines.append("no row of any table")
        lines += [f"because there is {a}" for a in self.absent]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from evercurrent.display import table_html, text_html, value_text

        parts = [text_html(f"{self.view} {value_text(self.row)} comes from")]
        parts += [table_html(name, *self._table(name)) for name in self]
        parts += [text_html(f"because there is {a}") for a in self.absent]
        return "".join(parts)

    def _table(self, name: str) -> tuple[tuple[Member, ...], list[Row], int]:
        """Fields, rows and how many; with a column of multiplicities where there are some."""
        fields, counted = self.fields[name], self.counted[name]
        total = sum(count for _, count in counted)
        if total == len(counted):
            return fields, [row for row, _ in counted[:SHOWN]], total
        return (
            (Member("times", BIGINT, False), *fields),
            [(count, *row) for row, count in counted[:SHOWN]],
            len(counted),
        )


SHOWN = 50
"""So many rows of a relation are printed."""


NOTHING: Any = object()
"""Stands for a row that was not given."""


def is_valued(view: View) -> bool:
    """Whether a view has a value of OQL, and not only rows."""
    from evercurrent.frontend.oql.layout import Layout

    return isinstance(view.shape, Layout)


def objects_of(found: Why, catalog: Catalog, handle: Callable[[int], Any]) -> tuple[Any, ...]:
    """The objects among the rows, each once."""
    objects: dict[int, Any] = {}
    for name, rows in found.counted.items():
        if catalog.schema.of_relation(name) is not None:
            objects |= {row[0]: handle(row[0]) for row, _ in rows}
    return tuple(o for o in objects.values() if o is not None)


def read_row(name: str, fields: tuple[Member, ...], row: Any) -> Row:
    """A row of a view as a user writes it: a tuple, a mapping, a dataclass."""
    if row is NOTHING:
        raise QueryError(f"which row of {name}?", hint="why(row) takes a whole row, as rows() returns it")
    columns_of_view = tuple(TableColumn(f.name, f.type, f.nullable) for f in fields)
    return RowReader(Table(name, columns_of_view), (None,) * len(fields)).one(row)


def explain_row(view: View, inner: Row, catalog: Catalog, contents: Contents, *, direct: bool = False) -> Why:
    """Explains why a view has a row, in internal representation; with `direct`, by rows of what it reads itself."""
    plan = _plan(view, catalog) if direct else base_plan(view, catalog)
    found = origins(plan, inner, contents, catalog)
    shown = give_row(view.fields, inner)
    if found is None:
        raise QueryError(
            f"{view.name} has no row {shown!r}",
            hint=f"give a whole row, as view.rows() does; the columns are {', '.join(f.name for f in view.fields)}",
        )
    return describe_origins(view.name, shown, found, catalog)


def base_plan(view: View, catalog: Catalog) -> Plan:
    """The plan of a view over base relations alone: views that it reads are put in place.

    It is the plan before the optimiser, which leaves out relations that add no columns.
    """
    plan = _plan(view, catalog)
    names = Names(names_of(plan))
    while True:
        own = {r.name.lower() for p in nodes(plan) if isinstance(p, Fixpoint) for r in p.rules}
        read = {n for n in relations_of(plan) if n.lower() not in own}
        plans = {n: find_plan(n, catalog) for n in read}
        inlined = {n: p for n, p in plans.items() if p is not None}
        if not inlined:
            return plan
        plan = rewrite(plan, lambda p, inlined=inlined: _inline(p, inlined, names))  # type: ignore[misc]


def _inline(plan: Plan, plans: Mapping[str, Plan], names: Names) -> Plan:
    if not isinstance(plan, Scan) or plan.relation not in plans:
        return plan
    copy, _ = rename_apart(plans[plan.relation], names)
    return build.project(copy, zip(plan.outputs, columns(copy), strict=True))


def _plan(view: View, catalog: Catalog) -> Plan:
    if view.query is None:
        raise UnsupportedError(
            f"only Spark computes {view.name}, and it does not say which rows its rows come from"
        )
    return lower(normalize(cast(Query, view.query)), catalog)


def find_plan(name: str, catalog: Catalog) -> Plan | None:
    """The plan of a view over what it reads; None if there is no view of this name, or it has no plan."""
    view = catalog.view(name)
    if view is None:
        return None
    try:
        return _plan(view, catalog)
    except UnsupportedError:
        return None


def describe_origins(name: str, row: Any, found: Origins, catalog: Catalog) -> Why:
    """Returns origins as users see them: public values, each row with how often it is there."""
    fields = {n: catalog.fields_of(n) for n in sorted(found.rows)}
    counted = {n: _public_rows(fields[n], found.rows[n]) for n in fields}
    return Why(name, row, fields, counted, found.absent)


def _public_rows(fields: tuple[Member, ...], rows: ZSet) -> list[tuple[Row, int]]:
    found = list(rows.items())
    shown = zip(give_rows(fields, (row for row, _ in found)), (count for _, count in found), strict=True)
    return sorted(shown, key=repr)


def filter_needed(
    entries: Iterable[tuple[Row, int]], needs: Mapping[int, Set[Any]]
) -> Iterable[tuple[Row, int]]:
    """Only entries with needed values."""
    for position, values in needs.items():
        value = itemgetter(position)
        entries = [entry for entry in entries if value(entry[0]) in values]
    return entries
