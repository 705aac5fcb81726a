"""Why a view on a warehouse has a row: the same answers as in process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import evercurrent as ec

pytestmark = pytest.mark.spark

SCHEMA = """
CREATE TABLE customers (id INT PRIMARY KEY, name STRING, price DECIMAL(8,2));
CREATE TABLE orders (id INT PRIMARY KEY, customer INT, total INT);
CREATE VIEW sums AS SELECT customer, SUM(total) AS s FROM orders GROUP BY customer;
CREATE VIEW rich AS SELECT name, price, s FROM customers LEFT JOIN sums ON customer = id;
CREATE VIEW top AS SELECT name FROM rich ORDER BY s DESC NULLS LAST LIMIT 2
"""


def fill(db: Any) -> Any:
    db.execute(SCHEMA)
    db.table("customers").insert([(1, "Ann", "1.50"), (2, "Ben", "2"), (3, "Cid", None)])
    db.table("orders").insert([(1, 1, 10), (2, 1, 20), (3, 2, 5)])
    return db


def test_same_as_in_process(spark: Any, tmp_path: Path) -> None:
    here = fill(ec.connect())
    there = fill(ec.connect(spark=spark, path=str(tmp_path / "w")))
    for name in ("sums", "rich", "top"):
        rows = here.view(name).rows()
        assert sorted(rows, key=repr) == sorted(there.view(name).rows(), key=repr)
        for row in rows:
            mine, theirs = here.view(name).why(row), there.view(name).why(row)
            assert (dict(mine), mine.absent) == (dict(theirs), theirs.absent)
            assert str(mine) == str(theirs)
    assert there.view("rich").why(("Cid", None, None)).absent != ()
    with pytest.raises(ec.QueryError, match="has no row"):
        there.view("sums").why((1, 1))
