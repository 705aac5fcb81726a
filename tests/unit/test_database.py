"""The public face, end to end: transactions, constraints, definitions, subscriptions."""

from __future__ import annotations

import subprocess
import sys
import threading
from decimal import Decimal
from typing import Any

import pytest

import evercurrent as ec


@pytest.fixture
def db() -> ec.Database:
    """Customers and orders, with a view of each kind over them."""
    db = ec.connect()
    db.execute("""
        CREATE TABLE customers (id BIGINT PRIMARY KEY, name STRING NOT NULL, mail STRING UNIQUE);
        CREATE TABLE orders (
            id BIGINT PRIMARY KEY, customer BIGINT REFERENCES customers (id), total DECIMAL(12,2) CHECK (total >= 0)
        );
        CREATE TABLE log (text STRING);
        CREATE VIEW spend AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer;
        CREATE VIEW named AS
            SELECT c.name, s.total FROM spend s JOIN customers c ON c.id = s.customer ORDER BY s.total DESC;
        CREATE VIEW n AS SELECT COUNT(*) AS n FROM orders;
    """)
    db.table("customers").insert([(1, "Ann", "a@x"), (2, "Bob", None)])
    db.table("orders").insert([(10, 1, 5), (11, 2, 7), (12, 1, "2.50")])
    return db


def state(db: ec.Database) -> dict[str, Any]:
    """Everything that can be read, and a check that every view is right."""
    assert db.verify(), str(db.verify())
    return {
        **{name: sorted(db.table(name).rows(), key=repr) for name in db.tables},
        **{name: sorted(db.view(name).rows(), key=repr) for name in db.views},
    }


# --- reading -----------------------------------------------------------------------------------------------


def test_rows_in_the_order_of_the_view(db: ec.Database) -> None:
    assert db.view("named").rows() == [("Ann", Decimal("7.50")), ("Bob", Decimal("7.00"))]
    db.table("orders").insert((13, 2, 1))
    assert db.view("named").rows() == [("Bob", Decimal("8.00")), ("Ann", Decimal("7.50"))]
    assert db.view("named").to_dicts()[0] == {"name": "Bob", "total": Decimal("8.00")}
    assert len(db.view("named")) == 2
    assert [str(f) for f in db.view("n").schema] == ["n: BIGINT"]


def test_names_are_found_whatever_their_case(db: ec.Database) -> None:
    assert db.view("NAMED").name == "named"
    assert db.table("Orders").get({"ID": 10}) == (10, 1, Decimal("5.00"))
    assert db.table("orders").get(99) is None
    with pytest.raises(ec.QueryError, match="did you mean 'orders'"):
        db.table("order")
    with pytest.raises(ec.QueryError, match="spend is a view"):
        db.table("spend")


def test_handles_show_themselves(db: ec.Database) -> None:
    assert repr(db.table("log")) == "<Table log(text STRING): 0 rows>"
    assert repr(db.view("n")) == "<View n(n BIGINT): 1 row>"
    assert "Ann" in str(db.view("named"))
    assert "<td" in db.view("named")._repr_html_()
    assert repr(db) == "<Database: 3 tables, 3 views, 0 assertions, 2 transactions>"


# --- transactions ------------------------------------------------------------------------------------------


def test_an_exception_undoes_everything(db: ec.Database) -> None:
    before = state(db)
    with pytest.raises(KeyboardInterrupt), db.transaction():
        db.table("orders").delete(10)
        db.table("log").insert(("x",))
        raise KeyboardInterrupt
    assert state(db) == before


def test_rollback(db: ec.Database) -> None:
    before = state(db)
    with db.transaction() as tx:
        db.table("orders").delete(10)
        tx.rollback()
        with pytest.raises(ec.TransactionError):
            db.table("orders").delete(11)
    assert tx.status == "rolled back"
    assert state(db) == before


def test_reading_inside_sees_the_committed_state_unless_asked(db: ec.Database) -> None:
    with db.transaction():
        db.table("orders").insert((13, 2, 100))
        db.table("orders").update(10, total=50)
        assert db.view("n").rows() == [(3,)]
        assert db.view("n").rows(pending=True) == [(4,)]
        assert db.view("named").rows(pending=True)[0] == ("Bob", Decimal("107.00"))
        assert db.view("named").rows()[0] == ("Ann", Decimal("7.50"))
        assert len(db.table("orders")) == 3
        assert len(db.table("orders").rows(pending=True)) == 4
        assert db.table("orders").get(10, pending=True) == (10, 1, Decimal("50.00"))
        assert db.query("SELECT n FROM n").rows() == [(3,)]
        assert db.query("SELECT n FROM n", pending=True).rows() == [(4,)]
    assert db.view("n").rows() == [(4,)]
    state(db)


def test_pending_views_can_be_read_while_constraints_do_not_hold_yet(db: ec.Database) -> None:
    with db.transaction():
        db.table("orders").insert([(13, 9, 1), (10, 1, 6)])
        assert db.view("n").rows(pending=True) == [(5,)]
        db.table("orders").delete((10, 1, 5))
        db.table("customers").insert((9, "Zoe", None))
    assert db.view("n").rows() == [(4,)]
    state(db)


def test_inner_transactions_join(db: ec.Database) -> None:
    before = state(db)
    with pytest.raises(ZeroDivisionError), db.transaction() as outer:
        with db.transaction() as inner:
            db.table("log").insert(("x",))
        assert inner is outer
        assert state(db) == before
        1 // 0
    assert state(db) == before


def test_an_inner_block_that_failed_fails_the_whole(db: ec.Database) -> None:
    before = state(db)
    with pytest.raises(ec.TransactionError, match="inner block"), db.transaction():
        db.table("log").insert(("x",))
        with pytest.raises(ZeroDivisionError), db.transaction():
            1 // 0
    assert state(db) == before


def test_a_call_that_failed_is_as_if_not_made_and_the_transaction_goes_on(db: ec.Database) -> None:
    with db.transaction() as tx:
        db.table("log").insert(("x",))
        with pytest.raises(ec.QueryError):
            db.table("log").insert([("y",), (1,)])
        with pytest.raises(ec.ConstraintError):
            db.table("log").delete([("x",), ("z",)])
    assert tx.number == 3
    assert db.table("log").rows() == [("x",)]


def test_a_transaction_without_net_change_has_no_number(db: ec.Database) -> None:
    with db.transaction() as tx:
        db.table("log").insert(("x",))
        db.table("log").delete(("x",))
    assert tx.number is None
    assert tx.status == "committed"


def test_constraints_wait_for_the_end(db: ec.Database) -> None:
    with db.transaction():
        db.table("orders").insert((20, 5, 1))
        db.table("customers").insert((5, None, None))
        db.table("customers").update(5, name="Eve")
    before = state(db)
    for changes in (
        lambda: db.table("customers").delete(5),
        lambda: db.table("customers").insert((1, "again", None)),
        lambda: db.table("customers").insert((7, "x", "a@x")),
        lambda: db.table("orders").insert((21, 1, -1)),
        lambda: db.table("customers").insert((8, None, None)),
    ):
        with pytest.raises(ec.ConstraintError) as caught:
            changes()
        assert caught.value.rows
        assert state(db) == before


def test_an_evaluation_error_undoes_the_transaction() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (a INT, b INT); CREATE VIEW v AS SELECT a, a DIV b AS q FROM t")
    db.table("t").insert((6, 3))
    with pytest.raises(ec.EvaluationError):
        db.table("t").insert([(1, 1), (1, 0)])
    assert db.view("v").rows() == [(6, 2)]
    assert db.table("t").rows() == [(6, 3)]


# --- subscriptions -----------------------------------------------------------------------------------------


def test_subscribers_hear_the_minimal_change_once(db: ec.Database) -> None:
    heard: list[Any] = []
    db.view("spend").subscribe(lambda c: heard.append((c.transaction, c.deleted, c.inserted)))
    with db.transaction():
        db.table("orders").insert((13, 2, 1))
        db.table("orders").insert((14, 2, 1))
        db.table("orders").delete(14)
        db.table("orders").replace(10, (10, 1, "5.00"))
    assert heard == [(3, [(2, Decimal("7.00"))], [(2, Decimal("8.00"))])]
    db.table("orders").update(13, total=1)
    db.table("customers").update(1, name="Anna")
    assert len(heard) == 1


def test_a_subscriber_before_the_commit_sees_and_can_refuse(db: ec.Database) -> None:
    seen: list[Any] = []

    def refuse(change: ec.Change) -> None:
        seen.append(db.view("n").rows())
        with pytest.raises(ec.TransactionError):
            db.table("log").insert(("x",))
        raise RuntimeError("no")

    subscription = db.view("spend").subscribe(refuse, when="before")
    before = state(db)
    with pytest.raises(RuntimeError, match="no"):
        db.table("orders").insert((13, 2, 1))
    assert seen == [[(4,)]]
    assert state(db) == before
    subscription.cancel()
    db.table("orders").insert((13, 2, 1))
    assert db.view("n").rows() == [(4,)]


def test_a_subscriber_after_the_commit_may_change_the_database(db: ec.Database) -> None:
    order: list[str] = []

    def note(change: ec.Change) -> None:
        order.append(f"note {change.transaction}")
        if change.transaction == 3:
            db.table("orders").insert((14, 1, 1))

    db.view("n").subscribe(note)
    db.view("n").subscribe(lambda c: order.append(f"second {c.transaction}"))
    db.table("orders").insert((13, 2, 1))
    assert order == ["note 3", "second 3", "note 4", "second 4"]
    assert db.view("n").rows() == [(5,)]


def test_a_subscriber_that_raises_after_the_commit_breaks_nothing(db: ec.Database) -> None:
    heard: list[int] = []
    db.table("log").subscribe(lambda c: 1 // 0)
    db.table("log").subscribe(lambda c: heard.append(c.transaction))
    with pytest.warns(ec.SubscriberWarning):
        db.table("log").insert(("x",))
    assert heard == [3]
    assert db.table("log").rows() == [("x",)]


# --- definitions -------------------------------------------------------------------------------------------


def test_what_others_depend_on_is_not_dropped(db: ec.Database) -> None:
    before = state(db)
    with pytest.raises(ec.QueryError, match="view named") as caught:
        db.execute("DROP VIEW spend")
    assert "CASCADE" in str(caught.value)
    with pytest.raises(ec.QueryError, match="table orders, view named"):
        db.execute("DROP TABLE customers")
    assert state(db) == before
    db.execute("DROP VIEW spend CASCADE")
    assert db.views == ["n"]
    db.execute("DROP TABLE customers CASCADE")
    db.table("orders").insert((99, 99, 1))  # the reference is gone with the table
    db.execute("DROP VIEW IF EXISTS nothing")
    with pytest.raises(ec.QueryError, match="nothing"):
        db.execute("DROP VIEW nothing")


def test_names_are_taken_once(db: ec.Database) -> None:
    for text in ("CREATE TABLE log (a INT)", "CREATE TABLE n (a INT)", "CREATE VIEW log AS SELECT 1 AS a"):
        with pytest.raises(ec.QueryError, match="already"):
            db.execute(text)
    db.execute("CREATE TABLE IF NOT EXISTS log (a INT)")
    assert db.table("log").columns == ["text"]


def test_a_replaced_view_moves_what_reads_it(db: ec.Database) -> None:
    db.execute(
        "CREATE OR REPLACE VIEW spend AS SELECT customer, MAX(total) AS total FROM orders GROUP BY customer"
    )
    assert db.view("named").rows() == [("Bob", Decimal("7.00")), ("Ann", Decimal("5.00"))]
    before = state(db)
    with pytest.raises(ec.QueryError, match="view named depends on spend"):
        db.execute("CREATE OR REPLACE VIEW spend AS SELECT customer FROM orders")
    with pytest.raises(ec.QueryError, match="by itself"):
        db.execute("CREATE OR REPLACE VIEW spend AS SELECT name AS customer, total FROM named")
    assert state(db) == before
    db.table("orders").insert((13, 1, 100))
    assert db.view("named").rows()[0] == ("Ann", Decimal("100.00"))


def test_a_replaced_table_is_empty_and_checked_against_its_views(db: ec.Database) -> None:
    with pytest.raises(ec.ConstraintError, match="orders refer to it"):
        db.execute("CREATE OR REPLACE TABLE customers (id BIGINT PRIMARY KEY, name STRING)")
    with pytest.raises(ec.QueryError, match="depends on orders"):
        db.execute("CREATE OR REPLACE TABLE orders (id BIGINT PRIMARY KEY)")
    db.execute("CREATE OR REPLACE TABLE orders (id INT, customer BIGINT, total INT)")
    assert db.view("n").rows() == [(0,)]
    db.table("orders").insert((1, 1, 3))
    assert db.view("named").rows() == [("Ann", 3)]
    assert [str(f.type) for f in db.view("named").schema] == ["STRING", "BIGINT"]
    state(db)


def test_definitions_are_no_part_of_a_transaction(db: ec.Database) -> None:
    with pytest.raises(ec.TransactionError), db.transaction():
        db.table("log").insert(("x",))
        db.execute("CREATE VIEW w AS SELECT * FROM log")
    assert db.views == ["spend", "named", "n"]
    assert db.table("log").rows() == []


def test_foreign_keys_must_refer_to_keys(db: ec.Database) -> None:
    with pytest.raises(ec.QueryError):
        db.execute("CREATE TABLE c (x STRING REFERENCES customers (name))")
    with pytest.raises(ec.QueryError):
        db.execute("CREATE TABLE c (x STRING REFERENCES customers (id))")
    with pytest.raises(ec.QueryError):
        db.execute("CREATE TABLE c (x INT REFERENCES nowhere (id))")
    assert "c" not in db.tables


def test_assertions(db: ec.Database) -> None:
    with pytest.raises(ec.ConstraintError) as caught:
        db.execute("CREATE ASSERTION a CHECK (NOT EXISTS (SELECT * FROM spend WHERE total > 7))")
    assert caught.value.rows == [(1, Decimal("7.50"))]
    assert db.assertions == []
    db.execute("CREATE ASSERTION a CHECK (NOT EXISTS (SELECT * FROM spend WHERE total > 8))")
    before = state(db)
    with pytest.raises(ec.ConstraintError) as caught:
        db.table("orders").insert((13, 2, 2))
    assert (caught.value.constraint, caught.value.rows) == ("a", [(2, Decimal("9.00"))])
    assert state(db) == before
    with pytest.raises(ec.QueryError, match="assertion a"):
        db.execute("DROP VIEW named; DROP VIEW spend")
    db.execute("DROP ASSERTION a")
    db.table("orders").insert((13, 2, 2))


# --- statements --------------------------------------------------------------------------------------------


def test_dml(db: ec.Database) -> None:
    assert db.execute("INSERT INTO orders (id, customer) VALUES (20, 1), (21, 2)").count == 2
    assert db.execute("UPDATE orders SET total = 1 WHERE total IS NULL").count == 2
    assert db.execute("INSERT INTO log SELECT name FROM customers").count == 2
    assert db.execute("DELETE FROM orders WHERE id >= 20").count == 2
    assert db.view("named").rows() == [("Ann", Decimal("7.50")), ("Bob", Decimal("7.00"))]
    assert db.execute("TRUNCATE TABLE log").count == 2
    state(db)


def test_merge(db: ec.Database) -> None:
    db.execute("CREATE TABLE news (id BIGINT, total DECIMAL(12,2))")
    merge = """
        MERGE INTO orders o USING news n ON o.id = n.id
        WHEN MATCHED AND n.total IS NULL THEN DELETE
        WHEN MATCHED THEN UPDATE SET total = n.total
        WHEN NOT MATCHED THEN INSERT (id, customer, total) VALUES (n.id, 1, n.total)
    """
    db.table("news").insert([(10, 50), (11, None), (30, 3)])
    assert db.execute(merge).count == 3
    assert sorted(db.table("orders").rows()) == [
        (10, 1, Decimal("50.00")),
        (12, 1, Decimal("2.50")),
        (30, 1, Decimal("3.00")),
    ]
    db.execute("TRUNCATE TABLE news")
    db.table("news").insert([(10, 1), (10, 2)])
    before = state(db)
    with pytest.raises(ec.EvaluationError, match="several"):
        db.execute(merge)
    assert state(db) == before


def test_dml_inside_a_transaction_sees_what_it_did(db: ec.Database) -> None:
    with db.transaction():
        db.execute("INSERT INTO orders VALUES (20, 1, 1)")
        db.execute("UPDATE orders SET total = total + 1")
        db.execute("UPDATE orders SET total = total + 1")
        db.execute("DELETE FROM orders WHERE id = 10")
    assert sorted(db.table("orders").rows()) == [
        (11, 2, Decimal("9.00")),
        (12, 1, Decimal("4.50")),
        (20, 1, Decimal("3.00")),
    ]
    state(db)


def test_parameters_are_values(db: ec.Database) -> None:
    hostile = "x'); DROP TABLE log; --"
    assert db.execute("INSERT INTO log VALUES (?)", [hostile]).count == 1
    assert db.query("SELECT text FROM log WHERE text = :t", {"t": hostile}).rows() == [(hostile,)]
    assert db.query("SELECT ? + 1 AS a, ? AS b, ? AS c", [1, None, Decimal("1.5")]).rows() == [
        (2, None, Decimal("1.5"))
    ]
    with pytest.raises(ec.QueryError):
        db.query("SELECT ? AS a", [])
    with pytest.raises(ec.QueryError):
        db.query("SELECT ? AS a", [1, 2])
    with pytest.raises(ec.QueryError):
        db.query("SELECT :a AS a", {"b": 1})


def test_a_query_has_the_order_that_it_asks_for(db: ec.Database) -> None:
    result = db.query("SELECT id, total FROM orders ORDER BY total DESC, id")
    assert [row[0] for row in result] == [11, 10, 12]
    assert (result.count, len(result)) == (3, 3)
    assert db.execute("SELECT COUNT(*) AS n FROM orders").scalar() == 3


def test_a_script_stops_at_its_first_error(db: ec.Database) -> None:
    with pytest.raises(ec.EvercurrentError):
        db.execute("INSERT INTO log VALUES ('a'); SELECT nothing FROM log; INSERT INTO log VALUES ('b')")
    assert db.table("log").rows() == [("a",)]


# --- policies, feeds, assumptions --------------------------------------------------------------------------


def test_full_views_are_recomputed_and_move_others(db: ec.Database) -> None:
    db.execute("CREATE VIEW top AS SELECT MAX(total) AS m FROM spend", policy="full")
    db.execute("CREATE VIEW above AS SELECT o.id FROM orders o JOIN top t ON o.total * 2 > t.m")
    heard: list[Any] = []
    db.view("top").subscribe(lambda c: heard.append((c.deleted, c.inserted)))
    assert sorted(db.view("above").rows()) == [(10,), (11,)]
    db.table("orders").insert((13, 2, 50))
    assert heard == [([(Decimal("7.50"),)], [(Decimal("57.00"),)])]
    assert db.view("above").rows() == [(13,)]
    assert "recomputed in full" in db.view("top").explain()
    with pytest.raises(ec.ConstraintError):
        db.table("orders").insert((13, 2, 51))
    state(db)


def test_an_update_of_a_referenced_parent_gives_the_assumption_up(db: ec.Database) -> None:
    db.execute("""
        CREATE VIEW lines AS SELECT o.id, c.name, o.total FROM orders o JOIN customers c ON c.id = o.customer
    """)
    db.table("customers").update(1, name="Anna")
    assert sorted(db.view("lines").rows()) == [
        (10, "Anna", Decimal("5.00")),
        (11, "Bob", Decimal("7.00")),
        (12, "Anna", Decimal("2.50")),
    ]
    db.table("customers").update(2, mail="b@x")
    state(db)


def test_apply(db: ec.Database) -> None:
    run = db.apply(
        {
            "orders": [
                {"_change_type": "update_preimage", "id": 10, "customer": 1, "total": 5},
                {"_change_type": "update_postimage", "id": 10, "customer": 1, "total": 6},
                {"_change_type": "delete", "id": 11},
                {"_change_type": "insert", "id": 40, "customer": 3, "total": 1},
            ],
            "customers": [{"_change_type": "insert", "id": 3, "name": "Cid"}],
        }
    )
    assert (run.count, int(run), run.rows_in) == (5, 5, {"orders": 4, "customers": 1})
    assert run.version == db.version
    assert db.view("named").rows() == [("Ann", Decimal("8.50")), ("Cid", Decimal("1.00"))]
    before = state(db)
    with pytest.raises(ec.ConstraintError), db.transaction():
        db.apply(
            {
                "log": [{"_change_type": "insert", "text": "x"}],
                "orders": [{"_change_type": "delete", "id": 999}],
            }
        )
    assert state(db) == before


def test_the_trusted_feed_moves_views_and_rows(db: ec.Database) -> None:
    feed = db.feed("orders")
    assert feed.fast
    feed.insert((13, 2, 100))
    feed.delete((11, 2, 700))
    assert db.view("named").rows() == [("Ann", Decimal("7.50")), ("Bob", Decimal("1.00"))]
    heard: list[Any] = []
    subscription = db.view("spend").subscribe(lambda c: heard.append(c.inserted))
    assert not feed.fast
    feed.insert((14, 2, 100))
    assert heard == [[(2, Decimal("2.00"))]]
    subscription.cancel()
    state(db)


def test_stats_say_what_is_kept_for_whom(db: ec.Database) -> None:
    stats = db.stats()
    assert [s.label for s in stats.sizes if s.label.startswith("orders")], stats
    assert all(s.label in str(stats) for s in stats.sizes if s.kind == "state")
    tables = {s.name: s.entries for s in stats.sizes if s.kind == "table"}
    assert tables == {"customers": 2, "orders": 3, "log": 0}
    assert stats.of("spend")
    assert all(s.bytes > 0 for s in stats.sizes if s.entries)
    assert "orders" in str(stats)
    states = {s.name for s in stats.sizes if s.kind == "state"}
    db.execute("DROP VIEW named")
    assert {s.name for s in db.stats().sizes if s.kind == "state"} < states


def test_every_stage_is_explained(db: ec.Database) -> None:
    view = db.view("named")
    for stage in ("calculus", "normal", "algebra", "optimised", "program", "source"):
        assert len(view.explain(stage)) > 20, stage
    assert "view named" in view.explain()
    assert "def " in view.source()
    with pytest.raises(ec.QueryError, match="the stages are"):
        view.explain("assembler")


def test_verify_finds_both_kinds_of_difference(db: ec.Database) -> None:
    del db._session.stores["orders"].rows[10]
    report = db.verify(["n"])
    assert not report
    assert report.differing[0].missing == [(2,)]
    assert report.differing[0].unexpected == [(3,)]
    assert "missing     (2,)" in str(report)


# --- threads, imports --------------------------------------------------------------------------------------


def test_threads_take_turns(db: ec.Database) -> None:
    def work(base: int) -> None:
        for i in range(50):
            with db.transaction():
                db.table("orders").insert((base + i, 1, 1))
                db.table("orders").update(base + i, total=2)

    threads = [threading.Thread(target=work, args=(1000 * k,)) for k in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert db.view("n").rows() == [(153,)]
    state(db)


def test_a_session_alone_is_not_enough_for_spark() -> None:
    with pytest.raises(ec.QueryError, match="both a session and a path") as caught:
        ec.connect(spark=object())
    assert "spark=spark" in str(caught.value)


def test_importing_is_light() -> None:
    heavy = "pyarrow", "pandas", "rich", "sqlglot", "pyspark", "numpy"
    code = f"import sys, evercurrent; print([m for m in {heavy!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_everything_public_is_there() -> None:
    assert all(hasattr(ec, name) for name in ec.__all__)
