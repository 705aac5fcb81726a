"""Constraints judged by the change alone agree with constraints judged on all rows, from scratch."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

import pytest

import evercurrent as ec

Rows = Counter[tuple[Any, ...]]


def holds(parents: Rows, children: Rows, notes: Rows) -> bool:
    """All constraints, read off the whole contents."""
    ids = [p[0] for p in parents.elements()]
    marks = [p[1] for p in parents.elements() if p[1] is not None]
    pairs = {(p[2], p[0]) for p in parents}
    whole = [(p[2], p[0]) for p in parents.elements() if p[2] is not None]
    return (
        None not in ids
        and len(set(ids)) == len(ids)
        and len(set(marks)) == len(marks)
        and len(set(whole)) == len(whole)
        and all(c[1] is None or c[1] in ids for c in children)
        and all(n[0] is None or n[1] is None or (n[0], n[1]) in pairs for n in notes)
        and all(c[2] is None or c[2] < 4 for c in children)
    )


def random_row(chance: random.Random, table: str) -> tuple[Any, ...]:
    small = lambda: chance.choice([None, 0, 1, 2, 3])  # noqa: E731
    if table == "children":
        return (chance.randrange(3), small(), chance.choice([None, 1, 2, 3, 4]))
    return tuple(small() for _ in range(3 if table == "parents" else 2))


@pytest.mark.parametrize("seed", range(6))
def test_random_transactions(seed: int) -> None:
    chance = random.Random(seed)
    db = ec.connect()
    db.execute("""
        CREATE TABLE parents (id INT PRIMARY KEY, mark INT UNIQUE, grp INT, UNIQUE (grp, id));
        CREATE TABLE children (n INT, parent INT REFERENCES parents, size INT CHECK (size < 4));
        CREATE TABLE notes (grp INT, parent INT, FOREIGN KEY (parent, grp) REFERENCES parents (id, grp));
        CREATE VIEW sizes AS
            SELECT p.id, p.mark, COUNT(c.n) AS n, SUM(c.size) AS size
            FROM parents p LEFT JOIN children c ON c.parent = p.id GROUP BY p.id, p.mark;
        CREATE VIEW noted AS SELECT p.mark, n.grp FROM notes n JOIN parents p ON p.id = n.parent AND p.grp = n.grp;
    """)
    names = ("parents", "children", "notes")
    model: dict[str, Rows] = {name: Counter() for name in names}
    kept = refused = 0
    for _ in range(150):
        new = {name: Counter(rows) for name, rows in model.items()}
        changes: list[tuple[str, tuple[Any, ...], int]] = []
        for _ in range(chance.randrange(1, 5)):
            name = chance.choice(names)
            there = list(new[name].elements())
            if there and chance.random() < 0.45:
                row, sign = chance.choice(there), -1
            else:
                row, sign = random_row(chance, name), 1
            new[name][row] += sign
            changes.append((name, row, sign))
        new = {name: +rows for name, rows in new.items()}
        expected = holds(new["parents"], new["children"], new["notes"])
        try:
            with db.transaction():
                for name, row, sign in changes:
                    (db.table(name).insert if sign > 0 else db.table(name).delete)(row)
        except ec.ConstraintError:
            assert not expected, changes
            refused += 1
        else:
            assert expected, changes
            model = new
            kept += 1
        for name in names:
            assert counted(db.table(name).rows()) == model[name]
    assert kept > 10 and refused > 10
    report = db.verify()
    assert report, str(report)


def counted(rows: Iterable[tuple[Any, ...]]) -> Rows:
    return Counter(rows)
