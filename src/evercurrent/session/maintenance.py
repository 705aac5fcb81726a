"""The engine, the program that it runs, and the views that are recomputed in full.

    maintenance.apply({"orders": ZSet({(1, 7, 950): 1})}, tables, ["spend"], verdict)      {"spend": ZSet({(7, 950): 1})}

A transaction goes through here once: `apply` updates everything and returns the changes of the relations that are watched,
then either `commit` or `undo`. Views that are recomputed in full are recomputed first, from the new rows of the tables;
their changes then reach the views that read them through the program, as those of tables do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from evercurrent.calculus.nodes import Query
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import base_tables, view_order
from evercurrent.data.zset import Row, ZSet
from evercurrent.design.assumptions import HARMLESS, Verdict, examine_parents
from evercurrent.design.compile import Design, can_refill, compile_all, hybrid_relations
from evercurrent.design.evaluation import run_query
from evercurrent.design.lazy_views import Lazy
from evercurrent.design.statistics import TableStatistics
from evercurrent.engine.live.borrowed_states import Lender
from evercurrent.engine.live.engine import LiveEngine
from evercurrent.errors import TransactionError
from evercurrent.locking.insist import insist
from evercurrent.rows.store import ColumnRows, Store
from evercurrent.session.plans.readiness import is_maintained
from evercurrent.term.functions.numbers.bounds import OutOfBounds


def entries_of(rows: ZSet) -> Any:
    """The rows with their weights: as columns, if they are columns."""
    return rows.source if isinstance(rows, ColumnRows) else rows.items()


Contents = Callable[[str], ZSet]
"""The rows of a table, or of a view that is recomputed in full, by its name."""


FIRST_CHOICE = 64
"""Maps are chosen by the observed changes after this number of transactions, and then after twice as many each time."""

SMALL, GROWTH = 256, 8
"""Tables of fewer rows say nothing yet; maps are chosen again when a table has grown by this factor."""

BULK = 16
"""More rows of one transaction count as this number: a large load does not mean that as much will change later."""


class _Installed:
    """What an installation replaces."""

    __slots__ = ("catalog", "core", "design", "engine", "full", "lazy", "lazy_state")

    def __init__(self, of: Maintenance) -> None:
        self.catalog, self.design, self.full = of.catalog, of.design, of.full
        self.engine, self.core = of.engine, of.engine.core
        self.lazy, self.lazy_state = of.lazy, of.lazy.state()

    def put_back(self, into: Maintenance) -> None:
        """Makes it be there again. Idempotent."""
        self.engine.core = self.core
        self.lazy.restore(self.lazy_state)
        into.catalog, into.design, into.full = self.catalog, self.design, self.full
        into.engine, into.lazy = self.engine, self.lazy


class Maintenance:
    """Keeps all views of a database current."""

    def __init__(self) -> None:
        self.catalog = Catalog()
        self.design = Design()
        self.engine = LiveEngine()
        self.lazy = Lazy()
        self.full: dict[str, ZSet] = {}
        self._full_before: dict[str, ZSet] = {}
        self._watched: tuple[object, Design, dict[str, str], frozenset[str]] = (
            (),
            self.design,
            {},
            frozenset(),
        )
        self.notes: list[str] = []
        self.lender: Lender | None = None  # who holds rows of tables as objects
        self.outdated = False  # whether compiled functions that were given out are not those of this program
        self.torn = False  # whether a compiled function without a journal was stopped halfway
        self.changes: dict[str, int] = {}  # rows of tables that have changed since the last choice of maps
        self.transactions, self.next_choice = 0, FIRST_CHOICE
        self._changed: tuple[str, ...] = ()
        self.has_loaded = (
            False  # whether many rows changed at once, so that the next transaction looks at sizes
        )
        self.limits: dict[str, int] = {}  # the sizes of tables at which maps are chosen again
        self._before: _Installed | None = None  # what was there before an installation that is not finished

    # --- installing ----------------------------------------------------------------------------------------

    def install(
        self, catalog: Catalog, design: Design, tables: Contents, emptied: Mapping[str, ZSet] | None = None
    ) -> None:
        """Keep these views from now on. Parts that are kept already stay; new ones are found from the tables.

        `emptied` are the rows that tables have had, whose names now stand for other, empty tables.
        """
        if design is self.design:
            self.catalog = catalog
            return
        kept = {
            name: rows
            for name, rows in self.full.items()
            if name in design.recomputed and catalog.view(name) is self.catalog.view(name)
        }
        full = self._recompute(catalog, tables, set(design.recomputed) - set(kept), kept)
        try:
            self._before = _Installed(self)
            if emptied:
                self.engine.apply({name: -rows for name, rows in emptied.items()})
            contents: Contents = lambda name: full[name] if name in full else tables(name)  # noqa: E731
            design = self._install_within_bounds(catalog, design, contents)
            self.lazy.install(design.later, contents)
            self.engine.commit()
            self.outdated = True
            self.catalog, self.design, self.full = catalog, design, full
            self._before = None
        except BaseException:
            insist(self.settle)
            raise

    def _install_within_bounds(self, catalog: Catalog, design: Design, contents: Contents) -> Design:
        """Installs the program; amounts that the rows put out of bounds are computed row by row (see `delta.bounds`)."""
        while True:
            hybrid = hybrid_relations(catalog, design.program)
            try:
                self.engine.install(
                    design.program, lambda name: entries_of(contents(name)), hybrid, self.lender
                )
                return design
            except OutOfBounds as found:
                _, design = compile_all(
                    catalog, design, design.refused, unbounded=design.unbounded | {found.amount}
                )

    def widen(self, amount: str, tables: Contents) -> None:
        """Computes an amount row by row from now on: a change has put it out of bounds. The rows of no view change by this."""
        unbounded = self.design.unbounded | {amount}
        catalog, design = compile_all(self.catalog, self.design, self.design.refused, unbounded=unbounded)
        self.install(catalog, design, tables)

    # --- the choice of maps --------------------------------------------------------------------------------

    def statistics(self, stores: Mapping[str, Store], tables: Contents) -> TableStatistics | None:
        """What maps are chosen by; None while all tables are small, or if states could not be computed again."""
        if not can_refill(self.catalog):
            return None
        sizes = {name: store.entry_count() for name, store in stores.items() if store.table.stored}
        if len(sizes) < len(stores) or max(sizes.values(), default=0) < SMALL:
            return None
        columns = {name: [c.name for c in store.table.columns] for name, store in stores.items()}
        return TableStatistics(sizes, dict(self.changes), tables, lambda name: columns[name.lower()])

    def watch_growth(self, deltas: Mapping[str, ZSet], stores: Mapping[str, Store], tables: Contents) -> bool:
        """Counts the changes of tables; if one has outgrown the choice of maps, makes it again. Whether the program is another.

        A choice is also made again after twice as many transactions as the last one, by what has changed since.
        """
        self.transactions += 1
        grown = self.transactions >= self.next_choice
        for name in self._changed:  # by the transaction before, which is applied
            store = stores.get(name)
            if (
                store is not None
                and store.table.stored
                and store.entry_count() >= self.limits.get(name, SMALL)
            ):
                grown = True
        self._changed = tuple(deltas)
        self.has_loaded = any(len(delta.weights) > BULK for delta in deltas.values())
        for name, delta in deltas.items():
            self.changes[name] = self.changes.get(name, 0) + min(len(delta.weights), BULK)
        if not grown:
            return False
        self.next_choice = max(FIRST_CHOICE, 2 * self.transactions)
        for name, store in stores.items():
            if store.table.stored:
                self.limits[name] = max(SMALL, GROWTH * store.entry_count())
        known = self.statistics(stores, tables)
        if known is None:
            return False
        before = self.design
        catalog, design = compile_all(self.catalog, before, before.refused, statistics=known)
        self.changes.clear()
        known.samples.clear()
        if design.find_stored_maps() == before.find_stored_maps():
            self.design = replace(
                before, statistics=known, program=replace(before.program, choices=design.program.choices)
            )
            return False
        self.install(catalog, design, tables)
        return True

    def rebuild(self, tables: Contents) -> None:
        """Computes every state from the tables. Until that has succeeded, `torn` says that it must be done."""
        self.torn = True
        made = Maintenance()
        made.lender, made.notes = self.lender, self.notes
        made.install(self.catalog, self.design, tables)
        self.become(made)
        self.torn = False

    def become(self, made: Maintenance) -> None:
        """Takes over everything that another one has installed."""
        self.outdated = True
        _Installed(made).put_back(self)

    def examine(self, deltas: Mapping[str, ZSet], stores: Mapping[str, Store]) -> Verdict:
        """Checks a transaction against what the program assumes of parents and children."""
        assumptions = self.design.program.assumptions
        return examine_parents(assumptions, deltas, stores) if assumptions else HARMLESS

    def relax(self, deltas: Mapping[str, ZSet], stores: Mapping[str, Store], tables: Contents) -> Verdict:
        """Gives up the assumptions that this change breaks: compiles without them, and fills the states that this needs.

        The rows of no view change by this, so it need not be undone. A program without an assumption may make another one, so
        the change is checked until it breaks none.
        """
        verdict = self.examine(deltas, stores)
        while verdict.broken:
            catalog, design = compile_all(self.catalog, self.design, self.design.refused | verdict.broken)
            self.install(catalog, design, tables)
            for child, parent in sorted(verdict.broken):
                self.notes.append(
                    f"{parent} changed while rows of {child} referred to it: since then it is no longer assumed "
                    f"that it does not, and more is kept"
                )
            verdict = self.examine(deltas, stores)
        return verdict

    # --- one transaction -----------------------------------------------------------------------------------

    def apply(
        self, deltas: Mapping[str, ZSet], tables: Contents, watch: Iterable[str], verdict: Verdict
    ) -> dict[str, ZSet]:
        """Applies the changes of tables to all views; returns the changes of the watched views and assertions."""
        if not self.is_settled:
            self.settle()
        result = self._apply_full(deltas, tables) if self.design.recomputed else {}
        known = self._watched
        if known[0] is not watch or known[1] is not self.design:  # mostly they are the same as before
            views = self.design.program.views
            strict = {name: views[name] for name in watch if name in views}
            known = self._watched = (watch, self.design, strict, frozenset(strict.values()))
        watched = known[2]
        moving = {**deltas, **result} if result else deltas
        changes = self.engine.apply(moving, known[3], verdict.together)
        if self.lazy.inputs:
            self.lazy.note(moving)
            lazy = {name: self.design.relation(name) for name in watch if name in self.design.lazy}
            if lazy:
                watched = {**watched, **lazy}
                changes |= self.lazy.apply(lazy.values())
        for name, relation in watched.items():
            view_deltas = changes.get(relation)
            if view_deltas:
                result[name] = view_deltas
        return result

    def apply_columns(self, deltas: Mapping[str, Any]) -> None:
        """Applies changes that are columns; nobody watches."""
        if not self.is_settled:
            self.settle()
        self.engine.apply(deltas)

    def _apply_full(self, deltas: Mapping[str, ZSet], tables: Contents) -> dict[str, ZSet]:
        """Recompute the views that are recomputed in full and read one of these tables; their changes."""
        touched = {name.lower() for name in deltas}
        stale = [
            name for name in self.design.recomputed if touched & base_tables(self.catalog, frozenset({name}))
        ]
        if not stale:
            return {}
        new = self._recompute(self.catalog, tables, set(stale), self.full)
        result = {name: change for name in stale if (change := new[name] - self.full[name])}
        self._full_before, self.full = self.full, new
        return result

    @property
    def is_settled(self) -> bool:
        """Whether no transaction or installation is under way, or was stopped on its way."""
        return is_maintained(self)

    def settle(self) -> None:
        """Undoes what was neither committed nor undone, and rebuilds what an interrupt may have damaged. Idempotent."""
        if self._before is not None:
            self._before.put_back(self)
            self._before = None
        if not self.is_settled:
            if self._full_before:
                self.full, self._full_before = self._full_before, {}
            self.lazy.settle_engine()
            self.engine.settle()

    def require_whole(self) -> None:
        """Refuses to commit what somebody interrupted while it was read inside the transaction."""
        if "moving" in (self.engine.core.phase, self.lazy.engine.core.phase):
            raise TransactionError(
                "the transaction was undone: an interrupt stopped a read of a view inside it"
            )

    def commit(self) -> None:
        if self._full_before:
            self._full_before = {}
        self.lazy.commit()
        self.engine.commit()

    def undo(self) -> None:
        if self._full_before:
            self.full, self._full_before = self._full_before, {}
        self.lazy.undo()
        self.engine.undo()

    def _recompute(
        self, catalog: Catalog, tables: Contents, names: set[str], known: Mapping[str, ZSet]
    ) -> dict[str, ZSet]:
        """Returns the contents of all views that are recomputed in full; those of these names are computed again."""
        result = {name: rows for name, rows in known.items() if name not in names}
        for view in view_order(catalog):
            if view.name in names:
                result[view.name] = run_query(
                    cast(Query, view.query), catalog, lambda n: result[n] if n in result else tables(n)
                )
        return result

    # --- reading -------------------------------------------------------------------------------------------

    def rows(self, view: str) -> ZSet:
        """The rows of a view."""
        if view in self.full:
            return self.full[view]
        if view in self.design.lazy:
            return self.lazy.rows(self.design.relation(view))
        return ZSet(self.engine.rows(self.design.relation(view)))

    def trigger(self, table: str, sign: int, journal: bool = False) -> Callable[[Row], object]:
        """The function of one row of a table that comes (+1) or goes (-1): no watching, undo if there is a `journal`."""
        return self.lazy.trigger(table, sign, self.engine.trigger(table, sign, journal))

    def apart(self, table: str, sign: int, journal: bool, things: frozenset[int]) -> Callable[..., object]:
        """The same of the columns, one by one; at `things` are those that a row refers to by their keys."""
        if table not in self.lazy.inputs:
            return self.engine.apart(table, sign, journal, things)
        change = self.trigger(table, sign, journal)

        def whole(*columns: Any) -> object:
            cells = ((i in things and c is not None, c) for i, c in enumerate(columns))
            return change(tuple([c.oid if refers else c for refers, c in cells]))

        return whole
