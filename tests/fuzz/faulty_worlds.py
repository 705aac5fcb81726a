"""Databases with a state of every kind, to be interrupted: one of tables, one of objects.

A world makes a database with some views, draws transactions for it and reads everything that it holds. A transaction is a list
of steps, so that it can be run on a twin without faults:

    [("insert", "orders", (101, 2, 7, 1)), ("delete", "log", ("x",))]
    [("new", "emp", "e9"), ("set", "e3", "age", 40), ("pick", "d1", "e3")]
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Protocol

import evercurrent as ec
from tests.laws.chooser import Seeded

Step = tuple[Any, ...]
Contents = dict[str, list[Any]]

TABLES = (
    "CREATE TABLE customers (id BIGINT PRIMARY KEY, name STRING UNIQUE)",
    "CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT REFERENCES customers (id), "
    "total BIGINT CHECK (total >= 0), day BIGINT)",
    "CREATE TABLE log (text STRING)",
    "CREATE TABLE edges (a BIGINT, b BIGINT)",
)

VIEWS = {
    "spend": "SELECT customer, SUM(total) AS s, MIN(total) AS low, MAX(day) AS late, COUNT(*) AS n FROM orders GROUP BY customer",
    "best": "SELECT id, total FROM orders ORDER BY total DESC, id LIMIT 2",
    "best_of_spend": "SELECT customer, SUM(total) AS s FROM orders GROUP BY customer ORDER BY s DESC, customer LIMIT 1",
    "ranked": "SELECT id, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY total, id) AS r, "
    "SUM(total) OVER (PARTITION BY customer ORDER BY day, id) AS running FROM orders",
    "named": "SELECT o.id, c.name, o.total FROM orders o LEFT JOIN customers c ON c.id = o.customer",
    "both": "SELECT c.name, o.total FROM customers c FULL JOIN orders o ON c.id = o.customer AND o.total > 3",
    "lonely": "SELECT name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)",
    "totals": "SELECT COUNT(*) AS n, SUM(total) AS s, AVG(total) AS a FROM orders",
    "texts": "SELECT DISTINCT text FROM log",
    "days": "SELECT day FROM orders EXCEPT SELECT a FROM edges",
    "kinds": "SELECT customer, COUNT(DISTINCT total) AS n FROM orders GROUP BY customer",
    "reach": "WITH RECURSIVE r (a, b) AS (SELECT a, b FROM edges UNION SELECT r.a, e.b FROM r JOIN edges e ON e.a = r.b) "
    "SELECT a, b FROM r",
}
IN_ORDER = {"above": "SELECT id, total FROM orders WHERE total > (SELECT AVG(total) FROM orders)"}
"""Views that `interrupts` adds: their rows are kept in order."""
OF_PYTHON = ("products", "weights")
"""A user-defined aggregate without an inverse (and not idempotent, so that a value too many shows), and a function that the compiler
does not look into."""


class World(Protocol):
    connect: Callable[[], ec.Database]

    def database(self) -> ec.Database:
        """Another database with the same views."""

    def transaction(self, db: ec.Database) -> list[Step]:
        """A random transaction that the database would accept."""

    def do(self, db: ec.Database, step: Step) -> None: ...

    def contents(self, db: ec.Database) -> Contents:
        """Everything that can be read, by name; `views` of it by the names of views."""

    def probe(self, db: ec.Database) -> None:
        """Two small transactions, which change nothing in the end."""


UNWEIGHABLE = 50
"""The total for which the opaque function raises."""

BAD_ORDERS = ((-1, "a CHECK"), (101, "an assertion"), (UNWEIGHABLE, "an opaque function"))
"""Totals that are refused, and by what."""


def weight(total: int) -> int:
    if total == UNWEIGHABLE:
        raise ValueError("no weight")
    found = 0
    for digit in str(total):
        found += int(digit)
    return found


class Tables:
    """Orders, customers, a table without a key, and a graph."""

    def __init__(self, c: Seeded) -> None:
        self.c = c
        names = [*VIEWS, *OF_PYTHON]
        modes = ("strict", "strict", "strict", "lazy", "hybrid")
        self.chosen = {c.pick(names): c.pick(modes) for _ in range(5)}
        if c.chance(50):
            self.chosen["best"] = "strict"
        self.full = c.chance(25)
        self.next = 100
        self.connect: Callable[[], ec.Database] = ec.connect

    def database(self) -> ec.Database:
        db = self.connect()
        for text in TABLES:
            db.execute(text)
        db.table("customers").insert([(1, "Ann"), (2, "Bob"), (3, "Cid")])
        db.table("orders").insert([(i, 1 + i % 2, i % 4, i % 3) for i in range(1, 7)])
        db.table("log").insert([("x",), ("x",), ("y",)])
        db.table("edges").insert([(1, 2), (2, 3), (3, 1)])
        for name, mode in self.chosen.items():
            self._view(db, name, mode)
        db.execute("CREATE ASSERTION modest CHECK (NOT EXISTS (SELECT 1 FROM orders WHERE total > 100))")
        return db

    def bad_step(self) -> Step:
        """A step that makes a transaction fail."""
        known = BAD_ORDERS if "weights" in self.chosen else BAD_ORDERS[:2]
        self.next += 1
        return ("insert", "orders", (self.next, 1, self.c.pick(known)[0], 1))

    def _view(self, db: ec.Database, name: str, mode: Any) -> None:
        text = (VIEWS | IN_ORDER).get(name)
        if text is not None:
            full = self.full and mode == "strict"
            db.execute(f"CREATE VIEW {name} AS {text}", policy="full" if full else None, mode=mode)
            return
        orders: Any = db.table_of("orders")
        query: Any = orders.select(lambda o: (o.id, weight(o.total)))
        if name == "products":
            product = ec.monoid(1, operator.mul)
            grouped = orders.group_by(lambda o: o.customer)
            query = grouped.select(lambda k, g: (k, g.aggregate(product, lambda o: o.day + 2)))
        db.view(name, query)

    def transaction(self, db: ec.Database) -> list[Step]:
        used: set[Any] = set()
        steps = [self._step(db, used) for _ in range(self.c.number(1, 5))]
        return [step for step in steps if step is not None]

    def _step(self, db: ec.Database, used: set[Any]) -> Step | None:
        c = self.c
        self.next += 1
        if (what := c.number(0, 8)) <= 1:
            return ("insert", "orders", (self.next, c.number(1, 3), c.number(0, 9), c.number(0, 4)))
        if what <= 4:
            row = c.pick(db.table("orders").rows() or [None])
            if row is None or row[0] in used:
                return None
            used.add(row[0])
            return ("delete", "orders", row[0]) if what == 2 else ("update", "orders", row[0], c.number(0, 9))
        if what == 5:
            return ("insert", "customers", (self.next, f"name {self.next}"))
        if what == 6:
            row = c.pick(db.table("customers").rows())
            if ("customer", row[0]) in used:
                return None
            used.add(("customer", row[0]))
            return ("rename", "customers", row[0], f"name {self.next}")
        table = c.pick(("log", "edges"))
        row = c.pick(db.table(table).rows() or [None])
        if row is not None and table not in used and c.chance(40):
            used.add(table)
            return ("delete", table, row)
        return ("insert", table, (c.pick("xyz"),) if table == "log" else (c.number(1, 4), c.number(1, 4)))

    def do(self, db: ec.Database, step: Step) -> None:
        table = db.table(step[1])
        match step:
            case ("insert", _, row):
                table.insert(row)
            case ("delete", _, row):
                table.delete(row)
            case ("update", _, key, total):
                table.update(key, total=total)
            case ("rename", _, key, name):
                table.update(key, name=name)

    def contents(self, db: ec.Database) -> Contents:
        found = {n: sorted(db.table(n).rows(), key=repr) for n in db.tables}
        return found | {n: sorted(db.view(n).rows(), key=repr) for n in db.views}

    def probe(self, db: ec.Database) -> None:
        db.table("log").insert([("probe",)])
        db.table("log").delete(("probe",))


ODL = """
    class emp (extent Emps key name) {
        attribute string name; attribute long age; attribute emp boss; attribute list<long> marks;
        relationship dept works inverse dept::staff;
    };
    class dept (extent Depts) {
        attribute string name; attribute long size; attribute set<emp> picks; attribute bag<long> sizes;
        relationship set<emp> staff inverse emp::works;
    };
"""

OQL = {
    "picked": "select struct(d: d.name, e: e.name) from d in Depts, e in d.picks",
    "nested": "select struct(d: d.name, old: (select e.name from e in d.staff where e.age > 4)) from d in Depts",
    "ages": "select struct(b: e.boss.name, s: e.age) from e in Emps where e.boss != nil",
    "count": "count(Emps)",
}
OF_OBJECTS = {
    "pay": "SELECT e.works.name AS d, SUM(age) AS s, MAX(age) AS m FROM Emps e GROUP BY e.works.name",
    "eldest": "SELECT name, age FROM Emps ORDER BY age DESC, name LIMIT 2",
}


class Objects:
    """Employees and departments, with references, relationships and collections of every kind."""

    def __init__(self, c: Seeded) -> None:
        self.c = c
        names = [*OQL, *OF_OBJECTS]
        modes = ("strict", "strict", "strict", "lazy", "hybrid")
        self.chosen = {c.pick(names): c.pick(modes) for _ in range(4)}
        self.next = 100
        self.connect: Callable[[], ec.Database] = ec.connect

    def database(self) -> ec.Database:
        db = self.connect()
        db.odl(ODL)
        depts = [db.new("dept", name=f"d{i}", size=i) for i in range(3)]
        for i in range(5):
            made = db.new("emp", name=f"e{i}", age=i * 3 % 8, works=depts[i % 2], marks=[i])
            depts[i % 3].picks.add(made)
        for name, mode in self.chosen.items():
            if name in OQL:
                db.oql(f"define {name} as {OQL[name]}", mode=mode)  # type: ignore[call-arg]
            else:
                db.execute(f"CREATE VIEW {name} AS {OF_OBJECTS[name]}", mode=mode)  # type: ignore[arg-type]
        return db

    def transaction(self, db: ec.Database) -> list[Step]:
        used: set[str] = set()
        return [s for _ in range(self.c.number(1, 5)) if (s := self._step(db, used)) is not None]

    def _step(self, db: ec.Database, used: set[str]) -> Step | None:
        c = self.c
        self.next += 1
        emps = sorted(e.name for e in db.extent("Emps"))
        one, dept = c.pick(emps), f"d{c.number(0, 2)}"
        if one in used:
            return None
        match c.number(0, 9):
            case 0:
                return ("new", f"e{self.next}", dept, c.number(0, 9))
            case 1 if len(emps) > 3:
                used.add(one)
                return ("delete", one)
            case 2:
                return ("size", dept, self.next)
            case 3 | 4:
                return ("pick", dept, one)
            case 5:
                return ("work", one, dept)
            case 6:
                return ("boss", one, one)
            case 7:
                return ("mark", one, self.next)
            case 8:
                return ("measure", dept, c.number(1, 3))
            case _:
                return ("age", one, c.number(0, 9))

    def do(self, db: ec.Database, step: Step) -> None:
        emps = {e.name: e for e in db.extent("Emps")}
        depts = {d.name: d for d in db.extent("Depts")}
        match step:
            case ("new", name, dept, age):
                db.new("emp", name=name, age=age, works=depts[dept])
            case ("delete", name):
                db.delete(emps[name])
            case ("size", name, size):
                depts[name].size = size
            case ("pick", name, one):
                picks = depts[name].picks
                picks.remove(emps[one]) if emps[one] in picks else picks.add(emps[one])
            case ("work", one, dept):
                emps[one].works = None if emps[one].works is depts[dept] else depts[dept]
            case ("boss", one, boss):
                emps[one].boss = None if emps[one].boss is not None else emps[boss]
            case ("mark", one, mark):
                marks = emps[one].marks
                marks.pop(0) if len(marks) > 1 else marks.append(mark)
            case ("measure", name, size):
                sizes = depts[name].sizes
                sizes.remove(size) if size in sizes else sizes.add(size)
            case ("age", one, age):
                emps[one].age = age

    def contents(self, db: ec.Database) -> Contents:
        found: Contents = {
            "emps": sorted(
                (e.name, e.age, e.boss and e.boss.name, e.works and e.works.name, tuple(e.marks))
                for e in db.extent("Emps")
            ),
            "depts": sorted(
                (d.name, d.size, named(d.picks), named(d.staff), tuple(sorted(d.sizes)), len(d.sizes))
                for d in db.extent("Depts")
            ),
            "number": [len(db.extent("Emps")), len(db.extent("Depts"))],
        }
        for name in self.chosen:
            value = db.view(name).value() if name in OQL else db.view(name).rows()
            found[name] = [value] if name == "count" else sorted(map(plain, value), key=repr)
        return found

    def probe(self, db: ec.Database) -> None:
        one = next(iter(db.extent("Depts")))
        with db.transaction():  # first of all: objects are read without the lock
            before = one.size
            one.size = -1
        one.size = before


def named(things: Any) -> tuple[str, ...]:
    return tuple(sorted(t.name for t in things))


def plain(value: Any) -> Any:
    """A value that prints the same whatever the order of its collections."""
    if isinstance(value, tuple | int | str | None):
        return value
    if hasattr(value, "items"):
        return tuple((k, plain(v)) for k, v in value.items())
    return tuple(sorted(map(plain, value), key=repr))
