"""The changes of one collection: its elements, its rows, and the entries that undo them.

    put(work, ann.skills, "sql")      adds the element, a row with weight 1, and an entry in the journal

All of these run inside a transaction. They know nothing of the other ends of relationships (`relationships` does).

Law. An undo entry says what is there in the end, never what to add or remove. So it is idempotent, and it is harmless for a
change that an interrupt has prevented.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evercurrent.catalog.extents import OWNER, Apart, Inside, Inverse, Single

if TYPE_CHECKING:
    from evercurrent.objects.collections.owned import Owned, OwnedBag, OwnedSet
    from evercurrent.objects.collections.positioned import OwnedDict, OwnedList
    from evercurrent.objects.model.work import Work


def put(work: Work, owned: OwnedSet, element: Any) -> None:
    """Adds an element that is not there to a set."""
    _before(work, owned)
    work.journal.append((set.discard, owned, element))
    set.add(owned, element)
    _row(work, owned, (), element, 1)


def take(work: Work, owned: OwnedSet, element: Any) -> None:
    """Removes an element that is there from a set."""
    _before(work, owned)
    work.journal.append((set.add, owned, element))
    set.discard(owned, element)
    _row(work, owned, (), element, -1)


def count(work: Work, owned: OwnedBag, element: Any, by: int) -> None:
    """Adds an element to a bag, or removes it, `by` times."""
    _before(work, owned)
    work.journal.append((_count_back, owned, (element, owned.counts.get(element, 0), owned.size)))
    owned.move(element, by)
    _row(work, owned, (), element, by)


def _count_back(owned: OwnedBag, before: tuple[Any, int, int]) -> None:
    element, times, size = before
    owned.move(element, times - owned.counts.get(element, 0))
    owned.size = size


def splice(work: Work, owned: OwnedList, start: int, stop: int, new: list[Any]) -> None:
    """Elements of a list from `start` to `stop` are replaced; the elements behind them get new positions if the number differs."""
    _before(work, owned)
    old = owned[start:stop]
    place = owned.field.place
    if not isinstance(place, Inverse):
        end = stop if len(new) == len(old) else len(owned)
        after = new if end == stop else new + owned[stop:]
        for i, x in enumerate(owned[start:end], start):
            _row(work, owned, (i,), x, -1)
        for i, x in enumerate(after, start):
            _row(work, owned, (i,), x, 1)
    stays = len(new) == len(old)
    work.journal.append((_splice_back, owned, (start, stop, old) if stays else (start, None, owned[start:])))
    list.__setitem__(owned, slice(start, stop), new)


def _splice_back(owned: OwnedList, before: tuple[int, int | None, list[Any]]) -> None:
    start, stop, old = before
    list.__setitem__(owned, slice(start, stop), old)


def enter(work: Work, owned: OwnedDict, key: Any, value: Any) -> None:
    """Sets the value of a key of a dictionary."""
    leave(work, owned, key)
    _before(work, owned)
    work.journal.append((_leave_back, owned, key))
    dict.__setitem__(owned, key, value)
    _row(work, owned, (owned.key_inside(key),), value, 1)


def leave(work: Work, owned: OwnedDict, key: Any) -> None:
    """Deletes a key of a dictionary, if it is there."""
    if key not in owned:
        return
    _before(work, owned)
    old = owned[key]
    work.journal.append((_enter_back, owned, (key, old)))
    dict.__delitem__(owned, key)
    _row(work, owned, (owned.key_inside(key),), old, -1)


def _leave_back(owned: OwnedDict, key: Any) -> None:
    dict.pop(owned, key, None)


def _enter_back(owned: OwnedDict, entry: tuple[Any, Any]) -> None:
    dict.__setitem__(owned, *entry)


def _before(work: Work, owned: Owned) -> None:
    """Saves the owner's values, if the collection is a column of its row."""
    if isinstance(owned.field.place, Inside):
        work.touch(owned.owner)


def _row(work: Work, owned: Owned, at: tuple[Any, ...], element: Any, weight: int) -> None:
    place = owned.field.place
    if weight > 0 and owned.field.refers and work.space.back is not None:
        work.space.back.note_element(owned, element)
    match place:
        case Apart(owner=owner) if owner == OWNER:
            row = (owned.owner.oid, *at, owned.element_inside(element))
            work.bump(place.table.lower(), row, weight)
        case Apart() | Inverse() | Inside() | Single():
            pass
