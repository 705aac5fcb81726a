"""Tables and files that the projects read, and how each batch changes them.

Tables are folders of Parquet files, one file for each batch; a batch that updates or deletes rows writes an earlier file again. The
folder `clicks` gets a JSON file with each batch, `products` is one CSV file that is replaced.
"""

from __future__ import annotations

import json
import random
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

TABLES = {
    "raw_orders": pyarrow.schema(
        [
            ("order_id", pyarrow.int64()),
            ("customer_id", pyarrow.int32()),
            ("product", pyarrow.string()),
            ("amount", pyarrow.decimal128(10, 2)),
            ("status", pyarrow.string()),
            ("day", pyarrow.date32()),
        ]
    ),
    "raw_customers": pyarrow.schema(
        [
            ("customer_id", pyarrow.int32()),
            ("name", pyarrow.string()),
            ("country", pyarrow.string()),
            ("version", pyarrow.int32()),
        ]
    ),
    "raw_events": pyarrow.schema(
        [
            ("event_id", pyarrow.int64()),
            ("user_id", pyarrow.int32()),
            ("kind", pyarrow.string()),
            ("at", pyarrow.timestamp("us", tz="UTC")),
        ]
    ),
}
COUNTRIES = ("FR", "DE", "ES", "IT", None)
STATUSES = ("paid", "open", "cancelled")
KINDS = ("view", "click", "buy")


class Lake:
    """The folders of all sources; `batch` writes the next change."""

    def __init__(self, folder: Path, rows: int = 200, seed: int = 7, append_only: bool = False) -> None:
        self.folder, self.rows, self.append_only = folder, rows, append_only
        self.random = random.Random(seed)
        self.number = 0
        self.files: dict[tuple[str, int], list[dict[str, Any]]] = {}
        for name in (*TABLES, "clicks", "products"):
            (folder / name).mkdir(parents=True)

    def batch(self, rows: int | None = None) -> None:
        """New rows everywhere; from the second batch on, updated and deleted ones too."""
        count = rows or self.rows
        number = self.number
        self.write("raw_orders", number, [self.order(number * 1_000_000 + i) for i in range(count)])
        self.write(
            "raw_customers",
            number,
            [self.customer(i, number) for i in range(number * 7, number * 7 + max(20, count // 10))],
        )
        events = [self.event(number * 1_000_000 + i, number) for i in range(count)]
        self.write("raw_events", number, [*events, *events[:5]])
        if number and not self.append_only:
            self.change_earlier("raw_orders", number - 1)
        with (self.folder / "clicks" / f"{number}.json").open("w") as file:
            for i in range(count // 4):
                file.write(
                    json.dumps(
                        {
                            "click": number * 1_000 + i,
                            "page": f"/p{self.random.randrange(9)}",
                            "user": self.random.randrange(20),
                        }
                    )
                    + "\n"
                )
        lines = [
            "product,category,price",
            *(f"p{i},c{(i + number) % 3},{i * 2 + number}.5" for i in range(10 + number)),
        ]
        (self.folder / "products" / "products.csv").write_text("\n".join(lines) + "\n")
        self.number += 1

    def order(self, key: int) -> dict[str, Any]:
        return {
            "order_id": key,
            "customer_id": self.random.randrange(40),
            "product": f"p{self.random.randrange(12)}",
            "amount": Decimal(self.random.randrange(100, 99_999)) / 100,
            "status": self.random.choice(STATUSES),
            "day": date(2026, 1, 1) + timedelta(days=self.random.randrange(60)),
        }

    def customer(self, key: int, version: int) -> dict[str, Any]:
        return {
            "customer_id": key,
            "name": f"customer {key}",
            "country": self.random.choice(COUNTRIES),
            "version": version,
        }

    def event(self, key: int, number: int) -> dict[str, Any]:
        at = datetime(2026, 2, 1 + number, tzinfo=UTC) + timedelta(seconds=self.random.randrange(40_000))
        return {
            "event_id": key,
            "user_id": self.random.randrange(15),
            "kind": self.random.choice(KINDS),
            "at": at,
        }

    def change_earlier(self, table: str, number: int) -> None:
        """Updates a few rows of an earlier file and deletes a few."""
        rows = list(self.files[table, number])
        for place in self.random.sample(range(len(rows)), 5):
            rows[place] = {**rows[place], "status": "refunded", "amount": Decimal("1.00")}
        del rows[3:6]
        self.write(table, number, rows)

    def write(self, table: str, number: int, rows: list[dict[str, Any]]) -> None:
        self.files[table, number] = rows
        path = self.folder / table / f"part-{number:04}.parquet"
        new = path.with_name(f"_{path.name}")
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, TABLES[table]), new)
        new.replace(path)


def declare(sql: Any, database: str, lake: Path) -> None:
    """Makes the tables known to a catalog, by a function that runs SQL."""
    types = {
        "raw_orders": "order_id BIGINT, customer_id INT, product STRING, amount DECIMAL(10,2), status STRING, day DATE",
        "raw_customers": "customer_id INT, name STRING, country STRING, version INT",
        "raw_events": "event_id BIGINT, user_id INT, kind STRING, at TIMESTAMP",
    }
    for name, columns in types.items():
        sql(f"CREATE TABLE {database}.{name} ({columns}) USING parquet LOCATION '{lake}/{name}'")
