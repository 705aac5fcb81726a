"""The frame itself: campaigns by name, seeds, shares of time, what hangs, what dies, what is saved."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from tests.fuzz import campaigns
from tests.fuzz.campaign import Tally
from tests.fuzz.found import save
from tests.fuzz.report import Report
from tests.fuzz.roster import CAMPAIGNS, campaign, is_written
from tests.fuzz.runner import Run, Turn, give
from tests.fuzz.workers import Outcome, Worker, run_one


def test_every_campaign_of_the_folder_is_listed() -> None:
    folder = Path(campaigns.__file__).parent
    written = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    listed = {name for name in CAMPAIGNS if is_written(name)}
    assert {name for name in written if hasattr_campaign(folder / f"{name}.py")} == listed


def hasattr_campaign(path: Path) -> bool:
    return "\nCAMPAIGN" in path.read_text()


def test_a_seed_repeats() -> None:
    one, two = run_one("plans", 5), run_one("plans", 5)
    assert one.tally == two.tally
    assert one.tally.transactions > 0
    assert not one.message


def quiet() -> Console:
    return Console(file=io.StringIO())


def test_a_run_counts_and_stops(tmp_path: Path) -> None:
    run = Run([campaign("plans")], 7, 30.0, scenarios=3, folder=tmp_path, console=quiet(), processes=1)
    report = run()
    assert report.by_campaign["plans"].scenarios == 3
    assert report.total().transactions == 3 * 40
    assert not report.differences
    assert not list(tmp_path.iterdir())


def test_the_campaign_that_used_least_of_its_share_is_next() -> None:
    started = []

    @dataclass
    class Noting:
        def start(self, name: str, seed: int) -> None:
            started.append((name, seed))

    turns = [Turn("a", 1.0, 10, None, seconds=4.0), Turn("b", 3.0, 20, 1, seconds=6.0)]
    for _ in range(2):
        give(Noting(), turns, float("inf"))  # type: ignore[arg-type]
    give(Noting(), turns, 0.0)  # type: ignore[arg-type]  # no time left
    assert started == [("b", 20), ("a", 10)]


def test_what_hangs_is_stopped_and_reported() -> None:
    worker = Worker(spark=False)
    worker.limit = 0.0
    worker.start("plans", 1)
    outcome = None
    while outcome is None:
        outcome = worker.outcome()
    assert (outcome.campaign, outcome.seed) == ("plans", 1)
    assert "no answer after" in outcome.message
    assert worker.process is None


def test_what_dies_is_reported() -> None:
    worker = Worker(spark=False)
    worker.start("plans", 1)
    worker.process.kill()
    worker.process.join()
    outcome = worker.outcome()
    while outcome is None:
        outcome = worker.outcome()
    assert "died" in outcome.message
    worker.finish()


def failing(case: str) -> Outcome:
    return Outcome("plans", 3, Tally(), 0.1, "it differs", case)


def test_a_script_that_fails_is_saved_as_it_is(tmp_path: Path) -> None:
    path = save(failing("assert 1 == 2\n"), tmp_path)
    assert path.name == "plans_3.py"
    assert path.read_text().endswith("assert 1 == 2\n")


@pytest.mark.parametrize("case", ["", "SELECT 1 FROM", "assert 1 == 1"])
def test_what_does_not_show_the_difference_is_saved_by_its_seed(tmp_path: Path, case: str) -> None:
    text = save(failing(case), tmp_path).read_text()
    assert text.endswith("replay('plans', 3)\n")


def test_a_report_adds_up() -> None:
    report = Report()
    report.add(failing("x"))
    report.add(Outcome("plans", 4, Tally(transactions=5, views=2), 0.2))
    assert report.total().scenarios == 2
    assert report.total().differences == 1
    assert "5 transactions, 2 views" in report.line()
    assert report.table().row_count == 2


def test_an_interrupt_ends_a_run_and_prints_its_table(tmp_path: Path) -> None:
    """Also where a shell has started it with interrupts ignored."""
    command = [
        sys.executable,
        "-u",
        "-m",
        "tests.fuzz",
        "--no-spark",
        "--campaign",
        "plans",
        "--minutes",
        "5",
    ]
    ignoring = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *command]
    with subprocess.Popen(
        ignoring,
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as run:
        assert run.stdout is not None
        assert "first seed" in run.stdout.readline()
        time.sleep(1)
        run.send_signal(signal.SIGINT)
        begin = time.monotonic()
        said, _ = run.communicate(timeout=60)
    assert time.monotonic() - begin < 30
    assert "Compared with independent oracles" in said and "interrupted" in said
