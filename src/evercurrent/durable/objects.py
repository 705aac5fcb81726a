"""Makes the objects of a file: from the rows of the tables of classes.

    employees (1, 'Ann', 2)      the object 1, whose `dept` is the object 2

First all objects are made, with the attributes that refer to no object; then references, relationships and collections are set, as a
program would set them. Nothing watches meanwhile: views are filled afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.extents import OWNER, Apart
from evercurrent.data.types import Map
from evercurrent.data.zset import Row
from evercurrent.errors import ConstraintError, QueryError, StorageError
from evercurrent.objects.declaring import attach
from evercurrent.objects.model.kinds import Field, Kind
from evercurrent.objects.model.values import outside
from evercurrent.objects.space import Space
from evercurrent.session.session import Session


def load_objects(session: Session, catalog: Catalog, rows: Mapping[str, list[Row]], identities: int) -> None:
    """Makes the classes of the catalog, and all objects of these rows (by lower-cased tables)."""
    space = attach(session)
    space.add(catalog.schema)
    space.refresh()
    try:
        own = _rows_by_kind(space, rows)
        _make(space, own, identities)
        for kind, kind_rows in own.items():
            _set_references(space, space.kinds[kind], kind_rows)
        for table, owners in space.apart.items():
            _fill_collections(space, owners, rows.get(table, []))
    except (ConstraintError, QueryError, LookupError, TypeError, ValueError) as problem:
        raise StorageError(
            f"the objects in the file do not fit together: {problem}",
            hint="the file was changed by another program; restore it from a backup",
        ) from problem
    space.work.clear()


def _rows_by_kind(space: Space, rows: Mapping[str, list[Row]]) -> dict[str, dict[int, Row]]:
    """Returns the row of each object in the table of its own class. A general class has rows of special ones, too."""
    found: dict[str, dict[int, Row]] = {}
    seen: set[int] = set()
    by_depth = sorted(space.kinds.values(), key=lambda k: -len(k.lineage))
    for kind in by_depth:
        own = {row[0]: row for row in rows.get(kind.declared.relation.lower(), []) if row[0] not in seen}
        seen |= own.keys()
        found[kind.name] = own
    return found


def _make(space: Space, own: Mapping[str, Mapping[int, Row]], identities: int) -> None:
    """Makes the objects in the order of their identities; those that were deleted leave a gap."""
    order = sorted((oid, name) for name, rows in own.items() for oid in rows)
    fields = {name: _fields(space.kinds[name]) for name in own}
    for oid, name in order:
        _leave_gaps(space, oid)
        row = own[name][oid]
        given = {
            f.name: outside(space, f.type)(row[i])
            for i, f in fields[name]
            if row[i] is not None and not _waits(f)
        }
        made = space.kinds[name].make(**given)
        if made.oid != oid:
            raise ValueError(f"{oid} is no identity")
    _leave_gaps(space, identities)


def _leave_gaps(space: Space, oid: int) -> None:
    space.list_new_objects()
    missing = oid - len(space.live)
    if missing > 0:
        space.live.extend([None] * missing)
        space.listed = len(space.live)


def _fields(kind: Kind) -> list[tuple[int, Field]]:
    """Returns the fields of a kind in its own table, each with the position of its column."""
    sheet = next(s for s in kind.sheets if s.table == kind.declared.relation.lower())
    return list(enumerate(sheet.fields, 1))


def _waits(f: Field) -> bool:
    """Returns whether a field can be set only when all objects are there."""
    return f.refers or f.relationship is not None


def _set_references(space: Space, kind: Kind, rows: Mapping[int, Row]) -> None:
    waiting = [(i, f, outside(space, f.type)) for i, f in _fields(kind) if _waits(f)]
    for oid, row in rows.items():
        thing = space.at(oid)
        assert thing is not None
        for i, f, of in waiting:
            if row[i] is None:
                continue
            value = of(row[i])
            if f.many:
                f.slot.__get__(thing).assign(value)
            else:
                space.set(thing, f, f.take(value))


def _fill_collections(space: Space, owners: list[tuple[Kind, Field]], rows: list[Row]) -> None:
    """Fills the collections that have a table of their own."""
    by_owner: dict[int, list[Row]] = {}
    for row in rows:
        by_owner.setdefault(row[0], []).append(row)
    fields = {kind.name: f for kind, f in owners}
    for oid, found in by_owner.items():
        thing: Any = space.at(oid)
        f = fields[thing._kind.name]
        assert isinstance(f.place, Apart) and f.place.owner == OWNER
        of = outside(space, f.place.element)
        if isinstance(f.type, Map):
            key_of = outside(space, f.type.key)
            f.slot.__get__(thing).assign({key_of(row[1]): of(row[2]) for row in found})
        elif f.place.position is not None:
            f.slot.__get__(thing).assign([of(row[2]) for row in sorted(found, key=lambda r: r[1])])
        else:
            f.slot.__get__(thing).assign([of(row[1]) for row in found])
