"""Statements in width: ALTER TABLE, PIVOT, files in FROM, quotes, and what is not supported."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import evercurrent as ec
from evercurrent.statements.protocol import AnyDatabase

# --- ALTER TABLE ------------------------------------------------------------------------------------------


@pytest.fixture
def shop() -> ec.Database:
    db = ec.connect()
    db.execute(
        "CREATE TABLE customers (id INT PRIMARY KEY, name STRING, city STRING);"
        "CREATE TABLE orders (id INT PRIMARY KEY, customer INT REFERENCES customers, total INT CHECK (total > 0));"
        "CREATE VIEW spend AS SELECT c.name, sum(o.total) AS total FROM orders o JOIN customers c ON c.id = o.customer GROUP BY c.name;"
        "CREATE VIEW everything AS SELECT * FROM customers;"
        "INSERT INTO customers VALUES (1, 'Ann', 'Ulm'), (2, 'Bob', 'Bonn');"
        "INSERT INTO orders VALUES (10, 1, 5), (11, 2, 7), (12, 1, 1)"
    )
    return db


def test_add_column(shop: ec.Database) -> None:
    seen: list[ec.Change] = []
    shop["spend"].subscribe(seen.append)
    shop.execute("ALTER TABLE customers ADD COLUMN note STRING DEFAULT 'none', ADD COLUMN n INT")
    assert sorted(shop["customers"].rows()) == [
        (1, "Ann", "Ulm", "none", None),
        (2, "Bob", "Bonn", "none", None),
    ]
    assert shop["everything"].columns == ["id", "name", "city", "note", "n"]
    assert len(shop["everything"]) == 2 and not seen
    shop.execute(
        "INSERT INTO customers VALUES (3, 'Cid', NULL, 'new', 1); INSERT INTO orders VALUES (13, 3, 2)"
    )
    assert sorted(shop["spend"].rows()) == [("Ann", 6), ("Bob", 7), ("Cid", 2)]
    assert shop.verify() and [c.inserted for c in seen] == [[("Cid", 2)]]
    shop.execute("ALTER TABLE customers ADD COLUMN IF NOT EXISTS note INT")
    with pytest.raises(ec.QueryError, match="already a column NOTE"):
        shop.execute("ALTER TABLE customers ADD COLUMN NOTE INT")
    with pytest.raises(ec.QueryError, match="would have no value for must"):
        shop.execute("ALTER TABLE customers ADD COLUMN must INT NOT NULL")
    with pytest.raises(ec.ConstraintError):
        shop.execute("DELETE FROM customers WHERE id = 1")


def test_alter_an_empty_table() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (a INT); CREATE VIEW v AS SELECT * FROM t; ALTER TABLE t ADD COLUMN b INT")
    db.execute("INSERT INTO t VALUES (1, 2)")
    assert db["v"].rows() == [(1, 2)]


def test_drop_column(shop: ec.Database) -> None:
    shop.execute("ALTER TABLE customers DROP COLUMN city")
    assert sorted(shop["everything"].rows()) == [(1, "Ann"), (2, "Bob")]
    assert shop.verify()
    for column, why in (
        ("name", "view spend mentions it"),
        ("id", "the constraint customers_pk"),
        ("nope", "there is no column nope"),
    ):
        with pytest.raises(ec.QueryError, match=why):
            shop.execute(f"ALTER TABLE customers DROP COLUMN {column}")
    with pytest.raises(ec.QueryError, match="the constraint orders_check_1"):
        shop.execute("ALTER TABLE orders DROP COLUMN total")
    shop.execute("ALTER TABLE customers DROP COLUMN IF EXISTS nope")
    assert shop["customers"].columns == ["id", "name"]


def test_indexes_follow_the_columns(shop: ec.Database) -> None:
    shop.execute("CREATE INDEX by_city ON customers (city); ALTER TABLE customers ADD COLUMN x INT")
    shop.execute("DROP VIEW spend; ALTER TABLE customers DROP COLUMN name")
    assert "by_city" in str(shop.sql("EXPLAIN SELECT id FROM customers WHERE city = 'Ulm'").scalar())
    assert shop.query("SELECT id FROM customers WHERE city = 'Ulm'").scalar() == 1
    with pytest.raises(ec.QueryError, match="index by_city mentions it"):
        shop.execute("ALTER TABLE customers DROP COLUMN city")


def test_alter_is_kept_in_a_file(tmp_path: Path) -> None:
    with ec.connect(tmp_path / "shop.db") as db:
        db.execute("CREATE TABLE t (a INT PRIMARY KEY, b STRING); INSERT INTO t VALUES (1, 'x'), (2, 'y')")
        db.execute("CREATE VIEW v AS SELECT count(*) AS n FROM t; ALTER TABLE t ADD COLUMN c INT DEFAULT 7")
        db.execute("ALTER TABLE t DROP COLUMN b; INSERT INTO t VALUES (3, 8)")
    with ec.connect(tmp_path / "shop.db") as db:
        assert sorted(db["t"].rows()) == [(1, 7), (2, 7), (3, 8)]
        assert db["v"].rows() == [(3,)] and db.verify()


def test_rename_column(shop: ec.Database) -> None:
    with pytest.raises(ec.QueryError, match="view spend mentions it"):
        shop.execute("ALTER TABLE customers RENAME COLUMN id TO number")
    shop.execute("DROP VIEW spend; ALTER TABLE customers RENAME COLUMN id TO number")
    assert shop["everything"].columns == ["number", "name", "city"]
    assert shop.table("customers").primary_key == ("number",)
    with pytest.raises(ec.ConstraintError):
        shop.execute("INSERT INTO orders VALUES (13, 9, 1)")
    with pytest.raises(ec.ConstraintError):
        shop.execute("DELETE FROM customers WHERE number = 1")
    with pytest.raises(ec.QueryError, match="already a column name"):
        shop.execute("ALTER TABLE customers RENAME COLUMN city TO name")
    shop.execute("ALTER TABLE customers RENAME city TO town")  # without COLUMN it is a column too
    assert shop["everything"].columns == ["number", "name", "town"]
    assert shop.verify()


def test_rename_table(tmp_path: Path) -> None:
    with ec.connect(tmp_path / "shop.db") as db:
        db.execute(
            "CREATE TABLE people (id INT PRIMARY KEY, name STRING, boss INT REFERENCES people);"
            "CREATE TABLE orders (id INT PRIMARY KEY, customer INT REFERENCES people);"
            "CREATE INDEX by_name ON people (name); CREATE VIEW n AS SELECT count(*) AS n FROM orders;"
            "INSERT INTO people VALUES (1, 'Ann', NULL), (2, 'Bob', 1); INSERT INTO orders VALUES (7, 2)"
        )
        with pytest.raises(ec.QueryError, match="orders cannot be renamed: view n mentions it"):
            db.execute("ALTER TABLE orders RENAME TO sales")
        with pytest.raises(ec.QueryError, match="already a table or view n"):
            db.execute("ALTER TABLE people RENAME TO n")
        db.execute("ALTER TABLE people RENAME TO customers")
        assert db.tables == ["orders", "customers"] and db["n"].rows() == [(1,)]
        assert "by_name" in str(db.sql("EXPLAIN SELECT id FROM customers WHERE name = 'Ann'").scalar())
    with ec.connect(tmp_path / "shop.db") as db:
        assert sorted(db["customers"].rows()) == [(1, "Ann", None), (2, "Bob", 1)]
        for wrong in ("INSERT INTO orders VALUES (8, 9)", "DELETE FROM customers WHERE id = 1"):
            with pytest.raises(ec.ConstraintError):
                db.execute(wrong)
        with pytest.raises(ec.QueryError, match="no table people"):
            db.execute("INSERT INTO people VALUES (3, 'Cid', NULL)")
        db.execute("ALTER TABLE customers RENAME TO Customers; INSERT INTO customers VALUES (3, 'Cid', 1)")
        assert db.verify() and len(db["customers"]) == 3


def test_a_rename_never_gives_a_name_another_meaning() -> None:
    """After it, `n` of the subquery would be the column of the table around it."""
    db = ec.connect()
    db.execute("CREATE TABLE t (n INT); CREATE TABLE u (n INT)")
    db.execute("CREATE VIEW v AS SELECT (SELECT max(n) FROM t) AS m FROM u")
    with pytest.raises(ec.QueryError, match="n of t cannot be dropped or renamed: view v"):
        db.execute("ALTER TABLE t RENAME COLUMN n TO k")


def test_alter_is_refused_in_a_transaction_and_on_other_things(shop: ec.Database) -> None:
    with shop.transaction(), pytest.raises(ec.TransactionError, match="ALTER TABLE"):
        shop.execute("ALTER TABLE customers ADD COLUMN x INT")
    with pytest.raises(ec.UnsupportedError, match="CREATE OR REPLACE VIEW"):
        shop.execute("ALTER VIEW spend RENAME TO spent")
    with pytest.raises(ec.UnsupportedError, match="CREATE TABLE new AS SELECT CAST"):
        shop.execute("ALTER TABLE customers ALTER COLUMN name TYPE INT")


def test_alter_table(db: AnyDatabase) -> None:
    db.execute("CREATE TABLE t (n INT); CREATE VIEW v AS SELECT * FROM t; INSERT INTO t VALUES (1), (2), (2)")
    db.execute("ALTER TABLE t ADD COLUMN x INT; ALTER TABLE t RENAME COLUMN x TO y")
    db.execute("INSERT INTO t VALUES (3, 4)")
    assert sorted(db["v"].rows(), key=repr) == [(1, None), (2, None), (2, None), (3, 4)]
    db.execute("DROP VIEW v; ALTER TABLE t DROP COLUMN n; ALTER TABLE t RENAME TO u")
    assert sorted(db["u"].rows(), key=repr) == [(4,), (None,), (None,), (None,)]


# --- PIVOT and UNPIVOT ------------------------------------------------------------------------------------


@pytest.fixture
def sales(db: AnyDatabase) -> AnyDatabase:
    db.execute("CREATE TABLE sales (y INT, q STRING, n BIGINT, m DOUBLE)")
    db.execute(
        "INSERT INTO sales VALUES (1, 'a', 2, 1.5), (1, 'b', 3, NULL), (2, 'a', 4, 0.5), (2, 'a', NULL, 2)"
    )
    return db


def test_pivot(sales: AnyDatabase) -> None:
    sales.execute(
        "CREATE VIEW wide AS SELECT * FROM (SELECT y, q, n FROM sales) "
        "PIVOT (sum(n) AS s, count(*) AS c FOR q IN ('a' AS first, 'b'))"
    )
    assert sales["wide"].columns == ["y", "first_s", "first_c", "b_s", "b_c"]
    assert sorted(sales["wide"].rows()) == [(1, 2, 1, 3, 1), (2, 4, 2, None, None)]
    sales.execute("INSERT INTO sales VALUES (3, 'b', 9, 0); DELETE FROM sales WHERE y = 1 AND q = 'b'")
    assert sorted(sales["wide"].rows(), key=str) == [
        (1, 2, 1, None, None),
        (2, 4, 2, None, None),
        (3, None, None, 9, 1),
    ]


def test_unpivot(sales: AnyDatabase) -> None:
    sales.execute("CREATE VIEW long AS SELECT * FROM sales UNPIVOT (v FOR k IN (n AS count, m))")
    assert sorted(sales["long"].rows()) == [
        (1, "a", "count", 2.0),
        (1, "a", "m", 1.5),
        (1, "b", "count", 3.0),
        (2, "a", "count", 4.0),
        (2, "a", "m", 0.5),
        (2, "a", "m", 2.0),
    ]
    assert sales.query("SELECT count(*) FROM sales UNPIVOT INCLUDE NULLS (v FOR k IN (n, m))").scalar() == 8


# --- files in FROM ----------------------------------------------------------------------------------------


def test_files_in_from(sales: AnyDatabase, tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    sales.execute(f"COPY sales TO '{path}'")
    sales.execute(f"COPY sales TO '{tmp_path / 's.csv'}' (HEADER false, DELIMITER ';')")
    assert sales.sql(f"SELECT sum(n), count(*) FROM read_parquet('{path}')").rows() == [(9, 4)]
    assert sales.sql("SELECT r.q FROM read_parquet(?) r WHERE r.n = 3", [str(path)]).rows() == [("b",)]
    found = sales.sql(f"SELECT sum(f2) FROM read_csv('{tmp_path}/s.csv', header => false, delimiter => ';')")
    assert found.scalar() == 9
    sales.execute(f"INSERT INTO sales SELECT * FROM read_parquet('{path}') WHERE y = 1")
    assert len(sales["sales"]) == 6
    sales.execute(f"CREATE TABLE again AS SELECT * FROM read_parquet('{path}')")
    assert len(sales["again"]) == 4
    with pytest.raises(ec.UnsupportedError, match="read_parquet in a definition") as caught:
        sales.execute(f"CREATE VIEW v AS SELECT * FROM read_parquet('{path}')")
    assert "CREATE TABLE name AS" in str(caught.value.hint)
    for n in (1, 2, 3):  # the file is read each time
        sales.execute(f"COPY (SELECT {n} AS n) TO '{path}'")
        assert sales.sql(f"SELECT n FROM read_parquet('{path}')").scalar() == n
    with pytest.raises(ec.QueryError, match="there is no file"):
        sales.sql("SELECT * FROM read_parquet('nowhere.parquet')")


# --- messages ---------------------------------------------------------------------------------------------


def test_double_quotes_are_pointed_out(sales: AnyDatabase) -> None:
    with pytest.warns(ec.QuotedNameWarning, match='"n" is a text here, as in Spark, and not the column n'):
        assert sales.sql('SELECT "n" FROM sales LIMIT 1').scalar() == "n"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sales.sql("SELECT 'n', \"other\" FROM sales")


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("VACUUM", "db.vacuum"),
        ("PRAGMA foreign_keys = ON", "ec.connect"),
        ("USE warehouse", "one schema"),
        ("SAVEPOINT a", "no savepoints"),
        ("SET x = 1", "parameters"),
        ("GRANT SELECT ON t TO u", "database object"),
        ("PREPARE p AS SELECT 1", "db.execute(text, parameters)"),
        ("SHOW DATABASES", "SHOW TABLES"),
        ("REFRESH TABLE t", "always current"),
        ("REPLACE INTO t VALUES (1)", "INSERT OR REPLACE"),
        ("INSERT OVERWRITE sales SELECT * FROM sales", "TRUNCATE"),
        ("FROBNICATE", "statements begin with"),
    ],
)
def test_what_is_not_supported_names_what_to_use_instead(sales: AnyDatabase, text: str, hint: str) -> None:
    with pytest.raises((ec.UnsupportedError, ec.QueryError)) as caught:
        sales.execute(text)
    assert hint in str(caught.value.hint)


def test_names_are_listed_for_editors() -> None:
    assert set(ec.__all__) <= set(dir(ec))
    assert "Entity" in dir(ec) and "sql" in dir(ec.connect())
    assert all(getattr(ec, name) is not None for name in dir(ec))


def test_properties_that_a_class_does_not_have() -> None:
    class Part(ec.Entity):
        name: str
        cost: int = 7
        parts: set[str] = ec.empty()

    db = ec.connect()
    db.declare(Part)
    assert (Part(name="a").cost, Part(name="b", cost=1).cost, set(Part(name="c").parts)) == (7, 1, set())
    for make in (Part, db.classes.Part, lambda **values: db.new("Part", **values)):
        with pytest.raises(ec.QueryError, match="Part has no property 'nam'") as caught:
            make(nam="x")
        assert caught.value.hint == "did you mean 'name'?"
    assert len(db.query("SELECT * FROM Part")) == 3


def test_fetch_first_rows() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (a INT)")
    db.execute("INSERT INTO t VALUES (1), (2), (3)")
    assert db.query("SELECT a FROM t ORDER BY a FETCH FIRST 2 ROWS ONLY").rows() == [(1,), (2,)]
    assert db.query("SELECT a FROM t ORDER BY a FETCH FIRST ROW ONLY").rows() == [(1,)]
    assert db.query("SELECT a FROM t ORDER BY a OFFSET 1 ROWS FETCH NEXT 1 ROW ONLY").rows() == [(2,)]
    for more in ("FETCH FIRST 50 PERCENT ROWS ONLY", "FETCH FIRST 1 ROWS WITH TIES"):
        with pytest.raises(ec.UnsupportedError, match="PERCENT or WITH TIES"):
            db.query(f"SELECT a FROM t ORDER BY a {more}")
