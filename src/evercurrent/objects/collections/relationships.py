"""Relationships, consistent from both ends.

    ann.dept = sales      sales.employees has ann, and the department that ann had before has not

A relationship is a set of pairs. Whichever end inserts or deletes a pair, the other end follows; an end that is "one" first
deletes the pair that it has. Each end is attached and detached on its own (`raw`), so every cardinality is the same few lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evercurrent.errors import ConstraintError
from evercurrent.objects.collections import raw
from evercurrent.objects.model.handles import Object
from evercurrent.objects.model.kinds import Field

if TYPE_CHECKING:
    from evercurrent.objects.collections.positioned import OwnedList
    from evercurrent.objects.model.work import Work


def link(work: Work, a: Object, f: Field, b: Object) -> None:
    """Inserts the pair (a, b) into the relationship `f` of a, and into its inverse in b."""
    g = other_end(f, b)
    if has(a, f, b):
        return
    _let_go(work, a, f)
    _let_go(work, b, g)
    attach(work, a, f, b)
    if not (g.name == f.name and a is b):
        attach(work, b, g, a)


def unlink(work: Work, a: Object, f: Field, b: Object) -> None:
    """Deletes the pair."""
    g = other_end(f, b)
    detach(work, a, f, b)
    if not (g.name == f.name and a is b):
        detach(work, b, g, a)


def other_end(f: Field, b: Object) -> Field:
    end = f.relationship
    assert end is not None
    return b._kind.named[end.inverse]


def _kind(f: Field) -> str:
    end = f.relationship
    assert end is not None
    return end.kind


def has(a: Object, f: Field, b: Object) -> bool:
    held = f.slot.__get__(a)
    return b in held if f.many else held is b


def _let_go(work: Work, a: Object, f: Field) -> None:
    if not f.many:
        held = f.slot.__get__(a)
        if held is not None:
            unlink(work, a, f, held)


def attach(work: Work, a: Object, f: Field, b: Object) -> None:
    """One end."""
    if not f.many:
        work.touch(a)
        f.slot.__set__(a, b)
        return
    held: Any = f.slot.__get__(a)
    match _kind(f):
        case "set":
            raw.put(work, held, b)
        case "bag":
            raw.count(work, held, b, 1)
        case _:
            raw.splice(work, held, len(held), len(held), [b])


def detach(work: Work, a: Object, f: Field, b: Object) -> None:
    """One end."""
    if not f.many:
        work.touch(a)
        f.slot.__set__(a, None)
        return
    held: Any = f.slot.__get__(a)
    match _kind(f):
        case "set":
            raw.take(work, held, b)
        case "bag":
            raw.count(work, held, b, -1)
        case _:
            at = list.index(held, b)
            raw.splice(work, held, at, at + 1, [])


def splice(work: Work, owned: OwnedList, start: int, stop: int, new: list[Any]) -> None:
    """Replaces elements of an ordered end; their other ends follow."""
    old = owned[start:stop]
    rest = owned[:start] + owned[stop:]
    for i, x in enumerate(new):
        if x is None or x in new[:i] or x in rest:
            raise ConstraintError(
                f"{owned.what}: {'nil' if x is None else x!r} cannot be in a relationship "
                f"{'' if x is None else 'more than once'}".rstrip(),
                constraint=owned.what,
            )
    f, owner = owned.field, owned.owner
    for x in new:
        if x not in old:
            g = other_end(f, x)
            if not g.many and (held := g.slot.__get__(x)) is not None:
                unlink(work, x, g, held)
    raw.splice(work, owned, start, stop, new)
    for x in old:
        if x not in new:
            detach(work, x, other_end(f, x), owner)
    for x in new:
        if x not in old:
            attach(work, x, other_end(f, x), owner)
