"""Four queries of TPC-H in Pathway: `python pathway_peer.py QUERY STREAM BATCH START TIMED RESULT`.

The events come through one connector in Python, so that a commit is a batch over all tables; every batch ends with a tick, and
the next one starts when the tick has come out.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import pathway as pw
from event_lines import CUT, FIRST, LAST, Event, arguments, events, measure, write

NUMBERS = "abcdefgh"
TEXTS = {"region": (1,), "nation": (1,), "part": (1, 2), "customer": (1, 3)}
"""Places of texts in a row; the other columns are numbers, in order `a` to `h`."""


class Change(pw.Schema):
    id: str = pw.column_definition(primary_key=True)
    kind: str
    a: int
    b: int
    c: int
    d: int
    e: int
    f: int
    g: int
    h: int
    x: str
    y: str


def fields(event: Event) -> tuple[int, dict[str, Any]]:
    texts = [event.values[i] for i in TEXTS.get(event.table, ())] + ["", ""]
    numbers = [int(v) for i, v in enumerate(event.values) if i not in TEXTS.get(event.table, ())] + [0] * 8
    key = f"{event.table} {event.values[0]} {event.values[1] if event.table == 'lineitem' else ''}"
    row = dict(zip(NUMBERS, numbers[:8], strict=True))
    return event.sign, {"id": key, "kind": event.table, **row, "x": texts[0], "y": texts[1]}


def revenue(line: Any) -> Any:
    return line.f * (100 - line.g)


def q3(changes: pw.Table) -> pw.Table:
    customers = changes.filter((pw.this.kind == "customer") & (pw.this.y == "BUILDING"))
    orders = changes.filter((pw.this.kind == "orders") & (pw.this.d < CUT))
    lines = changes.filter((pw.this.kind == "lineitem") & (pw.this.h > CUT))
    wanted = orders.join(customers, orders.b == customers.a).select(
        key=orders.a, date=orders.d, priority=orders.e
    )
    sold = lines.join(wanted, lines.a == wanted.key).select(
        wanted.key, wanted.date, wanted.priority, amount=revenue(lines)
    )
    return sold.groupby(sold.key, sold.date, sold.priority).reduce(
        sold.key, revenue=pw.reducers.sum(sold.amount), date=sold.date, priority=sold.priority
    )


def q5(changes: pw.Table) -> pw.Table:
    asia = changes.filter((pw.this.kind == "region") & (pw.this.x == "ASIA"))
    nations = changes.filter(pw.this.kind == "nation")
    suppliers = changes.filter(pw.this.kind == "supplier")
    customers = changes.filter(pw.this.kind == "customer")
    orders = changes.filter((pw.this.kind == "orders") & (pw.this.d >= FIRST) & (pw.this.d < LAST))
    lines = changes.filter(pw.this.kind == "lineitem")
    near = nations.join(asia, nations.b == asia.a).select(key=nations.a, name=nations.x)
    buyers = customers.join(near, customers.b == near.key).select(key=customers.a, nation=near.key)
    placed = orders.join(buyers, orders.b == buyers.key).select(key=orders.a, nation=buyers.nation)
    sold = lines.join(placed, lines.a == placed.key).select(
        supplier=lines.d, nation=placed.nation, amount=revenue(lines)
    )
    local = sold.join(suppliers, sold.supplier == suppliers.a, sold.nation == suppliers.b).select(
        sold.nation, sold.amount
    )
    named = local.join(near, local.nation == near.key).select(near.name, local.amount)
    return named.groupby(named.name).reduce(named.name, revenue=pw.reducers.sum(named.amount))


def q17(changes: pw.Table) -> pw.Table:
    parts = changes.filter((pw.this.kind == "part") & (pw.this.x == "Brand#23") & (pw.this.y == "MED BOX"))
    lines = changes.filter(pw.this.kind == "lineitem")
    sold = lines.join(parts, lines.c == parts.a).select(part=parts.a, quantity=lines.e, price=lines.f)
    average = sold.groupby(sold.part).reduce(
        sold.part, quantity=pw.reducers.sum(sold.quantity), count=pw.reducers.count()
    )
    small = sold.join(average, sold.part == average.part).select(
        sold.price, small=5 * sold.quantity * average.count < average.quantity
    )
    return small.filter(pw.this.small).reduce(price=pw.reducers.sum(pw.this.price))


def q18(changes: pw.Table) -> pw.Table:
    customers = changes.filter(pw.this.kind == "customer")
    orders = changes.filter(pw.this.kind == "orders")
    lines = changes.filter(pw.this.kind == "lineitem")
    sums = lines.groupby(lines.a).reduce(key=lines.a, quantity=pw.reducers.sum(lines.e))
    large = sums.filter(pw.this.quantity > 30_000)
    wanted = orders.join(large, orders.a == large.key).select(
        customer=orders.b, key=orders.a, date=orders.d, price=orders.c, quantity=large.quantity
    )
    return wanted.join(customers, wanted.customer == customers.a).select(
        customers.x, wanted.customer, wanted.key, wanted.date, wanted.price, wanted.quantity
    )


class Answer:
    """The rows of the result, kept by key as subscribers do."""

    def __init__(self) -> None:
        self.rows: dict[Any, tuple[Any, ...]] = {}

    def note(self, key: Any, row: dict[str, Any], time: int, is_addition: bool) -> None:
        values = tuple(row.values())
        if is_addition:
            self.rows[key] = values
        elif self.rows.get(key) == values:
            del self.rows[key]


class Feed(pw.io.python.ConnectorSubject):
    _deletions_enabled = True  # Pathway looks for them in `run` alone

    def __init__(self, rows: list[tuple[int, dict[str, Any]]]) -> None:
        super().__init__()
        self.rows, self.said, self.count, self.ticked = rows, "", 0, threading.Event()

    def step(self, batch: list[tuple[int, dict[str, Any]]]) -> None:
        for sign, row in batch:
            if sign > 0:
                self.next(**row)
            else:
                self.delete(**row)
        self.count += 1
        self.ticked.clear()
        self.next(id=f"tick {self.count}", kind="tick", **dict.fromkeys(NUMBERS, 0), x="", y="")
        self.commit()
        assert self.ticked.wait(600), "Pathway has not processed a batch"

    def tick(self, key: Any, row: dict[str, Any], time: int, is_addition: bool) -> None:
        self.ticked.set()

    def run(self) -> None:
        self.said = measure(given, self.rows, self.step, time.process_time)


given = arguments()
feed = Feed([fields(event) for event in events(given)])
answer = Answer()
changes = pw.io.python.read(feed, schema=Change, autocommit_duration_ms=None)
pw.io.subscribe({"Q3": q3, "Q5": q5, "Q17": q17, "Q18": q18}[given.query](changes), answer.note)
pw.io.subscribe(changes.filter(pw.this.kind == "tick"), feed.tick)
pw.run(monitoring_level=pw.MonitoringLevel.NONE)
write(given, list(answer.rows.values()))
print(feed.said)
