"""Tables of a REST catalog and of a Hive metastore, which programs besides the session write too."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pytest

import evercurrent as ec
from tests.iceberg_engine.servers import REST_JARS, hive_metastore, rest_catalog
from tests.iceberg_engine.test_iceberg_engine import VIEW, agrees

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NUMBERS = itertools.count()
COLUMNS = {"id": pa.int64(), "g": pa.string(), "x": pa.int32()}


class Catalog(NamedTuple):
    """A catalog that the session was told of: its kind, its name there, the address of its server."""

    kind: str
    name: str
    address: str


@pytest.fixture(params=["rest", "hive"])
def catalog(request: pytest.FixtureRequest, engine: SparkSession, tmp_path: Path) -> Iterator[Catalog]:
    kind: str = request.param
    if kind == "rest" and not REST_JARS.is_dir():
        pytest.skip("the jars of Iceberg's REST catalog are not there: make test-iceberg")
    server: AbstractContextManager[str] = (rest_catalog if kind == "rest" else hive_metastore)(tmp_path)
    name = f"{kind}_{next(NUMBERS)}"  # the session remembers a catalog and its address
    with server as address:
        settings = {"": "org.apache.iceberg.spark.SparkCatalog", ".type": kind, ".uri": address}
        settings[".warehouse"] = f"file://{tmp_path}/tables"
        for key, value in settings.items():
            engine.conf.set(f"spark.sql.catalog.{name}{key}", value)
        engine.sql(f"CREATE NAMESPACE {name}.db")
        yield Catalog(kind, name, address)


def table(*rows: tuple[int, str, int]) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table(
        {n: pa.array(c, t) for (n, t), c in zip(COLUMNS.items(), columns, strict=True)},
    )


def test_tables_of_a_server(engine: SparkSession, tmp_path: Path, catalog: Catalog) -> None:
    name = f"{catalog.name}.db.t"
    engine.sql(
        f"CREATE TABLE {name} (id BIGINT, g STRING, x INT) USING iceberg PARTITIONED BY (bucket(2, id)) "
        "TBLPROPERTIES ('write.delete.mode'='merge-on-read')"
    )
    db = ec.connect(spark=engine, path=tmp_path / "w")
    db.source("t", table=name, key=["id"])
    db.execute(VIEW)
    engine.sql(f"INSERT INTO {name} SELECT id, concat('g', id % 3), CAST(id AS INT) FROM range(100)")
    assert "by reference" in str(db.refresh().notes)
    agrees(engine, db, name)
    engine.sql(f"INSERT INTO {name} VALUES (200, 'new', 5)")
    run = db.refresh()
    assert "change feed" in str(run.notes) and run.rows_in == {"t": 1}
    first, rows = db.version, sorted(db.table("t").rows())
    engine.sql(f"DELETE FROM {name} WHERE id % 10 = 3")
    db.refresh()
    agrees(engine, db, name)
    engine.sql(
        f"MERGE INTO {name} t USING (SELECT 200 AS id) m ON t.id = m.id WHEN MATCHED THEN UPDATE SET x = 6"
    )
    db.refresh()
    agrees(engine, db, name)
    again = ec.connect(spark=engine, path=tmp_path / "w")
    assert sorted(tuple(r) for r in again.table("t").dataframe(version=first).collect()) == rows
    assert again.refresh().version == db.version, "nothing new, no version"
    engine.sql(f"DROP TABLE {name}")
    with pytest.raises(ec.QueryError, match="has no table"):
        db.refresh()


def test_another_program_writes_through_the_server(
    engine: SparkSession, tmp_path: Path, catalog: Catalog
) -> None:
    """Read through the session and through pyiceberg: both follow what a third one commits."""
    pyiceberg = pytest.importorskip("pyiceberg.catalog")
    name, options = f"{catalog.name}.db.written", {"type": catalog.kind, "uri": catalog.address}
    if catalog.kind == "hive":
        pytest.importorskip("thrift", reason="pyiceberg reaches a metastore through thrift")
    writer = pyiceberg.load_catalog("writer", **options)
    ice: Any = writer.create_table(
        "db.written", pa.schema(list(COLUMNS.items())), location=f"file://{tmp_path}/tables/written"
    )
    ice.append(table((1, "a", 1), (2, "b", 2)))
    dbs = [ec.connect(spark=engine, path=tmp_path / way) for way in ("session", "files")]
    dbs[0].source("t", table=name)
    dbs[1].source("t", format="iceberg", table="db.written", options={"catalog": "reader", **options})
    for db in dbs:
        db.execute(VIEW)
        db.refresh()
        agrees(engine, db, name)
    ice.append(table((3, "a", 3)))
    ice.delete("id = 2")
    for db in dbs:
        assert db.refresh().rows_in == {"t": 2}
        engine.catalog.refreshTable(name)
        agrees(engine, db, name)
        assert sorted(db.view("per").rows()) == [("a", 2, 4, 3)]
