"""A change of one row by its generated function does what a transaction does, and fails as a transaction fails."""

from __future__ import annotations

import linecache
import random
import sys
import threading
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.errors import EvercurrentError
from evercurrent.session.plans import small_changes
from tests.unit.test_interrupts import Interrupted, interrupt_at

SCHEMA = """
    CREATE TABLE places (id INT PRIMARY KEY, code INT UNIQUE, name VARCHAR(3) NOT NULL);
    CREATE TABLE people (
        id BIGINT PRIMARY KEY, place INT REFERENCES places (id), boss BIGINT REFERENCES people (id),
        age INT CHECK (age < 90), pay DECIMAL(4,2), UNIQUE (place, age));
    CREATE TABLE visits (person BIGINT REFERENCES people (id), code INT REFERENCES places (code), days INT);
    CREATE INDEX by_days ON visits (days);
    CREATE INDEX by_age ON people (place, age);
    CREATE VIEW spend AS SELECT place, sum(pay) AS pay, count(*) AS n, max(age) AS oldest FROM people GROUP BY place;
    CREATE VIEW named AS
        SELECT p.name, count(*) AS n, sum(v.days) AS days FROM visits v JOIN places p ON p.code = v.code GROUP BY p.name;
    CREATE VIEW ratio AS SELECT id, 100 / (age - 13) AS r FROM people;
    CREATE VIEW longest AS SELECT person, days FROM visits ORDER BY days DESC, person LIMIT 3;
    CREATE VIEW total AS SELECT sum(days) AS days, count(*) AS n FROM visits;
    CREATE VIEW tight AS SELECT person, CAST(8 * sum(days) AS TINYINT) AS hours FROM visits WHERE code = 3 GROUP BY person
"""
VIEWS = ("spend", "named", "ratio", "longest", "total")


def fresh() -> ec.Database:
    db = ec.connect()
    db.execute(SCHEMA)
    return db


def some(rng: random.Random, *values: Any) -> Any:
    return None if rng.random() < 0.15 else rng.choice(values)


def row(rng: random.Random, table: str) -> tuple[Any, ...]:
    match table:
        case "places":
            return rng.randrange(6), some(rng, 1, 2, 3, 4), rng.choice(("a", "b", "abc", "abcd", None))
        case "people":
            return (
                rng.randrange(9),
                some(rng, 0, 1, 2, 3),
                some(rng, 0, 1, 2),
                rng.choice((12, 13, 14, 20, 30, 40, 50, 60, 99)),
                some(rng, 1, 2, "99.99"),
            )
        case _:
            return some(rng, 0, 1, 2, 3), some(rng, 1, 2, 3), rng.randrange(4)


def change(db: ec.Database, seed: int) -> Any:
    rng = random.Random(seed)
    name = rng.choice(("places", "people", "people", "visits", "visits"))
    table, given = db.table(name), row(rng, name)
    match rng.randrange(8):
        case 0 | 1 | 2 | 3:
            return table.insert(given)
        case 4 | 5 if name != "visits":
            return table.delete(given[0])
        case 6 if name == "people":
            return table.update({"id": given[0]}, age=given[3], pay=given[4])
        case 7 if name == "people":
            return table.update({"id": given[0]}, place=given[1], boss=given[2], pay=given[4])
        case 6 if name == "places":
            return table.update(given[0], {"name": given[2]})
        case _:
            found = db.execute(
                "DELETE FROM visits WHERE person = ? AND days = ?",
                [given[0], given[2] if len(given) == 3 else 1],
            )
            return found.count


def outcome(db: ec.Database, seed: int) -> Any:
    try:
        if seed % 3:
            return change(db, seed)
        with db.transaction():
            return change(db, seed)
    except EvercurrentError as error:
        return type(error), str(error)


def state(db: ec.Database) -> Any:
    session = db._session
    stores = {}
    for name, store in session.stores.items():
        keys = [dict(index.rows) for index in store.declared if index is not None]
        counts = [dict(reference.counts) for reference in store.references]
        indexes = [sorted(map(repr, index.find(()))) for index in store.indexes]
        stores[name] = (dict(store.rows), keys, counts, indexes)
    return (
        stores,
        {name: sorted(map(repr, db.view(name).rows())) for name in (*VIEWS, "tight")},
        session.number,
    )


def test_the_short_way_does_what_the_long_way_does(monkeypatch: pytest.MonkeyPatch) -> None:
    used = refused = 0
    for seed in range(3):
        short, long = fresh(), fresh()
        for i in range(400):
            with monkeypatch.context() as patched:
                patched.setattr(small_changes, "is_admitted", lambda *_: False)
                expected = outcome(long, seed * 1000 + i)
            before = short._session.number
            found = outcome(short, seed * 1000 + i)
            assert found == expected, (seed, i)
            used += short._session.number > before
            refused += isinstance(found, tuple)
            if i % 10 == 0:
                assert state(short) == state(long), (seed, i)
        assert state(short) == state(long)
        assert not long._session.small
        assert short._session.small.keys() == {"places", "people", "visits"}
        assert short.verify()
    assert used > 120 and refused > 100


def test_the_functions_are_used_and_not_where_they_may_not() -> None:
    db = fresh()
    calls: list[str] = []
    db.table("places").insert((1, 1, "a"))
    small = db._session.small["places"]
    monitored = small.insert_given
    small.insert_given = lambda row: monitored(row) and not calls.append("short")
    db.table("places").insert((2, 2, "b"))
    assert calls == ["short"]
    with db.transaction():
        db.table("places").insert((3, 3, "c"))
    seen: list[Any] = []
    subscription = db.table("places").subscribe(lambda c: seen.extend(c.inserted))
    db.table("places").insert((4, 4, "d"))
    assert calls == ["short"] and seen == [(4, 4, "d")]
    subscription.cancel()
    db.execute("CREATE VIEW names AS SELECT name FROM places")
    db.table("places").insert((5, 5, "e"))
    assert len(db.view("names")) == 5
    db.execute("CREATE ASSERTION few CHECK (NOT EXISTS (SELECT 1 FROM places WHERE id > 5))")
    with pytest.raises(EvercurrentError, match="few"):
        db.table("places").insert((6, 6, "f"))
    assert db.verify()


def test_an_output_that_can_fail_is_found_at_once() -> None:
    """Though nobody follows the view: a sum that is too large refuses the row, and is not found when the view is read."""
    db = fresh()
    db.table("places").insert((3, 3, "c"))
    db.table("people").insert((1, None, None, 14, 5))
    visits = db.table("visits")
    for days in (2, 4):
        visits.insert((1, 3, days))
    number = db._session.number
    with pytest.raises(EvercurrentError, match="tight"):
        visits.insert((1, 3, 10))
    assert db._session.number == number and db.view("tight").rows() == [(1, 48)]
    visits.insert((1, 3, 0))
    assert db.verify()


def test_rows_and_keys_of_every_kind_are_understood() -> None:
    db = ec.connect()
    db.execute(
        "CREATE TABLE parts (maker STRING, number INT, size DOUBLE, at DATE, PRIMARY KEY (maker, number))"
    )
    db.execute("CREATE TABLE names (name STRING PRIMARY KEY, n INT DEFAULT 7)")
    parts, names = db.table("parts"), db.table("names")
    for given in (("a", 1, -0.0, "2024-01-02"), {"Maker": "b", "number": 2.0}, ("a", 3, float("nan"), None)):
        parts.insert(given)
    parts.update(("a", 1), size=2, AT=None)
    parts.update({"maker": "b", "number": 2}, {"number": 5})
    parts.delete(("a", 3))
    assert sorted(parts.rows()) == [("a", 1, 2.0, None), ("b", 5, None, None)]
    for given in ({"name": "x"}, ("\u00e9", 1), {"NAME": "y", "n": None}):
        names.insert(given)
    names.update("\u00e9", n=2)
    names.update({"Name": "x"}, n=3)
    names.delete({"name": "y"})
    assert sorted(names.rows()) == [("x", 3), ("\u00e9", 2)]
    for wrong in (("a",), ("a", "b"), {"nane": "a"}, ("\ud800", 1), {"name": None}):
        with pytest.raises(EvercurrentError):
            names.insert(wrong)
    with pytest.raises(EvercurrentError):
        names.delete("z")
    db.close()
    with pytest.raises(EvercurrentError, match="closed"):
        names.insert(("z", 1))


def test_a_value_may_change_the_database_while_it_is_read() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (id INT PRIMARY KEY); CREATE VIEW n AS SELECT count(*) AS n FROM t")
    table = db.table("t")
    table.insert((0,))

    class Busy(int):
        def __int__(self) -> int:
            if len(table) == 1:
                table.insert((5,))
                db.execute("CREATE VIEW more AS SELECT id FROM t")
            return 6

    table.insert((Busy(6),))
    assert sorted(table.rows()) == [(0,), (5,), (6,)] and len(db.view("more")) == 3
    assert db.view("n").rows() == [(3,)] and db.verify()


def test_threads_that_change_one_table_take_turns() -> None:
    db = fresh()
    places = db.table("places")
    errors: list[BaseException] = []

    def work(first: int) -> None:
        try:
            for i in range(first, first + 200):
                places.insert((i, i, "a"))
                places.update(i, name="b")
                if i % 2:
                    places.delete(i)
        except BaseException as error:
            errors.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(k * 200,)) for k in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert not errors and len(places) == 400 and db._session.number == 2000
    assert db.verify() and not db._session.is_locked


def test_updates_of_references_and_of_parents_are_short() -> None:
    """A row may come to refer to another parent, and a parent may change, as long as no key does."""
    db = fresh()
    db.table("places").insert([(1, 1, "a"), (2, 2, "b")])
    db.table("people").insert([(1, 1, None, 14, 5), (2, 1, 1, 30, 5)])
    db.table("visits").insert((1, 1, 2))
    db.table("places").update(1, name="z")  # the program gives up the assumption that it does not change
    people, places = (small_changes.small_change(db._session, name) for name in ("people", "places"))
    assert people is not None and places is not None
    assert people.update((2, 1, 1, 30, 500), (2, 1, None, 30, 500))
    assert people.update((2, 1, None, 30, 500), (2, 1, 2, 30, 500))
    assert not people.update((2, 1, 2, 30, 500), (2, 1, 9, 30, 500)), "nobody has the number 9"
    number = db._session.number
    assert people.update((2, 1, 2, 30, 500), (2, 1, 2, 30, 500)), "nothing changes"
    assert db._session.number == number
    assert places.update((2, 2, "b"), (2, 2, "c"))
    assert not places.update((2, 2, "c"), (2, 3, "c")), "a key changes the long way"
    assert [dict(r.counts) for r in db._session.stores["people"].references] == [{1: 2}, {2: 1}]
    assert db.verify()
    db.table("people").update(2, boss=1)
    with pytest.raises(EvercurrentError, match="people"):
        db.table("people").delete(1)


def test_a_failure_anywhere_undoes_the_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stops the views, stores and number are as before, and the long way says what is wrong."""
    db = fresh()
    db.table("places").insert((1, 1, "a"))
    db.table("people").insert((1, 1, None, 14, 5))
    before = state(db)
    with pytest.raises(EvercurrentError, match="ratio"):
        db.table("people").insert((2, 1, 1, 13, 5))
    assert state(db) == before
    with pytest.raises(EvercurrentError, match="ratio"):
        db.table("people").update(1, age=13)
    assert state(db) == before

    class Stop(BaseException):
        pass

    small = db._session.small["people"]
    for name in ("add", "SmallTransaction"):
        with monkeypatch.context() as patched:

            def stop(*_: Any) -> None:
                raise Stop

            patched.setitem(small.names, name, stop)
            with pytest.raises(Stop):
                db.table("people").insert((3, None, 1, 20, 5))
        assert state(db) == before
    db.table("people").insert((3, None, 1, 20, 5))
    assert db.verify() and len(db.table("people")) == 2
    assert small_changes.small_change(db._session, "people") is small


OPERATIONS = {
    "insert": ("people", lambda t: t.insert((5, 1, 1, 20, 5)), lambda t: t.delete(5)),
    "insert without a key": ("visits", lambda t: t.insert((1, 1, 3)), lambda t: t.delete((1, 1, 3))),
    "delete": ("people", lambda t: t.delete(2), lambda t: t.insert((2, 1, None, 30, 5))),
    "update": ("people", lambda t: t.update(2, pay=7), lambda t: t.update(2, pay=5)),
    "update of a reference": ("people", lambda t: t.update(2, boss=1), lambda t: t.update(2, boss=None)),
    "update of a parent": ("places", lambda t: t.update(1, name="b"), lambda t: t.update(1, name="a")),
}


def test_an_update_finds_an_entry_once_and_only_where_it_is() -> None:
    db = ec.connect()
    db.execute("""
        CREATE TABLE t (id INT PRIMARY KEY, k INT, n INT, x DOUBLE);
        CREATE VIEW sums AS SELECT k, sum(n) AS n, count(n) AS c, sum(x) AS x, max(n) AS m, count(*) AS a FROM t GROUP BY k;
        CREATE VIEW large AS SELECT k, sum(n) AS n FROM t WHERE n > 2 GROUP BY k;
        CREATE VIEW rest AS SELECT k, sum(n) AS n FROM (
            SELECT k, n FROM t UNION ALL SELECT k, n FROM t WHERE n > 1) AS u GROUP BY k
    """)
    table, rng = db.table("t"), random.Random(3)
    table.insert([(i, i % 3, i, float(i)) for i in range(9)])
    for _ in range(300):
        row = {"n": some(rng, 1, 2, 3), "x": some(rng, 0.1, 1e300, float("nan")), "k": rng.randrange(3)}
        names = rng.sample(list(row), rng.randrange(1, 4))
        table.update(rng.randrange(9), {name: row[name] for name in names})
    assert db.verify()
    core = db._session.maintenance.engine.core
    change = core.update_change("t", frozenset((2, 3)))
    assert change is not None and db._session.small["t"].updates.keys() >= {("n",), ("n", "x"), ("x", "n")}
    source = "".join(linecache.getlines(change.__code__.co_filename))
    assert source.count("s1.get(") == 1


@pytest.mark.parametrize("key, kind", [("name", "flat"), ("name, g", "bucket")])
@pytest.mark.parametrize("null", ["", " NOT NULL"])
def test_an_update_puts_one_tuple_of_sums_in_the_place_of_another(key: str, kind: str, null: str) -> None:
    db = ec.connect()
    db.execute(f"""
        CREATE TABLE a (k INT, name VARCHAR);
        CREATE TABLE b (id INT PRIMARY KEY, k INT, g INT, x INT{null}, y DECIMAL(9,2){null});
        CREATE VIEW v AS
            SELECT {key}, sum(x * y) AS s, sum(y) AS y, count(*) AS n FROM a JOIN b ON a.k = b.k GROUP BY {key}
    """)
    table, rng = db.table("b"), random.Random(4)
    db.table("a").insert([(i % 3, "pq"[i % 2]) for i in range(5)])
    table.insert([(i, i % 3, i % 2, i, i) for i in range(9)])
    values = (1, 2, 3) if null else (1, 2, None)
    for _ in range(200):
        row = {"k": rng.randrange(4), "g": rng.randrange(3), "x": rng.choice(values), "y": rng.choice(values)}
        names = rng.sample(list(row), rng.randrange(1, 4))
        if rng.random() < 0.3:
            with pytest.raises(ZeroDivisionError), db.transaction():
                table.update(rng.randrange(9), {name: row[name] for name in names})
                raise ZeroDivisionError
        table.update(rng.randrange(9), {name: row[name] for name in names})
    assert db.verify()
    core = db._session.maintenance.engine.core
    (layout,) = (s.layout for s in core.storages.values() if s.layout.payload == "sums")
    assert layout.home.kind == kind
    change = core.update_change("b", frozenset((3, 4)))
    assert change is not None
    source = "".join(linecache.getlines(change.__code__.co_filename))
    assert source.count(f"s{list(core.storages).index(layout.state.name) + 1}.get(") == 1


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_interrupt_at_any_line_leaves_all_or_nothing(operation: str) -> None:
    name, forth, back = OPERATIONS[operation]
    db = fresh()
    db.table("places").insert((1, 1, "a"))
    db.table("people").insert([(1, 1, None, 14, 5), (2, 1, None, 30, 5)])
    db.table("visits").insert([(1, 1, 2), (1, 1, 3)])
    table = db.table(name)
    forth(table)
    after = state(db)[:2]
    back(table)
    before = state(db)[:2]
    undone = done = line = 0
    while True:
        line += 1
        try:
            with interrupt_at(line):
                forth(table)
        except Interrupted:
            found = state(db)[:2]
            assert found in (before, after), line
            undone += found == before
            done += found == after
            if found == after:
                back(table)
                assert state(db)[:2] == before
            continue
        break
    assert undone > 20 and done > 1
    assert state(db)[:2] == after
    assert db.verify()


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_interrupt_in_a_transaction_of_one_row_leaves_what_its_status_says(operation: str) -> None:
    name, forth, back = OPERATIONS[operation]
    db = fresh()
    db.table("places").insert((1, 1, "a"))
    db.table("people").insert([(1, 1, None, 14, 5), (2, 1, None, 30, 5)])
    db.table("visits").insert([(1, 1, 2), (1, 1, 3)])
    table = db.table(name)
    for _ in range(2):  # the functions are generated
        with db.transaction():
            forth(table)
        after = state(db)[:2]
        back(table)
    before = state(db)[:2]
    short, endings = False, set()
    for line in range(1, 2000):
        kept: list[Any] = []
        number = db._session.number
        try:
            with interrupt_at(line), db.transaction() as transaction:
                kept.append(transaction)
                forth(table)
        except Interrupted:
            done = state(db)[:2] == after
            assert done or state(db)[:2] == before, line
            assert db._session.number == number + done
            if kept:
                assert (kept[0].status == "committed") == done, line
            endings.add(done)
        else:
            short = kept[0].patches != [] and isinstance(kept[0].patches[0], small_changes.SmallTransaction)
            break
        if done:
            back(table)
    assert endings == {True, False} and short
    assert state(db)[:2] == after and db.verify()


def test_views_that_were_filled_over_columns_are_updated() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE items (id INT PRIMARY KEY, kind INT, size INT)")
    db.execute("CREATE VIEW spend AS SELECT kind, sum(size) AS size, count(*) AS n FROM items GROUP BY kind")
    items = db.table("items")
    over_columns = 0
    for size in (1_000, 30_000, 31_000):
        items.insert([(i, i % 50, 1) for i in range(len(items), size)])
        for i in range(6):
            over_columns += db._session.maintenance.engine.core.columns is not None
            items.insert((100_000 + size + i, 1, 1))
            items.update(i, size=size + i)
            items.delete(100_000 + size + i)
        assert db.verify()
    assert over_columns


def subscribed(names: tuple[str, ...]) -> tuple[ec.Database, list[Any]]:
    """A database, and what its subscribers are told."""
    db = fresh()
    db.execute("CREATE TABLE idle (x INT); CREATE VIEW visited AS SELECT person, code, days FROM visits")
    told: list[Any] = []
    for name in names:
        handle = db.table(name) if name in db.tables else db.view(name)
        handle.subscribe(
            lambda c: told.append(
                (c.transaction, c.name, sorted(map(repr, c.inserted)), sorted(map(repr, c.deleted)))
            )
        )
    return db, told


@pytest.mark.parametrize(
    "names", [("spend",), ("visits",), ("people", "ratio", "longest", "total"), ("named", "visited"), VIEWS]
)
def test_subscribers_are_told_the_same(monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]) -> None:
    (short, heard), (long, expected) = subscribed(names), subscribed(names)
    for i in range(300):
        with monkeypatch.context() as patched:
            patched.setattr(small_changes, "is_admitted", lambda *_: False)
            wanted = outcome(long, i)
            if i % 7 == 0:
                long.table("idle").insert((i,))
        assert outcome(short, i) == wanted
        if i % 7 == 0:  # no view reads it: nothing of the change before is told again
            short.table("idle").insert((i,))
        assert heard == expected, i
    assert len(heard) > 5 and short._session.small and not long._session.small


def test_subscribers_that_come_and_go_are_noticed() -> None:
    db, told = subscribed(("visits",))
    db.table("visits").insert((None, None, 1))
    other: list[Any] = []
    with db.view("total").subscribe(other.append):
        db.table("visits").insert((None, None, 2))
    db.table("visits").insert((None, None, 3))
    assert len(told) == 3 and [c.inserted for c in other] == [[(3, 2)]]
    refusing = db.view("total").subscribe(lambda c: 1 / 0, when="before")
    with pytest.raises(ZeroDivisionError):
        db.table("visits").insert((None, None, 4))
    refusing.cancel()
    assert len(db.table("visits")) == 3 and len(told) == 3


def test_an_interrupt_tells_subscribers_of_what_was_committed_and_of_nothing_else() -> None:
    """Whatever line it falls on: the rows that are there and what was told agree."""
    db, _ = subscribed(())
    told: list[Any] = []
    for handle in (db.table("visits"), db.view("total")):
        handle.subscribe(told.append)
    db.table("visits").insert((None, None, 0))
    point, done = 0, False
    while not done:
        point += 1
        done = True
        try:
            with interrupt_at(point):
                db.table("visits").insert((None, None, point))
        except Interrupted:
            done = False
        db.table("visits").insert((None, None, -point))
        rows = [row for change in told if change.name == "visits" for row in change.inserted]
        assert sorted(map(repr, rows)) == sorted(map(repr, db.table("visits").rows())), point
        totals = [change.transaction for change in told if change.name == "total"]
        assert totals == list(range(1, db.version + 1)), point
    assert point > 50 and db._session.small


@pytest.mark.parametrize("key", ["", " PRIMARY KEY"])
def test_the_fast_path_keeps_secondary_indexes(key: str) -> None:
    db = ec.connect()
    db.execute(f"CREATE TABLE t (k INT{key}, x INT)")
    db.execute("CREATE INDEX i ON t (x)")
    feed = db.feed("t")
    feed.insert((1, 5))
    feed.insert((2, 5))
    assert sorted(db.query("SELECT k FROM t WHERE x = ?", [5]).rows()) == [(1,), (2,)]
    feed.delete((1, 5))
    assert db.query("SELECT k FROM t WHERE x = ?", [5]).rows() == [(2,)]
    if not key:
        feed.insert((2, 5))
        feed.delete((2, 5))
        assert db.query("SELECT k FROM t WHERE x = ?", [5]).rows() == [(2,)]
