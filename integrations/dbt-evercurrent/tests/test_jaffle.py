"""The project `jaffle`, run as a user would: what is built, and what a second run costs."""

from __future__ import annotations

import csv
import json
import shutil
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from dbt.adapters.evercurrent import share
from dbt.cli.main import dbtRunner

import evercurrent as ec

JAFFLE = Path(__file__).parent.parent / "jaffle"


class Project:
    """A copy of the project, with a database of its own."""

    def __init__(self, folder: Path, target: str = "file") -> None:
        self.folder, self.target = folder, target
        self.database = folder / "jaffle.db"
        ignored = shutil.ignore_patterns("target", "logs", "*.db*", "jaffle-warehouse")
        shutil.copytree(JAFFLE, folder, dirs_exist_ok=True, ignore=ignored)

    def dbt(self, *words: str, succeeds: bool = True) -> dict[str, Any]:
        """Runs dbt; returns the message of each node by its name."""
        place = [
            "--project-dir",
            str(self.folder),
            "--profiles-dir",
            str(self.folder),
            "--target",
            self.target,
        ]
        outcome = dbtRunner().invoke(["--quiet", *words, *place])
        assert outcome.success == succeeds, outcome.exception or outcome.result
        found = getattr(outcome.result, "results", None) or []
        return {r.node.name: r.adapter_response.get("code") or r.message for r in found}

    def write(self, path: str, text: str) -> None:
        (self.folder / path).write_text(text)

    def append(self, path: str, line: str) -> None:
        with (self.folder / path).open("a") as file:
            file.write(line + "\n")

    def seed(self, name: str) -> list[dict[str, str]]:
        with (self.folder / "seeds" / f"{name}.csv").open() as file:
            return list(csv.DictReader(file))

    def lifetime_values(self) -> list[tuple[int, Decimal]]:
        """What each customer has paid, added up from the files of the seeds."""
        customer_of = {o["id"]: o["customer_id"] for o in self.seed("raw_orders")}
        total: dict[str, Decimal] = defaultdict(Decimal)
        for payment in self.seed("raw_payments"):
            total[customer_of[payment["order_id"]]] += Decimal(payment["cents"]) / 100
        return sorted((int(c["id"]), total[c["id"]]) for c in self.seed("raw_customers"))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    made = Project(tmp_path)
    monkeypatch.setenv("JAFFLE_DB", str(made.database))
    yield made


VALUES = "SELECT customer_id, lifetime_value FROM main.customers ORDER BY customer_id"


def test_build_defines_views_and_tables_and_passes_the_tests(project: Project) -> None:
    built = project.dbt("build")
    assert built["customers"] == "CREATE VIEW"
    with ec.connect(project.database) as db:
        assert db.query(VALUES).rows() == project.lifetime_values()
        kinds = {name: inlined for _, name, inlined in db.execute("SHOW VIEWS").rows()}
        assert kinds["main.customers"] is False and kinds["main.stg_orders"] is True
        assert "main.order_snapshot" in db.tables
        assert db.verify()


def test_a_second_run_leaves_definitions_and_rows_alone(project: Project) -> None:
    project.dbt("build")
    with ec.connect(project.database) as db, share(db):
        before = db.version
        again = project.dbt("run", "--exclude", "order_snapshot")
        assert set(again.values()) == {"UNCHANGED"}
        assert db.version == before


def test_new_rows_of_a_seed_cost_the_difference(project: Project) -> None:
    project.dbt("build")
    changes: dict[str, list[tuple[int, int]]] = defaultdict(list)
    with ec.connect(project.database) as db, share(db):
        for name in ("main.raw_payments", "main.orders", "main.customers"):
            relation = db.table(name) if name in db.tables else db.view(name)
            relation.subscribe(lambda c, name=name: changes[name].append((len(c.deleted), len(c.inserted))))
        project.append("seeds/raw_payments.csv", "10,8,coupon,150")
        project.dbt("seed")
        assert dict(changes) == {
            "main.raw_payments": [(0, 1)],
            "main.orders": [(1, 1)],
            "main.customers": [(1, 1)],
        }
        changes.clear()
        assert set(project.dbt("run", "--exclude", "order_snapshot").values()) == {"UNCHANGED"}
        assert not changes
        assert db.query(VALUES).rows() == project.lifetime_values()


def test_a_table_is_as_of_its_run_and_is_rewritten_by_the_difference(project: Project) -> None:
    project.dbt("build")
    with ec.connect(project.database) as db, share(db):
        db.execute("INSERT INTO main.raw_orders VALUES (9, 2, DATE '2025-02-01', 'placed')")
        placed = "SELECT orders FROM main.order_snapshot WHERE status = 'placed'"
        assert db.query(placed).scalar() == 2
        changes: list[tuple[int, int]] = []
        db.table("main.order_snapshot").subscribe(lambda c: changes.append((len(c.deleted), len(c.inserted))))
        project.dbt("run")
        assert db.query(placed).scalar() == 3
        assert changes == [(1, 1)]


def test_a_test_that_is_an_assertion_refuses_what_would_break_it(project: Project) -> None:
    project.dbt("build")
    with ec.connect(project.database) as db:
        with pytest.raises(ec.ConstraintError, match="accepted_values_orders_status"):
            db.execute("INSERT INTO main.raw_orders VALUES (9, 2, DATE '2025-02-01', 'lost')")
        db.execute(
            "INSERT INTO main.raw_payments VALUES (10, 8, 'card', -5000)"
        )  # a plain test is no assertion
    project.dbt("test", "--select", "no_negative_orders", succeeds=False)
    project.dbt("test", "--exclude", "no_negative_orders")


def test_an_assertion_is_not_made_of_a_test_that_fails(project: Project) -> None:
    project.dbt("seed")
    project.append("seeds/raw_orders.csv", "9,2,2025-02-01,lost")
    project.dbt("build", succeeds=False)
    with ec.connect(project.database) as db:
        db.execute("INSERT INTO main.raw_orders VALUES (10, 2, DATE '2025-02-01', 'found')")


def test_a_changed_model_is_replaced_and_what_reads_it_follows(project: Project) -> None:
    project.dbt("build")
    text = (project.folder / "models/customers.sql").read_text()
    project.write("models/customers.sql", text.replace("lifetime_value", "paid"))
    best = (project.folder / "models/best_customers.sql").read_text()
    project.write("models/best_customers.sql", best.replace("lifetime_value", "paid"))
    ran = project.dbt("run")
    assert ran["customers"] == "CREATE VIEW" and ran["best_customers"] == "CREATE VIEW"
    assert ran["orders"] == "UNCHANGED"
    with ec.connect(project.database) as db:
        assert [c.name for c in db.view("main.best_customers").schema] == [
            "customer_id",
            "first_name",
            "paid",
        ]


def test_a_model_changes_its_kind(project: Project) -> None:
    project.dbt("build")
    for kind, made in (
        ("table", "CREATE TABLE 1"),
        ("view", "CREATE VIEW"),
        ("incremental_view", "CREATE VIEW"),
    ):
        project.write("models/best_customers.sql", f"{{{{ config(materialized='{kind}') }}}} select 1 as one")
        assert project.dbt("run", "--select", "best_customers")["best_customers"] == made
        with ec.connect(project.database) as db:
            assert db.query("SELECT one FROM main.best_customers").rows() == [(1,)]


def test_a_source_is_a_table_that_others_write(project: Project) -> None:
    with ec.connect(project.database) as db:
        db.execute("CREATE TABLE visits (id BIGINT PRIMARY KEY, page STRING)")
        db.execute("INSERT INTO visits VALUES (1, 'home'), (2, 'home'), (3, 'cart')")
    project.dbt("build", "--vars", "with_visits: true")
    with ec.connect(project.database) as db:
        db.execute("INSERT INTO visits VALUES (4, 'cart')")
        assert sorted(db.view("main.visits_by_page").rows()) == [("cart", 2), ("home", 2)]


def test_options_of_a_view_are_part_of_its_definition(project: Project) -> None:
    project.write("models/best_customers.sql", "{{ config(mode='lazy', policy='auto') }} select 1 as one")
    project.dbt("build", "--exclude", "order_snapshot")
    with ec.connect(project.database) as db:
        assert "mode    lazy" in str(db.view("main.best_customers").explain())
    project.write("models/best_customers.sql", "{{ config(mode='sometimes') }} select 1 as one")
    ran = project.dbt("run", "--select", "best_customers", succeeds=False)
    assert "sometimes" in ran["best_customers"]


def test_docs_have_the_columns_and_the_lineage(project: Project) -> None:
    project.dbt("build")
    project.dbt("docs", "generate")
    catalog = json.loads((project.folder / "target/catalog.json").read_text())
    customers = catalog["nodes"]["model.jaffle.customers"]
    assert customers["metadata"]["type"] == "incremental_view"
    assert {n: c["type"] for n, c in customers["columns"].items()}["lifetime_value"] == "DECIMAL(32,2)"
    manifest = json.loads((project.folder / "target/manifest.json").read_text())
    assert set(manifest["parent_map"]["model.jaffle.customers"]) == {
        "model.jaffle.orders",
        "model.jaffle.stg_customers",
    }


def test_a_profile_names_a_file_or_a_warehouse(project: Project) -> None:
    project.write(
        "profiles.yml", "jaffle: {target: file, outputs: {file: {type: evercurrent, schema: main}}}"
    )
    outcome = dbtRunner().invoke(
        ["--quiet", "debug", "--project-dir", str(project.folder), "--profiles-dir", str(project.folder)]
    )
    assert not outcome.success


def test_a_file_that_another_database_writes_is_read_but_not_changed(project: Project) -> None:
    project.dbt("build")
    with ec.connect(project.database):
        project.dbt("test", "--select", "no_negative_orders")
        refused = project.dbt("run", "--full-refresh", "--select", "best_customers", succeeds=False)
        assert "read" in refused["best_customers"]


def test_a_contract_declares_types_and_keys_of_a_table(project: Project) -> None:
    project.dbt("seed")
    project.write(
        "models/best_customers.sql", "{{ config(materialized='table') }} select 1 as id, 'a' as name"
    )
    project.write(
        "models/contract.yml",
        "models:\n- name: best_customers\n  config: {contract: {enforced: true}}\n  columns:\n"
        "  - {name: id, data_type: int, constraints: [{type: not_null}, {type: primary_key}]}\n"
        "  - {name: name, data_type: string}\n",
    )
    project.dbt("run", "--select", "best_customers")
    with ec.connect(project.database) as db:
        assert db.execute("DESCRIBE main.best_customers").rows()[0] == ("id", "INT", False, "PRIMARY KEY")
        assert db.query("SELECT * FROM main.best_customers").rows() == [(1, "a")]
    project.write(
        "models/best_customers.sql", "{{ config(materialized='table') }} select 'b' as id, 'a' as name"
    )
    refused = project.dbt("run", "--select", "best_customers", succeeds=False)
    assert "contract" in refused["best_customers"]


@pytest.mark.spark
def test_a_warehouse_on_spark_is_updated_by_the_delta(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java 17 or newer")
    project = Project(tmp_path / "project", "warehouse")
    warehouse = tmp_path / "warehouse"
    monkeypatch.setenv("JAFFLE_WAREHOUSE", str(warehouse))
    project.dbt("build")
    project.append("seeds/raw_payments.csv", "10,8,coupon,150")
    project.dbt("seed", "--select", "raw_payments")
    ran = project.dbt("run", "--select", "config.materialized:incremental_view")
    assert set(ran.values()) == {"UNCHANGED"}

    from pyspark.sql import SparkSession

    spark = SparkSession.builder.getOrCreate()
    with ec.connect(str(warehouse), spark=spark, progress=False) as db:
        assert db.query(VALUES).rows() == project.lifetime_values()
        record = db.history()[-1]
        line = record.view("main.orders")
        assert line.strategy in ("delta", "keyed"), str(record)
        assert line.rows_changed == 2, str(record)
    spark.stop()
