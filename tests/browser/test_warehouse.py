"""The studio over a warehouse on Spark, started by its command: graph, rows, why, runs, console, and another driver that writes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evercurrent.engine.spark import engine
from evercurrent.warehouse.database import Warehouse
from tests.browser.test_studio import DEFINITIONS, wait_for_rows

pytestmark = pytest.mark.spark

PATIENCE = 300.0
"""Seconds in which the command must have said where the page is: it starts Spark."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A warehouse with a few batches. Batches of this size need no Spark; the command has a session of its own."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(engine, "private", lambda spark: None)
        found = tmp_path_factory.mktemp("studio") / "warehouse"
        with Warehouse(None, found, progress=False) as db:
            db.execute(DEFINITIONS)
            db.table("customers").insert([(1, "Ann", "York"), (2, "Bob", "Leeds"), (3, "Cid", "York")])
            db.table("orders").insert([(1, 1, "10"), (2, 1, "5.50"), (3, 2, "200"), (4, 3, "7")])
            db.table("orders").insert((5, 2, "300"))
        yield found


@pytest.fixture(scope="module")
def address(browser: Any, path: Path) -> Iterator[str]:
    """Where `evercurrent studio --warehouse` says that its page is."""
    command = [sys.executable, "-m", "evercurrent.cli.main", "studio", "--warehouse", str(path)]
    process = subprocess.Popen(
        [*command, "--no-browser", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    giving_up = threading.Timer(PATIENCE, process.kill)
    giving_up.start()
    said = ""
    try:
        for line in process.stdout:
            said += line
            found = re.search(r"http://[\d.:]+/studio/", said)
            if found is not None:
                threading.Thread(target=process.stdout.read, daemon=True).start()  # so that it never waits
                yield found[0]
                break
        else:
            pytest.fail(said)
    finally:
        giving_up.cancel()
        process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture
def opened(address: str, page: Any) -> Iterator[Callable[[str], None]]:
    """Goes to a place of the page."""
    yield lambda place: page.goto(f"{address}#{place}")
    page.goto("about:blank")


def test_the_graph(opened: Callable[[str], None], page: Any, shoot: Callable[[str], None]) -> None:
    opened("/graph")
    page.wait_for_selector(".node")
    shown = {n.get_attribute("data-id") for n in page.locator(".node").all()}
    assert {"table:customers", "table:orders", "view:spend", "view:by_city", "view:large"} <= shown
    assert any(node.startswith("state:") for node in shown)
    assert "5 rows" in page.locator('[data-id="table:orders"]').text_content()
    page.click('[data-id="view:spend"]')
    assert page.locator('[data-test="panel"] h2').inner_text() == "spend"
    shoot("warehouse-graph")


def test_rows_and_why(opened: Callable[[str], None], page: Any, shoot: Callable[[str], None]) -> None:
    opened("/view/spend")
    ann, bob = ["1", "Ann", "York", "15.50"], ["2", "Bob", "Leeds", "500.00"]
    cid = ["3", "Cid", "York", "7.00"]
    wait_for_rows(page, [ann, bob, cid])
    assert page.locator('[data-test="count"]').inner_text() == "3 rows"
    page.get_by_label("Filter").fill("york total>10")
    wait_for_rows(page, [ann])
    page.click(".row")
    why = page.locator('[data-test="why"]')
    why.get_by_text("orders", exact=True).wait_for()
    assert why.get_by_text("10.00").is_visible() and why.get_by_text("5.50", exact=True).is_visible()
    shoot("warehouse-why")


def test_runs(opened: Callable[[str], None], page: Any, shoot: Callable[[str], None]) -> None:
    opened("/runs")
    page.wait_for_selector(".uplot canvas")
    assert page.locator(".uplot canvas").count() == 3
    page.locator('[data-test="runs"] .list tbody tr', has_text="orders 4").click()
    run = page.locator('[data-test="run"]')
    assert {"spend", "by_city", "large"} == set(run.locator("tbody tr td:first-child").all_inner_texts())
    assert "Estimate" in run.inner_text() and run.locator("tbody .strategy").count() == 3
    shoot("warehouse-runs")


def test_the_console(opened: Callable[[str], None], page: Any, shoot: Callable[[str], None]) -> None:
    """Queries that no view holds run on Spark."""
    opened("/console")
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.type("SELECT c.name, count(*) AS n FROM orders o JOIN customers c ON c.id = o.customer\n")
    page.keyboard.type("GROUP BY c.name ORDER BY c.name")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector('[data-test="result"]', timeout=60_000)
    cells = page.locator('[data-test="result"] tbody td').all_inner_texts()
    assert cells == ["Ann", "2", "Bob", "2", "Cid", "1"]
    shoot("warehouse-console")
    page.click(".cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.type("SELECT nam FROM customers")
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector('[data-test="problem"]')
    assert page.locator(".fault").inner_text() == "nam"


def test_what_another_driver_writes_is_seen(
    opened: Callable[[str], None], page: Any, path: Path, shoot: Callable[[str], None]
) -> None:
    """Its rows appear in the open page, and the slider goes back to before them."""
    opened("/view/large")
    before = [["3", "2", "200.00"], ["5", "2", "300.00"]]
    wait_for_rows(page, before)
    with Warehouse(None, path, progress=False) as other:
        version = other.version
        other.table("orders").insert((6, 3, "400"))
    wait_for_rows(page, [*before, ["6", "3", "400.00"]])
    page.wait_for_function("() => !document.querySelector('[aria-label=Version]').disabled")
    page.get_by_label("Version").fill(str(version))
    wait_for_rows(page, before)
    shoot("warehouse-earlier")
    page.click('[data-test="live"]')
    wait_for_rows(page, [*before, ["6", "3", "400.00"]])
