"""INT columns that are compared with BIGINT terms, by every way in which a batch can run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import evercurrent as ec
from evercurrent.statements.options import STRATEGIES

VIEWS = {
    # The number of rows takes the place of k in the state of distinct rows.
    "counted": "SELECT DISTINCT a.k FROM a JOIN (SELECT k, count(*) AS n FROM b GROUP BY k) c ON a.k = c.n",
    "by_number": "SELECT a.k, sum(c.k) AS s FROM a JOIN (SELECT k, count(*) AS n FROM b GROUP BY k) c ON a.k = c.n GROUP BY a.k",
    "joined": "SELECT a.k, b.big FROM a JOIN b ON a.k = b.big",
    "absent": "SELECT b.big FROM b LEFT ANTI JOIN a ON a.k = b.big",
}


@pytest.mark.parametrize("strategy", [s for s in STRATEGIES if s != "auto"])
def test_wider_integers(spark: SparkSession, tmp_path: Path, strategy: Any) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w", progress=False, strategy=strategy)
    db.execute("CREATE TABLE a (k INT)")
    db.execute("CREATE TABLE b (k INT, big BIGINT)")
    for name, query in VIEWS.items():
        db.execute(f"CREATE VIEW {name} AS {query}", policy="incremental")
    db.apply(
        {
            "a": [{"_change_type": "insert", "k": k} for k in (1, 2, 3)],
            "b": [{"_change_type": "insert", "k": k, "big": big} for k, big in ((1, 2), (1, 2**40), (5, 1))],
        }
    )
    assert sorted(db.view("counted").rows()) == [(1,), (2,)]
    assert sorted(db.view("by_number").rows()) == [(1, 5), (2, 1)]
    assert sorted(db.view("joined").rows()) == [(1, 1), (2, 2)]
    assert sorted(db.view("absent").rows()) == [(2**40,)]
    db.apply(
        {
            "a": [{"_change_type": "delete", "k": 1}, {"_change_type": "insert", "k": 1}],
            "b": [
                {"_change_type": "insert", "k": 1, "big": 3},
                {"_change_type": "delete", "k": 5, "big": 1},
                {"_change_type": "insert", "k": 5, "big": -(2**40)},
            ],
        }
    )
    assert sorted(db.view("counted").rows()) == [(1,), (3,)]
    assert sorted(db.view("joined").rows()) == [(2, 2), (3, 3)]
    assert sorted(db.view("absent").rows()) == [(-(2**40),), (2**40,)]
    db.close()
