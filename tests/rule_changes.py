"""Random changes of tables with every kind of constraint, and what the rows path, the definition, says of them."""

from __future__ import annotations

import datetime
import decimal
import random
from collections.abc import Mapping
from typing import Any

from evercurrent.catalog.nodes import Table
from evercurrent.catalog.rules import EXISTING_ROW, Rule, describe, name_of
from evercurrent.data.zset import Row, ZSet
from evercurrent.rows.conversion import RowReader
from evercurrent.rows.row_rules import RowRules
from evercurrent.rows.store import Store
from evercurrent.rows.violations import find_violations

SCHEMA = """
CREATE TABLE parent (
    id INT, part DECIMAL(6, 2), code STRING UNIQUE, at TIME, PRIMARY KEY (id, part), UNIQUE (at), UNIQUE (code, at)
);
CREATE TABLE child (
    id BIGINT PRIMARY KEY, p INT, part DECIMAL(6, 2), at TIME REFERENCES parent (at), note VARCHAR(3),
    n DOUBLE NOT NULL, boss BIGINT REFERENCES child (id), CHECK (n >= 0), CHECK (p < 9),
    FOREIGN KEY (part, p) REFERENCES parent (part, id)
);
CREATE TABLE reading (x DOUBLE UNIQUE, n INT);
CREATE TABLE mark (x DOUBLE REFERENCES reading (x), n INT)
"""
TABLES = ("parent", "child", "reading", "mark")
NAN = float("nan")
TIMES = [datetime.time(8), datetime.time(9, 30), datetime.time(23, 59, 59, 999_999)]
PARTS = [decimal.Decimal("0.00"), decimal.Decimal("1.50"), decimal.Decimal("-0.01")]
BASE: dict[str, list[tuple[Any, ...]]] = {
    "parent": [
        (1, PARTS[0], "a", TIMES[0]),
        (1, PARTS[1], "b", None),
        (2, PARTS[0], None, TIMES[1]),
        (3, PARTS[2], None, None),
    ],
    "child": [
        (1, 1, PARTS[1], TIMES[0], "abc", 0.0, None),
        (2, None, PARTS[2], None, None, NAN, 1),
        (3, 3, PARTS[2], None, "", 2.5, 3),
    ],
    "reading": [(0.0, 1), (NAN, 2), (None, 3), (None, 3), (1.5, None)],
    "mark": [(0.0, 1), (0.0, 1), (None, None), (NAN, 4)],
}
"""Rows that satisfy all constraints, as users write them."""

Verdict = dict[tuple[str, str, str], set[Row]]
"""By table, name and description of a rule: the changed rows that violate it."""


def read_rows(table: Table, rows: list[tuple[Any, ...]]) -> list[Row]:
    """Returns rows as the database holds them; -0.0 becomes 0.0, and there is one NaN."""
    return RowReader(table, tuple(None for _ in table.columns)).many(rows)


def random_row(r: random.Random, table: str) -> tuple[Any, ...]:
    x = r.choice([None, 0.0, -0.0, NAN, 1.5, 2.5])
    match table:
        case "parent":
            code = r.choice([None, "a", "b", "c", "d", "é"])
            part = None if r.random() < 0.05 else r.choice(PARTS)
            return r.choice([1, 2, 3, 4, 5]), part, code, r.choice([None, *TIMES])
        case "child":
            p = None if r.random() < 0.2 else r.choice([1, 2, 3, 4, 9])
            n = r.choice([None, -1.0]) if r.random() < 0.1 else r.choice([0.0, -0.0, NAN, 1.5])
            boss = r.choice([None, None, *range(1, 8)])
            at = r.choice([None, None, *TIMES])
            return r.randrange(1, 9), p, r.choice([None, *PARTS]), at, r.choice([None, "", "äöü"]), n, boss
        case _:
            return x, r.choice([None, 1, 2])


def random_changes(r: random.Random, tables: Mapping[str, Table]) -> dict[str, ZSet]:
    """Returns net changes: now and then none or one violates a rule, often several do."""
    result: dict[str, ZSet] = {}
    for name in r.sample(TABLES, r.choice([1, 1, 2, 3])):
        delta = ZSet()
        stored = read_rows(tables[name], BASE[name])
        for _ in range(r.choice([1, 1, 2, 4])):
            (row,) = read_rows(tables[name], [random_row(r, name)])
            kind = r.randrange(20)
            if kind < 6:
                row = r.choice(stored)
                if delta.weights.get(row, 0) + stored.count(row) > 0:
                    delta.add(row, -1)
            elif kind < 9:  # an update: a key can stay, and can pass to another row
                old = r.choice(stored)
                if old not in delta.weights:
                    at = r.randrange(len(row))
                    delta.add(old, -1)
                    delta.add((*old[:at], row[at], *old[at + 1 :]), 1)
            elif kind == 9:
                delta.add(row, -1)
            else:
                delta.add(row, 2 if kind == 10 else 1)
        if delta:
            result[name] = delta
    return result


def violations_by_rows(
    stores: Mapping[str, Store], rules: Mapping[str, RowRules], deltas: Mapping[str, ZSet]
) -> Verdict:
    """Returns what the definition says, without the stored rows that it names beside changed ones."""
    result: Verdict = {}
    for violation in find_violations(stores, rules, deltas):
        changed = deltas[violation.rule.table.name.lower()].weights
        result[key_of(violation.rule)] = {row for row in violation.rows if row in changed}
    return result


def key_of(rule: Rule) -> tuple[str, str, str]:
    return rule.table.name.lower(), name_of(rule), describe(rule)


def deletes_missing_rows(verdict: Verdict) -> bool:
    """Returns whether a row is deleted that is not there: then the rules of keys and references say nothing definite."""
    return any(name == EXISTING_ROW for _, name, _ in verdict)
