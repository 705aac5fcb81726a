"""The change feed of published views, and views merged into tables of others, read by Delta's own reader."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from evercurrent.errors import QueryError
from evercurrent.warehouse.database import Warehouse
from evercurrent.warehouse.maintenance.publish import PublishWarning

SCHEMA = """
CREATE TABLE t (id INT PRIMARY KEY, k INT, x DECIMAL(8,2));
CREATE VIEW sums AS SELECT k, count(*) AS n, sum(x) AS total FROM t GROUP BY k;
CREATE VIEW copies AS SELECT k FROM t
"""


@pytest.fixture(autouse=True)
def no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of this size need no Spark."""
    monkeypatch.setattr("evercurrent.engine.spark.engine.private", lambda spark: None)


def feed(place: Path, since: int) -> list[dict[str, Any]]:
    return pa.table(DeltaTable(str(place)).load_cdf(starting_version=since)).to_pylist()


def rows(place: Path) -> Counter[Any]:
    table = DeltaTable(str(place)).to_pyarrow_table()
    return Counter(tuple(r.values()) for r in table.to_pylist())


def test_the_feed_says_what_has_changed(tmp_path: Path) -> None:
    db = Warehouse(None, tmp_path / "w")
    db.execute(SCHEMA)
    db.execute("INSERT INTO t VALUES (1, 1, 1), (2, 1, 2), (3, 2, 3)")
    place = tmp_path / "w" / "views" / "sums"
    at = DeltaTable(str(place)).version()
    db.execute("UPDATE t SET x = 5 WHERE id = 2; ")
    db.execute("DELETE FROM t WHERE id = 3")
    db.execute("INSERT INTO t VALUES (4, 9, 1)")
    found = [(r["_change_type"], r["k"], str(r["total"])) for r in feed(place, at + 1)]
    wanted = [
        ("update_preimage", 1, "3.00"),
        ("update_postimage", 1, "6.00"),
        ("delete", 2, "3.00"),
        ("insert", 9, "1.00"),
    ]
    assert sorted(found) == sorted(wanted)


def test_the_feed_adds_up_to_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over random changes, with files merged and the log summarised now and then."""
    monkeypatch.setattr("evercurrent.engine.spark.storage.delta_tables.MANY_FILES", 4)
    monkeypatch.setattr("evercurrent.engine.spark.storage.delta.commits.CHECKPOINT", 7)
    chance = random.Random(3)
    db = Warehouse(None, tmp_path / "w")
    db.execute(SCHEMA)
    held: set[int] = set()
    for n in range(25):
        changes = []
        for id in chance.sample(range(30), 6):
            if id in held:
                changes.append({"_change_type": "delete", "id": id})
                held.discard(id)
            else:
                held.add(id)
                changes.append({"_change_type": "insert", "id": id, "k": id % 5, "x": chance.randrange(9)})
        db.apply({"t": changes})
        for view in ("sums", "copies"):
            place = tmp_path / "w" / "views" / view
            total: Counter[Any] = Counter()
            for r in feed(place, 0):
                names = [f.name for f in db.view(view).schema]
                sign = 1 if r["_change_type"] in ("insert", "update_postimage") else -1
                total[tuple(r[c] for c in names)] += sign
            assert {row: w for row, w in total.items() if w} == dict(rows(place)), (n, view)
            assert rows(place) == Counter(map(tuple, db.view(view).rows())), (n, view)
    assert (tmp_path / "w" / "views" / "sums" / "_delta_log" / "_last_checkpoint").exists()


def test_a_table_from_before_gets_a_feed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    db = Warehouse(None, tmp_path / "w")
    with monkeypatch.context() as m:
        m.setattr("evercurrent.engine.spark.storage.delta_tables.CONFIGURATION", {})
        m.setattr("evercurrent.engine.spark.storage.delta.commits.ensure_feed", lambda table: None)
        db.execute(SCHEMA)
        db.execute("INSERT INTO t VALUES (1, 1, 1)")
    place = tmp_path / "w" / "views" / "sums"
    assert not DeltaTable(str(place)).metadata().configuration
    at = DeltaTable(str(place)).version()
    db.execute("UPDATE t SET x = 2")
    kinds = [r["_change_type"] for r in feed(place, at + 1)]
    assert kinds == ["update_preimage", "update_postimage"]


# --- merging -----------------------------------------------------------------------------------------------


def customers(place: Path) -> None:
    write_deltalake(
        str(place),
        pa.table(
            {
                "k": pa.array([1, 2, 50], pa.int32()),
                "note": ["one", "two", "not of the view"],
                "n": pa.array([0, 0, 7], pa.int64()),
                "total": pa.array([None, None, None], pa.decimal128(18, 2)),
            }
        ),
        configuration={"delta.enableChangeDataFeed": "true"},
    )


def read_customers(place: Path) -> dict[Any, Any]:
    return {r["k"]: (r["note"], r["n"]) for r in DeltaTable(str(place)).to_pyarrow_table().to_pylist()}


def merged_warehouse(tmp_path: Path) -> tuple[Warehouse, Path]:
    place = tmp_path / "customers"
    customers(place)
    db = Warehouse(None, tmp_path / "w")
    db.execute(SCHEMA)
    db.execute("INSERT INTO t VALUES (1, 1, 1), (2, 1, 2), (3, 3, 3), (4, NULL, 1)")
    db.publish("sums", place, merge="k")
    return db, place


def test_only_rows_and_columns_of_the_view_change(tmp_path: Path) -> None:
    db, place = merged_warehouse(tmp_path)
    other = ("not of the view", 7)
    assert read_customers(place) == {1: ("one", 2), 2: ("two", 0), 3: (None, 1), None: (None, 1), 50: other}
    write = DeltaTable(str(place))
    write.update(updates={"note": "'mine'"}, predicate="k = 3")  # others write too
    db.execute("DELETE FROM t WHERE id IN (1, 2); INSERT INTO t VALUES (5, 3, 1), (6, 50, 1)")
    assert read_customers(place) == {
        2: ("two", 0),
        3: ("mine", 2),
        None: (None, 1),
        50: ("not of the view", 1),
    }
    db.execute("DELETE FROM t WHERE id IN (6, 4)")
    assert read_customers(place) == {2: ("two", 0), 3: ("mine", 2)}
    before = DeltaTable(str(place)).version()
    Warehouse(None, tmp_path / "w", publish_to=[tmp_path]).execute("INSERT INTO t VALUES (7, NULL, 1)")
    assert DeltaTable(str(place)).version() == before + 1, "opened again, it merges what is new, once"
    kinds = Counter(r["_change_type"] for r in feed(place, before + 1))
    assert kinds == {"insert": 1}


def test_a_view_that_is_rebuilt_is_merged_by_the_difference(tmp_path: Path) -> None:
    db, place = merged_warehouse(tmp_path)
    db.replace_view(
        "CREATE VIEW sums AS SELECT k, count(*) AS n, sum(x) AS total FROM t WHERE k > 2 GROUP BY k"
    )
    assert read_customers(place) == {2: ("two", 0), 3: (None, 1), 50: ("not of the view", 7)}


def test_a_table_that_has_moved_on_is_merged_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program commits between our look and our merge: the merge is repeated, once."""
    from evercurrent.warehouse.maintenance import publish_merged

    db, place = merged_warehouse(tmp_path)
    real, calls = publish_merged.merge_rows, []

    def interrupted(table: Any, *rest: Any) -> None:
        if not calls:
            DeltaTable(str(place)).update(updates={"note": "'other'"}, predicate="k = 2")
        calls.append(1)
        real(table, *rest)

    monkeypatch.setattr(publish_merged, "merge_rows", interrupted)
    db.execute("INSERT INTO t VALUES (9, 2, 1)")
    assert read_customers(place)[2] == ("other", 1)
    assert len(calls) == 2


def test_what_cannot_be_merged(tmp_path: Path) -> None:
    db, place = merged_warehouse(tmp_path)
    for view, to, merge, said in [
        ("sums", tmp_path / "none", ["k"], "no Delta table"),
        ("sums", place, ["n"], "do not tell the rows"),
        ("sums", place, ["other"], "no column 'other'"),
        ("copies", place, ["k"], "do not tell the rows"),
        ("sums", True, ["k"], "there already"),
        ("copies", place, [], "something else lies there"),
    ]:
        with pytest.raises(QueryError, match=said):
            db.publish(view, to, merge=merge)
    db.execute("CREATE VIEW wide AS SELECT k, count(*) AS n, 'x' AS more FROM t GROUP BY k")
    with pytest.raises(QueryError, match="no column more"):
        db.publish("wide", place, merge=["k"])
    with pytest.warns(PublishWarning, match="no column more"):
        db.replace_view("CREATE VIEW sums AS SELECT k, count(*) AS n, 'x' AS more FROM t GROUP BY k")
