"""Sources by reference: nothing of them is kept but what views need, and everything else reads them where they are.

Changes of this size need no cluster; `tests/spark/test_references.py` has the same with Spark.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pytest

import evercurrent as ec
from evercurrent.engine.spark import engine
from evercurrent.engine.spark.storage.log import Log
from evercurrent.warehouse.changes import refresh
from evercurrent.warehouse.database import Warehouse
from tests.spark.delta_writer import DeltaWriter, Row

ORDERS = pyarrow.schema(
    [
        ("id", pyarrow.int64()),
        ("customer", pyarrow.int64()),
        ("total", pyarrow.int64()),
        ("note", pyarrow.string()),
    ]
)
CUSTOMERS = pyarrow.schema([("id", pyarrow.int64()), ("name", pyarrow.string())])
VIEWS = {
    "per": "SELECT customer, count(*) AS n, sum(total) AS s FROM orders GROUP BY customer",
    "joined": "SELECT o.id, c.name, o.total FROM orders o JOIN customers c ON o.customer = c.id WHERE o.total > 3",
    "named": "SELECT c.name, sum(o.total) AS s, max(o.total) AS most FROM orders o JOIN customers c ON o.customer = c.id GROUP BY c.name",
    "missing": "SELECT c.id FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id)",
    "ranks": "SELECT id, row_number() OVER (PARTITION BY customer ORDER BY total DESC, id) AS r FROM orders",
    "copied": "SELECT * FROM orders WHERE total > 0",
    "twice": "SELECT a.id AS a, b.id AS b FROM orders a JOIN orders b ON a.customer = b.customer AND a.total < b.total",
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(engine, "private", lambda spark: None)
    return tmp_path


def order(i: int, extra: int = 0) -> Row:
    return i, i % 5, (i * 7 + extra) % 13, None if i % 4 == 0 else "x" * 50 + str(i)


class Lake:
    """Two tables and a warehouse over them."""

    def __init__(self, place: Path, **options: Any) -> None:
        self.place = place
        self.orders = DeltaWriter(place / "orders", ORDERS, mapping="name", **options)
        self.customers = DeltaWriter(place / "customers", CUSTOMERS)
        self.orders.append([order(i) for i in range(40)])
        self.customers.append([(i, f"c{i}") for i in range(7)])
        self.db = Warehouse(None, place / "w")

    def declare(self, *views: str, mode: Any = "strict", key: bool = True, **options: Any) -> None:
        self.db.source("orders", format="delta", path=self.orders.root, key=["id"] if key else [], **options)
        self.db.source("customers", format="delta", path=self.customers.root, key=["id"], **options)
        for name in views:
            self.db.execute(f"CREATE VIEW {name} AS {VIEWS[name]}", mode=mode)

    def agree(self, db: Warehouse | None = None) -> None:
        """Tables and views are what the writers, and DuckDB over their rows, say."""
        db = db or self.db
        duck = duckdb.connect()
        for name, lake in (("orders", self.orders), ("customers", self.customers)):
            columns = {f.name: [r[i] for r in lake.rows] for i, f in enumerate(lake.schema)}
            duck.register(name, pyarrow.table(columns, lake.schema))
            assert sorted(db.table(name).rows(), key=repr) == sorted(lake.rows, key=repr), name
        for view in db._core.catalog.views.values():
            wanted = duck.execute(VIEWS[view.name]).fetchall()
            assert sorted(db.view(view.name).rows(), key=repr) == sorted(wanted, key=repr), view.name


def stored_bytes(db: Warehouse, table: str | None = None) -> int:
    """The bytes of files that lie in the warehouse, of a table or of everything."""
    root = Path(str(db._core.engine.folder.root)) / "data"
    folders = [p for p in root.glob("*") if table is None or p.name.startswith(f"table_{table}-")]
    return sum(f.stat().st_size for p in folders for f in p.rglob("*") if f.is_file())


def test_nothing_is_kept_but_what_views_need(place: Path) -> None:
    lake = Lake(place)
    lake.declare()
    run = lake.db.refresh()
    assert run.rows_in == {"orders": 40, "customers": 7} and stored_bytes(lake.db) == 0
    lake.db.execute(f"CREATE VIEW per AS {VIEWS['per']}")
    assert stored_bytes(lake.db, "orders") == 0 < stored_bytes(lake.db)
    lake.agree()
    again = Warehouse(None, place / "w")
    lake.agree(again)
    assert again.query("SELECT count(*) AS n FROM orders").rows() == [(40,)]
    assert "by reference" in str(run.notes)


@pytest.mark.parametrize("mode", ["strict", "lazy", "hybrid"])
def test_views_of_every_kind_follow(place: Path, mode: str) -> None:
    lake = Lake(place, configuration={"delta.enableChangeDataFeed": "true"})
    lake.declare(*VIEWS, mode=mode)
    lake.db.refresh()
    lake.agree()
    lake.orders.delete(lambda r: r[0] % 3 == 0)
    lake.customers.append([(10, "late")])
    lake.db.refresh()
    lake.agree()
    lake.orders.update(lambda r: r[0] % 7 == 1, lambda r: (r[0], (r[1] + 1) % 5, r[2] + 2, r[3]))
    lake.orders.append([order(i) for i in range(100, 110)])
    lake.db.refresh()
    lake.customers.delete(lambda r: r[0] == 2)
    lake.orders.optimize()
    lake.db.refresh()
    lake.agree()
    lake.agree(Warehouse(None, place / "w"))


def test_random_histories(place: Path) -> None:
    for seed in range(3):
        draw = random.Random(seed)
        (place / str(seed)).mkdir()
        lake = Lake(place / str(seed), partition_by=draw.choice([[], ["customer"]]), store=draw.choice("iup"))
        names = draw.sample(sorted(VIEWS), 4)
        modes = {name: draw.choice(["strict", "lazy", "hybrid"]) for name in names}
        early = names[:2]
        lake.declare(key=draw.random() < 0.7)
        for name in early:
            lake.db.execute(f"CREATE VIEW {name} AS {VIEWS[name]}", mode=modes[name])
        for step in range(8):
            n, k = draw.randrange(2, 6), draw.randrange(4)

            def hit(row: Row, n: int = n, k: int = k) -> bool:
                return bool(row[0] % n == k)

            match draw.choice(["append", "delete", "update", "optimize", "restore", "customers"]):
                case "append":
                    first = 1000 * (step + 1)
                    lake.orders.append([order(i, step) for i in range(first, first + draw.randrange(1, 9))])
                case "delete":
                    lake.orders.delete(hit)
                case "update":
                    lake.orders.update(hit, lambda r: (r[0], r[1], r[2] + 1, r[3]))
                case "optimize":
                    lake.orders.optimize()
                case "restore":
                    lake.orders.restore()
                case _:
                    lake.customers.update(hit, lambda r: (r[0], r[1] + "!"))
            if draw.random() < 0.6:
                lake.db.refresh()
                lake.agree()
            if step == 4:
                for name in names[2:]:
                    lake.db.execute(f"CREATE VIEW {name} AS {VIEWS[name]}", mode=modes[name])
                lake.db = Warehouse(None, lake.place / "w")
        lake.db.refresh()
        lake.agree()


def test_earlier_versions_and_changes(place: Path) -> None:
    lake = Lake(place)
    lake.declare("per")
    first = lake.db.refresh().version
    heard: list[Any] = []
    lake.db.table("orders").subscribe(heard.append)
    lake.orders.delete(lambda r: r[0] < 5)
    lake.orders.append([order(77)])
    second = lake.db.refresh().version
    assert {row[0]: w for row, w in heard[0].delta.items()} == {0: -1, 1: -1, 2: -1, 3: -1, 4: -1, 77: 1}
    core = lake.db._core
    types = core.table_types("orders")
    rows = core.engine.rows(lake.db.table("orders")._segments(first), types)
    assert sorted(r[0] for r, _ in rows) == list(range(40)), (
        "an earlier version is the source's earlier version"
    )
    assert second > first and lake.db.table("orders").get(77) is not None  # type: ignore[union-attr]
    found = lake.db.view("per").why(next(r for r in lake.db.view("per").rows() if r[0] == 2))
    assert "orders" in str(found)


def test_a_lost_history_is_an_error_with_a_way_out(place: Path) -> None:
    lake = Lake(place)
    lake.declare(*VIEWS)
    lake.db.refresh()
    before = {name: lake.db.view(name).rows() for name in VIEWS}
    heard: list[Any] = []
    lake.db.view("per").subscribe(heard.append)
    lake.orders.update(lambda r: True, lambda r: (r[0], r[1], r[2] + 1, r[3]))
    for path in (place / "orders").rglob("*.parquet"):
        if not any(path.name in f.path for f in lake.orders.files):
            os.unlink(path)
    with pytest.raises(ec.StorageError, match="vacuumed") as caught:
        lake.db.refresh()
    assert "refresh(full=['orders'])" in str(caught.value)
    assert {name: lake.db.view(name).rows() for name in VIEWS} == before, "views answer all the same"
    with pytest.raises(ec.StorageError, match="gone") as caught:
        lake.db.query("SELECT count(*) AS n FROM orders")
    assert "refresh(full=['orders'])" in str(caught.value)
    lake.customers.append([(20, "new")])
    run = lake.db.refresh(full=["orders"])
    assert "filled again" in str(run.notes)
    lake.agree()
    assert heard and sum(w for _, w in heard[-1].delta.items()) == 0, "subscribers get the difference"
    lake.orders.delete(lambda r: r[0] == 3)
    lake.db.refresh()
    lake.agree(Warehouse(None, place / "w"))


def test_a_table_that_is_made_anew(place: Path) -> None:
    import shutil

    lake = Lake(place)
    lake.declare("per", "joined")
    lake.db.refresh()
    shutil.rmtree(place / "orders")
    lake.orders = DeltaWriter(place / "orders", ORDERS)
    lake.orders.append([order(i) for i in range(5)])
    run = lake.db.refresh()
    assert "created again" in str(run.notes)
    lake.agree()


def test_keys_are_checked_on_what_passes_by(place: Path) -> None:
    lake = Lake(place)
    lake.orders.append([order(7)])
    lake.declare("per")
    with pytest.raises(ec.ConstraintError, match=r"orders: .*7") as caught:
        lake.db.refresh()
    assert caught.value.count == 2
    lake.orders.delete(lambda r: r[0] == 7)
    lake.db.refresh()
    lake.orders.append([order(200), order(200, 1)])
    with pytest.raises(ec.ConstraintError, match="200"):
        lake.db.refresh()
    lake.orders.delete(lambda r: r[0] == 200)
    lake.orders.append([(None, 1, 1, "")])
    with pytest.raises(ec.ConstraintError, match="NULL"):
        lake.db.refresh()
    lake.orders.delete(lambda r: r[0] is None)
    lake.db.refresh()
    lake.agree()


def test_keys_are_checked_against_states_that_have_them(place: Path) -> None:
    lake = Lake(place)
    lake.declare("named")
    lake.db.refresh()
    lake.customers.append([(3, "twin")])
    with pytest.raises(ec.ConstraintError, match="twin"):
        lake.db.refresh()
    lake.customers.delete(lambda r: r == (3, "c3"))
    lake.db.refresh()
    lake.agree()


def test_own_tables_may_refer_to_a_source(place: Path) -> None:
    lake = Lake(place)
    lake.declare()
    lake.db.refresh()
    lake.db.execute("CREATE TABLE notes (id INT PRIMARY KEY, customer BIGINT REFERENCES customers(id))")
    lake.db.table("notes").insert([(1, 3)])
    with pytest.raises(ec.ConstraintError):
        lake.db.table("notes").insert([(2, 99)])
    lake.customers.delete(lambda r: r[0] == 3)
    with pytest.raises(ec.ConstraintError):
        lake.db.refresh()
    lake.db.execute("DELETE FROM notes")
    lake.db.refresh()
    lake.agree()


def test_columns_that_come_and_become_wider(place: Path) -> None:
    lake = Lake(place)
    lake.declare("per")
    lake.db.refresh()
    lake.orders.alter(ORDERS.append(pyarrow.field("more", pyarrow.float64())))
    lake.orders.append([(*order(300), 1.5)])
    lake.db.refresh()
    lake.agree()
    assert not any(s.files for s in lake.db._core.present.table_rows("orders").segments)
    lake.agree(Warehouse(None, place / "w"))


def test_a_crash_after_new_columns_loses_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = Lake(place)
    lake.declare("per")
    lake.db.refresh()
    lake.orders.alter(ORDERS.append(pyarrow.field("more", pyarrow.float64())))
    lake.orders.append([(*order(300), 1.5)])
    with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
        broken.setattr(refresh, "look_at", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        lake.db.refresh()
    lake.db = Warehouse(None, place / "w")
    lake.db.refresh()
    lake.agree()


@pytest.mark.parametrize("when", ["first", "later"])
def test_copies(place: Path, when: str) -> None:
    lake = Lake(place)
    if when == "first":
        lake.declare("per", copy=True)
        lake.db.refresh()
    else:
        lake.declare("per")
        lake.db.refresh()
        lake.orders.delete(lambda r: r[0] == 1)
        lake.declare(copy=True)
        assert stored_bytes(lake.db, "orders") > 0
        lake.db.refresh()
    lake.agree()
    assert stored_bytes(lake.db, "orders") > 0
    text = str(lake.db.explain("per"))
    assert "a copy" in text and "copy=True" in text
    lake.orders.delete(lambda r: r[0] % 2 == 0)
    lake.db.refresh()
    lake.agree(Warehouse(None, place / "w"))


def test_a_quarantine_needs_a_copy(place: Path) -> None:
    lake = Lake(place)
    lake.declare("per")
    lake.db.refresh()
    lake.orders.append([order(7, 1)])
    run = lake.db.refresh(on_violation="quarantine")
    assert run.quarantined == {"orders": 1}
    assert len(lake.db.table("orders")) == 40 and stored_bytes(lake.db, "orders") > 0
    assert "quarantine" in str(lake.db.explain("per"))
    lake.orders.delete(lambda r: r == order(7, 1))
    lake.db.refresh()
    lake.agree()


def test_explain_says_where_rows_are(place: Path) -> None:
    lake = Lake(place)
    lake.declare("per")
    lake.db.refresh()
    text = str(lake.db.explain("per"))
    assert "orders: by reference" in text and "version 1" in text and "40 rows" in text


def test_a_warehouse_from_before_there_were_references(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sources are copies, and stay so."""
    from evercurrent.warehouse.definitions import sources

    lake = Lake(place)
    original = sources.statements.create_table

    def without_kept(*args: Any, source: Any = None, **more: Any) -> None:
        about = {k: v for k, v in source.items() if k in ("format", "path", "key", "options")}
        original(*args, source=about, **more)

    with monkeypatch.context() as old:
        old.setattr(sources.statements, "create_table", without_kept)
        lake.declare("per")
    lake.db.refresh()
    assert stored_bytes(lake.db, "orders") > 0
    lake.db = Warehouse(None, place / "w")
    lake.declare()
    lake.orders.delete(lambda r: r[0] == 9)
    lake.db.refresh()
    lake.agree()


def test_the_cursor_and_the_states_are_one_commit(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = Lake(place)
    lake.declare("per", "joined")
    lake.db.refresh()
    other = Warehouse(None, place / "w")
    lake.orders.delete(lambda r: r[0] == 4)
    with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
        broken.setattr(Log, "commit", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        lake.db.refresh()
    other.refresh()
    lake.agree(other)
    with pytest.raises(ec.ConflictError):
        lake.db.refresh()
    lake.db.reload()
    assert lake.db.refresh().version == other.version
    lake.agree()
