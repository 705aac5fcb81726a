"""One zero on Spark: -0.0 is 0.0 whichever way it came in, and whoever computed it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evercurrent.warehouse.database import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

FRAME = """
SELECT id, CAST(IF(id % 2 = 0, '-0.0', '0.0') AS DOUBLE) AS x, ARRAY(CAST('-0.0' AS FLOAT)) AS a,
  NAMED_STRUCT('y', CAST('-0.0' AS DOUBLE)) AS s FROM RANGE(4)
"""
VIEWS = {
    "stored": "SELECT id, x, a[0] AS a, s.y AS y FROM t",
    "grouped": "SELECT x, COUNT(*) AS n FROM t GROUP BY x",
    "computed": "SELECT -x AS a, x * -1 AS b, x / -2 AS c, ROUND(x - 0.001D, 1) AS d, CAST(CAST(id * 0 AS STRING) || '.0' AS DOUBLE) AS e FROM t",
    "texts": "SELECT CAST(-x AS STRING) AS a, CAST(x AS STRING) AS b, CAST(TRANSFORM(a, v -> -v)[0] AS STRING) AS c FROM t",
    "kinds": "SELECT DISTINCT x * -1 AS x FROM t",
}


@pytest.mark.parametrize("strategy", ["driver", "spark"])
@pytest.mark.parametrize("policy", ["incremental", "full"])
def test_zeros_have_no_sign(spark: SparkSession, tmp_path: Path, strategy: str, policy: str) -> None:
    db = Warehouse(spark, tmp_path / "w", strategy=strategy)
    db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, x DOUBLE, a ARRAY<FLOAT>, s STRUCT<y: DOUBLE>)")
    for name, query in VIEWS.items():
        db.execute(f"CREATE VIEW {name} AS {query}", policy=policy)
    frame = spark.sql(FRAME)
    frame.write.parquet(str(tmp_path / "rows"))
    db.apply({"t": spark.read.parquet(str(tmp_path / "rows")).selectExpr("*", "'insert' AS _change_type")})
    for name in VIEWS:
        rows = db.view(name).rows()
        assert rows, name
        for row in rows:
            for value in row:
                assert value != "-0.0", (name, row)
                assert not isinstance(value, float) or value or math.copysign(1, value) > 0, (name, row)
    assert len(db.view("grouped").rows()) == len(db.view("kinds").rows()) == 1
