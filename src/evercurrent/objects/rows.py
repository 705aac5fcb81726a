"""Changes of rows as changes of objects: SQL's INSERT, UPDATE and DELETE on the table of a class.

    UPDATE Employees SET salary = 9 WHERE oid = 1      ann.salary = 9

A deleted and an inserted row with the same identity are an update: the fields that differ are written, so relationships and
handles stay right. An inserted row alone is a new object of the class; it gets a new identity, so the row must have none (or 0).
A deleted row alone is a deleted object. An object of a subclass may be changed through the table of a general class.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.nodes import Table
from evercurrent.data.zset import Row
from evercurrent.errors import ConstraintError, UnsupportedError
from evercurrent.objects.model.kinds import Kind
from evercurrent.objects.model.values import outside

if TYPE_CHECKING:
    from evercurrent.objects.model.registry import Registry
    from evercurrent.rows.pending import Change


def change_rows(space: Registry, table: Table, changes: Sequence[Change]) -> None:
    """Make these changes of a table of a class."""
    key = table.name.lower()
    if key not in space.sheets:
        raise UnsupportedError(
            f"{table.name} is a collection of objects; its rows cannot be changed one by one",
            hint="change the collection of its owner: owner.collection.add(element)",
        )
    kind = next(k for k, s in space.sheets[key] if k.declared.relation.lower() == key)
    gone: dict[int, Row] = {}
    come: list[Row] = []
    for row, weight in changes:
        if weight < 0:
            gone[row[0]] = row
        else:
            come.append(row)
    for row in come:
        if row[0] in gone:
            _update(space, kind, gone.pop(row[0]), row)
        else:
            _insert(space, kind, row)
    for oid in gone:
        space.delete(_require(space, table, oid))


def _require(space: Registry, table: Table, oid: int) -> Any:
    found = space.at(oid)
    if found is None:
        raise ConstraintError(f"{table.name} has no object {oid}", constraint="existing row", rows=[oid])
    return found


def _update(space: Registry, kind: Kind, old: Row, new: Row) -> None:
    thing = space.at(old[0])
    assert thing is not None
    sheet = next(s for s in kind.sheets if s.table == kind.declared.relation.lower())
    for f, before, after in zip(sheet.fields, old[1:], new[1:], strict=True):
        if before != after:
            thing[f.name] = outside(space, f.type)(after)


def _insert(space: Registry, kind: Kind, row: Row) -> None:
    if row[0]:
        raise ConstraintError(
            f"{kind.declared.relation}: a new object gets its identity from the database, not {row[0]}",
            constraint="oid",
            rows=[row],
            hint="insert the other columns, and 0 as oid",
        )
    sheet = next(s for s in kind.sheets if s.table == kind.declared.relation.lower())
    given = {
        f.name: outside(space, f.type)(value)
        for f, value in zip(sheet.fields, row[1:], strict=True)
        if value is not None
    }
    kind.cls(**given)
