"""A new catalog that takes the place of the old one: all of it or nothing, whatever interrupts it, and however often.

    CatalogChange(session, catalog, stores).take_effect(lambda: session.maintenance.install(...))
    interrupted before the engine has the new catalog       the old catalog, as it was
    interrupted after it                                    the new catalog: the next holder of the lock finishes the change

Law. `session.replacing` is set before anything changes, and cleared when everything has: the engine, the stores, the file, the
classes and the subscriptions. So whatever stops it, the record of what is to be finished or undone stays until that is done, and
nobody gets the lock without doing it. What decides is one step: the file has committed the definitions; or, without a file, the engine
has the new catalog.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Protocol

from evercurrent.catalog.catalog import Catalog
from evercurrent.locking.insist import insist
from evercurrent.rows.constraints import children_of
from evercurrent.rows.store import Store
from evercurrent.statements.definition import readers_of, rules_of

if TYPE_CHECKING:
    from evercurrent.session.maintenance import Maintenance
    from evercurrent.session.session import Session


class Replacement(Protocol):
    """What is taking the place of something in a session."""

    def settle(self) -> None:
        """Finishes or undoes it, and says so in `session.replacing`. Idempotent."""


class CatalogChange:
    """One change of the catalog. `made` replaces the engine and all that it holds, if it is given.

    `emptied` are tables that lose their rows, or, with `made`, whose rows are rewritten.
    """

    def __init__(
        self,
        session: Session,
        catalog: Catalog,
        stores: dict[str, Store],
        emptied: Collection[str] = (),
        made: Maintenance | None = None,
    ) -> None:
        self.session, self.catalog, self.stores = session, catalog, stores
        self.emptied, self.made = emptied, made
        self.readers, self.rules, self.children = (
            readers_of(catalog, session.readers),
            rules_of(catalog, session.rules),
            children_of(stores),
        )
        self.before = session.catalog
        self.maintained_before = session.maintenance.catalog, session.maintenance.design
        self.decided = False
        self.outer = session.replacing
        """What this is a part of: if this is undone, that is still to be settled."""

    def take_effect(self, install: Callable[[], object]) -> None:
        """Installs the program; then the catalog is the database's, or nothing has changed and it raises."""
        keeper = self.session.keeper
        self.session.replacing = self
        try:
            if keeper is not None:
                keeper.begin(self.catalog, self.stores, self.emptied)
            install()
            if keeper is not None:
                keeper.commit()  # with a file, this decides
            self.decided = True
            self.settle()
        except BaseException:
            insist(self.settle)
            raise

    def settle(self) -> None:
        """Finishes what was decided, or undoes what was not. Idempotent."""
        self.session.maintenance.settle()
        if self._is_decided():
            self._finish()
            self.session.replacing = None
        else:
            self._undo()
            self.session.replacing = self.outer

    def _is_decided(self) -> bool:
        if not self.decided:
            keeper = self.session.keeper
            if keeper is not None:
                self.decided = keeper.has_defined()
            else:
                self.decided = self.made is None and self.session.maintenance.catalog is self.catalog
        return self.decided

    def _finish(self) -> None:
        session, old, new = self.session, self.before, self.catalog
        if self.made is not None:
            session.maintenance.become(self.made)
        for key in (set(old.tables) | set(old.views)) - set(new.tables) - set(new.views):
            relation = old.relation(key)
            assert relation is not None
            session.subscribers.forget(relation.name)
            session.forwarded.discard(key)
            session.cursors.pop(key, None)
        if self.made is None:
            session.forwarded -= set(self.emptied)
        session.catalog, session.stores = new, self.stores
        session.readers, session.rules, session.children = self.readers, self.rules, self.children
        if session.keeper is not None:
            session.keeper.finish()
        if session.space is not None:
            session.space.follow(new.schema)
        session.refresh_feeds()

    def _undo(self) -> None:
        session, maintenance = self.session, self.session.maintenance
        if session.keeper is not None:
            session.keeper.roll_back()
        if session.space is not None:
            session.space.follow(self.before.schema)
        if self.made is None and maintenance.catalog is self.catalog:  # the file has refused it
            maintenance.torn = True
            maintenance.catalog, maintenance.design = self.maintained_before
        if maintenance.torn:
            session.rebuild()
