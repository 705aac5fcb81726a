"""A history over tables that refer to each other, as data, followed by a database and by DuckDB side by side.

    follow([
        ("table", "t0", ("id", "a"), "CREATE TABLE t0 (id INT PRIMARY KEY, a INT)"),
        ("view", "v0", "SELECT a FROM t0", "strict"),
        ("change", "commit", [("insert", "t0", [(1, 5)]), ("update", "t0", 1, {"a": 6})]),
    ])

The first column of every table is its key. After every change every view is compared with DuckDB, where each statement ran too, and
every subscribed view with the sum of the deltas that its subscriber received.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import evercurrent as ec
from tests.duck import Duck, canonical_rows, difference, translate
from tests.fuzz.campaign import Tally
from tests.fuzz.histories import Subscriber, Wrong, insertion, literal

Step = tuple[Any, ...]
Statement = tuple[Any, ...]


class Following:
    """One database and DuckDB under one history."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.db: Any = ec.connect()
        self.duck = Duck()
        self.columns: dict[str, tuple[str, ...]] = {}
        self.views: list[str] = []
        self.subscribers: dict[str, Subscriber] = {}

    def step(self, step: Step) -> None:
        match step:
            case ("table", name, columns, text):
                self.db.execute(text)
                self.duck.execute(text)
                self.columns[name] = columns
            case ("view", name, text, mode):
                self.db.execute(f"CREATE VIEW {name} AS {text}", mode=mode)
                self.duck.connection.execute(f"CREATE VIEW {name} AS {translate(text)}")
                self.views.append(name)
                self.tally.views += 1
            case ("subscribe", name):
                self.subscribers[name] = Subscriber(self.db.view(name))
            case ("change", "single", [statement]):
                self.perform(statement)
                self.compare()
            case ("change", _, statements):
                with self.db.transaction():
                    for statement in statements:
                        self.perform(statement)
                self.compare()
            case _:
                raise AssertionError(step)

    def perform(self, statement: Statement) -> None:
        """Makes one statement in both, in the database by the way that it names."""
        db, run = self.db, self.duck.connection.execute
        match statement:
            case ("insert", name, rows):
                db.table(name).insert(list(rows))
                run(insertion(name, rows))
            case ("update", name, key, values):
                db.table(name).update(key, values)
                run(self.update(name, key, values))
            case ("update sql", name, key, values):
                db.execute(self.update(name, key, values))
                run(self.update(name, key, values))
            case ("merge", name, key, values):
                db.execute(self.merge(name, key, values))
                run(self.update(name, key, values))
            case ("delete", name, row):
                db.table(name).delete(row[0])
                run(f"DELETE FROM {name} WHERE id = {row[0]}")
            case ("apply", changes):
                db.apply({name: self.feed(name, *rows) for name, rows in changes.items()})
                for name, (inserted, deleted) in changes.items():
                    for row in deleted:
                        run(f"DELETE FROM {name} WHERE id = {row[0]}")
                    if inserted:
                        run(insertion(name, inserted))
            case ("feed insert", name, row):
                db.feed(name).insert(row)
                run(insertion(name, [row]))
            case ("feed delete", name, row):
                db.feed(name).delete(row)
                run(f"DELETE FROM {name} WHERE id = {row[0]}")
            case _:
                raise AssertionError(statement)

    def update(self, name: str, key: int, values: dict[str, Any]) -> str:
        to = ", ".join(f"{c} = {literal(v)}" for c, v in values.items())
        return f"UPDATE {name} SET {to} WHERE id = {key}"

    def merge(self, name: str, key: int, values: dict[str, Any]) -> str:
        to = ", ".join(f"{c} = {literal(v)}" for c, v in values.items())
        return (
            f"MERGE INTO {name} USING (SELECT {key} AS id) AS s ON {name}.id = s.id "
            f"WHEN MATCHED THEN UPDATE SET {to}"
        )

    def feed(self, name: str, inserted: Sequence[Any], deleted: Sequence[Any]) -> list[dict[str, Any]]:
        signed = [("insert", row) for row in inserted] + [("delete", row) for row in deleted]
        columns = self.columns[name]
        return [{**dict(zip(columns, row, strict=True)), "_change_type": kind} for kind, row in signed]

    def compare(self) -> None:
        if self.views:
            self.tally.transactions += 1
        for name in self.views:
            found = self.db.view(name).rows()
            wrong = difference(found, self.duck.query(f"SELECT * FROM {name}", translated=True))
            if wrong:
                raise Wrong(f"{name}: {wrong}")
            if name in self.subscribers:
                self.subscribers[name].check(name, Counter(canonical_rows(found)))

    def compare_tables(self) -> None:
        for name in self.columns:
            found = self.db.table(name).rows()
            wrong = difference(found, self.duck.query(f"SELECT * FROM {name}", translated=True))
            if wrong:
                raise Wrong(f"table {name}: {wrong}")


def follow(steps: Sequence[Step], tally: Tally | None = None) -> None:
    """Follows a history; raises Wrong at the first difference."""
    following = Following(tally or Tally())
    try:
        for step in steps:
            following.step(step)
        following.compare_tables()
    finally:
        following.duck.close()


def script(steps: Sequence[Step], message: str) -> str:
    """Returns a script that follows the history."""
    text = "\n".join(f"        {step!r}," for step in steps)
    return (
        "from tests.fuzz.family_histories import follow\n\n"
        + "".join(f"# {line}\n" for line in message.splitlines())
        + f"follow(\n    [\n{text}\n    ]\n)\n"
    )
