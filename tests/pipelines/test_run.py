"""Runs of declarative pipelines in the shared session: what is captured, updated, recomputed and refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evercurrent.errors import EvercurrentError, QueryError, UnsupportedError
from evercurrent.pipelines.run_lock import RunActive, run_lock
from tests.pipelines.project import Project

pytestmark = pytest.mark.spark

Make = Callable[..., Project]


@pytest.fixture
def project(spark: Any, tmp_path: Path) -> Iterator[Make]:
    made: list[Project] = []

    def make(files: dict[str, str]) -> Project:
        made.append(Project(spark, tmp_path / f"p{len(made)}", f"pipeline_{len(made)}", files))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_the_project_that_init_makes_runs_and_runs_again(project: Make) -> None:
    from pyspark.pipelines import init_cli

    made = project(
        {
            "transformations/a.py": init_cli.PYTHON_EXAMPLE,
            "transformations/b.sql": init_cli.SQL_EXAMPLE,
        }
    )
    dry = made.run(dry=True)
    assert dry.state == "planned"
    assert not made.spark.catalog.tableExists(f"{made.name}.example_sql_materialized_view")
    first = made.run()
    assert [d.way for d in first.datasets] == ["filled", "filled"]
    assert [d.captured for d in first.datasets] == ["plan", "SQL"]
    assert made.rows("example_python_materialized_view") == Counter((i,) for i in range(10))
    assert made.rows("example_sql_materialized_view") == Counter((i,) for i in range(0, 10, 2))
    assert [d.way for d in made.run().datasets] == ["unchanged", "unchanged"]
    made.write({"transformations/a.py": init_cli.PYTHON_EXAMPLE.replace("range(10)", "range(1, 13)")})
    again = made.run()
    assert [(d.way, d.rows_changed) for d in again.datasets] == [("incremental", 4), ("incremental", 3)]
    assert made.rows("example_sql_materialized_view") == Counter((i,) for i in range(2, 13, 2))


ORDERS = "id BIGINT, customer STRING, amount INT"
PY = "from pyspark import pipelines as dp\nfrom pyspark.sql import functions as F, Window\n\n"


def insert(made: Project, table: str, rows: str) -> None:
    made.spark.sql(f"INSERT INTO {made.name}.{table} VALUES {rows}")


def with_orders(project: Make, files: dict[str, str]) -> Project:
    made = project(files)
    made.spark.sql(f"CREATE TABLE {made.name}.orders ({ORDERS}) USING parquet")
    insert(made, "orders", "(1, 'ann', 10), (2, 'bob', 20), (3, 'ann', 5)")
    return made


def test_a_chain_follows_its_sources_and_says_how(project: Make) -> None:
    made = with_orders(
        project,
        {
            "transformations/a.sql": """
                CREATE MATERIALIZED VIEW big AS SELECT * FROM orders WHERE amount > 6;
                CREATE MATERIALIZED VIEW spent AS SELECT customer, sum(amount) AS total FROM big GROUP BY customer;
            """,
            "transformations/b.py": PY
            + """
@F.udf("string")
def loud(text):
    return text.upper()

@dp.materialized_view
def shouted():
    return spark.table("spent").select(loud("customer").alias("customer"), "total")

@dp.materialized_view
def after():
    return spark.table("shouted").groupBy().agg(F.sum("total").alias("all"))
""",
        },
    )
    made.run()
    insert(made, "orders", "(4, 'bob', 100), (5, 'cid', 1)")
    record = made.run()
    assert made.rows("spent") == Counter({("ann", 10): 1, ("bob", 120): 1})
    assert made.rows("shouted") == Counter({("ANN", 10): 1, ("BOB", 120): 1})
    assert made.rows("after") == Counter({(130,): 1})
    assert record.dataset("big").way == "incremental"
    assert record.dataset("big").rows_changed == 1
    assert record.dataset("spent").rows_changed == 2
    shouted = record.dataset("shouted")
    assert (shouted.way, shouted.reason) == (
        "recomputed",
        "PythonUDF, which is not a function that SQL names",
    )
    with pytest.raises(UnsupportedError, match="shouted: PythonUDF"):
        made.run(policy="incremental")


def test_only_selected_datasets_change(project: Make) -> None:
    text = """
        CREATE MATERIALIZED VIEW big AS SELECT * FROM orders WHERE amount > 6;
        CREATE MATERIALIZED VIEW spent AS SELECT customer, sum(amount) AS total FROM big GROUP BY customer;
        CREATE MATERIALIZED VIEW every AS SELECT count(*) AS n FROM orders;
    """
    made = with_orders(project, {"transformations/a.sql": text})
    made.run()
    insert(made, "orders", "(4, 'bob', 100)")
    # Spark reads the table of `big`, which is not updated: so `spent` stays as it is.
    record = made.run(refresh=["spent", "every"])
    assert record.dataset("big").way == "not selected"
    assert made.rows("big") == Counter({(1, "ann", 10): 1, (2, "bob", 20): 1})
    assert made.rows("spent") == Counter({("ann", 10): 1, ("bob", 20): 1})
    assert made.rows("every") == Counter({(4,): 1})
    assert record.dataset("spent").way == "recomputed"
    record = made.run()
    assert made.rows("spent") == Counter({("ann", 10): 1, ("bob", 120): 1})
    assert (record.dataset("big").way, record.dataset("every").way) == ("incremental", "unchanged")
    with pytest.raises(QueryError, match="there is no dataset 'nothing'"):
        made.run(refresh=["nothing"])


def test_a_full_refresh_writes_the_table_again(project: Make) -> None:
    made = with_orders(
        project, {"transformations/a.sql": "CREATE MATERIALIZED VIEW m AS SELECT id FROM orders"}
    )
    made.run()
    made.spark.sql(f"INSERT INTO {made.name}.m VALUES (77)")  # somebody else has written into the table
    assert made.run().dataset("m").way == "incremental"
    assert made.rows("m") == Counter({(1,): 1, (2,): 1, (3,): 1})
    assert made.run(full_refresh=["m"]).dataset("m").way == "filled"
    assert made.run(full_refresh_all=True).dataset("m").way == "filled"
    assert made.rows("m") == Counter({(1,): 1, (2,): 1, (3,): 1})


def test_definitions_that_change(project: Make) -> None:
    made = with_orders(
        project,
        {
            "transformations/a.sql": """
                CREATE MATERIALIZED VIEW m AS SELECT customer, amount FROM orders;
                CREATE MATERIALIZED VIEW n AS SELECT customer, sum(amount) AS total FROM m GROUP BY customer;
            """
        },
    )
    made.run()
    made.write(
        {
            "transformations/a.sql": """
                CREATE MATERIALIZED VIEW m AS SELECT customer, CAST(amount AS STRING) AS text FROM orders;
                CREATE MATERIALIZED VIEW n AS SELECT customer, max(text) AS most FROM m GROUP BY customer;
            """
        }
    )
    made.run()
    assert made.rows("n") == Counter({("ann", "5"): 1, ("bob", "20"): 1})
    made.write({"transformations/a.sql": "CREATE MATERIALIZED VIEW k AS SELECT count(*) AS n FROM orders"})
    record = made.run()
    assert [d.dataset.split(".")[-1] for d in record.datasets] == ["k"]
    assert made.rows("n") == Counter(
        {("ann", "5"): 1, ("bob", "20"): 1}
    )  # the catalog keeps the table, as Spark does


def test_streams_count_every_row_once(project: Make, tmp_path: Path) -> None:
    landing = tmp_path / "landing"
    landing.mkdir()
    made = project(
        {
            "transformations/s.py": PY
            + f"""
@dp.table
def raw():
    return spark.readStream.format("json").schema("k STRING, v INT").load("{landing}")

dp.create_streaming_table("both")

@dp.append_flow(target="both")
def one():
    return spark.readStream.table("raw").select("k")

@dp.append_flow(target="both")
def two():
    return spark.readStream.table("raw").select(F.upper("k").alias("k"))
""",
            "transformations/m.sql": "CREATE MATERIALIZED VIEW counted AS SELECT k, count(*) AS n FROM both GROUP BY k",
        }
    )
    (landing / "1.json").write_text('{"k": "a", "v": 1}\n{"k": "b", "v": 2}\n')
    made.run()
    assert made.rows("counted") == Counter({("a", 1): 1, ("b", 1): 1, ("A", 1): 1, ("B", 1): 1})
    (landing / "2.json").write_text('{"k": "a", "v": 3}\n')
    record = made.run()
    assert record.dataset("counted").way == "incremental"
    assert made.rows("counted") == Counter({("a", 2): 1, ("b", 1): 1, ("A", 2): 1, ("B", 1): 1})
    assert made.run().dataset("raw").way == "unchanged"
    made.run(full_refresh=["both"])
    assert made.rows("both") == Counter({("a",): 2, ("b",): 1, ("A",): 2, ("B",): 1})


def test_wrong_projects_change_nothing(project: Make) -> None:
    made = with_orders(
        project, {"transformations/a.sql": "CREATE MATERIALIZED VIEW m AS SELECT id FROM orders"}
    )
    for text, said in (
        ("CREATE MATERIALIZED VIEW m AS SELECT nothing FROM orders", "a.sql, line 1.*cannot be analysed"),
        (
            "CREATE MATERIALIZED VIEW m AS SELECT * FROM n;\nCREATE MATERIALIZED VIEW n AS SELECT * FROM m",
            "circle",
        ),
        (
            "CREATE MATERIALIZED VIEW m AS SELECT 1 AS x;\n\nCREATE MATERIALIZED VIEW m AS SELECT 2 AS x",
            "a.sql, line 3.*defined twice",
        ),
        ("DROP TABLE orders", "cannot contain this statement"),
        ("CREATE STREAMING TABLE m", "no flow writes to"),
    ):
        made.write({"transformations/a.sql": text})
        with pytest.raises(EvercurrentError, match=f"(?s){said}"):
            made.run()
    assert not made.spark.catalog.tableExists(f"{made.name}.m")


def test_a_named_run_counts_once_and_one_runs_at_a_time(project: Make) -> None:
    made = with_orders(
        project, {"transformations/a.sql": "CREATE MATERIALIZED VIEW m AS SELECT id FROM orders"}
    )
    assert not made.run(batch="monday").repeated
    insert(made, "orders", "(4, 'bob', 100)")
    assert made.run(batch="monday").repeated
    assert sum(made.rows("m").values()) == 3
    with (
        run_lock(made.folder / "storage" / "evercurrent" / "pipeline"),
        pytest.raises(RunActive, match="another run of this pipeline is active: process"),
    ):
        made.run()
    assert not made.run(batch="tuesday").repeated
    assert sum(made.rows("m").values()) == 4


def test_files_are_read_when_they_are_new(project: Make, tmp_path: Path) -> None:
    landing = tmp_path / "files"
    landing.mkdir()
    (landing / "1.csv").write_text("k,v\na,1\nb,2\n")
    made = project(
        {
            "transformations/f.py": PY
            + f"""
@dp.materialized_view
def sums():
    lines = spark.read.option("header", True).schema("k STRING, v INT").csv("{landing}")
    return lines.groupBy("k").agg(F.sum("v").alias("v"))
"""
        }
    )
    made.run()
    (landing / "2.csv").write_text("k,v\na,5\n")
    record = made.run()
    assert any("1 new files" in note for note in record.notes)
    assert made.rows("sums") == Counter({("a", 6): 1, ("b", 2): 1})
    (landing / "1.csv").write_text("k,v\nc,9\n")
    made.run()
    assert made.rows("sums") == Counter({("a", 5): 1, ("c", 9): 1})


def test_partitioned_tables_and_declared_columns(project: Make) -> None:
    made = with_orders(
        project,
        {
            "transformations/p.py": PY
            + """
@dp.materialized_view(partition_cols=["customer"], comment="by customer", table_properties={"team": "sales"})
def parts():
    return spark.table("orders")

@dp.materialized_view(schema="id BIGINT, wide BIGINT")
def declared():
    return spark.table("orders").select("id", F.col("amount").alias("wide"))
"""
        },
    )
    made.run()
    insert(made, "orders", "(4, 'ann', 7)")
    record = made.run()
    assert made.rows("parts") == Counter(
        {(1, 10, "ann"): 1, (2, 20, "bob"): 1, (3, 5, "ann"): 1, (4, 7, "ann"): 1}
    )
    assert record.dataset("declared").reason == "its declared schema differs from that of its query"
    assert made.spark.table(f"{made.name}.declared").schema.simpleString() == "struct<id:bigint,wide:bigint>"
    about = {r[0]: r[1] for r in made.spark.sql(f"DESCRIBE TABLE EXTENDED {made.name}.parts").collect()}
    assert about["Comment"] == "by customer"
    assert "team=sales" in about["Table Properties"]


def test_lineage_events(project: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openlineage.client", reason="needs the extra openlineage")
    file = tmp_path / "events.json"
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__TYPE", "file")
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__LOG_FILE_PATH", str(file))
    monkeypatch.setenv("OPENLINEAGE__TRANSPORT__APPEND", "true")
    made = with_orders(
        project,
        {
            "transformations/a.sql": "CREATE MATERIALIZED VIEW m AS SELECT upper(customer) AS who, sum(amount) AS total FROM orders GROUP BY customer"
        },
    )
    made.run()
    events = [json.loads(line) for line in file.read_text().splitlines()]
    assert [e["eventType"] for e in events] == ["START", "COMPLETE", "COMPLETE"]
    output = events[1]["outputs"][0]
    assert output["name"] == f"spark_catalog.{made.name}.m"
    found = {
        column: [(f["name"], f["field"]) for f in about["inputFields"]]
        for column, about in output["facets"]["columnLineage"]["fields"].items()
    }
    source = f"spark_catalog.{made.name}.orders"
    assert found == {"who": [(source, "customer")], "total": [(source, "amount")]}
    assert [i["name"] for i in events[1]["inputs"]] == [source]
    made.write({"transformations/a.sql": "CREATE MATERIALIZED VIEW m AS SELECT nothing FROM orders"})
    with pytest.raises(QueryError):
        made.run()
    assert json.loads(file.read_text().splitlines()[-1])["eventType"] == "FAIL"


def test_all_views_of_a_run_are_defined_as_one_version(project: Make) -> None:
    one = "CREATE MATERIALIZED VIEW big AS SELECT * FROM orders WHERE amount > 6;"
    more = """
        CREATE MATERIALIZED VIEW spent AS SELECT customer, sum(amount) AS total FROM big GROUP BY customer;
        CREATE MATERIALIZED VIEW every AS SELECT count(*) AS n FROM orders;
    """
    short, long = (with_orders(project, {"transformations/a.sql": t}) for t in (one, one + more))
    assert short.run().version == long.run().version
    assert long.rows("spent") == Counter({("ann", 10): 1, ("bob", 20): 1})


def test_the_first_rows_of_a_table_are_those_of_its_query(project: Make) -> None:
    query = """
        SELECT customer, CAST(amount AS DECIMAL(20, 3)) AS d, amount / 4.0 AS q, amount > 6 AS b, array(amount, NULL) AS a,
            named_struct('x', customer, 'y', amount) AS s, map(customer, amount) AS m, CAST(customer AS BINARY) AS bytes,
            DATE'2024-02-29' AS day, TIMESTAMP'1969-12-31 23:59:59.5' AS at, CAST(NULL AS STRING) AS nothing
        FROM (SELECT customer, max(amount) AS amount FROM orders GROUP BY customer) CROSS JOIN range(3)
    """
    made = with_orders(project, {"transformations/a.sql": f"CREATE MATERIALIZED VIEW v AS {query};"})
    made.run()
    theirs = made.spark.sql(query.replace("orders", f"{made.name}.orders")).collect()
    assert Counter(map(str, made.spark.table(f"{made.name}.v").collect())) == Counter(map(str, theirs))
    assert len(theirs) == 6
