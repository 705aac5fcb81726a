"""Hybrid views let changes of shared attributes wait; rows that come and go are joined at once."""

from __future__ import annotations

import sys
from random import Random
from typing import Any

import pytest

import evercurrent as ec

ODL = """
class Town (extent Towns) { attribute string name; attribute long size; };
class Firm (extent Firms) { attribute string name; attribute Town seat; };
class Worker (extent Workers) { attribute string name; attribute Firm firm; };
"""
QUERIES = {
    "path": "select struct(w: w.name, f: w.firm.name, t: w.firm.seat.name) from w in Workers",
    "join": "select struct(w: w.name, f: f.name) from f in Firms, w in Workers where w.firm = f and f.seat.size > 2",
    "distinct": "select distinct struct(f: w.firm.name, t: w.firm.seat.name) from w in Workers",
}


def count_lines(run: Any) -> int:
    """The lines of generated code that a call executes."""
    lines = 0

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal lines
        if not frame.f_code.co_filename.startswith("<"):
            return None
        lines += event == "line"
        return trace

    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(None)
    return lines


def crowd(size: int, mode: str) -> tuple[ec.Database, list[Any]]:
    db = ec.connect()
    db.odl(ODL)
    db.oql(f"define crowd as {QUERIES['path']};", mode=mode)  # type: ignore[arg-type]
    firms = [db.new("Firm", name=f"f{i}", seat=db.new("Town", name=f"t{i}", size=i)) for i in range(2)]
    for i in range(size):
        db.new("Worker", name=f"w{i}", firm=firms[i % 2])
    db.view("crowd").value()
    return db, firms


def test_renames_cost_the_same_whatever_refers_to_what_is_renamed() -> None:
    def work(size: int, mode: str, block: bool) -> int:
        db, firms = crowd(size, mode)

        def rename() -> None:
            for i in range(30):
                firms[0].name = f"x{i}"
                firms[0].seat.name = f"y{i}"

        def in_transaction() -> None:
            for i in range(30):
                with db.transaction():
                    firms[0].name = f"x{i}"
                    firms[0].seat.name = f"y{i}"

        found = count_lines(in_transaction if block else rename)
        assert {(r["f"], r["t"]) for r in db.view("crowd").value()} == {("x29", "y29"), ("f1", "t1")}
        return found

    for block in (False, True):
        assert work(20, "hybrid", block) == work(200, "hybrid", block) < work(200, "strict", block) / 10


def test_a_read_applies_the_last_value_alone() -> None:
    def read(renames: int) -> int:
        db, firms = crowd(200, "hybrid")
        for i in range(renames):
            firms[0].name = f"x{i}"
        return count_lines(lambda: db.view("crowd").value())

    assert read(1) == read(40)


def test_rows_that_come_and_go_do_not_wait() -> None:
    db, firms = crowd(20, "hybrid")
    core = db._session.maintenance.engine.core
    rows = core.program.views["crowd"]

    def names() -> set[Any]:
        return {row[:2] for row, _ in core.rows(rows)}  # without a flush

    firms[0].name = "new"
    other = db.new("Firm", name="other", seat=firms[0].seat)
    late = db.new("Worker", name="late", firm=other)
    assert ("late", "other") in names() and ("w0", "f0") in names(), "only the rename waits"
    db.new("Worker", name="later", firm=firms[0])
    assert ("later", "f0") in names()
    with db.transaction():
        db.delete(late)
        db.delete(other)
        firms[1].name = "newer"
    assert ("late", "other") not in names() and ("w1", "f1") in names()
    assert {r["f"] for r in db.view("crowd").value()} == {"new", "newer"}


def test_what_can_fail_does_not_wait() -> None:
    db = ec.connect()
    db.execute(
        "CREATE TABLE d (id BIGINT PRIMARY KEY, n BIGINT); CREATE TABLE e (id BIGINT PRIMARY KEY, d BIGINT)"
    )
    db.execute(
        "CREATE VIEW v WITH (mode = 'hybrid') AS SELECT e.id, 10 / d.n AS x FROM e JOIN d ON d.id = e.d"
    )
    db.execute("INSERT INTO d VALUES (1, 2); INSERT INTO e VALUES (1, 1)")
    with pytest.raises(ec.EvercurrentError, match="division by zero"):
        db.execute("UPDATE d SET n = 0")
    assert db.view("v").rows() == [(1, 5.0)]


class Undo(Exception):
    """Undoes a transaction."""


def change_objects(r: Random, db: ec.Database, there: dict[str, list[Any]], serial: list[int]) -> None:
    """One random change, the same for the same numbers."""
    serial[0] += 1
    new = f"n{serial[0] % 7}"
    kind = r.choice(("Town", "Firm", "Worker"))
    match r.randrange(6):
        case 0 | 1:
            parents = {"Firm": ("seat", "Town"), "Worker": ("firm", "Firm")}
            given: dict[str, Any] = {"name": new}
            if kind in parents:
                field, of = parents[kind]
                given[field] = r.choice([*there[of], None])
            there[kind].append(db.new(kind, **given))
        case 2 if len(there[kind]) > 1:
            db.delete(there[kind].pop(r.randrange(len(there[kind]))))
        case 3 if kind != "Town" and there[kind]:
            field, of = ("seat", "Town") if kind == "Firm" else ("firm", "Firm")
            setattr(r.choice(there[kind]), field, r.choice([*there[of], None]))
        case 4 if there["Town"]:
            r.choice(there["Town"]).size = r.randrange(5)
        case _ if there[kind]:
            r.choice(there[kind]).name = new
        case _:
            pass


@pytest.mark.parametrize("seed", range(12))
def test_hybrid_views_of_objects_equal_strict_ones(seed: int) -> None:
    r = Random(seed)
    db = ec.connect()
    db.odl(ODL)
    for name, text in QUERIES.items():
        db.oql(f"define hybrid_{name} as {text};", mode="hybrid")
        db.oql(f"define strict_{name} as {text};")
    there: dict[str, list[Any]] = {"Town": [], "Firm": [], "Worker": []}
    serial = [0]
    for step in range(60):
        if r.random() < 0.4:
            kept = {k: list(v) for k, v in there.items()}
            try:
                with db.transaction():
                    for _ in range(r.randrange(1, 5)):
                        change_objects(r, db, there, serial)
                        if r.random() < 0.1:
                            db.view(f"hybrid_{r.choice(list(QUERIES))}").value()
                    if r.random() < 0.3:
                        raise Undo
            except Undo:
                there = kept
        else:
            change_objects(r, db, there, serial)
        for name in QUERIES:
            if r.random() < 0.15 or step == 59:
                found, expected = (
                    sorted(map(str, db.view(f"{m}_{name}").value())) for m in ("hybrid", "strict")
                )
                assert found == expected, (name, step)
    assert db.verify()


@pytest.mark.parametrize("seed", range(10))
def test_hybrid_views_of_tables_equal_strict_ones(seed: int) -> None:
    r = Random(seed)
    db = ec.connect()
    db.execute("CREATE TABLE t (id INT PRIMARY KEY, name STRING, size INT)")
    db.execute("CREATE TABLE f (id INT PRIMARY KEY, name STRING, t INT REFERENCES t)")
    db.execute("CREATE TABLE w (id INT PRIMARY KEY, name STRING, f INT)")
    queries = {
        "inner": "SELECT w.name AS w, f.name AS f, t.name AS t FROM w JOIN f ON f.id = w.f JOIN t ON t.id = f.t",
        "outer": "SELECT w.name AS w, f.name AS f, t.size AS s FROM w LEFT JOIN f ON f.id = w.f LEFT JOIN t ON t.id = f.t",
        "where": "SELECT w.id, t.name AS t FROM w, f, t WHERE f.id = w.f AND t.id = f.t AND f.name <> 'n1' AND t.size > 1",
    }
    for name, text in queries.items():
        db.execute(f"CREATE VIEW hybrid_{name} WITH (mode = 'hybrid') AS {text}")
        db.execute(f"CREATE VIEW strict_{name} AS {text}")

    def change() -> str:
        table, key, name = r.choice("tfw"), r.randrange(5), f"n{r.randrange(4)}"
        other = r.randrange(5)
        match r.randrange(5):
            case 0 | 1:
                return (
                    f"DELETE FROM {table} WHERE id = {key}"
                    if r.random() < 0.3
                    else (f"INSERT INTO {table} VALUES ({key}, '{name}', {other})")
                )
            case 2:
                return f"UPDATE {table} SET name = '{name}' WHERE id <= {key}"
            case 3:
                return f"UPDATE {table} SET {dict(t='size', f='t', w='f')[table]} = {other} WHERE id = {key}"
            case _:
                return f"UPDATE {table} SET id = id + 1 WHERE id = {key}"

    for step in range(60):
        try:
            with db.transaction():
                for _ in range(r.choice((1, 1, 3))):
                    db.execute(change())
                if r.random() < 0.15:
                    raise Undo
        except (Undo, ec.EvercurrentError):
            pass
        for name in queries:
            if r.random() < 0.15 or step == 59:
                found, expected = (
                    sorted(map(str, db.view(f"{m}_{name}").rows())) for m in ("hybrid", "strict")
                )
                assert found == expected, (name, step)
    assert db.verify()
