"""The engines under test, behind one small face.

An engine takes the same statements as everyone, keeps the case's view, and tells its rows and the change that its last
transaction made to them.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Protocol, cast

import evercurrent as ec
from evercurrent.calculus.nodes import Query
from evercurrent.design.evaluation import reference
from evercurrent.rows.conversion import give_rows
from tests.conformance.case import Case
from tests.duck import Rows, canonical_rows, statements

VIEW = "the_view"


class Engine(Protocol):
    def define(self, case: Case) -> None: ...

    def step(self, text: str) -> None: ...

    def rows(self) -> Rows: ...

    def check(self) -> None:
        """After a step: whatever the engine itself can say about its being right."""
        ...

    def finish(self) -> None:
        """After the last step."""
        ...

    def table(self, name: str) -> Rows: ...


class Reference:
    """The meaning of the calculus, evaluated from scratch at every reading.

    The views are declared in a database beside, without rows, so that nothing is kept for them.
    """

    def __init__(self) -> None:
        self.db = ec.connect()
        self.declared = ec.connect()

    def define(self, case: Case) -> None:
        for statement in statements(case.tables):
            self.db.execute(statement)
            if statement.startswith("CREATE"):
                self.declared.execute(statement)
        for name, text in (*case.views, (VIEW, case.query)):
            self.declared.execute(f"CREATE VIEW {name} AS {text}", policy="full")

    def step(self, text: str) -> None:
        with self.db.transaction():
            for statement in statements(text):
                self.db.execute(statement)

    def rows(self) -> Rows:
        declared = self.declared._session
        view = declared.view(VIEW)
        found = reference(cast(Query, view.query), declared.catalog, self.db._session.table_rows)
        return list(give_rows(view.fields, found.insertions()))

    def check(self) -> None:
        """It is the measure of the others."""

    def finish(self) -> None:
        """Nothing is kept."""

    def table(self, name: str) -> Rows:
        return list(self.db.table(name).rows())


class Live:
    """The live engine, with a subscriber that rebuilds the view from its changes."""

    def __init__(self) -> None:
        self.db = ec.connect()
        self.query = ""
        self.heard: list[Any] = []
        self.mirror: Counter[Any] = Counter()

    def define(self, case: Case) -> None:
        for statement in statements(case.tables):
            self.db.execute(statement)
        for name, text in case.views:
            self.db.execute(f"CREATE VIEW {name} AS {text}")
        self.query = case.query
        self.db.execute(f"CREATE VIEW {VIEW} AS {case.query}")
        self.mirror = Counter(canonical_rows(self.db.view(VIEW).rows()))
        self.db.view(VIEW).subscribe(self.heard.append)

    def step(self, text: str) -> None:
        self.heard.clear()
        with self.db.transaction():
            for statement in statements(text):
                self.db.execute(statement)

    def rows(self) -> Rows:
        return list(self.db.view(VIEW).rows())

    def check(self) -> None:
        """The change is minimal, moves the old rows to the new ones, and comes at most once."""
        assert len(self.heard) <= 1, "one transaction, one change"
        old = +self.mirror
        for change in self.heard:
            inserted = Counter(canonical_rows(change.inserted))
            deleted = Counter(canonical_rows(change.deleted))
            assert inserted or deleted, "an empty change was announced"
            assert not inserted & deleted, f"not minimal: {inserted & deleted}"
            assert deleted <= old, f"deleted what was not there: {deleted - old}"
            self.mirror = old - deleted + inserted
        now = Counter(canonical_rows(self.rows()))
        assert self.mirror == now, f"feed and view differ: {self.mirror - now} | {now - self.mirror}"
        self.heard.clear()
        report = self.db.verify()
        assert report, str(report)

    def finish(self) -> None:
        """What was kept is what a view that is defined now, and filled from the tables, holds."""
        now = Counter(canonical_rows(self.rows()))
        self.db.execute(f"DROP VIEW {VIEW}")
        self.db.execute(f"CREATE VIEW {VIEW} AS {self.query}")
        again = Counter(canonical_rows(self.rows()))
        assert now == again, f"kept - fresh: {now - again}\nfresh - kept: {again - now}"

    def table(self, name: str) -> Rows:
        return list(self.db.table(name).rows())


ENGINES: dict[str, type[Reference] | type[Live]] = {"reference": Reference, "live": Live}
