"""Random plans over four tables with and without keys, and random changes that keep the tables' constraints."""

from __future__ import annotations

import random

from evercurrent.algebra.nodes import (
    Aggregate,
    Distinct,
    Join,
    Map,
    Outer,
    Plan,
    Scan,
    Select,
    Semi,
    SetOperation,
    Top,
    Union,
    columns,
)
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import ForeignKey, Table, TableColumn, Unique
from evercurrent.data.types import BIGINT, DOUBLE, INT, Decimal
from evercurrent.data.zset import ZSet
from evercurrent.term.aggregates import aggregate
from evercurrent.term.build import call, cast, conjunction, lit
from evercurrent.term.nodes import Column, SortKey

KEYED = Table(
    "k",
    (TableColumn("id", INT, False), TableColumn("x", INT), TableColumn("y", INT, False)),
    primary_key=Unique("k_pk", ("id",)),
)
CHILD = Table(
    "c",
    (TableColumn("id", INT, False), TableColumn("k", INT, False), TableColumn("z", INT)),
    primary_key=Unique("c_pk", ("id",)),
    foreign_keys=(ForeignKey("c_k", ("k",), "k", ("id",)),),
)
R = Table("r", (TableColumn("a", INT), TableColumn("b", INT)))
S = Table("s", (TableColumn("b", INT), TableColumn("c", INT, False)))
TABLES = {t.name: t for t in (KEYED, CHILD, R, S)}
CATALOG = Catalog({t.name: t for t in TABLES.values()})


KINDS = [
    "select",
    "map",
    "join",
    "join",
    "join",
    "outer",
    "outer to one",
    "full",
    "semi",
    "anti",
    "aggregate",
    "aggregate",
    "distinct",
    "setop",
    "union",
    "top",
    "scalar",
]


class Plans:
    """Random plans; column names are unique within a plan."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def name(self, hint: str) -> str:
        self.count += 1
        return f"{hint}{self.count}"

    def scan(self) -> Plan:
        table = TABLES[self.random.choice(list(TABLES))]
        outputs = tuple(Column(self.name(c.name), c.type, c.nullable) for c in table.columns)
        return Scan(table.name, outputs, tuple(c.name for c in table.columns))

    def column(self, plan: Plan) -> Column:
        return self.random.choice([c for c in columns(plan) if c.type == INT])

    def number(self, plan: Plan):
        return self.random.choice(columns(plan))

    def condition(self, plan: Plan):
        c = self.number(plan)
        op = self.random.choice(["lt", "ge", "eq", "ne"])
        return call(op, c, lit(self.random.randint(0, 3), INT))

    def join_condition(self, left: Plan, right: Plan):
        terms = [call("eq", self.number(left), self.number(right))]
        roll = self.random.random()
        if roll < 0.2:
            terms.append(call("lt", self.number(left), self.number(right)))
        elif roll < 0.3:
            terms = [call("le", self.number(left), self.number(right))]
        elif roll < 0.4:
            terms.append(call("eq", self.number(left), self.number(right)))
        elif roll < 0.5:
            terms.append(self.condition(right))
        elif roll < 0.55:
            terms.append(self.condition(left))
        return conjunction(terms)

    def plan(self, depth: int) -> Plan:
        if depth <= 0:
            return self.scan()
        kind = self.random.choice(KINDS)
        below = self.plan(depth - 1)
        match kind:
            case "select":
                return Select(below, self.condition(below))
            case "map":
                return self.project(below, 2)
            case "join":
                other = self.plan(depth - 2)
                return Join(below, other, self.join_condition(below, other))
            case "outer" | "full":
                other = self.plan(depth - 2)
                shape = "left" if kind == "outer" else "full"
                return Outer(shape, below, other, self.join_condition(below, other))
            case "outer to one":  # two columns beside the one on which the other side is unique
                other = self.aggregate(self.scan(), self.random.random() < 0.3)
                key, mine = columns(other)[0], self.random.choices(columns(below), k=2)
                return Outer("left", below, other, conjunction([call("eq", c, key) for c in mine]))
            case "semi" | "anti":
                other = self.plan(depth - 2)
                return Semi(below, other, self.join_condition(below, other), kind == "anti")
            case "aggregate" | "scalar":
                return self.aggregate(below, kind == "scalar")
            case "distinct":
                return Distinct(self.project(below, 2))
            case "setop":
                left, right = self.project(below, 2), self.project(self.plan(depth - 2), 2)
                outputs = tuple(Column(self.name("o"), BIGINT) for _ in range(2))
                shape = self.random.choice(["intersect", "except"])
                return SetOperation(shape, self.random.random() < 0.5, left, right, outputs)
            case "union":
                left, right = self.project(below, 2), self.project(self.plan(depth - 2), 2)
                return Union((left, right), tuple(Column(self.name("u"), BIGINT) for _ in range(2)))
            case _:
                order = (SortKey(self.number(below), self.random.random() < 0.5),)
                limit = self.random.randint(1, 3)
                ties = self.random.choice(("rows", "rows", "rank", "dense_rank"))
                return Top(below, (), order, limit, self.random.randint(0, 1) if ties == "rows" else 0, ties)

    def product(self, plan: Plan):
        """A product of decimals, integers or floats, or one with a sum in it."""
        a, b, c = (self.number(plan) for _ in range(3))
        roll = self.random.random()
        if roll < 0.3:
            return call("mul", dec(a), dec(b))
        if roll < 0.6:
            return call("mul", a, b)
        if roll < 0.75:
            return call("mul", call("sub", a, b), call("add", c, lit(1, INT)))
        return call("mul", double(a), double(b))

    def project(self, plan: Plan, n: int) -> Plan:
        terms = [cast(self.number(plan), BIGINT) for _ in range(n)]
        return Map(plan, tuple((Column(self.name("p"), BIGINT), t) for t in terms))

    def aggregate(self, plan: Plan, scalar: bool) -> Plan:
        keys = () if scalar else tuple({self.number(plan): None for _ in range(self.random.randint(1, 2))})
        functions = self.random.sample(["count", "sum", "min", "avg", "star", "product"], 2)
        found = []
        for f in functions:
            if f == "star":
                a = aggregate("count", ())
            elif f == "product":
                a = aggregate("sum", (self.product(plan),))
            else:
                a = aggregate(f, (self.number(plan),))
            found.append((Column(self.name("a"), a.type), a))
        grouped = tuple((Column(self.name("g"), k.type, k.nullable), k) for k in keys)
        result = Aggregate(plan, grouped, tuple(found), scalar)
        if self.random.random() < 0.3:
            return Select(result, call("ge", Column(found[0][0].name, found[0][0].type), lit(1, INT)))
        return result


def dec(column: Column):
    return cast(column, Decimal(12, 1))


def double(column: Column):
    return call("mul", cast(column, DOUBLE), lit(0.5, DOUBLE))


class Guesses:
    """Statistics of tables that make any choice of maps possible."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def rows(self, table: str) -> float:
        return self.random.choice([1.0, 1000.0])

    def rate(self, table: str) -> float:
        return self.random.choice([1.0, 100.0])

    def fan_out(self, table: str, fields: tuple[str, ...]) -> float:
        return self.random.choice([1.0, 10.0, 1000.0])


class Data:
    """Tables that stay within their constraints; a transaction is a mixed batch over several of them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.tables = {n: ZSet() for n in TABLES}
        self.next = 0

    def value(self, null: float = 0.2):
        return None if self.random.random() < null else self.random.randint(0, 3)

    def step(self) -> dict[str, ZSet]:
        deltas = {n: ZSet() for n in TABLES}
        for _ in range(self.random.randint(1, 4)):
            name = self.random.choice(list(TABLES))
            now = self.tables[name] + deltas[name]
            if now and self.random.random() < 0.4:
                row = self.random.choice(list(now.weights))
                referenced = {r[1] for r, _ in (self.tables["c"] + deltas["c"]).items()}
                if name == "k" and row[0] in referenced:
                    continue
                deltas[name].add(row, -1)
                continue
            self.next += 1
            match name:
                case "k":
                    row = (self.next, self.value(), self.value(0))
                case "c":
                    parents = [r[0] for r, _ in (self.tables["k"] + deltas["k"]).items()]
                    if not parents:
                        continue
                    row = (self.next, self.random.choice(parents), self.value())
                case "s":
                    row = (self.value(), self.value(0))
                case _:
                    row = (self.value(), self.value())
            deltas[name].add(row, 1)
        for name, delta in deltas.items():
            self.tables[name] = self.tables[name] + delta
        return {n: d for n, d in deltas.items() if d}
