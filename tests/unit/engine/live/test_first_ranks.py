"""A rank of which only the first values are read is a top with ties: equal to DuckDB, and no cost of the rows behind."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import duckdb
import pyarrow
import pytest

import evercurrent as ec
from evercurrent.delta.program import Ranked
from evercurrent.engine.live import columns
from evercurrent.engine.live.runtime.ordered import Groups

QUERIES = [
    f"SELECT {shown} FROM (SELECT *, {rank}() OVER ({partition}ORDER BY {order}) AS r FROM t) AS q WHERE r {condition}"
    for rank in ("rank", "dense_rank")
    for partition in ("", "PARTITION BY g ")
    for order in ("p DESC NULLS LAST", "p NULLS FIRST, g NULLS FIRST")
    for shown, condition in (("id, r", "<= 3"), ("g, p", "< 3"), ("g, p, r", "= 2"))
] + [
    "SELECT id, rank() OVER (ORDER BY p DESC NULLS LAST) AS r FROM t ORDER BY r, id LIMIT 4",
    "SELECT id, dense_rank() OVER (PARTITION BY g ORDER BY p NULLS LAST) AS d FROM t ORDER BY d, id LIMIT 3 OFFSET 2",
]


def changes(seed: int, steps: int) -> list[tuple[Any, ...]]:
    random, there, found = Random(seed), [], []
    for i in range(steps):
        if there and random.random() < 0.4:
            found.append(("delete", there.pop(random.randrange(len(there)))))
        else:
            there.append(i)
            found.append(
                (
                    "insert",
                    (i, random.choice((1, 2, None)), random.choice((None, *range(random.choice((3, 9)))))),
                )
            )
    return found


@pytest.mark.parametrize("query", QUERIES)
def test_first_ranks_are_those_of_duckdb(query: str) -> None:
    db, duck = ec.connect(), duckdb.connect()
    for each in (db, duck):
        each.execute("CREATE TABLE t (id INT, g INT, p INT)")
    db.execute(f"CREATE VIEW v AS {query}")
    told: dict[tuple[Any, ...], int] = {}

    def add(change: Any) -> None:
        for rows, sign in ((change.inserted, 1), (change.deleted, -1)):
            for row in rows:
                told[tuple(row)] = told.get(tuple(row), 0) + sign

    db.view("v").subscribe(add)
    functions = [getattr(r, "function", None) for r in db._session.maintenance.design.program.relations]
    assert any(isinstance(f, Ranked) and f.ties != "rows" for f in functions)
    for kind, what in changes(len(query), 60):
        if kind == "insert":
            db.table("t").insert(what)
            duck.execute("INSERT INTO t VALUES (?, ?, ?)", what)
        else:
            for each in (db, duck):
                each.execute("DELETE FROM t WHERE id = ?", [what])
        expected = sorted(duck.execute(query).fetchall(), key=repr)
        assert sorted(map(tuple, db.view("v").rows()), key=repr) == expected
    assert sorted((row for row, n in told.items() for _ in range(n)), key=repr) == expected


@pytest.mark.parametrize("query", QUERIES[:4] + QUERIES[-2:])
def test_over_columns_as_over_rows(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "LEAST_ROWS", 100)
    db, duck = ec.connect(), duckdb.connect()
    random = Random(3)
    data = pyarrow.table(
        {
            "id": range(500),
            "g": [random.choice((1, 2, None)) for _ in range(500)],
            "p": [random.choice((None, *range(40))) for _ in range(500)],
        },
        schema=pyarrow.schema([(n, pyarrow.int32()) for n in ("id", "g", "p")]),
    )
    db.execute("CREATE TABLE t (id INT, g INT, p INT)")
    db.execute(f"CREATE VIEW v AS {query}")
    db.table("t").insert(data)
    assert db._session.maintenance.engine.core.columns is not None
    duck.register("t", data)
    expected = sorted(duck.execute(query).fetchall(), key=repr)
    assert sorted(map(tuple, db.view("v").rows()), key=repr) == expected


def test_rows_behind_the_first_ranks_change_nothing() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (id INT, g INT, p INT)")
    db.execute(f"CREATE VIEW v AS {QUERIES[0]}")
    db.table("t").insert([(i, 1, 1000 - i // 2) for i in range(400)])
    core = db._session.maintenance.engine.core
    (group,) = [g for g in core.groups.values() if isinstance(g.relation.function, Ranked)]
    assert isinstance(group, Groups)
    points = [3, 998, 999, 1000, None]
    rows = [tuple({"id": 900, "g": 1, "p": p}[c.name] for c in group.columns) for p in points]
    assert [group.matters((), row) for row in rows] == [False, False, True, True, False]


@pytest.mark.parametrize(
    ("query", "warned"),
    [
        ("SELECT id, row_number() OVER (ORDER BY p) AS r FROM t", ["row_number"]),
        ("SELECT id, rank() OVER (PARTITION BY g ORDER BY p) AS r FROM t", []),
        ("SELECT * FROM (SELECT id, rank() OVER (ORDER BY p) AS r FROM t) AS q WHERE r <= 3", []),
        (
            "SELECT id, sum(p) OVER (ORDER BY p ROWS 3 PRECEDING) AS s, lag(p) OVER (ORDER BY p) AS l FROM t",
            [],
        ),
        (
            "SELECT id, sum(p) OVER (ORDER BY p) AS s, ntile(3) OVER (ORDER BY p) AS n FROM t",
            ["sum", "ntile"],
        ),
        (
            "SELECT id, sum(p) OVER (ORDER BY p) AS s, sum(g) OVER (ORDER BY g) AS n FROM t",
            ["sum"],
        ),
        ("SELECT id, avg(p) OVER () AS a FROM t", ["avg"]),
    ],
)
def test_a_window_that_moves_many_rows_is_warned_of(query: str, warned: list[str]) -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (id INT, g INT, p INT)")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        db.execute(f"CREATE VIEW v AS {query}")
    texts = [str(w.message) for w in found if w.category is ec.CostWarning]
    named = [t.removeprefix("view v: ").split(": ")[0].split(", ") for t in texts]
    assert [sorted(names) for names in named] == [sorted(f"{name}()" for name in warned)] * bool(warned)
    text = str(db.view("v").explain())
    assert all(f"    {name}: " in text for names in named for name in names)
    assert len(warned) != 1 or texts[0].removeprefix("view v: ") in text
    assert ("  windows\n" in text) == (bool(warned) or "PARTITION" in query)
