"""An error inside a view names the view, its definition and the row."""

from __future__ import annotations

from typing import Any

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
    assert place is not None and place.text[place.start : place.end] == "x + 1) / (y - 1"
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
