"""An error inside a view names the view, its definition and the row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow
import pytest

import evercurrent as ec


def database() -> Any:
    db = ec.connect()
    db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, x BIGINT, y BIGINT)")
    for i in range(12):
        db.execute(f"CREATE VIEW v{i} AS SELECT id, x {'/' if i == 7 else '+'} y AS q FROM t WHERE id > {i}")
    return db


def test_one_of_twelve_views() -> None:
    db = database()
    with pytest.raises(ec.EvaluationError, match="view v7: division by zero") as caught:
        db.table("t").insert([(100, 1, 2), (101, 5, 0)])
    assert "for the row {'id': 101, 'x': 5, 'y': 0} of t" in str(caught.value)
    assert "x / y AS q" in str(caught.value)
    assert "NULLIF" in str(caught.value)  # the hint stays
    assert db.table("t").rows() == []
    assert db.verify()


def test_a_sum_of_several_rows() -> None:
    db = database()
    db.execute("CREATE VIEW total AS SELECT SUM(x) AS s FROM t")
    with pytest.raises(ec.EvaluationError, match="view total: a sum is out of the range of BIGINT"):
        db.table("t").insert([(100, 2**62, 2), (101, 2**62, 1)])


def test_the_view_that_fails_and_not_the_one_above_it() -> None:
    db = database()
    db.execute("CREATE VIEW above AS SELECT COUNT(*) AS n FROM v7")
    with pytest.raises(ec.EvaluationError, match=r"^view v7: division by zero"):
        db.table("t").insert((100, 1, 0))


def test_a_check_that_fails_is_named_with_the_row() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, CHECK (b <> 7), CHECK (10 / a > b))")
    table = db.table("t")
    ways: list[Callable[[], Any]] = [
        lambda: table.insert((3, 0, 1)),
        lambda: table.insert([(2, 5, 1), (3, 0, 1)]),
        lambda: db.execute("INSERT INTO t VALUES (2, 5, 1), (3, 0, 1)"),
    ]
    for way in ways:
        with pytest.raises(ec.EvaluationError) as caught:
            way()
        lines = str(caught.value).splitlines()
        assert lines[:2] == ["t: CHECK (10 / a > b): division by zero", "  for the row (3, 0, 1)"]
        assert "NULLIF" in lines[-1] and table.rows() == []
    table.insert((3, 1, 1))
    with pytest.raises(ec.EvaluationError, match=r"t: CHECK \(10 / a > b\): division by zero"):
        table.update(3, a=0)
    assert table.rows() == [(3, 1, 1)]


def test_assertions_oql_and_python() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, x BIGINT, y BIGINT)")
    db.execute("CREATE ASSERTION small CHECK (NOT EXISTS (SELECT 1 FROM t WHERE x / y > 10))")
    with pytest.raises(ec.EvaluationError, match="assertion small: division by zero"):
        db.table("t").insert((1, 1, 0))
    db.execute("DROP ASSERTION small")
    db.view("ratios", db.table_of("t").select(lambda r: r.x / r.y))
    with pytest.raises(ec.EvaluationError, match="view ratios: "):
        db.table("t").insert((1, 1, 0))
    objects = ec.connect()
    objects.odl("class item (extent Items) { attribute long long x; attribute long long y; };")
    objects.oql("define shares as select i.x / i.y from i in Items")
    with pytest.raises(ec.EvaluationError, match="view shares: division by zero"), objects.transaction():
        objects.new("item", x=1, y=0)
    assert len(objects.extent("Items")) == 0


def test_where_nobody_can_be_evaluated_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evercurrent.session.blame.MANY", -1)
    db = database()
    with pytest.raises(ec.EvaluationError, match=r"division by zero \(while t changed\)"):
        db.table("t").insert((100, 1, 0))


def test_the_expression_and_not_one_of_its_operands() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, x BIGINT, y BIGINT, s STRING)")
    db.execute("CREATE VIEW v AS SELECT id,\n  abs((x + 1) / (y - 1)) AS q, cast(s AS INT) AS c FROM t")
    with pytest.raises(ec.EvaluationError, match="view v: division by zero") as caught:
        db.table("t").insert((1, 2, 1, "7"))
    place = caught.value.place
    assert place is not None and place.text[place.start : place.end] == "(x + 1) / (y - 1)"
    assert "defined as" not in str(caught.value)
    with pytest.raises(ec.EvaluationError, match="view v: 'x' cannot be cast to INT") as caught:
        db.table("t").insert((1, 2, 3, "x"))
    assert "in cast(t.s as INT)" in str(caught.value)


@pytest.mark.parametrize("mode", ["lazy", "hybrid"])
def test_views_that_fail_when_they_are_read(mode: Any) -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, x BIGINT, y BIGINT)")
    db.execute("CREATE VIEW sound AS SELECT x, COUNT(*) AS n FROM t GROUP BY x", mode=mode)
    db.execute("CREATE VIEW v AS SELECT x, SUM(10 / y) AS q FROM t GROUP BY x", mode=mode)
    with pytest.raises(ec.EvaluationError, match="view v: division by zero") as caught:
        db.table("t").insert([(1, 1, 1), (2, 1, 0)])
        db.view("v").rows()
    assert "for the row {'id': 2, 'x': 1, 'y': 0} of t" in str(caught.value)
    assert "^^^^^^" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "first", "marked"),
    [
        ("CREATE VIEW q AS SELECT id, x / y AS z FROM t", "view q: division by zero", "x / y"),
        (
            "CREATE ASSERTION q CHECK (NOT EXISTS (SELECT 1 FROM t WHERE x / y > 99))",
            "assertion q: division by zero",
            "x / y",
        ),
        ("SELECT id, x / y AS z FROM t", "division by zero", "x / y"),
        ("SELECT sum(x / y) FROM t AS a WHERE id IN (SELECT id FROM t)", "division by zero", "x / y"),
        ("SELECT x / y AS z FROM t WHERE id = 2", "division by zero", "x / y"),
        ("UPDATE t SET x = x / y WHERE id = 2", "division by zero", "x / y"),
        ("DELETE FROM t WHERE x / y = 1", "division by zero", "x / y"),
        ("INSERT INTO t SELECT id + 10, x / y, 1 FROM t", "division by zero", "x / y"),
    ],
)
def test_definitions_queries_and_changes_name_the_expression_and_the_row(
    text: str, first: str, marked: str
) -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, x INT, y INT)")
    db.execute("INSERT INTO t VALUES (1, 5, 5), (2, 7, 0), (3, 1, 1)")
    before = db.query("SELECT * FROM t").rows()
    for _ in range(3):  # a plan that is kept says the same
        with pytest.raises(ec.EvaluationError) as caught:
            db.execute(text)
        said = str(caught.value)
        assert said.splitlines()[0] == first
        assert "for the row {'id': 2, 'x': 7, 'y': 0} of t" in said
        place = caught.value.place
        assert place is not None and place.text[place.start : place.end] == marked
    assert db.query("SELECT * FROM t").rows() == before and db.views == [] and db.assertions == []


def test_a_query_inside_a_transaction_is_blamed_on_its_rows() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, x INT)")
    with db.transaction():
        db.table("t").insert([(1, 1), (2, 0)])
        with pytest.raises(ec.EvaluationError, match=r"for the row \{'id': 2, 'x': 0\} of t"):
            db.query("SELECT 1 / x FROM t", pending=True)
        db.table("t").delete({"id": 2})
    assert len(db.table("t")) == 1


def database_of_twelve() -> ec.Database:
    db = ec.connect()
    db.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, a BIGINT, b BIGINT)")
    for i in range(12):
        query = "SELECT b, SUM(a) AS s, COUNT(*) AS n FROM t GROUP BY b"
        db.execute(f"CREATE VIEW v{i} AS " + ("SELECT id, a / (b - 5) AS q FROM t" if i == 7 else query))
    return db


def change_by_columns(db: ec.Database) -> None:
    rows = [(i, 1, 5 if i == 4321 else 0) for i in range(5000)]
    db.table("t").insert(pyarrow.table(list(zip(*rows, strict=True)), names=["id", "a", "b"]))


WAYS: dict[str, Callable[[ec.Database], object]] = {
    "a row": lambda db: db.table("t").insert((4321, 1, 5)),
    "columns": change_by_columns,
    "many rows": lambda db: db.table("t").insert([(i, 1, 5 if i == 4321 else 0) for i in range(5000)]),
    "the fast path": lambda db: db.feed("t").insert((4321, 1, 5)),
    "a change feed": lambda db: db.apply({"t": [{"_change_type": "insert", "id": 4321, "a": 1, "b": 5}]}),
    "a statement with a plan": lambda db: [
        db.execute("INSERT INTO t VALUES (?, ?, ?)", [i, 1, 5 if i == 4321 else 0]) for i in range(4317, 4322)
    ],
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_names_the_view_the_expression_and_the_row(way: str) -> None:
    db = database_of_twelve()
    with pytest.raises(ec.EvaluationError) as caught:
        WAYS[way](db)
    said = str(caught.value)
    assert said.startswith("view v7: division by zero"), said
    assert "for the row {'id': 4321, 'a': 1, 'b': 5} of t" in said, said
    place = caught.value.place
    assert place is not None and place.text[place.start : place.end].startswith("a / (b - 5")
    assert db.verify()


def test_objects_name_the_view_and_the_row_too() -> None:
    db = ec.connect()
    db.odl("class c (extent cs) { attribute long n; attribute long m; };")
    for i in range(3):
        db.execute(f"CREATE VIEW v{i} AS SELECT n / (m - {i}) AS r FROM cs WHERE n = {i}")
    thing = db.new("c", n=1, m=7)
    for fails in (lambda: db.new("c", n=2, m=2), lambda: setattr(thing, "m", 1)):
        with pytest.raises(ec.EvaluationError, match=r"view v\d: division by zero\n  for the row \{'oid'"):
            fails()
    assert thing.m == 7 and db.verify()


@pytest.mark.parametrize(
    "term",
    [
        "a / (b - 5)",
        "(a) / (b - 5)",
        "a % ((b - 5))",
        "a / abs(b - 5)",
        "a / (b - length(')1(34'))",
        "a / (\n b - 5 )",
    ],
)
def test_the_place_has_its_brackets(term: str) -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (a INT, b INT)")
    db.execute(f"CREATE VIEW v AS SELECT 1 + ({term}) AS q FROM t")
    with pytest.raises(ec.EvaluationError, match="division by zero") as caught:
        db.execute("INSERT INTO t VALUES (1, 5)")
    place = caught.value.place
    assert place is not None
    assert place.text[place.start : place.end] == term
