"""What every row of a table must satisfy by itself: NOT NULL, the lengths of texts, CHECK."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from evercurrent.catalog.nodes import Check, Table
from evercurrent.data.types import String
from evercurrent.data.zset import Row
from evercurrent.errors import ConstraintError
from evercurrent.rows.conversion import give_rows
from evercurrent.rows.store import positions

SAMPLE = 10
"""How many violating rows an error carries."""

Condition = Callable[[Row], Any]
Choice = Callable[[Sequence[Row]], list[Row]]


class RowRules:
    """The rules of one table. The first two kinds are one generated loop; which of them is broken is asked afterwards."""

    def __init__(self, table: Table, condition_of: Callable[[Table, Check], Condition]) -> None:
        self.table = table
        keys = table.primary_key.columns if table.primary_key else ()
        required = {i for i, c in enumerate(table.columns) if not c.nullable} | set(positions(table, keys))
        self._shapes: list[tuple[str, str, Choice]] = []
        tests = []
        for i in sorted(required):
            name = table.columns[i].name
            tests.append(f"row[{i}] is None")
            self._shapes.append((f"{name} NOT NULL", f"{name} must not be NULL", _choice(tests[-1:])))
        for i, c in enumerate(table.columns):
            if isinstance(c.type, String) and c.type.length is not None:
                tests.append(f"row[{i}] is not None and len(row[{i}]) > {c.type.length}")
                what = f"{c.name} is longer than {c.type.length}"
                self._shapes.append((f"{c.name} {c.type}", what, _choice(tests[-1:])))
        self._misshapen = _choice(tests)
        self._checks = tuple((check, condition_of(table, check)) for check in table.checks)

    def examine(self, rows: Sequence[Row]) -> None:
        for constraint, what, bad in self.broken(rows):
            raise violation(self.table, constraint, what, bad)

    def broken(self, rows: Sequence[Row]) -> Iterator[tuple[str, str, list[Row]]]:
        """Each rule that is broken: its name, what is wrong, and the rows that break it."""
        if self._misshapen(rows):
            for constraint, what, broken in self._shapes:
                if bad := broken(rows):
                    yield constraint, what, bad
        for check, condition in self._checks:
            # Only FALSE breaks a check; NULL does not.
            if bad := [row for row in rows if condition(row) is False]:
                yield check.name, f"CHECK ({check.text}) is false", bad


def _choice(tests: Sequence[str]) -> Choice:
    """The rows for which one of the tests is true."""
    source = f"[row for row in rows if {' or '.join(tests)}]" if tests else "[]"
    choose: Choice = eval(f"lambda rows: {source}")
    return choose


def violation(table: Table, constraint: str, what: str, rows: list[Row]) -> ConstraintError:
    """The error, with a sample of the violating rows as users see them."""
    shown = give_rows(table.fields, rows[:SAMPLE])
    more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
    return ConstraintError(
        f"{table.name}: {what}: {shown[0]!r}{more} [{constraint}]",
        constraint=constraint,
        rows=shown,
        count=len(rows),
        hint="the transaction was undone",
    )
