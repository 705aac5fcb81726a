"""Faults while definitions change: CREATE, DROP and ALTER of everything, interrupted once or twice, in memory and in a file.

Every definition is also made on a twin without faults. Afterwards the catalog, the tables and the views are exactly as before or exactly as
on the twin, in the file too; every view is what its query returns; another thread can commit; and the same transaction changes both
databases in the same way.
"""

from __future__ import annotations

import tempfile
import warnings
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import evercurrent as ec
from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.campaigns.faults import in_other_thread
from tests.fuzz.injection import Faults, Interrupted
from tests.laws.chooser import Seeded

TABLES = """
CREATE TABLE parent (id BIGINT PRIMARY KEY, name STRING);
CREATE TABLE child (id BIGINT PRIMARY KEY, of BIGINT REFERENCES parent (id), x BIGINT);
INSERT INTO parent VALUES (1, 'Ann'), (2, 'Bob'), (3, NULL);
INSERT INTO child VALUES (1, 1, 5), (2, 1, 7), (3, 2, 7), (4, NULL, 0);
CREATE VIEW named AS SELECT c.id, p.name, c.x FROM child c LEFT JOIN parent p ON p.id = c.of;
CREATE VIEW sums AS SELECT of, SUM(x) AS s, MAX(x) AS m, COUNT(*) AS n FROM child GROUP BY of;
"""

OTHER_VIEWS = (
    "SELECT name, COUNT(*) AS n FROM parent GROUP BY name",
    "SELECT p.name, SUM(c.x) AS s FROM child c JOIN parent p ON p.id = c.of GROUP BY p.name",
    "SELECT id, x FROM child ORDER BY x DESC, id LIMIT 2",
    "SELECT id, SUM(x) OVER (PARTITION BY of ORDER BY id) AS running FROM child",
    "SELECT * FROM child WHERE x > 5",
    "SELECT s.of, s.s FROM sums s WHERE s.n > 1",
)
CLASSES = ("class thing (extent things) { attribute string name; attribute long size; };",)


def draw(c: Seeded, db: ec.Database, at: int) -> str:
    """Draws a statement that changes definitions; `odl ...` and `drop class ...` are those of classes."""
    catalog = db._session.catalog
    columns = [f.name for f in db.table("child").schema]
    indexes = [i.name for i in catalog.indexes.values()]
    others = [v for v in db.views if v not in ("named", "sums")]
    known = [
        f"CREATE VIEW v{at} AS {c.pick(OTHER_VIEWS)}",
        f"CREATE VIEW v{at} AS {c.pick(OTHER_VIEWS)}",
        f"CREATE OR REPLACE VIEW named AS SELECT id, x, {at} AS version FROM child",
        f"CREATE OR REPLACE VIEW sums AS SELECT of, SUM(x) + {at} AS s, COUNT(*) AS n FROM child GROUP BY of",
        f"CREATE TABLE t{at} (k INT PRIMARY KEY, p BIGINT REFERENCES parent (id))",
        f"CREATE INDEX i{at} ON child (x)",
        f"ALTER TABLE child ADD COLUMN c{at} INT",
        f"ALTER TABLE parent ADD COLUMN c{at} STRING",
        f"CREATE ASSERTION a{at} CHECK (NOT EXISTS (SELECT 1 FROM child WHERE x > {1000 + at}))",
    ]
    if others:
        known += [f"DROP VIEW {c.pick(others)}"] * 2
    if indexes:
        known.append(f"DROP INDEX {c.pick(indexes)}")
    if added := [n for n in columns if n.startswith("c")]:
        known += [
            f"ALTER TABLE child RENAME COLUMN {added[0]} TO c{at}",
            f"ALTER TABLE child DROP COLUMN {added[0]}",
        ]
    if extra := [t for t in db.tables if t.startswith("t") and t != "things"]:
        known += [f"CREATE OR REPLACE TABLE {extra[0]} (k INT, p BIGINT)", f"DROP TABLE {extra[0]} CASCADE"]
    if catalog.assertions:
        known.append(f"DROP ASSERTION {next(iter(catalog.assertions.values())).name}")
    if catalog.schema.classes:
        known.append("drop class thing")
    else:
        known += [f"odl {text}" for text in CLASSES]
    return c.pick(known)


def perform(db: ec.Database, statement: str) -> None:
    if statement.startswith("odl "):
        db.odl(statement[4:])
    elif statement.startswith("drop class "):
        db.drop_class(statement[11:])
    else:
        db.execute(statement)


def change(db: ec.Database, at: int) -> None:
    """A transaction that touches what is there, whatever its definitions are."""
    with db.transaction():
        db.execute("INSERT INTO parent (id, name) VALUES (?, ?)", [100 + at, f"name {at}"])
        db.execute("INSERT INTO child (id, of, x) VALUES (?, ?, ?)", [100 + at, 100 + at, at])
        db.execute("UPDATE child SET x = x + 1 WHERE id = 1")
        db.execute("UPDATE parent SET name = ? WHERE id = 2", [f"Bob {at}"])
        for name in db.tables:
            if name.startswith("t") and name != "things":
                db.execute(f"INSERT INTO {name} (k, p) VALUES (?, 1)", [at])
    if db._session.catalog.schema.classes:
        db.new("thing", name=f"thing {at}", size=at)


def contents(db: ec.Database) -> dict[str, Any]:
    """Everything that definitions decide, and all rows."""
    catalog = db._session.catalog
    found: dict[str, Any] = {
        "tables": {t: [(f.name, str(f.type)) for f in db.table(t).schema] for t in sorted(db.tables)},
        "views": {v.name: v.text for v in sorted(catalog.views.values(), key=lambda v: v.name)},
        "indexes": sorted((i.name, i.table, i.columns) for i in catalog.indexes.values()),
        "assertions": sorted(a.name for a in catalog.assertions.values()),
        "classes": sorted(catalog.schema.classes),
    }
    space = db._session.space
    if space is not None and catalog.schema.classes:
        found["objects"] = sorted((t.name, t.size) for t in db.extent("things"))
    rows = {n: sorted(db.table(n).rows(), key=repr) for n in db.tables}
    return found | rows | {n: sorted(db.view(n).rows(), key=repr) for n in db.views}


@dataclass(frozen=True)
class Definitions:
    name: str = "definitions"
    needs_spark: bool = False
    changes: int = 6

    def run(self, seed: int, tally: Tally) -> None:
        c = Seeded(seed)
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            files = [Path(folder) / f"{n}.db" for n in "ab"] if c.chance(40) else None
            db, twin = (
                stack.enter_context(ec.connect(files[n], durability="off")) if files else ec.connect()
                for n in (0, 1)
            )
            for one in (db, twin):
                one.execute(TABLES)
            heard: list[Any] = []
            db.view("sums").subscribe(heard.append)
            Scenario(c, db, twin, Path(folder) if files else None, seed, tally).run(self.changes)


class Scenario:
    """A database that is interrupted while definitions change, and its twin."""

    def __init__(
        self, c: Seeded, db: ec.Database, twin: ec.Database, folder: Path | None, seed: int, tally: Tally
    ) -> None:
        self.c, self.db, self.twin, self.folder, self.tally = c, db, twin, folder, tally
        self.script = [f"seed {seed}{', in a file' if folder else ''}"]

    def run(self, changes: int) -> None:
        for at in range(1, changes + 1):
            self.disturb(draw(self.c, self.twin, at))
            for one in (self.db, self.twin):
                change(one, at)
            self.compare(contents(self.twin), f"after transaction {at}")
            self.tally.transactions += 1
            self.tally.views += len(self.db.views)

    def disturb(self, statement: str) -> None:
        before = contents(self.db)
        with Faults(()) as count:
            perform(self.twin, statement)
        after = contents(self.twin)
        # Most lines compile, which changes nothing; what takes effect stands at the end.
        back = self.c.number(0, self.c.pick((30, 150, 600, count.lines)))
        places: tuple[int, ...] = (max(count.lines - back, 1),)
        if self.c.chance(50):
            places = (*places, self.c.number(1, self.c.pick((6, 40, 400))))
        error = self.c.pick((Interrupted, KeyboardInterrupt, MemoryError))
        faults = Faults(places, error)
        raised: BaseException | None = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                with faults:
                    perform(self.db, statement)
            except (error, ec.EvercurrentError) as problem:
                raised = problem
            except BaseException as problem:
                raise self.difference(f"{type(problem).__name__} came out: {problem}") from problem
            finally:
                self.tally.faults += faults.raised
                self.script.append(f"{statement}; {error.__name__} at {places} ({', '.join(faults.trail)})")
        if problem := in_other_thread(lambda: self.db.execute("UPDATE child SET x = x WHERE id = 1")):
            raise self.difference(problem)
        found = contents(self.db)
        if found not in (before, after) or (raised is None and found != after):
            raise self.difference("neither as before nor as after", found, after)
        self.check()
        if found != after:
            perform(self.db, statement)
            self.compare(after, "when it is repeated")

    def compare(self, wanted: dict[str, Any], when: str) -> None:
        found = contents(self.db)
        if found != wanted:
            raise self.difference(f"{when}: other contents", found, wanted)
        self.check()

    def check(self) -> None:
        report = self.db.verify()
        if not report:
            raise self.difference(str(report))
        if self.folder is not None:
            copy = self.folder / "copy.db"
            self.db.backup(copy)
            try:
                with ec.connect(copy) as again:
                    kept = contents(again)
            except ec.EvercurrentError as problem:
                raise self.difference(f"the file cannot be opened: {problem}") from problem
            found = contents(self.db)
            if kept != found:
                raise self.difference("the file holds something else", kept, found)

    def difference(self, message: str, found: Any = None, wanted: Any = None) -> Difference:
        if found is not None:
            for name in sorted({*found, *wanted}):
                if found.get(name) != wanted.get(name):
                    self.script.append(f"{name}: {found.get(name)} instead of {wanted.get(name)}")
        return Difference(message, "\n".join(self.script))


CAMPAIGN = Definitions()
