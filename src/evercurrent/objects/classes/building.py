"""Builds a Python class for each class of the schema, and compiles its methods again when its readers change.

kind = build(space, schema.classes["employee"])
kind.cls(name="Ann")                            <employee 1: name='Ann'>
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.classes import Attribute, Class, Property
from evercurrent.catalog.extents import Inside, Single, place_of
from evercurrent.data.types import Collection, Map, Reference, Struct
from evercurrent.errors import QueryError
from evercurrent.objects.classes.class_source import PRIVATE, Traits, name_parameters, rows_source, source
from evercurrent.objects.classes.readers import Readers
from evercurrent.objects.classes.structs import OwnedStruct
from evercurrent.objects.collections.owned import Owned, OwnedBag, OwnedSet
from evercurrent.objects.collections.positioned import OwnedDict, OwnedList
from evercurrent.objects.model.handles import Object, unavailable_error
from evercurrent.objects.model.kinds import Field, Kind, Sheet, fields_of
from evercurrent.objects.model.values import Function, inside, taker

if TYPE_CHECKING:
    from evercurrent.objects.model.registry import Registry

OWNED: dict[str, type[Owned]] = {"set": OwnedSet, "bag": OwnedBag, "list": OwnedList, "dictionary": OwnedDict}


def build(space: Registry, declared: Class) -> Kind:
    """The kind of a class: fields, sheets and the Python class, which cannot be used before it is written."""
    schema = space.schema
    kind = Kind(space, declared, schema.lineage(declared.name))
    kind.fields = tuple(fields_of(space, declared.name, partial(_taker_of, space), _unset))
    kind.named = {f.name: f for f in kind.fields}
    kind.sheets = tuple(
        Sheet(
            c.relation.lower(),
            c.relation,
            tuple(
                f
                for f in kind.fields
                if f.name in schema.properties(c.name)
                and isinstance(place_of(schema, c.name, f.name), Single | Inside)
            ),
        )
        for c in kind.lineage
    )
    parent = space.kinds[declared.parent].cls if declared.parent else Object
    own = [f for f in kind.fields if f.declaring.name == declared.name]
    body: dict[str, Any] = {"__slots__": tuple(f"_{f.position}" for f in own), "_kind": kind}
    body["__module__"] = "evercurrent.objects"
    body.update(space.bodies.get(declared.name, {}))
    for o in declared.operations:
        body[o.name] = _method(declared, o.name, o.function)
    kind.cls = type(declared.name, (parent,), body)
    kind.deleted = _build_closed_class(kind, "was deleted")
    kind.undone = _build_closed_class(kind, "was never made")
    for f in kind.fields:
        f.slot = getattr(kind.cls, f"_{f.position}")
        f.get = attrgetter(f"_{f.position}")
        if isinstance(f.type, Struct):
            f.get = _struct_getter(f)
        if f.many:
            f.owned = _build_owned_class(space, kind, f)
            f.closed = _build_closed_collection(f.owned)
    write_rows(kind)
    return kind


def _taker_of(space: Registry, property: Property, declaring: Class) -> Function:
    """Returns what takes in the values of a property, or the elements of a collection."""
    what = f"{declaring.name}.{property.name}"
    attribute = property if isinstance(property, Attribute) else Attribute(property.name, property.type)
    match property.type:
        case Collection(_, element):
            return taker(space, attribute, element, ("element",), what)
        case Map(_, value):
            return taker(space, attribute, value, ("value",), what)
        case t:
            return taker(space, attribute, t, (), what)


def _struct_getter(f: Field) -> Callable[[Any], Any]:
    held = attrgetter(f"_{f.position}")

    def get(thing: Any) -> Any:
        if held(thing) is None:
            return None
        return OwnedStruct(lambda: held(thing), lambda new: f.set(thing, new))

    return get


def _unset(thing: Any, value: Any) -> None:
    raise AssertionError("the class is not written yet")


def _method(declared: Class, name: str, function: Callable[..., Any] | None) -> Any:
    if function is not None:
        return function

    def unbound(self: Object, *arguments: Any) -> Any:
        raise QueryError(
            f"the operation {declared.name}.{name} has no function",
            hint=f'db.odl(text, operations={{"{declared.name}.{name}": function}}) binds one',
        )

    unbound.__name__ = name
    return unbound


def _build_closed_class(kind: Kind, why: str) -> type[Object]:
    def fail(self: Object, *_: Any) -> Any:
        raise unavailable_error(self)

    body: dict[str, Any] = {"__slots__": (), "_gone": why, "__getitem__": fail, "__setitem__": fail}
    body["__module__"] = "evercurrent.objects"
    body["__repr__"] = lambda self: f"<{kind.name} {self.oid}, which {why}>"
    for name in (*kind.named, *kind.space.schema.operations(kind.name)):
        body[name] = property(fail, fail)
    return type(kind.name, (kind.cls,), body)


def _build_owned_class(space: Registry, kind: Kind, f: Field) -> type:
    t = f.type
    base = OWNED[t.kind] if isinstance(t, Collection) else OwnedDict
    assert isinstance(t, Collection | Map)
    body: dict[str, Any] = {
        "__slots__": (),
        "space": space,
        "field": f,
        "what": f"{kind.name}.{f.name}",
        "take": staticmethod(f.take),
        "element_inside": staticmethod(inside(t.element if isinstance(t, Collection) else t.value)),
    }
    if isinstance(t, Map):
        assert isinstance(f.declaration, Attribute)
        what = f"{kind.name}.{f.name}"
        body["key_take"] = staticmethod(taker(space, f.declaration, t.key, ("key",), what))
        body["key_inside"] = staticmethod(inside(t.key))
    return type(f"{kind.name}.{f.name}", (base,), body)


def _build_closed_collection(owned: type) -> type:
    """The same collection of a deleted object: every change asks the owner first, which refuses."""
    base = owned.__bases__[0]
    own = ("add", "remove", "append", "insert_element", "remove_element")
    slow = {name: vars(base)[name] for name in own if name in vars(base)}
    return type(owned.__name__, (owned,), {"__slots__": (), **slow})


# --- functions ---------------------------------------------------------------------------------------------


def write_rows(kind: Kind) -> None:
    """Write the functions that read rows and snapshots off objects."""
    names: dict[str, Any] = {f"{PRIVATE}in{f.position}": f.inside for f in kind.fields}
    _run(rows_source(kind), names, f"rows of {kind.name}")
    kind.snapshot, kind.restore = names["snapshot"], names["restore"]
    for n, sheet in enumerate(kind.sheets):
        sheet.row, sheet.before = names[f"row_{n}"], names[f"before_{n}"]


def rewrite(kind: Kind, shared: Mapping[str, Any], traits: Traits, readers: Readers | None) -> None:
    """Give a class the constructor and the setters that its readers ask for.

    `shared` is what their source refers to; `readers` are None where no view is updated at once. All of them, whenever they were written, share these names; and `make` stays one function, so that
    objects made by it reach every view, also if somebody holds it for long.
    """
    space, names = kind.space, kind.names
    names.update({PRIVATE + name: value for name, value in shared.items()})
    for f in kind.fields:
        i = f.position
        names[f"{PRIVATE}in{i}"], names[f"{PRIVATE}take{i}"], names[f"{PRIVATE}f{i}"] = f.inside, f.take, f
        names[f"{PRIVATE}owned{i}"] = f.owned
        if isinstance(f.type, Reference):
            names[f"{PRIVATE}t{i}"] = space.kinds[f.type.target].cls
    for n, _ in traits.reads:
        assert readers is not None
        table = kind.sheets[n].table
        names[f"{PRIVATE}i{n}"] = readers.apart(table, 1, traits.journal, True)
        names[f"{PRIVATE}d{n}"] = readers.apart(table, -1, traits.journal, True)
    names[f"{PRIVATE}place"] = partial(_place, kind)
    if traits == kind.traits:
        return
    kind.traits = None  # until all is written: an interrupt must not leave a class half written
    _run(source(kind, traits, kind.fields), names, f"class {kind.name}")
    for function in (names["__init__"], names["make"]):
        name_parameters(function, kind)
    cls: Any = kind.cls
    cls.__init__ = names["__init__"]
    if kind.make is None:
        kind.make = names["make"]
    else:
        kind.make.__code__ = names["make"].__code__
    for f in kind.fields:
        f.set = (
            _readonly(kind, f) if _is_readonly(f) else (_assign(f) if f.many else names[f"set_{f.position}"])
        )
        if not f.name.startswith("__"):
            setattr(cls, f.name, property(f.get, f.set))
    kind.traits = traits


def _place(
    kind: Kind, given: Sequence[Any], unknown: Mapping[str, Any], named: Sequence[Any]
) -> tuple[Any, ...]:
    """Returns the values of a new object's properties; of `given`, the first is that of the first property.

    Refuses values for properties that the class does not have, and suggests what was meant; and two values for one property.
    """
    for name in unknown:
        kind.field(name)
    count = len(given)
    if count > len(named):
        raise QueryError(
            f"{kind.name} takes at most {len(named)} values, one for each property, not {count}",
            hint=f"it has {', '.join(kind.named) or 'no properties'}",
        )
    for f, value in zip(kind.fields, named[:count], strict=False):
        if value is not None:
            raise QueryError(
                f"{kind.name}.{f.name} is given twice: by its place, and by its name", hint="leave one out"
            )
    return (*given, *named[count:])


def _is_readonly(f: Field) -> bool:
    return isinstance(f.declaration, Attribute) and f.declaration.readonly


def _readonly(kind: Kind, f: Field) -> Callable[[Any, Any], None]:
    def refuse(thing: Any, value: Any) -> None:
        raise QueryError(
            f"{kind.name}.{f.name} is readonly", hint="it gets its value when the object is made"
        )

    return refuse


def _assign(f: Field) -> Callable[[Any, Any], None]:
    get = f.get

    def assign(thing: Any, value: Any) -> None:
        held = get(thing)
        if held is not value:  # `a.items += [x]` assigns the collection to itself
            held.assign(value)

    return assign


def _run(text: str, names: dict[str, Any], what: str) -> None:
    file = f"<evercurrent {what}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    exec(compile(text, file, "exec"), names)
