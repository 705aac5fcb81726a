"""Queries as JSON, and back.

Law. `decode(encode(q)) == q`, opaque functions apart. What can be decoded is a closed list of node classes and plain values:
a text from elsewhere can name no other class and run no code. An opaque function is kept as `module:qualname`; when it is
called, it is the one that the program has handed over under this path (`term.handed_over`). Nothing is imported by a path.

>>> from evercurrent.data.types import INT, Member
>>> from evercurrent.calculus.nodes import Relation
>>> edges = Relation("edge", (Member("src", INT, False),))
>>> decode(encode(edges)) == edges
True
"""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import math
from collections.abc import Mapping
from typing import Any

from evercurrent.calculus import nodes as calculus
from evercurrent.calculus.well_formed import require_fields
from evercurrent.data import types
from evercurrent.data.shapes import Shape
from evercurrent.data.values import NAN, FrozenMap
from evercurrent.errors import QueryError, StorageError
from evercurrent.source import Place
from evercurrent.term import nodes as terms
from evercurrent.term.handed_over import HandedOver, Named, NamedClass
from evercurrent.term.located import can_be_found, path_of
from evercurrent.term.monoid import MonoidFunctions
from evercurrent.term.opaque import OfObject, Strict, Truth

NODES: Mapping[str, type] = {
    cls.__name__: cls
    for cls in (
        *(types.Null, types.Boolean, types.Integer, types.Float, types.Decimal, types.String, types.Binary),
        *(
            types.Date,
            types.Time,
            types.Timestamp,
            types.Interval,
            types.Array,
            types.Map,
            types.Member,
            types.Struct,
        ),
        *(types.Collection, types.Reference),
        *(terms.Literal, terms.Column, terms.Variable, terms.Field, terms.Call, terms.Case, terms.Cast),
        *(terms.Record, terms.Lambda, terms.Opaque, terms.Apply, terms.SortKey, terms.Aggregate, terms.Frame),
        terms.WindowFunction,
        *(calculus.Relation, calculus.Values, calculus.Comprehension, calculus.Union, calculus.SetOperation),
        *(calculus.FullOuter, calculus.Group, calculus.Window, calculus.Top, calculus.Definition),
        *(calculus.Fixpoint, calculus.Generator, calculus.OuterGenerator, calculus.Unnest, calculus.Filter),
        *(calculus.Scalar, calculus.Exists, calculus.Quantified),
        *(Shape, MonoidFunctions, Truth, Strict, OfObject),
    )
}
"""All that a text can name."""

FORGOTTEN = frozenset(("place", "number", "home"))
"""Fields that say nothing about what a node means."""


# --- out ---------------------------------------------------------------------------------------------------


def encode(node: Any) -> Any:
    """A query, and whatever is in it, as what JSON can hold."""
    match node:
        case None | bool() | int() | str():
            return node
        case float():
            return node if math.isfinite(node) else {"float": repr(node)}
        case tuple():
            return [encode(x) for x in node]
        case bytes():
            return {"bytes": base64.b64encode(node).decode()}
        case datetime.datetime():
            return {"datetime": node.isoformat()}
        case datetime.date():
            return {"date": node.isoformat()}
        case decimal.Decimal():
            return {"decimal": str(node)}
        case FrozenMap():
            return {"map": [[encode(k), encode(v)] for k, v in node.items()]}
        case frozenset():
            return {"set": sorted((encode(x) for x in node), key=repr)}
        case Place():
            return None
        case NamedClass(path):
            return {"class": path}
        case Named(path):
            return {"function": path}
    if dataclasses.is_dataclass(node) and NODES.get(type(node).__name__) is type(node):
        fields = {f.name: getattr(node, f.name) for f in dataclasses.fields(node) if f.name not in FORGOTTEN}
        return {"node": type(node).__name__, **{k: encode(v) for k, v in fields.items() if v is not None}}
    if callable(node):
        if not can_be_found(node):
            raise QueryError(
                f"{path_of(node).partition(':')[2]} cannot be found again by its name when the view is opened",
                hint="define it at the top level of a module",
            )
        return {"class" if isinstance(node, type) else "function": path_of(node)}
    raise StorageError(f"{node!r} cannot be kept with the definition of a view")


# --- in ----------------------------------------------------------------------------------------------------


def decode(value: Any, known: HandedOver | None = None) -> Any:
    """What `encode` has made a text of; its functions are those that are `known`."""
    try:
        return _decode_value(value, HandedOver() if known is None else known)
    except (ValueError, TypeError, ArithmeticError, RecursionError) as problem:
        raise StorageError(f"a definition cannot be read: {type(problem).__name__}: {problem}") from problem


def _decode_value(value: Any, known: HandedOver) -> Any:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case list():
            return tuple(_decode_value(x, known) for x in value)
        case {"node": str(name), **fields}:  # first: a node may have a field of any name
            return _node(name, fields, known)
        case {"float": str(text)}:
            return NAN if text == "nan" else float(text)
        case {"bytes": str(text)}:
            return base64.b64decode(text)
        case {"datetime": str(text)}:
            return datetime.datetime.fromisoformat(text)
        case {"date": str(text)}:
            return datetime.date.fromisoformat(text)
        case {"decimal": str(text)}:
            return decimal.Decimal(text)
        case {"map": list(pairs)}:
            return FrozenMap((_decode_value(k, known), _decode_value(v, known)) for k, v in pairs)
        case {"set": list(values)}:
            return frozenset(_decode_value(v, known) for v in values)
        case {"function": str(path)}:
            return Named(path, known)
        case {"class": str(path)}:
            return NamedClass(path, known)
    raise StorageError(f"{str(value)[:80]!r} is no part of a definition")


def _node(name: str, fields: Mapping[Any, Any], known: HandedOver) -> Any:
    cls = NODES.get(name)
    if cls is None:
        raise StorageError(f"a definition holds {name!r}, which is no node of a query")
    names = {f.name for f in dataclasses.fields(cls)}
    unknown = [k for k in fields if k not in names]
    if unknown:
        raise StorageError(f"a definition gives {name} a {unknown[0]!r}, which it does not have")
    required = [
        f.name
        for f in dataclasses.fields(cls)
        if f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    ]
    made = {**dict.fromkeys(required), **{str(k): _decode_value(v, known) for k, v in fields.items()}}
    require_fields(cls, made)
    return cls(**made)
