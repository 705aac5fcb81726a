"""A shop to look at: orders come in, views follow, and the studio shows it all. `make demo-studio`, or

python -m examples.shop                 opens the page in a browser
python -m examples.shop --no-browser    only says where it is
"""

from __future__ import annotations

import argparse
import random
import time
from decimal import Decimal

import evercurrent as ec

DEFINITIONS = """
CREATE TABLE customers (id BIGINT PRIMARY KEY, name STRING NOT NULL, city STRING NOT NULL);
CREATE TABLE products (
    id BIGINT PRIMARY KEY, name STRING NOT NULL, category STRING NOT NULL, price DECIMAL(10,2) NOT NULL, stock BIGINT NOT NULL
);
CREATE TABLE orders (
    id BIGINT PRIMARY KEY, customer BIGINT NOT NULL REFERENCES customers (id), placed TIMESTAMP NOT NULL, status STRING NOT NULL
);
CREATE TABLE items (
    order_id BIGINT NOT NULL REFERENCES orders (id), product BIGINT NOT NULL REFERENCES products (id), quantity BIGINT NOT NULL
);

CREATE VIEW order_totals AS
SELECT o.id, o.customer, o.status, SUM(i.quantity * p.price) AS total, SUM(i.quantity) AS pieces
FROM orders o JOIN items i ON i.order_id = o.id JOIN products p ON p.id = i.product
GROUP BY o.id, o.customer, o.status;

CREATE VIEW open_orders AS
SELECT t.id, c.name, c.city, t.total FROM order_totals t JOIN customers c ON c.id = t.customer WHERE t.status = 'open';

CREATE VIEW spend AS
SELECT c.id, c.name, c.city, COUNT(*) AS orders, SUM(t.total) AS total
FROM order_totals t JOIN customers c ON c.id = t.customer
GROUP BY c.id, c.name, c.city;

CREATE VIEW best_customers AS SELECT name, city, orders, total FROM spend ORDER BY total DESC, name LIMIT 10;

CREATE VIEW revenue_by_city AS
SELECT city, SUM(orders) AS orders, SUM(total) AS revenue FROM spend GROUP BY city;

CREATE VIEW revenue_by_category AS
SELECT p.category, SUM(i.quantity) AS pieces, SUM(i.quantity * p.price) AS revenue
FROM items i JOIN products p ON p.id = i.product GROUP BY p.category;

CREATE VIEW reserved AS
SELECT i.product, SUM(i.quantity) AS pieces
FROM items i JOIN orders o ON o.id = i.order_id WHERE o.status = 'open' GROUP BY i.product;

CREATE VIEW to_reorder AS
SELECT p.id, p.name, p.stock, r.pieces AS reserved FROM products p JOIN reserved r ON r.product = p.id
WHERE r.pieces > p.stock;

CREATE VIEW quiet_customers AS
SELECT c.id, c.name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id);
"""
CITIES = ("Amsterdam", "Berlin", "Dublin", "Lisbon", "Madrid", "Oslo", "Paris", "Vienna")
FIRST = (
    "Ada",
    "Ben",
    "Cleo",
    "Dan",
    "Eva",
    "Finn",
    "Grace",
    "Hugo",
    "Ines",
    "Jon",
    "Kim",
    "Lea",
    "Max",
    "Nora",
)
LAST = (
    "Bauer",
    "Costa",
    "Dubois",
    "Evans",
    "Fischer",
    "Garcia",
    "Hansen",
    "Jansen",
    "Kelly",
    "Moreau",
    "Novak",
)
THINGS = ("lamp", "chair", "desk", "shelf", "rug", "mirror", "clock", "vase", "stool", "bench")
KINDS = ("oak", "steel", "linen", "glass", "cork")
BEGIN = 1_770_000_000


class Shop:
    """The database, and what happens in it."""

    def __init__(self, seed: int = 1) -> None:
        self.random = random.Random(seed)
        self.db = ec.connect()
        self.db.execute(DEFINITIONS)
        self.orders = 0
        self.open: list[int] = []
        self.fill()

    def fill(self) -> None:
        """Customers and products, and some orders to begin with."""
        names = [(f"{f} {n}") for f in FIRST for n in LAST]
        things = [f"{k} {t}" for t in THINGS for k in KINDS]
        with self.db.transaction():
            self.db.table("customers").insert(
                [(i, name, self.random.choice(CITIES)) for i, name in enumerate(names, 1)]
            )
            self.db.table("products").insert(
                [
                    (
                        i,
                        name,
                        name.split()[1],
                        Decimal(self.random.randint(900, 24000)) / 100,
                        self.random.randint(4, 40),
                    )
                    for i, name in enumerate(things, 1)
                ]
            )
        for _ in range(60):
            self.place_order()

    def place_order(self) -> None:
        self.orders += 1
        placed = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(BEGIN + self.orders * 97))
        customer = min(self.random.randint(1, 154), self.random.randint(1, 154))
        with self.db.transaction():
            self.db.table("orders").insert((self.orders, customer, placed, "open"))
            products = self.random.sample(range(1, 51), self.random.randint(1, 4))
            self.db.table("items").insert([(self.orders, p, self.random.randint(1, 3)) for p in products])
        self.open.append(self.orders)

    def settle_order(self) -> None:
        """An order is sent, or cancelled with all of its items."""
        if not self.open:
            return
        order = self.open.pop(self.random.randrange(len(self.open)))
        if self.random.random() < 0.85:
            self.db.table("orders").update({"id": order}, status="sent")
        else:
            with self.db.transaction():
                self.db.execute("DELETE FROM items WHERE order_id = ?", [order])
                self.db.table("orders").delete({"id": order})

    def step(self) -> None:
        """One thing happens."""
        if len(self.open) < 30 or self.random.random() < 0.55:
            self.place_order()
        else:
            self.settle_order()


def main() -> None:
    options = argparse.ArgumentParser(description="A shop with live views, and the studio to look at it.")
    options.add_argument("--no-browser", action="store_true", help="do not open a browser")
    options.add_argument("--port", type=int, help="the port (default: 8080, or the next free one)")
    options.add_argument(
        "--pause", type=float, default=0.4, help="seconds between two changes (default: 0.4)"
    )
    chosen = options.parse_args()
    shop = Shop()
    with shop.db.studio(port=chosen.port, open=not chosen.no_browser) as server:
        print(f"The studio is at {server.page} (Ctrl-C stops it)")
        try:
            while True:
                shop.step()
                time.sleep(shop.random.uniform(0.3, 1.7) * chosen.pause)
        except KeyboardInterrupt:
            print("stopped")


if __name__ == "__main__":
    main()
