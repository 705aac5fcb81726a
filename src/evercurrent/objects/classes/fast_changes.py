"""The fast ways to change a collection: one element, straight to the compiled triggers or into the open transaction.

    ann.dependents.add(bob)      outside a transaction: one trigger call and one `set.add`

What they cannot do (another thread, a subscriber to notify, an ordered relationship) the methods of `collections.owned` do.
Each function here makes a method for one property, out of what is known of its readers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.extents import OWNER, Apart, Inverse
from evercurrent.data.types import Reference
from evercurrent.data.zset import Row
from evercurrent.objects.classes.readers import Readers
from evercurrent.objects.collections.owned import OwnedSet
from evercurrent.objects.collections.positioned import OwnedList
from evercurrent.objects.model.handles import Object
from evercurrent.objects.model.kinds import Field
from evercurrent.objects.model.values import Function, is_plain

if TYPE_CHECKING:
    from evercurrent.objects.model.registry import Registry
    from evercurrent.session.session import Session

Trigger = Callable[[Row], object]
Method = Callable[..., Any]


@dataclass(slots=True, eq=False)
class Way:
    """What the methods of one property use."""

    space: Registry
    session: Session
    alive: dict[Any, Any]
    table: str
    take: Function
    exact: type | None  # a value of exactly this class needs no taking in
    cell: Function | None  # from an element to what stands in a row; None: the element itself, or its oid
    refers: bool
    insert: Trigger | None  # None: a change takes a transaction
    join: Callable[[Any, Any], object]  # the same, of the owner and the element
    delete: Trigger | None
    journal: bool
    slow: dict[str, Method]


def write_fast_changes(space: Registry, f: Field, readers: Readers, alive: dict[Any, Any]) -> None:
    """Give the class of a collection the quickest methods that its readers allow."""
    cls: Any = f.owned
    place = f.place
    if isinstance(place, Inverse):
        end = f.relationship
        assert end is not None
        if issubclass(cls, OwnedSet):
            add, remove = make_inverse_methods(f, end.inverse)
            cls.add = cls.insert_element = add
            cls.remove = cls.remove_element = remove
        return
    if f.relationship is not None or not isinstance(place, Apart) or place.owner != OWNER:
        return
    table = place.table.lower()
    noted = f.refers and space.back is not None
    notified = table in readers.notified
    journal = space.cautious and table in readers.failing
    read = table in readers.columns
    t = place.element
    way = Way(
        space,
        readers.session,
        alive,
        table,
        f.take,
        space.kinds[t.target].cls if isinstance(t, Reference) else None,
        None if isinstance(t, Reference) or is_plain(t) else cls.element_inside,
        noted,
        None if notified or noted else readers.trigger(table, 1, journal) if read else unread,
        unread
        if notified or noted or not read or place.position
        else readers.apart(table, 1, journal, False),
        None if notified else readers.trigger(table, -1, journal) if read else unread,
        journal and read,
        {},
    )
    if issubclass(cls, OwnedSet):
        way.slow = {"add": OwnedSet.add, "remove": OwnedSet.remove}
        cls.add = cls.insert_element = make_add(way, isinstance(t, Reference))
        cls.remove = cls.remove_element = make_remove(way, isinstance(t, Reference))
    elif issubclass(cls, OwnedList):
        way.slow = {"append": OwnedList.append}
        cls.append = cls.insert_element = make_append(way, isinstance(t, Reference))


def unread(*row: Any) -> None:
    """Nobody reads the table."""


def make_inverse_methods(f: Field, inverse: str) -> tuple[Method, Method]:
    """The unordered end of a relationship whose other end is one: that end is written."""
    take = f.take

    def add(self: Any, element: Any) -> None:
        element = take(element)
        if element is None or element in self:
            if element is None:
                OwnedSet.add(self, element)
            return
        if self.owner._gone:
            self._changing()
        element._kind.named[inverse].set(element, self.owner)

    def remove(self: Any, element: Any) -> None:
        element = take(element)
        if element not in self:
            raise KeyError(element)
        element._kind.named[inverse].set(element, None)

    return add, remove


def make_add(way: Way, reference: bool) -> Method:
    """Makes `add`: quick for an object and a table without subscribers, the general way for everything else."""
    session, alive, exact, insert, join = way.session, way.alive, way.exact, way.insert, way.join
    journal, put, drop, rescue = way.journal, set.add, set.discard, way.space.rescue
    done = way.session.maintenance.engine.core.journal.clear
    maintenance, undoing = session.maintenance, way.space.work.journal.extend
    general = make_general_add(way, reference)
    if insert is None or exact is None:
        return general
    if insert is unread:

        def add_unread(self: Any, element: Any) -> None:
            if type(element) is exact and session.idle and len(alive) == 1:
                put(self, element)
            else:
                general(self, element)

        return add_unread

    def add(self: Any, element: Any) -> None:
        if type(element) is exact and session.idle and len(alive) == 1:  # so it is an object
            size = len(self)
            try:
                put(self, element)
                if len(self) == size:
                    return
                join(self.owner, element)
            except BaseException as error:
                maintenance.torn = True
                if len(self) != size:
                    undoing(((drop, self, element),))
                rescue(error, journal)
                raise
            if journal:
                done()
        else:
            general(self, element)

    return add


def make_general_add(way: Way, reference: bool) -> Method:
    session, alive, take, exact = way.session, way.alive, way.take, way.exact
    insert, cell, slow = way.insert, way.cell, way.slow["add"]
    work = way.space.work
    journal, put, drop = way.journal, set.add, set.discard
    done = way.session.maintenance.engine.core.journal.clear
    maintenance, undoing = session.maintenance, way.space.work.journal.extend
    bump, table, rescue = work.bump, way.table, way.space.rescue
    noted = way.refers

    def add(self: Any, element: Any) -> None:
        if type(element) is not exact:
            element = take(element)
        if element in self:
            return
        if len(alive) == 1 and not noted and element is not None:
            value = element.oid if reference else element if cell is None else cell(element)
            row = (self.owner.oid, value)
            if session.idle:
                if insert is not None:
                    try:
                        insert(row)
                        put(self, element)
                    except BaseException as error:
                        maintenance.torn = True
                        undoing(((drop, self, element),))
                        rescue(error, journal)
                        raise
                    if journal:
                        done()
                    return
            else:
                transaction = session.transaction
                if transaction is not None and transaction.status == "open":
                    transaction.objects = work
                    work.journal.append((drop, self, element))
                    put(self, element)
                    bump(table, row, 1)
                    return
        slow(self, element)

    return add


def make_remove(way: Way, reference: bool) -> Method:
    session, alive, take = way.session, way.alive, way.take
    delete, cell, slow = way.delete, way.cell, way.slow["remove"]
    work = way.space.work
    journal, put, drop = way.journal, set.add, set.discard
    done = way.session.maintenance.engine.core.journal.clear
    maintenance, undoing = session.maintenance, way.space.work.journal.extend
    bump, table, rescue = work.bump, way.table, way.space.rescue

    def remove(self: Any, element: Any) -> None:
        try:
            there = element in self
        except TypeError:  # a mapping for a struct does not hash
            element = take(element)
            there = element in self
        if there and len(alive) == 1 and (not reference or isinstance(element, Object)):
            if session.idle:
                if delete is not None:
                    try:
                        if reference:
                            delete((self.owner.oid, element.oid))
                        else:
                            delete((self.owner.oid, element if cell is None else cell(element)))
                        drop(self, element)
                    except BaseException as error:
                        maintenance.torn = True
                        undoing(((put, self, element),))
                        rescue(error, journal)
                        raise
                    if journal:
                        done()
                    return
            else:
                transaction = session.transaction
                if transaction is not None and transaction.status == "open":
                    transaction.objects = work
                    work.journal.append((put, self, element))
                    drop(self, element)
                    row = (
                        self.owner.oid,
                        element.oid if reference else element if cell is None else cell(element),
                    )
                    bump(table, row, -1)
                    return
        slow(self, element)

    return remove


def make_append(way: Way, reference: bool) -> Method:
    session, alive, take, exact = way.session, way.alive, way.take, way.exact
    insert, cell, slow = way.insert, way.cell, way.slow["append"]
    work = way.space.work
    journal, put = way.journal, list.append
    done = way.session.maintenance.engine.core.journal.clear
    maintenance, undoing = session.maintenance, way.space.work.journal.extend
    bump, table, rescue = work.bump, way.table, way.space.rescue
    noted = way.refers

    def append(self: Any, element: Any) -> None:
        if type(element) is not exact:
            element = take(element)
        if len(alive) == 1 and not noted and element is not None:
            value = element.oid if reference else element if cell is None else cell(element)
            if session.idle:
                if insert is not None:
                    length = len(self)
                    try:
                        insert((self.owner.oid, length, value))
                        put(self, element)
                    except BaseException as error:
                        maintenance.torn = True
                        undoing(((_shorten, self, length),))
                        rescue(error, journal)
                        raise
                    if journal:
                        done()
                    return
            else:
                transaction = session.transaction
                if transaction is not None and transaction.status == "open":
                    transaction.objects = work
                    bump(table, (self.owner.oid, len(self), value), 1)
                    work.journal.append((_shorten, self, len(self)))
                    put(self, element)
                    return
        slow(self, element)

    return append


def _shorten(owned: list[Any], length: int) -> None:
    list.__delitem__(owned, slice(length, None))
