"""Equal recursions are one, however their columns and relations are called."""

from __future__ import annotations

import evercurrent as ec
from evercurrent.algebra.canonical import canonical, number_names
from evercurrent.algebra.nodes import Fixpoint
from evercurrent.algebra.walk import nodes

CLOSURE = (
    "CREATE VIEW {view} AS WITH RECURSIVE {name} AS (SELECT src, dst FROM edge UNION "
    "SELECT {name}.src, {e}.dst FROM {name} JOIN edge {e} ON {name}.dst = {e}.src) SELECT {columns} FROM {name} {where}"
)


def database() -> ec.Database:
    db = ec.connect()
    db.execute("CREATE TABLE edge (src INT NOT NULL, dst INT NOT NULL)")
    return db


def test_equal_recursions_under_different_names_are_kept_once() -> None:
    db = database()
    db.execute(CLOSURE.format(view="a", name="reach", e="e", columns="src, dst", where=""))
    db.execute(CLOSURE.format(view="b", name="path", e="step", columns="dst", where="WHERE src = 1"))
    kept = [size for size in db.stats().sizes if size.name.startswith("fixpoint")]
    assert len(kept) == 1 and set(kept[0].views) == {"a", "b"}
    db.table("edge").insert([(1, 2), (2, 3), (3, 1)])
    assert sorted(db.view("b").rows()) == [(1,), (2,), (3,)] and len(db.view("a")) == 9
    db.table("edge").delete((3, 1))
    assert sorted(db.view("b").rows()) == [(2,), (3,)] and db.verify()


def test_different_recursions_are_two() -> None:
    db = database()
    db.execute(CLOSURE.format(view="a", name="reach", e="e", columns="src, dst", where=""))
    turned = CLOSURE.replace("{name}.dst = {e}.src", "{name}.src = {e}.dst")
    db.execute(turned.format(view="b", name="reach", e="e", columns="src, dst", where=""))
    assert len([size for size in db.stats().sizes if size.name.startswith("fixpoint")]) == 2


def test_a_table_that_is_called_like_a_recursive_relation_is_another() -> None:
    db = database()
    db.execute(CLOSURE.format(view="a", name="reach", e="e", columns="src, dst", where=""))
    plan = db._session.maintenance.design.stages["a"].plan
    (fixpoint,) = (p for p in nodes(plan) if isinstance(p, Fixpoint))
    again = number_names(fixpoint)
    assert isinstance(again, Fixpoint)
    assert again.result != fixpoint.result and again.result == again.rules[0].name
    assert number_names(again) == again and canonical(again) == canonical(fixpoint)
