"""A seeded stream of transactions over all eight TPC-H tables that keeps every reference intact.

`Business` holds the rows that are there. Each transaction mixes arrivals (an order with its lines, a customer, a part
with its suppliers, a supplier), departures (children first) and updates of any column that is no key. Values are drawn
from those that the queries ask for more often than chance would, so that tiny data gives answers that move.
"""

from __future__ import annotations

import datetime
import random
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from bench.tpch import NAMES, Row

Change = tuple[str, Row | None, Row | None]
"""A table, the row that goes, the row that comes."""

KEYS = {
    "region": (0,),
    "nation": (0,),
    "supplier": (0,),
    "part": (0,),
    "partsupp": (0, 1),
    "customer": (0,),
    "orders": (0,),
    "lineitem": (0, 3),
}

PARENTS = {
    "nation": ((("region"), (2,)),),
    "supplier": (("nation", (3,)),),
    "partsupp": (("part", (0,)), ("supplier", (1,))),
    "customer": (("nation", (3,)),),
    "orders": (("customer", (1,)),),
    "lineitem": (("orders", (0,)), ("part", (1,)), ("supplier", (2,)), ("partsupp", (1, 2))),
}


def day(text: str) -> datetime.date:
    return datetime.date.fromisoformat(text)


TOLD = (7, 6, 20, 3, 8, 2)
"""Germany, France, Saudi Arabia, Canada, India, Brazil: the nations that the queries speak of."""

TELLING: dict[str, dict[int, list[Any]]] = {
    "region": {1: ["ASIA", "EUROPE", "AMERICA", "MIDDLE EAST", "AFRICA"], 2: ["some", "other"]},
    "nation": {
        1: ["GERMANY", "FRANCE", "BRAZIL", "CANADA", "SAUDI ARABIA"],
        2: [0, 1, 2, 3],
        3: ["some", "other"],
    },
    "supplier": {
        3: list(TOLD),
        5: [Decimal("9000.00"), Decimal("-10.50")],
        6: ["nice", "some Customer angry Complaints here"],
    },
    "part": {
        1: ["forest green thing", "blue metal", "green grass"],
        3: ["Brand#23", "Brand#12", "Brand#45", "Brand#34"],
        4: ["ECONOMY ANODIZED STEEL", "PROMO BRUSHED BRASS", "MEDIUM POLISHED TIN", "SMALL PLATED BRASS"],
        5: [15, 3, 9, 36, 49, 14, 23, 45, 19],
        6: ["MED BOX", "SM CASE", "MED BAG", "LG PACK", "SM PKG"],
    },
    "partsupp": {2: [1, 5000, 9999], 3: [Decimal("1.00"), Decimal("500.00")]},
    "customer": {
        3: list(TOLD),
        4: ["13-701-000-0000", "31-123-123-1234", "23-555-555-5555", "29-1"],
        5: [Decimal("9000.00"), Decimal("0.00")],
        6: ["BUILDING", "AUTOMOBILE"],
    },
    "orders": {
        2: ["F", "O", "P"],
        4: [day("1993-08-01"), day("1994-03-01"), day("1995-03-01"), day("1995-06-17"), day("1996-12-01")],
        5: ["1-URGENT", "2-HIGH", "5-LOW"],
        8: ["plain", "special packages requests"],
    },
    "lineitem": {
        4: [Decimal("1.00"), Decimal("23.00"), Decimal("50.00"), Decimal("150.00")],
        6: [Decimal("0.05"), Decimal("0.06"), Decimal("0.07")],
        8: ["R", "A", "N"],
        10: [day("1994-05-05"), day("1995-09-10"), day("1996-02-02"), day("1998-09-02")],
        11: [day("1994-03-03"), day("1996-01-01")],
        12: [day("1994-04-04"), day("1995-12-31")],
        13: ["DELIVER IN PERSON", "NONE"],
        14: ["AIR", "AIR REG", "MAIL", "SHIP"],
    },
}


@dataclass
class Business:
    """The rows that are there, those that have not come yet, and how many children refer to each."""

    chance: random.Random
    rows: dict[str, dict[tuple[Any, ...], Row]] = field(default_factory=lambda: {n: {} for n in NAMES})
    waiting: dict[str, list[Row]] = field(default_factory=lambda: {n: [] for n in NAMES})
    children: dict[tuple[str, tuple[Any, ...]], int] = field(default_factory=lambda: defaultdict(int))

    def key(self, table: str, row: Row) -> tuple[Any, ...]:
        return tuple(row[i] for i in KEYS[table])

    def parents(self, table: str, row: Row) -> list[tuple[str, tuple[Any, ...]]]:
        return [(parent, tuple(row[i] for i in where)) for parent, where in PARENTS.get(table, ())]

    def come(self, table: str, row: Row) -> list[Change]:
        self.rows[table][self.key(table, row)] = row
        for parent in self.parents(table, row):
            self.children[parent] += 1
        return [(table, None, row)]

    def go(self, table: str, row: Row) -> list[Change]:
        del self.rows[table][self.key(table, row)]
        for parent in self.parents(table, row):
            self.children[parent] -= 1
        return [(table, row, None)]

    def can_come(self, table: str, row: Row) -> bool:
        present = all(key in self.rows[parent] for parent, key in self.parents(table, row))
        return present and self.key(table, row) not in self.rows[table]

    # --- moves ---------------------------------------------------------------------------------------------

    def start(self, data: dict[str, list[Row]], share: float) -> list[Change]:
        """The first load: all small tables, a share of everything else; the rest waits."""
        changes: list[Change] = []
        for name in NAMES:
            for row in data[name]:
                if name == "supplier":
                    row = (*row[:3], TOLD[row[0] % len(TOLD)], *row[4:])
                elif name not in ("region", "nation") and self.chance.random() < 0.4:
                    row = self.told(name, row)
                whole = name in ("region", "nation") or self.chance.random() < share
                if whole and self.can_come(name, row):
                    changes += self.come(name, row)
                else:
                    self.waiting[name].append(row)
        return changes

    def told(self, table: str, row: Row) -> Row:
        """The row with telling values in some columns."""
        new = list(row)
        for column, choices in TELLING[table].items():
            if self.chance.random() < 0.5:
                new[column] = self.chance.choice(choices)
        return tuple(new)

    def arrive(self, table: str) -> list[Change]:
        waiting = self.waiting[table]
        self.chance.shuffle(waiting)
        for i, row in enumerate(waiting):
            if self.can_come(table, row):
                del waiting[i]
                return self.come(table, row)
        return []

    def arrive_order(self) -> list[Change]:
        changes = self.arrive("orders")
        for _, _, order in changes[:1]:
            assert order is not None
            for line in [
                w for w in self.waiting["lineitem"] if w[0] == order[0] and self.can_come("lineitem", w)
            ]:
                self.waiting["lineitem"].remove(line)
                changes = changes + self.come("lineitem", line)
        return changes

    def depart(self, table: str) -> list[Change]:
        """A row goes; if others refer to it, another one is looked for, or for an order its lines go first."""
        for _ in range(20):
            if not self.rows[table]:
                return []
            key, row = self.chance.choice(list(self.rows[table].items()))
            changes: list[Change] = []
            if table == "orders":
                for line in [line for line in self.rows["lineitem"].values() if line[0] == key[0]]:
                    self.waiting["lineitem"].append(line)
                    changes += self.go("lineitem", line)
            if not self.children[table, key]:
                self.waiting[table].append(row)
                return changes + self.go(table, row)
        return []

    def change(self, table: str) -> list[Change]:
        """One column, or two, of a row get telling values."""
        if not self.rows[table]:
            return []
        old = self.chance.choice(list(self.rows[table].values()))
        new = list(old)
        for _ in range(self.chance.choice((1, 1, 2))):
            column = self.chance.choice(list(TELLING[table]))
            new[column] = self.chance.choice(TELLING[table][column])
        if table == "lineitem":
            new[5] = old[5] + Decimal("0.01") * self.chance.randrange(100)
        if tuple(new) == old:
            return []
        self.go(table, old)
        self.come(table, tuple(new))
        return [(table, old, tuple(new))]

    def transaction(self, size: int) -> list[Change]:
        changes: list[Change] = []
        while len(changes) < size:
            dice = self.chance.random()
            table = self.chance.choices(NAMES, weights=(1, 1, 4, 6, 6, 8, 12, 24))[0]
            if dice < 0.2:
                changes += self.arrive_order()
            elif dice < 0.4:
                changes += self.arrive(table)
            elif dice < 0.6:
                changes += self.depart(table)
            else:
                changes += self.change(table)
        return changes
