"""A batch on Spark takes the steps that `docs/architecture.md` lists, in their order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import evercurrent as ec
from tests.docs.test_walks import first_calls, walk

pytestmark = pytest.mark.spark


def test_a_batch_takes_the_steps_in_their_order(spark: Any, tmp_path: Path) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "warehouse")
    db.execute("CREATE TABLE t (a INT PRIMARY KEY, b INT NOT NULL)")
    db.execute("CREATE VIEW v AS SELECT b, count(*) AS n FROM t GROUP BY b")
    db.execute("CREATE ASSERTION few CHECK (NOT EXISTS (SELECT 1 FROM v WHERE n > 9))")
    db.view("v").subscribe(lambda change: None, when="before")
    db.view("v").subscribe(lambda change: None)
    rows = pa_table()
    found = first_calls(lambda: db.apply({"t": rows}))
    called = [(module, name.removesuffix(".__init__")) for module, name in found]
    expected = walk("A batch on Spark")
    assert [step for step in called if step in expected] == expected


def pa_table() -> Any:
    import pyarrow

    return pyarrow.table(
        {
            "a": pyarrow.array([1, 2], pyarrow.int32()),
            "b": pyarrow.array([1, 1], pyarrow.int32()),
            "_change_type": ["insert"] * 2,
        }
    )
