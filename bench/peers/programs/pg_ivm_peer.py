"""Queries of TPC-H kept by pg_ivm: `python pg_ivm_peer.py QUERY STREAM BATCH START TIMED RESULT`.

The server is its own, in a temporary folder, with a socket in it and no network; its programs are in the folder that
EVERCURRENT_PG_IVM names. A batch is one transaction: COPY for the inserted rows of each table, one DELETE by keys for the deleted
ones; a batch of one row is one prepared statement. The time is that of the server's process that serves the connection; the
client, the writer of the log and the checkpointer are left out.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psycopg
from event_lines import TABLES, Event, arguments, events, measure, write

COLUMNS = {
    "region": "r_regionkey bigint PRIMARY KEY, r_name text",
    "nation": "n_nationkey bigint PRIMARY KEY, n_name text, n_regionkey bigint",
    "supplier": "s_suppkey bigint PRIMARY KEY, s_nationkey bigint",
    "part": "p_partkey bigint PRIMARY KEY, p_brand text, p_container text",
    "customer": "c_custkey bigint PRIMARY KEY, c_name text, c_nationkey bigint, c_mktsegment text",
    "orders": "o_orderkey bigint PRIMARY KEY, o_custkey bigint, o_totalprice bigint, o_orderdate int, o_shippriority int",
    "lineitem": "l_orderkey bigint, l_linenumber int, l_partkey bigint, l_suppkey bigint, l_quantity bigint, "
    "l_extendedprice bigint, l_discount bigint, l_shipdate int, PRIMARY KEY (l_orderkey, l_linenumber)",
}
INDEXES = ("orders (o_custkey)", "customer (c_nationkey)", "lineitem (l_partkey)", "lineitem (l_suppkey)")
QUERIES = {
    "Q3": """SELECT l_orderkey, sum(l_extendedprice * (100 - l_discount)) AS revenue, o_orderdate, o_shippriority
        FROM customer, orders, lineitem
        WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
          AND o_orderdate < 9204 AND l_shipdate > 9204
        GROUP BY l_orderkey, o_orderdate, o_shippriority""",
    "Q5": """SELECT n_name, sum(l_extendedprice * (100 - l_discount)) AS revenue
        FROM customer, orders, lineitem, supplier, nation, region
        WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey
          AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey
          AND r_name = 'ASIA' AND o_orderdate >= 8766 AND o_orderdate < 9131
        GROUP BY n_name""",
    "Q17": """SELECT sum(l_extendedprice) AS price FROM lineitem, part
        WHERE p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container = 'MED BOX'
          AND l_quantity < (SELECT 0.2 * avg(l_quantity) FROM lineitem WHERE l_partkey = p_partkey)""",
    "Q18": """SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) AS quantity
        FROM customer, orders, lineitem
        WHERE c_custkey = o_custkey AND o_orderkey = l_orderkey
        GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice HAVING sum(l_quantity) > 30000""",
}
SHOWN = {
    "Q3": "l_orderkey, revenue, o_orderdate, o_shippriority",
    "Q5": "n_name, revenue",
    "Q17": "price",
    "Q18": "c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, quantity",
}
SETTINGS = """
listen_addresses = ''
unix_socket_directories = '{folder}'
shared_preload_libraries = 'pg_ivm'
shared_buffers = 256MB
fsync = off
synchronous_commit = off
full_page_writes = off
autovacuum = off
jit = off
max_parallel_workers_per_gather = 0
"""


class Cluster:
    def __init__(self, folder: Path) -> None:
        self.folder, self.bin = folder, Path(os.environ["EVERCURRENT_PG_IVM"])
        self.user = "postgres" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
        self.options: dict[str, Any] = {"cwd": folder}
        if os.geteuid() == 0:
            shutil.chown(folder, self.user, self.user)
            self.options |= {"user": self.user, "group": self.user, "extra_groups": []}
        data = folder / "data"
        command = [str(self.bin / "initdb"), "-D", str(data), "-U", self.user, "-A", "trust", "-E", "UTF8"]
        subprocess.run(
            [*command, "--no-sync", "--no-locale"], check=True, stdout=subprocess.DEVNULL, **self.options
        )
        with (data / "postgresql.conf").open("a") as settings:
            settings.write(SETTINGS.format(folder=folder))
        with (folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                [str(self.bin / "postgres"), "-D", str(data)], stdout=log, stderr=log, **self.options
            )

    def connect(self) -> psycopg.Connection[Any]:
        end = time.monotonic() + 60
        while True:
            try:
                return psycopg.connect(
                    host=str(self.folder), user=self.user, dbname="postgres", autocommit=True
                )
            except psycopg.OperationalError:
                if self.process.poll() is not None or time.monotonic() > end:
                    sys.exit((self.folder / "log").read_text()[-2000:])
                time.sleep(0.1)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)


class Program:
    """The statements of one query over one connection."""

    def __init__(self, connection: psycopg.Connection[Any], query: str) -> None:
        self.connection, self.tables = connection, TABLES[query]
        run = connection.execute
        run("CREATE EXTENSION pg_ivm")
        for table in self.tables:
            run(f"CREATE TABLE {table} ({COLUMNS[table]})")
        for index in INDEXES:
            if index.split()[0] in self.tables:
                run(f"CREATE INDEX ON {index}")
        try:
            run("SELECT pgivm.create_immv('kept', %s)", [QUERIES[query]])
        except psycopg.errors.FeatureNotSupported as error:
            print(f"pg_ivm has no such view: {error.diag.message_primary}", file=sys.stderr)
            sys.exit(75)
        backend = connection.info.backend_pid
        self.stat = Path(f"/proc/{backend}/stat")

    def clock(self) -> float:
        words = self.stat.read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")

    def step(self, batch: list[Event]) -> None:
        if len(batch) == 1:
            self.single(batch[0])
            return
        rows: dict[tuple[str, int], list[list[str]]] = {}
        for table, sign, values in batch:
            rows.setdefault((table, sign), []).append(values)
        with self.connection.transaction(), self.connection.cursor() as cursor:
            for table in self.tables:
                if found := rows.get((table, 1)):
                    with cursor.copy(f"COPY {table} FROM STDIN") as copy:
                        copy.write("".join("\t".join(values) + "\n" for values in found))
            for table in reversed(self.tables):
                if found := rows.get((table, -1)):
                    cursor.execute(*self.deletion(table, found))

    def single(self, event: Event) -> None:
        table, sign, values = event
        if sign > 0:
            marks = ", ".join(["%s"] * len(values))
            self.connection.execute(f"INSERT INTO {table} VALUES ({marks})", values, prepare=True)
        elif table == "lineitem":
            text = "DELETE FROM lineitem WHERE l_orderkey = %s AND l_linenumber = %s"
            self.connection.execute(text, values[:2], prepare=True)
        else:
            self.connection.execute("DELETE FROM orders WHERE o_orderkey = %s", values[:1], prepare=True)

    def deletion(self, table: str, rows: list[list[str]]) -> tuple[str, list[Any]]:
        if table == "lineitem":
            text = (
                "DELETE FROM lineitem USING unnest(%s::bigint[], %s::int[]) AS gone (k, n) "
                "WHERE l_orderkey = k AND l_linenumber = n"
            )
            return text, [[r[0] for r in rows], [r[1] for r in rows]]
        return "DELETE FROM orders WHERE o_orderkey = ANY (%s::bigint[])", [[r[0] for r in rows]]


def main() -> None:
    given = arguments()
    with tempfile.TemporaryDirectory(prefix="evercurrent-pg-", ignore_cleanup_errors=True) as name:
        cluster = Cluster(Path(name))
        try:
            with cluster.connect() as connection:
                program = Program(connection, given.query)
                said = measure(given, events(given), program.step, program.clock)
                write(given, connection.execute(f"SELECT {SHOWN[given.query]} FROM kept").fetchall())
        finally:
            cluster.stop()
    print(said)


main()
