"""Pages of a warehouse are its rows, piece by piece, and are read from the row groups that hold them."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from evercurrent.engine.spark import engine
from evercurrent.engine.spark.storage import files
from evercurrent.serve.studio import stored_pages as module
from evercurrent.serve.studio.on_spark import OnSpark
from evercurrent.serve.studio.stored_pages import StoredPages
from evercurrent.warehouse.database import Warehouse

DEFINITIONS = """
CREATE TABLE t (id BIGINT PRIMARY KEY, g BIGINT, s STRING, x DOUBLE);
CREATE VIEW linear AS SELECT g % 7 AS g FROM t;
CREATE VIEW grouped AS SELECT g, COUNT(*) AS n, MAX(s) AS s FROM t GROUP BY g;
CREATE VIEW floats AS SELECT x FROM t;
CREATE VIEW total AS SELECT COUNT(*) AS n FROM t;
"""
NAMES = ("t", "linear", "grouped", "floats", "total")


@pytest.fixture
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Warehouse:
    monkeypatch.setattr(engine, "private", lambda spark: None)
    monkeypatch.setattr(files, "ROW_GROUP", 5)
    found = Warehouse(None, tmp_path / "warehouse", progress=False)
    found.execute(DEFINITIONS)
    return found


def rows(ids: range | list[int], mark: str = "") -> list[tuple[Any, ...]]:
    return [(i, i % 40, f"{mark}{i}", None if i % 5 == 0 else i / 4) for i in ids]


def read_all(inspection: OnSpark, name: str, size: int) -> tuple[list[Any], int | None]:
    kind = "table" if name == "t" else "view"
    found: list[Any] = []
    while True:
        page, count = inspection.page(kind, name, len(found), size)
        found += page
        if len(page) < size:
            return found, count


def check(inspection: OnSpark, size: int) -> None:
    for name in NAMES:
        found, count = read_all(inspection, name, size)
        kind = "table" if name == "t" else "view"
        handle = inspection.database.table(name) if kind == "table" else inspection.database.view(name)
        store = handle._segments(None)
        whole = inspection.core.engine.rows(store, [f.type for f in handle.schema])
        expected = Counter(dict(whole))
        assert Counter(found) == expected and count == len(found) == sum(expected.values()), name
        assert Counter(dict(inspection.entries(kind, name))) == expected


@pytest.mark.parametrize("seed", range(2))
def test_pages_are_the_rows_piece_by_piece(db: Warehouse, seed: int) -> None:
    rng = random.Random(seed)
    inspection = OnSpark(db)
    check(inspection, 3)
    db.table("t").insert(rows(range(120)))
    there = set(range(120))
    recent = 0
    for step in range(5):
        gone = rng.sample(sorted(there), 2)
        kept = rng.sample(sorted(there - set(gone)), 2)
        new = [1000 * seed + 200 + step, -step - 1]
        with db.transaction():
            db.execute(f"DELETE FROM t WHERE id IN ({gone[0]}, {gone[1]})")
            db.execute(f"UPDATE t SET s = 'u', x = 0.5 WHERE id IN ({kept[0]}, {kept[1]})")
            db.table("t").insert(rows(new))
        there = there - set(gone) | set(new)
        recent = max(recent, len(inspection.core.present.table_rows("t").recent))
        check(inspection, rng.choice((1, 4, 7, 50, 1000)))
    assert recent > 2  # bases and what is added to them were read


def test_a_page_reads_the_groups_that_it_shows(db: Warehouse, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    plain = StoredPages.read

    def count_reads(self: StoredPages, group: Any, names: Any) -> Any:
        read.append(group.number)
        return plain(self, group, names)

    monkeypatch.setattr(StoredPages, "read", count_reads)
    db.table("t").insert(rows(range(500)))
    inspection = OnSpark(db)
    page, count = inspection.page("table", "t", 302, 10)
    assert [row[0] for row in page] == list(range(302, 312)) and count == 500
    assert len(read) == 3  # of a hundred
    db.execute("UPDATE t SET s = 'new' WHERE id = 17")
    read.clear()
    page, count = inspection.page("table", "t", 302, 5)
    assert [row[0] for row in page] == list(range(303, 308)) and count == 500  # 17 is at the end now
    assert len(read) < 6  # the group of the row that was changed, and two that are shown
    read.clear()
    assert inspection.page("table", "t", 400, 5)[0][0][0] == 401
    assert len(read) == 2  # what was changed is known
    assert inspection.page("table", "t", 499, 5)[0] == [(17, 17, "new", 4.25)]


def test_a_store_with_much_that_is_recent_is_read_whole(
    db: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.table("t").insert(rows(range(100)))
    db.table("t").insert(rows(range(100, 104)))
    monkeypatch.setattr(module, "MOST_RECENT", 3)
    inspection = OnSpark(db)
    page, count = inspection.page("table", "t", 90, 20)
    assert len(page) == 14 and count is None
