"""Which rows of its tables a query needs, found by keys and indexes instead of reading whole tables.

    SELECT o.total FROM orders o JOIN customers c ON c.id = o.customer WHERE o.id = 7

    orders    by its primary key (id) = 7
    customers by its primary key (id) = o.customer, for the rows of orders that were found

Law. A lookup replaces one generator `v <- table` by `v <- part`, where the part has at least the rows of the table that satisfy the
conditions between which and `v` stands a conjunction. All conditions stay in the query. So the query over the parts returns what
the query over the tables returns, and its evaluator need not know about lookups.

A condition that is looked up is tried before those beside it, as equalities are in `calculus.schedule`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from evercurrent.calculus.nodes import (
    Comprehension,
    Filter,
    Fixpoint,
    Generator,
    OuterGenerator,
    Qualifier,
    Query,
    Relation,
    Values,
)
from evercurrent.calculus.schedule import is_safe
from evercurrent.calculus.scope import free_variables
from evercurrent.calculus.walk import nodes, with_parts
from evercurrent.calculus.walk import term_with_parts as with_term_parts
from evercurrent.data.types import Date, Decimal, Integer, String, Timestamp, Type
from evercurrent.term.build import conjuncts, disjuncts
from evercurrent.term.nodes import Call, Cast, Field, Term, Variable

PART = "\0part "
"""Stands between the name of a table and the number of the part of it that a lookup returns; no identifier has a NUL."""

COMPUTED = "\0values "
"""Begins the names of constant rows for which others are looked up."""

Limit = tuple[Term, bool]
"""A bound of a range, and whether it is part of it."""


@dataclass(frozen=True, slots=True)
class IndexShape:
    """What a table can be looked up by. A `prefix` of an index is enough, and a range of the next column; a key needs all columns."""

    name: str
    columns: tuple[str, ...]
    place: int
    prefix: bool = False


Shapes = Callable[[str], Sequence[IndexShape]]


@dataclass(frozen=True, slots=True)
class Lookup:
    """The rows of a table whose first columns of an index have one of these values each, and whose next one is in a range."""

    part: str  # the name of the relation that has these rows
    table: str
    index: IndexShape
    equal: tuple[tuple[Term, ...], ...]
    low: Limit | None = None
    high: Limit | None = None
    driver: tuple[str, str] | None = None  # a variable in the terms, and the part over whose rows it ranges

    def __str__(self) -> str:
        names = self.index.columns
        said = [
            f"{name} = {'?' if len(terms) == 1 else f'one of {len(terms)} values'}"
            for name, terms in zip(names, self.equal, strict=False)
        ]
        if self.low is not None or self.high is not None:
            said.append(f"{names[len(self.equal)]} in a range")
        if self.driver is None:
            return f"{self.table}: {self.index.name} ({', '.join(said)})"
        rows = "VALUES" if self.driver[1].startswith(COMPUTED) else self.driver[1].split(PART)[0]
        return f"{self.table}: {self.index.name} ({', '.join(said)}), for each row of {rows}"


@dataclass(frozen=True, slots=True)
class AccessPlan:
    """A query over parts of tables, and how to find these, in order."""

    query: Query
    lookups: tuple[Lookup, ...]
    scanned: tuple[str, ...]  # the relations that are still read as a whole
    computed: Mapping[str, Query] = field(
        default_factory=dict
    )  # constant rows for which others are looked up


def plan_access(query: Query, shapes: Shapes, size: Callable[[str], int]) -> AccessPlan:
    """Returns the query over the parts that can be looked up; `size` is that of a table, -1 of what is none."""
    planner = _Planner(shapes, size)
    found = planner.query(query, {}, frozenset())
    parts = {lookup.part for lookup in planner.lookups}
    scanned = sorted({n.name for n in nodes(found) if isinstance(n, Relation)} - parts)
    return AccessPlan(found, tuple(planner.lookups), tuple(scanned), planner.computed)


@dataclass(slots=True)
class _Candidate:
    index: IndexShape
    equal: tuple[tuple[Term, ...], ...]
    low: Limit | None
    high: Limit | None
    driver: tuple[str, str] | None

    @property
    def rank(self) -> tuple[bool, bool, int, int]:
        """Larger is better: no driver; all columns of a key; many columns; few values; a range rather than nothing."""
        whole = not self.index.prefix
        return self.driver is None, whole, len(self.equal), bool(self.low) + bool(self.high)


@dataclass(slots=True)
class _Conditions:
    """What is known of the columns of one variable."""

    equal: dict[str, list[tuple[tuple[Term, ...], tuple[str, str] | None]]] = field(default_factory=dict)
    low: dict[str, Limit] = field(default_factory=dict)
    high: dict[str, Limit] = field(default_factory=dict)


Drivers = Mapping[str, str]
"""The parts over which variables range."""


class _Planner:
    def __init__(self, shapes: Shapes, size: Callable[[str], int]) -> None:
        self.shapes = shapes
        self.size = size
        self.computed: dict[str, Query] = {}
        self.lookups: list[Lookup] = []

    def query(self, query: Query, drivers: Drivers, local: frozenset[str]) -> Query:
        if isinstance(query, Comprehension):
            return self.comprehension(query, drivers, local)
        if isinstance(query, Fixpoint):
            local = local | {d.name for d in query.definitions}
        return with_parts(
            query, lambda q: self.query(q, drivers, local), lambda t: self.term(t, drivers, local)
        )

    def term(self, term: Term, drivers: Drivers, local: frozenset[str]) -> Term:
        return with_term_parts(
            term, lambda q: self.query(q, drivers, local), lambda t: self.term(t, drivers, local)
        )

    def comprehension(self, query: Comprehension, drivers: Drivers, local: frozenset[str]) -> Query:
        known = dict(drivers)
        parts: dict[int, Relation] = {}
        own = {q.variable.name for q in query.qualifiers if not isinstance(q, Filter)}
        while True:
            best: tuple[_Candidate, int] | None = None
            for i, qualifier in enumerate(query.qualifiers):
                if i in parts or not _reads_table(qualifier, local):
                    continue
                for candidate in self._candidates(query, qualifier, own, known):
                    if best is None or candidate.rank > best[0].rank:
                        best = candidate, i
            if best is None:
                driver = self._driver(query, parts, own, known, local)
                if driver is None:
                    break
                known[driver[0]] = driver[1]
                continue
            chosen, i = best
            at = query.qualifiers[i]
            assert isinstance(at, Generator | OuterGenerator) and isinstance(at.source, Relation)
            table = at.source.name
            part = Relation(f"{table}{PART}{len(self.lookups)}", at.source.fields)
            self.lookups.append(
                Lookup(part.name, table, chosen.index, chosen.equal, chosen.low, chosen.high, chosen.driver)
            )
            parts[i] = part
            known[at.variable.name] = part.name
        qualifiers = tuple(_over(q, parts.get(i)) for i, q in enumerate(query.qualifiers))
        return with_parts(
            replace(query, qualifiers=qualifiers),
            lambda q: self.query(q, known, local),
            lambda t: self.term(t, known, local),
        )

    def _driver(
        self,
        query: Comprehension,
        parts: Mapping[int, Relation],
        own: set[str],
        known: Drivers,
        local: frozenset[str],
    ) -> tuple[str, str] | None:
        """A variable whose rows, read as a whole, make another table's rows known: of a small table, or of VALUES."""
        found: list[tuple[int, str, str]] = []
        for qualifier in query.qualifiers:
            if not isinstance(qualifier, Generator) or qualifier.variable.name in known:
                continue
            source, name = qualifier.source, qualifier.variable.name
            if isinstance(source, Values) and all(map(is_parameter, free_variables(source))):
                size, rows = len(source.rows), f"{COMPUTED}{len(self.computed)}"
            elif isinstance(source, Relation) and source.name not in local:
                size, rows = self.size(source.name), source.name
            else:
                continue
            if size >= 0:
                found.append((size, name, rows))
                if isinstance(source, Values):
                    self.computed[rows] = source
        for _, name, rows in sorted(found):
            with_it = {**known, name: rows}
            for i, qualifier in enumerate(query.qualifiers):
                if i not in parts and _reads_table(qualifier, local):
                    if any(self._candidates(query, qualifier, own, with_it)):
                        return name, rows
        return None

    def _candidates(
        self, query: Comprehension, qualifier: Qualifier, own: set[str], known: Drivers
    ) -> Iterator[_Candidate]:
        assert isinstance(qualifier, Generator | OuterGenerator) and isinstance(qualifier.source, Relation)
        shapes = self.shapes(qualifier.source.name)
        if not shapes:
            return
        found = _conditions(query, qualifier, own, known)
        for shape in shapes:
            equal: list[tuple[Term, ...]] = []
            driver: tuple[str, str] | None = None
            for column in shape.columns:
                options = found.equal.get(column, [])
                fitting = [o for o in options if o[1] is None or driver is None or o[1] == driver]
                if not fitting:
                    break
                terms, needs = min(fitting, key=lambda o: (o[1] is not None, len(o[0])))
                driver = driver or needs
                equal.append(terms)
            low = high = None
            if shape.prefix and len(equal) < len(shape.columns):
                low = found.low.get(shape.columns[len(equal)])
                high = found.high.get(shape.columns[len(equal)])
            usable = len(equal) == len(shape.columns) or (shape.prefix and (equal or low or high))
            if usable:
                yield _Candidate(shape, tuple(equal), low, high, driver)


def _over(qualifier: Qualifier, part: Relation | None) -> Qualifier:
    """The generator over a part of its table."""
    if part is None or not isinstance(qualifier, Generator | OuterGenerator):
        return qualifier
    return replace(qualifier, source=part)


def _reads_table(qualifier: Qualifier, local: frozenset[str]) -> bool:
    return (
        isinstance(qualifier, Generator | OuterGenerator)
        and isinstance(qualifier.source, Relation)
        and qualifier.source.name not in local
        and PART not in qualifier.source.name
    )


def _conditions(
    query: Comprehension, qualifier: Generator | OuterGenerator, own: set[str], known: Drivers
) -> _Conditions:
    """What the conditions of a comprehension say of the rows of one of its generators."""
    result = _Conditions()
    if isinstance(qualifier, OuterGenerator):
        conditions: Sequence[Term] = conjuncts(qualifier.on)
    else:
        conditions = [c for q in query.qualifiers if isinstance(q, Filter) for c in conjuncts(q.condition)]
    variable = qualifier.variable

    def driver_of(terms: Sequence[Term]) -> tuple[bool, tuple[str, str] | None]:
        """Whether the values of terms can be known, and from the rows of which part."""
        read = frozenset[str]().union(*map(free_variables, terms))
        ranging = {name for name in read if name in known}
        if not all(map(is_safe, terms)) or variable.name in read or len(ranging) > 1:
            return False, None
        if any(name in own and name not in known for name in read):
            return False, None
        others = {name for name in read if name not in known}
        if not all(map(is_parameter, others)):
            return False, None
        name = next(iter(ranging), None)
        return True, None if name is None else (name, known[name])

    for condition in conditions:
        equality = _equality(condition, variable)
        if equality is not None:
            column, terms = equality
            can, driver = driver_of(terms)
            if can:
                result.equal.setdefault(column, []).append((terms, driver))
            continue
        limit = _limit(condition, variable)
        if limit is not None:
            column, term, lower, inclusive = limit
            can, driver = driver_of([term])
            if can and driver is None:
                (result.low if lower else result.high).setdefault(column, (term, inclusive))
    return result


def is_parameter(name: str) -> bool:
    """Whether a variable stands for a parameter of the statement: `?1` or `:name`."""
    return name[:1] in "?:"


def _column_of(term: Term, variable: Variable) -> tuple[str, Type] | None:
    """The column of the variable's row that a term is, if equal values of both are equal inside."""
    if isinstance(term, Cast) and isinstance(term.type, Integer) and isinstance(term.of.type, Integer):
        if term.type.bits < term.of.type.bits:
            return None
        term = term.of
    if isinstance(term, Field) and isinstance(term.of, Variable) and term.of.name == variable.name:
        return term.name, term.type
    return None


def _equality(condition: Term, variable: Variable) -> tuple[str, tuple[Term, ...]] | None:
    """The column and the terms of which it equals one, if that is what the condition says."""
    match condition:
        case Call("eq", (a, b)):
            for own, other in ((a, b), (b, a)):
                found = _column_of(own, variable)
                if found is not None and variable.name not in free_variables(other):
                    return found[0], (other,)
        case Call("in_list", (own, *others)):
            found = _column_of(own, variable)
            if found is not None:
                return found[0], tuple(others)
        case Call("or"):
            parts = [_equality(part, variable) for part in disjuncts(condition)]
            columns = {part[0] for part in parts if part is not None}
            if None not in parts and len(columns) == 1:
                return columns.pop(), tuple(term for part in parts if part is not None for term in part[1])
        case _:
            pass
    return None


LIMITS = {"ge": (True, True), "gt": (True, False), "le": (False, True), "lt": (False, False)}
"""Whether `column op value` is a lower limit, and whether it is part of the range."""


def _limit(condition: Term, variable: Variable) -> tuple[str, Term, bool, bool] | None:
    if not isinstance(condition, Call) or condition.function not in LIMITS:
        return None
    lower, inclusive = LIMITS[condition.function]
    left, right = condition.args
    for own, other, is_lower in ((left, right, lower), (right, left, not lower)):
        found = _column_of(own, variable)
        if found is not None and isinstance(found[1], Integer | Decimal | String | Date | Timestamp):
            return found[0], other, is_lower, inclusive
    return None
