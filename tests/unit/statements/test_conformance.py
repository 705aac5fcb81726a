"""Every kind of statement on both databases: the same results, the same errors.

The warehouse runs without Spark: its driver applies batches of this size.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.engine.spark import engine
from evercurrent.rows.results import Result
from evercurrent.statements.protocol import AnyDatabase
from evercurrent.statements.run_record import RunRecord
from evercurrent.warehouse.database import Warehouse

SCHEMA = """
CREATE TABLE customers (id INT PRIMARY KEY, name STRING NOT NULL, city STRING DEFAULT 'Ulm');
CREATE TABLE orders (id INT PRIMARY KEY, customer INT REFERENCES customers (id), total INT CHECK (total >= 0));
CREATE TABLE notes (text STRING, n INT);
CREATE VIEW spend AS SELECT customer, sum(total) AS total, count(*) AS n FROM orders GROUP BY customer;
CREATE VIEW big AS SELECT * FROM spend WHERE total > 10 ORDER BY total DESC;
CREATE ASSERTION few CHECK (NOT EXISTS (SELECT customer FROM orders GROUP BY customer HAVING count(*) > 4));
INSERT INTO customers VALUES (1, 'Ann', 'Bonn'), (2, 'Bob', NULL);
INSERT INTO orders VALUES (10, 1, 5), (11, 1, 7), (12, 2, 3);
INSERT INTO notes VALUES ('a', 1), ('a', 1), ('b', 2)
"""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with the schema, to be copied."""
    place = tmp_path_factory.mktemp("filled") / "w"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(engine, "private", lambda spark: None)
        Warehouse(None, place, progress=False).execute(SCHEMA)
    return place


@pytest.fixture
def both(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[AnyDatabase, AnyDatabase]:
    monkeypatch.setattr(engine, "private", lambda spark: None)
    shutil.copytree(filled, tmp_path / "w")
    process = ec.connect()
    process.execute(SCHEMA)
    return process, Warehouse(None, tmp_path / "w", progress=False)


def shown(value: Any) -> Any:
    """A result, as far as it must be the same on both."""
    match value:
        case Result():
            return (
                value.kind,
                value.count,
                value.columns,
                [f.type for f in value.schema],
                sorted(map(repr, value)),
            )
        case RunRecord():
            return value.count, dict(value.rows_in)
        case ec.Table() | ec.View():
            return sorted(map(repr, value.rows()))
        case _:
            return value


def outcome(db: AnyDatabase, action: Callable[[Any], Any]) -> Any:
    try:
        return shown(action(db))
    except ec.EvercurrentError as problem:
        # Which of several rows is shown depends on their order, and rows have none.
        message = re.sub(r"\(\d+, \d+, -?\d+\)", "(row)", problem.message)
        return type(problem).__name__, message, problem.hint, str(problem.place)


def contents(db: AnyDatabase) -> Any:
    tables = {name: sorted(map(repr, db.table(name).rows())) for name in db.tables}
    return tables, {name: sorted(map(repr, db.view(name).rows())) for name in db.views}, db.assertions


def compare(both: tuple[AnyDatabase, AnyDatabase], action: Callable[[Any], Any]) -> Any:
    """Does the same on both; returns the outcome."""
    first, second = (outcome(db, action) for db in both)
    assert first == second
    assert contents(both[0]) == contents(both[1])
    return first


STATEMENTS = [
    # definitions
    "CREATE TABLE t (a INT)",
    "CREATE TABLE orders (a INT)",
    "CREATE TABLE IF NOT EXISTS orders (a INT)",
    "CREATE OR REPLACE TABLE notes (text STRING)",
    "CREATE OR REPLACE TABLE customers (id INT PRIMARY KEY, name STRING)",
    "CREATE OR REPLACE TABLE orders (id INT PRIMARY KEY)",
    "CREATE TABLE spend (a INT)",
    "CREATE TABLE t (a INT REFERENCES nowhere (id))",
    "CREATE TABLE t (a INT REFERENCES notes (n))",
    "CREATE TABLE t (a STRING REFERENCES customers (id))",
    "CREATE VIEW v AS SELECT name FROM customers",
    "CREATE VIEW v AS SELECT nobody FROM customers",
    "CREATE VIEW orders AS SELECT 1 AS one",
    "CREATE VIEW spend AS SELECT 1 AS one",
    "CREATE VIEW IF NOT EXISTS spend AS SELECT 1 AS one",
    "CREATE OR REPLACE VIEW spend AS SELECT customer, max(total) AS total FROM orders GROUP BY customer",
    "CREATE OR REPLACE VIEW spend AS SELECT customer FROM orders",
    "CREATE OR REPLACE VIEW spend AS SELECT * FROM big",
    "CREATE OR REPLACE VIEW spend AS SELECT * FROM spend",
    "CREATE ASSERTION few CHECK (NOT EXISTS (SELECT 1 AS one FROM orders WHERE total > 100))",
    "CREATE ASSERTION IF NOT EXISTS few CHECK (NOT EXISTS (SELECT 1 AS one FROM orders))",
    "CREATE OR REPLACE ASSERTION few CHECK (NOT EXISTS (SELECT 1 AS one FROM orders WHERE total > 100))",
    "CREATE ASSERTION none CHECK (NOT EXISTS (SELECT id FROM orders))",
    "DROP TABLE notes",
    "DROP TABLE nowhere",
    "DROP TABLE IF EXISTS nowhere",
    "DROP TABLE customers",
    "DROP TABLE customers CASCADE",
    "DROP TABLE orders",
    "DROP TABLE orders CASCADE",
    "DROP VIEW big",
    "DROP VIEW spend",
    "DROP VIEW spend CASCADE",
    "DROP VIEW orders",
    "DROP ASSERTION few",
    "DROP ASSERTION nobody",
    # queries
    "SELECT * FROM orders ORDER BY total DESC",
    "SELECT name, s.total FROM customers JOIN spend AS s ON customers.id = s.customer",
    "SELECT 1 AS one",
    "SELECT * FROM big",
    "SELECT * FROM nowhere",
    "SELECT FROM",
    "SELECT 1 / (total - 3) AS q FROM orders",
    # changes
    "INSERT INTO orders VALUES (13, 2, 20)",
    "INSERT INTO customers (id, name) VALUES (3, 'Cid')",
    "INSERT INTO customers (id) VALUES (3)",
    "INSERT INTO orders VALUES (10, 2, 20)",
    "INSERT INTO orders VALUES (13, 9, 20)",
    "INSERT INTO orders VALUES (13, 2, -1)",
    "INSERT INTO orders VALUES (13, 2, 'x')",
    "INSERT INTO orders SELECT id + 100, customer, total FROM orders WHERE customer = 1",
    "INSERT INTO orders SELECT id + 100 * customer, 1, total FROM orders",
    "INSERT INTO nowhere VALUES (1)",
    "INSERT INTO spend VALUES (1, 2, 3)",
    "UPDATE orders SET total = total + 1 WHERE customer = 1",
    "UPDATE orders SET total = -1",
    "UPDATE orders SET id = 10",
    "UPDATE notes SET n = n + 1 WHERE text = 'a'",
    "UPDATE orders SET nobody = 1",
    "DELETE FROM orders WHERE total < 6",
    "DELETE FROM customers WHERE id = 1",
    "DELETE FROM notes",
    "DELETE FROM nowhere",
    "TRUNCATE TABLE orders",
    "TRUNCATE TABLE customers",
    "TRUNCATE TABLE nowhere",
    "TRUNCATE TABLE notes",
    """MERGE INTO orders USING (SELECT 10 AS id, 9 AS total UNION ALL SELECT 14, 4) AS s ON orders.id = s.id
       WHEN MATCHED THEN UPDATE SET total = s.total WHEN NOT MATCHED THEN INSERT VALUES (s.id, 2, s.total)""",
    "MERGE INTO orders USING notes AS s ON orders.customer = s.n WHEN MATCHED THEN DELETE",
    "MERGE INTO orders USING customers AS s ON orders.customer = s.id AND s.id = 2 WHEN MATCHED THEN DELETE",
    # several, and none
    "",
    "INSERT INTO notes VALUES ('c', 3); DELETE FROM notes WHERE n = 1; SELECT count(*) AS c FROM notes",
    "CREATE TABLE t (a INT); CREATE VIEW v AS SELECT a FROM t; INSERT INTO t VALUES (1); DROP VIEW v",
]


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_statement(both: tuple[AnyDatabase, AnyDatabase], text: str) -> None:
    compare(both, lambda db: db.execute(text))


@pytest.mark.parametrize("text", STATEMENTS)
def test_a_statement_inside_a_transaction(both: tuple[AnyDatabase, AnyDatabase], text: str) -> None:
    """It reads what the transaction has changed; if it fails, the transaction goes on."""

    def act(db: Any) -> Any:
        with db.transaction() as transaction:
            db.execute("INSERT INTO orders VALUES (15, 2, 40); UPDATE orders SET total = 6 WHERE id = 10")
            found = outcome(db, lambda db: db.execute(text))
            views = [sorted(map(repr, db.view(name).rows(pending=True))) for name in ("spend", "big")]
            tables = [sorted(map(repr, db.table(name).rows(pending=True))) for name in ("orders", "notes")]
        return found, views, tables, transaction.status, transaction.number is None

    compare(both, act)


CALLS: dict[str, Callable[[Any], Any]] = {
    "query": lambda db: db.query("SELECT sum(total) AS s FROM orders WHERE customer = ?", [1]),
    "named parameters": lambda db: db.query("SELECT * FROM notes WHERE n = :n", {"n": 1}),
    "no query": lambda db: db.query("DELETE FROM notes"),
    "no language": lambda db: db.query("SELECT 1", language="prolog"),
    "no text": lambda db: db.query(3),
    "no statement": lambda db: db.execute(None),
    "no policy": lambda db: db.execute("SELECT 1", policy="never"),
    "no mode": lambda db: db.execute("SELECT 1", mode="never"),
    "parameters of several": lambda db: db.execute("SELECT ?; SELECT 1", [1]),
    "deep": lambda db: db.execute("SELECT " + "(" * 5000 + "1" + ")" * 5000),
    "lazy": lambda db: (
        db.execute("CREATE VIEW l AS SELECT count(*) AS c FROM orders", mode="lazy") and db.view("l").mode
    ),
    "full": lambda db: (
        db.execute("CREATE VIEW l AS SELECT count(*) AS c FROM orders", policy="full") and db.view("l").policy
    ),
    "replace a view": lambda db: db.replace_view("CREATE VIEW big AS SELECT id FROM orders"),
    "create a view": lambda db: db.create_view("my `v", "SELECT id FROM orders;").rows(),
    "create a view twice": lambda db: db.create_view("v", "SELECT 1") and db.view("v", "SELECT 2"),
    "create a view anew": lambda db: (
        db.view("v", "SELECT 1 AS x") and db.create_view("v", "SELECT 2 AS x", replace=True).rows()
    ),
    "create a lazy view": lambda db: db.create_view("v", "SELECT id FROM orders", mode="lazy").mode,
    "create a view of two": lambda db: db.create_view("v", "SELECT 1; DROP TABLE orders"),
    "create a view of nothing": lambda db: db.create_view("v", ""),
    "create a view of no query": lambda db: db.create_view("v", 7),
    "create a view of no select": lambda db: db.create_view("v", "DELETE FROM orders"),
    "drop a view": lambda db: db.drop_view("big") or db.views,
    "drop no view": lambda db: db.drop_view("nowhere", if_exists=True) or db.drop_view("nowhere"),
    "drop a table": lambda db: db.drop_table("orders"),
    "drop a table and its views": lambda db: db.drop_table("orders", cascade=True) or db.views,
    "replace by no view": lambda db: db.replace_view("SELECT 1"),
    "oql": lambda db: (
        db.oql("define total as sum(select o.total from o in orders)") or db.view("total").value()
    ),
    "oql query": lambda db: db.query("select o.id from o in orders where o.total > 5", language="oql"),
    "oql macro": lambda db: db.oql(
        "define above(n) as select o.id from o in orders where o.total > n; above(6)"
    ),
    "oql undefine": lambda db: db.oql("define x as count(orders); undefine x"),
    "oql undefine nothing": lambda db: db.oql("undefine nobody"),
    "oql undefine needed": lambda db: (
        db.oql("define x as select o.id from o in orders; define y as count(x)") or db.oql("undefine x")
    ),
    "oql over a table": lambda db: db.oql("define orders as 1"),
    "oql no definition": lambda db: db.query("define x as 1", language="oql"),
    "oql no statement": lambda db: db.oql(""),
    "oql no mode": lambda db: db.oql("define x as 1", mode="never"),
    "no view": lambda db: db.view("nowhere"),
    "no table": lambda db: db.table("nowhere"),
    "insert": lambda db: db.table("orders").insert([(20, 1, 1), {"id": 21, "total": 2}]),
    "insert a wrong row": lambda db: db.table("orders").insert([(20, 1, 1), (21, 1)]),
    "delete": lambda db: db.table("orders").delete([10, {"id": 11}]),
    "delete a row that is not there": lambda db: db.table("orders").delete(99),
    "delete one of two": lambda db: db.table("notes").delete(("a", 1)),
    "update": lambda db: db.table("orders").update(10, total=9),
    "update by a mapping": lambda db: db.table("orders").update({"id": 10}, {"total": 8}),
    "update with no mapping": lambda db: db.table("orders").update(10, 8),
    "update a column that is not there": lambda db: db.table("orders").update(10, nobody=8),
    "replace": lambda db: db.table("orders").replace(10, (16, 2, 2)),
    "get": lambda db: db.table("orders").get(10),
    "get nothing": lambda db: db.table("orders").get({"id": 99}, "none"),
    "get a whole row": lambda db: db.table("orders").get((10, 1, 5)),
    "get without a key": lambda db: db.table("notes").get(1),
    "key": lambda db: (db.table("orders").primary_key, db.table("notes").primary_key, len(db.table("notes"))),
    "value of no oql": lambda db: db.view("spend").value(),
    "ordered": lambda db: (db.view("big").rows(), db.view("big").text, db.view("big").mode),
    "why": lambda db: dict(db.view("spend").why((1, 12, 2))),
    "apply": lambda db: db.apply(
        {
            "orders": [
                {"_change_type": "update_preimage", "id": 10, "customer": 1, "total": 5},
                {"_change_type": "update_postimage", "id": 10, "customer": 1, "total": 6},
                {"_change_type": "delete", "id": 11},
            ],
            "customers": [{"_change_type": "insert", "id": 3, "name": "Cid"}],
        }
    ),
    "apply nothing": lambda db: db.apply({}),
    "apply no mapping": lambda db: db.apply([]),
    "apply to no table": lambda db: db.apply({"nowhere": []}),
    "apply otherwise": lambda db: db.apply({}, on_violation="never"),
    "apply a violation": lambda db: db.apply(
        {"orders": [{"_change_type": "insert", "id": 10, "customer": 1}]}
    ),
    "verify names": lambda db: db.verify("spend"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call(both: tuple[AnyDatabase, AnyDatabase], name: str) -> None:
    compare(both, CALLS[name])


def test_transactions(both: tuple[AnyDatabase, AnyDatabase]) -> None:
    def roll_back(db: Any) -> Any:
        with db.transaction() as transaction:
            db.table("notes").insert(("x", 9))
            pending = db.query("SELECT count(*) AS c FROM notes", pending=True).scalar()
            committed = db.query("SELECT count(*) AS c FROM notes").scalar()
            transaction.rollback()
            refused = outcome(db, lambda db: db.table("notes").insert(("y", 9)))
        return pending, committed, refused, transaction.status, transaction.number

    def fail_inside(db: Any) -> None:
        with db.transaction():
            db.table("notes").insert(("x", 9))
            try:
                with db.transaction():
                    raise KeyError
            except KeyError:
                pass

    def define_inside(db: Any) -> None:
        with db.transaction():
            db.execute("CREATE TABLE t (a INT)")

    def break_for_a_moment(db: Any) -> Any:
        with db.transaction():
            db.table("orders").insert((10, 2, 1))
            seen = sorted(map(repr, db.query("SELECT id, total FROM orders", pending=True).rows()))
            spend = sorted(map(repr, db.view("spend").rows(pending=True)))
            got = db.table("orders").get(11, pending=True)
            db.table("orders").delete((10, 1, 5))
        return seen, spend, got, db.table("orders").get(10)

    def break_an_assertion(db: Any) -> None:
        with db.transaction():
            db.table("orders").insert([(n, 1, 1) for n in range(20, 24)])

    for act in (roll_back, fail_inside, define_inside, break_for_a_moment, break_an_assertion):
        compare(both, act)


def test_what_only_one_of_them_does_is_refused_with_the_reason(both: tuple[AnyDatabase, AnyDatabase]) -> None:
    process, stored = both
    for db in both:
        db.execute("CREATE TABLE t (a INT); CREATE VIEW v AS SELECT a FROM t")
    actions: list[Callable[[], object]] = [
        lambda: process.transaction(batch="7"),
        lambda: process.apply({}, batch="7"),
        lambda: process.apply({}, on_violation="quarantine"),
        lambda: process.oql("define x as 1", publish=False),
        lambda: process.source("s"),
        lambda: process.stream("t"),
        lambda: process.publish("v"),
        process.reload,
        process.history,
        process.compact,
        process.vacuum,
        process.check,
        lambda: process.listen(print),
        lambda: process.bind_operations({}),
        lambda: process.explain("v", changes={"t": 1}),
        lambda: process.table("t").dataframe(),
        lambda: process.table("t").changes(since=0),
        lambda: process.view("v").subscribe(print, since=0),
        lambda: stored.feed("t"),
        stored.stats,
        lambda: stored.view("v").source(),
    ]
    for action in actions:
        with pytest.raises(ec.UnsupportedError) as caught:
            action()
        assert caught.value.hint
