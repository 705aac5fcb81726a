"""Views published at addresses in S3, from warehouses on a disk and in another bucket."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import evercurrent as ec
from evercurrent.engine.spark import engine as engines
from evercurrent.engine.spark.storage.object_disk import ObjectDisk
from evercurrent.warehouse.database import Warehouse
from evercurrent.warehouse.maintenance.publish import PublishWarning
from tests.spark.stores.s3_server import new_bucket, options_for, s3_server

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = (
    "CREATE TABLE t (id INT PRIMARY KEY, k INT); CREATE VIEW v AS SELECT k, count(*) AS n FROM t GROUP BY k"
)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    pytest.importorskip("moto")
    with s3_server() as address:
        yield address


@pytest.fixture
def options(endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return options_for(endpoint)


@pytest.fixture
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "private", lambda spark: None)


def rows_at(address: str, options: dict[str, str]) -> list[Any]:
    from deltalake import DeltaTable

    found = DeltaTable(address, storage_options=options).to_pyarrow_table().to_pylist()
    return sorted(tuple(row.values()) for row in found)


def feed_at(address: str, options: dict[str, str], version: int) -> list[Any]:
    from deltalake import DeltaTable

    found = pa.table(
        DeltaTable(address, storage_options=options).load_cdf(starting_version=version).read_all()
    )
    return sorted((row["_change_type"], row["k"], row["n"]) for row in found.to_pylist())


@pytest.mark.parametrize("place", ["disk", "s3"])
def test_a_view_is_published_in_another_bucket(
    endpoint: str,
    options: dict[str, str],
    tmp_path: Path,
    place: str,
    without_spark: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From a disk with the credentials of the environment, from S3 with those of the warehouse; each change is in the feed once."""
    from deltalake import DeltaTable

    out = f"s3://{new_bucket(endpoint)}/exports/v"
    path: Any = tmp_path / "w"
    given: dict[str, Any] = {}
    if place == "s3":
        path, given = f"s3://{new_bucket(endpoint)}/w", {"storage_options": options}
    else:
        for name, value in options.items():
            monkeypatch.setenv(name, value)
    db = Warehouse(None, path, **given)
    db.execute(SCHEMA)
    db.table("t").insert([(1, 1), (2, 1), (3, 2)])
    db.publish("v", out.replace("s3:", "S3A:") + "/")
    assert rows_at(out, options) == [(1, 2), (2, 1)]
    at = DeltaTable(out, storage_options=options).version()
    db.table("t").insert([(4, 2)])
    db.table("t").delete(1)
    assert rows_at(out, options) == sorted(db.view("v").rows()) == [(1, 1), (2, 2)]
    assert feed_at(out, options, at + 1) == [
        ("update_postimage", 1, 1),
        ("update_postimage", 2, 2),
        ("update_preimage", 1, 2),
        ("update_preimage", 2, 1),
    ]
    with pytest.warns(PublishWarning, match="which this program has not confirmed"):
        again = Warehouse(None, path, **given)
    again.table("t").insert([(5, 5)])
    assert rows_at(out, options) == [(1, 1), (2, 2)], "nobody has named the place"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        last = Warehouse(None, path, publish_to=[out.rsplit("/", 1)[0]], **given)
    assert rows_at(out, options) == [(1, 1), (2, 2), (5, 1)], "what was left is caught up"
    assert last.vacuum(keep=1, hours=0) >= 0 and rows_at(out, options) == sorted(last.view("v").rows())
    assert not list(Path.cwd().glob("[sS]3*")), "an address is no folder of a disk"


def test_a_view_is_merged_into_a_table_in_a_bucket(
    endpoint: str, options: dict[str, str], without_spark: None
) -> None:
    from deltalake import write_deltalake

    out = f"s3://{new_bucket(endpoint)}/lake/counts"
    db = Warehouse(None, f"s3://{new_bucket(endpoint)}/w", storage_options=options)
    db.execute(SCHEMA)
    db.table("t").insert([(1, 1), (2, 1), (3, 2)])
    with pytest.raises(ec.QueryError, match="there is no Delta table"):
        db.publish("v", out, merge=["k"])
    theirs = pa.table({"k": pa.array([1, 9], pa.int32()), "n": pa.array([0, 9]), "note": ["a", "b"]})
    write_deltalake(out, theirs, storage_options=options)
    db.publish("v", out, merge=["k"])
    assert rows_at(out, options) == [(1, 2, "a"), (2, 1, None), (9, 9, "b")]
    db.table("t").delete(3)
    db.table("t").insert([(7, 7)])
    assert rows_at(out, options) == [(1, 2, "a"), (7, 1, None), (9, 9, "b")]


def test_what_cannot_be_published_there(endpoint: str, options: dict[str, str], without_spark: None) -> None:
    bucket = new_bucket(endpoint)
    root = f"s3://{bucket}/w"
    db = Warehouse(None, root, storage_options=options)
    db.execute(SCHEMA)
    ObjectDisk(f"s3://{bucket}/taken", options).put(f"s3://{bucket}/taken/file", b"x")
    version = db.version
    for place, said in {
        f"s3://{bucket}/taken": "something else lies there",
        "hdfs://host/out": "does not reach hdfs:",
        "memory:///out": "does not reach memory:",
        f"s3://{bucket}/a/../b": r"without \. and \.\.",
        f"s3://{bucket}": "name a folder in a bucket",
        "s3:/bucket/x": "name a folder in a bucket",
    }.items():
        with pytest.raises(ec.EvercurrentError, match=said):
            db.publish("v", place)
    assert db.version == version, "nothing was defined"
    with pytest.warns(PublishWarning, match="has not confirmed"):
        db.publish("v", f"{root}/data/v")
    assert not list(db._core.engine.folder.disk.tree(f"{root}/data/v")), "what a warehouse is made of"
    with pytest.raises(ec.StorageError, match="cannot be listed"):
        db.publish("v", f"s3://{bucket}-that-is-not-there/v")


@pytest.mark.spark
def test_tasks_publish_a_large_view_in_another_bucket(
    spark: SparkSession, endpoint: str, options: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from evercurrent.warehouse.maintenance import publish

    out = f"s3://{new_bucket(endpoint)}/exports/v"
    db = ec.connect(spark=spark, path=f"s3://{new_bucket(endpoint)}/w", storage_options=options)
    db.execute(SCHEMA)
    db.table("t").insert([(i, i % 3) for i in range(30)])
    monkeypatch.setattr(publish, "fits_driver", lambda store: False)
    db.publish("v", out)
    assert rows_at(out, options) == [(0, 10), (1, 10), (2, 10)]
    db.table("t").delete(0)
    assert rows_at(out, options) == [(0, 9), (1, 10), (2, 10)]
