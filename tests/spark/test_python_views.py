"""Query objects on Spark: the same answers as in process, on the driver and by DataFrames; kept across opening."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import evercurrent as ec
from evercurrent.warehouse.database import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


class Item(NamedTuple):
    id: int
    name: str
    group: int
    tags: list[str]


class Edge(NamedTuple):
    src: int
    dst: int


def shout(name: str) -> str:
    text = ""
    for letter in name:
        text += letter.upper()
    return text


def is_long(item: Item) -> bool:
    for _ in range(1):
        pass
    return len(item.name) > 2


LCM = ec.monoid(1, math.lcm)


def define(db: Any, strategy: str) -> dict[str, Any]:
    """Views of every kind; by DataFrames those that call functions of users, since those of SQL are tested there."""
    items = db.table_of(Item, key="id")
    edges = db.table_of(Edge)
    even, odd = ec.recursive(
        lambda even, odd: (
            edges.where(lambda e: e.src == 0)
            .select(lambda e: e.src)
            .union_all(odd.join(edges, lambda o, e: o == e.src).select(lambda o, e: e.dst)),
            even.join(edges, lambda v, e: v == e.src).select(lambda v, e: e.dst),
        )
    )
    reach = ec.recursive(
        lambda r: edges.union_all(
            r.join(edges, lambda r, e: r.dst == e.src).select(lambda r, e: Edge(r.src, e.dst))
        )
    )
    called = {
        "long": items.where(is_long)
        .join(edges, lambda i, e: i.group == e.src)
        .select(lambda i, e: (shout(i.name), e.dst)),
        "grouped": items.group_by(lambda i: i.group).select(
            lambda k, g: (k, g.count(), g.aggregate(LCM, lambda i: i.id), g.max(lambda i: i.name))
        ),
    }
    if strategy == "spark":
        return called
    return {
        **called,
        "shouted": items.select(lambda i: (i.id, shout(i.name))),
        "stripped": items.select(lambda i: i.name.strip() + "/" + i.name.title()),
        "even": even,
        "odd": odd,
        "reach": reach,
        "tagged": items.unnest(lambda i: i.tags).select(lambda i, t: (i.id, t)),
        "first": items.order_by(lambda i: i.name).limit(2),
        "ranked": items.window(lambda i: i.group, lambda i: i.id).select(lambda i, w: (i.id, w.row_number())),
        "missing": items.left_join(edges, lambda i, e: i.group == e.src).select(
            lambda i, e: (i.id, -1 if e is None else e.dst)
        ),
    }


def change(db: Any, step: int) -> None:
    items, edges = db.table_of(Item), db.table_of(Edge)
    match step:
        case 0:
            with db.transaction():
                items.insert(
                    [Item(1, "ab ", 0, ["x"]), Item(2, "cde", 0, []), Item(3, "fghi", 1, ["x", "y"])]
                )
                edges.insert([Edge(0, 1), Edge(1, 2), Edge(2, 0), Edge(1, 1)])
        case 1:
            with db.transaction():
                items.update(2, name="zz", group=1)
                items.delete(1)
                edges.delete(Edge(2, 0))
                items.insert(Item(4, "aaa", 2, ["z"]))
        case _:
            edges.insert(Edge(2, 3))


def bag(rows: Any) -> list[str]:
    return sorted(map(repr, rows))


@pytest.mark.parametrize("strategy", ["driver", "spark"])
def test_the_same_answers_as_in_process(spark: SparkSession, tmp_path: Path, strategy: Any) -> None:
    live = ec.connect()
    db = Warehouse(spark, tmp_path / strategy, strategy=strategy)
    ours = {name: live.view(name, query) for name, query in define(live, strategy).items()}
    theirs = {name: db.view(name, query) for name, query in define(db, strategy).items()}
    for step in range(2 if strategy == "spark" else 3):
        change(live, step)
        change(db, step)
        for name, view in theirs.items():
            assert bag(view.rows()) == bag(ours[name].rows()), (name, step)
    if strategy == "driver":
        assert theirs["first"].objects() == ours["first"].objects()
        assert db.verify()
        reopened = Warehouse(spark, tmp_path / strategy, strategy=strategy, functions=[shout, is_long])
        change(live, 3)
        reopened.table_of(Edge).insert(Edge(2, 3))
        reopened.table_of(Item).insert(Item(9, "new", 2, []))
        live.table_of(Item).insert(Item(9, "new", 2, []))
        for name, view in ours.items():
            assert bag(reopened.view(name).rows()) == bag(view.rows()), name


def test_definitions_are_json_that_names_functions(spark: SparkSession, tmp_path: Path) -> None:
    db = Warehouse(spark, tmp_path / "w", strategy="driver")
    items = db.table_of(Item, key="id")
    db.view("shouted", items.select(lambda i: shout(i.name)))
    (definition,) = [d for d in db._core.snapshot.definitions if d["kind"] == "view"]
    text = json.dumps(definition["query"])
    assert f"{shout.__module__}:shout" in text and definition["language"] == "python"

    def local(name: str) -> str:
        for _ in name:
            pass
        return name

    with pytest.raises(ec.QueryError, match="local cannot be found again by its name") as caught:
        db.view("lost", items.select(lambda i: local(i.name)))
    assert "top level of a module" in str(caught.value)
    assert items.where(lambda i: i.id == 1).rows() == []
    with pytest.raises(ec.UnsupportedError, match="without a name on Spark"):
        items.materialize()
