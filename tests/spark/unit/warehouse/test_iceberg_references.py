"""Iceberg tables by reference, with delete files of both kinds; pyiceberg's own reader is the oracle where it reads them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow
import pytest

import evercurrent as ec
from evercurrent.engine.spark import engine
from evercurrent.warehouse.database import Warehouse

pyiceberg = pytest.importorskip("pyiceberg.catalog")

from tests.spark.iceberg_writer import delete_equal, delete_positions  # noqa: E402

VIEW = "CREATE VIEW per AS SELECT g, count(*) AS n, sum(x) AS s FROM t GROUP BY g"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(engine, "private", lambda spark: None)
    return tmp_path


def some(n: int, begin: int = 0) -> pyarrow.Table:
    ids = range(begin, begin + n)
    return pyarrow.table(
        {
            "id": pyarrow.array(ids, pyarrow.int64()),
            "g": ["abc"[i % 3] if i % 5 else None for i in ids],
            "x": [i % 7 for i in ids],
        }
    )


class Ice:
    """A table, and a warehouse over it."""

    def __init__(self, place: Path) -> None:
        self.options = {
            "type": "sql",
            "uri": f"sqlite:///{place}/catalog.db",
            "warehouse": f"file://{place}/ice",
        }
        catalog = pyiceberg.load_catalog("here", **self.options)
        catalog.create_namespace("lake")
        self.table: Any = catalog.create_table("lake.t", some(9).schema)
        self.place = place
        self.db = Warehouse(None, place / "w")
        options = {"catalog": "here", **self.options}
        self.db.source("t", format="iceberg", table="lake.t", options=options, key=["id"])
        self.db.execute(VIEW)

    def files(self) -> list[str]:
        return [t.file.file_path for t in self.table.scan().plan_files()]

    def agree(self, rows: list[Any] | None = None) -> None:
        self.db.refresh()
        if rows is None:
            rows = [tuple(r.values()) for r in self.table.scan().to_arrow().to_pylist()]
        assert sorted(self.db.table("t").rows(), key=repr) == sorted(rows, key=repr)
        wanted: dict[Any, tuple[int, int]] = {}
        for _, g, x in rows:
            n, s = wanted.get(g, (0, 0))
            wanted[g] = n + 1, s + x
        found = sorted(self.db.view("per").rows(), key=repr)
        assert found == sorted(((g, *v) for g, v in wanted.items()), key=repr)
        assert not any(s.files for s in self.db._core.present.table_rows("t").segments), "nothing is kept"


def test_position_deletes(place: Path) -> None:
    ice = Ice(place)
    ice.agree()
    ice.table.append(some(10))
    (file,) = ice.files()
    delete_positions(ice.table, [(file, 0), (file, 7)])
    ice.agree()
    assert len(ice.db.table("t")) == 8
    ice.table.append(some(5, 100))
    delete_positions(ice.table, [(f, 2) for f in ice.files()])
    ice.agree()
    assert len(ice.db.table("t")) == 11
    again = Warehouse(None, place / "w")
    assert len(again.table("t")) == 11 and again.refresh().version == ice.db.version


def test_equality_deletes(place: Path) -> None:
    ice = Ice(place)
    first = [tuple(r.values()) for r in some(10).to_pylist()]
    ice.table.append(some(10))
    delete_equal(ice.table, "x", [3, 5])
    rest = [r for r in first if r[2] not in (3, 5)]
    ice.agree(rest)
    ice.table.append(some(10, 50))  # younger than the deletes: they do not reach it
    rest += [tuple(r.values()) for r in some(10, 50).to_pylist()]
    ice.agree(rest)
    delete_equal(ice.table, "g", [None])
    ice.agree([r for r in rest if r[1] is not None])


def test_a_snapshot_that_has_expired(place: Path) -> None:
    ice = Ice(place)
    ice.table.append(some(10))
    ice.agree()
    before = ice.table.current_snapshot()
    ice.table.overwrite(some(3, 20))
    ice.table.maintenance.expire_snapshots().by_id(before.snapshot_id).commit()
    again = Warehouse(None, place / "w")
    for found in (ice.db.refresh, lambda: again.query("SELECT count(*) AS n FROM t")):
        with pytest.raises(ec.StorageError, match="expired") as caught:
            found()
        assert "refresh(full=['t'])" in str(caught.value)
    ice.db.refresh(full=["t"])
    ice.agree()


def test_files_of_an_iceberg_table_that_are_gone(place: Path) -> None:
    ice = Ice(place)
    ice.table.append(some(10))
    ice.agree()
    shutil.rmtree(place / "ice" / "lake" / "t" / "data")
    with pytest.raises(ec.StorageError, match="gone"):
        ice.db.query("SELECT count(*) AS n FROM t")
