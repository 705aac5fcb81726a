"""Changes of object graphs: every kind of event that figure 8 of Ali, Fernandes, Paton (2000) names, and lists and dictionaries.

    new, delete                    insert into and delete from an extent, whether still referenced or not
    set                            modify an attribute, a reference, either end of a relationship, a whole collection
    add, insert, remove            insert and delete an element of a collection, at either end of a relationship
    put, pop                       assign and delete an index of a list or a key of a dictionary

An event is chosen on the plain model and told in terms of it; `apply` makes it happen there, `Mirror.apply` in a database.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.laws.chooser import Chooser
from tests.oql.oracle.model import MANY, Model, Object
from tests.oql.oracle.values import key

NAMES = ("Ann", "Ben", "Cat", "dev", "ops", "An%", "")
MOODS = ("calm", "cross", "asleep")


@dataclass(frozen=True)
class Event:
    kind: str
    owner: Any  # the object, or of "new" the name of the class
    prop: str = ""
    value: Any = None
    at: Any = None

    def __str__(self) -> str:
        parts = [repr(self.owner), self.prop, repr(self.value), "" if self.at is None else f"at {self.at!r}"]
        return f"{self.kind} {' '.join(p for p in parts if p)}"


def value(c: Chooser, model: Model, t: Any, prop: str = "") -> Any:
    """A value of a type, as an attribute takes it in."""
    match t:
        case ("class", name):
            found = [o for o in model.objects if model.is_a(o.of.name, name)]
            return None if not found or c.chance(15) else c.pick(found)
        case ("struct", fields):
            return None if c.chance(10) else {n: value(c, model, ft) for n, ft in fields}
        case ("set", of):
            return distinct([v for v in several(c, model, of) if not isinstance(of, tuple) or v is not None])
        case ("bag" | "list", of):
            return [v for v in several(c, model, of) if not isinstance(of, tuple) or v is not None]
        case ("dictionary", _, of):
            return {c.pick(("k", "l", "m")): value(c, model, of) for _ in range(c.number(0, 3))}
    if c.chance(12):
        return None
    if prop == "mood":
        return c.pick(MOODS)
    made: dict[str, Callable[[], Any]] = {
        "int": lambda: c.number(0, 6),
        "float": lambda: c.number(0, 8) / 4,
        "decimal": lambda: Decimal(c.number(0, 500)).scaleb(-2),
        "string": lambda: c.pick(NAMES),
        "boolean": lambda: c.chance(50),
        "date": lambda: datetime.date(2001, c.number(1, 3), c.number(1, 3)),
        "timestamp": lambda: datetime.datetime(2001, 1, c.number(1, 3), 10),
    }
    return made[t]()


def several(c: Chooser, model: Model, of: Any) -> list[Any]:
    return [value(c, model, of) for _ in range(c.number(0, 3))]


def distinct(items: list[Any]) -> list[Any]:
    return list({key(i): i for i in items}.values())


def new(c: Chooser, model: Model, name: str) -> Event:
    props = model.properties(name)
    given = {}
    for prop, t in props.items():
        if c.chance(75):
            made = value(c, model, t, prop)
            given[prop] = distinct(made) if model.inverse(name, prop) and isinstance(made, list) else made
    return Event("new", name, value=given)


def event(c: Chooser, model: Model) -> Event:
    """Some event that can happen now."""
    if not model.objects or c.chance(15):
        return new(c, model, c.pick(list(model.classes)))
    owner = c.pick(model.objects)
    if c.chance(10):
        return Event("delete", owner)
    props = model.properties(owner.of.name)
    many = [p for p, t in props.items() if t[0] in MANY]
    prop = c.pick(many if many and c.chance(45) else list(props))
    t = props[prop]
    related = model.inverse(owner.of.name, prop) is not None
    if t[0] not in MANY or c.chance(15):
        made = value(c, model, t, prop)
        return Event("set", owner, prop, distinct(made) if related and isinstance(made, list) else made)
    held = owner.values[prop]
    if t[0] == "dictionary":
        if held and c.chance(40):
            return Event("pop", owner, prop, at=c.pick(list(held)))
        return Event("put", owner, prop, value(c, model, t[2]), c.pick(("k", "l", "m")))
    if held and c.chance(40):
        if t[0] == "list" and c.chance(50):
            return Event("pop", owner, prop, at=c.number(0, len(held) - 1))
        return Event("remove", owner, prop, c.pick(held))
    made = value(c, model, t[1])
    if isinstance(t[1], tuple) and (made is None or (related and made in held)):
        return event(c, model)
    if t[0] == "list" and held and c.chance(60):
        at = c.number(0, len(held) - 1)
        return Event("put" if c.chance(50) else "insert", owner, prop, made, at)
    return Event("add", owner, prop, made)


def sweep(c: Chooser, model: Model) -> Iterator[Callable[[], Event | None]]:
    """One event of every kind for every class and property; each is chosen when its turn comes."""
    for name in model.classes:
        yield lambda name=name: new(c, model, name)
        for prop, t in model.properties(name).items():
            many = t[0] in MANY
            for kind in (
                "set",
                *(("add", "remove") if many else ()),
                *(("put", "pop") if t[0] == "list" else ()),
            ):
                yield lambda kind=kind, name=name, prop=prop: of_kind(c, model, kind, name, prop)
    for name in model.classes:
        yield lambda name=name: of_kind(c, model, "delete", name, "")


def of_kind(c: Chooser, model: Model, kind: str, name: str, prop: str) -> Event | None:
    """An event of a kind at some object of a class, if there can be one."""
    owners = [o for o in model.objects if model.is_a(o.of.name, name)]
    if kind in ("remove", "put", "pop"):
        owners = [o for o in owners if o.values[prop]]
    if not owners:
        return None
    owner = c.pick(owners)
    if kind == "delete":
        return Event("delete", owner)
    t = model.properties(name)[prop]
    held = owner.values[prop]
    match kind:
        case "set":
            made = value(c, model, t, prop)
            related = model.inverse(name, prop) is not None
            return Event("set", owner, prop, distinct(made) if related and isinstance(made, list) else made)
        case "remove":
            return Event("remove", owner, prop, c.pick(held))
        case "pop":
            return Event("pop", owner, prop, at=c.number(0, len(held) - 1))
    if t[0] == "dictionary":
        return Event("put", owner, prop, value(c, model, t[2]), c.pick(("k", "l", "m")))
    made = value(c, model, t[1])
    if isinstance(t[1], tuple) and (made is None or (model.inverse(name, prop) and made in held)):
        return None
    return Event(kind, owner, prop, made, c.number(0, len(held) - 1) if kind == "put" else None)


def apply(model: Model, e: Event) -> Object | None:
    """Make it happen in the plain model; the new object, if there is one."""
    match e.kind:
        case "new":
            return model.new(e.owner, **e.value)
        case "delete":
            model.delete(e.owner)
        case "set":
            model.set(e.owner, e.prop, e.value)
        case "add" | "insert":
            model.add(e.owner, e.prop, e.value, e.at)
        case "remove":
            model.remove(e.owner, e.prop, e.value)
        case "put":
            model.put(e.owner, e.prop, e.at, e.value)
        case "pop":
            model.pop(e.owner, e.prop, e.at)
        case _:
            raise AssertionError(e)
    return None
