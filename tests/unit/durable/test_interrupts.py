"""An interrupt at any line of a commit or a definition: the file and the database agree afterwards, on before or after."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import evercurrent as ec
from tests.fuzz.injection import Faults, Interrupted


def database(path: Path) -> ec.Database:
    db = ec.connect(path, durability="off")
    db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT)")
    db.execute("CREATE TABLE u (a STRING)")
    db.execute("CREATE VIEW v AS SELECT n, COUNT(*) AS c FROM t GROUP BY n")
    db.table("t").insert([(1, 1), (2, 1)])
    return db


def held(connection: sqlite3.Connection) -> tuple[Any, ...]:
    """What the file says, to whoever reads it with SQLite."""
    names = [n for (n,) in connection.execute("SELECT name FROM evercurrent_definitions ORDER BY name")]
    (version,) = connection.execute("SELECT value FROM evercurrent_state WHERE name = 'version'").fetchone()
    return version, names, sorted(connection.execute("SELECT * FROM t").fetchall())


def known(db: ec.Database) -> tuple[Any, ...]:
    rows = sorted(db.table("t").rows())  # whoever takes the lock puts right what was interrupted
    return db.version, sorted([*db.tables, *db.views]), rows


def walk(
    db: ec.Database, path: Path, forth: Callable[[], object], back: Callable[[], object], stride: int
) -> tuple[int, int]:
    """Interrupts `forth` at every n-th line; returns how often it has taken effect, and how often not."""
    with Faults(()) as count:
        forth()
    back()
    connection = sqlite3.connect(path)
    done = undone = 0
    for line in range(1, count.lines + 1, stride):
        before = known(db)
        with suppress(Interrupted), Faults((line,)):  # the first run may have had more lines
            forth()
        after = known(db)
        assert held(connection) == after, line
        assert not db._file.file.connection.in_transaction  # type: ignore[union-attr]
        if after[1:] == before[1:]:
            undone += 1
        else:
            done += 1
            back()
    connection.close()
    assert db.verify()
    return done, undone


def test_a_transaction(tmp_path: Path) -> None:
    with database(tmp_path / "a.db") as db:
        rows = db.table("t")

        def forth() -> None:
            with db.transaction():
                rows.insert((3, 2))
                rows.delete(1)

        def back() -> None:
            with db.transaction():
                rows.delete(3)
                rows.insert((1, 1))

        done, undone = walk(db, tmp_path / "a.db", forth, back, 1)
        assert done > 10  # some come after the commit of SQLite
        assert undone > 100


def test_a_definition(tmp_path: Path) -> None:
    with database(tmp_path / "b.db") as db:
        done, undone = walk(
            db,
            tmp_path / "b.db",
            lambda: db.execute("CREATE TABLE w (a DECIMAL(5,2), b STRING)"),
            lambda: db.execute("DROP TABLE w"),
            5,
        )
        assert done
        assert undone
    with ec.connect(tmp_path / "b.db") as db:
        assert sorted([*db.tables, *db.views]) == ["t", "u", "v"]
