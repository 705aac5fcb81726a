"""What is known of the tables of a database: sizes, fan-outs, and how often each changes.

It decides which maps are stored (`delta.upkeep`): when a view is created over tables that have rows, and again when a table
has grown or enough transactions have passed.

>>> orders = ZSet({(1, 7): 1, (2, 7): 1, (3, 8): 1, (4, 8): 1})
>>> known = TableStatistics({"orders": 4}, {"orders": 9}, lambda table: orders, lambda table: ["id", "customer"])
>>> known.fan_out("orders", ("customer",)), known.fan_out("orders", ("id",)), known.rate("orders")
(2.0, 1.0, 10.0)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice

from evercurrent.data.zset import Row, ZSet
from evercurrent.rows.store import ColumnRows

SAMPLE = 4096
"""So many rows of a table are read to find a fan-out."""


@dataclass(slots=True)
class TableStatistics:
    """Rows are read when a fan-out is first asked for. Names in `sizes` and `changes` are lower-cased."""

    sizes: Mapping[str, int]
    changes: Mapping[str, int]
    contents: Callable[[str], ZSet]
    columns: Callable[[str], list[str]]
    samples: dict[str, list[Row]] = field(default_factory=dict)
    found: dict[tuple[str, tuple[str, ...]], float] = field(default_factory=dict)

    def rows(self, table: str) -> float:
        return float(self.sizes.get(table.lower(), 0))

    def rate(self, table: str) -> float:
        return 1.0 + self.changes.get(table.lower(), 0)

    def fan_out(self, table: str, fields: tuple[str, ...]) -> float:
        if (table, fields) not in self.found:
            self.found[table, fields] = self.measure(table, fields)
        return self.found[table, fields]

    def measure(self, table: str, fields: tuple[str, ...]) -> float:
        """How many rows have the values that a row has in these fields, on average over the rows of a sample."""
        if table not in self.samples:
            rows = self.contents(table)
            if isinstance(rows, ColumnRows):
                self.samples[table] = rows.sample(SAMPLE)
            else:
                step = max(1, len(rows.weights) // SAMPLE)
                self.samples[table] = list(islice(rows.weights, 0, None, step))
        sample = self.samples[table]
        if len(sample) < 2:
            return 1.0
        names = [name.lower() for name in self.columns(table)]
        places = [names.index(f.lower()) for f in fields]
        counts = Counter(tuple(row[i] for i in places) for row in sample)
        pairs = sum(n * (n - 1) for n in counts.values()) / len(sample)
        return 1.0 + pairs * (self.rows(table) - 1) / (len(sample) - 1)
