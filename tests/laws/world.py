"""A database under random changes, beside DuckDB with the same rows."""

from __future__ import annotations

from collections import Counter
from typing import Any

import duckdb
from hypothesis import note

import evercurrent as ec
from tests.duck import Duck, canonical_rows, difference, translate
from tests.laws.chooser import Chooser, Drawn
from tests.laws.queries import query, view
from tests.laws.schemas import Operation, Row, Table, literal, tables, transaction

VIEW = "v"


def insertion(table: str, rows: list[Row]) -> str:
    return f"INSERT INTO {table} VALUES " + ", ".join(f"({', '.join(map(literal, row))})" for row in rows)


class World:
    """Tables, a query as a view, and a history."""

    def __init__(self, c: Chooser, depth: int = 2) -> None:
        self.c = c
        self.tables = tables(c)
        self.first = transaction(c, self.tables, 14)
        self.views: list[tuple[str, str]] = []
        readable = list(self.tables)
        if c.chance(25):
            text, stands_for = view(c, self.tables, "u")
            self.views.append(("u", text))
            readable.append(stands_for)
        self.query = query(c, readable, depth)
        if isinstance(c, Drawn):
            note(self.story())

    def database(self, *, view_first: bool = True) -> ec.Database:
        """A database with the tables and the view, and the first transaction made."""
        db = ec.connect()
        for table in self.tables:
            db.execute(table.create())
        if not view_first:
            perform(db, self.first)
        for name, text in (*self.views, (VIEW, self.query)):
            db.execute(f"CREATE VIEW {name} AS {text}")
        if view_first:
            perform(db, self.first)
        return db

    def next(self, most: int = 6) -> list[Operation]:
        return transaction(self.c, self.tables, most)

    def story(self) -> str:
        """What one needs to see the failure again."""
        views = [f"CREATE VIEW {name} AS {text}" for name, text in self.views]
        return "\n".join([*(t.create() for t in self.tables), *views, self.query])


def perform(db: ec.Database, operations: list[Operation]) -> None:
    with db.transaction():
        for table, old, new in operations:
            handle = db.table(table)
            if old is None:
                handle.insert(new)
            elif new is None:
                handle.delete(old)
            else:
                handle.replace(old, new)


def rows(db: ec.Database) -> Counter[Any]:
    return Counter(canonical_rows(db.view(VIEW).rows()))


class Listener:
    """Rebuilds a view from its feed, and checks that every change is minimal and comes at most once."""

    def __init__(self, db: ec.Database) -> None:
        self.db = db
        self.heard: list[Any] = []
        self.mirror = rows(db)
        db.view(VIEW).subscribe(self.heard.append)

    def check(self, story: str) -> None:
        assert len(self.heard) <= 1, story
        for change in self.heard:
            inserted, deleted = (
                Counter(canonical_rows(change.inserted)),
                Counter(canonical_rows(change.deleted)),
            )
            assert inserted or deleted, f"an empty change\n{story}"
            assert not inserted & deleted, f"not minimal: {inserted & deleted}\n{story}"
            assert deleted <= self.mirror, f"deleted what was not there: {deleted - self.mirror}\n{story}"
            self.mirror = self.mirror - deleted + inserted
        self.heard.clear()
        assert self.mirror == rows(self.db), f"feed and view differ\n{story}"


class Beside:
    """DuckDB with the same rows; judges where it understands the query."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.duck = Duck()
        for table in world.tables:
            self.duck.execute(table.create())
        for name, text in world.views:
            self.duck.connection.execute(f"CREATE VIEW {name} AS {translate(text)}")

    def load(self, found: list[Table]) -> None:
        for table in found:
            self.duck.connection.execute(f"DELETE FROM {table.name}")
            present = list(table.rows.elements())
            if present:
                self.duck.execute(insertion(table.name, present))

    def check(self, db: ec.Database, story: str) -> None:
        self.load(self.world.tables)
        try:
            theirs = self.duck.query(self.world.query)
        except (duckdb.BinderException, duckdb.NotImplementedException, duckdb.ParserException):
            return
        wrong = difference(db.view(VIEW).rows(), theirs)
        assert not wrong, f"{wrong}\n{story}"
