"""Random histories over tables: schemas, views, and transactions of many shapes.

Domains are small, so that keys collide, groups become empty and come back, and rows are there several times. Some tables have
a column that no view reads. Transactions are drawn by what they aim at:

    mixed       one to five statements of any kind
    unread      only columns that no view reads, and perhaps one read column of a parent
    family      a parent with all of its children
    nothing     updates that change nothing, and rows that are inserted and deleted again
    bulk        many rows at once: lists, change feeds, SQL with a condition, a whole table
    fast        rows one by one through the trusted fast path
    keys        keys that change, and keys that are exchanged
    refused     one statement that violates a key or a reference, among others
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from tests.fuzz.histories import NAN, Plain, Refused, Row, Statement, Step
from tests.laws.chooser import Seeded
from tests.laws.expressions import Scope, condition, expression
from tests.laws.queries import Grammar, Output
from tests.laws.schemas import SPELLING, Table

DOMAINS: dict[str, tuple[Any, ...]] = {
    "INT": (0, 1, 2, 3, None, -1),
    "STRING": ("a", "b", "", "B", None, "ab"),
    # Halves and quarters: their sums are exact in any order, so that DuckDB's floats compare exactly.
    "DOUBLE": (0.0, 0.5, -1.25, 2.0, None),
    "DECIMAL": (Decimal("0.00"), Decimal("1.50"), Decimal("2.25"), None, Decimal("-1.50")),
    "BOOLEAN": (False, True, None),
    "DATE": (datetime.date(2024, 1, 1), datetime.date(2024, 2, 29), None),
}
SPECIAL = (-0.0, float("inf"), float("-inf"), NAN)
KINDS = ("INT", "INT", "STRING", "DECIMAL", "DOUBLE", "BOOLEAN", "DATE")
NUMBERS = ("DOUBLE", "INT")
UNREAD = "unread"
KEYS = 10
MANY = 24
"""A table with so many rows mostly loses rows."""


class Drawn:
    """A table that is being drawn: its plain rows, and the kinds of its columns."""

    def __init__(self, c: Seeded, name: str, parents: list[Drawn]) -> None:
        kinds = [
            ("k", "INT"),
            *((f"c{j}", c.pick(c.pick((KINDS, KINDS, NUMBERS)))) for j in range(c.number(1, 3))),
        ]
        if c.chance(50):
            kinds.insert(c.number(1, len(kinds)), (UNREAD, "INT"))
        self.parent = c.pick(parents) if parents and c.chance(65) else None
        if self.parent is not None:
            kinds.append(("p", "INT"))
        self.keyed = c.chance(60)
        self.kinds = dict(kinds)
        self.nulls = c.pick((0, 0, 0, 60))  # a table of many NULLs
        self.children: list[Drawn] = []
        if self.parent is not None:
            self.parent.children.append(self)
        self.plain = Plain(
            name, [n for n, _ in kinds], int(self.keyed), self.parent.plain.name if self.parent else None
        )

    @property
    def name(self) -> str:
        return self.plain.name

    def create(self) -> str:
        parts = [f"{name} {SPELLING.get(kind, kind)}" for name, kind in self.kinds.items()]
        if self.keyed:
            parts[0] += " PRIMARY KEY"
        if self.parent is not None:
            parts.append(f"FOREIGN KEY (p) REFERENCES {self.parent.name} (k)")
        return f"CREATE TABLE {self.name} ({', '.join(parts)})"

    def step(self) -> Step:
        p = self.plain
        return ("table", p.name, p.columns, p.keys, p.parent, self.create())

    def readable(self) -> Table:
        """The table as queries may see it."""
        return Table(
            self.name,
            [(n, k) for n, k in self.kinds.items() if not n.startswith((UNREAD, "added"))],
            keyed=self.keyed,
        )


class History:
    """Draws steps one after another; the plain tables are what they lead to."""

    def __init__(self, c: Seeded) -> None:
        self.c = c
        self.tables: list[Drawn] = []
        for i in range(c.number(2, 4)):
            keyed = [t for t in self.tables if t.keyed]
            self.tables.append(Drawn(c, f"t{i}", keyed))
        self.steps: list[Step] = [t.step() for t in self.tables]
        self.readable = [t.readable() for t in self.tables]
        self.views: list[str] = []
        self.plains = {t.name: t.plain for t in self.tables}
        self.names = 0
        self.subscribers = c.pick((0, 0, 40, 80))  # a lazy view without one waits
        self.modes = c.pick((("strict",), ("strict", "hybrid", "lazy"), ("lazy",)))
        self.special = SPECIAL[: c.number(1, len(SPECIAL))]
        self.specials = c.pick((12, 12, 50))  # rarely many: one NaN hides what else is in a sum
        self.guarded = c.chance(50)
        if self.guarded:
            self.steps.append(("guard",))

    # Views

    def view(self) -> None:
        """Defines a view over tables and earlier views."""
        grammar = Grammar(self.c, self.readable, names=self.names)
        if self.c.chance(25):
            text, output = self.summary(grammar)
        else:
            text, output = grammar.query(self.c.pick((0, 1, 1, 2)))
        self.names = grammar.names
        name = f"v{len(self.views)}"
        mode = self.c.pick(self.modes)
        self.steps.append(("view", name, text, mode))
        if self.c.chance(self.subscribers):
            self.steps.append(("subscribe", name))
        self.views.append(name)
        if output and distinct_names(output):
            self.readable.append(Table(name, output))
        for column, kind in output:
            if kind == "DOUBLE" and self.c.chance(60):  # a NaN of one delta must be that of another
                over = f"v{len(self.views)}"
                text = f"SELECT {column} AS x, COUNT(*) AS n FROM {name} GROUP BY {column}"
                self.steps.append(("view", over, text, self.c.pick(self.modes)))
                self.views.append(over)

    def summary(self, grammar: Grammar) -> tuple[str, Output]:
        """Draws several aggregates of one relation, where groups become empty and values of all kinds leave sums."""
        source, scope = grammar.leaf(0)
        keys = [self.c.pick(scope)] if self.c.chance(60) else []
        output = [(grammar.fresh("k"), key.kind) for key in keys]
        items = [f"{key.text} AS {name}" for key, (name, _) in zip(keys, output, strict=True)]
        for _ in range(self.c.number(2, 4)):
            column = self.c.pick([v for v in scope if v.kind in ("DOUBLE", "DECIMAL", "INT")] or scope)
            functions = ["MIN", "MAX", "COUNT", "COUNT(DISTINCT"]
            if column.kind in ("DOUBLE", "DECIMAL", "INT"):
                functions += ["SUM", "SUM", "AVG", "AVG", "SUM(DISTINCT"]
            function = self.c.pick(functions)
            term = self.compound(scope, column.kind) if self.c.chance(50) else column.text
            call = f"{function} {term})" if "(" in function else f"{function}({term})"
            if self.c.chance(35):
                call += f" FILTER (WHERE {condition(self.c, scope, 1)})"
            name = grammar.fresh("g")
            items.append(f"{call} AS {name}")
            if function in ("MIN", "MAX") or (column.kind == "DOUBLE" and function in ("SUM", "AVG")):
                output.append((name, column.kind))  # a view over this one sees what such a sum becomes
        group = f" GROUP BY {keys[0].text}" if keys else ""
        return f"SELECT {', '.join(items)} FROM {source}{group}", output

    def compound(self, scope: Scope, kind: str) -> str:
        """An argument that is no plain column, and that may be NULL although its columns are not."""
        left, right = (expression(self.c, scope, kind, 1) for _ in range(2))
        if kind == "DOUBLE" and self.c.chance(50):
            return f"{left} / NULLIF({right}, CAST('0.0' AS DOUBLE))"
        if kind == "INT" and self.c.chance(50):
            return f"{left} * CASE WHEN {condition(self.c, scope, 1)} THEN {right} END"
        return expression(self.c, scope, kind, 2)

    def read(self) -> None:
        if self.views:
            self.steps.append(("read", self.c.pick(self.views)))

    # Transactions

    def calm_change(self) -> None:
        """Draws a transaction that changes no referred row in a column that is read, so that assumptions stand."""
        before = {n: Counter(p.rows) for n, p in self.plains.items()}
        drawn: list[Statement] = []
        for _ in range(self.c.number(1, 3)):
            table = self.c.pick(self.tables)
            row = self.present(table)
            if row is not None and UNREAD in table.kinds and self.c.chance(40):
                drawn.append(self.update(table, row, [UNREAD]))
            elif row is not None and not self.referred_to(table, row) and self.c.chance(30):
                drawn.append(self.make(("delete", table.name, row)))
            else:
                drawn.append(self.make(("insert", table.name, [self.row(table)])))
        if self.c.chance(5):
            self.restore(before)
            self.steps.append(("change", "veto" if self.guarded else "undo", drawn))
        else:
            self.steps.append(("change", "commit", drawn))

    def change(self, aimed: bool = False) -> None:
        """Draws one transaction, makes it on the plain tables, and undoes it there if it is refused or to be undone.

        `aimed`: a parent, with its children or with columns that nobody reads.
        """
        before = {n: Counter(p.rows) for n, p in self.plains.items()}
        drawn: list[Statement] = []
        shapes: tuple[Callable[[], list[Statement]], ...] = (
            self.mixed,
            self.mixed,
            self.mixed,
            self.unread,
            self.family,
            self.nothing,
            self.bulk,
            self.keys,
            self.refused,
            self.fast,
        )
        try:
            for s in self.c.pick((self.family, self.unread) if aimed else shapes)():
                drawn.append(s)
            self.intact()
        except Refused:
            self.restore(before)
        if not drawn:
            return
        ending = "commit"
        if drawn[0][0].startswith("feed") or (len(drawn) == 1 and self.c.chance(60)):
            ending = "single"
        elif self.c.chance(15 if self.guarded else 6):
            ending = "veto" if self.guarded and self.c.chance(80) else "undo"
            self.restore(before)
        self.steps.append(("change", ending, drawn))

    def restore(self, before: dict[str, Counter[Row]]) -> None:
        for name, rows in before.items():
            self.plains[name].rows = rows

    def intact(self) -> None:
        for plain in self.plains.values():
            plain.check(self.plains)

    def make(self, statement: Statement) -> Statement:
        self.plains[statement[1]].change(statement)
        return statement

    def row(self, table: Drawn, key: Any = None) -> Row:
        values = []
        for name, kind in table.kinds.items():
            if name == "k" and table.keyed:
                values.append(self.free_key(table) if key is None else key)
            else:
                values.append(self.value(table, name, kind))
        return tuple(values)

    def value(self, table: Drawn, name: str, kind: str) -> Any:
        if name == "p":
            assert table.parent is not None
            return self.c.pick([*sorted(r[0] for r in table.parent.plain.rows), None])
        if self.c.chance(table.nulls):
            return None
        if kind == "DOUBLE" and self.c.chance(self.specials):
            return self.c.pick(self.special)
        return self.c.pick(DOMAINS[kind])

    def free_key(self, table: Drawn) -> int:
        taken = {row[0] for row in table.plain.rows}
        free = [k for k in range(KEYS + len(taken) // 8) if k not in taken]
        return self.c.pick(free) if free else max(taken) + 1

    def present(self, table: Drawn) -> Row | None:
        rows = list(table.plain.rows)
        return self.c.pick(rows) if rows else None

    def referred_to(self, table: Drawn, row: Row) -> bool:
        return any(r[-1] == row[0] for child in table.children for r in child.plain.rows)

    def some_values(self, table: Drawn, columns: list[str], most: int = 2) -> dict[str, Any]:
        chosen = {self.c.pick(columns) for _ in range(self.c.number(1, most))}
        return {n: self.value(table, n, table.kinds[n]) for n in table.kinds if n in chosen}

    def mixed(self) -> list[Statement]:
        return [s for _ in range(self.c.number(1, 5)) if (s := self.any_statement())]

    def any_statement(self) -> Statement | None:
        table = self.c.pick(self.tables)
        row = self.present(table)
        if row is None:
            return self.make(("insert", table.name, [self.row(table)]))
        full = table.plain.rows.total() > MANY
        kinds = ("insert", "insert", "delete", "update", "update", "replace", "update sql", "upsert")
        match self.c.pick(("delete", "delete", "update", "delete sql") if full else kinds):
            case "insert":
                how = self.c.pick(("insert", "insert sql", "insert arrow"))
                return self.make((how, table.name, [self.row(table)]))
            case "upsert":
                return self.upsert(table) if table.keyed else None
            case "delete":
                return None if self.referred_to(table, row) else self.make(("delete", table.name, row))
            case "update":
                return self.update(table, row, [n for n in table.kinds if n != "k"])
            case "replace":
                new = self.row(table, row[0] if self.referred_to(table, row) or self.c.chance(50) else None)
                return self.make(("replace", table.name, row, new))
            case "update sql":
                by = self.c.pick(list(table.kinds))
                values = self.some_values(table, [n for n in table.kinds if n != "k"])
                how = self.c.pick(("update sql", "update by"))
                return self.make((how, table.name, by, row[table.plain.columns.index(by)], values))
            case _:
                if table.children:
                    return None
                by = self.c.pick(list(table.kinds))
                how = self.c.pick(("delete sql", "delete by"))
                return self.make((how, table.name, by, row[table.plain.columns.index(by)]))

    def upsert(self, table: Drawn) -> Statement:
        """Rows of which some have keys that are there, and what is done with those."""
        rows: dict[Any, Row] = {}
        for _ in range(self.c.number(1, 3)):
            present = self.present(table)
            key = present[0] if present is not None and self.c.chance(60) else None
            row = self.row(table, key)
            rows[row[0]] = row
        how = self.c.pick(("update", "update", "nothing", "replace", "method"))
        others = [n for n in table.kinds if n != "k"]
        columns = sorted({self.c.pick(others) for _ in range(self.c.number(1, 3))})
        return self.make(("upsert", table.name, list(rows.values()), how, columns))

    def alter(self) -> None:
        """Alters a table that refers to nothing: its last column is not a reference."""
        free = [t for t in self.tables if t.parent is None and t.plain.columns == tuple(t.kinds)]
        if not free:
            return
        table = self.c.pick(free)
        self.names += 1
        unread = [n for n in table.kinds if n.startswith((UNREAD, "added"))]
        what = self.c.pick(("add", "add", "drop", "rename")) if unread else "add"
        column = f"added{self.names}" if what == "add" else self.c.pick(unread)
        value = {"add": self.c.pick((None, 7)), "rename": f"{UNREAD}{self.names}"}.get(what)
        if table.children and what != "add":
            return
        if what == "add":
            table.kinds[column] = "INT"
        elif what == "drop":
            del table.kinds[column]
        else:
            table.kinds = {value if n == column else n: k for n, k in table.kinds.items()}
        table.plain.alter(what, column, value)
        self.steps.append(("alter", table.name, what, column, value))

    def index(self) -> None:
        table = self.c.pick(self.tables)
        self.names += 1
        columns = sorted({self.c.pick(list(table.kinds)) for _ in range(self.c.number(1, 2))})
        if not any(n.startswith((UNREAD, "added")) for n in columns):  # such a column may be dropped
            self.steps.append(("index", f"i{self.names}", table.name, columns))

    def look_up(self) -> None:
        """Reads by the column of an index, or by any."""
        indexed = [(s[2], s[3][0]) for s in self.steps if s[0] == "index"]
        if indexed and self.c.chance(80):
            name, column = self.c.pick(indexed)
        else:
            table = self.c.pick(self.tables)
            name, column = table.name, self.c.pick(list(table.kinds))
        kind = next(t.kinds[column] for t in self.tables if t.name == name)
        value = self.c.pick([v for v in DOMAINS[kind] if v is not None])
        self.steps.append(("lookup", name, column, value))

    def update(self, table: Drawn, row: Row, columns: list[str]) -> Statement:
        values = self.some_values(table, columns)
        if table.keyed:
            return self.make(("update", table.name, row[0], values))
        return self.make(("replace", table.name, row, table.plain.with_values(row, values)))

    def unread(self) -> list[Statement]:
        drawn = []
        for _ in range(self.c.number(1, 5)):
            table = self.c.pick([t for t in self.tables if UNREAD in t.kinds] or self.tables)
            row = self.present(table)
            if row is not None and UNREAD in table.kinds:
                drawn.append(self.update(table, row, [UNREAD]))
        parents = [t for t in self.tables if t.children and t.plain.rows]
        if parents and self.c.chance(50):
            table = self.c.pick(parents)
            row = self.present(table)
            if row is not None:
                drawn.append(self.update(table, row, [n for n in table.kinds if n not in ("k", UNREAD)]))
        return drawn

    def family(self) -> list[Statement]:
        parents = [t for t in self.tables if t.children and t.plain.rows]
        if not parents:
            return self.mixed()
        table = self.c.pick(parents)
        row = self.present(table)
        assert row is not None
        drawn = []
        for child in table.children:
            for r in [r for r in child.plain.rows if r[-1] == row[0]]:
                columns = [n for n in child.kinds if n not in ("k", "p")]
                drawn.append(self.update(child, r, [UNREAD] if UNREAD in child.kinds else columns))
        at = self.c.pick((0, len(drawn)))
        drawn.insert(at, self.update(table, row, [n for n in table.kinds if n not in ("k", "p")]))
        return drawn

    def nothing(self) -> list[Statement]:
        drawn: list[Statement] = []
        for _ in range(self.c.number(1, 3)):
            table = self.c.pick(self.tables)
            row = self.present(table)
            if row is None or self.c.chance(40):
                new = self.row(table)
                drawn += [self.make(("insert", table.name, [new])), self.make(("delete", table.name, new))]
            elif self.c.chance(50):
                drawn.append(self.make(("replace", table.name, row, row)))
            else:
                by = self.c.pick(list(table.kinds))
                value = row[table.plain.columns.index(by)]
                drawn.append(self.make(("update sql", table.name, by, value, {by: value})))
        return drawn

    def bulk(self) -> list[Statement]:
        drawn: list[Statement] = []
        table = self.c.pick(self.tables)
        if not table.children and self.c.chance(40):
            drawn.append(self.make(("clear", table.name)))
        if table.plain.rows.total() <= MANY:
            rows: list[Row] = []
            for _ in range(self.c.number(2, 9)):
                row = self.row(table)
                times = 1 if table.keyed else self.c.pick((1, 1, 2))
                rows += [row] * times
                table.plain.add(row, times)
            for row in rows:
                table.plain.add(row, -1)
            drawn.append(self.make((self.c.pick(("insert", "insert arrow", "insert sql")), table.name, rows)))
        other = self.c.pick(self.tables)
        if other is not table and not other.children and self.c.chance(50):
            gone = [r for r in other.plain.rows if self.c.chance(50)]
            new = [self.row(other)]
            if gone or new:
                drawn.append(self.make(("apply", other.name, new, gone)))
        return drawn

    def fast(self) -> list[Statement]:
        """One statement of the trusted fast path, which takes canonical values only and belongs to no transaction."""
        table = self.c.pick(self.tables)
        row = self.present(table)
        if row is None or self.c.chance(50):
            rows = [self.row(table)]
            return [self.make(("feed insert", table.name, rows))] if canonical(rows[0]) else []
        gone = canonical(row) and not self.referred_to(table, row)
        return [self.make(("feed delete", table.name, row))] if gone else []

    def keys(self) -> list[Statement]:
        table = self.c.pick([t for t in self.tables if t.keyed] or self.tables)
        free = [r for r in table.plain.rows if not self.referred_to(table, r)]
        if not table.keyed or not free:
            return self.mixed()
        row = self.c.pick(free)
        others = [r for r in free if r[0] != row[0]]
        if others and self.c.chance(50):  # two rows exchange their keys
            other = self.c.pick(others)
            one, two = (other[0], *row[1:]), (row[0], *other[1:])
            return [
                self.make(("replace", table.name, row, one)),
                self.make(("replace", table.name, other, two)),
            ]
        return [self.make(("replace", table.name, row, (self.free_key(table), *row[1:])))]

    def refused(self) -> list[Statement]:
        """Statements of which one is wrong; the plain tables raise Refused after the last."""
        drawn = self.mixed() if self.c.chance(50) else []
        keyed = [t for t in self.tables if t.keyed and t.plain.rows]
        referred = [(t, r) for t in keyed for r in t.plain.rows if self.referred_to(t, r)]
        if referred and self.c.chance(60):
            table, row = self.c.pick(referred)
            drawn.append(self.make(("delete", table.name, row)))
        elif keyed:
            table = self.c.pick(keyed)
            row = self.present(table)
            assert row is not None
            drawn.append(self.make(("insert", table.name, [self.row(table, row[0])])))
        return drawn


def canonical(row: Row) -> bool:
    """Says whether the engine represents every value as it is written: neither NaN nor the negative zero."""
    return not any(isinstance(v, float) and (v != v or str(v) == "-0.0") for v in row)


def distinct_names(output: Output) -> bool:
    return len({name for name, _ in output}) == len(output)


def history(seed: int, transactions: int) -> list[Step]:
    """Returns the history of a seed: views before the data, in the middle and late."""
    c = Seeded(seed)
    drawn = History(c)
    kept = c.chance(12)
    if kept:
        drawn.steps.insert(0, ("file", seed))
    for _ in range(c.number(0, 2)):
        drawn.view()
    for _ in range(c.number(1, 6)):
        drawn.calm_change()
    for _ in range(c.number(1, 3)):
        drawn.view()
    # While no referred row changes, references are assumed to be stable; the first change of one is the test.
    calm = c.number(3, 12) if c.chance(40) else 0
    for i in range(transactions):
        if i < calm:
            drawn.calm_change()
        else:
            drawn.change(aimed=0 < calm == i)
        if c.chance(10):
            drawn.read()
        if c.chance(3):
            drawn.index()
        if c.chance(8):
            drawn.look_up()
        if c.chance(2):
            drawn.alter()
        if kept and c.chance(3):
            drawn.steps.append(("reopen",))
        if i == transactions // 2 and c.chance(40):
            drawn.view()
    return drawn.steps
