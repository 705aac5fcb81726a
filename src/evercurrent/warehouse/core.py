"""What changes in an open warehouse: the present version, the holder of the lock, the subscribers, pending changes.

    with core.lock:                     nobody else is inside
        core.present                    the version that this driver is at: a value (`version`)
        core.present = after            a commit has made another one

Whoever only reads takes a `Version` and the engine. Only those who commit, lock or notify take the core.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.lookup import require_table, require_view
from evercurrent.catalog.nodes import Table, View
from evercurrent.catalog.rules import positions
from evercurrent.data.collections import UNDEFINED
from evercurrent.data.types import Type
from evercurrent.design.compile import Design
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.progress import Progress
from evercurrent.engine.spark.sources.references import SourceRows
from evercurrent.engine.spark.storage.places import Place
from evercurrent.engine.spark.storage.snapshots import Snapshot
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import TransactionError
from evercurrent.locking.lock import Hold, Lock
from evercurrent.rows.conversion import RowReader
from evercurrent.rows.row_rules import RowRules
from evercurrent.rows.subscriptions import Change, Subscribers
from evercurrent.statements.execute import in_transaction
from evercurrent.term.handed_over import HandedOver
from evercurrent.warehouse.transaction import Transaction
from evercurrent.warehouse.version import Version

Definition = Mapping[str, Any]
"""What a version keeps of a table, view or whatever else has a name: its kind, name, text, ..."""
Name = tuple[str, str]
"""A kind of definition and a name: of relations and assertions in lower case, of what OQL and ODL name as it is written."""


@dataclass
class Draft:
    """Definitions that are not committed yet.

    `definitions` are all that there will be, `gone` those that were dropped or replaced, `emptied` the tables that lose their
    rows, `rewritten` those that have other rows instead, `kinds` what the version will be called after.
    """

    catalog: Catalog
    definitions: tuple[Definition, ...]
    gone: set[Name] = field(default_factory=set)
    emptied: set[str] = field(default_factory=set)
    rewritten: dict[str, Store] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=list)
    followed: set[str] = field(default_factory=set)  # sources that stay where they are read to


class Core:
    """The mutable state behind a database on Spark."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        engine.folder.origins = SourceRows(engine)
        self.present = Version()
        self.transaction: Transaction | None = None  # the open one
        self.begun: Any = None  # the block of the transaction that BEGIN has begun
        self.draft: Draft | None = None
        self.subscribers = Subscribers()
        self.unnotified: deque[dict[str, Change]] = (
            deque()
        )  # changes of versions, for subscribers after the commit
        self.uncommitted: dict[str, tuple[Snapshot, Snapshot]] = {}
        """By the mark of a group of deferred views: a snapshot, and the same with the group caught up."""
        self.committing = False  # subscribers are reading what is about to be committed
        self.functions = HandedOver()  # what the program lets definitions call
        self.publish_to: tuple[Place, ...] = ()  # places outside the warehouse that views may be published in
        self.unconfirmed: set[str] = set()  # views that are not published for want of such a folder
        self.published: dict[str, int] = {}  # the version at which each view is known to be published
        # The object of an identity, for subscribers; UNDEFINED if it is deleted.
        self.handle: Callable[[int], Any] = lambda oid: UNDEFINED
        # The rows that a view had at an earlier version; raises if that is no longer kept.
        self.past_rows: Callable[[str, int], Store] = lambda view, number: self.present.view_rows(view)
        self._lock = Lock(self.stop_previewing)
        self._before_preview: Version | None = None

    # --- the present version -------------------------------------------------------------------------------

    @property
    def version(self) -> int:
        """The number of the present version."""
        return self.present.number

    @property
    def snapshot(self) -> Snapshot:
        return self.present.snapshot

    @property
    def design(self) -> Design:
        return self.present.design

    @property
    def catalog(self) -> Catalog:
        """All definitions, with those that are not committed yet."""
        return self.present.catalog if self.draft is None else self.draft.catalog

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """All definitions as texts, with those that are not committed yet."""
        return self.present.definitions if self.draft is None else self.draft.definitions

    @property
    def readers(self) -> Mapping[str, RowReader]:
        return self.present.compiled.readers

    @property
    def rules(self) -> Mapping[str, RowRules]:
        return self.present.compiled.rules

    @property
    def progress(self) -> Progress:
        return self.engine.progress

    def table(self, name: str) -> Table:
        return require_table(self.catalog, name)

    def view(self, name: str) -> View:
        return require_view(self.catalog, name)

    def table_types(self, name: str) -> list[Type]:
        return self.present.table_types(name)

    def table_segments(self, name: str) -> Store:
        return self.present.table_rows(name)

    def install(self, version: Version) -> None:
        """Goes to a version with other definitions."""
        self.present = version
        self.uncommitted.clear()
        for key, t in version.catalog.tables.items():
            if t.primary_key:
                types = [c.type for c in t.columns]
                self.engine.declare(table_store(key), types, positions(t, t.primary_key.columns))

    # --- the lock ------------------------------------------------------------------------------------------

    @property
    def lock(self) -> Hold:
        """What `with core.lock:` takes: nobody else is inside."""
        return self._lock.hold()

    def current_hold(self) -> Hold:
        """Returns the hold that owns the lock."""
        return self._lock.last()

    @contextmanager
    def previewing(self, snapshot: Snapshot) -> Iterator[None]:
        """Lets readers inside see the version that is about to be committed; nothing can be changed meanwhile."""
        self._before_preview = self.present
        try:
            self.present, self.committing = self.present.with_snapshot(self.version, snapshot), True
            yield
        finally:
            self.stop_previewing()

    def stop_previewing(self) -> None:
        """Restores the version before a preview. Runs whenever the lock is taken, too. Idempotent."""
        before = self._before_preview
        if before is not None:
            self.present, self.committing = before, False
            self._before_preview = None

    # --- what cannot be done now ---------------------------------------------------------------------------

    def require_idle(self) -> None:
        """Refuses changes by subscribers that are called before a commit."""
        if self.committing:
            raise TransactionError(
                "a subscriber that is called before the commit cannot change the database",
                hint='subscribe with when="after": what it changes then is the next version',
            )

    def require_no_transaction(self, what: str) -> None:
        self.require_idle()
        if self.transaction is not None:
            raise in_transaction(what)

    # --- subscribers ---------------------------------------------------------------------------------------

    def notify_subscribers(self) -> tuple[str, ...]:
        """Notifies subscribers of the versions that they have not seen; returns what they have raised."""
        problems: list[str] = []
        while self.unnotified:
            problems += self.subscribers.after(self.unnotified.popleft())
        return tuple(problems)
