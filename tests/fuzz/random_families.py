"""Random tables with declared references, and views over them that follow the references.

    chain    t1 refers to t0, t2 to t1, t3 to t2
    fan      t1, t2 and t3 refer to t0
    star     t3 refers to t0, t1 and t2
    diamond  t1 and t2 refer to t0, t3 refers to t1 and t2
    tree     t0 refers to itself, t1 to t0

Views read the columns `id`, `a` and `b` and the references; most tables have a column `u` that few views read. Some tables have
another key, `code`, to which some references refer. `x` is a table without references.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.laws.chooser import Chooser

Row = tuple[Any, ...]

SHAPES = ("chain", "chain", "chain", "star", "star", "diamond", "diamond", "fan", "tree")


def pairs_of(shape: str, n: int) -> list[tuple[int, int]]:
    """Returns the pairs of a table and one that it refers to, for n tables (a diamond has four)."""
    match shape:
        case "fan":
            return [(i, 0) for i in range(1, n)]
        case "star":
            return [(n - 1, i) for i in range(n - 1)]
        case "diamond":
            return [(1, 0), (2, 0), (3, 1), (3, 2)]
        case _:
            return [*([(0, 0)] if shape == "tree" else []), *((i, i - 1) for i in range(1, n))]


@dataclass(frozen=True)
class Link:
    """A column of a child that refers to a key of its parent."""

    child: str
    column: str
    parent: str
    key: str
    nullable: bool


@dataclass
class Drawn:
    """A table: how it is declared, and its rows by key."""

    name: str
    columns: tuple[str, ...]
    links: tuple[Link, ...]
    rows: dict[int, Row] = field(default_factory=dict)

    def create(self) -> str:
        links = {link.column: link for link in self.links}
        parts = []
        for column in self.columns:
            link = links.get(column)
            if link is not None:
                needed = "" if link.nullable else " NOT NULL"
                parts.append(f"{column} INT{needed} REFERENCES {link.parent} ({link.key})")
            else:
                kinds = {"id": "INT PRIMARY KEY", "code": "INT NOT NULL UNIQUE", "b": "STRING"}
                parts.append(f"{column} {kinds.get(column, 'INT')}")
        return f"CREATE TABLE {self.name} ({', '.join(parts)})"

    def value(self, key: int, column: str) -> Any:
        return self.rows[key][self.columns.index(column)]

    def with_values(self, key: int, values: dict[str, Any]) -> Row:
        return tuple(values.get(c, v) for c, v in zip(self.columns, self.rows[key], strict=True))


class Family:
    """The tables of one history."""

    def __init__(self, c: Chooser) -> None:
        self.c = c
        pairs = pairs_of(c.pick(SHAPES), c.pick((3, 3, 3, 4, 2)))
        numbers = sorted({t for pair in pairs for t in pair})
        coded = {t for t in numbers if c.chance(30)}
        self.tables: dict[str, Drawn] = {}
        for n in numbers:
            links = tuple(self.link(child, parent, coded) for child, parent in pairs if child == n)
            self.add(f"t{n}", links, n in coded)
        if c.chance(40):
            self.add("x", (), False)

    def link(self, child: int, parent: int, coded: set[int]) -> Link:
        key = "code" if parent in coded and child != parent and self.c.chance(50) else "id"
        return Link(f"t{child}", f"r{parent}", f"t{parent}", key, child == parent or self.c.chance(70))

    def add(self, name: str, links: tuple[Link, ...], coded: bool) -> None:
        extra = (*(("code",) if coded else ()), *(("u",) if self.c.chance(90) else ()))
        self.tables[name] = Drawn(name, ("id", *(link.column for link in links), "a", "b", *extra), links)

    def links(self) -> Iterator[Link]:
        for table in self.tables.values():
            yield from table.links

    def links_to(self, parent: str) -> list[Link]:
        return [link for link in self.links() if link.parent == parent]

    def referring(self, link: Link, key: int) -> list[int]:
        """The keys of the child's rows that refer to a row."""
        wanted, child = self.tables[link.parent].value(key, link.key), self.tables[link.child]
        return [k for k in child.rows if child.value(k, link.column) == wanted]


class Views:
    """Draws queries over a family."""

    def __init__(self, c: Chooser, family: Family) -> None:
        self.c, self.family = c, family
        self.drawn: list[str] = []

    def query(self) -> str:
        kinds = (self.joined, self.grouped, self.joined, self.outer, self.existing, self.summed, self.other)
        if not self.drawn and self.c.chance(
            85
        ):  # a view of all tables, so that something is assumed of every reference
            return self.c.pick((self.joined, self.grouped))(len(self.family.tables))
        return self.c.pick(kinds)()

    def shuffled(self, items: list[str]) -> list[str]:
        rest, result = list(items), []
        while rest:
            result.append(rest.pop(self.c.number(0, len(rest) - 1)))
        return result

    def grown(self, most: int) -> tuple[list[str], list[str]]:
        """Some tables that are connected by references, and the conditions that connect each to those before it."""
        links = [link for link in self.family.links() if link.child != link.parent]
        first = self.c.pick(links)
        tables, conditions = [self.c.pick((first.child, first.parent))], [""]
        for _ in range(most):
            near = [
                (link, a if b in tables else b)
                for link in links
                for a, b in [(link.child, link.parent)]
                if (a in tables) != (b in tables)
            ]
            if near and not self.c.chance(15):
                link, table = self.c.pick(near)
                tables.append(table)
                conditions.append(f"{link.parent}.{link.key} = {link.child}.{link.column}")
            elif (others := [t for t in self.family.tables if t not in tables]) and self.c.chance(50):
                table = self.c.pick(others)
                conditions.append(f"{table}.a = {self.c.pick(tables)}.a")
                tables.append(table)
        return tables, conditions

    def column(self, tables: list[str]) -> str:
        table = self.c.pick(tables)
        own = [c for c in self.family.tables[table].columns if c != "u"]
        column = "u" if "u" in self.family.tables[table].columns and self.c.chance(4) else self.c.pick(own)
        return f"{table}.{column}"

    def shown(self, tables: list[str], *more: str) -> str:
        columns = [*more, *(self.column(tables) for _ in range(self.c.number(1, 3)))]
        columns += [f"{t}.b" for t in tables if self.c.chance(70)]
        return ", ".join(f"{c} AS c{i}" for i, c in enumerate(columns))

    def source(self, most: int = 0) -> tuple[list[str], str]:
        """The tables of a FROM clause, and the clause with its conditions."""
        tables, conditions = self.grown(most or self.c.pick((1, 2, 2, 3, 3, 3)))
        where = [f"{self.column(tables)} IS NOT NULL"] if self.c.chance(15) else []
        where += [f"{self.c.pick(tables)}.a < 3"] if self.c.chance(20) else []
        if self.c.chance(50):
            where = [condition for condition in conditions if condition] + where
            text = ", ".join(self.shuffled(tables))
        else:
            joins = zip(tables[1:], conditions[1:], strict=True)
            text = tables[0] + "".join(f" JOIN {t} ON {condition}" for t, condition in joins)
        return tables, f"FROM {text}" + (f" WHERE {' AND '.join(where)}" if where else "")

    def joined(self, most: int = 0) -> str:
        tables, text = self.source(most)
        return f"SELECT {'DISTINCT ' if self.c.chance(15) else ''}{self.shown(tables)} {text}"

    def grouped(self, most: int = 0) -> str:
        tables, text = self.source(most)
        keys = sorted({self.column(tables) for _ in range(self.c.number(1, 2))})
        a = f"{self.c.pick(tables)}.a"
        amounts = self.c.pick((f"SUM({a})", f"MIN({a})", f"MAX({a})", f"COUNT({a})", f"COUNT(DISTINCT {a})"))
        shown = ", ".join(f"{k} AS k{i}" for i, k in enumerate(keys))
        having = " HAVING COUNT(*) > 1" if self.c.chance(20) else ""
        return f"SELECT {shown}, {amounts} AS s, COUNT(*) AS n {text} GROUP BY {', '.join(keys)}{having}"

    def outer(self) -> str:
        tables, conditions = self.grown(self.c.pick((1, 2, 3)))
        joins = zip(tables[1:], conditions[1:], strict=True)
        kinds = [(self.c.pick(("LEFT ", "LEFT ", "")), t, condition) for t, condition in joins]
        text = tables[0] + "".join(f" {kind}JOIN {t} ON {condition}" for kind, t, condition in kinds)
        return f"SELECT {self.shown(tables)} FROM {text}"

    def some_link(self) -> Link:
        return self.c.pick([link for link in self.family.links() if link.child != link.parent])

    def existing(self) -> str:
        link = self.some_link()
        up = self.c.chance(30)
        outer, inner = (link.child, link.parent) if up else (link.parent, link.child)
        condition = f"{link.parent}.{link.key} = {link.child}.{link.column}"
        more = f" AND {inner}.a > 1" if self.c.chance(40) else ""
        above = [other for other in self.family.tables[inner].links if other.parent not in (outer, inner)]
        joins = ""
        if above and self.c.chance(60):
            other = self.c.pick(above)
            joins = f" JOIN {other.parent} ON {other.parent}.{other.key} = {inner}.{other.column}"
            more += f" AND {other.parent}.a < 3"
        negated = "NOT " if self.c.chance(40) else ""
        return (
            f"SELECT {self.shown([outer])} FROM {outer} "
            f"WHERE {negated}EXISTS (SELECT 1 FROM {inner}{joins} WHERE {condition}{more})"
        )

    def summed(self) -> str:
        link = self.some_link()
        amount = self.c.pick((f"SUM({link.child}.a)", f"MAX({link.child}.b)", "COUNT(*)"))
        return (
            f"SELECT {self.shown([link.parent])}, (SELECT {amount} FROM {link.child} "
            f"WHERE {link.child}.{link.column} = {link.parent}.{link.key}) AS s FROM {link.parent}"
        )

    def other(self) -> str:
        tree = [link for link in self.family.links() if link.child == link.parent]
        if tree and self.c.chance(60):
            link = tree[0]
            kind = self.c.pick(("", "LEFT "))
            return (
                f"SELECT p.b AS c0, q.b AS c1, q.a AS c2 FROM {link.child} p "
                f"{kind}JOIN {link.parent} q ON q.id = p.{link.column}"
            )
        if self.drawn and self.c.chance(60):
            return f"SELECT * FROM (SELECT COUNT(*) AS n FROM {self.c.pick(self.drawn)}) AS w WHERE n > 0"
        tables, text = self.source(2)
        order = f"{tables[0]}.id"
        return (
            f"SELECT {self.shown(tables)}, ROW_NUMBER() OVER (PARTITION BY {self.column(tables)} ORDER BY {order}, "
            f"{', '.join(f'{t}.id' for t in tables)}) AS n {text}"
        )
