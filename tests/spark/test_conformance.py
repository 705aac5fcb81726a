"""The conformance cases on a warehouse: all of them by the driver alone, some by Spark."""

from __future__ import annotations

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
BY_SPARK = [c for i, c in enumerate(CASES) if i % 16 == 0]


def follow(spark: SparkSession, path: Path, case: Case, strategy: str, steps: int) -> None:
    verdict = judge(case)
    db = Warehouse(spark, path, strategy="driver")
    for statement in statements(case.tables):
        db.execute(statement)
    for name, text in case.views:
        db.execute(f"CREATE VIEW {name} AS {text}")
    db._core.engine.strategy = strategy
    db.execute(f"CREATE VIEW the_view AS {case.query}")
    for i, (rows, tables) in enumerate(zip(verdict.rows, verdict.tables, strict=True)):
        if i > steps:
            return
        if i:
            with db.transaction():
                db._core.engine.strategy = "driver"  # the statements that make the change
                for statement in statements(case.steps[i - 1]):
                    db.execute(statement)
                db._core.engine.strategy = strategy  # the change itself
        for name, expected in tables.items():
            wrong = difference(list(db.table(name).rows()), expected, rough=case.rough)
            assert not wrong, f"table {name} after step {i}\n{wrong}"
        if rows is not None:
            wrong = difference(list(db.view("the_view").rows()), rows, rough=case.rough)
            assert not wrong, f"after step {i}\n{case.query}\n{wrong}"


@pytest.mark.parametrize("case", CASES, ids=str)
def test_by_the_driver(spark: SparkSession, tmp_path: Path, case: Case) -> None:
    follow(spark, tmp_path / "w", case, "driver", 99)


@pytest.mark.parametrize("case", BY_SPARK, ids=str)
def test_by_spark(spark: SparkSession, tmp_path: Path, case: Case) -> None:
    follow(spark, tmp_path / "w", case, "spark", 2)
