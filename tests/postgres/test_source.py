"""A source holds what the table of PostgreSQL holds, after every kind of change."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.errors import EvaluationError, QueryError, StorageError
from tests.postgres.cluster import Cluster

pytestmark = pytest.mark.postgres

ORDERS = "CREATE TABLE orders (id bigint PRIMARY KEY, customer text, total numeric(12,2))"


def same(db: ec.Database, server: Cluster, name: str = "orders", columns: str = "*") -> bool:
    theirs = sorted(server.execute(f"SELECT {columns} FROM {name}"), key=repr)
    return sorted(db.table(name).rows(), key=repr) == theirs


def test_a_source_is_loaded_and_followed(server: Cluster, tmp_path: Path) -> None:
    server.execute(ORDERS)
    server.execute("INSERT INTO orders SELECT i, 'c' || i % 3, i * 1.5 FROM generate_series(1, 500) i")
    with ec.connect(tmp_path / "shop.db") as db:
        db.source("orders", postgres=server.address, table="public.orders")
        db.execute(
            "CREATE VIEW spend AS SELECT customer, SUM(total) AS total, COUNT(*) AS n FROM orders GROUP BY customer"
        )
        assert same(db, server)
        assert db.table("orders").primary_key == ("id",)
        heard: list[Any] = []
        db.view("spend").subscribe(heard.append)
        assert db.refresh().count == 0
        server.execute("INSERT INTO orders VALUES (1000, 'new', 7)")
        server.execute("UPDATE orders SET total = total + 1 WHERE id < 4")
        server.execute("UPDATE orders SET id = 2000 WHERE id = 5")
        server.execute("DELETE FROM orders WHERE id IN (6, 7)")
        run = db.refresh()
        assert run.rows_in == {"orders": 7}
        assert same(db, server)
        assert [c.transaction for c in heard] == [db.version]
        assert db.verify()
        with pytest.raises(QueryError, match="others write it"):
            db.table("orders").insert((1, "x", 1))
        with pytest.raises(QueryError, match="others write it"):
            db.execute("DELETE FROM orders")
        server.execute("TRUNCATE orders")
        server.execute("INSERT INTO orders VALUES (1, NULL, NULL)")
        db.refresh()
        assert db.table("orders").rows() == [(1, None, None)]
    server.execute("INSERT INTO orders VALUES (2, 'later', 1)")
    with ec.connect(tmp_path / "shop.db") as db:
        with pytest.raises(QueryError, match="not declared in this program"):
            db.refresh()
        version = db.version
        db.source("orders", postgres=server.address, table="orders")
        assert db.version == version  # nothing is loaded again
        assert db.refresh().rows_in == {"orders": 1}
        assert same(db, server)
    assert len(server.execute("SELECT 1 FROM pg_replication_slots")) == 1


def test_tables_of_one_server_fit_together(server: Cluster, tmp_path: Path) -> None:
    server.execute("CREATE TABLE a (id int PRIMARY KEY, n int)")
    server.execute("CREATE TABLE b (id int PRIMARY KEY, n int)")
    with ec.connect(tmp_path / "shop.db") as db:
        db.source("a", postgres=server.address, table="a")
        db.source("b", postgres=server.address, table="b")
        db.execute(
            "CREATE ASSERTION equal CHECK (NOT EXISTS (SELECT a.id FROM a JOIN b ON a.id = b.id WHERE a.n <> b.n))"
        )
        db.execute("CREATE ASSERTION both CHECK (NOT EXISTS (SELECT id FROM a EXCEPT SELECT id FROM b))")
        for i in range(10):
            server.execute(f"BEGIN; INSERT INTO a VALUES ({i}, 1); INSERT INTO b VALUES ({i}, 1); COMMIT")
            server.execute("BEGIN; UPDATE a SET n = n + 1; UPDATE b SET n = n + 1; COMMIT")
            version = db.version
            db.refresh()
            assert db.version == version + 1
        assert same(db, server, "a")
        assert same(db, server, "b")


@pytest.mark.parametrize(
    ("definition", "change"),
    [
        ("CREATE TABLE t (a int, b text)", "ALTER TABLE t REPLICA IDENTITY FULL"),
        ("CREATE TABLE t (a int PRIMARY KEY, b text)", "ALTER TABLE t REPLICA IDENTITY FULL"),
        (
            "CREATE TABLE t (a int PRIMARY KEY, b text NOT NULL UNIQUE)",
            "ALTER TABLE t REPLICA IDENTITY USING INDEX t_b_key",
        ),
        ("CREATE TABLE t (a int NOT NULL, b text NOT NULL, PRIMARY KEY (b, a))", "SELECT 1"),
    ],
)
def test_any_replica_identity(server: Cluster, tmp_path: Path, definition: str, change: str) -> None:
    server.execute(definition)
    server.execute(change)
    server.execute("INSERT INTO t SELECT i, 'v' || i FROM generate_series(1, 20) i")
    with ec.connect(tmp_path / "t.db") as db:
        db.source("t", postgres=server.address)
        server.execute("UPDATE t SET a = a + 100 WHERE a < 5")
        server.execute("UPDATE t SET b = b || '!' WHERE a > 10")
        server.execute("UPDATE t SET a = a + 1000, b = 'x' || a WHERE a = 7")
        server.execute("DELETE FROM t WHERE a IN (8, 9)")
        if "PRIMARY" not in definition:
            server.execute("INSERT INTO t VALUES (10, 'v10'), (10, 'v10'), (NULL, NULL)")
            server.execute("DELETE FROM t WHERE ctid = (SELECT min(ctid) FROM t WHERE a = 10)")
        db.refresh()
        assert same(db, server, "t")
        assert db.verify()


def test_without_a_replica_identity_the_way_out_is_named(server: Cluster) -> None:
    server.execute("CREATE TABLE t (a int, b text)")
    db = ec.connect()
    with pytest.raises(QueryError, match="no primary key") as caught:
        db.source("t", postgres=server.address)
    assert "REPLICA IDENTITY FULL" in str(caught.value)
    server.execute("ALTER TABLE t REPLICA IDENTITY NOTHING")
    with pytest.raises(QueryError, match="no replica identity"):
        db.source("t", postgres=server.address)
    server.execute("UPDATE t SET a = 1")  # nothing was done to the table
    assert db.tables == []
    assert server.execute("SELECT 1 FROM pg_publication") == []


def test_every_type_is_mapped(server: Cluster, tmp_path: Path) -> None:
    server.execute("CREATE TYPE mood AS ENUM ('sad', 'happy')")
    server.execute("CREATE DOMAIN posint AS int CHECK (VALUE > 0)")
    columns = {
        "a bool": (True, True), "b smallint": (7, 7), "c int": (-7, -7), "d bigint": (2**62, 2**62),
        "e real": (1.5, 1.5), "f float8": (float("inf"), float("inf")), "g numeric(10,3)": ("1.250", Decimal("1.250")),
        "h numeric": ("123.5", Decimal("123.5")), "i text": ("é 🙂 '\\", "é 🙂 '\\"), "j varchar(5)": ("ab", "ab"),
        "k char(3)": ("a", "a  "), "l bytea": (b"\x00\xff", b"\x00\xff"), "m date": ("2024-02-29", datetime.date(2024, 2, 29)),
        "n time": ("10:11:12.5", datetime.time(10, 11, 12, 500000)),
        "o timestamp": ("2024-02-29 10:00:00", datetime.datetime(2024, 2, 29, 10)),
        "p timestamptz": ("2024-02-29 10:00:00+02", datetime.datetime(2024, 2, 29, 8, tzinfo=datetime.UTC)),
        "q uuid": ("00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000001"),
        "r jsonb": ('{"a": [1]}', '{"a": [1]}'), "s mood": ("happy", "happy"), "t posint": (3, 3),
        "u int[]": ([1, None, 3], [1, None, 3]), "v text[]": (['a"b', "c,d"], ['a"b', "c,d"]),
        "w numeric(6,2)[]": ([Decimal("1.50")], [Decimal("1.50")]), "x interval": ("1 mon 2 days", "P1M2D"),
        "y inet": ("127.0.0.1", "127.0.0.1"), "z name": ("n", "n"),
    }  # fmt: skip
    listed = ", ".join(columns)
    server.execute(
        f"CREATE TABLE t (id int PRIMARY KEY, {listed}, g2 int GENERATED ALWAYS AS (id + 1) STORED)"
    )
    names = ", ".join(c.split()[0] for c in columns)
    marks = ", ".join(["%s"] * len(columns))
    values = [given for given, _ in columns.values()]
    insert = f"INSERT INTO t (id, {names}) VALUES (%s, {marks})"
    server.execute(insert, 1, *values)
    server.execute("INSERT INTO t (id) VALUES (2)")
    wanted = tuple(w for _, w in columns.values())
    with ec.connect(tmp_path / "t.db") as db:
        db.source("t", postgres=server.address)
        server.execute(insert, 3, *values)
        server.execute("INSERT INTO t (id) VALUES (4)")
        db.refresh()
        found = {row[0]: row[1:] for row in db.table("t").rows()}
        assert found == {1: wanted, 2: (None,) * len(wanted), 3: wanted, 4: (None,) * len(wanted)}
    with ec.connect(tmp_path / "t.db") as db:
        assert {row[0]: row[1:] for row in db.table("t").rows()} == found


def test_values_that_do_not_fit_are_refused_and_named(server: Cluster, tmp_path: Path) -> None:
    server.execute("CREATE TABLE t (id int PRIMARY KEY, d date, n numeric)")
    with ec.connect(tmp_path / "t.db") as db:
        db.source("t", postgres=server.address)
        for column, value in (("d", "infinity"), ("n", "NaN"), ("n", "1e30")):
            server.execute(f"INSERT INTO t (id, {column}) VALUES (1, '{value}')")
            with pytest.raises((EvaluationError, QueryError), match=f"t.{column}"):
                db.refresh()
            assert db.table("t").rows() == []
            server.execute("DELETE FROM t")
            with pytest.raises((EvaluationError, QueryError)):
                db.refresh()  # it is still in the log, before it is deleted
            db.refresh(full=["t"])
        server.execute("INSERT INTO t VALUES (2, '2024-01-01', 1)")
        assert db.refresh().rows_in == {"t": 1}


def test_large_values_that_an_update_leaves_are_kept(server: Cluster, tmp_path: Path) -> None:
    server.execute("CREATE TABLE t (id int PRIMARY KEY, big text, n int)")
    server.execute("ALTER TABLE t ALTER big SET STORAGE EXTERNAL")
    server.execute("INSERT INTO t VALUES (1, repeat('abc', 10000), 0)")
    with ec.connect(tmp_path / "t.db") as db:
        db.source("t", postgres=server.address)
        server.execute("UPDATE t SET n = 1")
        server.execute("UPDATE t SET id = 2")
        db.refresh()
        assert same(db, server, "t")


def test_columns_that_come_and_go_are_followed(server: Cluster, tmp_path: Path) -> None:
    server.execute("CREATE TABLE t (id int PRIMARY KEY, n int, gone text)")
    server.execute("INSERT INTO t VALUES (1, 1, 'x'), (2, 2, 'y')")
    with ec.connect(tmp_path / "t.db") as db:
        db.source("t", postgres=server.address)
        db.execute("CREATE VIEW total AS SELECT SUM(n) AS n FROM t")
        server.execute("INSERT INTO t VALUES (3, 3, 'z')")
        server.execute("ALTER TABLE t ADD COLUMN more int DEFAULT 5")
        server.execute("INSERT INTO t VALUES (4, 4, 'z', 6)")
        run = db.refresh()
        assert "other columns" in str(run)
        assert same(db, server, "t")
        server.execute("ALTER TABLE t DROP COLUMN gone")
        server.execute("UPDATE t SET n = n + 1")
        db.refresh()
        assert same(db, server, "t")
        assert db.view("total").rows() == [(14,)]
        assert db.verify()
        server.execute("ALTER TABLE t ALTER n TYPE bigint")
        with pytest.raises(QueryError, match="has become BIGINT"):
            db.refresh()
        db.execute("DROP TABLE t CASCADE")
        db.source("t", postgres=server.address)
        assert same(db, server, "t")
        db.refresh()
    assert len(server.execute("SELECT 1 FROM pg_replication_slots")) == 1


def test_a_lost_slot_and_a_lost_connection(server: Cluster, tmp_path: Path) -> None:
    server.execute(ORDERS)
    server.execute("INSERT INTO orders VALUES (1, 'a', 1), (2, 'b', 2)")
    with ec.connect(tmp_path / "shop.db") as db:
        db.source("orders", postgres=server.address)
        server.execute("UPDATE orders SET total = 9 WHERE id = 1")
        server.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots")
        server.execute("DELETE FROM orders WHERE id = 2")
        assert "slot was gone" in str(db.refresh())
        assert same(db, server)
        server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        server.execute("INSERT INTO orders VALUES (3, 'c', 3)")
        with pytest.raises(StorageError, match="PostgreSQL was lost"):
            db.refresh()
        db.refresh()
        assert same(db, server)


def test_a_database_without_a_file_drops_its_slot(server: Cluster) -> None:
    server.execute(ORDERS)
    server.execute("INSERT INTO orders VALUES (1, 'a', 1)")
    with ec.connect() as db:
        db.source("orders", postgres=server.address)
        server.execute("INSERT INTO orders VALUES (2, 'a', 1)")
        db.refresh()
        assert same(db, server)
        with pytest.raises(QueryError, match="others write it"):
            db.table("orders").insert((3, "x", 1))
        assert len(server.execute("SELECT 1 FROM pg_replication_slots")) == 1
    assert server.execute("SELECT 1 FROM pg_replication_slots") == []
    assert server.execute("SELECT 1 FROM pg_publication") == []


def test_wrong_declarations(server: Cluster, tmp_path: Path) -> None:
    server.execute(ORDERS)
    server.execute("CREATE VIEW v AS SELECT 1 AS n")
    with ec.connect(tmp_path / "shop.db") as db:
        db.execute("CREATE TABLE taken (a INT)")
        for name, options, said in (
            ("orders", {"postgres": "postgresql://127.0.0.1:1/x"}, "cannot be reached"),
            ("orders", {"postgres": "no address"}, "no address of a PostgreSQL"),
            ("orders", {"postgres": server.address, "table": "nothing"}, "no table 'nothing'"),
            ("v", {"postgres": server.address}, "is no table"),
            ("taken", {"postgres": server.address, "table": "orders"}, "already a table"),
            ("orders", {"postgres": server.address, "key": ["nix"]}, "no column 'nix'"),
            ("orders", {"path": "x"}, "follows tables of PostgreSQL"),
        ):
            with pytest.raises(ec.EvercurrentError, match=said):
                db.source(name, **options)  # type: ignore[arg-type]
        assert db.tables == ["taken"]
        db.source("orders", postgres=server.address)
        server.execute("CREATE TABLE other (id int PRIMARY KEY)")
        with pytest.raises(QueryError, match="another"):
            db.source("orders", postgres=server.address, table="other")
    assert len(server.execute("SELECT 1 FROM pg_replication_slots")) == 1
