"""An error inside a view on Spark names the view, and the row where it can be found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

import evercurrent as ec
from evercurrent.warehouse.database import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("strategy", ["driver", "spark"])
def test_an_error_names_the_view(
    spark: SparkSession, tmp_path: Path, strategy: Literal["driver", "spark"], monkeypatch: pytest.MonkeyPatch
) -> None:
    db = Warehouse(spark, tmp_path / "warehouse", strategy=strategy)
    db.execute("""
        CREATE TABLE t (id INT PRIMARY KEY, x INT, y INT);
        CREATE VIEW sums AS SELECT id, x + y AS q FROM t;
        CREATE VIEW ratio AS SELECT id, x / y AS q FROM t;
        CREATE VIEW above AS SELECT COUNT(*) AS n FROM ratio WHERE q > 1
    """)
    db.table("t").insert([(1, 1, 1)])
    before = db.version
    with pytest.raises(ec.EvaluationError, match=r"^view ratio: ") as caught:
        db.table("t").insert([(2, 1, 2), (3, 5, 0)])
    assert "for the row {'id': 3, 'x': 5, 'y': 0} of t" in str(caught.value)
    assert "^^^^^" in str(caught.value) and "x / y AS q" in str(caught.value)
    monkeypatch.setattr("evercurrent.session.blame.MANY", -1)  # as with large tables
    with pytest.raises(ec.EvaluationError, match=r"^(view|one of the views) [a-z, ]*\bratio\b[a-z, ]*: "):
        db.table("t").insert([(2, 1, 2), (3, 5, 0)])
    assert db.version == before and db.view("above").rows() == [(0,)]
