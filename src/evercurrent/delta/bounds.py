"""Amounts of integers and floats as polynomials of the ring, and the bounds under which that is right.

`sum(r.a * s.b)` over integers fails if the product of two joined rows overflows. It is `sum(r.a) * sum(s.b)` for each key
if no product can. So each factor becomes `bounded(r.a)`: the engine keeps the greatest magnitude that was seen of each
factor, and a *bound* lists the arithmetic that these magnitudes must fit into. A row that goes beyond raises `OutOfBounds`
before it changes anything; the amount is then compiled row by row, as it is written.

    r.a * s.b      ring_mul(bounded(r.a), bounded(s.b))       bound: |r.a| * |s.b| fits into INT

A product of floats is rounded for each pair of rows, so it can be taken apart only if no product is rounded: n factors of
53 / n significant bits each. `scaled` turns such a factor into an integer, and refuses any other.

Law. Wherever no check fails, the terms here have the value of the term they were made of, for every row of the join, and
that term does not fail for any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from evercurrent.data.types import BIGINT, BOOLEAN, INT, STRING, Float, Integer, Type
from evercurrent.delta.blocks import Source, replace_columns
from evercurrent.delta.definitions import digest
from evercurrent.delta.factor import is_safe, is_widening
from evercurrent.delta.program import Bound
from evercurrent.term.build import call, cast, lit
from evercurrent.term.functions.numbers.bounds import MOST_FACTORS
from evercurrent.term.nodes import Call, Cast, Column, Literal, Term
from evercurrent.term.walk import children, columns_of

DEEPEST = 10
"""Arithmetic that is nested more deeply is left as it is."""

RING = {"add": "ring_add", "sub": "ring_sub", "mul": "ring_mul"}

Home = Callable[[Term], frozenset[int | None]]


@dataclass(slots=True)
class Bounds:
    """The bounds that a program relies on so far; `refused` ones have been seen not to hold."""

    tables: frozenset[str]  # the relations of which every row is checked
    refused: frozenset[str] = frozenset()
    found: dict[str, Bound] = field(default_factory=dict)

    def take_apart(self, term: Term, sources: tuple[Source, ...], homes: Home) -> Term | None:
        """The amount as a term of the ring; None if it has to stay as it is."""
        if depth(term) > DEEPEST:
            return None
        fields = {c.name: (s.relation, f) for s in sources for f, c in zip(s.fields, s.columns, strict=True)}
        taker = _Taker(self.tables, fields, homes)
        proof = taker.resolve(term)
        if proof is None:
            return None
        name = f"{show_name(proof)}~{digest(repr(proof))}"
        if name in self.refused:
            return None
        made = taker.integers(term) if isinstance(term.type, Integer) else taker.floats(term, name)
        if made is not None:
            self.found.setdefault(name, Bound(name, proof))
        return made

    def compare_in_ring(self, condition: Term, sources: tuple[Source, ...], homes: Home) -> Term:
        """A comparison of integers whose sides cannot fail: arithmetic over one source is that of the ring, under a bound."""
        match condition:
            case Call("lt" | "le" | "gt" | "ge" as comparison, (x, y)) if isinstance(x.type, Integer):
                left, right = self.side(x, sources, homes), self.side(y, sources, homes)
                if left is not None or right is not None:
                    return Call(comparison, (wide(left or x), wide(right or y)), BOOLEAN)
        return condition

    def side(self, term: Term, sources: tuple[Source, ...], homes: Home) -> Term | None:
        """One side of a comparison; None if it can stay as it is."""
        if not isinstance(term.type, Integer) or is_safe(term) or len(homes(term)) != 1:
            return None
        return self.take_apart(term, sources, homes)


def wide(term: Term) -> Term:
    """The term as a BIGINT, which all terms of the ring are."""
    return term if term.type == BIGINT else cast(term, BIGINT)


@dataclass(slots=True)
class _Taker:
    tables: frozenset[str]
    fields: Mapping[str, tuple[str, str]]  # column -> its relation and field
    homes: Home

    def resolve(self, term: Term) -> Term | None:
        """The term over the fields of relations; None if one is not of a table."""
        names: dict[str, Term] = {}
        for c in columns_of(term):
            relation, name = self.fields.get(c.name, ("", ""))
            if relation not in self.tables:
                return None
            names[c.name] = Column(f"{relation}.{name}", c.type, c.nullable)
        return replace_columns(term, names)

    def integers(self, term: Term) -> Term | None:
        match term:
            case Literal(int()):
                return term
            case Call("add" | "sub" | "mul" as function, (a, b), Integer()):
                x, y = self.integers(a), self.integers(b)
                return None if x is None or y is None else call(RING[function], x, y)
            case Cast(of, Integer() as type) if isinstance(of.type, Integer) and is_widening(of.type, type):
                return self.integers(of)
            case _ if isinstance(term.type, Integer) and is_safe(term) and len(self.homes(term)) == 1:
                said = self.resolve(term)
                return None if said is None else Call("bounded", (term, lit(leaf(said), STRING)), BIGINT)
        return None

    def floats(self, term: Term, name: str) -> Term | None:
        factors = self.factors(term, term.type)
        if factors is None or len(factors) > MOST_FACTORS:
            return None
        n = lit(len(factors), INT)
        scaled = [Call("scaled", (f, n, lit(name, STRING)), BIGINT) for f in factors]
        return scaled[0] if len(scaled) == 1 else call("ring_mul", *scaled)

    def factors(self, term: Term, type: Type) -> list[Term] | None:
        """The factors of a product, each over one source."""
        if len(self.homes(term)) <= 1:
            return [term] if is_sound(term) else None
        match term:
            case Call("mul", (a, b)) if term.type == type:
                left, right = self.factors(a, type), self.factors(b, type)
                return None if left is None or right is None else left + right
        return None


def is_sound(term: Term) -> bool:
    """Whether a float can be computed for any row: arithmetic of floats never fails."""
    match term:
        case Call("add" | "sub" | "mul", args, Float()):
            return all(isinstance(a.type, Float) and is_sound(a) for a in args)
        case Cast(of, Float()) if isinstance(of.type, Integer | Float):
            return is_sound(of)
        case _:
            return is_safe(term)


def depth(term: Term) -> int:
    return 1 + max(map(depth, children(term)), default=0)


def leaf(said: Term) -> str:
    """The name of a factor, under which its greatest magnitude is kept."""
    return said.name if isinstance(said, Column) else digest(repr(said))


def show_name(said: Term) -> str:
    return " * ".join(sorted({c.name for c in columns_of(said)}))


def magnitude(said: Term, greatest: Callable[[str], int]) -> int | None:
    """The greatest magnitude of an amount, given those of its factors; None if some part of it could overflow.

    >>> from evercurrent.term.build import call
    >>> a, b = Column("r.a", INT), Column("s.b", INT)
    >>> magnitude(call("mul", a, b), {"r.a": 1000, "s.b": 2_000_000}.get), magnitude(call("mul", a, b), lambda _: 3)
    (2000000000, 9)
    >>> magnitude(call("mul", a, b), lambda _: 1_000_000) is None
    True
    """
    match said:
        case Literal(int(value)):
            return abs(value)
        case Call("add" | "sub" | "mul" as function, (a, b), Integer() as type):
            x, y = magnitude(a, greatest), magnitude(b, greatest)
            if x is None or y is None:
                return None
            result = x * y if function == "mul" else x + y
            return result if result < 1 << (type.bits - 1) else None
        case Cast(of, Integer()) if isinstance(of.type, Integer):
            return magnitude(of, greatest)
        case _:
            return greatest(leaf(said))


def leaves(said: Term) -> list[str]:
    """The names of the factors of an amount of integers."""
    match said:
        case Literal():
            return []
        case Call("add" | "sub" | "mul", (a, b), Integer()):
            return leaves(a) + leaves(b)
        case Cast(of, Integer()) if isinstance(of.type, Integer):
            return leaves(of)
        case _:
            return [leaf(said)]
