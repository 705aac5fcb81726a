"""Random transactions that aim at what a program assumes: that a parent does not change while children refer to it.

unread       rows of one or several tables change in a column that no view reads
family       a parent changes together with every child of it, and sometimes with their children
kin          rows that views join with each other change, each in an unread column or in any
beside       a parent changes in an unread column, other tables in any
move         children move to another parent, and one of the two parents changes
again        a parent is deleted and inserted again with its key; its children are cut off in between, or deleted
fewer, more  a parent changes while children of it are deleted, or inserted
above        a row moves to a parent that is new, and its own children change
codes        two parents exchange their other key
any          changes of any columns

An assumption that is broken once is given up for good, so a history is careful. Some tables are free and change in any column. What
views read of the others changes for the first time in a transaction of a kind that is drawn for the history, after a moment that is
drawn for the table, if ever; from then on the table is free. Until then it changes in its unread column.
"""

from __future__ import annotations

from typing import Any

from tests.fuzz.random_families import Drawn, Family, Link, Row, Views
from tests.laws.chooser import Chooser, Seeded

Step = tuple[Any, ...]
Statement = tuple[Any, ...]
NEVER = 1000
FEW, MANY = 3, 9
"""A table of fewer rows gets another one; one of more gets no more."""


class Changes:
    """Draws transactions, and keeps the rows of the family as they leave them."""

    def __init__(self, c: Chooser, family: Family) -> None:
        self.c, self.family = c, family
        self.tables = list(family.tables.values())
        self.turn, self.count = 0, 0
        self.frozen = {t.name: c.pick((0, 3, NEVER, NEVER)) for t in self.tables}
        self.free = {t.name for t in self.tables if c.chance(20) or not family.links_to(t.name)}
        self.statements: list[Statement] = []
        self.kinds = (
            self.kin, self.kin, self.kin, self.family_together, self.family_together, self.beside, self.unread, self.move, self.again, self.fewer,
            self.more, self.above, self.codes, self.any,
        )  # fmt: skip
        self.kind = self.any
        self.breaking = {self.family_together if c.chance(60) else c.pick(self.kinds)}
        if c.chance(30):
            self.breaking.add(c.pick(self.kinds))

    def transaction(self) -> Step:
        self.turn += 1
        self.statements = []
        for table in self.tables:
            if len(table.rows) < FEW:
                self.insert(table)
        while not self.statements:
            self.kind = self.c.pick(self.kinds)
            self.kind()
        single = len(self.statements) == 1 and self.c.chance(70)
        return ("change", "single" if single else "commit", self.statements)

    def fill(self) -> Step:
        """Rows for every table, parents first."""
        self.statements = []
        for table in self.tables:
            for _ in range(self.c.number(1, 4)):
                self.insert(table)
        return ("change", "commit", self.statements)

    # Statements

    def fresh(self) -> int:
        self.count += 1
        return self.count

    def number(self) -> int | None:
        return None if self.c.chance(8) else self.c.number(0, 4)

    def value(self, table: Drawn, column: str) -> Any:
        link = next((link for link in table.links if link.column == column), None)
        if link is not None:
            parent = self.family.tables[link.parent]
            if not parent.rows or (link.nullable and self.c.chance(10)):
                return None
            return parent.value(self.c.pick(list(parent.rows)), link.key)
        match column:
            case "a":
                return self.number()
            case "b":
                return self.c.pick("pqrs")
            case _:
                return self.fresh()

    def insert(self, table: Drawn, **given: Any) -> int | None:
        for link in table.links:
            if not link.nullable and not self.family.tables[link.parent].rows:
                return None
        row = tuple(given[n] if n in given else self.value(table, n) for n in table.columns)
        table.rows[row[0]] = row
        self.statements.append(("insert", table.name, [row]))
        return int(row[0])

    def delete(self, table: Drawn, key: int) -> None:
        self.statements.append(("delete", table.name, table.rows.pop(key)))

    def delete_all(self, table: Drawn, key: int) -> None:
        """Deletes a row; what refers to it is cut off or deleted before."""
        if key not in table.rows:
            return
        for link in self.family.links_to(table.name):
            for k in self.family.referring(link, key):
                if link.child == table.name or (link.nullable and self.c.chance(50)):
                    self.set(self.family.tables[link.child], k, {link.column: None})
                else:
                    self.delete_all(self.family.tables[link.child], k)
        self.delete(table, key)

    def set(self, table: Drawn, key: int, values: dict[str, Any]) -> None:
        if key not in table.rows or not values:
            return
        row = table.with_values(key, values)
        old, table.rows[key] = table.rows[key], row
        ways = ("update", "update", "update", "update sql", "merge", "apply", "replace")
        match self.c.pick(ways):
            case "apply":
                self.statements.append(("apply", {table.name: ([row], [old])}))
            case "replace":
                self.statements += [("delete", table.name, old), ("insert", table.name, [row])]
            case way:
                self.statements.append((way, table.name, key, values))

    # Columns

    def change_unread(self, table: Drawn, key: int) -> None:
        if "u" in table.columns:
            self.set(table, key, {"u": self.fresh()})

    def may_break(self, table: Drawn) -> bool:
        """Says whether this transaction may change what views read of the table."""
        if table.name not in self.free and self.kind in self.breaking and self.turn > self.frozen[table.name]:
            self.free.add(table.name)
        return table.name in self.free

    def change(self, table: Drawn, key: int) -> None:
        """Changes what views may read, or where that is not to be what they do not."""
        if not self.may_break(table):
            self.change_unread(table, key)
            return
        column = self.c.pick(("b", "b", "a"))
        values = {column: self.value(table, column)}
        if "u" in table.columns and self.c.chance(30):
            values["u"] = self.fresh()
        self.set(table, key, values)

    # Rows

    def some_row(self, tables: list[Drawn]) -> tuple[Drawn, int] | None:
        found = [t for t in tables if t.rows]
        if not found:
            return None
        table = self.c.pick(found)
        return table, self.c.pick(list(table.rows))

    def some_parent(self) -> tuple[Drawn, int, list[tuple[Link, int]]] | None:
        """A row that others refer to, and those."""
        found = []
        for table in self.tables:
            for key in table.rows:
                children = [
                    (link, k)
                    for link in self.family.links_to(table.name)
                    for k in self.family.referring(link, key)
                    if (link.child, k) != (table.name, key)
                ]
                if children:
                    found.append((table, key, children))
        # mostly one of whose children others refer to
        higher = [f for f in found if any(self.is_referred_to(link.child, k) for link, k in f[2])]
        return self.c.pick(higher if higher and self.c.chance(60) else found) if found else None

    def is_referred_to(self, name: str, key: int) -> bool:
        return any(self.family.referring(link, key) for link in self.family.links_to(name))

    def touch(self, table: Drawn, key: int, depth: int) -> None:
        """Changes a row, in an unread column if there is one, and its descendants down to a depth."""
        if "u" in table.columns and self.c.chance(85):
            self.change_unread(table, key)
        elif self.c.chance(70):
            self.change(table, key)
        for link in self.family.links_to(table.name) if depth > 0 else ():
            for k in self.family.referring(link, key):
                self.touch(self.family.tables[link.child], k, depth - 1)

    # Kinds of transactions

    def unread(self) -> None:
        for _ in range(self.c.number(1, 5)):
            found = self.some_row([t for t in self.tables if "u" in t.columns])
            if found is not None:
                self.change_unread(*found)

    def family_together(self) -> None:
        found = self.some_parent()
        if found is None:
            return self.any()
        table, key, children = found
        depth = self.c.pick((0, 0, 0, 1, 2))
        first = self.c.chance(50)
        if first:
            self.change(table, key)
        for link, k in children:
            self.touch(self.family.tables[link.child], k, depth)
        if not first:
            self.change(table, key)
        return None

    def beside(self) -> None:
        found = self.some_parent()
        if found is not None:
            self.change_unread(*found[:2])
        for _ in range(self.c.number(1, 3)):
            other = self.some_row(self.tables)
            if other is not None:
                self.change(*other)

    def kin(self) -> None:
        found = self.some_row([t for t in self.tables if t.links])
        if found is None:
            return
        rows = self.connected(*found)
        for _ in range(self.c.number(2, 4)):
            table, key = self.c.pick(rows)
            (self.change_unread if self.c.chance(50) else self.change)(table, key)

    def connected(self, table: Drawn, key: int) -> list[tuple[Drawn, int]]:
        """A row, its parents and their parents, and some child of each of them."""
        found = [(table, key)]
        for link in table.links:
            parent = self.family.tables[link.parent]
            above = [k for k in parent.rows if parent.value(k, link.key) == table.value(key, link.column)]
            if above and parent is not table:
                found += self.connected(parent, above[0])
        for link in self.family.links_to(table.name):
            children = self.family.referring(link, key)
            if children:
                found.append((self.family.tables[link.child], self.c.pick(children)))
        return found

    def move(self) -> None:
        found = self.some_parent()
        if found is None:
            return
        table, key, children = found
        target = self.c.pick(list(table.rows))
        for link, k in children:
            child = self.family.tables[link.child]
            if self.c.chance(70) and self.may_break(child):
                self.set(child, k, {link.column: table.value(target, link.key)})
        self.change(table, self.c.pick((key, target)))

    def again(self) -> None:
        found = self.some_parent()
        if found is None or not self.may_break(found[0]):
            return
        table, key, children = found
        row = dict(zip(table.columns, table.rows[key], strict=True))
        self.delete_all(table, key)
        kept = {n: v for n, v in row.items() if n in ("id", "code") or self.c.chance(50)}
        for link in table.links:
            kept.pop(link.column, None)
        if self.insert(table, **kept) is None:
            return
        for link, k in children:
            child = self.family.tables[link.child]
            if k in child.rows and self.c.chance(70):
                self.set(child, k, {link.column: row[link.key]})

    def fewer(self) -> None:
        found = self.some_parent()
        if found is None:
            return
        table, key, children = found
        everyone = self.c.chance(60)
        for link, k in children:
            child = self.family.tables[link.child]
            if k in child.rows and (everyone or self.c.chance(50)):
                self.delete_all(child, k)
        self.change(table, key)

    def more(self) -> None:
        link = self.c.pick(list(self.family.links()))
        parent = self.family.tables[link.parent]
        if parent.rows:
            key = self.c.pick(list(parent.rows))
            for _ in range(self.c.number(1, 2)):
                self.insert(self.family.tables[link.child], **{link.column: parent.value(key, link.key)})
            self.change(parent, key)

    def above(self) -> None:
        found = self.some_row([t for t in self.tables if t.links])
        if found is None:
            return
        table, key = found
        link = self.c.pick(table.links)
        parent = self.family.tables[link.parent]
        if table is not parent and self.may_break(table):
            new = self.insert(parent)
            if new is not None:
                self.set(table, key, {link.column: parent.value(new, link.key)})
        self.touch(table, key, 1)
        other = self.some_row(self.tables)
        if other is not None:
            self.change(*other)

    def codes(self) -> None:
        coded = [t for t in self.tables if "code" in t.columns and len(t.rows) > 1]
        if not coded:
            return
        table = self.c.pick(coded)
        one, two = self.c.pick(list(table.rows)), self.c.pick(list(table.rows))
        if one != two and self.may_break(table):
            codes = table.value(one, "code"), table.value(two, "code")
            rows = [
                (k, table.rows[k], table.with_values(k, {"code": v}))
                for k, v in ((one, codes[1]), (two, codes[0]))
            ]
            for k, _, row in rows:
                table.rows[k] = row
            changed = ([row for _, _, row in rows], [old for _, old, _ in rows])
            self.statements.append(("apply", {table.name: changed}))
        self.beside()

    def any(self) -> None:
        for _ in range(self.c.number(1, 3)):
            table = self.c.pick(self.tables)
            if not table.rows or (len(table.rows) < MANY and self.c.chance(40)):
                self.insert(table)
            else:
                key = self.c.pick(list(table.rows))
                if len(table.rows) >= MANY or self.c.chance(20):
                    self.delete_all(table, key)
                else:
                    self.change(table, key)


def through_feed(step: Step) -> Step:
    """The same change through the trusted feed, if it is one row that is inserted or deleted."""
    match step:
        case ("change", "single", [("insert", name, [row])]):
            return ("change", "single", [("feed insert", name, row)])
        case ("change", "single", [("delete", name, row)]):
            return ("change", "single", [("feed delete", name, row)])
    return step


def history(seed: int, transactions: int) -> list[Step]:
    """Returns the history of a seed: views before the rows, after them and in the middle."""
    c = Seeded(seed)
    family = Family(c)
    changes, views = Changes(c, family), Views(c, family)
    steps: list[Step] = [("table", t.name, t.columns, t.create()) for t in changes.tables]
    names: list[str] = []

    def view() -> None:
        name = f"v{len(names)}"
        steps.append(("view", name, views.query(), "strict" if c.chance(80) else c.pick(("hybrid", "lazy"))))
        names.append(name)
        views.drawn.append(name)
        if c.chance(20):
            steps.append(("subscribe", name))

    first = c.number(0, 2)
    for _ in range(first):
        view()
    steps.append(changes.fill())
    for _ in range(max(1 - first, c.number(0, 1))):
        view()
    for i in range(transactions):
        step = changes.transaction()
        steps.append(through_feed(step) if c.chance(50) else step)
        if i == transactions // 2 and c.chance(30):
            view()
    return steps


__all__ = ["Changes", "Row", "history"]
