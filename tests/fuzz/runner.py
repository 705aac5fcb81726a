"""Runs campaigns for a time: who is next, on which process, and what came of it.

Two processes run the campaigns that need no Spark; a third has a Spark session and runs the others. The campaign that has used
least of its share of the time is next. Seeds go up by one from the first; scenario `n` of a campaign has the seed `first + n`
whichever process runs it, so that a run can be repeated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from tests.fuzz.campaign import Campaign
from tests.fuzz.found import FOUND, save
from tests.fuzz.matrix.cells import count_blocks
from tests.fuzz.report import Report
from tests.fuzz.roster import SHARES
from tests.fuzz.workers import Worker

PROCESSES = 2
GRACE = 60.0
"""Seconds after the end for which scenarios that have begun may go on."""
WHOLE = 600.0
"""A run of so many seconds draws every cell of the matrix."""
MOST_SAVED = 5
"""So many differences of one campaign are written down; they often have one cause."""


@dataclass
class Turn:
    """A campaign in a run: the time that it used, and the seed that is next."""

    name: str
    share: float
    seed: int
    left: int | None
    seconds: float = 0.0
    running: int = 0
    least: int = 0
    """So many scenarios make the campaign complete; a long run does them, whatever its share."""
    given: int = 0

    def is_behind(self, elapsed: float) -> bool:
        """Whether it would not become complete if it went on like this; `elapsed` is a part of the time of the run."""
        return self.given < min(self.least, self.least * elapsed * 1.2)

    def used(self) -> float:
        # A scenario that runs counts a little, so that two processes do not pick the same campaign at the start.
        return (self.seconds + 0.1 * self.running) / self.share


@dataclass
class Run:
    """One run. `scenarios`: how many of each campaign at most, or None."""

    campaigns: Sequence[Campaign]
    first_seed: int
    seconds: float
    scenarios: int | None = None
    folder: Path = FOUND
    console: Console = field(default_factory=Console)
    processes: int = PROCESSES
    report: Report = field(default_factory=Report)
    interrupted: bool = False

    def __call__(self) -> Report:
        turns = {
            c.name: Turn(c.name, SHARES.get(c.name, 1.0), self.first_seed, self.scenarios)
            for c in self.campaigns
        }
        if self.seconds >= WHOLE and "matrix" in turns:
            turns["matrix"].least = count_blocks()
        here = [turns[c.name] for c in self.campaigns if not c.needs_spark]
        there = [turns[c.name] for c in self.campaigns if c.needs_spark]
        pools = [(Worker(False), here) for _ in range(self.processes if here else 0)]
        pools += [(Worker(True), there)] if there else []
        try:
            with self.progress():
                self.run(pools, turns)
        except KeyboardInterrupt:
            self.interrupted = True
            for worker, _ in pools:
                worker.stop()
        finally:
            finish_all([worker for worker, _ in pools])
        return self.report

    def run(self, pools: list[tuple[Worker, list[Turn]]], turns: dict[str, Turn]) -> None:
        end = monotonic() + self.seconds
        for worker, choices in pools:
            give(worker, choices, end, self.seconds)
        while busy := [worker for worker, _ in pools if worker.task is not None]:
            wait([w.connection for w in busy], timeout=0.5)
            for worker, choices in pools:
                if worker.task is None or (outcome := worker.outcome()) is None:
                    continue
                turn = turns[outcome.campaign]
                turn.seconds += outcome.seconds
                turn.running -= 1
                self.report.add(outcome)
                if outcome.message:
                    self.tell(outcome.campaign, outcome.seed)
                give(worker, choices, end, self.seconds)
            if monotonic() > end + GRACE:
                break  # what still runs is stopped: it counts for nothing
            self.show()

    def tell(self, name: str, seed: int) -> None:
        """Saves the newest difference and says where."""
        outcome = self.report.differences[-1]
        self.console.print(f"[red]difference[/red] in {name}, seed {seed}", highlight=False)
        self.console.print(outcome.message, markup=False, highlight=False)
        if sum(d.campaign == name for d in self.report.differences) <= MOST_SAVED:
            path = save(outcome, self.folder)
            self.console.print(f"saved as {path}", markup=False, highlight=False)

    # Progress

    @contextmanager
    def progress(self) -> Iterator[None]:
        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            console=self.console,
            transient=True,
        )
        with bar:
            self.task = bar.add_task("starting", total=self.seconds)
            self.bar = bar
            self.began = monotonic()
            yield

    def show(self) -> None:
        done = min(monotonic() - self.began, self.seconds)
        self.bar.update(self.task, completed=done, description=self.report.line())


def finish_all(workers: Sequence[Worker]) -> None:
    """Ends all processes; a second Ctrl-C ends them at once."""
    try:
        for worker in workers:
            worker.finish()
    except KeyboardInterrupt:
        for worker in workers:
            worker.stop()


def give(worker: Worker, choices: list[Turn], end: float, seconds: float = 1.0) -> None:
    """Starts the next scenario on the process, if there is time for one. The run takes so many seconds."""
    open_turns = [t for t in choices if t.left is None or t.left > 0]
    left = end - monotonic()
    if left <= 0 or not open_turns:
        return
    behind = [t for t in open_turns if t.is_behind(1 - left / seconds)]
    turn = min(behind or open_turns, key=Turn.used)
    turn.given += 1
    worker.start(turn.name, turn.seed)
    turn.seed += 1
    turn.running += 1
    if turn.left is not None:
        turn.left -= 1
