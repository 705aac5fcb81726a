"""GROUP BY, ROLLUP, CUBE, GROUPING SETS; the level of a grouped block.

`GROUP BY a, ROLLUP(b, c)` is the product of {a} and {b c, b, nothing}: each element is a list of sets of keys, and the
clause is every way to take one from each. `grouping(a)` is a digit of the grouping id.

    GROUP BY customer, ROLLUP(day)      sets (customer, day), (customer)

A key that contains a subquery is recognised by its syntax: two readings of one subquery have variables of different names, so
their terms differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from sqlglot import exp

from evercurrent.calculus.nodes import Comprehension, Group, Qualifier
from evercurrent.data.naming import unique
from evercurrent.data.types import BIGINT, TINYINT, Member
from evercurrent.errors import QueryError
from evercurrent.frontend.sql.carrying import Head
from evercurrent.frontend.sql.functions import name_of
from evercurrent.frontend.sql.scope import Env, Level, Rows, Stage
from evercurrent.limits import GROUPING_SETS, check
from evercurrent.term import build
from evercurrent.term.aggregates import find_aggregate
from evercurrent.term.nodes import Aggregate, Field, Literal, Term, Variable
from evercurrent.term.nullable import nullable

ReadKey = Callable[[exp.Expr], Term]
Written = Sequence[tuple[exp.Expr, Term]]


def as_written(node: exp.Expr, written: Written) -> Term | None:
    """The term of a key that is written like a node, whatever its case and the brackets around it."""
    if not written or not contains_query(node):
        return None
    found = normalise(node)
    return next((term for key, term in written if key == found), None)


def normalise(node: exp.Expr) -> exp.Expr:
    """A copy without brackets around it, with names in lower case."""
    while isinstance(node, exp.Paren | exp.Subquery) and isinstance(node.this, exp.Expr):
        node = node.this
    copy = node.copy()
    for part in copy.walk():
        if isinstance(part, exp.Identifier):
            part.set("this", part.name.lower())
            part.set("quoted", False)
        elif isinstance(part, exp.Anonymous) and isinstance(part.this, str):
            part.set("this", part.this.lower())
    return copy


def contains_query(node: exp.Expr) -> bool:
    """Whether a key contains a subquery or a lambda: their variables have other names each time that they are read."""
    return node.find(exp.Query, exp.Lambda) is not None


@dataclass(slots=True)
class Clause:
    """GROUP BY, read: its keys over the rows, and with `sets` which of them each set has."""

    keys: list[Term]
    sets: tuple[tuple[int, ...], ...] | None
    written: Written = ()
    """The keys that contain a subquery or a lambda, as they are written."""


def clause(env: Env, node: exp.Group, read_key: ReadKey) -> Clause:
    """Read GROUP BY; `read_key` returns the term of an expression, ordinals and aliases included."""
    keys: list[Term] = []

    def position(element: exp.Expr) -> int:
        term = read_key(element)
        if term not in keys:
            keys.append(term)
        return keys.index(term)

    def positions(element: exp.Expr) -> tuple[int, ...]:
        return tuple(position(e) for e in _row(element))

    plain, factors = True, list[list[tuple[int, ...]]]()
    for element in node.expressions:
        if isinstance(element, exp.Rollup | exp.Cube | exp.GroupingSets):
            plain = False
            factors.append(_sets(element, positions))
        else:
            factors.append([(position(element),)])
    for kind, make in (("rollup", _rollup), ("cube", _cube)):
        for element in node.args.get(kind) or ():
            # GROUP BY a, b WITH ROLLUP: over all that stands before
            if element.expressions:
                raise env.unsupported_error(f"this form of {kind.upper()}", node)
            plain = False
            factors = [make([chosen for factor in factors for chosen in factor])]
    for element in node.args.get("grouping_sets") or ():
        # GROUP BY a, b GROUPING SETS (...): the keys before only list what the sets use
        plain = False
        factors = [_sets(element, positions)]
    if plain:
        return Clause(keys, None)
    count = math.prod(map(len, factors))
    check(count, GROUPING_SETS, "grouping sets", env.place(node), "group by fewer columns in one CUBE")
    merged = tuple(tuple(dict.fromkeys(k for part in choice for k in part)) for choice in product(*factors))
    return Clause(keys, merged)


def _row(element: exp.Expr) -> list[exp.Expr]:
    inner = element.unnest() if isinstance(element, exp.Paren) else element
    return list(inner.expressions) if isinstance(inner, exp.Tuple) else [inner]


def _sets(element: exp.Expr, positions: Callable[[exp.Expr], tuple[int, ...]]) -> list[tuple[int, ...]]:
    match element:
        case exp.Rollup():
            return _rollup([positions(e) for e in element.expressions])
        case exp.Cube():
            return _cube([positions(e) for e in element.expressions])
        case _:
            found: list[tuple[int, ...]] = []
            for part in element.expressions:
                if isinstance(part, exp.Rollup | exp.Cube | exp.GroupingSets):
                    found += _sets(part, positions)
                else:
                    found.append(positions(part))
            return found


def _rollup(parts: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """All prefixes, the longest first."""
    return [tuple(k for part in parts[:n] for k in part) for n in range(len(parts), -1, -1)]


def _cube(parts: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """All subsets, the largest first."""
    check(
        2 ** len(parts), GROUPING_SETS, "grouping sets in a CUBE", hint="group by fewer columns in one CUBE"
    )
    return [
        tuple(k for part in chosen for k in part)
        for n in range(len(parts), -1, -1)
        for chosen in combinations(parts, n)
    ]


# --- the level above -----------------------------------------------------------------------------------------


class Grouped(Stage):
    """The level of groups: keys, aggregates, and the grouping id."""

    def __init__(
        self,
        below: Level,
        mapping: dict[Term, Term],
        own: frozenset[str],
        known: dict[int, Term],
        keys: Sequence[Term],
        grouping_id: Term | None,
        written: Written = (),
    ) -> None:
        super().__init__(below, mapping, own, self._ungrouped_error, known)
        self.keys = list(keys)
        self.grouping_id = grouping_id
        self.written = written

    def _ungrouped_error(self, node: exp.Expr | None, name: str) -> QueryError:
        return self.env.wrong(
            f"the column {name} must appear in GROUP BY or in an aggregate",
            node,
            hint=f"add it to GROUP BY, or use any_value({name})",
        )

    def read(self, node: exp.Expr) -> Term | None:
        name = name_of(node)
        if name in ("grouping", "grouping_id"):
            return self._grouping(node, name)
        key = as_written(node, self.written)
        return super().read(node) if key is None else self.mapping[key]

    def _grouping(self, node: exp.Expr, name: str) -> Term:
        from evercurrent.frontend.sql import expressions

        if self.grouping_id is None:
            raise self.env.wrong(f"{name} needs ROLLUP, CUBE or GROUPING SETS", node)
        if name == "grouping_id" and not node.expressions:
            return self.grouping_id
        if name == "grouping" and len(node.expressions) != 1:
            raise self.env.wrong("grouping takes one key", node)
        total: Term | None = None
        for argument in node.expressions:
            key = as_written(argument, self.written) or expressions.term(self.below, argument)
            if key not in self.keys:
                raise self.env.wrong(f"the argument of {name} must be a key of GROUP BY", argument, node)
            digit = self._digit(self.keys.index(key))
            total = (
                digit
                if total is None
                else build.call("add", build.call("mul", total, Literal(2, BIGINT)), digit)
            )
        assert total is not None
        return build.cast(total, TINYINT) if name == "grouping" else total

    def _digit(self, position: int) -> Term:
        assert self.grouping_id is not None
        weight = 2 ** (len(self.keys) - 1 - position)
        shifted = build.call("idiv", self.grouping_id, Literal(weight, BIGINT))
        return build.call("mod", shifted, Literal(2, BIGINT))


def group_rows(
    rows: Rows,
    qualifiers: tuple[Qualifier, ...],
    own: frozenset[str],
    by: Clause,
    aggregates: Sequence[tuple[exp.Expr, Aggregate]],
) -> tuple[Group, Variable, Grouped]:
    """The groups of rows, a variable over them, and the level in which the rest of the block is read."""
    env, head = rows.env, Head()
    for key in by.keys:
        head.carry(key, "key")
    needed = list(dict.fromkeys(a for _, a in aggregates))
    for aggregate in needed:
        head.carry_aggregate(aggregate)
    source: Comprehension = head.close(env, qualifiers, "r")
    assert head.variable is not None
    fields = _fields(by, needed)
    group = Group(
        head.variable,
        source,
        tuple(head.at(k) for k in by.keys),
        tuple(head.aggregate_at(a) for a in needed),
        fields,
        by.sets,
    )
    variable = env.variable("g", group)
    at = [build.field(variable, f.name) for f in fields]
    mapping: dict[Term, Term] = {
        k: t for k, t in zip(by.keys, at, strict=False) if not isinstance(k, Literal)
    }
    place = {a: at[len(by.keys) + i] for i, a in enumerate(needed)}
    known = {id(node): place[a] for node, a in aggregates}
    grouping_id = None if by.sets is None else at[-1]
    return group, variable, Grouped(rows, mapping, own, known, by.keys, grouping_id, by.written)


def _fields(by: Clause, aggregates: Sequence[Aggregate]) -> tuple[Member, ...]:
    keys = [k.name if isinstance(k, Field) else "key" for k in by.keys]
    extra = [] if by.sets is None else ["grouping_id"]
    names = unique([*keys, *(a.function for a in aggregates), *extra])
    missing = (
        set()
        if by.sets is None
        else {i for i in range(len(by.keys)) if any(i not in chosen for chosen in by.sets)}
    )
    fields = [
        Member(n, k.type, nullable(k) or i in missing)
        for i, (n, k) in enumerate(zip(names, by.keys, strict=False))
    ]
    for name, aggregate in zip(names[len(by.keys) :], aggregates, strict=False):
        fields.append(Member(name, aggregate.type, _aggregate_nullable(aggregate, by)))
    if by.sets is not None:
        fields.append(Member(names[-1], BIGINT, False))
    return tuple(fields)


# Of rows without NULLs there is a value as soon as there is a row.
NEVER_NULL = frozenset(("sum", "avg", "min", "max", "bool_and", "bool_or"))


def _aggregate_nullable(aggregate: Aggregate, by: Clause) -> bool:
    function = find_aggregate(aggregate.function)
    assert function is not None
    if not function.nullable:
        return False
    always_rows = bool(by.keys) and (by.sets is None or () not in by.sets)
    certain = always_rows and aggregate.where is None and aggregate.function in NEVER_NULL
    return not certain or any(nullable(a) for a in aggregate.args)
