"""Queries as JSON: what goes out comes in again, and nothing else does."""

from __future__ import annotations

import datetime
import json
import math
from decimal import Decimal
from typing import Any, NamedTuple

import pytest

import evercurrent as ec
from evercurrent.calculus.codec import decode, encode
from evercurrent.data.values import NAN, FrozenMap
from evercurrent.frontend.python.block import pack
from evercurrent.term.handed_over import HandedOver, Named
from evercurrent.term.nodes import Opaque


class Thing(NamedTuple):
    id: int
    name: str | None
    parts: list[int]


def loop(name: str | None) -> int:
    total = 0
    for _ in name or "":
        total += 1
    return total


def whole(thing: Thing) -> bool:
    for _ in range(1):
        pass
    return thing.id > 1


def queries() -> list[Any]:
    db = ec.connect()
    things = db.table_of(Thing)
    return [
        things,
        things.where(lambda t: t.id in (1, 2) and t.name is not None).select(
            lambda t: (t.name, 1.5, Decimal("1.50"))
        ),
        things.left_join(things, lambda a, b: a.id == b.id).select(lambda a, b: (a.id, b is None)),
        things.full_join(things, lambda a, b: a.id == b.id),
        things.group_by(lambda t: t.name).select(lambda k, g: (k, g.count(), g.collect(lambda t: t.id))),
        things.unnest(lambda t: t.parts).where(lambda t, p: any(o.id == p for o in things)),
        things.window(order=lambda t: ec.desc(t.id)).select(lambda t, w: (t.id, w.lag(lambda t: t.name))),
        things.order_by(lambda t: t.id).limit(3),
        (things - things).union(things),
        ec.recursive(lambda r: things.union_all(r.where(lambda t: t.id < 3))),
        things.select(
            lambda t: (datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3), b"x", t.id / 2)
        ),
    ]


@pytest.mark.parametrize("number", range(11))
def test_out_and_in_again(number: int) -> None:
    query = pack(queries()[number]._block)
    text = json.dumps(encode(query))
    assert decode(json.loads(text)) == query


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        -1.5,
        "x",
        (1, ("a", None)),
        b"\0",
        datetime.date(1, 1, 1),
        frozenset({1, 2}),
        FrozenMap({1: "a"}),
    ],
)
def test_values(value: Any) -> None:
    again = decode(json.loads(json.dumps(encode(value))))
    assert again == value and type(again) is type(value)


def test_floats_that_json_does_not_know() -> None:
    assert decode(encode(NAN)) is NAN
    assert decode(encode(-math.inf)) == -math.inf


def test_opaque_functions_are_found_by_their_names() -> None:
    db = ec.connect()
    things = db.table_of(Thing)
    text = json.dumps(encode(pack(things.select(lambda t: loop(t.name))._block)))
    assert f"{loop.__module__}:loop" in text
    known = HandedOver([loop])
    named = Named(f"{loop.__module__}:loop", known)
    assert named("abc") == 3
    assert repr(Opaque(named, "loop")) == repr(Opaque(loop, "loop"))
    rows = json.loads(json.dumps(encode(pack(things.where(whole)._block))))
    assert decode(rows).fields == things.schema
    for path in ("nowhere.at.all:f", "os:system", "builtins:eval", f"{whole.__module__}:whole"):
        with pytest.raises(
            ec.QueryError, match=f"{path}, which a view calls, has not been handed over"
        ) as caught:
            Named(path, known)("1")
        assert "functions=[" in str(caught.value)


def test_what_has_no_name_is_refused() -> None:
    db = ec.connect()
    things = db.table_of(Thing)

    def local(name: str | None) -> int:
        for _ in range(1):
            pass
        return 1

    with pytest.raises(ec.QueryError, match="local cannot be found again"):
        encode(pack(things.select(lambda t: local(t.name))._block))


@pytest.mark.parametrize(
    "text",
    [
        {"node": "Popen", "args": ["true"]},
        {"node": "Relation", "name": "x", "fields": [], "hook": 1},
        {"module": "os"},
        {"node": ["Relation"]},
    ],
)
def test_nothing_else_comes_in(text: Any) -> None:
    with pytest.raises(ec.StorageError):
        decode(text)
