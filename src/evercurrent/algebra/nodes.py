"""The algebra.

A plan stands for a Z-set of rows; `columns(plan)` names and types them. Column names are unique within a whole
plan (two scans of one table have different column names), so a term's columns need no qualification and a
join's columns are simply those of both sides.

Linear: Select, Map, Union, Unnest. Bilinear: Join. By key: Semi, Outer, Aggregate, Distinct, SetOperation, Window,
Top. By fixpoint: Fixpoint.

    SELECT o.id FROM orders o WHERE o.total > 5      Map(Select(Scan("orders", ...), o.total > 5), ((id, o.id),))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice
from typing import assert_never

from evercurrent.term.nodes import Aggregate as AggregateTerm
from evercurrent.term.nodes import Column, SortKey, Term, WindowFunction


@dataclass(frozen=True, slots=True)
class Scan:
    """All rows of a relation; `outputs[i]` is the column that holds the relation's i-th field.

    The relation is a table, a view, or a relation of the enclosing fixpoint. `fields` are its field names.
    """

    relation: str
    outputs: tuple[Column, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Constant:
    """Literal rows, in internal representation."""

    rows: tuple[tuple[object, ...], ...]
    outputs: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Select:
    input: Plan
    condition: Term


@dataclass(frozen=True, slots=True)
class Map:
    """For each row one row of the given columns; nothing else is kept."""

    input: Plan
    outputs: tuple[tuple[Column, Term], ...]


@dataclass(frozen=True, slots=True)
class Join:
    """Inner join; TRUE as condition is the product."""

    left: Plan
    right: Plan
    condition: Term


@dataclass(frozen=True, slots=True)
class Outer:
    """Left or full outer join. The columns of a padded side are nullable in the output."""

    kind: Choice["left", "full"]
    left: Plan
    right: Plan
    condition: Term


@dataclass(frozen=True, slots=True)
class Semi:
    """Rows of `left` for which some (`anti`: no) row of `right` makes the condition TRUE. Columns: left's."""

    left: Plan
    right: Plan
    condition: Term
    anti: bool


@dataclass(frozen=True, slots=True)
class Unnest:
    """Every row with every element of its collection; columns: the input's, then `elements`.

    `elements` are what `calculus.Unnest` says: position if `ordinal`, then the element, or key and value, or (with
    `inline`) the members of a struct element.
    """

    input: Plan
    collection: Term
    elements: tuple[Column, ...]
    outer: bool
    ordinal: bool
    inline: bool


@dataclass(frozen=True, slots=True)
class Union:
    """Additive union. `outputs[i]` holds the i-th column of each input."""

    inputs: tuple[Plan, ...]
    outputs: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One row for each group; with `scalar` (then there are no keys) exactly one row, always."""

    input: Plan
    keys: tuple[tuple[Column, Term], ...]
    aggregates: tuple[tuple[Column, AggregateTerm], ...]
    scalar: bool


@dataclass(frozen=True, slots=True)
class Distinct:
    input: Plan


@dataclass(frozen=True, slots=True)
class SetOperation:
    kind: Choice["intersect", "except"]
    all: bool
    left: Plan
    right: Plan
    outputs: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """Columns: the input's, then one for each function. All functions share one partition and order."""

    input: Plan
    functions: tuple[tuple[Column, WindowFunction], ...]


Ties = Choice["rows", "rank", "dense_rank"]


@dataclass(frozen=True, slots=True)
class Top:
    """For each value of `partition` the rows from `offset` on, `limit` of them, in a total order.

    With `ties` of "rank" or "dense_rank" (and no offset), the rows whose rank or dense rank in `order` is at most `limit`.
    """

    input: Plan
    partition: tuple[Term, ...]
    order: tuple[SortKey, ...]
    limit: int | None
    offset: int
    ties: Ties = "rows"


@dataclass(frozen=True, slots=True)
class Rule:
    """One relation of a fixpoint; scans of `name` in the bodies refer to it."""

    name: str
    body: Plan
    fields: tuple[str, ...]
    distinct: bool


@dataclass(frozen=True, slots=True)
class Fixpoint:
    rules: tuple[Rule, ...]
    result: str
    outputs: tuple[Column, ...]
    limit: int | None


Plan = (
    Scan
    | Constant
    | Select
    | Map
    | Join
    | Outer
    | Semi
    | Unnest
    | Union
    | Aggregate
    | Distinct
    | SetOperation
    | Window
    | Top
    | Fixpoint
)


def make_nullable(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """The same columns, nullable."""
    return tuple(Column(c.name, c.type, True) for c in columns)


def columns(plan: Plan) -> tuple[Column, ...]:
    """The output columns of a plan, in order."""
    match plan:
        case Scan(outputs=outputs) | Constant(outputs=outputs) | Union(outputs=outputs):
            return outputs
        case SetOperation(outputs=outputs) | Fixpoint(outputs=outputs):
            return outputs
        case Select(input=source) | Distinct(input=source) | Top(input=source):
            return columns(source)
        case Semi(left=left):
            return columns(left)
        case Map(outputs=outputs):
            return tuple(column for column, _ in outputs)
        case Join(left, right):
            return columns(left) + columns(right)
        case Outer("left", left, right):
            return columns(left) + make_nullable(columns(right))
        case Outer(_, left, right):
            return make_nullable(columns(left)) + make_nullable(columns(right))
        case Unnest(input=source, elements=elements):
            return columns(source) + elements
        case Aggregate(keys=keys, aggregates=aggregates):
            return tuple(c for c, _ in keys) + tuple(c for c, _ in aggregates)
        case Window(input=source, functions=functions):
            return columns(source) + tuple(c for c, _ in functions)
        case _:
            assert_never(plan)
