"""What is left to Spark's SQL, and why the rest is not. No Spark runs here."""

from __future__ import annotations

import pytest

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import view_order
from evercurrent.definitions.reading import add_definition
from evercurrent.design.compile import Design, compile_all
from evercurrent.frontend.sql.parse import parse_script
from evercurrent.frontend.sql.spark_text import total_order
from evercurrent.warehouse.planning.experience import after
from evercurrent.warehouse.planning.sql_equivalence import Saying, sayings

TABLES = """
CREATE TABLE o (id BIGINT PRIMARY KEY, cust BIGINT, total DECIMAL(9,2), x DOUBLE);
CREATE TABLE e (a INT, b INT)
"""


def said(**views: str) -> dict[str, Saying]:
    catalog = Catalog()
    for text in parse_script(TABLES):
        catalog = add_definition(catalog, {"kind": "table", "name": "", "text": text})
    for name, query in views.items():
        text = f"CREATE VIEW {name} AS {query}"
        catalog = add_definition(catalog, {"kind": "view", "name": name, "text": text, "policy": "full"})
    catalog, design = compile_all(catalog, Design(), full=False)
    return sayings(view_order(catalog), design, catalog)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT cust, SUM(total) AS s, AVG(total) AS a, COUNT(*) AS n, MIN(id) AS m FROM o GROUP BY cust",
        "SELECT id, RANK() OVER (PARTITION BY cust ORDER BY total) AS r FROM o",
        "SELECT id, ROW_NUMBER() OVER (PARTITION BY cust ORDER BY total, id) AS r FROM o",
        "SELECT id, SUM(total) OVER (PARTITION BY cust ORDER BY total) AS r FROM o",
        "SELECT id, LAG(total) OVER (PARTITION BY cust ORDER BY id) AS r FROM o",
        "SELECT id, x * 2 AS y FROM o ORDER BY x LIMIT 5",
        "SELECT DISTINCT a FROM e WHERE NOT EXISTS (SELECT 1 FROM o WHERE o.id = e.b)",
    ],
)
def test_what_depends_on_no_order_is_left_to_spark(query: str) -> None:
    assert said(v=query)["v"].text is not None


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT SUM(x) AS s FROM o", "sum may depend on the order"),
        ("SELECT AVG(id) AS s FROM o", "avg may depend on the order"),
        ("SELECT COLLECT_LIST(id) AS s FROM o", "collect_list may depend on the order"),
        (
            "SELECT ROW_NUMBER() OVER (ORDER BY cust) AS r FROM o",
            "row_number may depend on the order of ties",
        ),
        ("SELECT LAG(id) OVER (ORDER BY cust) AS r FROM o", "lag may depend on the order of ties"),
        ("SELECT SIN(x) AS r FROM o", "sin may differ in the last bit"),
        ("SELECT a FROM (SELECT * FROM e LIMIT 3)", "columns it does not name"),
        ("SELECT cust, COUNT(*) AS n FROM o GROUP BY CUBE (cust)", "no total row over no rows"),
        ("SELECT cust, COUNT(*) AS n FROM o GROUP BY cust WITH ROLLUP", "no total row over no rows"),
        (
            "SELECT a, n FROM (SELECT a, COUNT(*) AS n FROM e GROUP BY GROUPING SETS ((a), ()))",
            "no total row",
        ),
        (
            "WITH RECURSIVE r (a, b) AS (SELECT a, b FROM e UNION SELECT r.a, e.b FROM r JOIN e ON r.b = e.a) "
            "SELECT a FROM r",
            "recursion has limits",
        ),
    ],
)
def test_what_spark_might_answer_otherwise_is_not(query: str, reason: str) -> None:
    found = said(v=query)["v"]
    assert found.text is None and reason in found.reason


def test_a_view_over_one_that_cannot_be_said_cannot_either() -> None:
    found = said(v="SELECT SUM(x) AS s FROM o", w="SELECT s FROM v WHERE s > 0")
    assert found["w"].text is None and "it reads v" in found["w"].reason


def test_ties_are_settled_wherever_rows_are_cut_off() -> None:
    assert total_order("SELECT a FROM e ORDER BY b", 1) == "SELECT a FROM e"  # how it is read
    assert total_order("SELECT * FROM e LIMIT 2", 2) == "SELECT * FROM e ORDER BY 1, 2 LIMIT 2"
    inner = "SELECT a FROM (SELECT a, b FROM e ORDER BY b LIMIT 3) AS t"
    found = total_order(inner, 1)
    assert found is not None and "ORDER BY b, 1, 2 LIMIT 3" in found


def test_ways_that_are_not_taken_forget() -> None:
    factors = after({"sql\0r": 4.0, "rules\0r": 1.0, "sql\0s": 4.0}, "r", "rules", 1.0, 4.0)
    assert factors["rules\0r"] == 2.0 and 1.0 < factors["sql\0r"] < 4.0 and factors["sql\0s"] == 4.0
    assert after({}, "r", "fill", 0.01, 0.1) == {}, "too short to say anything"
