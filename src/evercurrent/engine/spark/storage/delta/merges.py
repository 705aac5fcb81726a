"""Rows of a view in a Delta table that exists already, by a key.

    table  customer | total | note           view  customer | total
           7        | 10    | "call"               7        | 12
           9        | 5     | NULL           ->    8        | 1

    after  7 | 12 | "call", 8 | 1 | NULL, 9 | 5 | NULL

Rule. A row that comes into the view, or changes there, changes the view's columns of the row with its key, or is inserted with NULL
in the others. A row that leaves the view is deleted. Rows whose keys the view never had, and other columns, are left alone. The
version of the warehouse is part of the commit, so a change is merged once.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow
from deltalake import CommitProperties, DeltaTable, Transaction
from deltalake import Schema as DeltaSchema

from evercurrent.data.types import Member
from evercurrent.engine.spark.translate.delta_types import find_published_schema
from evercurrent.errors import QueryError

OPERATION = "_evercurrent_operation"


def require_columns(table: DeltaTable, place: str, view: str, fields: Sequence[Member]) -> None:
    """Refuses a table that does not have the columns of a view, with their types."""
    there = {f.name: f.type for f in table.schema().fields}
    for wanted in DeltaSchema.from_arrow(find_published_schema(fields)).fields:
        if wanted.name not in there:
            raise QueryError(
                f"view {view} cannot be merged into {place}: the table has no column {wanted.name}",
                hint=f"it has {', '.join(there)}",
            )
        if there[wanted.name] != wanted.type:
            raise QueryError(
                f"view {view} cannot be merged into {place}: the column {wanted.name} is {wanted.type} in the view "
                f"and {there[wanted.name]} in the table",
                hint="cast it in the view",
            )


def find_merged_version(table: DeltaTable, application: str) -> int | None:
    """The version that was last merged under a name."""
    return table.transaction_version(application)


def merge_rows(
    table: DeltaTable,
    application: str,
    fields: Sequence[Member],
    key: Sequence[str],
    rows: pyarrow.Table,
    operations: Sequence[str],
    version: int,
) -> None:
    """Merges rows, each with `upsert` or `delete`, in one commit; fails if another commit comes in between."""
    source = rows.append_column(OPERATION, pyarrow.array(operations, pyarrow.string()))
    own = {name(f.name): f"s.{name(f.name)}" for f in fields}
    same = " AND ".join(f"t.{name(k)} IS NOT DISTINCT FROM s.{name(k)}" for k in key)
    properties = CommitProperties(app_transactions=[Transaction(application, version)], max_commit_retries=0)
    merging = table.merge(source, same, source_alias="s", target_alias="t", commit_properties=properties)
    merging.when_matched_delete(predicate=f"s.{OPERATION} = 'delete'").when_matched_update(
        updates=own, predicate=f"s.{OPERATION} = 'upsert'"
    ).when_not_matched_insert(updates=own, predicate=f"s.{OPERATION} = 'upsert'").execute()


def name(column: str) -> str:
    return '"' + column.replace('"', '""') + '"'
