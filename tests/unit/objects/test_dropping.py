"""Dropping a class is one step: its objects and the class go together, or both stay, whatever interrupts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.objects import declaring
from tests.fuzz.injection import Faults, Interrupted

CLASSES = """
class person (extent persons) { attribute string name; attribute person boss; };
class clerk extends person (extent clerks) { attribute long desk; };
"""


def made(path: Path | None = None) -> ec.Database:
    db = ec.connect(path, durability="off") if path else ec.connect()
    db.odl(CLASSES)
    ann = db.new("clerk", name="Ann", desk=1)
    db.new("person", name="Bob", boss=ann)
    db.oql("define names as select p.name from p in persons")
    return db


def state(db: ec.Database) -> tuple[list[str], list[object], list[object]]:
    classes = sorted(db.schema.classes)
    bosses = [(p.name, p.boss and p.boss.name) for p in db.extent("persons")]
    return classes, sorted(bosses, key=repr), sorted(db.view("names").rows(), key=repr)


def lines_of_dropping(path: Path | None) -> int:
    db = made(path)
    with Faults(()) as count:
        db.drop_class("clerk")
    assert state(db)[:2] == (["person"], [("Bob", None)])
    db.close()
    return count.lines


@pytest.mark.parametrize("kept", [False, True], ids=["memory", "file"])
@pytest.mark.parametrize("times", [1, 2])
def test_interrupts_leave_all_or_nothing(tmp_path: Path, kept: bool, times: int) -> None:
    lines = lines_of_dropping(tmp_path / "count.db" if kept else None)
    seen = set()
    # A prime step: with both numbers of faults, lines of every stage are hit.
    for i, place in enumerate(range(1 + times, lines, max(lines // 40, 1) | 1)):
        db = made(tmp_path / f"{i}.db" if kept else None)
        before = state(db)
        with pytest.raises(Interrupted), Faults((place, 7)[:times], Interrupted):
            db.drop_class("clerk")
            raise Interrupted  # the fault may have been put off until after the last line
        found = state(db)
        dropped = "clerk" not in found[0]
        seen.add(dropped)
        assert found == before if not dropped else found[:2] == (["person"], [("Bob", None)])
        assert db.verify()
        if not dropped:
            db.drop_class("clerk")
        assert state(db)[:2] == (["person"], [("Bob", None)])
        db.close()
    assert seen == {False, True}


def test_a_process_that_ends_between_the_two_commits_has_dropped_the_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    db = made(tmp_path / "whole.db")
    install = declaring.install

    def copy_and_install(*arguments: Any) -> None:
        db.backup(tmp_path / "killed.db")
        install(*arguments)

    monkeypatch.setattr(declaring, "install", copy_and_install)
    db.drop_class("clerk")
    monkeypatch.undo()
    db.close()
    for _ in range(2):  # the second time, nothing is left to do
        with ec.connect(tmp_path / "killed.db") as opened:
            assert state(opened) == (["person"], [("Bob", None)], [("Bob",)])
            assert "clerk" not in opened.schema_odl() and opened.verify()
    with ec.connect(tmp_path / "killed.db") as opened:
        opened.odl("class clerk extends person (extent clerks) { attribute long desk; };")
        opened.new("clerk", name="Cid", desk=2)
    with ec.connect(tmp_path / "killed.db") as opened:
        assert [c.name for c in opened.extent("clerks")] == ["Cid"]
