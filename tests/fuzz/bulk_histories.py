"""A history of bulk loads at full size, followed by a database and by DuckDB side by side. No threshold is changed.

    follow([
        ("table", "l"),
        ("view", "v", "SELECT a, sum(v) AS s FROM l GROUP BY a", "strict"),
        ("change", "commit", [("load", "l", 17, 3000, "arrow"), ("few", "l", 18, 3)]),
    ])

A statement names a seed and a number, and the rows follow from those and from what is in the tables, so that a history stays a
history when steps are left out. DuckDB makes every change too, without constraints; queries then say whether it violates one,
and the database must refuse exactly those. After every change all tables and views are compared.

A change ends with "commit", "undo" (given up before the commit), "veto" (refused by a subscriber at the commit), or "fault" with
the number of the line at which it is interrupted, counted from the start or from the first call of a function: then all of it is
there, or nothing. A load that is "trapped" makes the view TRAP fail where other views have been changed already.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Sequence
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow

import evercurrent as ec
from tests.duck import Duck, canonical_rows, difference, translate
from tests.fuzz.campaign import Tally
from tests.fuzz.histories import NAN, Subscriber, Undo, Wrong
from tests.fuzz.injection import Faults, Interrupted

Row = tuple[Any, ...]
Step = tuple[Any, ...]

TABLES = {
    "c": "CREATE TABLE c (id INT PRIMARY KEY, name STRING, region STRING, credit DECIMAL(8,2))",
    "o": "CREATE TABLE o (id INT PRIMARY KEY, cid INT REFERENCES c (id), day DATE, qty INT CHECK (qty < 1000), "
    "price DOUBLE, note STRING)",
    "l": "CREATE TABLE l (a INT, b INT, v INT, x DOUBLE, s STRING)",
    "m": "CREATE TABLE m (a INT, b STRING, v BIGINT, PRIMARY KEY (a, b))",
}
KEYS = {"c": ("id",), "o": ("id",), "m": ("a", "b")}
VIOLATIONS = (
    *(
        f"SELECT 1 FROM {t} GROUP BY {', '.join(k)} HAVING count(*) > 1 OR {' OR '.join(f'{x} IS NULL' for x in k)}"
        for t, k in KEYS.items()
    ),
    "SELECT 1 FROM o WHERE (cid IS NOT NULL AND cid NOT IN (SELECT id FROM c)) OR qty >= 1000",
)
"""Queries that return a row if a constraint is violated."""

TRAP = (
    "SELECT a, sum(v + 2147482947) AS u, sum(t) AS t, sum(n) AS n "
    "FROM (SELECT a, v, sum(x) AS t, count(*) AS n FROM l GROUP BY a, v) q GROUP BY a"
)
TRAPPED = "SELECT 1 FROM l WHERE v > 700"
"""A view that overflows, after the groups that it reads have been changed; and a query that returns a row if it does."""

TEXTS = ("a", "b", "", "B", "ab", "ä", None)
DAYS = tuple(datetime.date(2024, 1, 1) + datetime.timedelta(days=7 * i) for i in range(20))
PRICES = (*(i / 4 for i in range(-8, 40)), None)
QUANTITIES = (*range(10), None)
PLACES = (*range(300), *(None,) * 30)
SPECIAL = (float("inf"), float("-inf"), NAN, -0.0)


class World:
    """One database and DuckDB under one history."""

    def __init__(self, tally: Tally) -> None:
        self.tally = tally
        self.db: Any = ec.connect()
        self.duck = Duck()
        self.tables: list[str] = []
        self.views: list[str] = []
        self.has_trap = False
        self.subscribers: dict[str, Subscriber] = {}
        self.vetoing = False

    def sql(self, text: str) -> list[Row]:
        return self.duck.connection.execute(text).fetchall()

    def step(self, step: Step) -> None:
        match step:
            case ("table", name):
                self.db.execute(TABLES[name])
                self.duck.execute(TABLES[name])
                self.tables.append(name)
            case ("view", name, text, mode):
                self.db.execute(f"CREATE VIEW {name} AS {text}", mode=mode)
                self.sql(f"CREATE VIEW {name} AS {translate(text)}")
                self.views.append(name)
                self.has_trap |= text == TRAP
                self.tally.views += 1
                self.compare([name])
            case ("drop", name):
                self.db.execute(f"DROP VIEW {name}")
                self.sql(f"DROP VIEW {name}")
                self.views.remove(name)
                self.subscribers.pop(name, None)
            case ("subscribe", name):
                self.subscribers[name] = Subscriber(self.db.view(name))
            case ("guard", name):
                self.db.table(name).subscribe(self.guard, when="before")
            case ("change", ending, statements):
                self.change(ending, statements)
            case _:
                raise AssertionError(step)

    def guard(self, change: object) -> None:
        if self.vetoing:
            raise Undo

    # Changing

    def change(self, ending: Any, statements: Sequence[Step]) -> None:
        """Makes a change in both. Rows are drawn with DuckDB first, then given to the database."""
        self.sql("BEGIN")
        calls: list[tuple[Any, ...]] = []
        for s in statements:
            calls += self.draw(s)
        queries = (*VIOLATIONS, TRAPPED) if self.has_trap else VIOLATIONS
        refused = any(self.sql(self.violation(q)) for q in queries if self.concerns(q))
        self.vetoing = ending == "veto"
        kept: bool | None = ending == "commit" and not refused
        try:
            kept = self.run(calls, ending, refused)
        finally:
            self.vetoing = False
        if kept is None:  # interrupted: the tables say which it is
            kept = not self.wrong_tables()
        self.sql("COMMIT" if kept else "ROLLBACK")
        self.compare(self.views)
        self.tally.transactions += 1

    def concerns(self, query: str) -> bool:
        return all(t in self.tables or f" FROM {t}" not in query for t in TABLES)

    @staticmethod
    def violation(query: str) -> str:
        return f"{query} LIMIT 1"

    def run(self, calls: Sequence[tuple[Any, ...]], ending: Any, refused: bool) -> bool | None:
        """Makes the calls; returns whether they are committed, or None if an interrupt leaves that open."""
        try:
            if isinstance(ending, tuple):
                _, place, *after = ending
                with Faults((place,), (Interrupted, MemoryError)[place % 2], *after) as faults:
                    self.transact(calls, ending)
                self.tally.faults += faults.raised
            else:
                self.transact(calls, ending)
        except Undo:
            return False
        except (Interrupted, MemoryError, ec.InternalError):
            self.tally.faults += 1
            return None
        except (ec.ConstraintError, ec.QueryError, ec.EvaluationError) as error:
            if isinstance(ending, tuple):
                return None
            if not refused:
                raise Wrong(f"refused without a reason: {error}") from error
            return False
        if refused and ending == "commit":
            raise Wrong(f"a violation was not refused: {[q for q in VIOLATIONS if self.sql(q)]}")
        return not refused

    def transact(self, calls: Sequence[tuple[Any, ...]], ending: Any) -> None:
        if len(calls) == 1 and ending != "undo":
            perform(self.db, calls[0])
            return
        with self.db.transaction():
            for call in calls:
                perform(self.db, call)
            if ending == "undo":
                raise Undo

    def draw(self, statement: Step) -> list[tuple[Any, ...]]:
        """Draws the rows of a statement, makes it in DuckDB, and returns the calls that make it in the database."""
        match statement:
            case ("sql", text):
                self.sql(translate(text))
                return [("sql", text)]
            case ("load", name, seed, count, "feed"):
                return self.feed(name, Random(seed), count)
            case ("load", "c", seed, count, ("without children" | "with one child") as whose):
                return self.parents_feed(Random(seed), count, whose == "with one child")
            case ("load", name, seed, count, how):
                random = Random(seed)
                rows = self.new_rows(name, random, count)
                if how in (
                    "bad",
                    "trapped",
                ):  # one row among the others violates a constraint, or makes a view fail
                    rows.insert(random.randrange(len(rows) + 1), self.bad_row(name, random))
                    how = "arrow"
                self.insert(name, rows)
                if how == "pandas" and any(v != v for row in rows for v in row):
                    how = "arrow"  # in a frame, NaN is NULL
                return [(how, name, rows)]
            case ("spoil", name, seed):
                row = self.bad_row(name, Random(seed))
                self.insert(name, [row])
                return [("list", name, [row])]
            case ("few", name, seed, count):
                return [c for i in range(count) for c in self.single(name, Random(seed + i))]
            case _:
                raise AssertionError(statement)

    def feed(self, name: str, random: Random, count: int) -> list[tuple[Any, ...]]:
        """Rows that are inserted, deleted, and replaced, in one change feed of columns."""
        present = self.numbered(name)
        gone = random.sample(present, min(len(present), int(count * random.choice((0.2, 0.5, 1.0)))))
        self.delete(name, [n for n, _ in gone])
        # Children may refer to customers, so those are replaced; few feeds delete them, which is mostly refused.
        all_stay = name == "c" and random.random() < 0.9
        replaced = [r for _, r in gone if all_stay or random.random() < 0.4]
        rest, width = self.values(name, random), len(KEYS.get(name, ()))
        new = [r if random.random() < 0.05 else (*r[:width], *rest()) for r in replaced]
        new += self.new_rows(name, random, max(count - len(gone), 10), also=new)
        self.insert(name, new)
        return [("feed", name, new, [r for _, r in gone])]

    def parents_feed(self, random: Random, count: int, refused: bool) -> list[tuple[Any, ...]]:
        """Customers without orders that are deleted, among new ones; with `refused`, also one that has an order."""
        referred = {i for (i,) in self.sql("SELECT DISTINCT cid FROM o")}
        present = self.numbered("c")
        childless = [r for r in present if r[1][0] not in referred]
        gone = random.sample(childless, min(len(childless), 1 + count // 4))
        parents = [r for r in present if r[1][0] in referred]
        if refused and parents:
            gone.append(random.choice(parents))
        self.delete("c", [n for n, _ in gone])
        new = self.new_rows("c", random, max(count - len(gone), 10), also=[r for _, r in gone])
        self.insert("c", new)
        return [("feed", "c", new, [r for _, r in gone])]

    def single(self, name: str, random: Random) -> list[tuple[Any, ...]]:
        """One row that is inserted, deleted or replaced."""
        present = self.numbered(name)
        kind = random.choice(("insert", "replace", "replace", "delete")) if present else "insert"
        if kind == "insert":
            rows = self.new_rows(name, random, 1)
            self.insert(name, rows)
            return [("list", name, rows)]
        number, row = random.choice(present)
        self.delete(name, [number])
        if kind == "delete" and (name != "c" or random.random() < 0.5):
            return [("delete", name, row)]
        new = (*row[: len(KEYS.get(name, ()))], *self.values(name, random)())
        self.insert(name, [new])
        return [("replace", name, row, new)]

    # Rows

    def numbered(self, name: str) -> list[tuple[int, Row]]:
        return [(r[0], r[1:]) for r in self.sql(f"SELECT rowid, * FROM {name} ORDER BY rowid")]

    def insert(self, name: str, rows: Sequence[Row]) -> None:
        given = arrow(name, rows)
        self.duck.connection.register("given", given)
        self.sql(f"INSERT INTO {name} SELECT * FROM given")
        self.duck.connection.unregister("given")

    def delete(self, name: str, numbers: Sequence[int]) -> None:
        if numbers:
            self.sql(f"DELETE FROM {name} WHERE rowid IN ({', '.join(map(str, numbers))})")

    def new_rows(self, name: str, random: Random, count: int, also: Sequence[Row] = ()) -> list[Row]:
        """Rows with keys that are free and references that exist."""
        rest = self.values(name, random)
        if name == "l":
            return [rest() for _ in range(count)]
        own = KEYS[name]
        there = {*self.sql(f"SELECT {', '.join(own)} FROM {name}"), *(r[: len(own)] for r in also)}
        texts = [t for t in TEXTS if t is not None]
        every = [(a, b) for a in range(1200) for b in texts] if name == "m" else [(i,) for i in range(12_000)]
        free = [k for k in every if k not in there]
        return [(*k, *rest()) for k in random.sample(free, min(count, len(free)))]

    def values(self, name: str, random: Random) -> Callable[[], Row]:
        """A function that draws the columns behind the key."""
        number, pick = random.randint, random.choice
        special = random.random() < 0.2
        parents = [*sorted(i for (i,) in self.sql("SELECT id FROM c")), None] if name == "o" else []

        def price() -> Any:
            return pick(SPECIAL) if special and random.random() < 0.01 else pick(PRICES)

        match name:
            case "c":
                return lambda: (f"n{number(0, 700)}", pick(TEXTS), Decimal(number(-500, 5000)).scaleb(-2))
            case "o":
                return lambda: (pick(parents), pick(DAYS), pick(QUANTITIES), price(), pick(TEXTS))
            case "m":
                return lambda: (number(-(10**10), 10**10),)
            case _:
                return lambda: (pick(PLACES), number(0, 12), number(-50, 50), price(), pick(TEXTS))

    def bad_row(self, name: str, random: Random) -> Row:
        """A row that violates a constraint, if the table is not empty, or makes the view TRAP fail."""
        drawn = self.new_rows(name, random, 1)
        if not drawn:  # every key is taken
            return random.choice(self.numbered(name))[1]
        (new,) = drawn
        if name == "l":
            return (*new[:2], 777, *new[3:])
        present = self.numbered(name)
        if name == "o" and random.random() < 0.6:
            return (new[0], 99_999, *new[2:]) if random.random() < 0.5 else (*new[:3], 1000, *new[4:])
        width = len(KEYS.get(name, ()))
        return (*random.choice(present)[1][:width], *new[width:]) if present else new

    # Comparing

    def wrong_tables(self) -> str:
        """What differs in the tables; empty if nothing does."""
        for name in self.tables:
            wrong = unlike(list(self.db.table(name).rows()), self.sql(f"SELECT * FROM {name}"))
            if wrong:
                return f"table {name}: {wrong}"
        return ""

    def compare(self, views: Sequence[str]) -> None:
        wrong = self.wrong_tables()
        if wrong:
            raise Wrong(wrong)
        for name in views:
            ours = list(self.db.view(name).rows())
            wrong = unlike(ours, self.sql(f"SELECT * FROM {name}"))
            if wrong:
                raise Wrong(f"{name}: {wrong}")
            if any(v.__class__ is float and v == 0 and str(v) != "0.0" for row in ours for v in row):
                raise Wrong(f"{name} shows a negative zero")
            if name in self.subscribers:
                self.subscribers[name].check(name, Counter(canonical_rows(ours)))


def unlike(ours: list[Row], theirs: list[Row]) -> str:
    """What differs; plain tuples first, since most answers are equal as they are."""
    return "" if Counter(ours) == Counter(theirs) else difference(ours, theirs)


TYPES: dict[str, list[tuple[str, Any]]] = {
    "c": [
        ("id", pyarrow.int32()),
        ("name", pyarrow.string()),
        ("region", pyarrow.string()),
        ("credit", pyarrow.decimal128(8, 2)),
    ],
    "o": [
        ("id", pyarrow.int32()),
        ("cid", pyarrow.int32()),
        ("day", pyarrow.date32()),
        ("qty", pyarrow.int32()),
        ("price", pyarrow.float64()),
        ("note", pyarrow.string()),
    ],
    "l": [
        ("a", pyarrow.int32()),
        ("b", pyarrow.int32()),
        ("v", pyarrow.int32()),
        ("x", pyarrow.float64()),
        ("s", pyarrow.string()),
    ],
    "m": [("a", pyarrow.int32()), ("b", pyarrow.string()), ("v", pyarrow.int64())],
}


def arrow(name: str, rows: Sequence[Row]) -> pyarrow.Table:
    columns = list(zip(*rows, strict=True)) or [()] * len(TYPES[name])
    return pyarrow.table([list(c) for c in columns], schema=pyarrow.schema(TYPES[name]))


def perform(db: Any, call: tuple[Any, ...]) -> None:
    """Makes one call, each kind by a way of its own."""
    match call:
        case ("sql", text):
            db.execute(text)
        case ("arrow", name, rows):
            db.table(name).insert(arrow(name, rows))
        case ("pandas", name, rows):
            db.table(name).insert(arrow(name, rows).to_pandas(types_mapper=None, date_as_object=True))
        case ("list", name, rows):
            db.table(name).insert(rows if len(rows) != 1 else rows[0])
        case ("dicts", name, rows):
            names = [n for n, _ in TYPES[name]]
            db.table(name).insert([dict(zip(names, r, strict=True)) for r in rows])
        case ("delete", name, row):
            db.table(name).delete(row)
        case ("replace", name, old, new):
            db.table(name).replace(old, new)
        case ("feed", name, inserted, deleted):
            kinds = ["delete"] * len(deleted) + ["insert"] * len(inserted)
            given = arrow(name, [*deleted, *inserted])
            db.apply({name: given.append_column("_change_type", pyarrow.array(kinds))})
        case _:
            raise AssertionError(call)


def follow(steps: Sequence[Step], tally: Tally | None = None) -> None:
    """Follows a history; raises Wrong at the first difference."""
    world = World(tally or Tally())
    try:
        for step in steps:
            world.step(step)
    finally:
        world.duck.close()


def script(steps: Sequence[Step], message: str) -> str:
    """Returns a script that follows the history."""
    lines = "\n".join(f"        {step!r}," for step in steps)
    said = "".join(f"# {line}\n" for line in message.splitlines())
    return f"from tests.fuzz.bulk_histories import follow\n\n{said}follow(\n    [\n{lines}\n    ]\n)\n"
