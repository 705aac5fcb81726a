"""What a newcomer types first, in that order: each must work, on both databases."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pytest
from pyarrow import csv, parquet

import evercurrent as ec
from evercurrent.statements.protocol import AnyDatabase

ORDERS = [(1, "Ann", 5), (2, "Bob", 7), (3, "Ann", 11)]


@pytest.fixture
def shop(db: AnyDatabase) -> AnyDatabase:
    db.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, customer STRING, total INT)")
    db.execute(
        "CREATE VIEW spend AS SELECT customer, sum(total) AS total FROM orders GROUP BY customer ORDER BY customer"
    )
    db.table("orders").insert(ORDERS)
    return db


# --- 1 to 5: open, look, ask ------------------------------------------------------------------------------


def test_with_connect(db: AnyDatabase) -> None:
    with db as same:
        assert same is db
        same.execute("CREATE TABLE t (n INT)")
    with pytest.raises(ec.TransactionError, match="this database is closed"):
        db.execute("SELECT 1")


def test_close_undoes_what_begin_began(db: AnyDatabase) -> None:
    db.execute("CREATE TABLE t (n INT); BEGIN; INSERT INTO t VALUES (1)")
    db.close()
    with pytest.raises(ec.TransactionError, match="closed"):
        db.table("t").insert((2,))


def test_sql_runs_queries_and_statements(shop: AnyDatabase) -> None:
    assert shop.sql("SELECT total FROM spend WHERE customer = ?", ["Ann"]).fetchall() == [(16,)]
    assert shop.sql("DELETE FROM orders WHERE id = :id", {"id": 3}).count == 1
    assert shop.sql("SELECT total FROM spend WHERE customer = 'Ann'").scalar() == 5


def test_index_by_name(shop: AnyDatabase) -> None:
    assert shop["orders"].rows() == ORDERS
    assert shop["SPEND"].rows() == [("Ann", 16), ("Bob", 7)]
    assert "orders" in shop and "nothing" not in shop
    assert list(shop) == ["orders", "spend"]
    with pytest.raises(ec.QueryError, match="there is no table or view 'order'") as caught:
        shop["order"]
    assert caught.value.hint == "did you mean 'orders'?"


def test_fetch(shop: AnyDatabase) -> None:
    result = shop.execute("SELECT id FROM orders ORDER BY id")
    assert result.fetchone() == (1,)
    assert result.fetchmany(1) == [(2,)]
    assert result.fetchall() == [(3,)]
    assert result.fetchone() is None
    assert [row for row in result] == [(1,), (2,), (3,)]
    assert result.rowcount == 3
    assert [d[:2] for d in result.description] == [("id", "BIGINT")]
    assert shop["spend"].fetchall() == [("Ann", 16), ("Bob", 7)]


# --- 6 to 10: change --------------------------------------------------------------------------------------


def test_parameters_and_executemany(shop: AnyDatabase) -> None:
    done = shop.executemany("INSERT INTO orders VALUES (?, ?, ?)", [(4, "Cid", 1), (5, "Cid", 2)])
    assert done.count == 2
    assert shop["spend"].rows() == [("Ann", 16), ("Bob", 7), ("Cid", 3)]
    shop.executemany("UPDATE orders SET total = :t WHERE id = :id", [{"id": 4, "t": 9}])
    assert shop.query("SELECT total FROM orders WHERE id = 4").scalar() == 9
    with pytest.raises(ec.QueryError, match="executemany takes many rows"):
        shop.executemany("DELETE FROM orders WHERE id = ?", "12")


def test_executemany_is_one_transaction(shop: AnyDatabase) -> None:
    with pytest.raises(ec.ConstraintError):
        shop.executemany("INSERT INTO orders VALUES (?, 'Cid', 1)", [(4,), (1,)])
    assert shop["orders"].rows() == ORDERS


def test_upsert(shop: AnyDatabase) -> None:
    orders = shop.table("orders")
    assert orders.upsert({"id": 1, "total": 6}) == 1  # of a mapping only its columns are changed
    assert orders.upsert([(2, "Bob", 8), (4, "Cid", 1)]) == 2
    assert orders.upsert(pandas.DataFrame({"id": [4], "customer": ["Dan"], "total": [2]})) == 1
    assert sorted(orders.rows()) == [(1, "Ann", 6), (2, "Bob", 8), (3, "Ann", 11), (4, "Dan", 2)]
    assert shop["spend"].rows() == [("Ann", 17), ("Bob", 8), ("Dan", 2)]
    with pytest.raises(ec.QueryError, match="upsert needs a key of orders") as caught:
        orders.upsert((1, "x", 1), key="customer")
    assert "(id)" in str(caught.value.hint)


def test_on_conflict_do_nothing(shop: AnyDatabase) -> None:
    done = shop.execute(
        "INSERT INTO orders VALUES (1, 'X', 0), (4, 'Cid', 1), (4, 'Y', 2) ON CONFLICT DO NOTHING"
    )
    assert done.count == 1
    assert sorted(shop["orders"].rows()) == [*ORDERS, (4, "Cid", 1)]


def test_on_conflict_do_update(shop: AnyDatabase) -> None:
    done = shop.execute(
        "INSERT INTO orders VALUES (1, 'X', 100), (3, 'X', 1), (4, 'Cid', 1) "
        "ON CONFLICT (id) DO UPDATE SET total = orders.total + excluded.total WHERE excluded.total > 1 "
        "RETURNING id, total"
    )
    assert (done.count, sorted(done)) == (2, [(1, 105), (4, 1)])
    assert sorted(shop["orders"].rows()) == [(1, "Ann", 105), (2, "Bob", 7), (3, "Ann", 11), (4, "Cid", 1)]
    with pytest.raises(ec.QueryError, match=r"\(customer\) is not a key of orders"):
        shop.execute("INSERT INTO orders VALUES (1, 'X', 1) ON CONFLICT (customer) DO NOTHING")
    with pytest.raises(ec.EvaluationError, match="no row twice"):
        shop.execute(
            "INSERT INTO orders VALUES (9, 'X', 1), (9, 'Y', 2) ON CONFLICT (id) DO UPDATE SET total = 0"
        )
    assert len(shop["orders"]) == 4


def test_insert_or_replace_and_ignore(shop: AnyDatabase) -> None:
    shop.execute("INSERT OR REPLACE INTO orders VALUES (1, 'X', 1)")
    shop.execute("INSERT OR IGNORE INTO orders VALUES (2, 'X', 1)")
    assert sorted(shop["orders"].rows()) == [(1, "X", 1), (2, "Bob", 7), (3, "Ann", 11)]


def test_returning(shop: AnyDatabase) -> None:
    assert shop.execute("INSERT INTO orders VALUES (4, 'Cid', 1) RETURNING *").rows() == [(4, "Cid", 1)]
    updated = shop.execute(
        "UPDATE orders SET total = total * 2 WHERE id = 4 RETURNING id, total AS t, total + 1"
    )
    assert (updated.columns, updated.rows()) == (["id", "t", "(total + 1)"], [(4, 2, 3)])
    assert shop.execute("DELETE FROM orders WHERE id = 4 RETURNING customer").scalar() == "Cid"


# --- 11 to 13: transactions -------------------------------------------------------------------------------


def test_begin_and_commit(shop: AnyDatabase) -> None:
    seen: list[Any] = []
    shop["spend"].subscribe(seen.append)
    shop.execute("BEGIN")
    shop.execute("INSERT INTO orders VALUES (4, 'Cid', 1)")
    shop.execute("UPDATE orders SET total = 3 WHERE id = 4")
    assert shop["spend"].rows() == [("Ann", 16), ("Bob", 7)]
    shop.execute("COMMIT")
    assert shop["spend"].rows() == [("Ann", 16), ("Bob", 7), ("Cid", 3)]
    assert [(c.inserted, c.deleted) for c in seen] == [([("Cid", 3)], [])]


def test_rollback(shop: AnyDatabase) -> None:
    shop.execute("START TRANSACTION; DELETE FROM orders; ROLLBACK; INSERT INTO orders VALUES (4, 'Cid', 1)")
    assert sorted(shop["orders"].rows()) == [*ORDERS, (4, "Cid", 1)]


def test_transactions_that_are_nested_wrongly(shop: AnyDatabase) -> None:
    for end in ("COMMIT", "ROLLBACK"):
        with pytest.raises(ec.TransactionError, match=f"there is no transaction for {end} to end"):
            shop.execute(end)
    shop.execute("BEGIN")
    with pytest.raises(ec.TransactionError, match="a transaction is open already"):
        shop.execute("BEGIN")
    with shop.transaction(), pytest.raises(ec.TransactionError, match="a `with` block began"):
        shop.execute("COMMIT")
    with pytest.raises(ec.TransactionError, match="CREATE TABLE"):
        shop.execute("CREATE TABLE u (n INT)")
    shop.execute("INSERT INTO orders VALUES (4, 'Cid', 1); COMMIT")
    with shop.transaction(), pytest.raises(ec.TransactionError, match="a transaction is open already"):
        shop.execute("BEGIN")
    with pytest.raises(ec.UnsupportedError, match="ROLLBACK TO"):
        shop.execute("ROLLBACK TO SAVEPOINT a")
    assert len(shop["orders"]) == 4


def test_a_commit_that_is_refused_ends_the_transaction(shop: AnyDatabase) -> None:
    shop.execute("BEGIN; INSERT INTO orders VALUES (1, 'X', 1)")
    with pytest.raises(ec.ConstraintError):
        shop.execute("COMMIT")
    assert shop["orders"].rows() == ORDERS
    shop.execute("BEGIN; INSERT INTO orders VALUES (4, 'X', 1); COMMIT")
    assert len(shop["orders"]) == 4


def test_a_failed_statement_leaves_the_transaction_open(shop: AnyDatabase) -> None:
    shop.execute("BEGIN; INSERT INTO orders VALUES (4, 'Cid', 1)")
    with pytest.raises(ec.QueryError):
        shop.execute("INSERT INTO orders VALUES (5)")
    shop.execute("COMMIT")
    assert len(shop["orders"]) == 4


# --- 14 to 17: look around --------------------------------------------------------------------------------


def test_show_and_describe(shop: AnyDatabase) -> None:
    assert shop.sql("SHOW TABLES").rows() == [("default", "orders", False)]
    assert shop.sql("SHOW VIEWS").rows() == [("default", "spend", False)]
    assert shop.sql("SHOW COLUMNS IN orders").fetchall() == [("id",), ("customer",), ("total",)]
    assert shop.sql("DESCRIBE orders").rows() == [
        ("id", "BIGINT", False, "PRIMARY KEY"),
        ("customer", "STRING", True, None),
        ("total", "INT", True, None),
    ]
    assert shop.sql("DESC TABLE spend").rows() == [
        ("customer", "STRING", True, None),
        ("total", "BIGINT", True, None),
    ]
    assert shop.sql("DESCRIBE SELECT 1 AS n").rows() == [("n", "INT", False, None)]
    text = shop.sql("SHOW CREATE TABLE orders").scalar()
    assert str(text).startswith("CREATE TABLE `orders` (`id` BIGINT NOT NULL")
    with pytest.raises(ec.QueryError, match="there is no table 'order'"):
        shop.sql("DESCRIBE order")


def test_explain(shop: AnyDatabase) -> None:
    assert "orders" in str(shop.sql("EXPLAIN SELECT id FROM orders WHERE total > 3").scalar())
    assert "orders" in str(shop.sql("EXPLAIN DELETE FROM orders WHERE id = 1").scalar())
    assert "spend" in str(shop.sql("EXPLAIN spend").scalar())
    assert len(shop["orders"]) == 3
    with pytest.raises(ec.QueryError, match="EXPLAIN is for queries and changes"):
        shop.sql("EXPLAIN DROP TABLE orders")


def test_create_table_as(shop: AnyDatabase) -> None:
    made = shop.execute("CREATE TABLE big AS SELECT id, total * 2 AS double FROM orders WHERE total > 5")
    assert made.count == 2
    assert sorted(shop["big"].rows()) == [(2, 14), (3, 22)]
    shop.execute("CREATE TABLE IF NOT EXISTS big AS SELECT 1 AS n")
    shop.execute("CREATE OR REPLACE TABLE big AS SELECT customer FROM orders WHERE id = ?", [2])
    assert shop["big"].rows() == [("Bob",)]
    with pytest.raises(ec.QueryError, match="there is already a table big"):
        shop.execute("CREATE TABLE big AS SELECT 1 AS n")


def test_columns_of_create_table_as_may_be_null_later(shop: AnyDatabase) -> None:
    shop.execute("CREATE TABLE ones AS SELECT 1 AS n")
    shop.execute("INSERT INTO ones VALUES (NULL)")
    assert sorted(shop["ones"].rows(), key=str) == [(1,), (None,)]


def test_temporary_view(shop: AnyDatabase) -> None:
    shop.execute("CREATE TEMPORARY VIEW large AS SELECT * FROM orders WHERE total > 6")
    shop.execute("CREATE VIEW many AS SELECT count(*) AS n FROM large")
    shop.execute("CREATE OR REPLACE TEMP VIEW larger AS SELECT * FROM large WHERE total > 7")
    assert sorted(shop["large"].rows()) == [(2, "Bob", 7), (3, "Ann", 11)]
    shop.execute("INSERT INTO orders VALUES (4, 'Cid', 9)")
    assert shop.query("SELECT count(*) FROM large").scalar() == 3
    assert shop["many"].rows() == [(3,)]
    assert sorted(shop["larger"].rows()) == [(3, "Ann", 11), (4, "Cid", 9)]
    assert ("default", "large", True) in shop.sql("SHOW VIEWS").rows()
    if isinstance(shop, ec.Database):
        assert shop.verify()


# --- 18 to 20: data of other libraries ---------------------------------------------------------------------


def test_export(shop: AnyDatabase) -> None:
    for rows in (shop["spend"], shop.query("SELECT * FROM spend")):
        assert rows.to_dicts() == [{"customer": "Ann", "total": 16}, {"customer": "Bob", "total": 7}]
        assert rows.to_pandas().equals(rows.df()) and list(rows.df()["total"]) == [16, 7]
        assert rows.to_arrow().equals(rows.fetch_arrow_table())
        assert rows.to_polars().equals(rows.pl()) and rows.pl()["customer"].to_list() == ["Ann", "Bob"]
        assert pyarrow.table(rows).equals(rows.to_arrow())
        assert polars.DataFrame(rows).equals(rows.pl())
    assert len(shop["orders"].to_pandas()) == 3


def test_duckdb_over_a_view(shop: AnyDatabase) -> None:
    spend = shop["spend"]  # noqa: F841 (DuckDB finds it by its name)
    with duckdb.connect() as connection:
        found = connection.execute("SELECT max(total), count(*) FROM spend").fetchall()
    assert found == [(16, 2)]


FRAME = pandas.DataFrame({"id": [1, 2], "name": ["a", None], "price": [1.5, float("nan")]})


@pytest.mark.parametrize(
    "data",
    [
        FRAME,
        polars.from_pandas(FRAME),
        pyarrow.Table.from_pandas(FRAME, preserve_index=False),
        [{"id": 1, "name": "a", "price": 1.5}, {"id": 2, "name": None, "price": None}],
        {"id": [1, 2], "name": ["a", None], "price": [1.5, None]},
    ],
    ids=["pandas", "polars", "arrow", "dicts", "columns"],
)
def test_create_table_from_data(db: AnyDatabase, data: Any) -> None:
    table = db.create_table("things", data, key=["id"])
    assert [f"{f.name} {f.type}" for f in table.schema] == ["id BIGINT", "name STRING", "price DOUBLE"]
    assert table.primary_key == ("id",)
    assert sorted(table.rows()) == [(1, "a", 1.5), (2, None, None)]


def test_create_table_from_data_is_all_or_nothing(db: AnyDatabase) -> None:
    with pytest.raises(ec.ConstraintError):
        db.create_table("things", [{"id": 1}, {"id": 1}], key="id")
    assert db.tables == []
    with pytest.raises(ec.QueryError, match="there is no column nope"):
        db.create_table("things", [{"id": 1}], key="nope")
    with pytest.raises(ec.QueryError, match="does not name its columns"):
        db.create_table("things", [(1, 2)])
    with pytest.raises(ec.QueryError, match="holds no rows"):
        db.create_table("things", 7)


def test_types_of_data(db: AnyDatabase) -> None:
    day = datetime.date(2024, 5, 1)
    found = pyarrow.table(
        {
            "d": pyarrow.array([day]),
            "x": pyarrow.array([Decimal("1.50")], pyarrow.decimal128(9, 2)),
            "u": pyarrow.array([7], pyarrow.uint32()),
            "a": pyarrow.array([[1, 2]], pyarrow.list_(pyarrow.int32())),
            "s": pyarrow.array([{"x": 1}]),
        }
    )
    table = db.create_table("kinds", found)
    assert [str(f.type) for f in table.schema] == [
        "DATE",
        "DECIMAL(9,2)",
        "BIGINT",
        "ARRAY<INT>",
        "STRUCT<x: BIGINT>",
    ]
    assert table.rows()[0][:3] == (day, Decimal("1.50"), 7)


def test_files(shop: AnyDatabase, tmp_path: Path) -> None:
    parquet.write_table(shop["orders"].to_arrow(), tmp_path / "a.parquet")
    csv.write_csv(shop["orders"].to_arrow(), tmp_path / "a.csv")
    assert shop.read_parquet(tmp_path / "a.parquet").rows() == ORDERS
    assert shop.read_csv(tmp_path / "a.csv").rows() == ORDERS
    assert shop.create_table("again", shop.read_parquet(tmp_path / "*.parquet"), key="id").rows() == ORDERS
    with pytest.raises(ec.QueryError, match="there is no file"):
        shop.read_parquet(tmp_path / "b.parquet")


def test_copy(shop: AnyDatabase, tmp_path: Path) -> None:
    for name in ("o.parquet", "o.csv", "o.json"):
        path = tmp_path / name
        assert shop.execute(f"COPY orders TO '{path}'").count == 3
        shop.execute("TRUNCATE TABLE orders")
        assert shop.execute(f"COPY orders FROM '{path}'").count == 3
        assert sorted(shop["orders"].rows()) == ORDERS
    path = tmp_path / "spend.csv"
    shop.execute(f"COPY (SELECT * FROM spend WHERE total > 10) TO '{path}' (HEADER false, DELIMITER ';')")
    assert path.read_text() == '"Ann";16\n'
    shop.execute("CREATE TABLE totals (total INT, customer STRING)")
    shop.execute(f"COPY totals (customer, total) FROM '{path}' (FORMAT csv, HEADER false, DELIMITER ';')")
    assert shop["totals"].rows() == [(16, "Ann")]
    with pytest.raises(ec.QueryError, match="COPY has no option QUOTE"):
        shop.execute(f"COPY orders TO '{path}' (QUOTE 'x')")
    with pytest.raises(ec.QueryError, match="does not say what kind of file"):
        shop.execute("COPY orders TO 'orders.xyz'")


def test_names_of_other_databases_say_what_to_use(db: AnyDatabase) -> None:
    """Whatever is not there under its familiar name says how it is called here."""
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, doc STRING)")
    for name, instead in (
        ("insert", r"table\(\"orders\"\).insert"),
        ("upsert", "upsert"),
        ("cursor", "fetchone"),
        ("commit", "transaction"),
        ("register", "create_table"),
    ):
        assert not hasattr(db, name)
        with pytest.raises(AttributeError, match=instead):
            getattr(db, name)
    for name, instead in (("where", "WHERE"), ("count", "len"), ("fetchdf", "to_pandas"), ("show", "print")):
        with pytest.raises(AttributeError, match=instead):
            getattr(db["t"], name)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        db["t"].nonsense  # type: ignore[attr-defined]
    with pytest.raises(ec.QueryError, match="a list of values for each column"):
        db.create_table("u", {"id": "BIGINT"}, key="id")


@pytest.mark.parametrize(
    "text, hint",
    [
        ("SELECT * FROM t WHERE id = %s", "write \\?"),
        ("SELECT * FROM t WHERE id = $1", "write \\?"),
        ("SELECT doc->>'a' FROM t", "get_json_object"),
        ("SELECT json_tuple(doc, 'a') FROM t", "get_json_object"),
        ("SELECT * FROM 'a/b.parquet'", "read_parquet"),
        ("SELECT * FROM information_schema.tables", "SHOW TABLES"),
        ("SELECT * FROM t FOR UPDATE", "transaction"),
        ("CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; END", "subscribe"),
        ("CREATE TYPE m AS ENUM ('a')", "CHECK"),
        ("CREATE SCHEMA s", "one schema"),
        ("CREATE FUNCTION f() RETURNS INT RETURN 1", "Python"),
        ("LISTEN t", "subscribe"),
        ("SUBSCRIBE TO t", "subscribe"),
        ("SUMMARIZE t", "DESCRIBE"),
        ("DESCRIBE FUNCTION sum", "docs/reference"),
        ("SHOW FUNCTIONS", "docs/reference"),
    ],
)
def test_statements_of_other_databases_say_what_to_use(text: str, hint: str) -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, doc STRING)")
    with pytest.raises(ec.EvercurrentError, match=f"hint: .*{hint}"):
        db.execute(text, [1] if "%s" in text or "$1" in text else None)
