"""What is committed is there again after the file is opened; what is refused changes neither the file nor the database."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.errors import ConflictError, EvercurrentError, QueryError, StorageError, UnsupportedError

SHOP = """
CREATE TABLE customers (id BIGINT PRIMARY KEY, name STRING NOT NULL, UNIQUE (name));
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT REFERENCES customers (id), total DECIMAL(12,2) CHECK (total > 0));
CREATE TABLE log (word STRING, n DOUBLE);
CREATE VIEW spend AS SELECT name, SUM(total) AS total FROM orders o JOIN customers c ON c.id = o.customer GROUP BY name;
CREATE VIEW words AS SELECT word, COUNT(*) AS n, MAX(n) AS most FROM log GROUP BY word;
CREATE INDEX by_customer ON orders (customer);
CREATE ASSERTION no_zero CHECK (NOT EXISTS (SELECT 1 FROM customers WHERE id = 0));
"""


@ec.opaque
def tally(n: int) -> int:
    return n * 2


def shop(path: Path) -> ec.Database:
    db = ec.connect(path)
    db.execute(SHOP)
    db.table("customers").insert([(1, "Ann"), (2, "Bob")])
    db.table("orders").insert([(1, 1, "9.50"), (2, 2, 3), (3, 1, "0.25")])
    db.table("log").insert([("a", 1.0), ("a", 1.0), ("b", float("nan")), (None, None), ("a", float("inf"))])
    return db


def contents(db: ec.Database) -> dict[str, list[str]]:
    handles = [db.table(n) for n in db.tables] + [db.view(n) for n in db.views]
    return {h.name: sorted(map(repr, h.rows())) for h in handles}


def test_tables_and_views_are_there_again(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with shop(path) as db:
        db.execute("UPDATE orders SET total = total + 1 WHERE customer = 1")
        db.execute("DELETE FROM log WHERE word = 'a' AND n = 1")
        db.table("log").insert(("a", 1.0))
        before, version = contents(db), db.version
    assert os.listdir(tmp_path) == ["shop.db"]
    with ec.connect(str(path)) as db:
        assert contents(db) == before
        assert db.version == version == 6
        assert db.verify()
        with pytest.raises(ec.ConstraintError):
            db.table("orders").insert((4, 3, 1))
        with pytest.raises(ec.ConstraintError):
            db.table("customers").insert((3, "Ann"))
        with pytest.raises(ec.ConstraintError):
            db.execute("INSERT INTO customers VALUES (0, 'Zoe')")
        db.table("orders").insert((4, 2, 1))
        assert "by_customer" in str(db.execute("EXPLAIN SELECT * FROM orders WHERE customer = 2"))
        assert len(db.execute("SELECT * FROM orders WHERE customer = 2")) == 2
    with ec.connect(path=path) as db:
        assert db.view("spend").rows() == [("Ann", 11.75), ("Bob", 4)]
        assert db.version == version + 1


def test_definitions_change_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with shop(path) as db:
        db.execute("CREATE OR REPLACE VIEW words AS SELECT COUNT(*) AS n FROM log")
        db.execute("DROP TABLE orders CASCADE")
        db.execute("CREATE OR REPLACE TABLE customers (id INT, born DATE)")
        db.table("customers").insert((1, "2020-02-29"))
        db.execute("CREATE VIEW lazy AS SELECT * FROM customers ORDER BY id", mode="lazy")
        db.execute("ALTER TABLE customers ADD COLUMN note STRING DEFAULT 'none'")
        db.execute("CREATE TEMPORARY VIEW virtual AS SELECT id + 1 AS n FROM customers")
        db.execute("CREATE VIEW over_virtual AS SELECT SUM(n) AS n FROM virtual")
        before = contents(db)
    with ec.connect(path) as db:
        assert contents(db) == before
        assert db.table("customers").rows()[0][2] == "none"
        assert (db.tables, sorted(db.views), db.view("lazy").mode) == (
            ["log", "customers"],
            ["lazy", "over_virtual", "virtual", "words"],
            "lazy",
        )


def test_objects_names_and_oql_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "people.db"
    with ec.connect(path) as db:
        db.odl(
            """
            class person (extent people key name) {
                attribute string name; attribute list<string> words; attribute dictionary<string, short> marks;
                attribute struct d { string s; short n; } detail; attribute person friend_of;
                relationship set<club> clubs inverse club::members;
                string shout();
            };
            class boss extends person (extent bosses) { attribute float pay; relationship list<person> staff inverse person::chief; };
            class club (extent clubs) { attribute string title; relationship set<person> members inverse person::clubs; };
            """.replace("string shout();", "relationship boss chief inverse boss::staff; string shout();"),
            operations={"person.shout": lambda self: self.name.upper()},
        )
        ann = db.new("person", name="Ann", words=["b", "a", "b"], marks={"x": 1}, detail={"s": "t", "n": 2})
        zoe = db.new("boss", name="Zoe", pay=2.5, friend_of=ann, staff=[ann])
        gone = db.new("person", name="Gone", friend_of=zoe)
        chess = db.new("club", title="chess", members={ann, zoe})
        db.delete(gone)
        db.bind("First", ann)
        db.oql("define of_club(t) as select m.name from c in clubs, m in c.members where c.title = t")
        db.oql("define loud as select struct(n: p.shout(), w: p.words) from p in people")
        ann.words.append("c")
        ann.friend_of = zoe
        value, last = db.view("loud").value(), chess.oid
    with ec.connect(path) as db:
        assert db.view("loud").value() == value
        assert sorted(db.query('of_club("chess")', language="oql")) == ["Ann", "Zoe"]
        ann, zoe = db.object(1), db.object(2)
        assert (ann.words, ann.marks, ann.detail.n, ann.friend_of, ann.chief) == (
            ["b", "a", "b", "c"],
            {"x": 1},
            2,
            zoe,
            zoe,
        )
        assert (type(zoe).__name__, zoe.pay, list(zoe.staff)) == ("boss", 2.5, [ann])
        assert [m.name for m in sorted(next(iter(db.extent("clubs"))).members, key=lambda m: m.oid)] == [
            "Ann",
            "Zoe",
        ]
        assert db.oql("First.name") == "Ann"
        assert db.object(3) is None
        assert db.new("club", title="go").oid == last + 1
        with pytest.raises(ec.ConstraintError):
            db.new("person", name="Zoe")
        assert db.verify()
        zoe.name = "Zora"
    with ec.connect(path) as db:
        assert db.object(2).name == "Zora"
        assert ("Zora",) in db.execute("SELECT name FROM people").rows()


class Person(ec.Entity, extent="persons", key="name"):
    name: str
    age: int

    @ec.operation
    def older(self) -> int:
        return self.age + 1

    def greet(self) -> str:
        return f"I am {self.name}"


def test_classes_written_in_python_get_their_methods_again(tmp_path: Path) -> None:
    path = tmp_path / "p.db"
    with ec.connect(path) as db:
        db.declare(Person)
        Person(name="Ann", age=40)
        db.oql("define ages as select p.older() from p in persons")
        assert list(db.view("ages").value()) == [41]
    with ec.connect(path) as db:
        ann: Any = db.object(1)
        assert list(db.view("ages").value()) == [41]
        assert not hasattr(ann, "greet")
        with pytest.raises(QueryError, match=r"has not been handed over|is not stored"):
            ann.older()
        db.declare(Person)
        assert (ann.greet(), ann.older(), isinstance(ann, Person)) == ("I am Ann", 41, True)
        Person(name="Bob", age=1)
        assert sorted(db.view("ages").value()) == [2, 41]
        db.bind_operations({"Person.older": lambda self: self.age + 2})
        assert sorted(db.view("ages").value()) == [3, 42]
        assert ann.older() == 42

        class Other(ec.Entity, name="Person", extent="persons"):
            name: str

        with pytest.raises(QueryError, match="is another one"):
            db.declare(Other)
    with ec.connect(path) as db:
        assert sorted(db.view("ages").value()) == [3, 42]
        assert db.verify()


def test_functions_of_views_are_named_and_handed_over(tmp_path: Path) -> None:
    path = tmp_path / "f.db"
    with ec.connect(path) as db:
        db.execute("CREATE TABLE t (n BIGINT)")
        db.table("t").insert([(1,), (2,)])
        db.view("doubled", db.relation("t").select(lambda r: tally(r.n)))

        @ec.opaque
        def local(n: int) -> int:
            return n

        with pytest.raises(QueryError, match="cannot be found again"):
            db.view("local", db.relation("t").select(lambda r: local(r.n)))
        assert db.views == ["doubled"]
        db.relation("t").where(lambda r: r.n > 1).materialize()
    with pytest.raises(QueryError, match="has not been handed over"):
        ec.connect(path)
    with ec.connect(path, functions=[tally]) as db:
        db.feed("t").insert((5,))
        assert sorted(db.view("doubled").rows()) == [(2,), (4,), (10,)]
        assert db.views == ["doubled"]


def test_any_name_is_kept(tmp_path: Path) -> None:
    names = ['a"b', "a'; DROP TABLE x; --", "sqlite_thing", "evercurrent_log", "rowid", "évé 🙂", "select"]
    columns = ["_rowid_", "rowid", "oid", 'a"b', "evercurrent_column_", "x y"]
    listed = ", ".join(f"`{c}` INT" for c in columns)
    row = tuple(range(len(columns)))
    with ec.connect(tmp_path / "n.db") as db:
        for name in names:
            db.execute(f"CREATE TABLE `{name}` ({listed})")
            db.table(name).insert([row, row])
            db.table(name).delete(row)
    with ec.connect(tmp_path / "n.db") as db:
        assert db.tables == names
        assert [db.table(n).rows() for n in names] == [[row]] * len(names)


def test_any_sqlite_tool_reads_the_tables(tmp_path: Path) -> None:
    with shop(tmp_path / "shop.db"):
        other = sqlite3.connect(tmp_path / "shop.db")
        assert other.execute("SELECT id, customer, total FROM orders ORDER BY id").fetchall() == [
            (1, 1, "9.50"), (2, 2, "3.00"), (3, 1, "0.25")
        ]  # fmt: skip
        other.close()


# --- refusals ----------------------------------------------------------------------------------------------------


def test_what_sqlite_refuses_changes_nothing(tmp_path: Path) -> None:
    seen: list[object] = []
    with shop(tmp_path / "shop.db") as db:
        db.view("spend").subscribe(seen.append)
        before, version = contents(db), db.version
        file = db._file.file  # type: ignore[union-attr]
        file.connection.execute("PRAGMA busy_timeout=1")
        other = sqlite3.connect(tmp_path / "shop.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        for change in (
            lambda: db.table("orders").insert((9, 1, 5)),
            lambda: db.execute("CREATE TABLE new (a INT)"),
            lambda: db.execute("DROP VIEW words"),
            lambda: db.execute("ALTER TABLE log ADD COLUMN more INT"),
            lambda: db.execute("CREATE OR REPLACE TABLE log (word STRING, n INT)"),
        ):
            with pytest.raises(StorageError, match="locked"):
                change()
        other.execute("ROLLBACK")
        other.close()
        pages = file.rows("PRAGMA page_count")[0][0]
        file.connection.execute(f"PRAGMA max_page_count={pages}")
        with pytest.raises(StorageError, match="full"):
            db.table("log").insert([("x" * 1000, 1.0)] * 1000)
        assert (contents(db), db.version, seen) == (before, version, [])
        file.connection.execute("PRAGMA max_page_count=1000000")
        db.table("orders").insert((9, 1, 5))
        assert len(seen) == 1
        after = contents(db)
    with ec.connect(tmp_path / "shop.db") as db:
        assert contents(db) == after
        assert db.verify()


def test_what_another_program_writes_meanwhile_is_noticed(tmp_path: Path) -> None:
    with shop(tmp_path / "shop.db") as db:
        other = sqlite3.connect(tmp_path / "shop.db")
        other.execute("INSERT INTO log VALUES ('z', 1.0)")
        other.commit()
        other.close()
        with pytest.raises(ConflictError, match="another program"):
            db.table("log").insert(("y", 1))
    with ec.connect(tmp_path / "shop.db") as db:
        assert ("z", 1, 1.0) in db.view("words").rows()


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("UPDATE orders SET total = 'x' WHERE id = 1", "orders.total: the file holds 'x'"),
        ("UPDATE customers SET name = 'Ann'", "break customers"),
        ("DELETE FROM customers WHERE id = 1", "break orders"),
        (
            "UPDATE evercurrent_definitions SET definition = '{}' WHERE name = 'spend'",
            "definition of view spend",
        ),
        (
            "UPDATE evercurrent_definitions SET definition = '[' WHERE name = 'spend'",
            "definition of view spend",
        ),
        ("DELETE FROM evercurrent_definitions WHERE name = 'customers'", "cannot be read"),
        ("DROP TABLE log", "log"),
        ("PRAGMA user_version = 2", "format 2"),
        ("PRAGMA application_id = 7", "not made by evercurrent"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, damage: str, said: str) -> None:
    shop(tmp_path / "shop.db").close()
    other = sqlite3.connect(tmp_path / "shop.db", isolation_level=None)
    other.execute(damage)
    other.close()
    with pytest.raises(StorageError, match=said):
        ec.connect(tmp_path / "shop.db")


def test_foreign_and_broken_files_are_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.db"
    text.write_text("not a database, and long enough to have a header of its own " * 20)
    with pytest.raises(StorageError, match="not a database"):
        ec.connect(text)
    assert text.read_text().startswith("not a database")
    with pytest.raises(StorageError, match="could not open"):
        ec.connect(tmp_path / "nowhere" / "shop.db")
    with pytest.raises(StorageError):
        ec.connect(tmp_path)
    path = tmp_path / "shop.db"
    with shop(path) as db:
        db.table("log").insert([(f"word {i}", float(i)) for i in range(3000)])
    whole = path.read_bytes()
    page = 4096
    refused = 0
    for at in range(2, len(whole) // page):
        path.write_bytes(whole[: at * page] + b"\xff" * 100 + whole[at * page + 100 :])
        try:
            with ec.connect(path) as db:
                assert db.verify()
        except EvercurrentError:
            refused += 1
    assert refused == len(range(2, len(whole) // page))
    path.write_bytes(whole[: len(whole) // page // 2 * page])
    with pytest.raises(StorageError):
        ec.connect(path)
    path.write_bytes(b"")
    with ec.connect(path) as db:
        assert db.tables == []


@pytest.mark.parametrize(("given", "said"), [(3, "no path"), ("", "no path"), (b"x", "no path")])
def test_paths_that_are_none(given: Any, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        ec.connect(given)


def test_options_are_checked(tmp_path: Path) -> None:
    with pytest.raises(QueryError, match="durability"):
        ec.connect(tmp_path / "a.db", durability="maybe")  # type: ignore[call-overload]
    with pytest.raises(QueryError, match="for a database that is kept"):
        ec.connect(functions=[tally])
    with pytest.raises(StorageError, match="no database"):
        ec.connect(tmp_path / "a.db", read_only=True)
    with ec.connect(tmp_path / "b.db") as db, pytest.raises(UnsupportedError, match="not stored"):
        db.execute("CREATE TABLE t (a INT) WITH (stored = false)")
    for durability in ("full", "normal", "off"):
        with ec.connect(tmp_path / "c.db", durability=durability) as db:  # type: ignore[call-overload]
            db.execute(f"CREATE TABLE {durability} (a INT)")
    with ec.connect(tmp_path / "c.db") as db:
        assert db.tables == ["full", "normal", "off"]
    with ec.connect(":memory:") as db:
        assert db.path is None
        with pytest.raises(UnsupportedError, match="kept in a file"):
            db.backup(tmp_path / "d.db")


# --- batches -----------------------------------------------------------------------------------------------------


def test_a_batch_counts_once(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with shop(path) as db:
        first = db.apply({"log": [{"_change_type": "insert", "word": "q", "n": 1.0}]}, batch="b1")
        assert (first.repeated, first.count, first.version) == (False, 1, db.version)
        with db.transaction(batch="b2") as tx:
            db.table("log").insert(("r", 2.0))
        assert not tx.repeated
        with db.transaction(batch="nothing"):
            pass
        before, version = contents(db), db.version
    with ec.connect(path) as db:
        again = db.apply({"log": [{"_change_type": "insert", "word": "q", "n": 1.0}]}, batch="b1")
        assert (again.repeated, again.version) == (True, first.version)
        with db.transaction(batch="b2") as tx:
            db.table("log").insert(("r", 2.0))
        assert (tx.repeated, tx.number) == (True, tx.number)
        with db.transaction(batch="nothing") as tx:
            db.table("log").insert(("s", 2.0))
        assert tx.repeated
        assert (contents(db), db.version) == (before, version)


# --- processes ---------------------------------------------------------------------------------------------------


def run(code: str, *arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


READ = """
import sys, evercurrent as ec
db = ec.connect(sys.argv[1])
print(db.read_only, db.view("words").rows() == [] or len(db.table("log")))
try:
    db.table("log").insert(("x", 1.0))
except ec.ConflictError as problem:
    print("another database writes it" in str(problem), len(db.table("log")))
"""


def test_a_second_process_reads_and_cannot_write(tmp_path: Path) -> None:
    with shop(tmp_path / "shop.db"):
        assert run(READ, tmp_path / "shop.db") == "True 5\nTrue 5"
    assert run(READ, tmp_path / "shop.db") == "False 5"


def test_a_child_of_fork_cannot_write(tmp_path: Path) -> None:
    with shop(tmp_path / "shop.db") as db:
        rows = len(db.table("log"))
        child = os.fork()
        if not child:
            code = 1
            try:
                db.table("log").insert(("x", 1.0))
            except StorageError as problem:
                code = 0 if "another process" in str(problem) and len(db.table("log")) == rows else 2
            finally:
                db.close()
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        db.table("log").insert(("y", 1.0))
    with ec.connect(tmp_path / "shop.db") as db:
        assert len(db.table("log")) == rows + 1
        assert not db.read_only


def test_a_closed_database_gives_up_the_file(tmp_path: Path) -> None:
    db = shop(tmp_path / "shop.db")
    db.close()
    db.close()
    with pytest.raises(EvercurrentError, match="is closed"):
        db.table("log").insert(("y", 1.0))
    with ec.connect(tmp_path / "shop.db") as again:
        assert not again.read_only


def test_a_file_that_is_lost_in_the_middle_refuses_changes(tmp_path: Path) -> None:
    db = shop(tmp_path / "shop.db")
    db._file.file.close()  # type: ignore[union-attr]
    with pytest.raises(StorageError, match="is closed"):
        db.table("log").insert(("y", 1.0))
    with pytest.raises(StorageError, match="is closed"):
        db.execute("CREATE TABLE t (a INT)")
    assert (len(db.table("log")), db.tables) == (5, ["customers", "orders", "log"])


def test_a_backup_is_a_database(tmp_path: Path) -> None:
    with shop(tmp_path / "shop.db") as db:
        db.backup(tmp_path / "copy.db")
        before = contents(db)
        with pytest.raises(QueryError, match="itself"):
            db.backup(tmp_path / "shop.db")
        db.table("log").insert(("later", 1.0))
    with ec.connect(tmp_path / "copy.db") as db:
        assert contents(db) == before
        assert db.verify()


def test_stages_of_opening_are_told(tmp_path: Path) -> None:
    shop(tmp_path / "shop.db").close()
    told: list[str] = []
    ec.connect(tmp_path / "shop.db", progress=told.append).close()
    assert told == ["reading customers", "reading orders", "reading log", "filling 2 views"]
