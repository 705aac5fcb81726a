"""Why a view has a row, operator by operator."""

from __future__ import annotations

import pytest

import evercurrent as ec
from evercurrent.design.why import base_plan


@pytest.fixture
def db() -> ec.Database:
    db = ec.connect()
    db.execute("""
        CREATE TABLE customers (id INT PRIMARY KEY, name STRING);
        CREATE TABLE orders (id INT PRIMARY KEY, customer INT, total INT);
        CREATE TABLE edge (src INT, dst INT);
        INSERT INTO customers VALUES (1, 'Ann'), (2, 'Ben'), (3, 'Cid');
        INSERT INTO orders VALUES (1, 1, 10), (2, 1, 20), (3, 2, 5);
        INSERT INTO edge VALUES (1, 2), (1, 2), (2, 3), (3, 1), (7, 8)
    """)
    return db


def why(db: ec.Database, query: str, row: tuple[object, ...]) -> dict[str, list[tuple[object, ...]]]:
    db.execute(f"CREATE OR REPLACE VIEW v AS {query}")
    return {name: sorted(rows) for name, rows in db.view("v").why(row).items()}


A, B = (1, "Ann"), (2, "Ben")
ONE, TWO, THREE = (1, 1, 10), (2, 1, 20), (3, 2, 5)
CASES = {
    "select": ("SELECT id FROM orders WHERE total > 5", (2,), {"orders": [TWO]}),
    "join": (
        "SELECT name, total FROM customers c JOIN orders o ON o.customer = c.id",
        ("Ann", 20),
        {"customers": [A], "orders": [TWO]},
    ),
    "join_without_columns_of_one_side": (
        "SELECT o.id FROM customers c JOIN orders o ON o.customer = c.id",
        (3,),
        {"customers": [B], "orders": [THREE]},
    ),
    "group": (
        "SELECT name, SUM(total) AS s FROM customers c JOIN orders o ON o.customer = c.id GROUP BY name",
        ("Ann", 30),
        {"customers": [A], "orders": [ONE, TWO]},
    ),
    "scalar_aggregate": ("SELECT COUNT(*) AS n FROM orders", (3,), {"orders": [ONE, TWO, THREE]}),
    "having": (
        "SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer HAVING SUM(total) > 5",
        (1, 2),
        {"orders": [ONE, TWO]},
    ),
    "distinct_counts_every_copy": ("SELECT DISTINCT src FROM edge", (1,), {"edge": [(1, 2), (1, 2)]}),
    "union": (
        "SELECT src AS x FROM edge UNION SELECT dst FROM edge",
        (2,),
        {"edge": [(1, 2), (1, 2), (2, 3)]},
    ),
    "intersect": ("SELECT src FROM edge INTERSECT SELECT dst FROM edge", (3,), {"edge": [(2, 3), (3, 1)]}),
    "except": ("SELECT src FROM edge EXCEPT SELECT dst FROM edge", (7,), {"edge": [(7, 8)]}),
    "exists": (
        "SELECT name FROM customers c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)",
        ("Ann",),
        {"customers": [A], "orders": [ONE, TWO]},
    ),
    "window": (
        "SELECT id, rank() OVER (PARTITION BY customer ORDER BY total) AS k FROM orders",
        (1, 1),
        {"orders": [ONE, TWO]},
    ),
    "top": ("SELECT id FROM orders ORDER BY total DESC LIMIT 2", (1,), {"orders": [ONE]}),
    "subquery": (
        "SELECT id FROM orders o WHERE total > (SELECT AVG(total) FROM orders p WHERE p.customer = o.customer)",
        (2,),
        {"orders": [ONE, TWO]},
    ),
    "constant": ("SELECT 1 AS one", (1,), {}),
}


@pytest.mark.parametrize("name", CASES)
def test_operator(db: ec.Database, name: str) -> None:
    query, row, expected = CASES[name]
    assert why(db, query, row) == expected


def test_every_derivation_of_a_recursive_row(db: ec.Database) -> None:
    query = (
        "WITH RECURSIVE p(a, b) AS (SELECT src, dst FROM edge UNION SELECT p.a, e.dst FROM p JOIN edge e "
        "ON p.b = e.src) SELECT a, b FROM p"
    )
    assert why(db, query, (2, 1)) == {"edge": [(1, 2), (1, 2), (2, 3), (3, 1)]}
    assert why(db, query, (7, 8)) == {"edge": [(7, 8)]}


def test_what_is_absent_is_said(db: ec.Database) -> None:
    db.execute("CREATE VIEW o AS SELECT name, total FROM customers c LEFT JOIN orders o ON o.customer = c.id")
    told = db.view("o").why(("Cid", None))
    assert dict(told) == {"customers": [(3, "Cid")]}
    assert told.absent == ("no row of orders with c.id = o.customer",)
    assert "because there is no row of orders with c.id = o.customer" in str(told)
    assert db.view("o").why(("Ann", 10)).absent == ()
    db.execute(
        "CREATE VIEW a AS SELECT name FROM customers c WHERE NOT EXISTS "
        "(SELECT 1 FROM orders o WHERE o.customer = c.id)"
    )
    assert db.view("a").why(("Cid",)).absent == ("no row of orders with c.id = o.customer",)


def test_views_are_looked_through(db: ec.Database) -> None:
    db.execute("CREATE VIEW sums AS SELECT customer, SUM(total) AS s FROM orders GROUP BY customer")
    db.execute("CREATE VIEW rich AS SELECT name, s FROM customers JOIN sums ON customer = id WHERE s > 7")
    db.execute("CREATE VIEW again AS SELECT a.name FROM rich a JOIN rich b ON a.s = b.s")
    assert dict(db.view("again").why(("Ann",))) == {"customers": [A], "orders": [ONE, TWO]}


def test_a_recomputed_view_too(db: ec.Database) -> None:
    db.execute(
        "CREATE VIEW sums AS SELECT customer, SUM(total) AS s FROM orders GROUP BY customer", policy="full"
    )
    db.execute("CREATE VIEW rich AS SELECT s FROM sums")
    assert dict(db.view("sums").why((2, 5))) == {"orders": [THREE]}
    assert dict(db.view("rich").why((5,))) == {"orders": [THREE]}


def test_multiplicities_are_shown(db: ec.Database) -> None:
    db.execute("CREATE VIEW d AS SELECT DISTINCT src FROM edge")
    told = db.view("d").why((1,))
    assert told.counted == {"edge": [((1, 2), 2)]}
    assert "times" in str(told)
    assert "times" in told._repr_html_()
    with pytest.raises(KeyError):
        told["orders"]


def test_only_what_may_belong_to_the_row_is_read(db: ec.Database) -> None:
    """The parent is found by its key: the other rows of its table are not looked at."""
    from evercurrent.algebra.lineage import origins

    db.execute("CREATE VIEW v AS SELECT o.id, name FROM orders o JOIN customers c ON o.customer = c.id")
    session = db._session
    asked: dict[str, object] = {}

    def found(name: str, needs: dict[int, set[object]]) -> object:
        asked[name] = needs
        return session.table_rows(name).items()

    origins(base_plan(session.view("v"), session.catalog), (3, "Ben"), found, session.catalog)
    assert asked == {"orders": {0: {3}}, "customers": {0: {2}, 1: {"Ben"}}}
