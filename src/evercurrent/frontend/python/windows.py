"""Window functions: each row with functions of its partition, in order.

    students.window(lambda s: s.city, lambda s: s.age).select(lambda s, w: (s.name, w.sum(lambda s: s.age)))

    Sally, Oslo, 20 and Cid, Oslo, 40  ->  ('Sally', 20), ('Cid', 60)

Aggregates run over a frame: all rows of the partition, or with an order those up to this one (and its peers). Another frame
is written as ("rows", start, end): offsets from the row, negative before it, None without bound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from evercurrent.calculus.nodes import Comprehension, Generator, Window
from evercurrent.data.naming import unique
from evercurrent.data.types import DOUBLE, INT, Member, Struct, Type
from evercurrent.errors import QueryError
from evercurrent.frontend.python.block import (
    Block,
    all_hoisted,
    head_of,
    replace_terms,
    row_at,
    variable,
    variable_of,
)
from evercurrent.frontend.python.capture import capture
from evercurrent.frontend.python.core import AnyQuery, select_columns
from evercurrent.frontend.python.ordering import directions
from evercurrent.frontend.python.query import Query
from evercurrent.frontend.python.results import Result, result_of
from evercurrent.frontend.python.symbols import Symbol
from evercurrent.frontend.python.terms import members_of, term_of
from evercurrent.term import build
from evercurrent.term.aggregates import aggregate, find_aggregate
from evercurrent.term.nodes import RUNNING, WHOLE, Field, Frame, Literal, SortKey, Term, WindowFunction
from evercurrent.term.nullable import nullable

T = TypeVar("T")
U = TypeVar("U")

Function = Callable[..., Any]
RANKS: dict[str, Type] = {
    "row_number": INT,
    "rank": INT,
    "dense_rank": INT,
    "percent_rank": DOUBLE,
    "cume_dist": DOUBLE,
    "ntile": INT,
}
SHIFTS = ("lag", "lead")


class Over:
    """The window of a row: functions of its partition."""

    _symbolic_ = True

    def __init__(self, rows: tuple[Symbol, ...], partition: Any, order: Any, frame: Any) -> None:
        self._rows = rows
        self._partition = () if partition is None else _terms(capture(partition, rows))
        keys = [] if order is None else directions(capture(order, rows), False)
        self._order = tuple(SortKey(term_of(d.value), d.descending, d.nulls_first) for d in keys)
        self._frame = _frame(frame, bool(self._order))
        self._hole = variable_of(Struct(()), "w")
        self._found: dict[WindowFunction, Field] = {}

    # --- ranks ---------------------------------------------------------------------------------------------

    def row_number(self) -> Any:
        """1, 2, 3, ...; ties in an order of their own."""
        return self._rank("row_number")

    def rank(self) -> Any:
        """The position, peers sharing one: 1, 2, 2, 4."""
        return self._rank("rank")

    def dense_rank(self) -> Any:
        """The position without gaps: 1, 2, 2, 3."""
        return self._rank("dense_rank")

    def percent_rank(self) -> Any:
        """The rank between 0 and 1."""
        return self._rank("percent_rank")

    def cume_dist(self) -> Any:
        """The part of the rows that come no later."""
        return self._rank("cume_dist")

    def ntile(self, count: int) -> Any:
        """Which of so many parts of nearly the same size."""
        return self._rank("ntile", build.lit(count))

    # --- other rows ----------------------------------------------------------------------------------------

    def lag(self, value: Function, offset: int = 1, default: Any = None) -> Any:
        """The value so many rows before; the default where there is none."""
        return self._shift("lag", value, offset, default)

    def lead(self, value: Function, offset: int = 1, default: Any = None) -> Any:
        """The value so many rows after; the default where there is none."""
        return self._shift("lead", value, offset, default)

    def first(self, value: Function) -> Any:
        """The value of the first row of the frame."""
        return self._pick("first_value", value)

    def last(self, value: Function) -> Any:
        """The value of the last row of the frame."""
        return self._pick("last_value", value)

    # --- aggregates ----------------------------------------------------------------------------------------

    def count(self, value: Function | None = None) -> Any:
        """How many rows the frame has."""
        return self._aggregate("count", value)

    def sum(self, value: Function) -> Any:
        """The sum over the frame."""
        return self._aggregate("sum", value)

    def avg(self, value: Function) -> Any:
        """The mean over the frame."""
        return self._aggregate("avg", value)

    def min(self, value: Function) -> Any:
        """The least value of the frame."""
        return self._aggregate("min", value)

    def max(self, value: Function) -> Any:
        """The greatest value of the frame."""
        return self._aggregate("max", value)

    def aggregate(self, name: str, value: Function | None = None) -> Any:
        """Any aggregate function by its name."""
        return self._aggregate(name, value)

    # --- within --------------------------------------------------------------------------------------------

    def _term(self, function: Function) -> Term:
        return term_of(capture(function, self._rows))

    def _rank(self, name: str, *args: Term) -> Symbol:
        if not self._order:
            raise QueryError(f"{name} needs an order", hint=".window(partition, order=lambda row: ...)")
        frame = Frame("rows", None, 0)
        return self._add(WindowFunction(name, args, RANKS[name], self._partition, self._order, frame), False)

    def _shift(self, name: str, value: Function, offset: int, default: Any) -> Symbol:
        if not self._order:
            raise QueryError(f"{name} needs an order", hint=".window(partition, order=lambda row: ...)")
        term, other = self._term(value), term_of(default)
        result = build.common_type([term.type, other.type])
        args = (build.cast(term, result), Literal(offset, INT), build.cast(other, result))
        frame = Frame("rows", None, None)
        made = WindowFunction(name, args, result, self._partition, self._order, frame)
        return self._add(made, nullable(args[0]) or nullable(args[2]))

    def _pick(self, name: str, value: Function) -> Symbol:
        term = self._term(value)
        return self._add(
            WindowFunction(name, (term,), term.type, self._partition, self._order, self._frame), True
        )

    def _aggregate(self, name: str, value: Function | None) -> Symbol:
        made = aggregate(name, [] if value is None else [self._term(value)])
        function = find_aggregate(made.function)
        assert function is not None
        node = WindowFunction(
            made.function,
            made.args,
            made.type,
            self._partition,
            self._order,
            self._frame,
            options=made.options,
        )
        return self._add(node, function.nullable)

    def _add(self, made: WindowFunction, may: bool) -> Symbol:
        found = self._found.get(made)
        if found is None:
            names = unique([*(f.name for f in self._found.values()), made.function])
            found = self._found[made] = Field(self._hole, names[-1], made.type, may)
        return Symbol(found)


def _terms(value: Any) -> tuple[Term, ...]:
    members = members_of(value)
    return (term_of(value),) if members is None else tuple(term_of(part) for _, part in members)


def _frame(frame: Any, ordered: bool) -> Frame:
    match frame:
        case None:
            return RUNNING if ordered else WHOLE
        case ("rows" | "groups" as kind, start, end):
            if start is not None and end is not None and start > end:
                raise QueryError("the frame starts after its end")
            return Frame(kind, start, end)
        case _:
            raise QueryError(
                f"{frame!r} is no frame", hint='("rows", -2, 0): two rows before, up to this one'
            )


class Windowed(Generic[T]):
    """Rows with their windows, not yet made into rows of their own."""

    def __init__(self, query: AnyQuery, partition: Any, order: Any, frame: Any) -> None:
        self._query = query
        self._window = (partition, order, frame)

    def select(self, function: Callable[[T, Over], U]) -> Query[U]:
        """What the function returns for each row and its window."""
        block = self._query._block
        over = Over(block.rows, *self._window)
        return Query(
            compute_windows(block, over, result_of(capture(function, (*block.rows, over)))),
            self._query._owner,
        )

    def with_columns(self, **columns: Callable[[Over], Any]) -> Query[Any]:
        """Each row with more columns: `with_columns(place=lambda w: w.rank())`."""
        block = self._query._block
        over = Over(block.rows, *self._window)
        head, fields = head_of(block)
        more = {name: term_of(capture(f, (over,))) for name, f in columns.items()}
        names = unique([*(f.name for f in fields), *more])
        result = result_of(dict(zip(names, map(Symbol, (*head, *more.values())), strict=True)))
        return Query(compute_windows(block, over, result), self._query._owner)


def compute_windows(block: Block, over: Over, result: Result) -> Block:
    """The block of a result over rows and their windows: what windows read is carried beside the rows."""
    found = list(over._found)
    parts = list(dict.fromkeys(t for f in found for t in _parts(f)))
    # Opaque parts become columns first; then rows and parts stand side by side.
    block, moved = all_hoisted(block, [*parts, *result.terms])
    now = dict(zip(parts, moved, strict=False))
    terms = moved[len(parts) :]
    head, fields = head_of(block)
    carried = list(dict.fromkeys(now.values()))
    names = unique([*(f.name for f in fields), *("key" for _ in carried)])
    more = tuple(Member(n, t.type, nullable(t)) for n, t in zip(names[len(fields) :], carried, strict=True))
    source = Comprehension("bag", (*head, *carried), block.qualifiers, fields + more)
    v = variable(source, "w")
    at = {t: build.field(v, m.name) for t, m in zip(carried, more, strict=True)}
    functions = tuple(_move_function(f, {old: at[new] for old, new in now.items()}) for f in found)
    labels = unique([*names, *(f.function for f in functions)])[len(names) :]
    own = tuple(
        Member(n, f.type, over._found[old].nullable)
        for n, f, old in zip(labels, functions, found, strict=True)
    )
    query = Window(v, source, functions, source.fields + own) if functions else source
    w = variable(query, "w")
    rows, start = [], 0
    for shape in block.shapes:
        rows.append(row_at(w, fields[start : start + shape.width], shape, whole=False))
        start += shape.width
    fill: dict[Term, Term] = {
        old: build.field(w, m.name) for old, m in zip(over._found.values(), own, strict=True)
    }
    fill.update({h: build.field(w, f.name) for h, f in zip(head, fields, strict=True)})
    for row, new in zip(block.rows, rows, strict=True):
        fill.setdefault(row._term, new._term)
    made = Block((Generator(w, query),), tuple(rows), block.shapes)
    return select_columns(
        made, Result(result.names, tuple(replace_terms(t, fill) for t in terms), result.shape)
    )


def _parts(f: WindowFunction) -> list[Term]:
    constant = f.args[:1] if f.function in SHIFTS else () if f.function in RANKS else f.args
    rest = f.args[2:] if f.function in SHIFTS else ()
    found = [*constant, *rest, *f.partition, *(k.term for k in f.order)]
    return [t for t in found if not isinstance(t, Literal)]


def _move_function(f: WindowFunction, at: dict[Term, Term]) -> WindowFunction:
    return WindowFunction(
        f.function,
        tuple(at.get(a, a) for a in f.args),
        f.type,
        tuple(at.get(p, p) for p in f.partition),
        tuple(SortKey(at.get(k.term, k.term), k.descending, k.nulls_first) for k in f.order),
        f.frame,
        f.where,
        f.distinct,
        f.ignore_nulls,
        f.options,
    )
