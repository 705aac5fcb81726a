"""TPC-H Q3 kept current by SQLite triggers: the same incremental program, in the database that everyone has."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

from bench.streams import Event
from bench.tpch import Row

SCRIPT = """
CREATE TABLE customer (custkey INTEGER PRIMARY KEY, segment TEXT);
CREATE TABLE orders (orderkey INTEGER PRIMARY KEY, custkey INTEGER, orderdate TEXT, priority INTEGER);
CREATE TABLE lineitem (orderkey INTEGER, line INTEGER, price INTEGER, discount INTEGER, shipdate TEXT,
                       PRIMARY KEY (orderkey, line)) WITHOUT ROWID;
CREATE TABLE q3 (orderkey INTEGER PRIMARY KEY, revenue INTEGER, orderdate TEXT, priority INTEGER, n INTEGER);

CREATE TRIGGER line_comes AFTER INSERT ON lineitem WHEN NEW.shipdate > '1995-03-15' BEGIN
  INSERT INTO q3
  SELECT o.orderkey, NEW.price * (100 - NEW.discount), o.orderdate, o.priority, 1
  FROM orders o JOIN customer c ON c.custkey = o.custkey
  WHERE o.orderkey = NEW.orderkey AND o.orderdate < '1995-03-15' AND c.segment = 'BUILDING'
  ON CONFLICT (orderkey) DO UPDATE SET revenue = revenue + excluded.revenue, n = n + 1;
END;

CREATE TRIGGER line_goes AFTER DELETE ON lineitem WHEN OLD.shipdate > '1995-03-15' BEGIN
  UPDATE q3 SET revenue = revenue - OLD.price * (100 - OLD.discount), n = n - 1 WHERE orderkey = OLD.orderkey;
  DELETE FROM q3 WHERE orderkey = OLD.orderkey AND n = 0;
END;
"""

Run = Callable[[str, tuple[Any, ...]], Any]


class Q3:
    """An in-memory database, one open transaction: the best case for SQLite."""

    def __init__(self) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=16)
        self.connection.executescript(SCRIPT)
        self.connection.execute("BEGIN")

    def statements(self, stream: list[Event]) -> list[tuple[str, tuple[Any, ...]]]:
        """The stream as SQL, with parameters; only the columns that the query needs."""
        return [statement(table, sign, row) for table, sign, row in stream]

    def answer(self) -> list[tuple[Any, ...]]:
        return self.connection.execute("SELECT orderkey, revenue, orderdate, priority FROM q3").fetchall()


def statement(table: str, sign: int, row: Row) -> tuple[str, tuple[Any, ...]]:
    match table, sign:
        case "customer", 1:
            return "INSERT INTO customer VALUES (?, ?)", (row[0], row[6])
        case "orders", 1:
            return "INSERT INTO orders VALUES (?, ?, ?, ?)", (row[0], row[1], str(row[4]), row[7])
        case "lineitem", 1:
            values = (row[0], row[3], row[5], row[6], str(row[10]))
            return "INSERT INTO lineitem VALUES (?, ?, ?, ?, ?)", values
        case "orders", -1:
            return "DELETE FROM orders WHERE orderkey = ?", (row[0],)
        case "lineitem", -1:
            return "DELETE FROM lineitem WHERE orderkey = ? AND line = ?", (row[0], row[3])
        case _:
            raise ValueError(f"no {table} with sign {sign} in this stream")
