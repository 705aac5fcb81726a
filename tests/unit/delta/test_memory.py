"""A program that is compiled view by view is the one that is compiled at once; a new view costs what is new in it."""

from __future__ import annotations

import random

import pytest

import evercurrent as ec
from evercurrent.delta import compile as compiling
from evercurrent.design.compile import Design, compile_all

SCHEMA = """
    CREATE TABLE region (id BIGINT PRIMARY KEY, name STRING NOT NULL);
    CREATE TABLE customer (id BIGINT PRIMARY KEY, region BIGINT NOT NULL REFERENCES region (id), name STRING);
    CREATE TABLE orders (
        id BIGINT PRIMARY KEY, customer BIGINT NOT NULL REFERENCES customer (id), total DECIMAL(10,2), placed DATE
    );
    CREATE TABLE items (orders BIGINT NOT NULL REFERENCES orders (id), part BIGINT, n INT, price DECIMAL(10,2));
    CREATE TABLE edges (a INT, b INT)
"""
VIEWS = {
    "spend": "SELECT c.region, SUM(i.n * i.price) AS s FROM customer c JOIN orders o ON o.customer = c.id"
    " JOIN items i ON i.orders = o.id GROUP BY c.region",
    "named": "SELECT r.name, s.s FROM spend s JOIN region r ON r.id = s.region",
    "late": "SELECT id FROM orders WHERE placed > DATE '2020-01-01' AND customer IN (SELECT id FROM customer WHERE name = 'a')",
    "idle": "SELECT c.id, c.name FROM customer c LEFT JOIN orders o ON o.customer = c.id WHERE o.id IS NULL",
    "paths": "WITH RECURSIVE p(a, b) AS (SELECT a, b FROM edges UNION SELECT p.a, e.b FROM p JOIN edges e ON e.a = p.b)"
    " SELECT a, b FROM p",
    "pairs": "SELECT count(*) AS n FROM edges x JOIN edges y ON x.b = y.a",
    "ranked": "SELECT id, customer, rank() OVER (PARTITION BY customer ORDER BY total DESC) AS r FROM orders",
    "top": "SELECT id, total FROM orders ORDER BY total DESC LIMIT 3",
    "both": "SELECT a FROM edges INTERSECT SELECT b FROM edges",
    "outer_join": "SELECT r.name, c.name AS customer FROM region r FULL JOIN customer c ON c.region = r.id AND c.name <> r.name",
    "under": "SELECT s.region FROM spend s WHERE s.s > (SELECT avg(s) FROM spend)",
    "shared": "SELECT c.region, SUM(i.n * i.price) AS s FROM customer c JOIN orders o ON o.customer = c.id"
    " JOIN items i ON i.orders = o.id GROUP BY c.region",
}


def database(rows: bool) -> ec.Database:
    db = ec.connect()
    db.execute(SCHEMA)
    if rows:
        db.table("region").insert([(i, f"r{i % 7}") for i in range(300)])
        db.table("customer").insert([(i, i % 300, "abc"[i % 3]) for i in range(400)])
        db.table("orders").insert([(i, i % 400, i, None) for i in range(500)])
        db.table("items").insert([(i % 500, i % 9, 2, 3) for i in range(1200)])
    return db


def of(db: ec.Database) -> tuple[object, Design]:
    maintenance = db._session.maintenance
    return maintenance.catalog, maintenance.design


def fresh(db: ec.Database) -> Design:
    catalog, design = of(db)
    return compile_all(
        catalog,  # type: ignore[arg-type]
        Design(unbounded=design.unbounded, statistics=design.statistics),
        design.refused,
    )[1]


@pytest.mark.parametrize("rows", [False, True])
def test_view_by_view_is_all_at_once(rows: bool) -> None:
    db = database(rows)
    for name, text in VIEWS.items():
        db.execute(f"CREATE VIEW {name} AS {text}")
        assert of(db)[1].program == fresh(db).program


def test_what_is_dropped_and_created_again_leaves_the_program_of_what_is_there() -> None:
    db = database(False)
    draw = random.Random(7)
    there: list[str] = []
    for _ in range(24):
        absent = [n for n in VIEWS if n not in there]
        if absent and (draw.random() < 0.6 or not there):
            name = draw.choice(absent)
            if name in ("named", "under") and "spend" not in there:
                continue
            db.execute(f"CREATE VIEW {name} AS {VIEWS[name]}")
            there.append(name)
        else:
            name = draw.choice(there)
            if name == "spend" and {"named", "under"} & set(there):
                continue
            db.execute(f"DROP VIEW {name}")
            there.remove(name)
        now, then = of(db)[1].program, fresh(db).program
        assert (now.views, now.states, now.relations, now.assumptions) == (
            then.views,
            then.states,
            then.relations,
            then.assumptions,
        )
        assert {n: len(rules) for n, rules in now.triggers.items()} == {
            n: len(rules) for n, rules in then.triggers.items()
        }


def test_a_changed_table_is_compiled_again() -> None:
    db = database(False)
    for name, text in VIEWS.items():
        db.execute(f"CREATE VIEW {name} AS {text}")
    db.execute("ALTER TABLE items ADD COLUMN note STRING")
    assert of(db)[1].program == fresh(db).program
    db.execute("CREATE OR REPLACE VIEW spend AS SELECT region, COUNT(*) AS s FROM customer GROUP BY region")
    assert of(db)[1].program.views["named"] == fresh(db).program.views["named"]


def test_an_order_of_parents_that_has_changed_is_asked_again() -> None:
    """Which of two tables that refer to each other comes first is decided by the first view that asks."""
    db = ec.connect()
    db.execute("CREATE TABLE b (id BIGINT PRIMARY KEY, a BIGINT, y INT)")
    db.execute("CREATE TABLE a (id BIGINT PRIMARY KEY, b BIGINT NOT NULL REFERENCES b (id), x INT)")
    db.execute("CREATE OR REPLACE TABLE b (id BIGINT PRIMARY KEY, a BIGINT REFERENCES a (id), y INT)")
    db.execute("CREATE VIEW first AS SELECT a.id, b.y FROM a JOIN b ON a.b = b.id")
    db.execute("CREATE VIEW second AS SELECT b.id, a.x FROM b JOIN a ON b.a = a.id")
    assert of(db)[1].program == fresh(db).program
    db.execute("DROP VIEW first")
    assert of(db)[1].program.assumptions == fresh(db).program.assumptions


def test_a_new_view_derives_its_own_rules_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    derived: list[str] = []
    rules_for = compiling.rules_for

    def noted(a: object, states: object, into: str) -> object:
        derived.append(into)
        return rules_for(a, states, into)  # type: ignore[arg-type]

    monkeypatch.setattr(compiling, "rules_for", noted)
    db = database(True)
    counts = []
    for i in range(12):
        derived.clear()
        db.execute(
            f"CREATE VIEW v{i} AS SELECT part, SUM(price * {i}) AS p FROM items WHERE n > {i} GROUP BY part"
        )
        counts.append(len(derived))
    assert counts == [counts[0]] * 12
