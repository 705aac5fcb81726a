"""A warehouse does not grow with the number of its batches, nor does a published view."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from deltalake import DeltaTable

from evercurrent.engine.spark import engine
from evercurrent.engine.spark.storage.delta_tables import MANY_FILES
from evercurrent.warehouse.database import Warehouse


def size(folder: Path) -> int:
    return sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())


def test_the_state_does_not_grow_with_the_number_of_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same rows come and go: after 90 batches there is about as much to keep as after 30."""
    monkeypatch.setattr(engine, "private", lambda spark: None)
    db = Warehouse(None, tmp_path / "w")
    db.execute(
        "CREATE TABLE t (id INT PRIMARY KEY, k INT, x INT);"
        "CREATE VIEW v AS SELECT k, count(*) AS n, sum(x) AS s, max(x) AS most FROM t GROUP BY k"
    )
    rows = [{"_change_type": "insert", "id": i, "k": i % 10, "x": i} for i in range(200)]
    db.apply({"t": rows})
    kept = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(90):
            one = i % 200
            db.apply(
                {
                    "t": [
                        {"_change_type": "delete", "id": one},
                        {"_change_type": "insert", "id": one, "k": one % 10, "x": 1000 + i},
                    ]
                },
                batch=f"batch {i}",
            )
            if i + 1 in (30, 90):
                db.compact()
                db.vacuum(keep=1)
                entries = sum(s.rows for s in db._core.snapshot.stores.values())
                kept[i + 1] = (entries, size(tmp_path / "w" / "data"))
    assert kept[90][0] <= kept[30][0] + 10, f"entries: {kept}"
    assert kept[90][1] <= 1.2 * kept[30][1], f"bytes: {kept}"
    assert len(db.view("v")) == 10
    active = DeltaTable(str(tmp_path / "w" / "views" / "v")).file_uris()
    assert len(active) <= MANY_FILES + 1, "a published view is merged on the way"
    assert len(list((tmp_path / "w" / "_log" / "snapshots").iterdir())) <= 2, "old snapshots are forgotten"
    assert db.apply({"t": []}, batch="batch 3").repeated, "and yet no batch is forgotten"
    assert not db.apply({"t": []}, batch="nothing").repeated
    assert db.apply({"t": []}, batch="nothing").repeated, "not even one that changed nothing"
