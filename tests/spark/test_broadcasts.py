"""What is sent whole to every executor: few rows, however few bytes many rows have in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import evercurrent as ec
from evercurrent.engine.spark.jobs import rules, transaction

ROWS = 300_000
"""Integers in a row: a few kilobytes of differences."""


@pytest.mark.parametrize("limit", [rules.BROADCAST_ROWS, 10 * ROWS])
def test_states_of_dense_keys(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int
) -> None:
    plans: list[str] = []

    def watched(*given: Any) -> Any:
        flow = original(*given)
        if flow is not None:
            plans.append(flow.frame._jdf.queryExecution().executedPlan().toString())
        return flow

    original = transaction.run_rule
    monkeypatch.setattr(transaction, "run_rule", watched)
    monkeypatch.setattr(rules, "BROADCAST_ROWS", limit)
    db = ec.connect(spark=spark, path=tmp_path / "w", progress=False, strategy="spark")
    db.execute(
        "CREATE TABLE t (id BIGINT PRIMARY KEY, x BIGINT); CREATE TABLE u (id BIGINT PRIMARY KEY, t BIGINT)"
    )
    for name in ("t", "u"):
        other = "x" if name == "t" else "t"
        many = spark.range(0, ROWS, numPartitions=2).selectExpr(
            "id", f"id AS {other}", "'insert' AS _change_type"
        )
        db.apply({name: many})
    db.execute("CREATE VIEW v AS SELECT u.id, t.x FROM u JOIN t ON u.t = t.id WHERE t.x % 1000 = 0")
    assert any("Join" in plan for plan in plans)
    # If the rows did not count, Spark would go by the bytes of the files.
    assert any("BroadcastHashJoin" in plan for plan in plans) == (limit > ROWS)
    assert sorted(db.view("v").rows()) == [(i, i) for i in range(0, ROWS, 1000)]
    db.close()
