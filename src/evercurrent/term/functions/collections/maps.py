"""Functions of maps. Keys are never NULL, and no key comes twice: what would break that is an error.

map_keys(map('a', 1, 'b', 2))      ['a', 'b']
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from evercurrent.data.types import BOOLEAN, STRING, Array, Map, Member, Null, Struct, Type
from evercurrent.data.values import FrozenMap
from evercurrent.term.functions.coerce import common_of_two, common_type
from evercurrent.term.functions.failures import bad_argument
from evercurrent.term.functions.function import Function, Signature, TypeMismatch, Types
from evercurrent.term.functions.signatures import array, count, take_exactly
from evercurrent.term.functions.text.regex import compile_pattern

Items = tuple[Any, ...]


def a_map(t: Type, position: int = 0) -> Map:
    if isinstance(t, Null):
        return Map(t, t)
    if not isinstance(t, Map):
        raise TypeMismatch(f"argument {position + 1} is {t}, but a map is needed")
    return t


def key_type(t: Type) -> Type:
    if "MAP<" in str(t):
        raise TypeMismatch(f"{t} cannot be the key of a map")
    return t


def build_map(pairs: Iterable[tuple[Any, Any]]) -> FrozenMap:
    """A map of pairs, checked."""
    entries: dict[Any, Any] = {}
    for key, value in pairs:
        if key is None:
            bad_argument("MAP", "a key is NULL")
        if key in entries:
            bad_argument("MAP", f"the key {key!r} comes twice")
        entries[key] = value
    return FrozenMap(entries)


def _infer_map(types: Types) -> Signature:
    if len(types) % 2:
        raise TypeMismatch("keys and values must come in pairs")
    key = key_type(common_type(types[::2])) if types else Null()
    value = common_type(types[1::2]) if types else Null()
    return Signature((key, value) * (len(types) // 2), Map(key, value))


def _one(result: Callable[[Map], Type]) -> Callable[[Types], Signature]:
    def infer(types: Types) -> Signature:
        count(types, 1)
        t = a_map(types[0])
        return Signature((t,), result(t))

    return infer


def entry_type(t: Map) -> Struct:
    return Struct((Member("key", t.key, False), Member("value", t.value)))


def _infer_from_arrays(types: Types) -> Signature:
    count(types, 2)
    keys, values = array(types[0]), array(types[1], 1)
    return Signature((keys, values), Map(key_type(keys.element), values.element))


def from_arrays(keys: Items, values: Items) -> FrozenMap:
    if len(keys) != len(values):
        bad_argument("MAP_FROM_ARRAYS", "there are not as many values as keys")
    return build_map(zip(keys, values, strict=True))


def _infer_from_entries(types: Types) -> Signature:
    count(types, 1)
    t = array(types[0])
    if not isinstance(t.element, Struct) or len(t.element.members) != 2:
        raise TypeMismatch(f"an array of pairs is needed, not {types[0]}")
    key, value = t.element.members
    return Signature((t,), Map(key_type(key.type), value.type))


def from_entries(entries: Items) -> FrozenMap | None:
    return None if None in entries else build_map(entries)


def _infer_concat(types: Types) -> Signature:
    t = common_type([a_map(x, i) for i, x in enumerate(types)]) if types else Map(STRING, STRING)
    return Signature((t,) * len(types), t)


def _infer_contains(types: Types) -> Signature:
    count(types, 2)
    t = a_map(types[0])
    if common_of_two(t.key, types[1]) != t.key:
        raise TypeMismatch(f"the keys are {t.key}, not {types[1]}")
    return Signature((t, t.key), BOOLEAN)


def str_to_map(text: str, pairs: str = ",", within: str = ":") -> FrozenMap:
    """`a:1,b:2`; both delimiters are regular expressions."""
    found: list[tuple[str, str | None]] = []
    outer, inner = compile_pattern(pairs), compile_pattern(within)
    for entry in re.split(outer, text):
        parts = inner.split(entry, maxsplit=1)
        found.append((parts[0], parts[1] if len(parts) > 1 else None))
    return build_map(found)


def _plain(f: Callable[..., Any]) -> Callable[[Types, Type], Callable[..., Any]]:
    return lambda types, result: f


def _pairs(*args: Any) -> FrozenMap:
    return build_map(zip(args[::2], args[1::2], strict=True))


FUNCTIONS = (
    Function("map", _infer_map, _plain(_pairs), strict=False, fails=True),
    Function("map_keys", _one(lambda t: Array(t.key)), _plain(tuple)),
    Function("map_values", _one(lambda t: Array(t.value)), _plain(lambda m: tuple(m.values()))),
    Function("map_entries", _one(lambda t: Array(entry_type(t))), _plain(lambda m: tuple(m.items()))),
    Function("map_from_arrays", _infer_from_arrays, _plain(from_arrays), fails=True),
    Function("map_from_entries", _infer_from_entries, _plain(from_entries), fails=True, nullable=True),
    Function(
        "map_concat",
        _infer_concat,
        _plain(lambda *ms: build_map(e for m in ms for e in m.items())),
        fails=True,
    ),
    Function("map_contains_key", _infer_contains, _plain(lambda m, k: k in m)),
    Function(
        "str_to_map",
        take_exactly((STRING, STRING, STRING), Map(STRING, STRING), least=1),
        _plain(str_to_map),
        fails=True,
    ),
)
