"""A warehouse is data, never code: what a stored definition names is run, read or written only if the program says so.

No Spark runs here: batches of this size need none. Versions are forged through the log, as somebody would who can write
the folder and knows its format.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.engine.spark import engine
from evercurrent.engine.spark.sources.iceberg import load_table
from evercurrent.engine.spark.sources.nodes import Source
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.warehouse.database import Warehouse
from evercurrent.warehouse.maintenance.called_functions import MissingFunctionWarning
from evercurrent.warehouse.maintenance.publish import PublishWarning
from tests.spark.unit.warehouse import given_functions as given

PLACE = given.__name__


@pytest.fixture(autouse=True)
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "private", lambda spark: None)


def opened(path: Path, **options: Any) -> Warehouse:
    return Warehouse(None, path, progress=False, **options)


def with_views(path: Path) -> Warehouse:
    db = opened(path)
    items = db.table_of(given.Item, key="id")
    db.view("shouted", items.select(lambda i: given.shout(i.name)))
    db.view("long", items.where(given.is_long))
    db.view("stripped", items.select(lambda i: i.name.strip() + "!"))
    db.view(
        "folded",
        items.group_by(lambda i: i.name).select(
            lambda k, g: (
                k,
                g.aggregate(given.LARGEST, lambda i: i.id),
                g.aggregate(given.LCM, lambda i: i.id),
            )
        ),
    )
    db.execute("CREATE TABLE other (id INT PRIMARY KEY); CREATE VIEW others AS SELECT id FROM other")
    db.table("Item").insert({"id": 4, "name": "abc"})
    return db


def insert(db: Warehouse, **row: Any) -> None:
    db.apply({"Item": [{"_change_type": "insert", **row}]})


def forged(db: Warehouse, change: Callable[[Snapshot], Snapshot]) -> None:
    """Commit a version that this program would not write."""
    db._core.engine.log.commit(change(db._core.snapshot), db.version, kind="forged")


def redefined(
    name: str, edit: Callable[[dict[str, Any]], Mapping[str, Any]]
) -> Callable[[Snapshot], Snapshot]:
    def change(snapshot: Snapshot) -> Snapshot:
        own = tuple(edit(dict(d)) if d["name"] == name else d for d in snapshot.definitions)
        return replace(snapshot, definitions=own)

    return change


# --- functions -----------------------------------------------------------------------------------------------


def test_only_functions_that_are_handed_over_are_called(tmp_path: Path) -> None:
    with_views(tmp_path / "w")
    with pytest.warns(MissingFunctionWarning, match=f"view shouted calls {PLACE}:shout"):
        db = opened(tmp_path / "w")
    assert db.missing_functions == {
        "shouted": (f"{PLACE}:shout",),
        "long": (f"{PLACE}:Item", f"{PLACE}:is_long"),
        "folded": (f"{PLACE}:larger",),
    }
    assert db.view("shouted").rows() == [("ABC",)] and db.view("folded").rows() == [("abc", 4, 4)]
    version = db.version
    with pytest.raises(
        ec.QueryError, match=r"view (shouted|long|folded) calls .*has not been handed over"
    ) as caught:
        insert(db, id=6, name="xyz")
    assert "functions=[" in str(caught.value)
    assert db.version == version and db.view("stripped").rows() == [("abc!",)]
    db.table("other").insert({"id": 1})
    assert db.view("others").rows() == [(1,)]


@pytest.mark.parametrize(
    "functions",
    [
        [given.shout, given.is_long, given.LARGEST],
        [given],
        {f"{PLACE}:{f.__name__}": f for f in (given.shout, given.is_long, given.larger, given.Item)},
    ],
)
def test_functions_are_handed_over_one_by_one_by_module_or_by_name(tmp_path: Path, functions: Any) -> None:
    with_views(tmp_path / "w")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        db = opened(tmp_path / "w", functions=functions)
    insert(db, id=6, name="abc")
    assert sorted(db.view("shouted").rows()) == [("ABC",), ("ABC",)]
    assert db.view("folded").rows() == [("abc", 6, 12)] and len(db.view("long").rows()) == 2


def test_a_stored_name_of_another_function_runs_nothing(tmp_path: Path) -> None:
    db = with_views(tmp_path / "w")
    target = tmp_path / "was_here"

    def edit(definition: dict[str, Any]) -> dict[str, Any]:
        text = json.dumps(definition).replace(f"{PLACE}:shout", "os:system").replace("abc", f"touch {target}")
        return dict(json.loads(text))

    forged(db, redefined("shouted", edit))
    with pytest.warns(MissingFunctionWarning, match="os:system"):
        db = opened(tmp_path / "w", functions=[given])
    with pytest.raises(ec.QueryError, match="os:system"):
        insert(db, id=9, name=f"touch {target}")
    assert not target.exists()


@pytest.mark.parametrize("wrong", ["shout", 5, [5], ["os:system"], {"a:b": 5}])
def test_what_is_no_function_is_not_taken(tmp_path: Path, wrong: Any) -> None:
    with pytest.raises(ec.QueryError, match=r"functions must be|cannot be"):
        opened(tmp_path / "w", functions=wrong)


def test_in_process_there_is_nothing_to_hand_over() -> None:
    with pytest.raises(ec.QueryError, match="for a database that is kept"):
        ec.connect(functions=[len])  # type: ignore[call-overload]


# --- publishing ----------------------------------------------------------------------------------------------


def test_a_stored_path_outside_is_written_only_if_confirmed(tmp_path: Path) -> None:
    db = opened(tmp_path / "w")
    db.execute("CREATE TABLE t (id INT PRIMARY KEY); CREATE VIEW v AS SELECT id FROM t")
    outside = tmp_path / "outside"
    forged(db, redefined("v", lambda d: {**d, "publish": str(outside / "v")}))
    with pytest.warns(PublishWarning, match="outside the warehouse"):
        db = opened(tmp_path / "w")
    db.table("t").insert({"id": 1})
    assert db.view("v").rows() == [(1,)] and not outside.exists()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        opened(tmp_path / "w", publish_to=[outside])
    assert (outside / "v" / "_delta_log").is_dir()


def test_the_programs_own_word_is_enough(tmp_path: Path) -> None:
    db = opened(tmp_path / "w")
    db.execute("CREATE TABLE t (id INT PRIMARY KEY); CREATE VIEW v AS SELECT id FROM t")
    db.publish("v", tmp_path / "out")
    assert (tmp_path / "out" / "_delta_log").is_dir()
    db.table("t").insert({"id": 1})
    with pytest.warns(PublishWarning):
        db = opened(tmp_path / "w")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        db.publish("v", tmp_path / "out")
        db.table("t").insert({"id": 2})


@pytest.mark.parametrize("place", ["_log/x", "data", "../x", "views/../../x", "", "/"])
def test_what_a_warehouse_is_made_of_is_no_place_for_views(tmp_path: Path, place: str) -> None:
    db = opened(tmp_path / "w")
    db.execute("CREATE TABLE t (id INT PRIMARY KEY); CREATE VIEW v AS SELECT id FROM t")
    forged(db, redefined("v", lambda d: {**d, "publish": f"{tmp_path}/w/{place}" if place != "/" else "/"}))
    before = sorted(p for p in tmp_path.rglob("*") if "_log" not in p.parts)
    with pytest.warns(PublishWarning):
        opened(tmp_path / "w")
    assert sorted(p for p in tmp_path.rglob("*") if "_log" not in p.parts) == before
    assert not (tmp_path / "w" / "_log" / "x").exists()


# --- forged versions -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "file",
    [
        "../../secret.parquet",
        "data/../../secret.parquet",
        "/etc/passwd",
        "data/x/../../../secret.parquet",
        "file:///etc/passwd",
        "data/a b/c",
        5,
        None,
    ],
)
def test_no_file_outside_is_read_or_removed(tmp_path: Path, file: Any) -> None:
    db = with_views(tmp_path / "w")
    secret = tmp_path / "secret.parquet"
    secret.write_bytes(b"PAR1")
    name, store = next((n, s) for n, s in db._core.snapshot.stores.items() if s.segments)
    wrong = Segment((file,), 1, 1)
    with pytest.raises(ec.EvercurrentError):
        forged(db, lambda s: replace(s, stores={**s.stores, name: Store((wrong, *store.base), store.recent)}))
        db = opened(tmp_path / "w", functions=[given])
        db.view("shouted").rows()
        db.compact()
    with pytest.raises(ec.EvercurrentError):
        opened(tmp_path / "w", functions=[given]).vacuum(keep=1, hours=0)
    assert secret.exists()


@pytest.mark.parametrize(
    "definition",
    [
        {"text": "DROP TABLE other"},
        {"text": "CREATE VIEW others AS SELECT id FROM other; DROP TABLE other"},
        {"text": "INSERT INTO other VALUES (1)"},
        {"text": "CREATE VIEW others AS SELECT reflect('java.lang.System', 'exit', 1) FROM other"},
        {"text": "CREATE VIEW others AS SELECT * FROM parquet.`/etc/passwd`"},
        {"text": "SELECT 1"},
        {"text": ""},
        {"text": None},
        {"text": "CREATE VIEW others AS SELECT " + "(" * 5000 + "id" + ")" * 5000 + " FROM other"},
        {"kind": "nothing"},
        {"kind": "classes", "text": "class A { attribute long __import__('os'); };"},
        {"language": "python", "query": {"node": "Popen"}, "order": []},
        {"language": "python", "query": {"function": "os:system"}, "order": []},
        {"language": "python", "query": {"node": "Relation", "name": 5, "fields": []}, "order": []},
        {"language": "python", "query": {"decimal": "1e"}, "order": []},
        {"policy": "whatever"},
    ],
)
def test_forged_definitions_do_nothing_or_raise_an_error_of_ours(
    tmp_path: Path, definition: dict[str, Any]
) -> None:
    db = with_views(tmp_path / "w")
    forged(db, redefined("others", lambda d: {**d, **definition}))
    with suppress(ec.EvercurrentError):  # what is harmless may open
        assert "other" in opened(tmp_path / "w", functions=[given]).tables
    assert with_views(tmp_path / "again").tables == ["Item", "other"]


@pytest.mark.parametrize(
    ("find", "put"),
    [
        ('"bits": 64', '"bits": "64; import os"'),
        ('"bits": 64', '"bits": 640'),
        ('"node": "String"', '"node": "Decimal", "precision": 1000000000, "scale": 0'),
        ('"monoid": "bag"', '"monoid": "__import__"'),
    ],
)
def test_forged_nodes_are_refused(tmp_path: Path, find: str, put: str) -> None:
    db = with_views(tmp_path / "w")

    def edit(definition: dict[str, Any]) -> dict[str, Any]:
        text = json.dumps(definition)
        assert find in text
        return dict(json.loads(text.replace(find, put)))

    forged(db, redefined("long", edit))
    with pytest.raises(ec.StorageError, match="a definition"):
        opened(tmp_path / "w", functions=[given])


@pytest.mark.parametrize("name", ["py-io-impl", "py-catalog-impl", "s3.signer", "auth.custom-class"])
def test_options_of_sources_import_nothing(name: str) -> None:
    with pytest.raises(ec.QueryError, match="a warehouse is data"):
        load_table(Source("s", "iceberg", "db.t", (), {name: "os.system"}))
