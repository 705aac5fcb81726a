"""One suite, every engine: after every step the view is what the reference evaluator and DuckDB say."""

from __future__ import annotations

import pytest

from tests.conformance.case import Case, all_cases
from tests.conformance.engines import ENGINES
from tests.conformance.judge import judge
from tests.duck import difference

CASES = all_cases()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case, engine: str) -> None:
    under_test = ENGINES[engine]()
    verdict = judge(case)
    under_test.define(case)
    for i, (rows, tables) in enumerate(zip(verdict.rows, verdict.tables, strict=True)):
        if i:
            under_test.step(case.steps[i - 1])
        where = f"after step {i}: {case.steps[i - 1]}" if i else "at the start"
        for name, expected in tables.items():
            wrong = difference(under_test.table(name), expected, rough=case.rough)
            assert not wrong, f"table {name} {where}\n{wrong}"
        if rows is not None:
            wrong = difference(under_test.rows(), rows, rough=case.rough)
            assert not wrong, f"{where}\n{case.query}\n{wrong}"
        under_test.check()
    under_test.finish()


def test_there_are_many_cases() -> None:
    assert len(CASES) >= 150
