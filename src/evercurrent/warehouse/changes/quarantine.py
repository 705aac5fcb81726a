"""Changes that break a constraint or an assertion, set aside in a table, while the rest of the batch is applied.

    SELECT * FROM evercurrent_quarantine
    table_name  change  row (as JSON)  constraint_name  reason  batch  version

It is a table like any other: views can be kept over it, and what has been dealt with can be deleted from it. What is set
aside and what is applied are one version. Of a source it holds that

    the rows of the source  =  the rows of its table  +  the rows set aside

so that a row which leaves the source leaves the quarantine if that is where it is. To that end rows of sources that are
set aside are stored a second time, as rows of their table (`aside_store`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from evercurrent.catalog.dependencies import base_tables
from evercurrent.catalog.nodes import Assertion
from evercurrent.catalog.rules import EXISTING_ROW
from evercurrent.data.zset import Row, ZSet
from evercurrent.delta.analyses.fill import part_for
from evercurrent.delta.program import Program
from evercurrent.design.compile import assertion_key
from evercurrent.engine.spark.storage.entry_reader import TooLarge
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import aside_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import ConstraintError, QueryError
from evercurrent.frontend.sql.parse import parse_statement
from evercurrent.frontend.sql.statements import CreateTable
from evercurrent.rows.conversion import give_row
from evercurrent.session.blame import assertion_error
from evercurrent.warehouse.changes import bulk
from evercurrent.warehouse.changes.assertion_trials import (
    TRIALS,
    UNITS,
    TooMany,
    aside,
    to_set_aside,
    units_of,
)
from evercurrent.warehouse.changes.constraint_split import Aside, split_by_constraints
from evercurrent.warehouse.changes.constraints import write_segments
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.definitions import statements
from evercurrent.warehouse.maintenance.assertions import find_violated_assertions
from evercurrent.warehouse.maintenance.called_functions import require_functions
from evercurrent.warehouse.maintenance.update import update_views
from evercurrent.warehouse.program_parts import stateless_relations
from evercurrent.warehouse.touched_rows import TouchedRows

TABLE = "evercurrent_quarantine"
DEFINITION = (
    f"CREATE TABLE {TABLE} (table_name STRING NOT NULL, change STRING NOT NULL, row STRING NOT NULL, "
    "constraint_name STRING NOT NULL, reason STRING NOT NULL, batch STRING, version BIGINT NOT NULL)"
)


@dataclass(frozen=True)
class Misfit:
    """A change that could not be taken in at all: it is kept as it was given."""

    table: str  # lower-cased
    change: str
    row: str
    reason: str
    constraint: str = "type"


@dataclass
class SplitBatch:
    """A batch in two: what is applied (rows in the driver, or segments), and what is quarantined."""

    deltas: dict[str, ZSet] = field(default_factory=dict)
    segments: dict[str, Segment] = field(default_factory=dict)
    asides: list[Aside] = field(default_factory=list)
    misfits: list[Misfit] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        found: Counter[str] = Counter()
        for a in self.asides:
            found[a.table] += abs(a.weight)
        for m in self.misfits:
            found[m.table] += 1
        return dict(found)


def ensure(core: Core) -> None:
    """See to it that the table is there."""
    known = core.catalog.table(TABLE)
    if known is None:
        statement = parse_statement(DEFINITION, core.catalog)
        assert isinstance(statement, CreateTable)
        statements.create_table(core, statement.table, DEFINITION, False, False)
    elif len(known.columns) != 7 or any(c.name != n for c, n in zip(known.columns, COLUMNS, strict=True)):
        raise QueryError(
            f"{TABLE} is not as evercurrent makes it", hint="drop or rename the table of this name"
        )


COLUMNS = ("table_name", "change", "row", "constraint_name", "reason", "batch", "version")


def split_batch(core: Core, deltas: Mapping[str, ZSet], touched: TouchedRows) -> SplitBatch:
    """Splits a batch that the driver holds into what is applied and what is quarantined."""
    try:
        touched.load_all(deltas)
    except TooLarge:
        segments, asides = bulk.split_by_constraints(core.engine, core.present, write_segments(core, deltas))
        return SplitBatch(segments=segments, asides=asides)
    left, gone = split_by_constraints(touched.stores, core.rules, deltas)
    result = SplitBatch(left, asides=gone)
    while broken := find_broken_assertions(core, result.deltas):
        assertion, rows = broken[0]
        refused = find_units_to_blame(
            core, result.deltas, touched, [a for a, _ in broken], assertion_error(assertion, rows)
        )
        named = ", ".join(a.name for a, _ in broken)
        result.asides += aside(refused, assertion.name, f"with it {named} would not hold")
        for table, entries in refused:
            for row, w in entries:
                result.deltas[table].add(row, -w)
        result.deltas, more = split_by_constraints(touched.stores, core.rules, result.deltas)
        result.asides += more
    return result


def find_units_to_blame(
    core: Core,
    deltas: Mapping[str, ZSet],
    touched: TouchedRows,
    broken: Iterable[Assertion],
    error: ConstraintError,
) -> list[Any]:
    """The units without which all assertions hold."""
    used = frozenset(name for a in broken for name in a.uses)
    read = base_tables(core.catalog, used)

    def violations(some: Mapping[str, ZSet]) -> frozenset[object]:
        return frozenset((a.name, row) for a, rows in find_broken_assertions(core, some) for row in rows)

    units = units_of(touched.stores, deltas)
    rest = {table: delta for table, delta in deltas.items() if table not in read}
    candidates = [u for u in units if u[0] in read]
    if rest and violations(rest):
        rest, candidates = {}, units
    try:
        return to_set_aside(candidates, rest, violations)
    except TooMany:
        error.hint = (
            f"the batch is refused as a whole: which of its {len(candidates):,} changes are to blame is looked for "
            f"among at most {UNITS:,}, in at most {TRIALS:,} trials"
        )
        raise error from None


def find_broken_assertions(core: Core, deltas: Mapping[str, ZSet]) -> list[tuple[Assertion, list[Row]]]:
    """The assertions that would not hold after a change, with the rows that they would return."""
    if not core.catalog.assertions or not deltas:
        return []
    inputs = write_segments(core, deltas)
    part = assertion_part(core)
    if part is None:
        require_functions(core.catalog, core.functions, inputs)
        found = update_views(core.engine, core.present, inputs)[0].deltas
    else:
        names = {core.catalog.tables[key].name: s for key, s in inputs.items()}
        found = core.engine.run(part, core.snapshot.stores, names)[0].deltas
    return list(find_violated_assertions(core.engine, core.present.compiled, found))


def assertion_part(core: Core) -> Program | None:
    """Returns the part of the program that updates assertions; None if one of them depends on a view that is recomputed."""
    program = core.present.program
    relations = [program.views[assertion_key(a.name)] for a in core.catalog.assertions.values()]
    full = stateless_relations(program, core.catalog, core.snapshot.cold)
    part = part_for(program, (), relations, full)
    outside = full | set(core.design.recomputed)
    return None if any(r.name in outside for r in part.relations) else part


# --- what is written ---------------------------------------------------------------------------------------


def row_json(core: Core, table: str, row: Row) -> str:
    """A row as JSON, in the table's names; values that JSON has not are texts."""
    fields = core.catalog.tables[table].fields
    given = dict(zip([f.name for f in fields], give_row(fields, row), strict=True))
    return json.dumps(given, default=str, ensure_ascii=False)


def entries(core: Core, split: SplitBatch, batch: str | None) -> ZSet:
    """The change of the quarantine: what is set aside comes, what leaves a source from there goes."""
    result = ZSet()
    version = core.version + 1
    for m in split.misfits:
        name = core.catalog.tables[m.table].name
        result.add((name, m.change, m.row, m.constraint, m.reason, batch, version), 1)
    for a in split.asides:
        name = core.catalog.tables[a.table].name
        change = "insert" if a.weight > 0 else "delete"
        shown = row_json(core, a.table, a.row)
        result.add((name, change, shown, a.constraint, a.reason, batch, version), abs(a.weight))
    return result


Leaving = tuple[ZSet, dict[str, ZSet]]
"""What leaves: the change of the quarantine and, by table, of the rows set aside."""


def let_go(core: Core, split: SplitBatch) -> Leaving:
    """Deletions of rows of sources that were set aside before: they leave the quarantine, and are no violation.

    Such deletions are taken out of `split`.
    """
    quarantine, stores = ZSet(), dict[str, ZSet]()
    stay: list[Aside] = []
    held: dict[str, dict[Row, int]] = {}
    listed: dict[tuple[str, str], list[tuple[Row, int]]] = {}
    for a in split.asides:
        if a.constraint != EXISTING_ROW or a.weight > 0 or not core.present.is_source(a.table):
            stay.append(a)
            continue
        if a.table not in held:
            store = core.snapshot.stores.get(aside_store(a.table), Store())
            held[a.table] = dict(core.engine.rows(store, core.table_types(a.table)))
        times = min(-a.weight, held[a.table].get(a.row, 0))
        if times < -a.weight:
            stay.append(a)
            continue
        if not listed:
            listed = read_quarantine(core)
        stores.setdefault(a.table, ZSet()).add(a.row, -times)
        held[a.table][a.row] -= times
        for row, w in listed.get((core.catalog.tables[a.table].name, row_json(core, a.table, a.row)), ()):
            gone = min(times, w + quarantine.weights.get(row, 0))
            quarantine.add(row, -gone)
            times -= gone
    split.asides = stay
    return quarantine, stores


def release(core: Core, tables: Iterable[str]) -> Leaving:
    """All that is set aside of sources that are compared as a whole: it is read again, and validated again."""
    rows: dict[str, ZSet] = {}
    for table in tables:
        store = core.snapshot.stores.get(aside_store(table), Store())
        if store.segments:
            rows[table] = -ZSet(core.engine.rows(store, core.table_types(table)))
    gone = ZSet()
    if rows:
        names = {core.catalog.tables[table].name for table in rows}
        for (name, _), found in read_quarantine(core).items():
            if name in names:
                for row, w in found:
                    gone.add(row, -w)
    return gone, rows


def read_quarantine(core: Core) -> dict[tuple[str, str], list[tuple[Row, int]]]:
    """What is in the quarantine as insertions, by table and row."""
    result: dict[tuple[str, str], list[tuple[Row, int]]] = {}
    if core.catalog.table(TABLE) is not None:
        for row, w in core.engine.rows(core.table_segments(TABLE), core.table_types(TABLE)):
            if row[1] == "insert":
                result.setdefault((row[0], row[2]), []).append((row, w))
    return result


def plus_aside(core: Core, table: str, held: Store) -> Store:
    """All that we hold of a source: the rows of its table and those set aside."""
    beside = core.snapshot.stores.get(aside_store(table), Store())
    return Store(held.base, (*held.recent, *beside.segments)) if beside.segments else held


def collect_set_aside(core: Core, asides: Iterable[Aside]) -> dict[str, ZSet]:
    """The changes of the rows that are set aside, of sources."""
    result: dict[str, ZSet] = {}
    for a in asides:
        if a.weight > 0 and core.present.is_source(a.table):
            result.setdefault(a.table, ZSet()).add(a.row, a.weight)
    return result
