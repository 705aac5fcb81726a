"""Views whose query only Spark understands: recomputed by its own SQL under the policies that allow it, with the reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import evercurrent as ec

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

WILDCARD = "SELECT id, get_json_object(j, '$.a[*].b') AS bs FROM t"
PARSED = "SELECT n, count(*) AS many FROM (SELECT pmod(hash(j), 3) AS n FROM t) GROUP BY n"


def text(n: int) -> str:
    return json.dumps({"n": n % 3, "a": [{"b": n}, {"b": n + 1}]})


@pytest.fixture
def db(spark: SparkSession, tmp_path: Path) -> Any:
    found = ec.connect(spark=spark, path=tmp_path / "w")
    found.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, j STRING)")
    found.table("t").insert([(i, text(i)) for i in range(10)])
    return found


def by_spark(spark: SparkSession, rows: list[Any], query: str) -> list[tuple[Any, ...]]:
    spark.createDataFrame(rows, "id bigint, j string").createOrReplaceTempView("t")
    return sorted(map(tuple, spark.sql(query).collect()), key=repr)


def test_spark_computes_what_the_compiler_refuses(db: Any, spark: SparkSession, tmp_path: Path) -> None:
    db.execute(
        f"CREATE VIEW bs WITH (policy = 'auto') AS {WILDCARD}; CREATE VIEW parsed (k, n) AS {PARSED}",
        policy="full",
    )
    db.execute("CREATE VIEW above AS SELECT count(*) AS n FROM bs WHERE bs LIKE '%9%'")
    db.execute("CREATE VIEW over_both AS SELECT k FROM parsed WHERE n > 2", policy="full")
    db.execute("CREATE VIEW twice AS SELECT k, hash(n) AS h FROM parsed", policy="auto")
    run = db.apply(
        {
            "t": [
                {"_change_type": "insert", "id": 90, "j": text(90)},
                {"_change_type": "delete", "id": 1, "j": text(1)},
            ]
        }
    )
    line = run.view("bs")
    assert (line.strategy, line.code, line.way) == ("full", "unsupported", "sql")
    assert "get_json_object" in line.reason.lower() and "wildcard" in line.reason
    assert "hash" in run.view("parsed").reason and line.rows_changed == 2 and run.jobs > 0
    rows = [(i, text(i)) for i in range(10) if i != 1] + [(90, text(90))]
    assert sorted(map(tuple, db.view("bs").rows()), key=repr) == by_spark(spark, rows, WILDCARD)
    assert sorted(map(tuple, db.view("parsed").rows()), key=repr) == by_spark(spark, rows, PARSED)
    assert db.view("above").rows() == [(3,)]
    assert sorted(db.view("over_both").rows()) == sorted((k,) for k, n in db.view("parsed").rows() if n > 2)
    assert db.verify()
    again = ec.connect(spark=spark, path=tmp_path / "w")
    assert sorted(again.view("bs").rows()) == sorted(db.view("bs").rows())
    assert "Spark's own SQL" in str(again.view("bs").explain())
    again.table("t").delete(90)
    assert again.view("above").rows() == [(2,)] and again.verify()
    feed = again.view("bs").changes(since=again.version - 1).collect()
    assert [(r["id"], r["_change_type"]) for r in feed] == [(90, "delete")]


def test_incremental_refuses_and_says_how(db: Any) -> None:
    with pytest.raises(ec.UnsupportedError, match="hash") as refused:
        db.execute(f"CREATE VIEW parsed AS {PARSED}")
    assert "policy='full'" in str(refused.value.hint)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT reflect('java.lang.System', 'exit', 1) AS x FROM t", "reflect"),
        ("SELECT rand() AS x, hash(id) AS h FROM t", "rand"),
        ("SELECT hash(id) AS h FROM parquet.`/tmp/x`", "parquet"),
        ("SELECT hash(id) AS h FROM elsewhere", "hash|elsewhere"),
        ("SELECT no_such_function(id) AS h FROM t", "no_such_function"),
        ("SELECT parse_json(j) AS v FROM t", "parse_json"),
        ("SELECT hash(nothing) AS v FROM t", "hash|nothing"),
    ],
)
def test_what_spark_must_not_or_cannot_compute_is_refused(db: Any, query: str, said: str) -> None:
    before = db.version
    with pytest.raises(ec.EvercurrentError, match=said):
        db.execute(f"CREATE VIEW x AS {query}", policy="full")
    assert db.version == before


def test_a_definition_that_somebody_else_has_written_runs_no_code(db: Any) -> None:
    from evercurrent.definitions.reading import catalog_of
    from evercurrent.term.handed_over import HandedOver

    db.execute(f"CREATE VIEW bs AS {WILDCARD}", policy="full")
    definitions = [dict(d) for d in db._core.definitions]
    definitions[-1]["text"] = "CREATE VIEW bs AS SELECT id, reflect('java.lang.System', 'exit') AS bs FROM t"
    with pytest.raises(ec.StorageError, match="reflect"):
        catalog_of(definitions, HandedOver())


def test_a_view_that_spark_computes_in_transactions_and_redefinitions(db: Any) -> None:
    db.execute(f"CREATE VIEW bs AS {WILDCARD}", policy="full")
    with db.transaction():
        db.table("t").insert([(50, text(50))])
        with pytest.raises(ec.UnsupportedError, match="only Spark computes bs"):
            db.query("SELECT count(*) FROM bs", pending=True)
    assert len(db.view("bs").rows()) == 11
    with pytest.raises(ec.UnsupportedError, match="only Spark computes bs"):
        db.view("bs").why(db.view("bs").rows()[0])
    with pytest.raises(ec.QueryError, match="bs depends on t"):
        db.execute("CREATE OR REPLACE TABLE t (id BIGINT PRIMARY KEY, j STRING, k INT)")
    db.execute("CREATE OR REPLACE VIEW bs AS SELECT id, j FROM t")
    assert db.view("bs").policy == "incremental" and len(db.view("bs").rows()) == 11
    db.execute("DROP VIEW bs")
