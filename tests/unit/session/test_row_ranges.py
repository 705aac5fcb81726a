"""Views that show rows beyond a threshold, or pairs of an inequality: a change visits what it changes."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

import evercurrent as ec
from evercurrent.engine.live.runtime.ordered_entries import Found, Ordered

QUERIES = {
    "rows": "SELECT * FROM bids WHERE volume > 0.5 * (SELECT avg(volume) FROM bids)",
    "sum": "SELECT id FROM bids WHERE 200 * volume >= (SELECT sum(volume) FROM bids)",
    "below": "SELECT id, volume FROM bids WHERE volume <= (SELECT avg(volume) FROM bids)",
    "band": "SELECT id FROM bids WHERE volume > 0.9 * (SELECT avg(volume) FROM bids) AND volume < 1.1 * (SELECT avg(volume) FROM bids)",
    "groups": (
        "SELECT broker, sum(volume) AS v FROM bids GROUP BY broker "
        "HAVING sum(volume) > (SELECT sum(volume) * 0.005 FROM bids)"
    ),
    "totals": "SELECT price, sum(volume) AS v FROM bids WHERE volume > (SELECT avg(volume) FROM bids) GROUP BY price",
    "limits": "SELECT b.id FROM bids b JOIN limits l ON b.volume > l.low AND b.volume <= l.high",
    "pairs": "SELECT b.id, l.id AS l FROM bids b JOIN limits l ON b.volume BETWEEN l.low - 1 AND l.high",
}


def database(query: str, size: int) -> ec.Database:
    db = ec.connect()
    db.execute("CREATE TABLE bids (id INT PRIMARY KEY, broker INT, price INT, volume INT)")
    db.execute("CREATE TABLE limits (id INT PRIMARY KEY, low INT, high INT)")
    db.execute(f"CREATE VIEW v AS {query}")
    for i in range(size):
        db.table("bids").insert([(i, i % max(1, size // 4), i % 7, 1000 + i)])
    db.table("limits").insert([(i, 1000 + i * 50, 1010 + i * 50) for i in range(3)])
    return db


@pytest.fixture
def visited(monkeypatch: pytest.MonkeyPatch) -> list[Found]:
    """The entries that were read by range."""
    found: list[Found] = []
    read = Ordered.read

    def counted(self: Ordered, first: int, last: int) -> Iterator[Found]:
        for entry in read(self, first, last):
            found.append(entry)
            yield entry

    monkeypatch.setattr(Ordered, "read", counted)
    return found


@pytest.mark.parametrize("watched", [False, True])
@pytest.mark.parametrize("name", QUERIES)
def test_view_equals_query_through_changes_and_failures(name: str, watched: bool) -> None:
    db = database(QUERIES[name], 0)
    if watched:
        db.view("v").subscribe(lambda change: None)
    chooser = random.Random(name)
    ids: list[int] = []
    for step in range(60):
        if ids and chooser.random() < 0.3:
            db.table("bids").delete({"id": ids.pop(chooser.randrange(len(ids)))})
        elif ids and chooser.random() < 0.3:
            db.table("bids").update(
                {"id": chooser.choice(ids)}, volume=chooser.choice((None, 999, 1001, 1060))
            )
        else:
            volume = chooser.choice((None, 1000, 1000, 1010, 1011, 1050, 1100 + step, 5000))
            db.table("bids").insert([(step, step % 3, step % 2, volume)])
            ids.append(step)
        if step % 4 == 0:
            low = chooser.choice((None, 1000, 1010, 1049))
            db.table("limits").update({"id": step % 3}, low=low, high=chooser.choice((1010, 1060, 900)))
        if step % 5 == 0:
            with pytest.raises(ZeroDivisionError), db.transaction():
                db.execute("DELETE FROM limits")
                db.table("bids").insert([(1000, 1, 1, 1010), (1001, 2, 1, 100000)])
                db.view("v").rows(pending=True)
                raise ZeroDivisionError
        assert db.verify(), db.verify()
    db.execute("DELETE FROM bids; DELETE FROM limits")
    assert db.verify() and db.view("v").rows() == []


@pytest.mark.parametrize("name", ["rows", "sum", "below", "band", "groups", "totals"])
def test_threshold_that_moves_visits_the_rows_between(name: str, visited: list[Found]) -> None:
    counts = []
    for size in (200, 2000):
        db = database(QUERIES[name], size)
        db.view("v").subscribe(lambda change: None)
        visited.clear()
        db.table("bids").insert([(size, 0, 0, 1000)])
        counts.append(len(visited))
        assert db.verify(), db.verify()
    assert max(counts) < 12, counts


def test_changed_bound_of_a_joined_row_visits_the_rows_between(visited: list[Found]) -> None:
    db = database(QUERIES["limits"], 1000)
    db.table("limits").insert([(9, 1100, 1900)])
    visited.clear()
    db.table("limits").update({"id": 9}, low=1103, high=1902)
    assert [entry[0] for entry in visited] == [101, 102, 103, 901, 902]
    visited.clear()
    db.table("limits").update({"id": 9}, low=1500, high=1200)  # now it is empty
    assert len(visited) == 799
    assert db.verify(), db.verify()


def test_pair_is_found_by_its_range(visited: list[Found]) -> None:
    db = database(QUERIES["pairs"], 1000)
    visited.clear()
    db.table("limits").insert([(9, 1101, 1103)])
    assert len(visited) == 4
    assert db.verify(), db.verify()


def test_explain_says_by_what_a_range_is_read() -> None:
    db = database(QUERIES["rows"], 0)
    assert "1 of a range by volume" in db.view("v").explain()
    assert "the part of bids that a join looks up; in order of cast(volume as" in db.view("v").explain()
    assert "in order of cast(volume as" in db.view("v").explain(stage="program")


def test_explain_says_why_a_table_is_kept_in_order() -> None:
    db = database("SELECT id FROM bids", 3000)
    db.execute("CREATE VIEW w AS SELECT b.id FROM bids b JOIN limits l ON b.volume > l.low")
    assert "order   of bids by b.volume: kept" in db.view("w").explain()


def test_large_band_join_is_filled_without_all_pairs() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE r (a INT NOT NULL); CREATE TABLE s (b INT NOT NULL)")
    db.table("r").insert([(i * 10,) for i in range(4000)])
    db.table("s").insert([(i * 10,) for i in range(4000)])
    db.execute("CREATE VIEW v AS SELECT r.a, s.b FROM r JOIN s ON s.b BETWEEN r.a - 10 AND r.a + 10")
    assert len(db.view("v")) == 3 * 4000 - 2
