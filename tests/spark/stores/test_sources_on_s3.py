"""Delta and Iceberg tables on S3 as sources, of warehouses on a disk and on S3: read by the driver, and by tasks of Spark without a
connector."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import evercurrent as ec
from evercurrent.engine.spark import engine as engines
from evercurrent.engine.spark.sources import reading, references
from evercurrent.engine.spark.storage.object_disk import ObjectDisk
from evercurrent.warehouse.database import Warehouse
from tests.spark.delta_writer import DeltaWriter
from tests.spark.stores.s3_server import new_bucket, options_for, s3_server
from tests.spark.unit.warehouse.test_references import ORDERS, VIEWS, order

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    pytest.importorskip("moto")
    with s3_server() as address:
        yield address


@pytest.fixture
def lake(endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[DeltaWriter, str, Any]:
    """A table that is written on a disk and uploaded: the writer, its address, and what uploads it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, value in options_for(endpoint).items():
        monkeypatch.setenv(name, value)
    address = f"s3://{new_bucket(endpoint)}/lake/orders"
    disk = ObjectDisk(address, {})
    writer = DeltaWriter(tmp_path / "orders", ORDERS, mapping="name", partition_by=["customer"])

    def upload() -> None:
        known = {f.path for f in disk.tree(address)}
        for path in sorted(writer.root.rglob("*"), key=lambda p: (p.suffix == ".json", p)):
            name = path.relative_to(writer.root).as_posix()
            if path.is_file() and name not in known:
                disk.put(f"{address}/{name}", path.read_bytes())

    writer.append([order(i) for i in range(30)])
    upload()
    return writer, address, upload


def follow(db: Warehouse, lake: tuple[DeltaWriter, str, Any]) -> None:
    writer, address, upload = lake
    db.source("orders", format="delta", path=address, key=["id"])
    db.execute(f"CREATE VIEW per AS {VIEWS['per']}")
    db.refresh()
    writer.delete(lambda r: r[0] % 3 == 1)
    writer.append([order(i) for i in range(50, 60)])
    upload()
    db.refresh()
    assert sorted(db.table("orders").rows(), key=repr) == sorted(writer.rows, key=repr)
    wanted: dict[int, tuple[int, int]] = {}
    for _, customer, total, _ in writer.rows:
        n, s = wanted.get(customer, (0, 0))
        wanted[customer] = n + 1, s + total
    assert sorted(db.view("per").rows()) == sorted((k, *v) for k, v in wanted.items())
    assert not any(s.files for s in db._core.present.table_rows("orders").segments)


@pytest.mark.parametrize("where", ["disk", "s3"])
def test_the_driver_reads_it(
    endpoint: str, tmp_path: Path, lake: Any, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "private", lambda spark: None)
    path: Any = tmp_path / "w" if where == "disk" else f"s3://{new_bucket(endpoint)}/w"
    follow(Warehouse(None, path), lake)


@pytest.mark.spark
def test_tasks_read_it(
    spark: SparkSession, tmp_path: Path, lake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "DRIVER_BYTES", -1)
    monkeypatch.setattr(references, "HELD_BYTES", -1)
    db = Warehouse(spark, tmp_path / "w", strategy="spark")
    follow(db, lake)
    assert db.verify()


def test_what_is_not_there(endpoint: str, tmp_path: Path, lake: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "private", lambda spark: None)
    db = Warehouse(None, tmp_path / "w")
    with pytest.raises(ec.StorageError, match="is not a Delta table"):
        db.source("t", format="delta", path=f"{lake[1]}/nothing")


COUNTS = "CREATE VIEW per AS SELECT k, count(*) AS n FROM t GROUP BY k"


@pytest.fixture
def iceberg(endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An Iceberg table in a bucket; its catalog is named by the environment, as credentials must be."""
    catalogs = pytest.importorskip("pyiceberg.catalog")
    options = options_for(endpoint)
    settings = {
        "TYPE": "sql",
        "URI": f"sqlite:///{tmp_path}/catalog.db",
        "WAREHOUSE": f"s3://{new_bucket(endpoint)}/ice",
        "S3__ENDPOINT": endpoint,
        "S3__ACCESS_KEY_ID": options["AWS_ACCESS_KEY_ID"],
        "S3__SECRET_ACCESS_KEY": options["AWS_SECRET_ACCESS_KEY"],
        "S3__REGION": options["AWS_REGION"],
    }
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, value in {
        **options,
        **{f"PYICEBERG_CATALOG__HERE__{k}": v for k, v in settings.items()},
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(catalogs, "_ENV_CONFIG", type(catalogs._ENV_CONFIG)())  # it was read at the import
    catalog = catalogs.load_catalog("here")
    catalog.create_namespace("lake")
    table = catalog.create_table("lake.t", pa.schema({"id": pa.int64(), "k": pa.string()}))
    table.append(pa.table({"id": [1, 2, 3], "k": ["a", "a", "b"]}))
    return table


def follow_iceberg(db: Warehouse, table: Any) -> None:
    db.source("t", format="iceberg", table="lake.t", options={"catalog": "here"}, key=["id"])
    db.execute(COUNTS)
    assert "by reference" in str(db.refresh().notes)
    assert sorted(db.view("per").rows()) == [("a", 2), ("b", 1)]
    table.delete("id = 1")
    table.append(pa.table({"id": [9], "k": ["z"]}))
    assert db.refresh().rows_in == {"t": 2}
    assert sorted(db.view("per").rows()) == [("a", 1), ("b", 1), ("z", 1)]
    assert sorted(db.table("t").rows()) == [(2, "a"), (3, "b"), (9, "z")]
    assert not any(s.files for s in db._core.present.table_rows("t").segments)


@pytest.mark.parametrize("where", ["disk", "s3"])
def test_the_driver_reads_iceberg(
    endpoint: str, tmp_path: Path, iceberg: Any, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "private", lambda spark: None)
    path: Any = tmp_path / "w" if where == "disk" else f"s3://{new_bucket(endpoint)}/w"
    follow_iceberg(Warehouse(None, path), iceberg)


@pytest.mark.spark
def test_tasks_read_iceberg(
    spark: SparkSession, tmp_path: Path, iceberg: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "DRIVER_BYTES", -1)
    monkeypatch.setattr(references, "HELD_BYTES", -1)
    db = Warehouse(spark, tmp_path / "w", strategy="spark")
    follow_iceberg(db, iceberg)
    assert db.verify()
