"""Interrupts and failing allocations, one or two in a transaction, at random lines of the package.

Every transaction is also run on a twin without faults. Afterwards:

- all tables, objects and views are exactly as before or exactly as on the twin, and every view is what its query returns;
- another thread can commit, so the lock is free;
- what the subscribers were notified of adds up to what their views hold, so each was notified exactly once or not at all;
- only the injected exception comes out, or an `EvercurrentError`;
- at the end, DuckDB says the same of the tables.

Subscribers that raise are faults too, and so are CHECKs, assertions and opaque functions that refuse a row of a transaction: it is then
as before, whatever else fails.
"""

from __future__ import annotations

import threading
import warnings
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import evercurrent as ec
from tests.duck import Duck, difference
from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.faulty_worlds import TABLES, VIEWS, Objects, Step, Tables, World
from tests.fuzz.injection import Faults, Interrupted
from tests.laws.chooser import Seeded

PATIENCE = 5.0


class Refused(Exception):
    """What a subscriber raises."""


def in_other_thread(commit: Callable[[], object]) -> str:
    """Commits something in another thread; returns what is wrong if that cannot be done."""
    problems: list[BaseException] = []

    def attempt() -> None:
        try:
            commit()
        except BaseException as problem:
            problems.append(problem)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    if thread.is_alive():
        return "the lock is held: another thread waits for ever"
    return f"another thread cannot commit: {problems[0]!r}" if problems else ""


class Listener:
    """A subscriber: notes what it is called with, and raises when it is told to."""

    def __init__(self, db: ec.Database, name: str) -> None:
        self.view = db.view(name)
        self.held: Counter[Any] = Counter(self.view.rows())
        self.calls: list[Any] = []
        self.raising: str | None = None
        self.view.subscribe(self.before, when="before")
        self.view.subscribe(self.after)

    def before(self, change: Any) -> None:
        if self.raising == "before":
            raise Refused

    def after(self, change: Any) -> None:
        self.calls.append(change)
        if self.raising == "after":
            raise Refused

    def agrees(self) -> bool:
        """Whether the calls so far add up to the rows of the view."""
        for change in self.calls:
            self.held.update(change.inserted)
            self.held.subtract(change.deleted)
        self.calls.clear()
        return +self.held == Counter(self.view.rows()) and min(self.held.values(), default=0) >= 0


@dataclass(frozen=True)
class FaultCampaign:
    name: str = "faults"
    needs_spark: bool = False
    transactions: int = 14

    def run(self, seed: int, tally: Tally) -> None:
        Scenario(seed, tally).run(self.transactions)


class Scenario:
    """A database that is interrupted, and its twin."""

    aim: str | None = None
    """A function that the commit calls shortly before it is decided: half of the faults come in the lines after that call."""

    def __init__(self, seed: int, tally: Tally, world: World | None = None) -> None:
        self.c = Seeded(seed)
        self.tally = tally
        self.world: World = world or (Objects(self.c) if self.c.chance(40) else Tables(self.c))
        self.db, self.twin = self.world.database(), self.world.database()
        self.script = [f"seed {seed}: {type(self.world).__name__}, views {self.world.chosen}"]
        self.listeners = []
        if isinstance(self.world, Tables) and self.c.chance(60):
            self.listeners = [Listener(self.db, name) for name in self.db.views[:2]]

    def run(self, transactions: int) -> None:
        self._check("without any fault", self.world.contents(self.db))
        for _ in range(transactions):
            steps = self.world.transaction(self.twin)
            if isinstance(self.world, Tables) and self.c.chance(25):
                self._refuse([*steps, self.world.bad_step()])
            if steps:
                self._disturb(steps)
                self.tally.transactions += 1
                self.tally.views += len(self.db.views)
        if isinstance(self.world, Tables):
            self._ask_duckdb(self.world)

    # --- one transaction -----------------------------------------------------------------------------------

    def _run(self, db: ec.Database, steps: list[Step], alone: bool) -> None:
        if alone:
            self.world.do(db, steps[0])
            return
        with db.transaction():
            for step in steps:
                self.world.do(db, step)

    def _disturb(self, steps: list[Step]) -> None:
        alone = len(steps) == 1 and self.c.chance(60)

        since = self.aim if self.aim is not None and self.c.chance(50) else None

        def anywhere(lines: int) -> tuple[int, ...]:
            first = self.c.number(1, lines + 5 if since is None else 60)
            # The undo of a short transaction has some hundred lines; the first of them are the most delicate ones.
            two = self.c.chance(60)
            return (first, self.c.number(1, self.c.pick((6, 40, 400)))) if two else (first,)

        self.disturb(
            steps, alone, anywhere, self.c.pick((Interrupted, KeyboardInterrupt, MemoryError)), since
        )

    def disturb(
        self,
        steps: list[Step],
        alone: bool,
        places_in: Callable[[int], tuple[int, ...]],
        error: type[BaseException] = Interrupted,
        since: str | None = None,
    ) -> int:
        """Runs a transaction with faults, and checks what is left; `places_in` draws their lines, which count from the call of `since`.

        Returns how many lines the transaction has.
        """
        before = self.world.contents(self.db)
        with Faults(()) as count:
            self._run(self.twin, steps, alone)
        after = self.world.contents(self.twin)
        places = places_in(count.lines)
        for listener in self.listeners:
            listener.raising = self.c.pick((None, None, None, "before", "after"))
        faults = Faults(places, error, since)
        counted = f" since {since}" if since else ""
        self.script.append(f"{'alone ' if alone else ''}{steps}, {error.__name__} at {places}{counted}")
        raised: BaseException | None = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                with faults:
                    self._run(self.db, steps, alone)
            except (error, ec.EvercurrentError, Refused) as problem:
                raised = problem
            except BaseException as problem:
                raise self._difference(f"{type(problem).__name__} came out: {problem}") from problem
            finally:
                self.tally.faults += faults.raised
                self.script[-1] += f" ({', '.join(faults.trail)})"
        self._settle(before, after, raised, steps, alone)
        return count.lines

    def _refuse(self, steps: list[Step]) -> None:
        """Runs a transaction that a CHECK, an assertion or an opaque function refuses, with a fault or without."""
        before = self.world.contents(self.db)
        faults = Faults((self.c.number(1, 900),) if self.c.chance(60) else ())
        self.script.append(f"refused {steps}, fault at {faults.places}")
        try:
            with faults:
                self._run(self.db, steps, alone=False)
        except (Interrupted, ec.EvercurrentError):
            pass
        except BaseException as problem:
            raise self._difference(f"{type(problem).__name__} came out: {problem}") from problem
        else:
            raise self._difference("a transaction that must be refused was not")
        self.tally.faults += 1 + faults.raised
        self._probe()
        found = self._contents()
        if found != before:
            raise self._difference("a refused transaction has changed something", found, before)
        self._check("after a refused transaction", found)

    def _settle(
        self, before: Any, after: Any, raised: BaseException | None, steps: list[Step], alone: bool
    ) -> None:
        for listener in self.listeners:
            listener.raising = None
        self._probe()
        found = self._contents()
        if raised is None and found != after:
            raise self._difference("nothing was raised, and the transaction does not stand", found, after)
        if found not in (before, after):
            raise self._difference("neither as before nor as after", found, after)
        self._check("after a fault", found)
        if found != after:
            self._run(self.db, steps, alone)
            found = self._contents()
            if found != after:
                raise self._difference("the same transaction, repeated", found, after)
            self._check("after the same transaction again", found)

    def _contents(self) -> Any:
        try:
            return self.world.contents(self.db)
        except Exception as problem:
            raise self._difference(f"cannot be read: {problem!r}") from problem

    def _probe(self) -> None:
        """Another thread must be able to commit."""
        if problem := in_other_thread(lambda: self.world.probe(self.db)):
            raise self._difference(problem)

    def _check(self, when: str, found: Any) -> None:
        report = self.db.verify()
        if not report:
            raise self._difference(f"{when}: {report}")
        for listener in self.listeners:
            if not listener.agrees():
                raise self._difference(f"{when}: notifications of {listener.view.name} do not add up")

    def _ask_duckdb(self, world: Tables) -> None:
        duck = Duck()
        with suppress(ValueError):
            for text in TABLES:
                duck.execute(text)
        for name in self.db.tables:
            duck.insert(name, self.db.table(name).rows())
        for name in self.db.views:
            if name in VIEWS:
                said = difference(self.db.view(name).rows(), duck.query(VIEWS[name]))
                if said:
                    raise self._difference(f"DuckDB has other rows for {name}: {said}")
        duck.close()

    def _difference(self, message: str, found: Any = None, wanted: Any = None) -> Difference:
        if found is not None:
            for name in found:
                if found[name] != wanted[name]:
                    self.script.append(f"{name}: {found[name]} instead of {wanted[name]}")
        return Difference(message, "\n".join(self.script))


CAMPAIGN = FaultCampaign()
