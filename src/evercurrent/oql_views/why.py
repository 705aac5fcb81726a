"""Why a view of OQL has an element, or the value that it has.

    db.view("older").why(Record(E="Ann", D="dev"))      an element of a collection
    db.view("ledger").why()                             a single value

An element is found among those that the view has, by its value. Elements that are equal come from what each of them comes from.
What is nested in an element comes from its own rows, found by their key.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, assert_never

from evercurrent.algebra.lineage import origins
from evercurrent.algebra.origins import Origins
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import View
from evercurrent.data.collections import identity_of
from evercurrent.data.zset import Row, ZSet
from evercurrent.design.why import NOTHING, Contents, Why, base_plan, describe_origins
from evercurrent.errors import QueryError
from evercurrent.frontend.oql.layout import Flat, Layout, Part, Shape, Spread
from evercurrent.oql_views.values import Stitcher


def why_value(view: View, given: Any, catalog: Catalog, contents: Contents, stitcher: Stitcher) -> Why:
    """What an element of a view comes from; without one, its whole value."""
    layout = view.shape
    assert isinstance(layout, Layout)
    rows = list(stitcher.rows(layout.relation))
    chosen, shown = rows, given
    read = stitcher.reader(layout.element, stitcher.fields(layout.relation))
    if given is NOTHING:
        shown = stitcher.whole(layout)
    else:
        chosen = [row for row in rows if _same(read(row), given)]
        if not chosen:
            what = "has no element" if layout.shape is not None else "is not"
            raise QueryError(
                f"{view.name} {what} {given!r}",
                hint="give an element as it stands in value(); without one, why() explains the whole value",
            )
    found: list[Origins] = []
    for row in dict.fromkeys(chosen):
        for relation, inner in _rows(layout, row, stitcher):
            part = catalog.view(relation)
            assert part is not None
            origin = origins(base_plan(part, catalog), inner, contents, catalog)
            assert origin is not None, (relation, inner)
            found.append(origin)
    return describe_origins(view.name, shown, _together(found), catalog)


def _same(value: Any, given: Any) -> bool:
    return bool(value == given) or identity_of(value) == identity_of(given)


def _rows(layout: Layout, row: Row, stitcher: Stitcher) -> Iterator[tuple[str, Row]]:
    """A row of a result and the rows of everything that is nested in it, each with its relation."""
    yield layout.relation, row
    yield from _list_nested(layout.element, layout.relation, row, stitcher)


def _list_nested(shape: Shape, relation: str, row: Row, stitcher: Stitcher) -> Iterator[tuple[str, Row]]:
    match shape:
        case Flat():
            return
        case Spread(members):
            for _, inner in members:
                yield from _list_nested(inner, relation, row, stitcher)
        case Part(relation=inside, element=element):
            for found in stitcher.inside(shape, relation, row):
                yield inside, found
                yield from _list_nested(element, inside, found, stitcher)
        case _:
            assert_never(shape)


def _together(found: list[Origins]) -> Origins:
    rows: dict[str, ZSet] = {}
    absent: dict[str, None] = {}
    for one in found:
        for name, some in one.rows.items():
            rows.setdefault(name, ZSet()).weights.update(some.weights)
        absent |= dict.fromkeys(one.absent)
    return Origins(rows, tuple(absent))
