"""A driver that follows a topic of changes and sends a view on, until the file `stop` is there: python -m tests.kafka.driver FOLDER SERVERS."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from evercurrent.errors import EvercurrentError
from evercurrent.warehouse.database import Warehouse
from tests.kafka.session import messages, session

SCHEMA = """
CREATE TABLE orders (id INT PRIMARY KEY, customer INT, total INT);
CREATE VIEW spend AS SELECT customer, count(*) AS n, sum(total) AS total FROM orders GROUP BY customer
"""


def main(folder: Path, servers: str) -> None:
    spark = session()
    db = Warehouse(spark, folder / "w", progress=False)
    if "orders" not in db.tables:
        db.execute(SCHEMA)
    frame = messages(spark, servers, "orders", maxOffsetsPerTrigger=150)
    query = db.stream("orders", frame, format="debezium", name="orders")
    sink = db.kafka_sink("spend", servers=servers, topic="spend", partitions=2)
    print("begin", flush=True)
    while True:
        stopping = (folder / "stop").exists()
        if stopping:
            query.processAllAvailable()
        if query.exception() is not None:
            raise SystemExit(f"the stream has ended: {query.exception()}")
        try:
            sink.send()
        except EvercurrentError as problem:  # the broker is away: the next call looks at what the topic has
            print(problem, file=sys.stderr, flush=True)
            stopping = False
        if stopping:
            break
        print(db.version, flush=True)
        time.sleep(0.2)
    query.stop()
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
