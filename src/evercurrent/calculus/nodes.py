"""The calculus.

A query stands for a bag of records. Its `fields` name and type them. A comprehension

    bag{ (name: e.name, dept: d.name) | e <- employees, d <- departments, e.dept = d.id }

has qualifiers that are read from left to right, each in the scope of those before it: a generator binds its
variable to every record of its source (which may mention earlier variables: LATERAL, correlation, nested
collections), a filter keeps what makes it TRUE. `set{...}` is `bag{...}` without duplicates.

What comprehensions do not say naturally are nodes of their own, with a law each:

    OuterGenerator   v <-outer q on c   =  v <- (q where c, or one record of NULLs where that is empty)
    FullOuter        both sides' padded rows
    Group            set{ (k, agg{ e | r <- q, key(r) = k }) | k <- set{ key(r) | r <- q } }
    Window           every row of q, with functions of its partition in order
    Top              the first rows of q in a total order (ties: by the whole record, ascending)
    SetOperation     minimum or difference of multiplicities
    Fixpoint         the least relations that satisfy their defining bodies
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice

from evercurrent.data.types import Member, Type
from evercurrent.source import Place
from evercurrent.term.nodes import Aggregate, Nested, SortKey, Term, Variable, WindowFunction

Fields = tuple[Member, ...]


# --- queries -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Relation:
    """A table, a view, or a relation of an enclosing fixpoint, by its catalog name."""

    name: str
    fields: Fields


@dataclass(frozen=True, slots=True)
class Values:
    """Literal records; the terms may mention variables of the scope."""

    rows: tuple[tuple[Term, ...], ...]
    fields: Fields


@dataclass(frozen=True, slots=True)
class Comprehension:
    monoid: Choice["bag", "set"]
    head: tuple[Term, ...]  # one term for each field
    qualifiers: tuple[Qualifier, ...]
    fields: Fields


@dataclass(frozen=True, slots=True)
class Union:
    """Additive union (UNION ALL); the inputs agree on the types of their fields, `fields` names the result."""

    inputs: tuple[Query, ...]
    fields: Fields


@dataclass(frozen=True, slots=True)
class SetOperation:
    """INTERSECT or EXCEPT, with multiplicities (`all`) or on sets."""

    kind: Choice["intersect", "except"]
    all: bool
    left: Query
    right: Query
    fields: Fields


@dataclass(frozen=True, slots=True)
class FullOuter:
    """Pairs that satisfy `on`, and every unmatched record of either side with NULLs for the other.

    In `head` a variable whose side is missing is NULL, and so are its members.
    """

    left_variable: Variable
    left: Query
    right_variable: Variable
    right: Query
    on: Term
    head: tuple[Term, ...]
    fields: Fields


@dataclass(frozen=True, slots=True)
class Group:
    """GROUP BY: fields are the keys, then the aggregates, then (with `sets`) the grouping id as BIGINT.

    `sets` are tuples of positions in `keys`; keys that are not in a row's set are NULL there, and the grouping id
    has a one in the place of each missing key, the first key in the highest bit. Without sets and without keys there
    is exactly one record (SELECT count(*) FROM t); an empty tuple among the sets likewise always gives its record.
    """

    variable: Variable
    source: Query
    keys: tuple[Term, ...]
    aggregates: tuple[Aggregate, ...]
    fields: Fields
    sets: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """Fields are those of the source, then one for each function."""

    variable: Variable
    source: Query
    functions: tuple[WindowFunction, ...]
    fields: Fields


@dataclass(frozen=True, slots=True)
class Top:
    """ORDER BY ... LIMIT ... OFFSET. Fields are those of the source. No limit: all after the offset."""

    variable: Variable
    source: Query
    order: tuple[SortKey, ...]
    limit: int | None
    offset: int
    fields: Fields


@dataclass(frozen=True, slots=True)
class Definition:
    """One relation of a fixpoint: `name` is what `Relation` nodes in the bodies refer to.

    `distinct`: a set, and cycles in the data do no harm (UNION); otherwise a bag of derivations (UNION ALL).
    """

    name: str
    body: Query
    fields: Fields
    distinct: bool


@dataclass(frozen=True, slots=True)
class Fixpoint:
    """The relation `result` among the least solution of all definitions together."""

    definitions: tuple[Definition, ...]
    result: str
    fields: Fields
    limit: int | None = None


Query = Relation | Values | Comprehension | Union | SetOperation | FullOuter | Group | Window | Top | Fixpoint


# --- qualifiers --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Generator:
    """`variable <- source`; the variable's type is the struct of the source's fields."""

    variable: Variable
    source: Query


@dataclass(frozen=True, slots=True)
class OuterGenerator:
    """`variable <-outer source on condition`: one NULL (nullable variable) where nothing satisfies it."""

    variable: Variable
    source: Query
    on: Term


@dataclass(frozen=True, slots=True)
class Unnest:
    """`variable <- collection`, the collection a term: EXPLODE, UNNEST, an iterator over an attribute.

    The variable is a struct with the members of `variable.type`: for an array `col` (first `pos`, from 0, if
    `ordinal`), for a map `key` and `value`. For an array of structs with `inline`, the members of the struct.
    `outer`: one NULL where the collection is NULL or empty.
    """

    variable: Variable
    collection: Term
    outer: bool = False
    ordinal: bool = False
    inline: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    condition: Term


Qualifier = Generator | OuterGenerator | Unnest | Filter


# --- queries inside terms ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scalar(Nested):
    """The only field of the only record; NULL if there is none, an error if there are two."""

    query: Query
    type: Type
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Exists(Nested):
    query: Query
    type: Type


@dataclass(frozen=True, slots=True)
class Quantified(Nested):
    """`args comparison SOME (query)` or `ALL`, in three-valued logic. `x IN q` is `x eq SOME q`.

    `comparison` is a function of the term language: eq, ne, lt, le, gt, ge. Several args (eq, ne only) compare as
    a row. Empty query: SOME is FALSE, ALL is TRUE, even for a NULL arg.
    """

    comparison: str
    every: bool
    args: tuple[Term, ...]
    query: Query
    type: Type


@dataclass(frozen=True, slots=True)
class Ordered:
    """A query and the order in which its rows are read (ORDER BY without LIMIT); positions in its fields."""

    query: Query
    order: tuple[tuple[int, bool, bool], ...] = ()  # (position, descending, nulls first)
