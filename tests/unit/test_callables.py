"""What is handed over to be called later: refused if it cannot be called, or would be called in vain."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator
from typing import Any

import pytest

import evercurrent as ec


async def coroutine(*args: Any) -> int:
    return 1


async def generator(*args: Any) -> AsyncIterator[int]:
    yield 1


class Later:
    async def __call__(self, change: Any) -> None: ...

    async def method(self, change: Any) -> None: ...


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError


IN_VAIN = (
    coroutine,
    generator,
    Later(),
    Later().method,
    functools.partial(functools.partial(coroutine, 1), 2),
)


def database() -> Any:
    db = ec.connect()
    db.execute("CREATE TABLE t (x BIGINT); CREATE VIEW v AS SELECT x FROM t")
    db.odl("class thing (extent Things) { attribute long size; };")
    return db


@pytest.mark.parametrize("callback", IN_VAIN)
@pytest.mark.parametrize("when", ("before", "after"))
def test_coroutine_functions_are_refused(callback: Any, when: Any) -> None:
    db = database()
    awaited = when == "after" and callback is not generator
    why = "needs a running event loop" if awaited else "coroutine function; calls of it would not be awaited"
    for handle in (db.table("t"), db.view("v"), db.extent("Things"), db.table_of("t")):
        with pytest.raises(ec.QueryError, match=why):
            handle.subscribe(callback, when=when)
    assert not db._session.subscribers.watched
    assert db.views == ["v"]


@pytest.mark.parametrize("callback", (None, 3, "print", Unprintable()))
def test_what_cannot_be_called_is_refused(callback: Any) -> None:
    db = database()
    for handle in (db.table("t"), db.view("v"), db.extent("Things"), db.table_of("t")):
        with pytest.raises(ec.QueryError, match="cannot be called"):
            handle.subscribe(callback)


def test_what_can_be_called_is_taken() -> None:
    db = database()
    calls: list[Any] = []

    class Now:
        def __call__(self, change: Any) -> None:
            calls.append(change)

    for callback in (calls.append, Now(), functools.partial(lambda a, b: calls.append(b), 1)):
        db.table("t").subscribe(callback)
    db.table("t").insert([(1,)])
    assert len(calls) == 3


def test_functions_of_queries() -> None:
    db = database()
    rows = db.table_of("t")
    with pytest.raises(ec.QueryError, match="coroutine"):
        rows.select(coroutine)
    with pytest.raises(ec.QueryError, match="coroutine"):
        rows.where(coroutine)
    with pytest.raises(ec.QueryError, match="coroutine"):
        ec.opaque(coroutine)
    with pytest.raises(ec.QueryError, match="inverse of a monoid"):
        ec.monoid(0, max, inverse=coroutine)
    with pytest.raises(ec.QueryError, match="cannot be called"):
        ec.monoid(0, 3)  # type: ignore[arg-type]
    with pytest.raises(ec.QueryError, match=r"operation other\.f.*coroutine"):
        db.odl("class other { long f(); };", operations={"other.f": coroutine})
