"""The conformance cases on a warehouse: all of them by the driver alone, some by Spark. By tasks: `unit/warehouse/test_by_tasks.py`.

Cases over the same tables, rows and steps are views of one warehouse: one transaction moves all of them, as it would in a
real one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evercurrent.warehouse.database import Warehouse
from tests.conformance.case import Case, all_cases
from tests.conformance.judge import judge
from tests.duck import difference, statements

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

CASES = all_cases()
TOGETHER = 12


def together(cases: list[Case]) -> Iterator[tuple[Case, ...]]:
    """Cases that can be views of one warehouse; those with views of their own stand alone."""
    alone = [c for c in cases if c.views]
    rest = sorted((c for c in cases if not c.views), key=lambda c: (c.tables, c.steps))
    for _, found in groupby(rest, key=lambda c: (c.tables, c.steps)):
        group = list(found)
        yield from (tuple(group[i : i + TOGETHER]) for i in range(0, len(group), TOGETHER))
    yield from ((c,) for c in alone)


def called(cases: tuple[Case, ...]) -> str:
    return str(cases[0]) if len(cases) == 1 else f"{cases[0]}-and-{len(cases) - 1}-more"


BY_DRIVER = list(together(CASES))
BY_SPARK = list(together([c for i, c in enumerate(CASES) if i % 16 == 0]))


def follow(spark: SparkSession, path: Path, cases: tuple[Case, ...], strategy: str, steps: int) -> None:
    first = cases[0]
    verdicts = [judge(c) for c in cases]
    db = Warehouse(spark, path, strategy="driver")
    for statement in statements(first.tables):
        db.execute(statement)
    for name, text in first.views:
        db.execute(f"CREATE VIEW {name} AS {text}")
    db._core.engine.strategy = strategy
    for n, case in enumerate(cases):
        db.execute(f"CREATE VIEW the_view_{n} AS {case.query}")
    rough = any(c.rough for c in cases)
    for i, tables in enumerate(verdicts[0].tables):
        if i > steps:
            return
        if i:
            with db.transaction():
                db._core.engine.strategy = "driver"  # the statements that make the change
                for statement in statements(first.steps[i - 1]):
                    db.execute(statement)
                db._core.engine.strategy = strategy  # the change itself
        for name, expected in tables.items():
            wrong = difference(list(db.table(name).rows()), expected, rough=rough)
            assert not wrong, f"table {name} after step {i}\n{wrong}"
        for n, (case, verdict) in enumerate(zip(cases, verdicts, strict=True)):
            rows = verdict.rows[i]
            if rows is not None:
                wrong = difference(list(db.view(f"the_view_{n}").rows()), rows, rough=case.rough)
                assert not wrong, f"{case} after step {i}\n{case.query}\n{wrong}"


@pytest.mark.parametrize("cases", BY_DRIVER, ids=called)
def test_by_the_driver(spark: SparkSession, tmp_path: Path, cases: tuple[Case, ...]) -> None:
    follow(spark, tmp_path / "w", cases, "driver", 99)


@pytest.mark.parametrize("cases", BY_SPARK, ids=called)
def test_by_spark(spark: SparkSession, tmp_path: Path, cases: tuple[Case, ...]) -> None:
    follow(spark, tmp_path / "w", cases, "spark", 2)


def test_every_case_is_followed() -> None:
    assert sorted(str(c) for cases in BY_DRIVER for c in cases) == sorted(map(str, CASES))
