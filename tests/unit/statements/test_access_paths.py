"""Statements that find rows by keys and indexes do what statements that read whole tables do, and what DuckDB does."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import duckdb
import pytest

import evercurrent as ec
from evercurrent.errors import EvercurrentError, QueryError, UnsupportedError
from evercurrent.session import target
from evercurrent.session.plans import lookups

TABLES = (
    "CREATE TABLE items (id BIGINT PRIMARY KEY, code INT UNIQUE, kind STRING, size INT, price DECIMAL(8,2))",
    "CREATE TABLE parts (item BIGINT, place INT, name STRING, PRIMARY KEY (item, place))",
    "CREATE TABLE notes (item BIGINT, kind STRING, size INT)",
)
INDEXES = (
    "CREATE INDEX by_kind ON items (kind, size)",
    "CREATE INDEX by_size ON items (size)",
    "CREATE INDEX note_item ON notes (item)",
    "CREATE INDEX note_kind ON notes (kind, size)",
)
KINDS = ("'a'", "'b'", "'c'", "NULL")


def value(rng: random.Random, column: str) -> str:
    if column in ("kind", "name"):
        return rng.choice(KINDS[:3])
    if column == "price":
        return f"{rng.randrange(40)}.50"
    return rng.choice(("NULL", "5000000000")) if rng.random() < 0.03 else str(rng.randrange(40))


def condition(rng: random.Random, alias: str, columns: tuple[str, ...]) -> str:
    column = rng.choice(columns)
    own, other = f"{alias}.{column}", lambda: value(rng, column)
    return rng.choice(
        (
            lambda: f"{own} = {other()}",
            lambda: f"{other()} = {own}",
            lambda: f"{own} IN ({other()}, {other()}, {other()})",
            lambda: f"({own} = {other()} OR {own} = {other()})",
            lambda: f"{own} > {other()} AND {own} <= {other()}",
            lambda: f"{own} BETWEEN {other()} AND {other()}",
            lambda: f"{own} >= {other()}",
            lambda: f"{own} < {other()}",
            lambda: f"{own} IS NOT NULL",
            lambda: f"NOT ({own} = {other()})",
        )
    )()


ITEMS, PARTS, NOTES = (
    ("id", "code", "kind", "size", "price"),
    ("item", "place", "name"),
    ("item", "kind", "size"),
)
COLUMNS = {"items": ITEMS, "parts": PARTS, "notes": NOTES}


def where(rng: random.Random, alias: str, table: str) -> str:
    return " AND ".join(condition(rng, alias, COLUMNS[table]) for _ in range(rng.randint(1, 3)))


def query(rng: random.Random) -> str:
    table = rng.choice(tuple(COLUMNS))
    return rng.choice(
        (
            lambda: f"SELECT * FROM {table} x WHERE {where(rng, 'x', table)}",
            lambda: (
                f"SELECT i.id, n.size FROM items i JOIN notes n ON n.item = i.id WHERE {where(rng, 'i', 'items')}"
            ),
            lambda: (
                f"SELECT i.id, n.size FROM items i LEFT JOIN notes n ON n.item = i.id AND n.size > 3 "
                f"WHERE {where(rng, 'i', 'items')}"
            ),
            lambda: (
                f"SELECT n.*, i.code FROM notes n JOIN items i ON i.id = n.item WHERE {where(rng, 'n', 'notes')}"
            ),
            lambda: (
                f"SELECT a.id, b.id FROM items a JOIN items b ON b.kind = a.kind AND b.size = a.size "
                f"WHERE {where(rng, 'a', 'items')}"
            ),
            lambda: (
                f"SELECT i.id FROM items i WHERE {where(rng, 'i', 'items')} AND EXISTS "
                f"(SELECT 1 FROM notes n WHERE n.item = i.id AND {where(rng, 'n', 'notes')})"
            ),
            lambda: (
                f"SELECT i.id FROM items i WHERE {where(rng, 'i', 'items')} AND i.size IN "
                f"(SELECT n.size FROM notes n WHERE n.kind = i.kind)"
            ),
            lambda: (
                f"SELECT i.id, (SELECT count(*) FROM parts p WHERE p.item = i.id AND p.place = 1) FROM items i "
                f"WHERE {where(rng, 'i', 'items')}"
            ),
            lambda: (
                f"SELECT kind, count(*), sum(size) FROM items x WHERE {where(rng, 'x', 'items')} GROUP BY kind"
            ),
            lambda: (
                f"SELECT * FROM (SELECT id, size + 1 AS more, kind FROM items) x WHERE x.kind = {value(rng, 'kind')}"
            ),
            lambda: (
                f"SELECT s.k, i.code FROM (VALUES ({rng.randrange(40)}), ({rng.randrange(40)})) AS s(k) "
                f"JOIN items i ON i.id = s.k"
            ),
            lambda: (
                f"WITH RECURSIVE r(item) AS (SELECT item FROM notes WHERE size = {rng.randrange(40)} UNION "
                f"SELECT n.item FROM r JOIN notes n ON n.size = r.item) SELECT item FROM r"
            ),
            lambda: (
                f"SELECT item FROM notes x WHERE {where(rng, 'x', 'notes')} UNION ALL "
                f"SELECT id FROM items y WHERE {where(rng, 'y', 'items')}"
            ),
        )
    )()


def change(rng: random.Random) -> str:
    table = rng.choice(tuple(COLUMNS))
    key = rng.randrange(40)
    return rng.choice(
        (
            lambda: f"DELETE FROM {table} WHERE {where(rng, table, table)}",
            lambda: (
                f"UPDATE items SET size = size + 1, kind = {rng.choice(KINDS)} WHERE {where(rng, 'items', 'items')}"
            ),
            lambda: f"UPDATE notes SET size = {rng.randrange(40)} WHERE {where(rng, 'notes', 'notes')}",
            lambda: (
                f"INSERT INTO items SELECT {key + 100}, NULL, kind, size, price FROM items WHERE id = {key} "
                f"AND NOT EXISTS (SELECT 1 FROM items y WHERE y.id = {key + 100})"
            ),
            lambda: f"INSERT INTO notes VALUES ({key}, {rng.choice(KINDS)}, {rng.randrange(40)})",
            lambda: (
                f"MERGE INTO items t USING (VALUES ({key}, 7), ({key + 40}, 8)) AS s(id, size) ON t.id = s.id "
                "WHEN MATCHED THEN UPDATE SET size = s.size WHEN NOT MATCHED THEN INSERT (id, size) VALUES (s.id, s.size)"
            ),
            lambda: (
                "MERGE INTO items t USING (SELECT DISTINCT item FROM notes WHERE size < 20) s ON t.id = s.item "
                "WHEN MATCHED THEN UPDATE SET size = 3"
            ),
        )
    )()


def fresh(rng: random.Random, indexed: bool) -> tuple[ec.Database, Any]:
    db, duck = ec.connect(), duckdb.connect()
    for text in TABLES:
        db.execute(text)
        # DuckDB checks keys at once and not at the end of a statement: it has the same tables without them.
        duck.execute(
            text.replace("STRING", "VARCHAR")
            .replace(" PRIMARY KEY", "")
            .replace(" UNIQUE", "")
            .replace(", (item, place)", "")
        )
    if indexed:
        for text in INDEXES:
            db.execute(text)
    for text in (
        *(
            f"INSERT INTO items VALUES ({i}, {i if i % 3 else 'NULL'}, {rng.choice(KINDS)}, {rng.randrange(40)}, {i}.50)"
            for i in range(40)
        ),
        *(f"INSERT INTO parts VALUES ({i // 3}, {i % 3}, {rng.choice(KINDS)})" for i in range(60)),
        *(
            f"INSERT INTO notes VALUES ({value(rng, 'item')}, {rng.choice(KINDS)}, {value(rng, 'item')[:2]})"
            for _ in range(60)
        ),
    ):
        text = text.replace("NU)", "NULL)")
        db.execute(text)
        duck.execute(text)
    return db, duck


def bag(rows: Any) -> Counter[Any]:
    return Counter(tuple(row) for row in rows)


def test_lookups_return_what_scans_and_duckdb_return(monkeypatch: pytest.MonkeyPatch) -> None:
    used = 0
    for seed in range(8):
        rng = random.Random(seed)
        db, duck = fresh(rng, indexed=seed % 4 > 0)
        for _ in range(16):
            text = query(rng)
            used += any("all rows" not in line for (line,) in db.execute(f"EXPLAIN {text}"))
            found = bag(db.query(text))
            assert found == bag(duck.execute(text).fetchall()), text
            with monkeypatch.context() as patched:
                patched.setattr(target, "shapes_of", lambda session, name: [])
                assert found == bag(db.query(text)), text
    assert used > 80


@pytest.mark.parametrize("together", [False, True])
def test_changes_by_lookups_are_those_of_duckdb(together: bool) -> None:
    for seed in range(100, 105):
        rng = random.Random(seed)
        db, duck = fresh(rng, indexed=seed % 4 > 0)
        texts = [change(rng) for _ in range(10)]

        def run(texts: list[str] = texts, db: ec.Database = db, duck: Any = duck) -> None:
            for text in texts:
                count = db.execute(text).count
                assert count == duck.execute(text).fetchone()[0], text

        if together:
            with db.transaction():
                run()
        else:
            run()
        for table in COLUMNS:
            assert bag(db.table(table)) == bag(duck.execute(f"SELECT * FROM {table}").fetchall()), seed
        rng = random.Random(seed + 1000)
        for text in (query(rng) for _ in range(3)):
            assert bag(db.query(text)) == bag(duck.execute(text).fetchall()), text


def indexes_are_right(db: ec.Database) -> None:
    for store in db._session.stores.values():
        for index in store.indexes:
            assert Counter(index.find(())) == Counter(store.contents().weights.keys())
            for prefix, keys in index.sorted.items():
                level = index._level(prefix) or {}
                assert keys.refresh(level) == sorted(k for k in level if k is not None)


def test_a_transaction_that_fails_leaves_indexes_as_they_were() -> None:
    db, _ = fresh(random.Random(1), indexed=True)
    db.query("SELECT * FROM items WHERE size > 3")
    before = bag(db.query("SELECT * FROM items WHERE size > 3"))
    with pytest.raises(EvercurrentError), db.transaction():
        db.execute("UPDATE items SET size = 99 WHERE size > 3")
        db.execute("INSERT INTO items (id, kind) VALUES (1, 'z')")
    assert bag(db.query("SELECT * FROM items WHERE size > 3")) == before
    indexes_are_right(db)
    db.execute("DELETE FROM items WHERE size > 3")
    assert bag(db.query("SELECT * FROM items WHERE size > 3")) == Counter()
    indexes_are_right(db)


def test_a_failing_commit_undoes_the_change_of_an_index() -> None:
    db, _ = fresh(random.Random(1), indexed=True)

    def refuse(change: object) -> None:
        raise ValueError("no")

    before = bag(db.query("SELECT * FROM items WHERE kind = 'a'"))
    subscription = db.table("items").subscribe(refuse, when="before")
    with pytest.raises(ValueError, match="no"):
        db.execute("UPDATE items SET kind = 'q' WHERE kind = 'a'")
    subscription.cancel()
    assert bag(db.query("SELECT * FROM items WHERE kind = 'a'")) == before
    indexes_are_right(db)


def test_explain_names_the_index() -> None:
    db, _ = fresh(random.Random(1), indexed=True)

    def plan(text: str, parameters: Any = None) -> list[str]:
        return [line for (line,) in db.execute(f"EXPLAIN {text}", parameters)]

    assert plan("SELECT * FROM items WHERE id = ?", [1]) == ["items: primary key (id = ?)"]
    assert plan("DELETE FROM items WHERE code = 3 AND size > 1")[0].startswith("items: unique key ")
    assert plan("SELECT * FROM items WHERE kind = 'a'") == ["items: index by_kind (kind = ?)"]
    assert plan("SELECT * FROM items WHERE kind = 'a' AND size > 3") == [
        "items: index by_kind (kind = ?, size in a range)"
    ]
    assert plan("SELECT * FROM items WHERE id IN (1, 2)") == ["items: primary key (id = one of 2 values)"]
    assert plan("SELECT * FROM items WHERE price = 1") == ["items: all rows"]
    assert plan("SELECT n.size FROM items i JOIN notes n ON n.item = i.id WHERE i.id = 1") == [
        "items: primary key (id = ?)",
        "notes: index note_item (item = ?), for each row of items",
    ]
    with pytest.raises(QueryError, match="EXPLAIN is for queries and changes"):
        db.execute("EXPLAIN DROP TABLE items")


def test_indexes_are_created_and_dropped() -> None:
    db, _ = fresh(random.Random(1), indexed=True)
    with pytest.raises(QueryError, match="already an index by_kind"):
        db.execute("CREATE INDEX By_Kind ON items (kind)")
    db.execute("CREATE INDEX IF NOT EXISTS by_kind ON items (kind)")
    with pytest.raises(QueryError, match="no column colour"):
        db.execute("CREATE INDEX i ON items (colour)")
    with pytest.raises(QueryError, match="twice"):
        db.execute("CREATE INDEX i ON items (kind, kind)")
    with pytest.raises(UnsupportedError, match="UNIQUE INDEX"):
        db.execute("CREATE UNIQUE INDEX i ON items (kind)")
    db.execute("DROP INDEX by_kind")
    assert db.execute("EXPLAIN SELECT * FROM items WHERE kind = 'a'").rows() == [("items: all rows",)]
    with pytest.raises(QueryError, match="no index 'by_kind'"):
        db.execute("DROP INDEX by_kind")
    db.execute("DROP INDEX IF EXISTS by_kind")
    db.execute("CREATE OR REPLACE TABLE notes (item BIGINT, kind STRING)")
    assert {i.name for i in db._session.catalog.indexes.values()} == {"by_size"}
    db.execute("DROP TABLE items")
    assert not db._session.catalog.indexes
    assert lookups.shapes_of(db._session, "notes") == []


def test_a_transaction_finds_its_own_rows_by_indexes() -> None:
    db, _ = fresh(random.Random(1), indexed=True)
    with db.transaction():
        db.execute("INSERT INTO notes VALUES (900, 'q', 1), (901, 'q', 5), (901, 'q', 5)")
        assert db.execute("UPDATE notes SET size = 2 WHERE item = 900").count == 1
        assert db.execute("UPDATE notes SET size = 3 WHERE kind = 'q' AND size > 1 AND size < 3").count == 1
        assert db.query("SELECT * FROM notes WHERE kind = 'q'", pending=True).count == 3
        assert db.query("SELECT * FROM notes WHERE kind = 'q'").count == 0
        assert db.execute("DELETE FROM notes WHERE kind = 'q' AND size >= 5").count == 2
    assert db.query("SELECT * FROM notes WHERE item IN (900, 901)").rows() == [(900, "q", 3)]
    indexes_are_right(db)
