"""The studio in a real browser: what is seen, and what happens when something is clicked."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pytest

import evercurrent as ec
from evercurrent.engine.spark import engine
from evercurrent.serve.server import Server, serve
from evercurrent.warehouse.database import Warehouse

DEFINITIONS = """
CREATE TABLE customers (id BIGINT PRIMARY KEY, name STRING NOT NULL, city STRING NOT NULL);
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT NOT NULL REFERENCES customers (id), total DECIMAL(12,2));
CREATE VIEW spend AS
SELECT c.id, c.name, c.city, SUM(o.total) AS total FROM orders o JOIN customers c ON c.id = o.customer
GROUP BY c.id, c.name, c.city;
CREATE VIEW by_city AS SELECT city, SUM(total) AS total FROM spend GROUP BY city;
CREATE VIEW large AS SELECT id, customer, total FROM orders WHERE total > 100;
"""


@pytest.fixture
def db() -> ec.Database:
    found = ec.connect()
    found.execute(DEFINITIONS)
    found.table("customers").insert([(1, "Ann", "York"), (2, "Bob", "Leeds"), (3, "Cid", "York")])
    found.table("orders").insert([(1, 1, "10"), (2, 1, "5.50"), (3, 2, "200"), (4, 3, "7")])
    return found


@pytest.fixture
def server(db: ec.Database, page: Any) -> Iterator[Server]:
    with db.studio(port=0, open=False) as running:
        yield running
        page.goto("about:blank")  # streams end before the server does


def rows_of(page: Any) -> list[list[str]]:
    return [r.locator("> span").all_inner_texts() for r in page.locator(".row:not(.deleted)").all()]


def wait_for_rows(page: Any, wanted: list[list[str]]) -> None:
    texts = sorted("|".join(row) for row in wanted)
    page.wait_for_function(
        """wanted => {
            const rows = [...document.querySelectorAll('.row:not(.deleted)')];
            const texts = rows.map(r => [...r.children].map(c => c.textContent).join('|')).sort();
            return JSON.stringify(texts) === JSON.stringify(wanted);
        }""",
        arg=texts,
    )


def test_the_graph_shows_what_there_is_and_a_panel_that_stays(
    db: ec.Database, server: Server, page: Any
) -> None:
    page.goto(server.page)
    page.wait_for_selector(".node")
    shown = {n.get_attribute("data-id") for n in page.locator(".node").all()}
    assert {"table:customers", "table:orders", "view:spend", "view:by_city", "view:large"} <= shown
    assert any(node.startswith("state:") for node in shown)
    assert "4 rows" in page.locator('[data-id="table:orders"]').text_content()
    page.click('[data-id="view:spend"]')
    panel = page.locator('[data-test="panel"]')
    assert panel.locator("h2").inner_text() == "spend"
    page.mouse.move(5, 5)
    assert panel.is_visible()
    # The panel takes room from the graph; everything stays in sight, as long as nobody has moved it.
    in_sight = """() => {
        const edge = document.querySelector('[data-test=panel]').getBoundingClientRect().left;
        const boxes = [...document.querySelectorAll('.node .box')].map(n => n.getBoundingClientRect());
        return boxes.every(box => box.left >= 76 && box.right <= edge);
    }"""
    page.wait_for_function(in_sight)
    page.keyboard.press("Escape")
    page.click('[data-id="view:by_city"]')  # at the edge
    panel.get_by_role("heading", name="by_city").wait_for()
    page.wait_for_function(in_sight)
    page.click('[data-id="view:spend"]')
    panel.get_by_role("heading", name="spend").wait_for()
    page.click('[data-test="states"]')
    page.wait_for_function("() => !document.querySelector('[data-id^=\"state:\"]')")
    assert (
        page.locator(".edge").count() == 4
    )  # orders and customers to spend, spend to by_city, orders to large
    panel.get_by_role("button", name="Open view").click()
    page.wait_for_selector('[data-test="rows"]')
    assert page.url.endswith("#/view/spend")


def test_changes_flow_through_the_graph(db: ec.Database, server: Server, page: Any) -> None:
    page.goto(server.page)
    page.wait_for_selector(".node")
    page.wait_for_selector(".alive:not(.off)")
    page.wait_for_timeout(600)  # the page has subscribed
    db.table("orders").insert((5, 2, "300"))
    page.wait_for_selector(".dot", state="attached")
    page.wait_for_selector('[data-id="view:large"] .pulse', state="attached")
    page.wait_for_function(
        "() => document.querySelector('[data-id=\"table:orders\"]').textContent.includes('5 rows')"
    )


def test_rows_are_live(db: ec.Database, server: Server, page: Any) -> None:
    page.goto(f"{server.page}#/view/spend")
    ann, bob = ["1", "Ann", "York", "15.50"], ["2", "Bob", "Leeds", "200.00"]
    cid = ["3", "Cid", "York", "7.00"]
    wait_for_rows(page, [ann, bob, cid])
    page.wait_for_timeout(300)  # the stream of changes is open
    db.table("orders").update({"id": 3}, total="250")
    page.wait_for_selector(".row.updated")
    assert page.locator(".row.updated .new").all_inner_texts() == ["250.00"]
    wait_for_rows(page, [ann, ["2", "Bob", "Leeds", "250.00"], cid])
    db.table("orders").delete({"id": 4})
    page.wait_for_selector(".row.deleted")
    wait_for_rows(page, [ann, ["2", "Bob", "Leeds", "250.00"]])
    db.table("orders").insert((9, 3, "1"))
    page.wait_for_selector(".row.inserted")
    wait_for_rows(page, [ann, ["2", "Bob", "Leeds", "250.00"], ["3", "Cid", "York", "1.00"]])


def test_rows_are_filtered_and_sorted(db: ec.Database, server: Server, page: Any) -> None:
    page.goto(f"{server.page}#/view/spend")
    page.wait_for_selector(".row")
    page.get_by_label("Filter").fill("york total>10")
    wait_for_rows(page, [["1", "Ann", "York", "15.50"]])
    page.get_by_label("Filter").fill("")
    page.get_by_role("button", name=re.compile("^total")).click()
    page.wait_for_function("() => document.querySelector('.row')?.textContent.includes('Cid')")
    assert [r[1] for r in rows_of(page)] == ["Cid", "Ann", "Bob"]
    page.get_by_role("button", name=re.compile("^total")).click()
    page.wait_for_function("() => document.querySelector('.row')?.textContent.includes('Bob')")
    assert [r[1] for r in rows_of(page)] == ["Bob", "Ann", "Cid"]


def test_why_is_a_tree_that_opens(db: ec.Database, server: Server, page: Any) -> None:
    page.goto(f"{server.page}#/view/by_city")
    page.get_by_label("Filter").fill("york")
    page.wait_for_function("() => document.querySelectorAll('.row').length === 1")
    page.click(".row")
    why = page.locator('[data-test="why"]')
    why.get_by_text("spend", exact=True).wait_for()
    assert why.locator(".derived.root").inner_text().split() == ["city", "York", "total", "22.50"]
    names = [text.split() for text in why.locator(".derived.opens").all_inner_texts()]
    assert sorted(n[-1] for n in names) == ["15.50", "7.00"]
    why.locator(".derived.opens", has_text="Ann").click()
    why.get_by_text("orders", exact=True).wait_for()
    assert why.get_by_text("10.00").is_visible() and why.get_by_text("5.50", exact=True).is_visible()
    page.keyboard.press("Escape")


def test_the_slider_goes_back_in_time(db: ec.Database, server: Server, page: Any) -> None:
    page.goto(f"{server.page}#/view/large")
    wait_for_rows(page, [["3", "2", "200.00"]])
    page.wait_for_timeout(300)
    before = db.version
    db.table("orders").insert((10, 1, "500"))
    db.table("orders").delete({"id": 3})
    wait_for_rows(page, [["10", "1", "500.00"]])
    slider = page.get_by_label("Version")
    slider.dispatch_event("pointerdown")
    page.wait_for_function("() => !document.querySelector('[aria-label=Version]').disabled")
    for version, rows in (
        (before + 1, [["3", "2", "200.00"], ["10", "1", "500.00"]]),
        (before, [["3", "2", "200.00"]]),
    ):
        slider.fill(str(version))
        wait_for_rows(page, rows)
    page.click('[data-test="live"]')
    wait_for_rows(page, [["10", "1", "500.00"]])
    page.get_by_role("tab", name="History").click()
    page.locator(".versions tbody tr").first.click()
    page.wait_for_selector(".delta tbody tr.minus")
    assert page.locator(".delta tbody tr").all_inner_texts() == ["−\t3\t2\t200.00"]


def test_a_view_shows_its_definition_and_all_stages(db: ec.Database, server: Server, page: Any) -> None:
    page.goto(f"{server.page}#/view/spend/definition")
    page.wait_for_selector(".definition .code")
    assert "CREATE VIEW spend" in page.locator(".definition .code").inner_text()
    assert "groups" in page.locator(".definition").inner_text()  # why a state is kept
    page.get_by_role("tab", name="How it is kept").click()
    for stage in ("calculus", "events", "normal", "algebra", "source"):
        page.get_by_role("button", name=stage).click()
    page.wait_for_function(
        "() => [...document.querySelectorAll('.stage')].every(s => s.querySelector('.code')?.textContent)"
    )
    texts = {
        s.locator("h3").inner_text(): s.locator(".code").inner_text() for s in page.locator(".stage").all()
    }
    assert len(texts) == 9 and "def " in texts["source"] and "Join" in texts["optimised"]
    page.locator(".stage .w.link", has_text=re.compile("^customers$")).first.click()
    page.wait_for_selector('[data-test="rows"]')
    assert page.url.endswith("#/table/customers")


def test_runs_are_drawn_and_opened(db: ec.Database, server: Server, page: Any) -> None:
    page.goto(f"{server.page}#/runs")
    page.wait_for_selector(".alive:not(.off)")
    page.wait_for_timeout(600)
    for i in range(5):
        db.table("orders").insert((20 + i, 1, "300"))
    page.wait_for_function("() => document.querySelectorAll('[data-test=runs] .list tbody tr').length >= 5")
    assert page.locator(".uplot canvas").count() == 2
    page.locator('[data-test="runs"] .list tbody tr').first.click()
    run = page.locator('[data-test="run"]')
    assert f"Version {db.version}" in run.inner_text()
    assert {"spend", "by_city", "large"} == set(run.locator("tbody tr td:first-child").all_inner_texts())


def test_the_console_runs_completes_and_points_at_mistakes(
    db: ec.Database, server: Server, page: Any
) -> None:
    page.goto(f"{server.page}#/console")
    page.locator('[data-test="beginnings"] button').first.click()
    page.wait_for_selector('[data-test="result"]')
    assert page.locator('[data-test="result"] tbody tr').count() == 3
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.type("SELECT name FROM custo")
    page.wait_for_selector(".cm-tooltip-autocomplete")
    page.wait_for_timeout(150)  # the list takes no key at once
    page.keyboard.press("Enter")
    assert "customers" in page.locator(".cm-content").inner_text()
    page.keyboard.type(" ORDER BY nam")
    page.wait_for_selector('.cm-tooltip-autocomplete li:has-text("name")')
    page.wait_for_timeout(150)
    page.keyboard.press("Enter")
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => document.querySelectorAll('[data-test=result] th').length === 1")
    assert page.locator('[data-test="result"] tbody td').all_inner_texts() == ["Ann", "Bob", "Cid"]
    page.keyboard.press("Control+a")
    page.keyboard.type("SELECT name,\ncitty FROM customers")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector('[data-test="problem"]')
    assert "^^^^^" in page.locator('[data-test="problem"] pre').inner_text()
    assert page.locator(".fault").inner_text() == "citty"
    page.get_by_role("radio", name="OQL").click()
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.type("select struct(n: c.name) from c in customers where c.city = 'York'")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    page.wait_for_function("() => document.querySelector('[data-test=result] th')?.textContent === 'n'")
    assert sorted(page.locator('[data-test="result"] tbody td').all_inner_texts()) == ["Ann", "Cid"]


def test_a_new_view_appears_in_the_graph(db: ec.Database, server: Server, page: Any) -> None:
    page.goto(server.page)
    page.wait_for_selector(".node")
    page.wait_for_timeout(600)
    db.execute("CREATE VIEW cheap AS SELECT id FROM orders WHERE total < 6")
    page.wait_for_selector('[data-id="view:cheap"]')


def test_a_database_without_definitions_says_what_to_do(page: Any) -> None:
    with ec.connect().studio(port=0, open=False) as server:
        for place in ("graph", "relations"):
            page.goto(f"{server.page}#/{place}")
            page.get_by_role("heading", name="Nothing is defined yet").wait_for()
        page.get_by_role("link", name="console", exact=True).click()
        page.wait_for_selector('[data-test="beginnings"] button')
        page.goto("about:blank")


def test_keys_and_themes(db: ec.Database, server: Server, page: Any) -> None:
    page.goto(server.page)
    page.wait_for_selector(".node")
    page.keyboard.press("/")
    page.keyboard.type("bycity")
    page.wait_for_selector(".palette li.on")
    page.keyboard.press("Enter")
    page.wait_for_selector('[data-test="rows"]')
    assert page.url.endswith("#/view/by_city")
    page.wait_for_selector(".row")
    page.locator('[data-test="rows"]').focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("w")
    page.wait_for_selector('[data-test="why"] .tree')
    page.keyboard.press("Escape")
    page.wait_for_function("() => !document.querySelector('[data-test=why]')")
    page.keyboard.press("g")
    page.wait_for_selector('[data-test="graph"]')
    page.keyboard.press("ArrowRight")
    page.wait_for_selector(".node.chosen")
    for theme in ("light", "dark"):
        page.click('[data-test="theme"]')
        page.wait_for_function(f"() => document.documentElement.dataset.theme === '{theme}'")


def test_large_graphs_and_large_views_stay_quick(page: Any) -> None:
    """Five hundred nodes are drawn; of a million rows only those in sight are."""
    db = ec.connect()
    db.execute("CREATE TABLE numbers (id BIGINT PRIMARY KEY, n BIGINT NOT NULL)")
    db.execute("CREATE VIEW doubled AS SELECT id, n * 2 AS n FROM numbers")
    ids = range(1_000_000)
    db.table("numbers").insert(pyarrow.table({"id": ids, "n": [i % 1000 for i in ids]}))
    for i in range(320):
        db.execute(f"CREATE TABLE t{i} (id BIGINT PRIMARY KEY, g BIGINT, x BIGINT)")
    db.execute(";".join(f"CREATE VIEW v{i} AS SELECT g, SUM(x) AS x FROM t{i} GROUP BY g" for i in range(90)))
    with db.studio(port=0, open=False) as server:
        page.goto(f"{server.page}#/view/doubled")
        page.wait_for_selector(".row")
        assert page.locator('[data-test="count"]').inner_text() == "1,000,000 rows"
        assert page.locator(".row").count() < 60
        grid = page.locator('[data-test="rows"]')
        begin = time.monotonic()
        grid.evaluate("g => g.scrollTop = g.scrollHeight")
        page.wait_for_function("() => document.querySelector('.row')?.textContent.startsWith('9999')")
        assert time.monotonic() - begin < 3  # 0.2 s where nobody else uses the machine
        assert page.locator(".row").count() < 60
        page.get_by_label("Filter").fill("id=123456")
        page.wait_for_function("() => document.querySelectorAll('.row').length === 1")
        page.goto(f"{server.page}#/graph")
        page.wait_for_selector(".node")
        assert page.locator(".node").count() >= 500
        page.get_by_label("Find in the graph").fill("v77")
        page.keyboard.press("Enter")
        page.wait_for_selector('[data-test="panel"]')
        assert page.locator('[data-test="panel"] h2').inner_text() == "v77"
        page.goto("about:blank")


def test_a_warehouse_shows_its_runs(page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimate against actual, strategy and reason of every batch; batches of this size need no Spark."""
    monkeypatch.setattr(engine, "private", lambda spark: None)
    db = Warehouse(None, tmp_path / "warehouse", progress=False)
    db.execute(DEFINITIONS)
    db.table("customers").insert([(1, "Ann", "York"), (2, "Bob", "Leeds")])
    for i in range(6):
        db.table("orders").insert([(10 * i + j, 1 + j % 2, str(40 * j)) for j in range(4)])
    with serve(db, port=0) as server:
        page.goto(f"{server.page}#/runs")
        page.wait_for_selector(".uplot canvas")
        assert page.locator(".uplot canvas").count() == 3
        page.locator('[data-test="runs"] .list tbody tr').first.click()
        run = page.locator('[data-test="run"]').inner_text()
        assert "Estimate" in run and "spend" in run and "orders 4" in run
        page.goto(f"{server.page}#/view/spend")
        page.wait_for_function("() => document.querySelectorAll('.row').length === 2")
        assert (
            page.locator(".facts.line b").inner_text() == "2"
        )  # whatever the batches have left in its store
        page.goto(f"{server.page}#/view/large")
        page.wait_for_function("() => document.querySelectorAll('.row').length === 6")
        slider = page.get_by_label("Version")
        page.wait_for_function("() => !document.querySelector('[aria-label=Version]').disabled")
        slider.fill(str(db.version - 4))
        page.wait_for_function("() => document.querySelectorAll('.row').length === 2")
        page.goto("about:blank")
