"""A history over tables, as data, followed by a database and by DuckDB side by side.

    follow([
        ("table", "t", ("k", "x"), 1, None, "CREATE TABLE t (k INT PRIMARY KEY, x INT)"),
        ("view", "v", "SELECT sum(x) AS s FROM t", "strict"),
        ("subscribe", "v"),
        ("change", "commit", [("insert", "t", [(1, 5), (2, 7)]), ("update", "t", 1, {"x": 6})]),
    ])

A change ends with "commit", "single" (one statement outside a transaction), "undo" (it is given up before the commit) or "veto" (a
subscriber of a guarded table refuses it at the commit, after all views have been changed). Other steps create indexes, alter tables, and
put the database into a file that is closed and opened again. After every change one view is compared with DuckDB; after one that was
refused or undone, and at the end, every view is. The rows of a subscribed view must equal the sum of the deltas that its subscriber
received, and each delta must be minimal. Whether a change satisfies the keys and the references is decided here, on plain counters;
the database must refuse exactly the others, and then nothing may change.
"""

from __future__ import annotations

import datetime
import tempfile
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow

import evercurrent as ec
from tests.duck import Duck, canonical_rows, difference, translate
from tests.fuzz.campaign import Tally
from tests.fuzz.columns import Forms

Row = tuple[Any, ...]
Step = tuple[Any, ...]
Statement = tuple[Any, ...]

NAN = float("nan")
"""The one NaN of all histories: rows that hold it are equal as tuples."""


class Wrong(AssertionError):
    """The database and the oracle disagree."""


class Refused(Exception):
    """The plain tables do not take this change."""


class Undo(Exception):
    """Ends a transaction that is to be undone, before its commit or by a subscriber in the midst of it."""


def literal(value: Any) -> str:
    """Returns a value as both dialects write it."""
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case str():
            return "'" + value.replace("'", "''") + "'"
        case float():
            return f"CAST('{value}' AS DOUBLE)"
        case Decimal():
            return f"CAST('{value}' AS DECIMAL(8,2))"
        case datetime.date():
            return f"DATE '{value}'"
        case _:
            return str(value)


class Plain:
    """A table as a counter of rows: what a change means, and what it may not do.

    `keys`: the first so many columns are the primary key. `parent`: the last column refers to the key of that table.
    """

    def __init__(self, name: str, columns: Sequence[str], keys: int, parent: str | None) -> None:
        self.name = name
        self.columns = tuple(columns)
        self.keys = keys
        self.parent = parent
        self.rows: Counter[Row] = Counter()

    def add(self, row: Row, times: int = 1) -> None:
        self.rows[row] += times
        if self.rows[row] < 0:
            raise Refused(f"{self.name} has no row {row}")
        if not self.rows[row]:
            del self.rows[row]

    def equal(self, column: str, value: Any) -> list[Row]:
        at = self.columns.index(column)
        return [row for row in self.rows if row[at] == value or (row[at] is value)]

    def with_values(self, row: Row, values: dict[str, Any]) -> Row:
        return tuple(values.get(c, v) for c, v in zip(self.columns, row, strict=True))

    def change(self, statement: Statement) -> None:
        match statement:
            case ("insert" | "insert sql" | "insert arrow" | "feed insert", _, rows):
                for row in rows:
                    self.add(row)
            case ("upsert", _, rows, how, columns):
                self.upsert(rows, how, columns)
            case ("delete" | "feed delete", _, row):
                self.add(row, -1)
            case ("replace", _, old, new):
                self.add(old, -1)
                self.add(new)
            case ("update", _, key, values):
                found = self.equal(self.columns[0], key)
                if not found:
                    raise Refused(f"{self.name} has no key {key}")
                self.move(found, values)
            case ("update sql" | "update by", _, column, value, values):
                self.move(self.equal(column, value), values)
            case ("delete sql" | "delete by", _, column, value):
                for row in self.equal(column, value):
                    del self.rows[row]
            case ("clear", _):
                self.rows.clear()
            case ("apply", _, inserted, deleted):
                for row in deleted:
                    self.add(row, -1)
                for row in inserted:
                    self.add(row)
            case _:
                raise AssertionError(statement)

    def upsert(self, rows: Sequence[Row], how: str, columns: Sequence[str]) -> None:
        """Inserts rows; where the key is there, updates these columns, replaces the row, or leaves it."""
        for row in rows:
            found = self.equal(self.columns[0], row[0])
            if found and how == "nothing":
                continue
            new = row
            if found and how == "update":
                new = self.with_values(found[0], {c: row[self.columns.index(c)] for c in columns})
            for old in found:
                self.add(old, -1)
            self.add(new)

    def alter(self, what: str, column: str, value: Any) -> None:
        """Adds a column with this value in all rows, drops one, or gives one the name that is the value."""
        at = self.columns.index(column) if what != "add" else len(self.columns)
        if what == "rename":
            self.columns = (*self.columns[:at], value, *self.columns[at + 1 :])
            return
        here = (value,) if what == "add" else ()
        self.columns = (*self.columns[:at], *((column,) if what == "add" else ()), *self.columns[at + 1 :])
        rows, self.rows = self.rows, Counter()
        for row, n in rows.items():
            self.rows[(*row[:at], *here, *row[at + 1 :])] += n

    def move(self, found: list[Row], values: dict[str, Any]) -> None:
        counts = [(row, self.rows[row]) for row in found]
        for row, n in counts:
            self.add(row, -n)
        for row, n in counts:
            self.add(self.with_values(row, values), n)

    def check(self, tables: dict[str, Plain]) -> None:
        if self.keys and any(n > 1 for n in Counter(r[: self.keys] for r in self.rows.elements()).values()):
            raise Refused(f"a key of {self.name} is there twice")
        if self.keys and any(v is None for r in self.rows for v in r[: self.keys]):
            raise Refused(f"a key of {self.name} is NULL")
        if self.parent is not None:
            keys = {row[0] for row in tables[self.parent].rows} | {None}
            if any(row[-1] not in keys for row in self.rows):
                raise Refused(f"{self.name} refers to nothing in {self.parent}")


def perform(db: Any, statement: Statement) -> None:
    """Makes one statement in the database, each kind by a way of its own."""
    match statement:
        case ("insert", name, rows):
            db.table(name).insert(list(rows) if len(rows) > 1 else rows[0])
        case ("insert arrow", name, rows):
            schema = db.table(name).arrow().schema
            db.table(name).insert(pyarrow.table(list(zip(*rows, strict=True)), schema=schema))
        case ("upsert", name, rows, "method", _):
            db.table(name).upsert(list(rows))
        case ("update by", name, column, value, values):
            to = ", ".join(f"{c} = ?" for c in values)
            db.execute(f"UPDATE {name} SET {to} WHERE {equals(column, value)}", [*values.values(), value])
        case ("delete by", name, column, value):
            db.execute(f"DELETE FROM {name} WHERE {equals(column, value)}", [value])
        case ("delete", name, row):
            db.table(name).delete(row)
        case ("replace", name, old, new):
            db.table(name).replace(old, new)
        case ("update", name, key, values):
            db.table(name).update(key, values)
        case ("feed insert", name, rows):
            insert = db.feed(name).insert
            for row in rows:
                insert(tuple(map(inside, row)))
        case ("feed delete", name, row):
            db.feed(name).delete(tuple(map(inside, row)))
        case ("apply", name, inserted, deleted):
            columns = [f.name for f in db.table(name).schema]
            signed = [("insert", r) for r in inserted] + [("delete", r) for r in deleted]
            feed = [{**dict(zip(columns, r, strict=True)), "_change_type": kind} for kind, r in signed]
            db.apply({name: feed})
        case _:
            db.execute(sql_of(statement))


def equals(column: str, value: Any) -> str:
    """The condition for a value that is a parameter; an index finds what is not NULL."""
    return f"{column} <=> ?" if value is None else f"{column} = ?"


def inside(value: Any) -> Any:
    """Returns a value as the engine represents it, which is what the fast path takes."""
    return int(value * 100) if isinstance(value, Decimal) else value


def sql_of(statement: Statement) -> str:
    match statement:
        case ("insert sql", name, rows):
            return insertion(name, rows)
        case ("update sql", name, column, value, values):
            to = ", ".join(f"{c} = {literal(v)}" for c, v in values.items())
            return f"UPDATE {name} SET {to} WHERE {column} <=> {literal(value)}"
        case ("delete sql", name, column, value):
            return f"DELETE FROM {name} WHERE {column} <=> {literal(value)}"
        case ("clear", name):
            return f"DELETE FROM {name}"
        case ("upsert", name, rows, "replace", _):
            return insertion(name, rows).replace("INSERT INTO", "INSERT OR REPLACE INTO", 1)
        case ("upsert", name, rows, "nothing", _):
            return f"{insertion(name, rows)} ON CONFLICT DO NOTHING"
        case ("upsert", name, rows, _, columns):
            to = ", ".join(f"{c} = EXCLUDED.{c}" for c in columns)
            return f"{insertion(name, rows)} ON CONFLICT (k) DO UPDATE SET {to}"
        case _:
            raise AssertionError(statement)


def insertion(name: str, rows: Sequence[Row]) -> str:
    return f"INSERT INTO {name} VALUES " + ", ".join(f"({', '.join(map(literal, row))})" for row in rows)


class Subscriber:
    """Adds up the deltas of a view."""

    def __init__(self, view: Any) -> None:
        self.received: list[Any] = []
        self.rows = Counter(canonical_rows(view.rows()))
        view.subscribe(self.received.append)

    def check(self, name: str, present: Counter[Any]) -> None:
        if len(self.received) > 1:
            raise Wrong(f"{name} notified {len(self.received)} times of one transaction")
        for change in self.received:
            inserted = Counter(canonical_rows(change.inserted))
            deleted = Counter(canonical_rows(change.deleted))
            if not inserted and not deleted:
                raise Wrong(f"{name} notified of an empty delta")
            if inserted & deleted:
                raise Wrong(f"{name}: the delta is not minimal: {inserted & deleted}")
            if not deleted <= self.rows:
                raise Wrong(f"{name}: the delta deletes what was not there: {deleted - self.rows}")
            self.rows = self.rows - deleted + inserted
        self.received.clear()
        if self.rows != present:
            raise Wrong(
                f"{name}: the deltas add up to other rows than the view has\n"
                f"only in the deltas {self.rows - present}\nonly in the view {present - self.rows}"
            )


UNDERSTOOD = (duckdb.BinderException, duckdb.NotImplementedException, duckdb.ParserException)
"""What DuckDB raises for queries that it does not know; such views are compared only with their subscribers."""


class Following:
    """One database, plain tables and DuckDB under one history."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.db: Any = ec.connect()
        self.duck = Duck()
        self.tables: dict[str, Plain] = {}
        self.stale: set[str] = set()
        self.views: dict[str, str] = {}
        self.unknown: set[str] = set()
        self.subscribers: dict[str, Subscriber] = {}
        self.turn = 0
        self.vetoing = self.guarded = False
        self.folder: tempfile.TemporaryDirectory[str] | None = None

    def step(self, step: Step) -> None:
        match step:
            case ("table", name, columns, keys, parent, text):
                self.db.execute(text)
                self.duck.execute(text)
                self.tables[name] = Plain(name, columns, keys, parent)
            case ("view", name, text, mode):
                self.db.execute(f"CREATE VIEW {name} AS {text}", mode=mode)
                self.define(name, text)
                self.tally.views += 1
            case ("subscribe", name):
                self.subscribers[name] = Subscriber(self.db.view(name))
            case ("guard",):
                self.guarded = True
                for name in self.tables:
                    self.db.table(name).subscribe(self.guard, when="before")
            case ("read", name):
                list(self.db.view(name).rows())
            case ("change", ending, statements):
                self.change(ending, statements)
            case ("index", name, table, columns):
                self.db.execute(f"CREATE INDEX {name} ON {table} ({', '.join(columns)})")
            case ("lookup", table, column, value):
                self.look_up(table, column, value)
            case ("alter", table, what, column, value):
                self.alter(table, what, column, value)
            case ("file", _):
                self.folder = tempfile.TemporaryDirectory()
                self.db = ec.connect(Path(self.folder.name, "a.db"), durability="off")
            case ("reopen",):
                self.reopen()
            case _:
                raise AssertionError(step)

    def look_up(self, table: str, column: str, value: Any) -> None:
        """Reads rows by a value, and by a range, which an index may find; plain tables say which they are."""
        plain = self.tables[table]
        at = plain.columns.index(column)
        known = plain.rows.items()
        found = self.db.query(f"SELECT * FROM {table} WHERE {column} = ?", [value]).rows()
        wrong = difference(found, Counter({r: n for r, n in known if r[at] == value}).elements())
        if not wrong and isinstance(value, int | str):
            found = self.db.query(f"SELECT * FROM {table} WHERE {column} >= ?", [value]).rows()
            here = Counter({r: n for r, n in known if r[at] is not None and r[at] >= value})
            wrong = difference(found, here.elements())
        if wrong:
            raise Wrong(f"{table} by {column} = {value!r}: {wrong}")

    def alter(self, table: str, what: str, column: str, value: Any) -> None:
        """Alters a table, in DuckDB too. Views are resolved again, and hold what they held."""
        plain = self.tables[table]
        if what == "add":
            default = "" if value is None else f" DEFAULT {literal(value)}"
            text = f"ALTER TABLE {table} ADD COLUMN {column} INT{default}"
        elif what == "drop":
            text = f"ALTER TABLE {table} DROP COLUMN {column}"
        else:
            text = f"ALTER TABLE {table} RENAME COLUMN {column} TO {value}"
        self.db.execute(text)
        self.duck.connection.execute(text)
        plain.alter(what, column, value)
        self.stale.add(table)
        self.compare_all()

    def reopen(self) -> None:
        """Closes the file and opens it again; whoever subscribed subscribes again."""
        if self.folder is None:
            return
        self.db.close()
        self.db = ec.connect(Path(self.folder.name, "a.db"), durability="off")
        self.subscribers = {name: Subscriber(self.db.view(name)) for name in self.subscribers}
        if self.guarded:
            for name in self.tables:
                self.db.table(name).subscribe(self.guard, when="before")
        self.compare_all()

    def guard(self, change: object) -> None:
        """Refuses a transaction when all views have been changed already, so that the engine must undo it."""
        if self.vetoing:
            raise Undo

    def define(self, name: str, text: str) -> None:
        self.views[name] = f"SELECT * FROM {name}"
        try:
            self.duck.connection.execute(f"CREATE VIEW {name} AS {translate(text)}")
            self.duck.connection.execute(self.views[name])
        except UNDERSTOOD:
            self.unknown.add(name)

    def change(self, ending: str, statements: Sequence[Statement]) -> None:
        before = {name: Counter(t.rows) for name, t in self.tables.items()}
        try:
            for s in statements:
                self.tables[s[1]].change(s)
            for table in self.tables.values():
                table.check(self.tables)
            expected = None
        except Refused as refused:
            expected = refused
        if expected and any(s[0].startswith("feed") for s in statements):
            raise ValueError("the fast path checks nothing, so it is not for changes that are refused")
        undone = expected is not None or ending in ("undo", "veto")
        if undone:
            for name, rows in before.items():
                self.tables[name].rows = rows
        else:
            self.stale |= {s[1] for s in statements}
        self.perform(ending, statements, expected)
        if undone:
            self.compare_views()  # no view may have kept anything of it
        self.compare_one()

    def perform(self, ending: str, statements: Sequence[Statement], expected: Refused | None) -> None:
        self.vetoing = ending == "veto"
        try:
            if ending == "single" and len(statements) == 1:
                perform(self.db, statements[0])
            else:
                with self.db.transaction():
                    for s in statements:
                        perform(self.db, s)
                    if ending == "undo":
                        raise Undo
        except Undo:
            return
        except (ec.ConstraintError, ec.QueryError) as error:
            if expected is None:
                raise Wrong(f"refused without a reason: {error}") from error
            return
        finally:
            self.vetoing = False
        if expected is not None:
            raise Wrong(f"not refused although {expected}")

    # Comparing

    def load(self) -> None:
        for name in sorted(self.stale):
            self.duck.connection.execute(f"DELETE FROM {name}")
            present = list(self.tables[name].rows.elements())
            if present:
                self.duck.connection.execute(insertion(name, present))
        self.stale.clear()

    def compare_one(self) -> None:
        """Compares the view whose turn it is with DuckDB, and every subscribed view with its deltas."""
        for name, subscriber in self.subscribers.items():
            subscriber.check(name, Counter(canonical_rows(self.db.view(name).rows())))
        known = [name for name in self.views if name not in self.unknown]
        if known:
            self.turn += 1
            self.load()
            self.compare(known[self.turn % len(known)])
            self.tally.transactions += 1

    def compare(self, name: str) -> None:
        theirs = self.duck.query(self.views[name], translated=True)
        ours = list(self.db.view(name).rows())
        if any(isinstance(v, float) and v == 0 and str(v) != "0.0" for row in ours for v in row):
            raise Wrong(f"{name} shows a negative zero: {ours}")
        wrong = difference(ours, theirs)
        if wrong:
            raise Wrong(f"{name}: {wrong}")

    def close(self) -> None:
        self.duck.close()
        if self.folder is not None:
            self.db.close()
            self.folder.cleanup()

    def compare_all(self) -> None:
        self.load()
        for name, table in self.tables.items():
            wrong = difference(self.db.table(name).rows(), table.rows.elements())
            if wrong:
                raise Wrong(f"table {name}: {wrong}")
        self.compare_views()

    def compare_views(self) -> None:
        self.load()
        for name in self.views:
            if name not in self.unknown:
                self.compare(name)


def follow(steps: Sequence[Step], tally: Tally | None = None) -> None:
    """Follows a history; raises Wrong at the first difference."""
    following = Following(tally or Tally())
    try:
        with Forms(repr(steps[0]) if steps else "") as forms:
            for step in steps:
                forms.draw()
                following.step(step)
            following.compare_all()
    finally:
        following.close()


def script(steps: Sequence[Step], message: str) -> str:
    """Returns a script that follows the history."""
    text = "\n".join(f"        {step!r}," for step in steps)
    return (
        imports(text)
        + "from tests.fuzz.histories import NAN, follow\n\ninf, nan = float('inf'), NAN\n\n"
        + "".join(f"# {line}\n" for line in message.splitlines())
        + f"follow(\n    [\n{text}\n    ]\n)\n"
    )


def imports(text: str) -> str:
    """Returns the imports that the values of a text need."""
    needed = [
        line
        for used, line in (("datetime.", "import datetime"), ("Decimal(", "from decimal import Decimal"))
        if used in text
    ]
    return "".join(f"{line}\n" for line in needed) + ("\n" if needed else "")
