"""DuckDB with the rows at the end of a stream: recomputes the queries, and judges every answer."""

from __future__ import annotations

from typing import Any

import duckdb

from bench import tpch
from bench.measure import seconds
from bench.streams import Event
from tests.duck import difference, translate


class Recompute:
    def __init__(self, sf: float) -> None:
        self.connection = duckdb.connect(":memory:")
        for name in tpch.NAMES:
            path = tpch.folder(sf) / f"{name}.parquet"
            self.connection.execute(f"CREATE TABLE {name} AS SELECT * FROM read_parquet('{path}')")

    def after(self, stream: list[Event]) -> None:
        """Keep only the orders, with their lines, that the stream has left."""
        import pyarrow as pa

        gone = pa.table({"k": [row[0] for table, sign, row in stream if table == "orders" and sign < 0]})
        self.connection.register("gone", gone)
        self.connection.execute("DELETE FROM lineitem WHERE l_orderkey IN (SELECT k FROM gone)")
        self.connection.execute("DELETE FROM orders WHERE o_orderkey IN (SELECT k FROM gone)")
        self.connection.unregister("gone")

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.connection.execute(translate(query)).fetchall()

    def microseconds(self, query: str, repeats: int = 5) -> float:
        """The best time of one recomputation."""
        text = translate(query)
        return min(seconds(lambda: self.connection.execute(text).fetchall()) for _ in range(repeats)) * 1e6

    def require(self, query: str, ours: list[tuple[Any, ...]], who: str) -> None:
        """No figure for a wrong answer."""
        wrong = difference(ours, self.rows(query))
        if wrong:
            raise SystemExit(f"{who}: the answer is wrong, so there is no figure for it\n{wrong}")
