"""One database: the catalog, the stored rows, the views that are kept, and the one way in which they change: commit.

    the net change of each table
      -> constraints                     (`constraints`: patches for the stores, or ConstraintError)
      -> stores, views, assertions       (`maintenance`; an assertion that is not empty: ConstraintError)
      -> subscribers before the commit   (any exception undoes everything)
      -> the commit                      (one assignment decides)
      -> subscribers after the commit

Whatever raises before the commit, an interrupt included, leaves the database as it was. One lock guards everything: a
transaction holds it from its beginning to its end.

Law. `committing` is set before the first store changes and cleared after the last step of `settle`. So whatever stops a commit,
and however often, the record of what is to be finished or undone stays until that is done; and until then nobody gets the
lock without doing it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet

from evercurrent.calculus.nodes import Query
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.lookup import require_table, require_view
from evercurrent.catalog.nodes import Assertion, Table, View
from evercurrent.data.showing import show_value
from evercurrent.data.zset import Row, ZSet
from evercurrent.design.compile import assertion_key
from evercurrent.design.evaluation import reference, run_query
from evercurrent.errors import (
    ConstraintError,
    EvaluationError,
    InternalError,
    QueryError,
    TransactionError,
    UnsupportedError,
)
from evercurrent.locking.insist import insist
from evercurrent.locking.lock import Hold, Lock
from evercurrent.rows.constraints import validate
from evercurrent.rows.conversion import RowReader, give_rows, row_writer
from evercurrent.rows.row_rules import RowRules
from evercurrent.rows.store import Reference, Store
from evercurrent.rows.subscriptions import Callback, Change, Subscribers, Subscription, When
from evercurrent.rows.violations import SAMPLE
from evercurrent.session.blame import Scene, blame, blame_read
from evercurrent.session.maintenance import Maintenance
from evercurrent.session.transactions import Block, Transaction

if TYPE_CHECKING:
    from evercurrent.session.feed import Feed
    from evercurrent.session.object_space import ObjectSpace


class Session:
    """The state behind a `Database`. Dictionaries of tables are by lower-cased name."""

    def __init__(self) -> None:
        self._lock = Lock(self.settle_first)
        self.catalog = Catalog()
        self.stores: dict[str, Store] = {}
        self.readers: dict[str, RowReader] = {}
        self.rules: dict[str, RowRules] = {}
        self.children: dict[str, list[tuple[Store, Reference]]] = {}
        self.forwarded: set[str] = set()  # tables that are not stored and have had changes
        self.maintenance = Maintenance()
        self.subscribers = Subscribers()
        self.transaction: Transaction | None = None
        self.number = 0
        self.feeds: WeakSet[Feed] = WeakSet()
        self.committing: Transaction | None = None
        self.idle = True  # no block is open: a write of an object may go straight to the compiled functions
        self.space: ObjectSpace | None = None  # the objects, where there are classes

    # --- transactions --------------------------------------------------------------------------------------

    @property
    def lock(self) -> Hold:
        """What `with session.lock:` takes: nobody else is inside, and what was interrupted is put right."""
        return self._lock.hold()

    @property
    def is_locked(self) -> bool:
        """Whether some thread is inside."""
        return self._lock.is_held()

    def changing(self) -> Block:
        """The transaction for one call of the user: the open one, or one for this call alone."""
        return Block(self, True)

    def open_transaction(self) -> Transaction | None:
        """The transaction that is open, if one is; refuses while another is being committed."""
        if self.committing is not None:
            raise TransactionError(
                "a subscriber that is called before the commit cannot change the database",
                hint='subscribe with when="after": what it changes then is the next transaction',
            )
        return self.transaction

    def commit(self, transaction: Transaction) -> None:
        """Commits and notifies subscribers; or raises, and everything is as it was."""
        transaction.require_open()
        try:
            self._commit(transaction)
        except BaseException:
            try:
                insist(self.settle)
            finally:
                if transaction.status == "committed":  # an interrupt in the last moment: it stands
                    self.subscribers.deliver()
                else:
                    transaction.abandon("failed")
            raise
        self.subscribers.deliver()

    def _commit(self, transaction: Transaction) -> None:
        deltas = transaction.deltas()
        patches = transaction.objects.patches() if transaction.objects is not None else []
        if deltas:
            patches += validate(self.stores, self.rules, deltas, self.children)
            verdict = self.maintenance.examine(deltas, self.stores)
            if verdict.broken:
                verdict = self.maintenance.relax(deltas, self.stores, self.table_rows)
                self.refresh_feeds()
        transaction.tables, transaction.patches = tuple(deltas), patches
        self.committing = transaction  # from here on, `settle` has something to finish or to undo
        for patch in patches:
            patch.apply()
        if deltas:
            named = {self.stores[name].table.name: delta for name, delta in deltas.items()}
            try:
                view_deltas = self.maintenance.apply(
                    named, self.table_rows, self._watched_relations(), verdict
                )
            except EvaluationError as error:
                raise blame(self.scene(), error, named) from error
            if view_deltas:
                self._check_assertions(view_deltas)
            if self.subscribers.watched:
                changes = self._changes({**named, **view_deltas}, self.number + 1)
                self.subscribers.before(changes)
                transaction.notices = self.subscribers.notices(changes)
            self.maintenance.require_whole()
            transaction.number = self.number + 1
        transaction.status = "committed"  # this decides
        self.settle()

    def settle(self) -> None:
        """Finishes the transaction that was decided, or undoes the one that was not. Idempotent.

        If an interrupt stops it, `committing` and the states of the engines say that it must be called again; whoever takes
        the lock next does so before anything is read (`settle_first`).
        """
        transaction = self.committing
        if transaction is not None:
            if transaction.status == "committed":
                self._conclude(transaction)
            else:
                self.maintenance.undo()
                for patch in transaction.patches:
                    patch.undo()
        self.maintenance.settle()
        self.committing = None

    def _conclude(self, transaction: Transaction) -> None:
        """Does what follows from the decision. Idempotent."""
        if transaction.number is not None:
            self.maintenance.commit()
            self.number = transaction.number
        for name in transaction.tables:
            if not self.stores[name].table.stored:
                self.forwarded.add(name)
        transaction.pending = {}
        if transaction.objects is not None:
            transaction.objects.clear()
        if transaction.notices is not None:
            self.subscribers.announce(transaction.notices)

    def settle_first(self) -> None:
        """Puts right what an interrupted transaction has left. Runs when the lock is taken: nobody is inside."""
        space = self.space
        left = self.transaction is not None or self.committing is not None or not self.idle
        if (
            not left
            and self.maintenance.is_settled
            and not self.maintenance.outdated
            and (space is None or not space.work.is_dirty)
            and not self.subscribers.is_delivering
        ):
            return
        try:
            self._settle_leftovers()
        except Exception as problem:
            raise InternalError(
                f"the database could not be restored after an interrupt: {type(problem).__name__}: {problem}",
                hint="nothing can be read until it is restored; every call tries again",
            ) from problem

    def _settle_leftovers(self) -> None:
        try:
            self.settle()
        except Exception:  # the tables are the truth
            for patch in self.committing.patches if self.committing is not None else ():
                patch.undo()
            self.maintenance.rebuild(self.table_rows)
            self.committing = None
        if self.space is not None and self.space.work.is_dirty:
            self.space.work.undo()
        if self.maintenance.torn:
            self.rebuild()
        if self.maintenance.outdated:
            self.refresh_feeds()
        self.subscribers.is_delivering = False
        self.transaction, self.idle = None, True

    def _watched_relations(self) -> list[str]:
        names = self.subscribers.watched
        if not names and not self.catalog.assertions:
            return []
        if any(v.language == "oql" for v in self.catalog.views.values()):
            from evercurrent.oql_views.changes import relations_of_view

            names = names.union(*(relations_of_view(self.catalog, name) for name in names))
        return [v.name for v in self.catalog.views.values() if v.name in names] + [
            assertion_key(a.name) for a in self.catalog.assertions.values()
        ]

    def _changes(self, view_deltas: dict[str, ZSet], number: int) -> dict[str, Change]:
        watched = self.subscribers.watched
        found = {
            name: Change(name, delta, number, row_writer(self.catalog.fields_of(name)))
            for name, delta in view_deltas.items()
            if name in watched
        }
        if any(v.language == "oql" for v in self.catalog.views.values()):
            from evercurrent.oql_views.changes import value_changes
            from evercurrent.session.target import SessionTarget

            found |= value_changes(self.catalog, watched, view_deltas, number, SessionTarget(self).object_of)
        return found

    def _check_assertions(self, view_deltas: dict[str, ZSet]) -> None:
        for assertion in self.catalog.assertions.values():
            change = view_deltas.get(assertion_key(assertion.name))
            if change:
                raise broken_assertion(assertion, list(change.inserted()))

    # --- reading -------------------------------------------------------------------------------------------

    def scene(self) -> Scene:
        """The database as it is now, for finding out what failed."""
        return Scene(self.catalog, lambda table: len(self.stores[table]), self.table_rows)

    def table_rows(self, name: str) -> ZSet:
        """The committed rows of a table, by its name."""
        return self.contents_of(self.stores[name.lower()])

    def contents_of(self, store: Store) -> ZSet:
        """The rows of a store, if they can be known."""
        if store.table.name.lower() in self.forwarded:
            raise UnsupportedError(
                f"{store.table.name} is not stored: it forwards its changes and has no rows to read",
                hint="create it as a stored table, or create what reads it before its first change",
            )
        return store.contents()

    def pending_rows(self, name: str) -> ZSet:
        """The rows of a table as the open transaction has them."""
        pending = self.transaction.pending_change(name.lower()) if self.transaction is not None else None
        rows = self.table_rows(name)
        return rows if pending is None else rows + pending.delta

    def _committed_rows(self, view: str) -> ZSet:
        try:
            return self.maintenance.rows(view)
        except EvaluationError as error:  # a view that is computed when it is read
            raise blame_read(self.scene(), error) from error

    def view_rows(self, name: str, pending: bool = False) -> ZSet:
        """The rows of a view, by its exact name: as committed, or as the open transaction would have them."""
        view = self.catalog.view(name)
        if view is not None and view.inline:
            return run_query(
                cast(Query, view.query),
                self.catalog,
                self.table_rows,
                lambda part: self.view_rows(part, pending),
            )
        if not pending or self.transaction is None or self.committing is not None:
            return self._committed_rows(name)
        deltas = self.transaction.deltas()
        if not deltas:
            return self._committed_rows(name)
        try:
            validate(self.stores, self.rules, deltas, self.children)
        except ConstraintError:
            # The program may rely on constraints that do not hold yet; the definition does not.
            return self._pending_from_scratch(name)
        verdict = self.maintenance.examine(deltas, self.stores)
        if verdict.broken:
            return self._pending_from_scratch(name)
        named = {self.stores[key].table.name: delta for key, delta in deltas.items()}
        try:
            self.maintenance.apply(named, self.pending_rows, (), verdict)
            return ZSet(self.maintenance.rows(name).items())
        finally:
            self.maintenance.undo()

    def _pending_from_scratch(self, name: str) -> ZSet:
        view = self.catalog.view(name)
        assert view is not None
        return reference(cast(Query, view.query), self.catalog, self.pending_rows)

    def subscribe(self, name: str, callback: Callback, when: When) -> Subscription:
        given: Any = when
        if not isinstance(given, str) or given not in ("before", "after"):
            raise QueryError(f'when must be "before" or "after", not {show_value(when)}')
        with self.lock:
            subscription = self.subscribers.add(name, callback, when)
            self.refresh_feeds()
            return subscription

    def refresh_feeds(self) -> None:
        """What feeds may leave out depends on views and subscriptions."""
        self.maintenance.outdated = True
        for feed in list(self.feeds):
            feed.refresh()
        if self.space is not None:
            self.space.refresh()
        self.maintenance.outdated = False

    def rebuild(self) -> None:
        """Recomputes all states and views from the tables: after a compiled function was stopped halfway."""
        self.maintenance.rebuild(self.table_rows)
        self.refresh_feeds()

    def new_store(self, table: Table, catalog: Catalog) -> Store:
        """The store of a table that is new; the tables of classes are read off the objects."""
        found = self.space.store(table) if self.space is not None else None
        return Store(table, catalog.table) if found is None else found

    # --- names ---------------------------------------------------------------------------------------------

    def table(self, name: str) -> Table:
        return require_table(self.catalog, name)

    def view(self, name: str) -> View:
        return require_view(self.catalog, name)


def broken_assertion(assertion: Assertion, rows: list[Row]) -> ConstraintError:
    shown = give_rows(assertion.fields, rows[:SAMPLE])
    more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
    return ConstraintError(
        f"assertion {assertion.name} does not hold: {shown[0]!r}{more}",
        constraint=assertion.name,
        rows=shown,
        count=len(rows),
        hint="nothing was changed",
    )
