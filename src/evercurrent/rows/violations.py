"""Which rows of a change violate which rule: the rules of `catalog.rules`, compiled over rows. This is their definition.

`constraints.validate` finds out faster that nothing is violated, and asks here only when it is not sure. So this is
written to be read; its cost is that of the change.

    stored               p (id PRIMARY KEY, code UNIQUE): (1, 'b')
    inserted             p: (2, 'b')
    violation            UNIQUE (code) occurs more than once: (1, 'b'), (2, 'b')

The error that reports a violation has the same words whichever engine found it:

>>> from evercurrent.catalog.nodes import Table, TableColumn
>>> from evercurrent.catalog.rules import NotNull
>>> from evercurrent.data.types import INT
>>> print(constraint_error(NotNull(Table("t", (TableColumn("n", INT),)), 0), [(None,)]))
t: n must not be NULL: (None,) [n NOT NULL]
hint: the transaction was undone: nothing was changed
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from evercurrent.catalog.rules import (
    References,
    RowExists,
    Rule,
    TableRule,
    UniqueKey,
    Unreferenced,
    describe,
    name_of,
    table_rules,
)
from evercurrent.data.zset import Row, ZSet
from evercurrent.errors import ConstraintError
from evercurrent.rows.conversion import give_rows
from evercurrent.rows.row_rules import RowRules
from evercurrent.rows.store import KeyIndex, Store

SAMPLE = 10
"""How many violating rows an error carries."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule, and the rows that violate it. For a key these are all rows that have it: a stored one, then the inserted."""

    rule: Rule
    rows: list[Row]


def constraint_error(
    rule: Rule,
    rows: Sequence[Row],
    count: int | None = None,
    hint: str = "the transaction was undone: nothing was changed",
) -> ConstraintError:
    """Returns the error, with a sample of the violating rows as users see them. `count` is how many there are."""
    shown = give_rows(rule.table.fields, rows[:SAMPLE])
    total = len(rows) if count is None else count
    more = f" (and {total - 1} more)" if total > 1 else ""
    return ConstraintError(
        f"{rule.table.name}: {describe(rule)}: {shown[0]!r}{more} [{name_of(rule)}]",
        constraint=name_of(rule),
        rows=shown,
        count=total,
        hint=hint,
    )


def find_violations(
    stores: Mapping[str, Store], rules: Mapping[str, RowRules], deltas: Mapping[str, ZSet]
) -> Iterator[Violation]:
    """Returns every violation by net changes beside what the stores hold. Names are lower-cased."""
    for name, delta in deltas.items():
        for rule, bad in rules[name].find_violations([row for row, w in delta.items() if w > 0]):
            yield Violation(rule, bad)
    tables = {name: store.table for name, store in stores.items()}
    for table_rule in table_rules(tables, deltas):
        if bad := _find_violating_rows(table_rule, stores, deltas):
            yield Violation(table_rule, bad)


def _find_violating_rows(
    rule: TableRule, stores: Mapping[str, Store], deltas: Mapping[str, ZSet]
) -> list[Row]:
    store, delta = stores[rule.table.name.lower()], deltas[rule.table.name.lower()]
    if not store.stored:
        return []
    match rule:
        case RowExists():
            return [row for row, w in delta.items() if w < 0 and store.count(row) + w < 0]
        case UniqueKey(place=place):
            index = store.declared[place]
            assert index is not None
            return _rows_under_one_key(index, delta)
        case References(place=place, parent=parent, parent_place=at):
            reference = store.references[place]
            has_row = _keys_after(stores[parent.name.lower()].declared[at], deltas.get(parent.name.lower()))
            inserted = [(reference.key_of(row), row) for row, w in delta.items() if w > 0]
            return [row for key, row in inserted if not reference.has_null(key) and not has_row(key)]
        case Unreferenced(References(child, _, place, parent_place=at)):
            children = stores[child.name.lower()]
            if not children.stored:
                return []
            index, changed = store.declared[at], deltas.get(child.name.lower(), ZSet())
            has_row, counts = _keys_after(index, delta), children.references[place].patch(changed.weights)
            assert index is not None
            deleted = [(index.key_of(row), row) for row, w in delta.items() if w < 0]
            return [row for key, row in deleted if not has_row(key) and (counts.get(key) or 0) > 0]
        case _:
            assert_never(rule)


def _rows_under_one_key(index: KeyIndex, delta: ZSet) -> list[Row]:
    """Returns the rows that share a key after the change: the stored one that stays, and those that are inserted."""
    claims: dict[Any, list[Row]] = {}
    for row in index.select_keyed_rows([row for row, w in delta.items() if w > 0]):
        claims.setdefault(index.key_of(row), []).append(row)
    result: list[Row] = []
    for key, rows in claims.items():
        holder = index.rows.get(key)
        if holder is not None and delta.weights.get(holder, 0) >= 0:
            result += [holder, *rows]
        elif len(rows) > 1 or delta.weights[rows[0]] > 1:
            result += rows
    return result


def _keys_after(index: KeyIndex | None, delta: ZSet | None) -> Callable[[Any], bool]:
    """Returns a function that says whether a row has a key after the change."""
    assert index is not None
    weights = {} if delta is None else delta.weights
    inserted = {index.key_of(row) for row, w in weights.items() if w > 0}

    def has_row(key: Any) -> bool:
        holder = index.rows.get(key)
        return key in inserted or (holder is not None and weights.get(holder, 0) >= 0)

    return has_row
