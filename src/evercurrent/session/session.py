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
from evercurrent.catalog.nodes import Table, View
from evercurrent.data.zset import ZSet
from evercurrent.design.compile import assertion_key
from evercurrent.design.evaluation import reference, run_query
from evercurrent.errors import (
    ConstraintError,
    EvaluationError,
    InternalError,
    TransactionError,
    UnsupportedError,
)
from evercurrent.locking.insist import insist
from evercurrent.locking.lock import Hold, Lock
from evercurrent.rows.arguments import require_choice
from evercurrent.rows.constraints import validate
from evercurrent.rows.conversion import RowReader
from evercurrent.rows.patch import Undoable
from evercurrent.rows.row_rules import RowRules
from evercurrent.rows.store import Reference, Store
from evercurrent.rows.subscriptions import Callback, Change, Subscribers, Subscription, When
from evercurrent.session.blame import Scene, assertion_error, blame, blame_read
from evercurrent.session.bulk import commit_columns
from evercurrent.session.keeping import Keeper, deliver_past
from evercurrent.session.maintenance import Maintenance
from evercurrent.session.plans.prepared import Plans
from evercurrent.session.plans.readiness import is_settled
from evercurrent.session.plans.small_changes import commit_small
from evercurrent.session.transactions import Block, Transaction
from evercurrent.session.watching import Watching
from evercurrent.term.functions.numbers.bounds import OutOfBounds

if TYPE_CHECKING:
    from evercurrent.engine.columnar.vectors import Pools
    from evercurrent.session.catalog_change import Replacement
    from evercurrent.session.feed import Feed
    from evercurrent.session.object_space import ObjectSpace
    from evercurrent.session.plans.joined_calls import Call
    from evercurrent.session.plans.small_changes import SmallChanges
    from evercurrent.session.plans.small_transactions import SmallTransaction


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
        self._watching = Watching(self.catalog, self.subscribers.watched, self.maintenance.design)
        self.transaction: Transaction | None = None
        self.begun: Block | None = None  # what BEGIN has begun
        self.number = 0
        self.plans = Plans()  # of statements that were run before
        self.feeds: WeakSet[Feed] = WeakSet()
        self.committing: Transaction | SmallTransaction | None = None
        self.replacing: Replacement | None = None  # a catalog that is taking effect
        self.small: dict[str, SmallChanges] = {}  # changes of one row, by table
        self.calls: dict[Any, tuple[Catalog, Call]] = {}  # functions of calls of users, by table
        self.pools: Pools | None = None  # the texts among keys of tables that are columns
        self.idle = True  # no block is open: a write of an object may go straight to the compiled functions
        self.space: ObjectSpace | None = None  # the objects, where there are classes
        self.cursors: dict[str, Any] = {}  # how far sources have been read, by lower-cased tables
        self.keeper: Keeper | None = None  # the file that keeps the database, if there is one

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
        """Commits and notifies subscribers; or raises, and everything is as it was. A batch that was applied changes nothing."""
        transaction.require_open()
        if transaction.batch is not None and self.keeper is not None:
            before = self.keeper.batch(transaction.batch)
            if before is not None:
                transaction.abandon("rolled back")
                transaction.number, transaction.repeated = before, True
                return
        try:
            self._commit_within_bounds(transaction)
        except BaseException:
            try:
                insist(self.settle)
            finally:
                if transaction.status == "committed":  # an interrupt in the last moment: it stands
                    self.subscribers.deliver()
                elif self.committing is None:
                    transaction.abandon("failed")
                else:  # interrupted again before it was decided: `settle_first` asks the file, and undoes or finishes it
                    transaction.status = "failed"
            raise
        self.subscribers.deliver()

    def _commit_within_bounds(self, transaction: Transaction) -> None:
        """Commits; if a row puts an amount out of bounds, undoes that, has the amount computed row by row, and commits again."""
        while True:
            try:
                return self._commit(transaction)
            except OutOfBounds as found:
                self.settle()
                self.maintenance.widen(found.amount, self.table_rows)
                self.refresh_feeds()

    def _commit(self, transaction: Transaction) -> None:
        if transaction.columns is not None and commit_columns(self, transaction):
            return
        if commit_small(self, transaction):
            transaction.pending = {}
            return
        deltas = transaction.deltas()
        patches: list[Undoable] = []
        if transaction.objects is not None:
            patches += transaction.objects.patches()
        if deltas:
            patches += validate(self.stores, self.rules, deltas, self.children)
            if self.maintenance.watch_growth(deltas, self.stores, self.table_rows):
                self.refresh_feeds()
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
            watching = self.find_watched()
            try:
                view_deltas = self.maintenance.apply(named, self.table_rows, watching.relations, verdict)
            except EvaluationError as error:
                raise blame(self.scene(), error, named) from error
            if view_deltas:
                self._check_assertions(view_deltas)
            if watching.names:
                changes = self._changes(named, view_deltas, watching, self.number + 1)
                self.subscribers.before(changes)
                transaction.notices = self.subscribers.notices(changes)
            self.maintenance.require_whole()
            transaction.number = self.number + 1
        if self.keeper is not None:
            self.keeper.write(transaction, deltas)  # with a file, this decides
        transaction.status = "committed"  # this decides
        self.settle()

    def settle(self) -> None:
        """Finishes the transaction that was decided, or undoes the one that was not. Idempotent.

        If an interrupt stops it, `committing` and the states of the engines say that it must be called again; whoever takes
        the lock next does so before anything is read (`settle_first`).
        """
        transaction = self.committing
        if transaction is not None:
            self._decide(transaction)
            if transaction.status == "committed":
                self._conclude(transaction)
            else:
                self.maintenance.undo()
                for patch in transaction.patches:
                    patch.undo()
        self.maintenance.settle()
        self.committing = None

    def _decide(self, transaction: Transaction | SmallTransaction) -> None:
        """A transaction that an interrupt has stopped is committed if the file holds it. Idempotent."""
        if (
            transaction.status != "committed"
            and self.keeper is not None
            and isinstance(transaction, Transaction)
            and self.keeper.has_written(transaction)
        ):
            transaction.status = "committed"

    def _conclude(self, transaction: Transaction | SmallTransaction) -> None:
        """Does what follows from the decision. Idempotent."""
        if transaction.number is not None:
            self.maintenance.commit()
            self.number = transaction.number
        for name in transaction.tables:
            if not self.stores[name].table.stored:
                self.forwarded.add(name)
        transaction.pending, transaction.columns = {}, None
        self.cursors.update(transaction.cursors)
        if transaction.objects is not None:
            transaction.objects.clear()
        if transaction.notices is not None:
            self.subscribers.announce(transaction.notices)

    def settle_first(self) -> None:
        """Puts right what an interrupted transaction has left. Runs when the lock is taken: nobody is inside."""
        if is_settled(self):
            return
        try:
            self._settle_leftovers()
        except Exception as problem:
            raise InternalError(
                f"the database could not be restored after an interrupt: {type(problem).__name__}: {problem}",
                hint="nothing can be read until it is restored; every call tries again",
            ) from problem

    def _settle_leftovers(self) -> None:
        if self.committing is not None:
            self._decide(self.committing)  # raises if the file cannot be read: nobody can know then
        try:
            self.settle()
        except Exception:  # the tables are the truth
            for patch in self.committing.patches if self.committing is not None else ():
                patch.undo()
            self.maintenance.rebuild(self.table_rows)
            self.committing = None
        if self.replacing is not None:
            self.replacing.settle()
        if self.space is not None and self.space.work.is_dirty:
            self.space.work.undo()
        if self.maintenance.torn:
            self.rebuild()
        if self.maintenance.outdated:
            self.refresh_feeds()
        self.subscribers.is_delivering = False
        self.transaction, self.idle = None, True

    def find_watched(self) -> Watching:
        """What somebody subscribes to."""
        known = self._watching
        if known.catalog is not self.catalog or known.names is not self.subscribers.watched:
            known = self._watching = Watching(self.catalog, self.subscribers.watched, self.maintenance.design)
        return known

    def _changes(
        self, tables: dict[str, ZSet], views: dict[str, ZSet], watching: Watching, number: int
    ) -> dict[str, Change]:
        found = watching.changes(tables, views, number)
        if watching.has_oql:
            from evercurrent.oql_views.changes import value_changes
            from evercurrent.session.target import SessionTarget

            handle = SessionTarget(self).object_of
            found |= value_changes(self.catalog, watching.names, {**tables, **views}, number, handle)
        return found

    def _check_assertions(self, view_deltas: dict[str, ZSet]) -> None:
        for assertion in self.catalog.assertions.values():
            change = view_deltas.get(assertion_key(assertion.name))
            if change:
                raise assertion_error(assertion, list(change.insertions()))

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

    def _read_committed(self, view: str) -> ZSet:
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
            return self._read_committed(name)
        deltas = self.transaction.deltas()
        if not deltas:
            return self._read_committed(name)
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
        except OutOfBounds:
            return self._pending_from_scratch(name)
        finally:
            self.maintenance.undo()

    def _pending_from_scratch(self, name: str) -> ZSet:
        view = self.catalog.view(name)
        assert view is not None
        return reference(cast(Query, view.query), self.catalog, self.pending_rows)

    def subscribe(self, name: str, callback: Callback, when: When, since: int | None = None) -> Subscription:
        require_choice(when, ("before", "after"), "time to be notified")
        with self.lock:
            if since is not None:
                deliver_past(self.keeper, name, callback, when, since)
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
