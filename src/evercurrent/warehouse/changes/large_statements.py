"""Statements that change many rows: found by a query of Spark, taken in by tasks; the driver holds none of them.

    UPDATE, DELETE, MERGE, INSERT ... SELECT     (action, old row, new row)  ->  old rows deleted, new ones inserted
    TRUNCATE                                     every stored row deleted

A statement of its own over large tables comes here; one inside a transaction, or with RETURNING, is gathered by the driver, as are the
changes of one that turns out to concern few rows.
"""

from __future__ import annotations

import time
from math import inf

from evercurrent.calculus.inline import inline_views
from evercurrent.calculus.walk import relations_of
from evercurrent.catalog.nodes import Table
from evercurrent.engine.spark.engine import SMALL_ROWS
from evercurrent.engine.spark.intake.frames import (
    count_changes,
    find_repeated_row,
    select_deleted,
    split_changes,
    write_weighted,
)
from evercurrent.engine.spark.intake.task_intake import Checks
from evercurrent.engine.spark.storage.file_schema import Frame, row_schema
from evercurrent.engine.spark.storage.segments import LARGE_ROWS, JobContext
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.types import internal
from evercurrent.frontend.sql.statements import Modify
from evercurrent.statements.execute import change_rows, several_matches
from evercurrent.warehouse.changes import bulk
from evercurrent.warehouse.changes.transactions import Block
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.maintenance.catch_up import relation_rows
from evercurrent.warehouse.maintenance.commit import Batch, commit, tidying
from evercurrent.warehouse.queries import answer_segment


def modify_large(core: Core, statement: Modify) -> int | None:
    """Runs a change over large tables; returns how many rows it concerns, or None if it is left to a transaction."""
    plain = core.transaction is None and statement.conflict is None and statement.returning is None
    query = inline_views(statement.query, core.catalog)
    if not plain or sum(relation_rows(core, name)[0].rows for name in relations_of(query)) <= SMALL_ROWS:
        return None
    table = core.table(statement.table)
    key = table.name.lower()
    if table.primary_key is None or not table.stored:
        return None
    core.present.require_own(key)
    begin = time.perf_counter()
    with tidying(core):
        found = answer_segment(core, query)
        types = [f.type for f in query.fields]
        if found.rows <= SMALL_ROWS:
            with Block(core, alone=True) as transaction:
                return change_rows(transaction, table, core.engine.rows(Store((found,)), types))
        context = core.engine.job_context(max(found.rows, LARGE_ROWS + 1))
        changes = context.read(row_schema(types), [found])
        width = len(table.columns)
        if statement.kind == "merge":
            twice = find_repeated_row(changes, width)
            if twice is not None:
                raise several_matches(table, tuple(map(internal, [c.type for c in table.columns], twice)))
        count = count_changes(changes)
        commit_rows(core, table, context, split_changes(changes, width), begin)
        return count


def truncate_large(core: Core, name: str) -> int | None:
    """Deletes all rows of a large table; returns how many, or None if it is left to a transaction."""
    table = core.table(name)
    store = core.present.table_rows(table.name)
    served = core.transaction is None and table.primary_key is not None and table.stored
    if not served or store.rows <= SMALL_ROWS:
        return None
    core.present.require_own(table.name.lower())
    begin = time.perf_counter()
    with tidying(core):
        context = core.engine.job_context(max(store.rows, LARGE_ROWS + 1))
        rows = context.read(row_schema([c.type for c in table.columns]), store.segments)
        return commit_rows(core, table, context, select_deleted(rows), begin)


def commit_rows(core: Core, table: Table, context: JobContext, rows: Frame, begin: float) -> int:
    """Validates and commits weighted rows of a table; returns how many rows of it are different then."""
    key = table.name.lower()
    checks = Checks(core.catalog.tables, core.table_segments, frozenset({key}))
    segment = write_weighted(
        core.engine, table_store(key), table.name, table.fields, context, rows, inf, checks
    )
    if not segment.rows:
        return 0
    taken = time.perf_counter()
    bulk.validate(core.engine, core.present, {key: segment}, checks.satisfied)
    steps = {"intake": taken - begin, "constraints": time.perf_counter() - taken}
    commit(core, Batch({key: segment}, None, begin, steps))
    return segment.rows
