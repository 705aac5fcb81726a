"""Deletes an object: relationships and references to it are cleared, collections lose it.

db.delete(ann)      sales.head is None now, and reading ann.name raises `Gone`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evercurrent.objects.collections import relationships
from evercurrent.objects.model.handles import Object, unavailable_error

if TYPE_CHECKING:
    from evercurrent.objects.model.registry import Registry


def delete(space: Registry, thing: Object) -> None:
    """Delete an object, in the open transaction or in one of its own."""
    if thing._gone:
        raise unavailable_error(thing)
    kind = thing._kind
    space.prepare_deleting(kind)
    with space.changing() as work:
        work.touch(thing)
        for f in kind.fields:
            held: Any = f.slot.__get__(thing)
            if f.relationship is not None:
                for other in list(held) if f.many else [held] if held is not None else []:
                    if relationships.has(thing, f, other):
                        relationships.unlink(work, thing, f, other)
            elif f.many:
                held.clear()
        space.clear_references(work, thing)
        space.bury(thing, kind.deleted)
