"""Large changes that come as columns: read, validated, stored and applied without making rows.

    db.apply({"orders": feed}), db.table("orders").insert(frame)      with an Arrow table or a pandas frame

Law. What is committed here is what the rows, one by one, would have committed. Wherever that is not sure (a value that
needs a conversion, a key that occurs twice, a parent that is replaced) nothing is changed, `take_columns` or `commit` says
so, and rows are read from the same source: they do it, or raise the error that says what is wrong.

The tables that change must be columns or empty. Tables that they refer to, or that refer to them, may be either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.rules import (
    NotNull,
    References,
    RowRule,
    references_of,
    row_rules,
    unique_keys,
)
from evercurrent.data.feeds import CHANGE_TYPE, PASSED_OVER
from evercurrent.delta.terms import columns_read
from evercurrent.engine.live import columns as threshold
from evercurrent.errors import EvaluationError
from evercurrent.rows.store import Store
from evercurrent.term.walk import columns_of

if TYPE_CHECKING:
    import pyarrow

    from evercurrent.catalog.nodes import Table
    from evercurrent.delta.program import Program
    from evercurrent.engine.columnar.given import GivenRows
    from evercurrent.engine.columnar.intake import Intake
    from evercurrent.engine.columnar.table import ArrowRows, ColumnTable, TableChange
    from evercurrent.engine.columnar.vectors import Ints, Pools
    from evercurrent.session.session import Session
    from evercurrent.session.transactions import Transaction


@dataclass(slots=True)
class Columns:
    """What a transaction does to one table, as columns."""

    inserted: GivenRows
    deleted: GivenRows
    given: int  # how many rows there were, before what cancels was left out


@dataclass(slots=True)
class ColumnWork:
    """What a transaction does, by lower-cased names of tables; `read_rows` makes rows pending instead.

    `taken` are the numbers of rows, once they are committed, by names of tables.
    """

    changes: dict[str, Columns]
    read_rows: Callable[[], object]
    taken: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TablePlan:
    """How the columns of a table are read and checked under a program."""

    program: Program
    table: Table
    loads: Intake
    feeds: Intake
    key: tuple[int, ...]  # the primary key; all columns if there is none
    required: frozenset[int]  # the columns that are NOT NULL
    rules: list[RowRule]  # the other rules of single rows


# --- reading -----------------------------------------------------------------------------------------------


def take_columns(
    session: Session,
    transaction: Transaction,
    sources: Mapping[str, Any],
    feed: bool,
    read_rows: Callable[[], object],
) -> ColumnWork | None:
    """Has the transaction change tables (lower-cased names) by columns, if that is large and nothing but columns; else None.

    `feed`: the sources are change feeds; else all rows are inserted. `read_rows` does the same by rows.
    """
    if (
        transaction.pending
        or transaction.inner
        or transaction.objects is not None
        or session.keeper is not None
        or not session.cursors.keys().isdisjoint(sources)
    ):
        return None
    tables = {name: arrow_of(source) for name, source in sources.items()}
    if not tables or any(t is None for t in tables.values()):
        return None
    rows = sum(t.num_rows for t in tables.values())
    stores = [session.stores[name] for name in tables]
    present = session.maintenance.engine.core.columns is not None and all(
        store.columns is not None or not store.stored for store in stores
    )
    if rows < threshold.find_least(present) or not all(can_be_columns(store, rows) for store in stores):
        return None
    from evercurrent.engine.columnar.vectors import Unfit

    try:
        changes = {name: _take(session, name, table, feed) for name, table in tables.items()}
    except Unfit:
        return None
    transaction.columns = ColumnWork(changes, read_rows)
    return transaction.columns


def arrow_of(source: Any) -> Any:
    """An Arrow table of the same columns; None if it is nothing of that kind. Found by its shape."""
    kind = type(source)
    if kind in (tuple, list, dict):
        return None
    module = kind.__module__
    if not module.startswith(("pyarrow", "pandas")) and not hasattr(source, "__arrow_c_stream__"):
        return None
    import pyarrow

    try:
        if isinstance(source, pyarrow.Table):
            return source
        if isinstance(source, pyarrow.RecordBatch):
            return pyarrow.Table.from_batches([source])
        if kind.__name__ == "DataFrame" and module.startswith("pandas"):
            return pyarrow.Table.from_pandas(source, preserve_index=False)
        return pyarrow.table(source) if hasattr(source, "__arrow_c_stream__") else None
    except (pyarrow.ArrowException, TypeError, ValueError, OverflowError):
        return None


SHARE = 4
"""A table becomes columns for a change of at least one in this number of its rows."""


def can_be_columns(store: Store, rows: int) -> bool:
    """Whether a table is columns, or may become so for a change of `rows` rows: nobody holds its dictionaries."""
    if type(store) is not Store or store.pinned or store.indexes:
        return False
    return not store.stored or store.columns is not None or len(store) <= SHARE * rows


def _take(session: Session, name: str, given: pyarrow.Table, feed: bool) -> Columns:
    import numpy

    from evercurrent.engine.columnar.cancelling import NONE, split_changes
    from evercurrent.engine.columnar.intake import find_inserts
    from evercurrent.engine.columnar.vectors import Unfit

    plan = _plan_of(session, session.stores[name])
    if not feed:
        whole = plan.loads.take(given)
        return Columns(whole, whole.choose(NONE), whole.num_rows)
    if given.column_names.count(CHANGE_TYPE) != 1:
        raise Unfit("no kinds of changes")
    whole = plan.feeds.take(given)
    inserts = find_inserts(given.column(CHANGE_TYPE))
    inserted = numpy.count_nonzero(inserts)
    if inserted == len(inserts):
        return Columns(whole, whole.choose(NONE), whole.num_rows)
    if not inserted:
        return Columns(whole.choose(NONE), whole, whole.num_rows)
    return Columns(*split_changes(whole, plan.key, inserts), whole.num_rows)


def _plan_of(session: Session, store: Store) -> TablePlan:
    """How the columns of a table are read and checked, as long as the program and the table are these."""
    program = session.maintenance.engine.program
    found: TablePlan | None = store.plan
    if found is None or found.program is not program or found.table is not store.table:
        store.plan = found = _make_plan(program, store)
    return found


def _make_plan(program: Program, store: Store) -> TablePlan:
    from evercurrent.engine.columnar.intake import Intake

    table = store.table
    places = {c.name: i for i, c in enumerate(table.columns)}
    checks = {places[c.name] for check in table.checks for c in columns_of(check.condition)}
    keys = {i for key in unique_keys(table) for i in key.columns}
    keys |= {i for reference in store.references for i in reference.positions}
    read = columns_read(program, table.name) | checks | keys
    rules = list(row_rules(table))
    primary = next((k.columns for k in unique_keys(table) if k.place == 0), tuple(range(len(table.columns))))
    return TablePlan(
        program,
        table,
        Intake(table.columns, read, store.stored),
        Intake(table.columns, read, store.stored, (CHANGE_TYPE, *PASSED_OVER)),
        primary,
        frozenset(r.column for r in rules if isinstance(r, NotNull)),
        [r for r in rules if not isinstance(r, NotNull)],
    )


# --- committing --------------------------------------------------------------------------------------------


def commit_columns(session: Session, transaction: Transaction) -> bool:
    """Commits the columns of a transaction; False, and its rows are pending instead, if rows must do it."""
    work = transaction.columns
    assert work is not None
    if _commit(session, transaction, work):
        return True
    transaction.columns = None
    work.read_rows()
    return False


def _commit(session: Session, transaction: Transaction, work: ColumnWork) -> bool:
    maintenance = session.maintenance
    if session.subscribers.watched or session.catalog.assertions or maintenance.design.recomputed:
        return False
    if maintenance.lazy.inputs:
        return False
    from evercurrent.engine.columnar.vectors import Unfit

    try:
        changes = {name: _change(session, name, c) for name, c in work.changes.items()}
    except Unfit:
        return False
    if any(c is None for c in changes.values()) or _replaces_parents(session, changes):
        return False
    made = {name: c for name, c in changes.items() if c is not None}
    transaction.tables, transaction.patches = tuple(made), list(made.values())
    session.committing = transaction  # from here on, `settle` has something to finish or to undo
    for name, change in made.items():
        if session.stores[name].stored:
            session.stores[name].columns = change.table
        change.apply()
    if not _keeps_references(session, made):
        session.settle()
        return False
    deltas = {session.stores[name].table.name: delta_of(c) for name, c in made.items()}
    deltas = {name: delta for name, delta in deltas.items() if len(delta)}
    try:
        if deltas:
            maintenance.apply_columns(deltas)
    except EvaluationError:  # rows say which
        session.settle()
        return False
    for name, change in made.items():
        if work.changes[name].given:
            work.taken[session.stores[name].table.name] = change.chunk.num_rows + len(change.deleted)
    if deltas:
        transaction.number = session.number + 1
    transaction.status = "committed"  # this decides
    session.settle()
    return True


def delta_of(change: TableChange) -> ArrowRows:
    """The deleted and the inserted rows, with weights."""
    from evercurrent.engine.columnar.table import ChangedRows

    return ChangedRows(change.gone if len(change.deleted) else None, change.chunk)


def _change(session: Session, name: str, columns: Columns) -> TableChange | None:
    """The change of one table; None if one of its own rules is not certainly satisfied."""
    from evercurrent.engine.columnar.table import Forwarding

    store = session.stores[name]
    table = _columns_of(session, store)
    inserted, plan = columns.inserted, _plan_of(session, store)
    if any(map(inserted.has_nulls, plan.required & inserted.with_nulls)):
        return None
    if not all(_satisfy(rule, inserted, table.pools) for rule in plan.rules):
        return None
    import numpy

    if not store.stored:
        return Forwarding(table, columns.inserted, columns.deleted)
    deleted = table.find_rows(columns.deleted) if columns.deleted.num_rows else numpy.empty(0, numpy.int64)
    return table.change(columns.inserted, deleted, columns.deleted if len(deleted) else None)


def _satisfy(rule: RowRule, inserted: GivenRows, pools: Pools) -> bool:
    """Whether all inserted rows certainly satisfy a rule of single rows."""
    from evercurrent.engine.columnar.row_rules import satisfies

    return satisfies(rule, inserted.table(), pools)


def _columns_of(session: Session, store: Store) -> ColumnTable:
    """The columns of a table. Its rows become columns if they are not."""
    if store.columns is not None:
        store.columns = store.columns.without_dead()
        return store.columns
    from evercurrent.engine.columnar.arrow import to_arrow
    from evercurrent.engine.columnar.table import ColumnTable

    keys: list[tuple[int, ...] | None] = [key.columns for key in unique_keys(store.table)]
    if store.stored:
        keys = [None if index is None else index.positions for index in store.declared]
    references = [reference.positions for reference in store.references]
    types = [c.type for c in store.table.columns]
    made = ColumnTable(types, keys, references, _pools(session))
    if store.stored and len(store):
        made.fill(list(map(to_arrow, types, zip(*store, strict=True))))
        store.to_columns(made)
    return made


def _pools(session: Session) -> Pools:
    """The texts among the keys of all tables, numbered: a reference and its key have one number."""
    from evercurrent.engine.columnar.vectors import Pools

    if session.pools is None:
        session.pools = Pools()
    return session.pools


def _replaces_parents(session: Session, changes: Mapping[str, TableChange | None]) -> bool:
    """Whether a row, of a table whose rows the program assumes not to change, may be replaced by another."""
    parents = {a.parent.lower() for a in session.maintenance.design.program.assumptions}
    return any(
        name in parents and c is not None and len(c.deleted) and c.chunk.num_rows and c.has_replaced_keys()
        for name, c in changes.items()
    )


# --- references --------------------------------------------------------------------------------------------


def _keeps_references(session: Session, changes: Mapping[str, TableChange]) -> bool:
    """Whether every reference has a row, with the changes made."""
    catalog = session.catalog
    for name, change in changes.items():
        store = session.stores[name]
        for rule in references_of(store.table, catalog.table):
            if change.chunk.num_rows and not _have_parents(session, change, rule):
                return False
        if store.stored and len(change.deleted) and not _have_no_children(session, name, change):
            return False
    return True


def _have_parents(session: Session, change: TableChange, rule: References) -> bool:
    """Whether the keys to which inserted rows refer have rows."""
    import numpy

    table, entries = change.table.references[rule.place], change.counts[rule.place]
    wanted = entries[0][table.numbers[entries[0]] > 0]
    words = [w[wanted] for w in table.index.words]
    parent = session.stores[rule.parent.name.lower()]
    if parent.columns is not None:
        key = parent.columns.keys[rule.parent_place]
        assert key is not None
        return bool((key.find(words) >= 0).all())
    index = parent.declared[rule.parent_place]
    assert index is not None
    types = [change.table.types[i] for i in rule.columns]
    return all(key in index.held for key in _keys(session, types, words, numpy.arange(len(wanted))))


def _have_no_children(session: Session, name: str, change: TableChange) -> bool:
    """Whether no row refers to a key that no row has any more."""
    for child, reference in session.children.get(name, ()):
        key, entries = change.table.keys[reference.place], change.keys[reference.place]
        assert key is not None
        lost = entries[0][key.numbers[entries[0]] < 0]
        words = [w[lost] for w in key.index.words]
        if child.columns is not None:
            counts = child.columns.references[child.references.index(reference)]
            if (counts.find(words) > 0).any():
                return False
            continue
        types = [change.table.types[i] for i in key.positions]
        import numpy

        if any(reference.held.get(k) for k in _keys(session, types, words, numpy.arange(len(lost)))):
            return False
    return True


def _keys(session: Session, types: Sequence[Any], words: Sequence[Ints], places: Ints) -> list[Any]:
    """Keys as the dictionaries of rows have them: the bare value of one column, a tuple of several."""
    from evercurrent.engine.columnar.deltas import to_rows
    from evercurrent.engine.columnar.vectors import Vector, kind_of, value_of_word

    vectors = [Vector(value_of_word(kind_of(t), w)) for t, w in zip(types, words, strict=True)]
    rows = to_rows(types, vectors, len(places), _pools(session))
    return [row[0] for row in rows] if len(types) == 1 else list(rows)
