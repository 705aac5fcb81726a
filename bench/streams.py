"""Streams of single-row events over TPC-H tables, in an order in which a business would cause them.

The small tables come first. Then order after order: its customer, if it is new, the order, its line items. From the
middle on, for every three orders that come, an old one is deleted: line items first, then the order.
"""

from __future__ import annotations

import random
from collections import defaultdict

from bench.tpch import Row

Event = tuple[str, int, Row]
"""A table, +1 or -1, and the row."""


def events(data: dict[str, list[Row]], seed: int = 7, delete_share: float = 0.33) -> list[Event]:
    """All rows inserted, parents first, and about a third of the orders of the first half deleted again."""
    chance = random.Random(seed)
    stream: list[Event] = []
    for name in ("region", "nation", "supplier", "part", "partsupp"):
        stream += [(name, 1, row) for row in data[name]]
    customers = {row[0]: row for row in data["customer"]}
    lines: dict[int, list[Row]] = defaultdict(list)
    for row in data["lineitem"]:
        lines[row[0]].append(row)
    orders = list(data["orders"])
    chance.shuffle(orders)
    present: list[Row] = []
    for i, order in enumerate(orders):
        customer = customers.pop(order[1], None)
        if customer is not None:
            stream.append(("customer", 1, customer))
        stream.append(("orders", 1, order))
        stream += [("lineitem", 1, line) for line in lines[order[0]]]
        present.append(order)
        if i > len(orders) // 2 and chance.random() < delete_share:
            where = chance.randrange(len(present))
            present[where], present[-1] = present[-1], present[where]
            gone = present.pop()
            stream += [("lineitem", -1, line) for line in lines[gone[0]]]
            stream.append(("orders", -1, gone))
    stream += [("customer", 1, row) for row in customers.values()]
    return stream


def final(stream: list[Event]) -> dict[str, list[Row]]:
    """The rows that are there after the stream."""
    left: dict[str, dict[Row, int]] = defaultdict(dict)
    for table, sign, row in stream:
        count = left[table].get(row, 0) + sign
        if count:
            left[table][row] = count
        else:
            del left[table][row]
    return {name: [row for row, n in rows.items() for _ in range(n)] for name, rows in left.items()}


def of_tables(stream: list[Event], names: set[str]) -> list[Event]:
    return [event for event in stream if event[0] in names]
