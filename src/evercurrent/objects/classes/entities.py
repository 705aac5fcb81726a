"""Classes written in Python, with the same meaning as ODL.

    class Person(ec.Entity, extent="Persons", key="name"):
        name: str
        age: Annotated[int, "unsigned short"]

    class Employee(Person, extent="Employees"):
        dept: Annotated[Department | None, ec.Inverse("employees")]
        dependents: set[Person]

        @ec.operation
        def yearly(self) -> int:
            return self.salary * 12

An annotation is a type of Python's (`int` is a long long, `float` a double, `Decimal` a decimal(38, 18), a `Literal` or an
`Enum` an enum, a NamedTuple, TypedDict or dataclass a struct, another entity a reference, `set`, `list`, `dict` and `Bag` the
collections) or carries the ODL of its type as text. After `db.declare(Person, Employee)` calling the class makes an object of the database.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import inspect
import sys
import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar, dataclass_transform

from evercurrent.catalog.classes import (
    Attribute,
    Class,
    Limit,
    Operation,
    Path,
    Property,
    Relationship,
    Schema,
)
from evercurrent.catalog.wellformed import check
from evercurrent.data.collections import Bag
from evercurrent.data.showing import show_value
from evercurrent.data.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    MICROS,
    STRING,
    TIME,
    TIMESTAMP,
    Collection,
    Decimal,
    Map,
    Member,
    Reference,
    Struct,
    Type,
)
from evercurrent.errors import QueryError
from evercurrent.frontend.odl.parse import parse_type
from evercurrent.frontend.odl.resolve import Resolver, under
from evercurrent.frontend.odl.syntax import Text

Limits = tuple[tuple[Path, Limit], ...]
F = TypeVar("F", bound=Callable[..., Any])

SIMPLE: dict[Any, Type] = {
    int: BIGINT,
    str: STRING,
    float: DOUBLE,
    bool: BOOLEAN,
    bytes: BINARY,
    datetime.date: DATE,
    datetime.time: TIME,
    datetime.datetime: TIMESTAMP,
    datetime.timedelta: MICROS,
    decimal.Decimal: Decimal(38, 18),
}
COLLECTIONS: dict[Any, Literal["set", "bag", "list"]] = {
    set: "set",
    frozenset: "set",
    list: "list",
    tuple: "list",
    Sequence: "list",
    Bag: "bag",
}


@dataclass(frozen=True, slots=True)
class Inverse:
    """In an annotation: the property is a relationship, and this is its other end."""

    name: str


READONLY = "readonly"
KEPT_AS_ARRAY = "kept as array"


def operation(function: F) -> F:
    """Declare a method to be an operation of the class: a pure function that queries may call."""
    function.__operation__ = True  # type: ignore[attr-defined]
    return function


EMPTY: Any = object()


def empty() -> Any:
    """In the body of a class, the default of a collection: `parts: set[Part] = ec.empty()`. It may be left out of a call then."""
    return EMPTY


class Declared:
    """What the class statement says besides its body."""

    def __init__(
        self, name: str, parent: str | None, extent: str | None, keys: tuple[tuple[str, ...], ...]
    ) -> None:
        self.name, self.parent, self.extent, self.keys = name, parent, extent, keys
        self.made: type[Any] | None = None
        self.defaults: dict[str, Any] = {}  # values that the body gives to properties


@dataclass_transform(kw_only_default=True, eq_default=False)
class EntityType(type):
    """The class of entities: an entity stands for the class that a database has made of it."""

    __entity__: Declared

    if not TYPE_CHECKING:  # checkers of types read the parameters off the annotations

        def __call__(cls, /, *args: Any, **values: Any) -> Any:
            made = cls.__entity__.made if "__entity__" in vars(cls) else None
            if made is None:
                raise QueryError(
                    f"{cls.__name__} belongs to no database yet", hint=f"db.declare({cls.__name__})"
                )
            for name, value in cls.__entity__.defaults.items():
                if name not in values and name in made._kind.named:
                    values[name] = value
            return made(*args, **values)

    def __instancecheck__(cls, thing: Any) -> bool:
        made = cls.__entity__.made if "__entity__" in vars(cls) else None
        return made is not None and isinstance(thing, made)


class Entity(metaclass=EntityType):
    """The base of classes written in Python."""

    oid: ClassVar[int]

    def __init_subclass__(
        cls,
        *,
        name: str | None = None,
        extent: str | None = None,
        key: str | Sequence[str] | None = None,
        keys: Sequence[str | Sequence[str]] = (),
    ) -> None:
        super().__init_subclass__()
        parents = [b for b in cls.__bases__ if isinstance(b, EntityType) and b is not Entity]
        if len(parents) > 1:
            raise QueryError(f"{cls.__name__}: a class can extend only one class")
        every = ([key] if key is not None else []) + list(keys)
        cls.__entity__ = Declared(
            name or cls.__name__,
            parents[0].__entity__.name if parents else None,
            extent,
            tuple((k,) if isinstance(k, str) else tuple(k) for k in every),
        )
        inherited = parents[0].__entity__.defaults if parents else {}
        own = {
            n: vars(cls)[n]
            for n in vars(cls).get("__annotations__", {})
            if n in vars(cls) and vars(cls)[n] is not EMPTY
        }
        cls.__entity__.defaults = {**inherited, **own}


# --- to the schema -----------------------------------------------------------------------------------------


def schema_of(entities: tuple[Any, ...], schema: Schema) -> Schema:
    """The schema with these classes added."""
    found = dict(schema.classes)
    for e in entities:
        if not isinstance(e, EntityType) or "__entity__" not in vars(e):
            raise QueryError(
                f"{show_value(e)} is not a class of objects", hint="class Person(ec.Entity): ..."
            )
    names = {e.__name__: e for e in entities}
    for e in entities:
        declared = e.__entity__
        if declared.name in found:
            raise QueryError(f"there is already a class {declared.name}", hint="db.drop_class drops it")
        found[declared.name] = _class(e, names)
    made = Schema(found)
    check(made)
    return made


def bodies_of(entities: tuple[Any, ...]) -> dict[str, dict[str, Any]]:
    """Methods and properties of the classes, by the names of the classes."""
    return {
        e.__entity__.name: {
            n: v
            for n, v in vars(e).items()
            if isinstance(v, types.FunctionType | property | classmethod | staticmethod)
            and n not in ("__init_subclass__", "__init__", "__setattr__", "__getattribute__")
        }
        | {"__doc__": e.__doc__}
        for e in entities
    }


def operations_of(entities: tuple[Any, ...]) -> dict[str, Callable[..., Any]]:
    """The functions of the operations of classes, by "class.operation"."""
    return {f"{e.__entity__.name}.{n}": f for e in entities for n, f in vars(e).items() if _is_operation(f)}


def _is_operation(thing: Any) -> bool:
    return isinstance(thing, types.FunctionType) and getattr(thing, "__operation__", False) is True


def _class(e: Any, names: dict[str, Any]) -> Class:
    declared = e.__entity__
    scope = {**vars(sys.modules.get(e.__module__, typing)), **names}
    own = type(e.__name__, (), {"__annotations__": vars(e).get("__annotations__", {})})
    try:
        hints = typing.get_type_hints(own, scope, names, include_extras=True)
    except NameError as problem:
        raise QueryError(
            f"{e.__name__}: {problem}",
            hint="declare the classes that refer to each other in one db.declare(...)",
        ) from None
    properties: list[Property] = []
    for name, hint in hints.items():
        if typing.get_origin(hint) is not ClassVar:
            properties.append(_property(e, name, hint))
    operations = [_operation(n, f, scope) for n, f in vars(e).items() if _is_operation(f)]
    return Class(
        declared.name, declared.parent, declared.extent, declared.keys, tuple(properties), tuple(operations)
    )


def _property(e: Any, name: str, hint: Any) -> Property:
    what = f"{e.__name__}.{name}"
    extras: tuple[Any, ...] = ()
    if typing.get_origin(hint) is Annotated:
        hint, *rest = typing.get_args(hint)
        extras = tuple(rest)
    t, limits = _type(what, hint, extras)
    for extra in extras:
        if isinstance(extra, Inverse):
            target = t.element if isinstance(t, Collection) else t
            if not isinstance(target, Reference):
                raise QueryError(f"{what} is a relationship, so it must refer to an entity, not to {t}")
            kind = t.kind if isinstance(t, Collection) else "one"
            return Relationship(name, target.target, kind, extra.name)
    own = dict(limits).get((), Limit())
    return Attribute(
        name,
        t,
        READONLY in extras,
        "array" if KEPT_AS_ARRAY in extras else "table",
        own.least,
        own.greatest,
        own.labels,
        inner=tuple(x for x in limits if x[0]),
    )


def _operation(name: str, function: Callable[..., Any], scope: dict[str, Any]) -> Operation:
    hints = typing.get_type_hints(function, scope, include_extras=True)
    if "return" not in hints:
        raise QueryError(f"operation {name} needs the type of its result: def {name}(self) -> int")
    parameters = []
    for parameter in list(inspect.signature(function).parameters)[1:]:
        if parameter not in hints:
            raise QueryError(f"operation {name}: the parameter {parameter} needs a type")
        parameters.append(Member(parameter, _type(name, hints[parameter], ())[0]))
    return Operation(name, tuple(parameters), _type(name, hints["return"], ())[0], function)


def _type(what: str, hint: Any, extras: tuple[Any, ...]) -> tuple[Type, Limits]:
    """The type of an annotation, and the limits of its parts."""
    for extra in extras:
        if isinstance(extra, str) and extra not in (READONLY, KEPT_AS_ARRAY):
            return Resolver(Text((), ()), Schema()).type(parse_type(extra))
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return _type(what, args[0], tuple(args[1:]))
    if origin in (typing.Union, types.UnionType):
        some = [a for a in args if a is not type(None)]
        if len(some) == 1:
            return _type(what, some[0], ())
    elif origin is Literal and all(isinstance(a, str) for a in args):
        return STRING, (((), Limit(labels=args)),)
    elif origin in COLLECTIONS and args:
        t, limits = _type(what, args[0], ())
        return Collection(COLLECTIONS[origin], t), under("element", limits)
    elif origin is dict:
        k, key_limits = _type(what, args[0], ())
        v, value_limits = _type(what, args[1], ())
        return Map(k, v), under("key", key_limits) + under("value", value_limits)
    elif hint in SIMPLE:
        return SIMPLE[hint], ()
    elif isinstance(hint, EntityType):
        return Reference(hint.__entity__.name), ()
    elif isinstance(hint, type) and issubclass(hint, enum.Enum):
        return STRING, (((), Limit(labels=tuple(hint.__members__))),)
    elif (members := _members(hint)) is not None:
        found: list[Member] = []
        all_limits: Limits = ()
        for name, member in members.items():
            t, limits = _type(f"{what}.{name}", member, ())
            found.append(Member(name, t))
            all_limits += under(name, limits)
        return Struct(tuple(found)), all_limits
    raise QueryError(
        f"{what}: {hint!r} is not a type for a property",
        hint="give its ODL: Annotated[int, 'unsigned short']",
    )


def _members(hint: Any) -> dict[str, Any] | None:
    """The members of what is a struct."""
    if not isinstance(hint, type):
        return None
    if dataclasses.is_dataclass(hint) or hasattr(hint, "_fields") or typing.is_typeddict(hint):
        return typing.get_type_hints(hint, include_extras=True)
    return None
