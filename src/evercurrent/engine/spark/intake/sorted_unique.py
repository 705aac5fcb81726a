"""Whether the rows of a segment are strictly ascending in some columns: then no two are equal in them.

Law. Files that are sorted, one after another, by the columns of a key are strictly ascending if and only if the key is unique. The
files are read, not trusted: where one is not sorted, or a value is NULL, the answer is no, and the caller checks in another way.
One pass over the columns of the key answers it, without an exchange of rows.

>>> table_rises(pyarrow.table({"id": [1, 2, 5]}), ["id"]), table_rises(pyarrow.table({"id": [1, 2, 2]}), ["id"])
(True, False)
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import pyarrow
import pyarrow.compute

from evercurrent.engine.spark.storage.files import Folder, Segment

MOST_ROWS = 100_000_000
"""More rows than this the driver does not look at."""


def is_ascending(folder: Folder, segment: Segment, columns: Sequence[str]) -> bool:
    """Whether each row is greater than the one before, from file to file, with no NULL among the columns."""
    if segment.order[: len(columns)] != tuple(columns) or segment.rows > MOST_ROWS:
        return False
    spans: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = []
    for file in segment.files:
        table = folder.parquet(file, columns).combine_chunks()
        if not table.num_rows:
            continue
        if any(table.column(c).null_count for c in columns) or not table_rises(table, columns):
            return False
        first, last = (tuple(table.column(c)[i].as_py() for c in columns) for i in (0, -1))
        spans.append((first, last))
    spans.sort()
    return all(a[1] < b[0] for a, b in itertools.pairwise(spans))


def table_rises(table: pyarrow.Table, columns: Sequence[str]) -> bool:
    """Whether each row is greater than the one before.

    >>> table_rises(pyarrow.table({"a": [1, 1, 2], "b": [1, 2, 1]}), ["a", "b"])
    True
    >>> table_rises(pyarrow.table({"a": [1, 1, 2], "b": [1, 1, 1]}), ["a", "b"])
    False
    """
    greater: Any = None
    for name in reversed(columns):
        values = table.column(name)
        before, after = values.slice(0, len(values) - 1), values.slice(1)
        more = pyarrow.compute.less(before, after)
        if greater is not None:
            more = pyarrow.compute.or_(
                more, pyarrow.compute.and_(pyarrow.compute.equal(before, after), greater)
            )
        greater = more
    return bool(pyarrow.compute.all(greater, min_count=0).as_py())
