"""Elements of lists and dictionaries by their place, and slices.

A constant place in an ordered list is the first rows of a query; a place that is stored with the element is a condition;
any other access works on the collected value.

    list(5, 6, 7)[1] = 6                                      list(5, 6, 7)[0:1] = list(5, 6)
    (select e.name from e in Employees order by e.age)[0]     top 1 of the names by age
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.calculus.nodes import Exists, Filter, Generator, Top
from evercurrent.data.types import BOOLEAN, INT, Struct
from evercurrent.frontend.oql.collections import pick, with_defined
from evercurrent.frontend.oql.context import Context, wrong
from evercurrent.frontend.oql.forms import columns, comprehension, decode_slot, many, one
from evercurrent.frontend.oql.kinds import Coll
from evercurrent.frontend.oql.values import Expr, Many, One
from evercurrent.source import Place
from evercurrent.term import build
from evercurrent.term.nodes import Literal, SortKey, Term, Variable


def rank_elements(
    context: Context, collection: Many, limit: int | None, offset: int, backwards: bool = False
) -> Many:
    """Some elements of an ordered list, by their places in it; of a bag or set, by the order of all values."""
    head, read = columns(context, collection.element)
    width = len(head)
    head = [*head, *((f"key.{i}", k.term) for i, k in enumerate(collection.order))]
    query = comprehension(collection, head)
    variable = Variable(context.names.fresh("t"), Struct(query.fields))
    order = _keys(collection, variable, backwards)
    top = Top(variable, query, order, limit, offset, query.fields)
    over = Variable(context.names.fresh("t"), Struct(query.fields))
    keys = _keys(collection, over, False)
    assert width <= len(query.fields)
    return Many(collection.shape, (Generator(over, top),), read(over), keys, None, collection.defined)


def _keys(collection: Many, variable: Variable, backwards: bool) -> tuple[SortKey, ...]:
    return tuple(
        SortKey(build.field(variable, f"key.{i}"), k.descending != backwards, k.nulls_first != backwards)
        for i, k in enumerate(collection.order)
    )


def edge(context: Context, collection: Many, last: bool) -> Expr:
    """`first` or `last` of a list."""
    return _single(context, rank_elements(context, collection, 1, 0, backwards=last))[0]


def _single(context: Context, collection: Many) -> tuple[Expr, Term]:
    """The element of a collection that has one at most, and whether it has one."""
    head, read = columns(context, collection.element)
    query = comprehension(collection, head)
    found = Exists(query, BOOLEAN)
    return pick(query, read, found), found


def index_collection(context: Context, expr: Expr, at: One, place: Place | None) -> tuple[Expr, Term]:
    """`list[at]` or `dictionary[at]`, and whether there is such an element."""
    if isinstance(expr, One) and isinstance(expr.kind, Coll) and expr.kind.kind == "list":
        return _item(expr, at)
    collection = many(context, expr, place)
    if collection.position is not None:
        test = Filter(build.call("eq", collection.position, at.term, place=place))
        return _single(context, replace(collection, qualifiers=(*collection.qualifiers, test)))
    if collection.shape != "list":
        raise wrong(f"a {collection.shape} has no positions", place, hint="order by makes a list")
    if isinstance(at.term, Literal) and isinstance(at.term.value, int):
        if at.term.value < 0:
            return _single(context, rank_elements(context, collection, 0, 0))
        return _single(context, rank_elements(context, collection, 1, at.term.value))
    return _item(one(context, collection), at)


def _item(value: One, at: One) -> tuple[Expr, Term]:
    """An element of an array, and whether there is such a one."""
    assert isinstance(value.kind, Coll)
    index = build.cast(at.term, INT)
    inside = build.conjunction(
        [
            build.call("ge", index, build.lit(0)),
            build.call("lt", index, build.call("size", value.term)),
        ]
    )
    item = decode_slot(value.kind.element, build.call("get", value.term, index))
    return with_defined(item, build.call("coalesce", inside, build.FALSE)), inside


def slice_list(context: Context, expr: Expr, low: One, high: One, place: Place | None) -> Expr:
    """`list[low:high]`, both included, cut short at the ends."""
    collection = many(context, expr, place)
    if collection.shape != "list":
        raise wrong(f"a {collection.shape} has no positions", place, hint="order by makes a list")
    if (
        not isinstance(expr, One)
        and isinstance(low.term, Literal)
        and isinstance(high.term, Literal)
        and low.term.value is not None
    ):
        if high.term.value is not None and collection.order:
            start = max(low.term.value, 0)
            return rank_elements(context, collection, max(high.term.value - start + 1, 0), start)
    value = one(context, expr)
    start_at = build.call("greatest", build.cast(low.term, INT), build.lit(0))
    length = build.call(
        "greatest",
        build.call("add", build.call("sub", build.cast(high.term, INT), start_at), build.lit(1)),
        build.lit(0),
    )
    term = build.call("slice", value.term, build.call("add", start_at, build.lit(1)), length, place=place)
    return One(value.kind, term, build.conjunction([value.defined, low.defined, high.defined]))
