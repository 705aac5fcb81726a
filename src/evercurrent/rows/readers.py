"""Many rows at once: iterables, Arrow, pandas, and change feeds.

    {"_change_type": "delete", "id": 1, ...}      the row (1, ...) with weight -1

A change feed has a column `_change_type` with `insert`, `delete`, `update_preimage` or `update_postimage`, as the change
feed of a Delta table has; its other columns that begin with `_commit_` are ignored. In a pandas frame NaN and NaT
stand for NULL.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress
from typing import Any

from evercurrent.data.feeds import CHANGE_TYPE, PASSED_OVER, SIGNS
from evercurrent.data.showing import show_value
from evercurrent.data.zset import Row
from evercurrent.errors import QueryError
from evercurrent.rows.arrow_rows import rows_of_arrow
from evercurrent.rows.conversion import RowReader, is_many

NOT_COLUMNS = (CHANGE_TYPE, *PASSED_OVER)


def rows_of(reader: RowReader, source: Any) -> list[Row]:
    """The rows of whatever the user hands over, taken in."""
    rows = rows_of_arrow(reader, source)
    if rows is not None:
        return rows
    columns = frame_columns(source)
    if columns is None:
        return reader.many(source)
    height = len(next(iter(columns.values()), ()))
    return reader.columns(columns, height)


def changes_of(reader: RowReader, source: Any) -> tuple[list[Row], list[Mapping[str, Any]]]:
    """A change feed: the rows that come, taken in, and what the user says of those that go."""
    columns = frame_columns(source)
    if columns is not None:
        return _changes_of_columns(reader, columns)
    if not is_many(source):
        source = [source]
    come: list[Mapping[str, Any]] = []
    gone: list[Mapping[str, Any]] = []
    for change in source:
        if not isinstance(change, Mapping) or CHANGE_TYPE not in change:
            raise _no_change_type(reader.table.name)
        row = {k: v for k, v in change.items() if k not in NOT_COLUMNS}
        (come if sign(change[CHANGE_TYPE]) > 0 else gone).append(row)
    return reader.many(come), gone


def _changes_of_columns(
    reader: RowReader, columns: dict[str, list[Any]]
) -> tuple[list[Row], list[Mapping[str, Any]]]:
    kinds = columns.get(CHANGE_TYPE)
    if kinds is None:
        raise _no_change_type(reader.table.name)
    comes = [sign(kind) > 0 for kind in kinds]
    own = {name: column for name, column in columns.items() if name not in NOT_COLUMNS}
    come = {name: list(compress(column, comes)) for name, column in own.items()}
    gone: list[Mapping[str, Any]] = [
        {name: own[name][i] for name in own} for i, c in enumerate(comes) if not c
    ]
    return reader.columns(come, len(kinds) - len(gone)), gone


def sign(kind: Any) -> int:
    found = SIGNS.get(kind) if isinstance(kind, str) else None
    if found is None:
        raise QueryError(f"{CHANGE_TYPE} is {show_value(kind)}", hint=f"it must be one of {', '.join(SIGNS)}")
    return found


def _no_change_type(table: str) -> QueryError:
    return QueryError(
        f"the changes of {table} have no {CHANGE_TYPE}",
        hint=f"each change is a mapping, or a row of an Arrow table or pandas frame, with {CHANGE_TYPE}; "
        f"db.table({table!r}).insert(rows) inserts plain rows",
    )


def frame_columns(source: Any) -> dict[str, list[Any]] | None:
    """The columns of an Arrow table, a pandas frame, or anything that speaks Arrow; None for anything else.

    Found by their shape: neither package is imported for the sake of asking.
    """
    kind = type(source)
    if kind in (tuple, list, dict):
        return None
    if kind.__name__ == "DataFrame" and kind.__module__.startswith("pandas"):
        return _pandas_columns(source)
    if kind.__module__.startswith("pyarrow") and hasattr(source, "schema") and hasattr(source, "column"):
        return _by_name(
            [str(n) for n in source.schema.names],
            [source.column(i).to_pylist() for i in range(source.num_columns)],
        )
    if hasattr(source, "__arrow_c_stream__"):
        import pyarrow

        return frame_columns(pyarrow.table(source))
    return None


def _pandas_columns(frame: Any) -> dict[str, list[Any]]:
    names, lists = [], []
    for i, name in enumerate(frame.columns):
        series = frame.iloc[:, i]
        values, missing = series.tolist(), series.isna()
        if missing.any():
            values = [None if gone else v for v, gone in zip(values, missing.tolist(), strict=True)]
        names.append(str(name))
        lists.append(values)
    return _by_name(names, lists)


def _by_name(names: list[str], lists: list[list[Any]]) -> dict[str, list[Any]]:
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise QueryError(f"the column {twice!r} occurs twice")
    return dict(zip(names, lists, strict=True))
