"""A shop under a stream of changes, and five views of it that stay current: `make demo`.

Orders come with their lines, are paid and cancelled, prices change and customers move. After every transaction the views
are right; the display shows them, the feed of their changes, what a transaction costs, and what recomputing the five
queries from scratch costs at that moment (`db.query`, the same engine starting from nothing). At the end every view
is verified against the reference evaluator.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from statistics import mean, median
from typing import Any

from rich.columns import Columns
from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

import evercurrent as ec

SCHEMA = """
CREATE TABLE customers (id BIGINT NOT NULL PRIMARY KEY, name STRING NOT NULL, city STRING NOT NULL);
CREATE TABLE products (id BIGINT NOT NULL PRIMARY KEY, name STRING NOT NULL, price DECIMAL(8,2) NOT NULL);
CREATE TABLE orders (id BIGINT NOT NULL PRIMARY KEY, customer BIGINT NOT NULL, day DATE NOT NULL, status STRING NOT NULL,
  FOREIGN KEY (customer) REFERENCES customers (id));
CREATE TABLE lines (order_id BIGINT NOT NULL, product BIGINT NOT NULL, quantity INT NOT NULL, price DECIMAL(8,2) NOT NULL,
  PRIMARY KEY (order_id, product),
  FOREIGN KEY (order_id) REFERENCES orders (id), FOREIGN KEY (product) REFERENCES products (id))
"""

VIEWS = {
    "revenue": (
        "join and aggregate",
        "SELECT c.city, SUM(l.quantity * l.price) AS revenue, COUNT(DISTINCT o.id) AS orders FROM customers c "
        "JOIN orders o ON o.customer = c.id JOIN lines l ON l.order_id = o.id GROUP BY c.city",
    ),
    "best_sellers": (
        "top-k",
        "SELECT p.name, SUM(l.quantity) AS sold FROM products p JOIN lines l ON l.product = p.id "
        "GROUP BY p.name ORDER BY sold DESC, p.name LIMIT 5",
    ),
    "latest": (
        "window",
        "SELECT c.city, o.id, o.day FROM orders o JOIN customers c ON c.id = o.customer "
        "QUALIFY row_number() OVER (PARTITION BY c.city ORDER BY o.day DESC, o.id DESC) = 1",
    ),
    "idle": (
        "anti join",
        "SELECT c.name, c.city FROM customers c "
        "WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id AND o.status = 'open')",
    ),
    "leading_cities": (
        "view over a view",
        "SELECT city, revenue FROM revenue WHERE revenue > (SELECT AVG(revenue) FROM revenue)",
    ),
}

CITIES = ("Bergen", "Lisbon", "Kyoto", "Quito", "Turin", "Tunis")
GOODS = (
    "anvil",
    "bell",
    "clock",
    "drum",
    "easel",
    "flute",
    "globe",
    "hinge",
    "inkwell",
    "jug",
    "kite",
    "lamp",
)
CUSTOMERS = 120
TRANSACTIONS = 3_000
SAMPLE = 300
"""After so many transactions the recomputation is timed."""


@dataclass
class Shop:
    """The stream: what it knows of the shop is what it needs to make sensible changes."""

    db: ec.Database
    chance: random.Random = field(default_factory=lambda: random.Random(11))
    lines: dict[int, list[int]] = field(default_factory=dict)  # order -> products
    today: date = date(2024, 1, 1)
    number: int = 0

    def open(self) -> None:
        with self.db.transaction():
            self.db.table("customers").insert(
                [(i, f"customer {i}", self.chance.choice(CITIES)) for i in range(CUSTOMERS)]
            )
            self.db.table("products").insert(
                [(i, name, f"{self.chance.randrange(100, 9000) / 100:.2f}") for i, name in enumerate(GOODS)]
            )

    def changes(self, count: int) -> Iterator[str]:
        """Make so many transactions; says what each was."""
        for i in range(count):
            if i % 10 == 0:
                self.today += timedelta(days=1)
            dice = self.chance.random()
            with self.db.transaction():
                what = self.one(dice)
            yield what

    def one(self, dice: float) -> str:
        orders, lines = self.db.table("orders"), self.db.table("lines")
        if dice < 0.6 or not self.lines:
            self.number += 1
            orders.insert((self.number, self.chance.randrange(CUSTOMERS), self.today, "open"))
            products = self.chance.sample(range(len(GOODS)), self.chance.randint(1, 4))
            lines.insert(
                [
                    (
                        self.number,
                        p,
                        self.chance.randint(1, 9),
                        f"{self.chance.randrange(100, 9000) / 100:.2f}",
                    )
                    for p in products
                ]
            )
            self.lines[self.number] = products
            return f"order {self.number} with {len(products)} lines"
        order = self.chance.choice(list(self.lines))
        if dice < 0.8:
            orders.update({"id": order}, status="paid")
            return f"order {order} is paid"
        if dice < 0.9:
            lines.delete([{"order_id": order, "product": p} for p in self.lines.pop(order)])
            orders.delete({"id": order})
            return f"order {order} is cancelled"
        if dice < 0.97:
            product = self.chance.choice(self.lines[order])
            lines.update({"order_id": order, "product": product}, quantity=self.chance.randint(1, 9))
            return f"order {order} has another quantity"
        customer = self.chance.randrange(CUSTOMERS)
        city = self.chance.choice(CITIES)
        self.db.table("customers").update({"id": customer}, city=city)
        return f"customer {customer} moves to {city}"


@dataclass
class Board:
    """What has been seen: changes, times."""

    db: ec.Database
    feed: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=14))
    times: list[float] = field(default_factory=list)  # seconds per transaction
    recomputed: list[float] = field(default_factory=list)  # seconds for all five views
    heard: int = 0

    def watch(self) -> None:
        for name in VIEWS:
            self.db.view(name).subscribe(self.on_change)

    def on_change(self, change: ec.Change) -> None:
        self.heard += len(change.inserted) + len(change.deleted)
        self.feed.extend((change.name, f"- {show(row)}") for row in change.deleted[:2])
        self.feed.extend((change.name, f"+ {show(row)}") for row in change.inserted[:2])

    def recompute(self) -> None:
        start = time.perf_counter()
        for _, query in VIEWS.values():
            self.db.query(query)
        self.recomputed.append(time.perf_counter() - start)

    @property
    def figures(self) -> str:
        recent = self.times[-200:] or [0.0]
        text = f"{len(self.times):,} transactions; the last ones took {median(recent) * 1e6:,.0f} µs each (median)"
        if self.recomputed:
            again = self.recomputed[-1]
            factor = again / max(median(recent), 1e-9)
            text += f"; recomputing the five views takes {again * 1e3:,.0f} ms, {factor:,.0f} times as long"
        return text


def show(row: tuple[Any, ...]) -> str:
    return "  ".join(str(v) for v in row)


def display(db: ec.Database, board: Board, what: str) -> Group:
    tables = []
    for name, (kind, _) in VIEWS.items():
        view = db.view(name)
        table = Table(title=f"{name} ({kind})", title_style="bold", min_width=30)
        for column in view.schema:
            table.add_column(column.name)
        rows = view.rows()
        for row in rows[:6]:
            table.add_row(*map(str, row))
        if len(rows) > 6:
            table.caption = f"and {len(rows) - 6} more"
        tables.append(table)
    feed = Text()
    for name, line in board.feed:
        feed.append(f"{name:15}", style="dim")
        feed.append(line + "\n", style="red" if line.startswith("-") else "green")
    return Group(
        Panel(Text(board.figures, style="bold"), subtitle=what), Columns(tables), Panel(feed, title="changes")
    )


def start() -> tuple[ec.Database, Shop, Board]:
    db = ec.connect()
    db.execute(SCHEMA)
    for name, (_, query) in VIEWS.items():
        db.execute(f"CREATE VIEW {name} AS {query}")
    shop, board = Shop(db), Board(db)
    shop.open()
    board.watch()
    return db, shop, board


def main(transactions: int = TRANSACTIONS) -> None:
    console = Console()
    db, shop, board = start()
    began = time.perf_counter()
    stream = shop.changes(transactions)
    if console.is_terminal:
        with Live(display(db, board, ""), console=console, auto_refresh=False, screen=False) as live:
            for i, what in enumerate(timed(stream, board)):
                if i % SAMPLE == SAMPLE - 1:
                    board.recompute()
                if i % 25 == 0:
                    live.update(display(db, board, what), refresh=True)
            live.update(display(db, board, "done"), refresh=True)
    else:
        for i, what in enumerate(timed(stream, board)):
            if i % SAMPLE == SAMPLE - 1:
                board.recompute()
                print(f"{what}; {board.figures}")
    finish(console, db, board, time.perf_counter() - began)


def timed(stream: Iterator[str], board: Board) -> Iterator[str]:
    """The stream, with the time of each transaction noted."""
    while True:
        begin = time.perf_counter()
        what = next(stream, None)
        if what is None:
            return
        board.times.append(time.perf_counter() - begin)
        yield what


def finish(console: Console, db: ec.Database, board: Board, elapsed: float) -> None:
    report = db.verify()
    console.print(str(report))
    summary = Table(title="Summary")
    summary.add_column("")
    summary.add_column("", justify="right")
    summary.add_row("transactions", f"{len(board.times):,}")
    summary.add_row("changes of views announced", f"{board.heard:,}")
    summary.add_row("orders, lines at the end", f"{len(db.table('orders')):,}, {len(db.table('lines')):,}")
    summary.add_row("time per transaction (mean)", f"{mean(board.times) * 1e6:,.0f} µs")
    if board.recomputed:
        summary.add_row("recomputing all five views", f"{board.recomputed[-1] * 1e3:,.0f} ms")
        summary.add_row(
            "a transaction is cheaper by", f"{board.recomputed[-1] / mean(board.times):,.0f} times"
        )
    summary.add_row("entries kept in states", f"{db.stats().entries:,}")
    summary.add_row("in all", f"{elapsed:.1f} s")
    console.print(summary)
    console.print("A recomputation is db.query: the same queries, run once from scratch by the same engine.")
    if not report:
        raise SystemExit("a view differs from its query")


if __name__ == "__main__":
    main()
