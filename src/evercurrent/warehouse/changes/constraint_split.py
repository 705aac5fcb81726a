"""Splits a batch: the changes that satisfy all constraints, and those that are set aside.

A *unit* is what is set aside together: all changes of the batch under one primary key (an update that is refused must not
become a deletion), or, in a table without one, a single row.

Law. The units of all changed rows that violate a rule (see `rows.violations`) are set aside. Nothing is chosen among rows
that violate one together, so the outcome does not depend on any order. What is set aside can be the parent of another
change: so the rest is validated again, until nothing in it violates a rule. Each time there are fewer units, so it ends.

    stored  p (id, code UNIQUE): (1, 10)      inserted  p: (2, 10), (3, 30)      c (id, p REFERENCES p): (5, 2), (6, 3)
    left    p: (3, 30)  c: (6, 3)             set aside  p: (2, 10), a code that is there; then c: (5, 2), without parent
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from evercurrent.catalog.rules import Rule, describe, name_of
from evercurrent.data.zset import Row, ZSet
from evercurrent.rows.row_rules import RowRules
from evercurrent.rows.store import Store
from evercurrent.rows.violations import Violation, find_violations


@dataclass(frozen=True, slots=True)
class Aside:
    """One change that is set aside; the weight says how often, and whether it is an insertion or a deletion."""

    table: str  # lower-cased
    row: Row
    weight: int
    constraint: str
    reason: str


def split_by_constraints(
    stores: Mapping[str, Store], rules: Mapping[str, RowRules], deltas: Mapping[str, ZSet]
) -> tuple[dict[str, ZSet], list[Aside]]:
    """Returns the changes that satisfy all constraints, and the others. `stores` hold all that the rules look up."""
    left = {name: ZSet(delta.items()) for name, delta in deltas.items()}
    asides: list[Aside] = []
    while found := list(find_violations(stores, rules, left)):
        asides += remove_units(stores, left, found)
    return {name: delta for name, delta in left.items() if delta}, asides


def remove_units(
    stores: Mapping[str, Store], left: Mapping[str, ZSet], violations: Iterable[Violation]
) -> Iterator[Aside]:
    """Removes the units of violating rows from the deltas and returns them. Of several reasons the first counts."""
    reasons: dict[str, dict[Any, Rule]] = {}
    for violation in violations:
        table = violation.rule.table.name.lower()
        units = reasons.setdefault(table, {})
        for row in violation.rows:
            if row in left[table].weights:  # a stored row that has the key of a changed one stays
                units.setdefault(unit_of(stores[table], row), violation.rule)
    for table, units in reasons.items():
        for row, weight in list(left[table].items()):
            rule = units.get(unit_of(stores[table], row))
            if rule is not None:
                left[table].add(row, -weight)
                yield Aside(table, row, weight, name_of(rule), describe(rule))


def unit_of(store: Store, row: Row) -> Any:
    return row if store.primary is None else store.primary.key_of(row)
