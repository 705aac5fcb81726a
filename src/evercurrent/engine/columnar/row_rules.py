"""Whether inserted rows, held as columns, satisfy the rules of single rows: NotNull, MaxLength and Satisfies.

Law. Where `satisfies` returns True, every row, looked at alone, satisfies the rule (`rows.violations`). Where it returns
False or raises an error, a row may violate it, and rows looked at one by one say which.

>>> from evercurrent.catalog.nodes import Table, TableColumn
>>> from evercurrent.data.types import BIGINT, String
>>> table = Table("t", (TableColumn("id", BIGINT, False), TableColumn("code", String(3))))
>>> rows = pyarrow.table({"c0": [1, None], "c1": ["abc", "abcd"]})
>>> satisfies(NotNull(table, 0), rows, Pools()), satisfies(MaxLength(table, 1, 4), rows, Pools())
(False, True)
"""

from __future__ import annotations

from typing import assert_never

import pyarrow
import pyarrow.compute

from evercurrent.catalog.rules import MaxLength, NotNull, RowRule, Satisfies
from evercurrent.engine.columnar.arrow import vector_of
from evercurrent.engine.columnar.terms import Batch, compile_vector
from evercurrent.engine.columnar.vectors import Pools
from evercurrent.term.walk import columns_of


def satisfies(rule: RowRule, rows: pyarrow.Table, pools: Pools) -> bool:
    """Whether all rows (`c0, c1, ...`) certainly satisfy a rule; `Unfit` if a condition cannot be computed by columns.

    A column of Arrow's type null stands for one that nobody reads, and that was checked when it was taken.
    """
    match rule:
        case NotNull(_, i):
            return not rows.column(f"c{i}").null_count or pyarrow.types.is_null(rows.column(f"c{i}").type)
        case MaxLength(_, i, length):
            if pyarrow.types.is_null(rows.column(f"c{i}").type):
                return True
            lengths = pyarrow.compute.utf8_length(rows.column(f"c{i}"))
            return (pyarrow.compute.max(lengths).as_py() or 0) <= length
        case Satisfies(table, check):
            code = compile_vector(check.condition, pools)
            read = {c.name for c in columns_of(check.condition)}
            vectors = {
                c.name: vector_of(c.type, rows.column(f"c{i}"), pools)
                for i, c in enumerate(table.columns)
                if c.name in read
            }
            found = code(Batch(vectors, rows.num_rows))
            false = ~found.values if found.valid is None else ~found.values & found.valid
            return not false.any()
        case _:
            assert_never(rule)
