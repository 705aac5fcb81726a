"""One graph twice: as plain objects for the oracle, and in a database.

Whatever is done is done to both; objects are known by their plain selves.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import evercurrent as ec
from tests.oql.events import Event, apply
from tests.oql.oracle.evaluate import Oracle
from tests.oql.oracle.model import Model, Object
from tests.oql.oracle.values import UNDEFINED, Bag, Dictionary, Set, Struct, key
from tests.oql.schemas import Schema


class Mirror:
    def __init__(self, schema: Schema, db: Any = None) -> None:
        self.schema = schema
        self.model = Model(list(schema.classes))
        self.db: Any = ec.connect() if db is None else db
        self.db.odl(schema.odl, operations=schema.operations)
        self.handles: dict[Object, Any] = {}
        self.plain: dict[int, Object] = {}
        self.oracle = Oracle(self.model)
        self.strict = Oracle(self.model, strict=True)
        self.story: list[str] = []

    # Changes

    def new(self, name: str, /, **values: Any) -> Object:
        made = self.happen(Event("new", name, value=values))
        assert made is not None
        return made

    def transaction(self, events: Iterable[Event]) -> None:
        with self.db.transaction():
            for e in events:
                self.happen(e)

    def happen(self, e: Event) -> Object | None:
        """One event, in both."""
        self.story.append(str(e))
        if e.kind == "new":
            handle = self.db.new(e.owner, **{p: self.inside(v) for p, v in e.value.items()})
            made = apply(self.model, e)
            assert made is not None
            self.handles[made], self.plain[handle.oid] = handle, made
            return made
        handle = self.handles[e.owner]
        value = self.inside(e.value)
        match e.kind:
            case "delete":
                self.db.delete(handle)
                del self.handles[e.owner]
            case "set":
                handle[e.prop] = value
            case "add":
                collection = handle[e.prop]
                (collection.append if isinstance(collection, list) else collection.add)(value)
            case "insert":
                handle[e.prop].insert(e.at, value)
            case "remove":
                handle[e.prop].remove(value)
            case "put":
                handle[e.prop][e.at] = value
            case "pop":
                del handle[e.prop][e.at]
            case _:
                raise AssertionError(e)
        return apply(self.model, e)

    def inside(self, value: Any) -> Any:
        """A plain value as the database takes it."""
        match value:
            case Object():
                return self.handles[value]
            case list():
                return [self.inside(v) for v in value]
            case dict():
                return {k: self.inside(v) for k, v in value.items()}
        return value

    # Reading

    def outside(self, value: Any) -> Any:
        """A value of the database as the oracle has it."""
        if value is None or isinstance(value, str | bool | int | float):
            return value
        if isinstance(value, datetime.datetime):
            return value.replace(tzinfo=None)
        if value is ec.UNDEFINED:
            return UNDEFINED
        if isinstance(value, ec.Object):
            return self.plain[value.oid]
        if isinstance(value, ec.Record):
            return Struct(tuple((n, self.outside(v)) for n, v in value.items()))
        if isinstance(value, Mapping):
            return Dictionary({k: self.outside(v) for k, v in value.items()})
        if isinstance(value, AbstractSet):
            return Set(self.outside(v) for v in value)
        if isinstance(value, list | tuple):
            return [self.outside(v) for v in value]
        if {k.__name__ for k in type(value).__mro__} & {"Bag", "OwnedBag"}:
            return Bag(self.outside(v) for v in value)
        return value

    def state(self) -> dict[str, Any]:
        """Every property of every object, on both sides; for comparison."""
        found: dict[str, Any] = {}
        for plain, handle in self.handles.items():
            for prop in self.model.properties(plain.of.name):
                theirs = self.outside(handle[prop])
                mine = self.model.read(plain, prop)
                if key(theirs) != key(mine):
                    found[f"{plain!r}.{prop}"] = (theirs, mine)
        return found

    def asked(self, text: str) -> Any:
        """What the database answers once."""
        return self.outside(self.db.query(text, language="oql"))

    def shown(self, view: str) -> Any:
        return self.outside(self.db.view(view).value())
