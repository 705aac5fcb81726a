"""Declared keys: no two objects of a class, or of a class that extends it, have the same values there. A nil is in no key.

    key_patches(work.dirty)      [Patch: ("Ann",) -> <person 1>]

As with every constraint, the net change is validated, at the end: a key may pass from one object to another.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evercurrent.errors import ConstraintError
from evercurrent.objects.model.handles import Object
from evercurrent.objects.model.kinds import Key
from evercurrent.rows.patch import Patch


def key_patches(dirty: Mapping[Object, tuple[Any, ...] | None]) -> list[Patch]:
    """Returns the patches of all keys that a transaction changes: `dirty` has the values before, None of new objects."""
    before: dict[Key, dict[Any, Object]] = {}
    after: dict[Key, dict[Any, Object]] = {}
    for thing, values in dirty.items():
        kind = thing._kind
        if not kind.keys:
            continue
        where = {f.name: i for i, f in enumerate(f for f in kind.fields if f.in_row)}
        for key in kind.keys:
            if values is not None:
                old = tuple(values[where[n]] for n in key.names)
                if None not in old:
                    before.setdefault(key, {})[old] = thing
            if not thing._gone:
                new = key_of(key, thing)
                if None in new:
                    continue
                claimed = after.setdefault(key, {})
                if new in claimed:
                    raise key_conflict(key, new, claimed[new], thing)
                claimed[new] = thing
    patches = []
    for key in before.keys() | after.keys():
        gone, come = before.get(key, {}), after.get(key, {})
        for value, thing in come.items():
            holder = key.objects.get(value)
            if holder is not None and holder is not thing and value not in gone:
                raise key_conflict(key, value, holder, thing)
        patches.append(Patch(key.objects, gone, come))
    return patches


def key_of(key: Key, thing: Object) -> tuple[Any, ...]:
    kind = thing._kind
    return tuple(kind.named[n].get(thing) for n in key.names)


def key_conflict(key: Key, value: tuple[Any, ...], one: Object, other: Object) -> ConstraintError:
    shown = ", ".join(f"{n} = {v!r}" for n, v in zip(key.names, value, strict=True))
    return ConstraintError(
        f"{key.declaring.name}: the key ({', '.join(key.names)}) occurs more than once: {shown} [{key.constraint}]",
        constraint=key.constraint,
        rows=[one, other],
        hint="the transaction was undone",
    )
