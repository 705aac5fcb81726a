"""What versions have changed, and readers that go to the newest one."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.durable import log
from evercurrent.errors import QueryError, StorageError, TransactionError, UnsupportedError


def database(path: Path) -> ec.Database:
    db = ec.connect(path, durability="off")
    db.execute("CREATE TABLE c (id BIGINT PRIMARY KEY, name STRING)")
    db.execute(
        "CREATE TABLE o (id BIGINT PRIMARY KEY, c BIGINT REFERENCES c (id), total DECIMAL(9,2), raw BINARY)"
    )
    db.execute("CREATE TABLE w (word STRING)")
    db.execute("CREATE VIEW spend AS SELECT name, SUM(total) AS t FROM o JOIN c ON c.id = o.c GROUP BY name")
    db.execute("CREATE VIEW big AS SELECT name FROM spend WHERE t > 5", mode="lazy")
    db.execute("CREATE VIEW words AS SELECT word, COUNT(*) AS n FROM w GROUP BY word", policy="full")
    return db


def step(db: ec.Database, draw: random.Random, number: int) -> None:
    with db.transaction():
        db.table("c").insert((number, f"name {number % 3}"))
        db.table("o").insert([(number * 10 + i, number, draw.randrange(9), b"\x00\xff") for i in range(3)])
        for row in draw.sample(db.table("o").rows(), min(2, len(db.table("o")))):
            db.table("o").delete(row[0])
        db.table("w").insert([(draw.choice("abc"),)] * draw.randrange(3))
        if draw.random() < 0.4 and len(db.table("w")):
            db.table("w").delete(draw.choice(db.table("w").rows()))


RELATIONS = ("c", "o", "w", "spend", "big", "words")


def added_up(start: Counter[Any], changes: Any, upto: int) -> Counter[Any]:
    held = Counter(start)
    for *row, kind, version in changes.rows():
        if version <= upto:
            held[tuple(row)] += 1 if kind == "insert" else -1
    assert min(held.values(), default=0) >= 0
    return +held


def test_the_changes_since_any_version_add_up(tmp_path: Path) -> None:
    draw = random.Random(3)
    with database(tmp_path / "a.db") as db:
        history = [{n: Counter(db[n].rows()) for n in RELATIONS}]
        for number in range(1, 9):
            step(db, draw, number)
            history.append({n: Counter(db[n].rows()) for n in RELATIONS})
    with ec.connect(tmp_path / "a.db") as db:
        for name in RELATIONS:
            for since in (0, 3, 7, 8):
                changes = db.changes(name, since=since)
                assert changes.rows() == db[name].changes(since=since).rows()
                for upto in range(since, 9):
                    assert added_up(history[since][name], changes, upto) == history[upto][name], (
                        name,
                        since,
                        upto,
                    )
        assert [f.name for f in db.changes("spend", since=8).schema] == [
            "name",
            "t",
            "_change_type",
            "_commit_version",
        ]
        heard: list[Any] = []
        db.view("spend").subscribe(heard.append, since=5)
        assert [c.transaction for c in heard] == [6, 7, 8]
        step(db, draw, 20)
        assert heard[-1].transaction == 9
        for wrong in (-1, 10):
            with pytest.raises(QueryError, match="there is no version"):
                db.changes("o", since=wrong)
        with pytest.raises(QueryError, match="what is committed"):
            db.view("spend").subscribe(heard.append, since=5, when="before")
    with pytest.raises(UnsupportedError, match="kept in a file"):
        memory = ec.connect()
        memory.execute("CREATE TABLE t (a INT)")
        memory.changes("t", since=0)


def test_the_log_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "ROWS", 20)
    with database(tmp_path / "a.db") as db:
        for i in range(40):
            db.table("w").insert([(f"{i}",)])
        with pytest.raises(StorageError, match="no longer kept") as caught:
            db.changes("w", since=2)
        first = int(str(caught.value).split("since ")[1].split()[0])
        assert len(db.changes("w", since=first)) == 40 - first
        db.table("w").insert([("many",)] * 10 + [(f"x{i}",) for i in range(30)])  # more than the log takes
        with pytest.raises(StorageError, match="no longer kept"):
            db.changes("w", since=40)
        assert len(db.changes("w", since=41)) == 0
        db.execute("CREATE OR REPLACE TABLE w (word STRING)")
        db.table("w").insert(("new",))
        with pytest.raises(StorageError, match="no longer kept"):
            db.changes("w", since=40)
        assert len(db.changes("w", since=41)) == 1


@pytest.mark.parametrize("objects", [False, True])
def test_a_reader_goes_to_the_newest_version(tmp_path: Path, objects: bool) -> None:
    draw = random.Random(4)
    with database(tmp_path / "a.db") as db:
        if objects:
            db.odl("class thing (extent things) { attribute string name; attribute thing next_one; };")
        step(db, draw, 1)
        reader = ec.connect(tmp_path / "a.db")
        heard: list[Any] = []
        reader.view("spend").subscribe(heard.append)
        held = Counter(reader.view("spend").rows())

        def check() -> None:
            assert reader.read_only
            assert reader.refresh().version == db.version
            assert reader.reload() == db.version
            for name in [*db.tables, *db.views]:
                assert Counter(reader[name].rows()) == Counter(db[name].rows()), name
            for change in heard:
                held.update(change.inserted)
                held.subtract(change.deleted)
            heard.clear()
            assert +held == Counter(db.view("spend").rows())
            assert reader.verify()

        check()
        for number in range(2, 6):
            step(db, draw, number)
        if objects:
            first = db.new("thing", name="a")
            db.new("thing", name="b", next_one=first)
        before = reader.version
        assert len(heard) == 0
        check()
        assert reader.version == before + (6 if objects else 4)
        db.execute("CREATE VIEW more AS SELECT COUNT(*) AS n FROM o")
        db.execute("ALTER TABLE w ADD COLUMN size INT")
        db.table("c").insert((99, "late"))
        check()
        if objects:
            assert reader.object(2).next_one.name == "a"
            first.name = "z"
            check()
            assert reader.object(2).next_one.name == "z"
        with reader.transaction(), pytest.raises(TransactionError):
            reader.reload()
        reader.close()


def test_a_reader_with_read_only_beside_no_writer(tmp_path: Path) -> None:
    database(tmp_path / "a.db").close()
    with ec.connect(tmp_path / "a.db", read_only=True) as reader, ec.connect(tmp_path / "a.db") as db:
        assert not db.read_only
        db.table("w").insert(("x",))
        reader.refresh()
        assert reader.table("w").rows() == [("x",)]
