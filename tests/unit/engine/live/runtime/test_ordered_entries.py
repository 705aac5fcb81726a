"""Entries read by ranges, compared with a list."""

from __future__ import annotations

import random
from itertools import count
from operator import itemgetter
from typing import Any

import pytest

from evercurrent.engine.live.runtime import sorting
from evercurrent.engine.live.runtime.journal import Entry, undo
from evercurrent.engine.live.runtime.ordered_entries import Cut, OrderedEntries, Range

NAN = float("nan")
VALUES: list[Any] = [*range(8), 2.5, NAN, None]

Rows = set[tuple[str, Any, int]]


def rank(value: Any) -> tuple[bool, Any]:
    return (True, 0) if value != value else (False, value)


def is_before(cut: Cut, value: Any) -> bool:
    if cut is None:
        return True
    return rank(cut[0]) < rank(value) or (rank(cut[0]) == rank(value) and cut[1] == 0)


def chosen(rows: Rows, key: str, span: Range) -> set[int]:
    if span is None:
        return set()
    low, high = span
    return {
        rest
        for k, value, rest in rows
        if k == key
        and value is not None
        and is_before(low, value)
        and (high is None or not is_before(high, value))
    }


def draw_range(chooser: random.Random) -> Range:
    def cut() -> Cut:
        return None if chooser.random() < 0.3 else (chooser.choice(VALUES[:-1]), chooser.randint(0, 1))

    return None if chooser.random() < 0.1 else (cut(), cut())


@pytest.mark.parametrize("long", [2, 2000])
@pytest.mark.parametrize("seed", range(6))
def test_ranges_are_those_of_a_list(seed: int, long: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "LONG", long)
    chooser = random.Random(seed)
    entries, rows, numbers = OrderedEntries(itemgetter(1)), set[tuple[str, Any, int]](), count()
    for _ in range(300):
        journal: list[Entry] = []
        before = set(rows)
        for _ in range(chooser.randint(1, 4)):
            if rows and chooser.random() < 0.45:
                row = chooser.choice(sorted(rows, key=repr))
                rows.discard(row)
                entries.drop(*row, journal)
            else:
                row = (chooser.choice("ab"), chooser.choice(VALUES), next(numbers))
                rows.add(row)
                entries.put(*row, True, journal)
        if chooser.random() < 0.3:
            undo(journal)
            rows = before
        if chooser.random() < 0.05:
            entries.load((*row, True) for row in rows)
        key, old, new = chooser.choice("ab"), draw_range(chooser), draw_range(chooser)
        found = [rest for rest, _ in entries.between(key, old)]
        assert sorted(found) == sorted(chosen(rows, key, old))
        moved = [rest for rest, _ in entries.difference(key, old, new)]
        assert sorted(moved) == sorted(chosen(rows, key, old) ^ chosen(rows, key, new))


def test_entries_of_a_range_come_in_order() -> None:
    entries = OrderedEntries(itemgetter(0))
    for value in (5, 3, 9, 7):
        entries.put("k", value, value, True)
    assert list(entries.between("k", ((3, 1), (9, 0)))) == [(5, True), (7, True)]
    assert list(entries.between("other", (None, None))) == []


def test_without_entries_no_key_is_left() -> None:
    entries = OrderedEntries(itemgetter(0))
    entries.put("k", 5, 1, True)
    entries.drop("k", 5, 1)
    entries.drop("k", 5, 1)
    assert not entries
