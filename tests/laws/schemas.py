"""Random tables with few distinct values, NULLs and duplicates, and streams of transactions over them."""

from __future__ import annotations

import datetime
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from tests.laws.chooser import Chooser

Row = tuple[Any, ...]

DOMAINS: dict[str, tuple[Any, ...]] = {
    "INT": (0, 1, 2, 3, None, -1),
    "STRING": ("a", "b", "", "B", None, "ab"),
    # Halves and quarters: their sums are exact in any order, so that DuckDB's floats compare exactly.
    "DOUBLE": (0.0, 0.5, -1.25, 2.0, None),
    "DECIMAL": (Decimal("0.00"), Decimal("1.50"), Decimal("2.25"), None, Decimal("-1.50")),
    "BOOLEAN": (False, True, None),
    "DATE": (datetime.date(2024, 1, 1), datetime.date(2024, 2, 29), None),
}

SPELLING = {"DECIMAL": "DECIMAL(8,2)"}


def literal(value: Any) -> str:
    """A value as both dialects write it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case str():
            return "'" + value + "'"
        case float():
            return f"CAST('{value}' AS DOUBLE)"
        case Decimal():
            return f"CAST('{value}' AS DECIMAL(8,2))"
        case datetime.date():
            return f"DATE '{value}'"
        case _:
            return str(value)


@dataclass
class Table:
    """`keyed`: the first column is a key. `parent`: the last column refers to the key of that table."""

    name: str
    columns: list[tuple[str, str]]  # (name, kind)
    keyed: bool = False
    parent: Table | None = None
    children: list[Table] = field(default_factory=list)
    rows: Counter[Row] = field(default_factory=Counter)

    def create(self) -> str:
        parts = [f"{name} {SPELLING.get(kind, kind)}" for name, kind in self.columns]
        if self.keyed:
            parts[0] += " PRIMARY KEY"
        if self.parent is not None:
            parts.append(f"FOREIGN KEY ({self.columns[-1][0]}) REFERENCES {self.parent.name} (k)")
        return f"CREATE TABLE {self.name} ({', '.join(parts)})"

    def is_referred_to(self, row: Row) -> bool:
        return any(other[-1] == row[0] for child in self.children for other in child.rows)


KINDS = ("INT", "INT", "STRING", "DECIMAL", "DOUBLE", "BOOLEAN", "DATE")


def tables(c: Chooser) -> list[Table]:
    """Two or three tables; all have an INT column, so that joins are natural."""
    found: list[Table] = []
    for i in range(c.number(2, 3)):
        columns = [("k", "INT"), *((f"c{j}", c.pick(KINDS)) for j in range(c.number(1, 3)))]
        table = Table(f"t{i}", columns, keyed=c.chance(40))
        parents = [t for t in found if t.keyed]
        if parents and columns[-1][1] == "INT" and c.chance(60):
            table.parent = c.pick(parents)
            table.parent.children.append(table)
        found.append(table)
    return found


def a_row(c: Chooser, table: Table) -> Row | None:
    """A row that may be inserted; None if its key is taken."""
    values = [c.pick(DOMAINS[kind]) for _, kind in table.columns]
    if table.keyed:
        values[0] = c.number(0, 7)
        if any(row[0] == values[0] for row in table.rows):
            return None
    if table.parent is not None:
        values[-1] = c.pick([*sorted({row[0] for row in table.parent.rows}), None])
    return tuple(values)


Operation = tuple[str, Row | None, Row | None]
"""A table, the row that goes, the row that comes."""


def transaction(c: Chooser, found: list[Table], most: int) -> list[Operation]:
    """Some operations, already made in `rows` of the tables; references are intact after each."""
    operations: list[Operation] = []
    for _ in range(c.number(1, most)):
        table = c.pick(found)
        present = sorted(table.rows, key=repr)
        match c.pick(("insert", "insert", "delete", "replace")) if present else "insert":
            case "insert":
                new = a_row(c, table)
                if new is not None:
                    operations.append((table.name, None, new))
                    table.rows[new] += 1
            case "delete":
                old = c.pick(present)
                if not table.is_referred_to(old):
                    operations.append((table.name, old, None))
                    table.rows[old] -= 1
            case _:
                old = c.pick(present)
                table.rows[old] -= 1
                table.rows = +table.rows
                new = a_row(c, table) or old
                if table.keyed and table.is_referred_to(old):
                    new = (old[0], *new[1:])
                operations.append((table.name, old, new))
                table.rows[new] += 1
        table.rows = +table.rows
    return operations
