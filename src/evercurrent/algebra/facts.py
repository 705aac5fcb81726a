"""Keys and functional dependencies, and reasoning with them.

Closure: what a set of columns determines, by Armstrong's rules. Everything here is about names of columns; which facts
hold for which operator is said in `keys`.

>>> known = Facts.of(())
>>> known.add_dependency(("a",), ("b",))
>>> known.add_equality("b", "c")
>>> sorted(known.closure(("a",)))
['a', 'b', 'c']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from evercurrent.algebra.nulls import find_required
from evercurrent.data.types import Integer, contains_float
from evercurrent.term.build import conjuncts
from evercurrent.term.nodes import Call, Cast, Column, Literal, Term
from evercurrent.term.nullable import nullable
from evercurrent.term.walk import columns_of

Names = frozenset[str]

MANY = 8
"""Keys beyond this number are forgotten: each costs work above, and few are ever used."""


@dataclass(slots=True)
class Facts:
    dependencies: list[tuple[Names, Names]]
    keys: list[Names]
    not_null: set[str]
    equal: list[tuple[str, str]]

    @classmethod
    def of(cls, not_null: Iterable[str]) -> Facts:
        return cls([], [], set(not_null), [])

    def copy(self) -> Facts:
        return Facts(list(self.dependencies), list(self.keys), set(self.not_null), list(self.equal))

    def add_dependency(self, left: Iterable[str], right: Iterable[str]) -> None:
        x = frozenset(left)
        y = frozenset(right) - x
        if y:
            self.dependencies.append((x, y))

    def add_equality(self, a: str, b: str) -> None:
        self.equal.append((a, b))
        self.add_dependency((a,), (b,))
        self.add_dependency((b,), (a,))

    def add_key(self, key: Iterable[str], outputs: Iterable[Column]) -> None:
        """A key, as small as the dependencies make it; it determines all columns."""
        found = self.reduce_key(frozenset(key))
        self.keys = smallest([*self.keys, found])
        self.add_dependency(found, (c.name for c in outputs))

    def closure(self, given: Iterable[str]) -> Names:
        known = set(given)
        pending = list(self.dependencies)
        grown = True
        while grown:
            grown = False
            rest: list[tuple[Names, Names]] = []
            for left, right in pending:
                if left <= known:
                    known |= right
                    grown = True
                else:
                    rest.append((left, right))
            pending = rest
        return frozenset(known)

    def reduce_key(self, key: Names) -> Names:
        """The key without columns that its others determine."""
        for name in sorted(key, reverse=True):
            if name in self.closure(key - {name}):
                key -= {name}
        return key

    def combine_keys(self, a: Names, b: Names) -> list[Names]:
        """Keys of a join of sides with these keys: one side's, if it determines the other's."""
        found = []
        if b <= self.closure(a):
            found.append(self.reduce_key(a))
        if a <= self.closure(b):
            found.append(self.reduce_key(b))
        return found or [self.reduce_key(a | b)]

    def classes(self) -> frozenset[Names]:
        """Classes of equal columns, of two members and more."""
        group: dict[str, set[str]] = {}
        for a, b in self.equal:
            merged = group.get(a, {a}) | group.get(b, {b})
            for name in merged:
                group[name] = merged
        return frozenset(frozenset(members) for members in group.values())

    def rename(self, shown: Mapping[str, str], kept: set[str], not_null: set[str]) -> Facts:
        """What can be said with the kept names alone, given which of them shows the value of which column."""
        constant = self.closure(())

        def rename_all(names: Names) -> Names | None:
            told = frozenset(shown[n] for n in names - constant if n in shown)
            return told if all(n in shown for n in names - constant) else None

        result = Facts.of(not_null)
        for left, _ in self.dependencies:
            told = rename_all(left)
            if told is not None:
                result.add_dependency(told, self.closure(told) & kept)
        result.dependencies = list(dict.fromkeys(result.dependencies))
        for members in self.classes():
            inside = sorted(members & kept)
            result.equal += [(inside[0], other) for other in inside[1:]]
        result.keys = smallest(key for key in map(rename_all, self.keys) if key is not None)
        return result


def smallest(found: Iterable[Names]) -> list[Names]:
    """The keys that contain no other, shortest first."""
    kept: list[Names] = []
    for key in sorted(set(found), key=lambda k: (len(k), sorted(k))):
        if not any(other <= key for other in kept):
            kept.append(key)
    return kept[:MANY]


def same_value(term: Term) -> Term:
    """The column inside casts that lose nothing in a comparison of integers."""
    while isinstance(term, Cast) and isinstance(term.type, Integer) and isinstance(term.of.type, Integer):
        if term.of.type.bits > term.type.bits:
            break
        term = term.of
    return term


def find_constants(condition: Term) -> dict[str, Literal]:
    """The columns that a condition fixes to a constant."""
    found: dict[str, Literal] = {}
    for part in conjuncts(condition):
        match part:
            case Call("eq" | "eqns", (Column(name), Literal() as value)):
                found.setdefault(name, value)
            case Call("is_null", (Column(name, type),)):
                found.setdefault(name, Literal(None, type))
    return found


def from_condition(known: Facts, condition: Term, outputs: Iterable[Column]) -> Facts:
    """What holds for the rows that satisfy a condition, besides what is known of all rows."""
    result = known.copy()
    available = {c.name for c in outputs}
    result.not_null |= find_required(condition) & available
    for name in find_constants(condition):
        result.add_dependency((), (name,))
    for part in conjuncts(condition):
        match part:
            case Call("eq" | "eqns" as function, (a, b)):
                left, right = same_value(a), same_value(b)
                if isinstance(left, Column) and isinstance(right, Column):
                    if left.type == right.type and not contains_float(left.type):
                        result.add_equality(left.name, right.name)
                    else:
                        result.add_dependency((left.name,), (right.name,))
                        result.add_dependency((right.name,), (left.name,))
                    continue
                for one, other in ((left, right), (right, left)):
                    if isinstance(one, Column) and (function == "eq" or not nullable(other)):
                        result.add_dependency((c.name for c in columns_of(other)), (one.name,))
    result.keys = smallest(result.reduce_key(key) for key in result.keys)
    for key in result.keys:
        result.add_dependency(key, available)
    return result
