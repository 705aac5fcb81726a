"""Blocks: joins of relations in normal form, the monomials of Koch 2010.

A block is a product of sources, filtered, with one output row for each combination:

    { outputs | s1 <- R1, s2 <- R2, ..., explodes, conditions }

Three kinds of factor stand in the product. An *inner* source is a relation. An *anti* source D (unique on its matched
columns) is the factor `1 - D[k]`: a row stays if D has no entry for it. An *outer* source B (likewise unique) is
`B[k] + (1 - B[k]) * NULLs`: a row meets its match, or NULLs. All three are polynomials of degree one in their relation,
so a block's delta for one of its sources is the block with that factor replaced by the factor's delta:

    inner  dR           anti  -dD           outer  dB - dB * NULLs

A sum of blocks is therefore all that addition can maintain; see `graph` for what cuts a plan into blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal as Choice

from evercurrent.data.types import Integer, String
from evercurrent.delta.program import Explode
from evercurrent.term.nodes import Call, Cast, Column, Term
from evercurrent.term.nullable import nullable
from evercurrent.term.simplify import simplify
from evercurrent.term.walk import columns_of, rewrite


@dataclass(frozen=True, slots=True)
class Source:
    """A relation in a block. `columns` are what its fields are called here; `fields` are their own names.

    `on` (anti and outer only) pairs a field position with the term that it is matched with; NULLs match where
    `null_safe`.
    """

    relation: str
    fields: tuple[str, ...]
    columns: tuple[Column, ...]
    mode: Choice["inner", "anti", "outer"] = "inner"
    on: tuple[tuple[int, Term], ...] = ()
    null_safe: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    sources: tuple[Source, ...]
    conditions: tuple[Term, ...]
    outputs: tuple[Term, ...]
    explodes: tuple[Explode, ...] = ()


def names_of(*terms: Term | None) -> frozenset[str]:
    """The names of all columns that stand in the terms."""
    return frozenset(c.name for t in terms if t is not None for c in columns_of(t))


def replace_columns(term: Term, by_name: Mapping[str, Term]) -> Term:
    """The term with columns replaced, by name, and simplified: a column may have turned into a NULL or a constant."""

    def swap(t: Term) -> Term:
        return by_name.get(t.name, t) if isinstance(t, Column) else t

    replaced = rewrite(term, swap)
    return term if replaced is term else simplify(replaced)


def replace_in_explode(e: Explode, by_name: Mapping[str, Term]) -> Explode:
    return replace(e, collection=replace_columns(e.collection, by_name))


# --- equalities --------------------------------------------------------------------------------------------


def bare(term: Term) -> Term:
    """The term without casts that leave the representation as it is: among integers, among strings."""
    while isinstance(term, Cast):
        inner = term.of
        widening = (
            isinstance(inner.type, Integer)
            and isinstance(term.type, Integer)
            and inner.type.bits <= term.type.bits
        )
        if not widening and not (isinstance(inner.type, String) and isinstance(term.type, String)):
            break
        term = inner
    return term


def find_equality(condition: Term) -> tuple[Term, Term] | None:
    """The two sides of a strict equality, which is what an index can answer."""
    match condition:
        case Call("eq", (a, b)):
            return bare(a), bare(b)
        case Call("eqns", (a, b)) if not nullable(a) and not nullable(b):
            return bare(a), bare(b)
    return None


class Classes:
    """Classes of columns that the conditions of a block make equal, all of them then not NULL."""

    def __init__(self, conditions: Iterable[Term]) -> None:
        self.parent: dict[str, str] = {}
        self.shared: set[str] = set()  # columns that are equal to another
        for condition in conditions:
            match find_equality(condition):
                case (Column() as a, Column() as b):
                    self.parent[self.find(a.name)] = self.find(b.name)
                    self.shared |= {a.name, b.name}

    def find(self, name: str) -> str:
        while self.parent.get(name, name) != name:
            name = self.parent[name]
        return name

    def same(self, a: str, b: str) -> bool:
        return self.find(a) == self.find(b)

    def members(self, name: str, among: Iterable[str]) -> list[str]:
        root = self.find(name)
        if root == name and name not in self.shared:
            return [name]
        return [n for n in among if self.find(n) == root]


def is_class_condition(condition: Term) -> bool:
    match find_equality(condition):
        case (Column(), Column()):
            return True
    return False


# --- functional dependencies -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Dependencies:
    """`left -> right` pairs of column names, and columns that the conditions fix to a constant."""

    pairs: tuple[tuple[frozenset[str], frozenset[str]], ...]
    fixed: frozenset[str]

    def closure(self, names: Iterable[str]) -> frozenset[str]:
        known = set(names) | self.fixed
        grown = True
        while grown:
            grown = False
            for left, right in self.pairs:
                if left <= known and not right <= known:
                    known |= right
                    grown = True
        return frozenset(known)


def dependencies(
    sources: Iterable[Source], conditions: Iterable[Term], keys: Mapping[str, tuple[tuple[str, ...], ...]]
) -> Dependencies:
    """What determines what in a block, from the keys of its relations and its equalities.

    Each relation's keys hold by themselves at every moment of a transaction, so these hold at every step too.

    The rows that an outer join pads have NULL in all columns of that source. So a key of an outer source determines its columns
    only if the rows that do match have a value in the key: one that is matched by `=`. The empty key of a scalar aggregate has none.

        SELECT DISTINCT k.y, z.n FROM k LEFT JOIN (SELECT avg(b) AS a, count(*) AS n FROM s) z ON k.x = z.a
        (y 0, n 3) for the rows that match, (y 0, n NULL) for the others: nothing fixes n
    """
    pairs: list[tuple[frozenset[str], frozenset[str]]] = []
    fixed: set[str] = set()
    for s in sources:
        by_field = dict(zip(s.fields, (c.name for c in s.columns), strict=True))
        everything = frozenset(by_field.values())
        matched = {s.fields[i] for i, _ in s.on} if not s.null_safe else set()
        for key in keys.get(s.relation, ()):
            if s.mode == "outer" and matched.isdisjoint(key):
                continue
            if all(f in by_field for f in key):
                pairs.append((frozenset(by_field[f] for f in key), everything))
    for condition in conditions:
        match find_equality(condition):
            case (a, b):
                left, right = names_of(a), names_of(b)
                if isinstance(a, Column):
                    pairs.append((right, left)) if right else fixed.update(left)
                if isinstance(b, Column):
                    pairs.append((left, right)) if left else fixed.update(right)
    return Dependencies(tuple(pairs), frozenset(fixed))
