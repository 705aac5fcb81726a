"""The databases that are open: one for each file or warehouse, shared by all threads of dbt.

    db = evercurrent.connect("shop.db")
    with share(db):                      dbt runs over `db` itself, and leaves it open
        dbtRunner().invoke(["run"])

A file has one writer. So all connections of dbt use one database, which is opened by the first of them and closed at the end of
the invocation, unless the program had it open already and has shared it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from threading import RLock
from typing import Any

import evercurrent

_lock = RLock()
_shared: dict[str, Any] = {}
_opened: dict[str, Any] = {}


@contextmanager
def share(db: Any) -> Iterator[None]:
    """Lets the adapter use an open database for profiles that name its file, or its warehouse, within the block."""
    if db.path is None:
        raise evercurrent.QueryError(
            "a database that is kept nowhere has no path by which a profile could name it",
            hint='share a database that is kept: ec.connect("shop.db")',
        )
    key = _key(str(db.path))
    with _lock:
        if key in _opened:
            raise evercurrent.QueryError(f"dbt has {db.path} open already")
        before = _shared.get(key)
        _shared[key] = db
    try:
        yield
    finally:
        with _lock:
            if before is None:
                del _shared[key]
            else:
                _shared[key] = before


def database(path: str | None, warehouse: str | None, spark: Mapping[str, str]) -> Any:
    """Returns the open database of a file or of a warehouse on Spark; opens it, if it is not."""
    place = warehouse if warehouse is not None else str(path)
    key = _key(place)
    with _lock:
        if key in _shared:
            return _shared[key]
        if key not in _opened:
            _opened[key] = _open_warehouse(place, spark) if warehouse is not None else _open_file(place)
        return _opened[key]


def release(path: str | None, warehouse: str | None) -> None:
    """Closes the database, if the adapter has opened it."""
    with _lock:
        found = _opened.pop(_key(warehouse if warehouse is not None else str(path)), None)
        if found is not None:
            found.close()


def _key(place: str) -> str:
    return place if place == ":memory:" else os.path.realpath(place)


def _open_file(path: str) -> Any:
    folder = os.path.dirname(os.path.realpath(path))
    if path != ":memory:":
        os.makedirs(folder, exist_ok=True)
    return evercurrent.connect(path, progress=False)


def _open_warehouse(path: str, settings: Mapping[str, str]) -> Any:
    from pyspark.sql import SparkSession

    from evercurrent.engine.spark.private_session import local_session

    given = {name: str(value) for name, value in settings.items()}
    master = given.pop("master", "local[*]")
    session = SparkSession.getActiveSession() or local_session(master, given)
    return evercurrent.connect(path, spark=session, progress=False)
