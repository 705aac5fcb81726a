"""Golden files: the normal form, plan, program and generated source of a dozen telling views.

A change of the compiler shows here as a difference that a reader can judge. `pytest tests/golden --update-golden` writes
the files anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import evercurrent as ec

FILES = Path(__file__).parent / "files"

SCHEMA = """
CREATE TABLE customers (id BIGINT NOT NULL PRIMARY KEY, name STRING NOT NULL, city STRING);
CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, customer BIGINT NOT NULL, day DATE NOT NULL, total DECIMAL(12,2),
  FOREIGN KEY (customer) REFERENCES customers (id));
CREATE TABLE items (order_id BIGINT NOT NULL, product STRING, quantity INT NOT NULL, price DECIMAL(8,2) NOT NULL,
  FOREIGN KEY (order_id) REFERENCES orders (id));
CREATE TABLE edge (src INT, dst INT);
CREATE TABLE notes (id INT, tags ARRAY<STRING>)
"""

VIEWS = {
    "filter": "SELECT id, total * 2 AS twice FROM orders WHERE total > 10 AND day >= DATE '2024-01-01'",
    "aggregate": "SELECT customer, SUM(total) AS total, COUNT(*) AS n, AVG(total) AS mean FROM orders GROUP BY customer",
    "join_aggregate": "SELECT c.city, SUM(i.quantity * i.price) AS revenue FROM customers c "
    "JOIN orders o ON o.customer = c.id JOIN items i ON i.order_id = o.id GROUP BY c.city",
    "self_join": "SELECT a.src, b.dst FROM edge a JOIN edge b ON a.dst = b.src",
    "outer_join": "SELECT c.name, o.total FROM customers c LEFT JOIN orders o ON o.customer = c.id AND o.total > 5",
    "anti_join": "SELECT name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)",
    "correlated": "SELECT o.id FROM orders o WHERE o.total > "
    "(SELECT AVG(p.total) FROM orders p WHERE p.customer = o.customer)",
    "extremes": "SELECT product, MIN(price) AS low, MAX(price) AS high, COUNT(DISTINCT order_id) AS orders "
    "FROM items GROUP BY product",
    "top": "SELECT id, total FROM orders ORDER BY total DESC, id LIMIT 10",
    "window": "SELECT id, customer, row_number() OVER (PARTITION BY customer ORDER BY day DESC, id) AS n FROM orders",
    "set_operation": "SELECT src FROM edge EXCEPT ALL SELECT dst FROM edge",
    "recursion": "WITH RECURSIVE p(src, dst) AS (SELECT src, dst FROM edge UNION "
    "SELECT p.src, e.dst FROM p JOIN edge e ON p.dst = e.src) SELECT src, dst FROM p",
    "unnest": "SELECT tag, COUNT(*) AS n FROM notes LATERAL VIEW explode(tags) t AS tag GROUP BY tag",
    "grouping_sets": "SELECT product, order_id, SUM(quantity) AS n FROM items GROUP BY ROLLUP (product, order_id)",
}

STAGES = ("normal", "optimised", "program", "source")


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("view", VIEWS)
def test_golden(view: str, stage: str, request: pytest.FixtureRequest) -> None:
    db = ec.connect()
    db.execute(SCHEMA)
    db.execute(f"CREATE VIEW {view} AS {VIEWS[view]}")
    text = str(db.view(view).explain(stage)).rstrip() + "\n"
    path = FILES / f"{view}.{stage}.txt"
    if request.config.getoption("--update-golden"):
        FILES.mkdir(exist_ok=True)
        path.write_text(text)
    assert path.exists(), f"no golden file: run pytest tests/golden --update-golden and read {path.name}"
    assert text == path.read_text(), f"{path.name} differs: judge the change, then --update-golden"


def test_no_file_is_left_over() -> None:
    expected = {f"{view}.{stage}.txt" for view in VIEWS for stage in STAGES}
    assert {p.name for p in FILES.glob("*.txt")} == expected


def test_generated_text_is_the_same_every_time() -> None:
    def texts() -> list[str]:
        db = ec.connect()
        db.execute(SCHEMA)
        for view, query in VIEWS.items():
            db.execute(f"CREATE VIEW {view} AS {query}")
        return [str(db.view(view).explain(stage)) for view in VIEWS for stage in STAGES]

    assert texts() == texts()
