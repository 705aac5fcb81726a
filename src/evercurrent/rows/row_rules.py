"""What every row of a table must satisfy on its own, compiled over rows.

NOT NULL and the lengths of texts are one generated loop for all columns; which of them a row violates is asked afterwards.
A CHECK whose condition fails for a row is neither satisfied nor violated: the error names it and the row.

>>> from evercurrent.catalog.nodes import TableColumn
>>> from evercurrent.data.types import INT
>>> rules = RowRules(Table("t", (TableColumn("n", INT, nullable=False),)))
>>> rules.are_satisfied_by([(1,), (2,)]), [rows for _, rows in rules.find_violations([(1,), (None,)])]
(True, [[(None,)]])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, assert_never

from evercurrent.catalog.nodes import Table
from evercurrent.catalog.rules import MaxLength, NotNull, RowRule, Satisfies, row_rules
from evercurrent.data.zset import Row
from evercurrent.errors import EvaluationError
from evercurrent.rows.conversion import give_row
from evercurrent.term.evaluate import compile_term

Choice = Callable[[Sequence[Row]], list[Row]]
"""Returns those of the rows that violate a rule."""


class RowRules:
    """The rules of one table that look at one row at a time."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self._rules = tuple((rule, _compile(rule)) for rule in row_rules(table))
        tests = [test for rule, _ in self._rules if (test := _test(rule)) is not None]
        conditions = [choose for rule, choose in self._rules if isinstance(rule, Satisfies)]
        self.conditions = conditions
        """Of each CHECK, the function that returns the rows that violate it."""
        self._choices = ([_generate(tests)] if tests else []) + conditions

    def are_satisfied_by(self, rows: Sequence[Row]) -> bool:
        return not any(choose(rows) for choose in self._choices)

    def find_violations(self, rows: Sequence[Row]) -> Iterator[tuple[RowRule, list[Row]]]:
        """Returns each rule that is violated, with the rows that violate it."""
        for rule, choose in self._rules:
            if bad := choose(rows):
                yield rule, bad


def _compile(rule: RowRule) -> Choice:
    test = _test(rule)
    if test is not None:
        return _generate([test])
    assert isinstance(rule, Satisfies)
    return _compile_check(rule, compile_term(rule.check.condition, [c.name for c in rule.table.columns]))


def _compile_check(rule: Satisfies, condition: Callable[[Row], Any]) -> Choice:
    def choose(rows: Sequence[Row]) -> list[Row]:
        try:
            return [row for row in rows if condition(row) is False]  # NULL satisfies a check
        except EvaluationError as error:
            _name_check(rule, condition, rows, error)
            raise

    return choose


def _name_check(
    rule: Satisfies, condition: Callable[[Row], Any], rows: Sequence[Row], error: EvaluationError
) -> None:
    """Puts the table, the CHECK and the first row for which it fails into the message of the error."""
    for row in rows:
        try:
            condition(row)
        except EvaluationError:
            shown = give_row(rule.table.fields, row)
            what, whose = error.message, f"{rule.table.name}: CHECK ({rule.check.text})"
            error.message = f"{whose}: {what}\n  for the row {shown!r}"
            error.args = (error.message,)
            return


def _test(rule: RowRule) -> str | None:
    """Returns the source of an expression that is true of a `row` that violates the rule."""
    match rule:
        case NotNull(_, i):
            return f"row[{i}] is None"
        case MaxLength(_, i, length):
            return f"row[{i}] is not None and len(row[{i}]) > {length}"
        case Satisfies():
            return None
        case _:
            assert_never(rule)


def _generate(tests: Sequence[str]) -> Choice:
    """Returns the function that chooses the rows of which one of the tests is true."""
    choose: Choice = eval(f"lambda rows: [row for row in rows if {' or '.join(tests)}]")
    return choose
