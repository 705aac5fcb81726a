"""The sixteen traps that implementers of incremental views fall into, each as a test by its name."""

from __future__ import annotations

import datetime
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

import evercurrent as ec


def database(*script: str) -> ec.Database:
    db = ec.connect()
    for statement in script:
        db.execute(statement)
    return db


def rows(db: ec.Database, view: str = "v") -> Counter[Any]:
    return Counter(tuple(r) for r in db.view(view).rows())


def bag(*expected: tuple[Any, ...]) -> Counter[Any]:
    return Counter(expected)


def listen(db: ec.Database, view: str = "v") -> list[Any]:
    heard: list[Any] = []
    db.view(view).subscribe(heard.append)
    return heard


def settled(db: ec.Database) -> None:
    """Nothing that is kept differs from a recomputation."""
    report = db.verify()
    assert report, str(report)


def test_trap_01_null_in_aggregates() -> None:
    db = database(
        "CREATE TABLE t (g INT, x INT)",
        "CREATE VIEW v AS SELECT g, COUNT(*) AS n, COUNT(x) AS k, SUM(x) AS s, AVG(x) AS a, MIN(x) AS lo, "
        "MAX(x) AS hi FROM t GROUP BY g",
        "INSERT INTO t VALUES (1, NULL), (1, NULL)",
    )
    assert rows(db) == bag((1, 2, 0, None, None, None, None))
    db.execute("INSERT INTO t VALUES (1, 5), (1, 0)")
    assert rows(db) == bag((1, 4, 2, 5, 2.5, 0, 5))
    db.execute("DELETE FROM t WHERE x = 5")
    assert rows(db) == bag((1, 3, 1, 0, 0.0, 0, 0)), "a sum of 0 over one value is not a sum over nothing"
    db.execute("DELETE FROM t WHERE x = 0")
    assert rows(db) == bag((1, 2, 0, None, None, None, None)), "after the last value the sum is NULL again"
    settled(db)


def test_trap_02_empty_groups() -> None:
    db = database(
        "CREATE TABLE t (g INT, x INT)",
        "CREATE VIEW v AS SELECT g, SUM(x) AS s FROM t GROUP BY g",
        "CREATE VIEW one AS SELECT COUNT(*) AS n, SUM(x) AS s FROM t",
    )
    assert rows(db) == bag()
    assert rows(db, "one") == bag((0, None)), "before the first insert"
    db.execute("INSERT INTO t VALUES (1, 5), (1, -5), (2, 0)")
    assert rows(db) == bag((1, 0), (2, 0)), "a sum of 0 does not remove a group"
    assert rows(db, "one") == bag((3, 0))
    db.execute("DELETE FROM t WHERE g = 2")
    assert rows(db) == bag((1, 0))
    db.execute("DELETE FROM t")
    assert rows(db) == bag()
    assert rows(db, "one") == bag((0, None)), "after the last delete"
    settled(db)


def test_trap_03_average_of_integers_and_decimals() -> None:
    db = database(
        "CREATE TABLE t (g INT, i BIGINT, d DECIMAL(10,2))",
        "CREATE VIEW v AS SELECT g, AVG(i) AS a, AVG(d) AS m, SUM(d) AS s FROM t GROUP BY g",
        "CREATE VIEW mean AS SELECT g, AVG(i) AS a FROM t GROUP BY g",
        "INSERT INTO t VALUES (1, 1, 1.00), (1, 2, 1.00), (1, 2, 2.00)",
    )
    ((_, mean, money, total),) = rows(db)
    assert mean == pytest.approx(5 / 3)
    assert money == Decimal("1.333333"), "AVG of DECIMAL(10,2) is DECIMAL(14,6)"
    assert str(money) == "1.333333"
    assert total == Decimal("4.00") and str(total) == "4.00", "SUM keeps the scale"
    heard = listen(db, "mean")
    with db.transaction():
        db.execute("INSERT INTO t VALUES (1, 1, NULL), (1, 2, NULL), (1, 2, NULL)")
    assert heard == [], "a change that leaves the average as it was is no change"
    db.execute("INSERT INTO t VALUES (1, 9007199254740993, 0)")
    ((_, exact),) = rows(db, "mean")
    assert exact == (10 + 9007199254740993) / 7, "the sum is kept exactly, and rounded once"
    settled(db)


def test_trap_04_floats_leave_no_trace() -> None:
    db = database(
        "CREATE TABLE t (id INT, g INT, x DOUBLE)",
        "CREATE VIEW v AS SELECT g, SUM(x) AS s, COUNT(*) AS n FROM t GROUP BY g",
        "CREATE VIEW kinds AS SELECT x, COUNT(*) AS n FROM t GROUP BY x",
        "INSERT INTO t VALUES (1, 1, 0.1), (2, 1, 0.2)",
    )
    before = rows(db)
    for size in ("1e16", "1e300", "-1e300", "3e-320"):
        db.execute(f"INSERT INTO t VALUES (9, 1, CAST('{size}' AS DOUBLE))")
        db.execute("DELETE FROM t WHERE id = 9")
        assert rows(db) == before, f"{size} came and went and left something"
    table = db.table("t")
    for special in (float("inf"), float("-inf"), float("nan")):
        table.insert((7, 1, special))
    ((_, s, n),) = rows(db)
    assert s != s and n == 5, "inf - inf is NaN"
    table.delete((7, 1, float("nan")))
    table.delete((7, 1, float("-inf")))
    ((_, s, _),) = rows(db)
    assert s == float("inf"), "NaN and -inf have left, inf is there"
    table.delete((7, 1, float("inf")))
    assert rows(db) == before
    db.execute("DELETE FROM t")
    table.insert([(1, 1, 0.0), (2, 1, -0.0), (3, 1, float("nan")), (4, 1, float("nan"))])
    found = sorted(n for _, n in db.view("kinds").rows())
    assert found == [2, 2], "-0.0 is 0.0, and NaN is equal to itself, in grouping"
    settled(db)


def test_trap_05_outer_joins() -> None:
    db = database(
        "CREATE TABLE l (k INT, x STRING)",
        "CREATE TABLE r (k INT, y STRING)",
        "CREATE VIEW v AS SELECT l.x, r.y FROM l LEFT JOIN r ON l.k = r.k",
        "CREATE VIEW f AS SELECT l.x, r.y FROM l FULL JOIN r ON l.k = r.k",
        "CREATE VIEW on_condition AS SELECT l.x, r.y FROM l LEFT JOIN r ON l.k = r.k AND r.y = 'p'",
        "CREATE VIEW where_condition AS SELECT l.x, r.y FROM l LEFT JOIN r ON l.k = r.k WHERE r.y = 'p'",
        "INSERT INTO l VALUES (1, 'a'), (1, 'a'), (2, 'b'), (NULL, 'n')",
    )
    padded = [("a", None), ("a", None), ("b", None), ("n", None)]
    assert rows(db) == bag(*padded)
    db.execute("INSERT INTO r VALUES (1, 'p'), (1, 'q'), (NULL, 'z')")
    matched = [("a", "p"), ("a", "p"), ("a", "q"), ("a", "q"), ("b", None), ("n", None)]
    assert rows(db) == bag(*matched), "padded rows leave with the left multiplicity; NULL matches nothing"
    assert rows(db, "f") == bag(*matched, (None, "z"))
    assert rows(db, "on_condition") == bag(("a", "p"), ("a", "p"), ("b", None), ("n", None))
    assert rows(db, "where_condition") == bag(("a", "p"), ("a", "p"))
    db.execute("DELETE FROM r WHERE y = 'p'")
    assert rows(db) == bag(("a", "q"), ("a", "q"), ("b", None), ("n", None)), "some are left: no padding"
    db.execute("DELETE FROM r WHERE y = 'q'")
    assert rows(db) == bag(*padded), "and they come back"
    db.execute("DELETE FROM l")
    assert rows(db, "f") == bag((None, "z"))
    settled(db)


def test_trap_06_not_in_and_null_keys() -> None:
    db = database(
        "CREATE TABLE t (x INT)",
        "CREATE TABLE u (x INT)",
        "CREATE VIEW v AS SELECT x FROM t WHERE x NOT IN (SELECT x FROM u)",
        "CREATE VIEW e AS SELECT x FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.x = t.x)",
        "CREATE VIEW i AS SELECT x FROM t WHERE x IN (SELECT x FROM u)",
        "CREATE VIEW d AS SELECT DISTINCT x FROM t",
        "CREATE VIEW b AS SELECT x FROM t INTERSECT SELECT x FROM u",
        "CREATE VIEW j AS SELECT t.x FROM t JOIN u ON t.x = u.x",
        "INSERT INTO t VALUES (1), (2), (NULL), (NULL)",
    )
    assert rows(db) == bag((1,), (2,), (None,), (None,)), "an empty subquery lets even NULL through"
    db.execute("INSERT INTO u VALUES (1)")
    assert rows(db) == bag((2,))
    assert rows(db, "e") == bag((2,), (None,), (None,)), "NOT EXISTS does not mind"
    db.execute("INSERT INTO u VALUES (NULL)")
    assert rows(db) == bag(), "one NULL empties NOT IN"
    assert rows(db, "e") == bag((2,), (None,), (None,))
    assert rows(db, "i") == bag((1,))
    assert rows(db, "d") == bag((1,), (2,), (None,)), "NULLs are equal in DISTINCT"
    assert rows(db, "b") == bag((1,), (None,)), "and in set operations"
    assert rows(db, "j") == bag((1,)), "not in joins"
    db.execute("DELETE FROM u WHERE x IS NULL")
    assert rows(db) == bag((2,))
    db.execute("DELETE FROM u")
    assert rows(db) == bag((1,), (2,), (None,), (None,))
    settled(db)


def test_trap_07_deleting_the_extreme() -> None:
    db = database(
        "CREATE TABLE t (g INT, x INT)",
        "CREATE VIEW v AS SELECT g, MIN(x) AS lo, MAX(x) AS hi, COUNT(DISTINCT x) AS k, median(x) AS m "
        "FROM t GROUP BY g",
        "CREATE VIEW best AS SELECT g, x FROM t ORDER BY x DESC LIMIT 2",
        "CREATE VIEW ends AS SELECT max_by(g, x) AS last_g, min_by(g, x) AS first_g FROM t",
        "INSERT INTO t VALUES (1, 1), (1, 5), (1, 5), (1, 9), (2, 7)",
    )
    assert rows(db) == bag((1, 1, 9, 3, 5.0), (2, 7, 7, 1, 7.0))
    assert rows(db, "best") == bag((1, 9), (2, 7))
    db.execute("DELETE FROM t WHERE x = 9")
    assert rows(db) == bag((1, 1, 5, 2, 5.0), (2, 7, 7, 1, 7.0))
    assert rows(db, "best") == bag((2, 7), (1, 5)), "top-k refills at its boundary"
    assert rows(db, "ends") == bag((2, 1))
    db.table("t").delete((1, 5))
    assert rows(db) == bag((1, 1, 5, 2, 3.0), (2, 7, 7, 1, 7.0)), "one copy is left"
    db.table("t").delete((1, 5))
    assert rows(db) == bag((1, 1, 1, 1, 1.0), (2, 7, 7, 1, 7.0))
    db.execute("DELETE FROM t WHERE g = 2")
    assert rows(db, "best") == bag((1, 1))
    assert rows(db, "ends") == bag((1, 1))
    db.execute("INSERT INTO t VALUES (3, 4), (1, 4), (2, 4)")
    assert rows(db, "best") == bag((1, 4), (2, 4)), "ties: by the whole row, ascending"
    settled(db)


def test_trap_08_self_joins_and_several_tables_in_one_batch() -> None:
    db = database(
        "CREATE TABLE t (x INT, y INT)",
        "CREATE TABLE u (y INT, z INT)",
        "CREATE VIEW v AS SELECT a.x, b.y FROM t a JOIN t b ON a.y = b.x",
        "CREATE VIEW three AS SELECT a.x AS p, b.x AS q, c.x AS r FROM t a JOIN t b ON a.y = b.y JOIN t c ON b.y = c.y",
        "CREATE VIEW tu AS SELECT t.x, u.z FROM t JOIN u ON t.y = u.y",
    )
    db.execute("INSERT INTO t VALUES (1, 1)")
    assert rows(db) == bag((1, 1)), "a row meets itself once"
    assert rows(db, "three") == bag((1, 1, 1))
    db.execute("INSERT INTO t VALUES (1, 2), (2, 1)")
    assert rows(db) == bag((1, 1), (1, 2), (1, 1), (2, 1), (2, 2))
    assert sum(rows(db, "three").values()) == 8 + 1, "three occurrences of one table"
    with db.transaction():
        db.execute("DELETE FROM t WHERE x = 2")
        db.execute("INSERT INTO u VALUES (1, 10)")
        db.execute("INSERT INTO t VALUES (5, 1)")
    assert rows(db, "tu") == bag((1, 10), (5, 10)), "found once, and not with what has gone"
    with db.transaction():
        db.execute("DELETE FROM u WHERE y = 1")
        db.execute("DELETE FROM t WHERE x = 5")
    assert rows(db, "tu") == bag()
    heard = listen(db, "tu")
    with db.transaction():
        db.table("t").insert((6, 6))
        db.table("u").insert((6, 60))
        db.table("u").delete((6, 60))
    assert heard == []
    settled(db)


def test_trap_09_multiplicity_and_identity() -> None:
    db = database(
        "CREATE TABLE t (x INT)",
        "CREATE TABLE u (x INT)",
        "CREATE VIEW v AS SELECT x FROM t",
        "CREATE VIEW ea AS SELECT x FROM t EXCEPT ALL SELECT x FROM u",
        "CREATE VIEW e AS SELECT x FROM t EXCEPT SELECT x FROM u",
        "CREATE VIEW un AS SELECT x FROM t UNION SELECT x FROM u",
        "CREATE VIEW ua AS SELECT x FROM t UNION ALL SELECT x FROM u",
        "INSERT INTO t VALUES (1), (1), (1), (2)",
        "INSERT INTO u VALUES (1)",
    )
    assert rows(db, "ea") == bag((1,), (1,), (2,))
    assert rows(db, "e") == bag((2,))
    assert rows(db, "un") == bag((1,), (2,))
    assert rows(db, "ua") == bag((1,), (1,), (1,), (2,), (1,))
    db.table("t").delete((1,))
    assert rows(db) == bag((1,), (1,), (2,)), "one copy and no more"
    with pytest.raises(ec.ConstraintError):
        db.table("t").delete((7,))
    with pytest.raises(ec.ConstraintError), db.transaction():
        db.table("t").delete((1,))
        db.table("t").delete((2,))
        db.table("t").delete((2,))
    assert rows(db) == bag((1,), (1,), (2,)), "undone as a whole"
    heard = listen(db)
    with db.transaction():
        db.table("t").insert((9,))
        db.table("t").delete((9,))
    assert heard == [], "consolidated: in and out is nothing"
    settled(db)


def test_trap_10_recursion() -> None:
    reach = (
        "WITH RECURSIVE p(a, b) AS (SELECT a, b FROM edge UNION SELECT p.a, e.b FROM p JOIN edge e ON p.b = e.a) "
        "SELECT a, b FROM p"
    )
    db = database(
        "CREATE TABLE edge (a INT, b INT)",
        f"CREATE VIEW v AS {reach}",
        "INSERT INTO edge VALUES (1, 2), (2, 3), (3, 2), (3, 4)",
    )
    assert (3, 3) in rows(db) and (1, 4) in rows(db)
    heard = listen(db)
    db.execute("DELETE FROM edge WHERE a = 1")
    assert {r for c in heard for r in c.deleted} == {(1, 2), (1, 3), (1, 4)}, (
        "what is not reachable, and only that"
    )
    db.execute("DELETE FROM edge WHERE a = 3 AND b = 2")
    assert rows(db) == bag((2, 3), (3, 4), (2, 4)), "a tuple that supported itself has gone"
    db.execute("INSERT INTO edge VALUES (4, 2), (9, 9)")
    assert (2, 2) in rows(db) and (9, 9) in rows(db)
    db.execute("DELETE FROM edge WHERE a = b")
    assert (9, 9) not in rows(db), "a self loop does not keep itself alive"
    settled(db)
    before = rows(db)
    endless = (
        "CREATE VIEW endless AS WITH RECURSIVE n(i) AS "
        "(SELECT a FROM edge UNION SELECT i + 1 FROM n WHERE i >= 1000) SELECT i FROM n"
    )
    db.execute(endless)
    with pytest.raises(ec.EvercurrentError) as caught:
        db.execute("INSERT INTO edge VALUES (1000, 1)")
    assert "limit" in str(caught.value) or "overflow" in str(caught.value)
    assert rows(db) == before, "undone"
    settled(db)


def test_trap_11_correlated_and_nested_subqueries() -> None:
    db = database(
        "CREATE TABLE t (id INT, x INT)",
        "CREATE TABLE u (id INT, y INT)",
        "CREATE VIEW v AS SELECT id, (SELECT y FROM u WHERE u.id = t.id) AS y FROM t",
        "CREATE VIEW n AS SELECT id, (SELECT COUNT(*) FROM u WHERE u.id = t.id) AS n FROM t",
        "CREATE VIEW w AS SELECT id FROM t WHERE x = (SELECT COUNT(*) FROM u WHERE u.id = t.id)",
        "CREATE VIEW h AS SELECT x, COUNT(*) AS n FROM t GROUP BY x HAVING COUNT(*) > (SELECT COUNT(*) FROM u)",
        "CREATE VIEW o AS SELECT t.id, u.y FROM t JOIN u ON t.id = u.id AND u.y > (SELECT MIN(y) FROM u)",
        "CREATE VIEW f AS SELECT q.s FROM (SELECT SUM(y) AS s FROM u) q",
        "INSERT INTO t VALUES (1, 0), (2, 1)",
    )
    assert rows(db) == bag((1, None), (2, None)), "over no rows: NULL"
    assert rows(db, "n") == bag((1, 0), (2, 0)), "the count bug"
    assert rows(db, "w") == bag((1,))
    assert rows(db, "h") == bag((0, 1), (1, 1))
    assert rows(db, "f") == bag((None,))
    db.execute("INSERT INTO u VALUES (2, 20)")
    assert rows(db) == bag((1, None), (2, 20))
    assert rows(db, "w") == bag((1,), (2,))
    assert rows(db, "h") == bag()
    with pytest.raises(ec.EvaluationError):
        db.execute("INSERT INTO u VALUES (2, 21)")
    assert rows(db) == bag((1, None), (2, 20)), "two rows: an error that undoes the transaction"
    assert rows(db, "n") == bag((1, 0), (2, 1))
    db.execute("INSERT INTO u VALUES (1, 10)")
    assert rows(db, "o") == bag((2, 20))
    assert rows(db, "f") == bag((30,))
    settled(db)


def test_trap_12_diamonds() -> None:
    db = database(
        "CREATE TABLE t (id INT, x INT)",
        "CREATE VIEW low AS SELECT id, x FROM t WHERE x < 10",
        "CREATE VIEW high AS SELECT id, x FROM t WHERE x >= 10",
        "CREATE VIEW v AS SELECT (SELECT COUNT(*) FROM low) AS a, (SELECT COUNT(*) FROM high) AS b",
        "CREATE VIEW both_sides AS SELECT id FROM low UNION ALL SELECT id FROM high",
        "INSERT INTO t VALUES (1, 1), (2, 20)",
    )
    heard, union = listen(db), listen(db, "both_sides")
    db.execute("UPDATE t SET x = x + 15 WHERE id = 1")
    assert [(c.deleted, c.inserted) for c in heard] == [([(1, 1)], [(0, 2)])], "moved once"
    assert union == [], "out of one branch and into the other is nothing"
    seen: list[Any] = []
    db.view("v").subscribe(lambda _: seen.append(db.view("v").rows()[0]))
    with db.transaction():
        db.execute("UPDATE t SET x = 0")
        db.execute("UPDATE t SET x = 50")
        db.execute("INSERT INTO t VALUES (3, 3)")
    assert seen == [(1, 2)], "no state that no version of the data had"
    settled(db)


def test_trap_13_idempotence() -> None:
    db = database(
        "CREATE TABLE t (id INT PRIMARY KEY, x INT)",
        "CREATE VIEW v AS SELECT SUM(x) AS s, COUNT(*) AS n FROM t",
    )
    batch = {"t": [{"id": 1, "x": 5, "_change_type": "insert"}, {"id": 2, "x": 6, "_change_type": "insert"}]}
    db.apply(batch)
    assert rows(db) == bag((11, 2))
    with pytest.raises(ec.ConstraintError):
        db.apply(batch)
    assert rows(db) == bag((11, 2)), "the same batch again is refused by the key, as a whole"
    with pytest.raises(ZeroDivisionError), db.transaction():
        db.execute("INSERT INTO t VALUES (3, 7)")
        raise ZeroDivisionError
    assert rows(db) == bag((11, 2)), "a transaction that failed can be tried again"
    db.execute("INSERT INTO t VALUES (3, 7)")
    assert rows(db) == bag((18, 3)), "and counts once"
    settled(db)


def test_trap_14_types_at_the_edges() -> None:
    db = database(
        "CREATE TABLE t (id INT, b BIGINT, d DECIMAL(5,2), s STRING, day DATE, ts TIMESTAMP, n TIMESTAMP_NTZ, "
        "bin BINARY, a ARRAY<INT>)",
        "CREATE VIEW v AS SELECT SUM(b) AS s FROM t",
        "CREATE VIEW product AS SELECT id, id * 2147483647 AS p FROM t",
        "CREATE VIEW money AS SELECT d, COUNT(*) AS n FROM t GROUP BY d",
        "CREATE VIEW words AS SELECT MIN(s) AS lo, MAX(s) AS hi FROM t",
        "CREATE VIEW values_of AS SELECT day, ts, n, bin, a, COUNT(*) AS k FROM t GROUP BY day, ts, n, bin, a",
    )
    db.execute("INSERT INTO t (id, b) VALUES (1, 9223372036854775807)")
    with pytest.raises(ec.EvaluationError):
        db.execute("INSERT INTO t (id, b) VALUES (1, 1)")
    assert rows(db) == bag((9223372036854775807,)), "overflow undoes the transaction"
    with pytest.raises(ec.EvaluationError):
        db.execute("INSERT INTO t (id) VALUES (2)")
    assert len(db.table("t").rows()) == 1
    db.execute("DELETE FROM t")
    with pytest.raises(ec.EvercurrentError):
        db.execute("INSERT INTO t (id, d) VALUES (0, 1234.5)")
    db.execute(
        "INSERT INTO t (id, d, s) VALUES (0, 1.5, 'Z'), (0, 1.50, 'a'), (0, 0, '\U0001f600'), (0, NULL, '\uffff')"
    )
    assert {str(d): n for d, n in rows(db, "money")} == {"1.50": 2, "0.00": 1, "None": 1}, (
        "decimal keeps its scale"
    )
    assert rows(db, "words") == bag(("Z", "\U0001f600")), "by code point, not by UTF-16 unit"
    db.execute("DELETE FROM t")
    instant = datetime.datetime(2024, 2, 29, 12, 0, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    same = datetime.datetime(2024, 2, 29, 10, 0, tzinfo=datetime.UTC)
    wall = datetime.datetime(2024, 2, 29, 12, 0)
    for moment in (instant, same):
        db.table("t").insert(
            {
                "id": 0,
                "day": datetime.date(2024, 2, 29),
                "ts": moment,
                "n": wall,
                "bin": b"\x00\xff",
                "a": [1, None],
            }
        )
    ((day, ts, ntz, binary, array, k),) = db.view("values_of").rows()
    assert k == 2, "one instant, whatever the zone it was written in"
    assert ts == same and ntz == wall and ntz.tzinfo is None and day == datetime.date(2024, 2, 29)
    assert bytes(binary) == b"\x00\xff" and list(array) == [1, None]
    settled(db)


def test_trap_15_order() -> None:
    db = database(
        "CREATE TABLE t (id INT PRIMARY KEY, x INT)",
        "CREATE VIEW v AS SELECT id, x FROM t ORDER BY x DESC NULLS LAST, id",
        "CREATE VIEW top AS SELECT id, x FROM t ORDER BY x DESC NULLS LAST, id LIMIT 2",
        "INSERT INTO t VALUES (1, 10), (2, 30), (3, NULL), (4, 20)",
    )
    heard = listen(db, "top")
    assert [r[0] for r in db.view("v").rows()] == [2, 4, 1, 3], "the order in which it is read"
    assert [r[0] for r in db.view("top").rows()] == [2, 4]
    db.execute("INSERT INTO t VALUES (5, 30), (6, 5)")
    assert [r[0] for r in db.view("v").rows()] == [2, 5, 4, 1, 6, 3]
    assert [r[0] for r in db.view("top").rows()] == [2, 5]
    assert [(c.inserted, c.deleted) for c in heard] == [([(5, 30)], [(4, 20)])]
    db.execute("INSERT INTO t VALUES (7, 1)")
    assert len(heard) == 1, "below the boundary nothing changes"
    db.execute("DELETE FROM t WHERE x = 30")
    assert [r[0] for r in db.view("top").rows()] == [4, 1]
    settled(db)


HOSTILE = (
    "a b",
    "select",
    "SELECT * FROM t; --",
    '"; import os; os.abort() #',
    "'); DROP TABLE t; --",
    "naïve_ünïcödé_表",
    "x\ny",
    "{x} %s {{}}",
    "\\",
    "__class__",
    "None",
    "0",
    'quote"s',
    "'''",
    '"""',
    "lambda",
    "emoji😀",
)


@pytest.mark.parametrize("name", HOSTILE)
def test_trap_16_names(name: str) -> None:
    quoted = "`" + name.replace("`", "``") + "`"
    db = ec.connect()
    db.execute(f"CREATE TABLE {quoted} ({quoted} STRING, n INT)")
    db.execute(f"CREATE VIEW v AS SELECT {quoted}, SUM(n) AS {quoted[:-1]}2` FROM {quoted} GROUP BY {quoted}")
    db.execute(
        f"CREATE VIEW {quoted[:-1]}_view` AS SELECT a.{quoted} FROM {quoted} a JOIN {quoted} b ON a.n = b.n"
    )
    literal = "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"
    db.execute(
        f"CREATE VIEW w AS SELECT n FROM {quoted} WHERE {quoted} = {literal} OR {quoted} IN ({literal}, 'other')"
    )
    db.table(name).insert([(name, 1), (name, 2), ("other", 4), ("none", 8)])
    assert rows(db) == bag((name, 3), ("other", 4), ("none", 8))
    assert rows(db, "w") == bag((1,), (2,), (4,))
    assert rows(db, f"{name}_view") == bag((name,), (name,), ("other",), ("none",))
    db.execute(f"DELETE FROM {quoted} WHERE {quoted} = {literal}")
    assert rows(db) == bag(("other", 4), ("none", 8))
    assert [m.name for m in db.view("v").schema] == [name, f"{name}2"]
    settled(db)


def test_trap_16_names_whatever_their_case() -> None:
    db = database(
        "CREATE TABLE Orders (Id INT, `Total Price` INT)",
        "CREATE VIEW V AS SELECT ID, `total price` AS `Total Price` FROM ORDERS",
        "INSERT INTO orders VALUES (1, 2)",
    )
    assert rows(db, "v") == bag((1, 2))
    db.table("ORDERS").insert({"ID": 2, "total price": 3})
    assert rows(db) == bag((1, 2), (2, 3))
