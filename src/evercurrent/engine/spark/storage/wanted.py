"""The values that are asked for in one column.

Of integers an array is kept, sorted: of a million keys no Python value is made.

>>> wanted = Wanted.of("c0", [5, None, 3], pyarrow.int64())
>>> wanted.keys, wanted.null, wanted.has_between(4, 9)
([3, 5], True, True)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy
import pyarrow


@dataclass(frozen=True)
class Wanted:
    """The values that are asked for in one column, as Arrow has them."""

    column: str
    values: pyarrow.Array
    null: bool
    plain: Sequence[Any] | None = None
    """The values that are not NULL, as Python has them, if they are at hand."""

    @cached_property
    def keys(self) -> list[Any]:
        """The values that are not NULL, sorted."""
        return sorted(self.values.drop_null().to_pylist() if self.plain is None else self.plain)

    @cached_property
    def numbers(self) -> Any:
        """The same of integers, as an array of 64 bits, so that no search converts it again; None of other types."""
        if not pyarrow.types.is_signed_integer(self.values.type):
            return None
        known = self.values.drop_null() if self.null else self.values
        found = known.to_numpy(zero_copy_only=False).astype(numpy.int64, copy=False)
        return found if rises(found) else numpy.sort(found)

    def has_between(self, low: Any, high: Any) -> bool:
        """Whether one of the values lies in a range, ends included."""
        if self.numbers is None:
            at = bisect_left(self.keys, low)
            return at < len(self.keys) and bool(self.keys[at] <= high)
        place = int(numpy.searchsorted(self.numbers, low))
        return place < len(self.numbers) and bool(self.numbers[place] <= high)

    @property
    def sortable(self) -> bool:
        """Whether its values can be found by binary search: numbers, and none is NULL."""
        kind = self.values.type
        return not self.null and (pyarrow.types.is_integer(kind) or pyarrow.types.is_date32(kind))

    @staticmethod
    def of(column: str, plain: Sequence[Any], type_: pyarrow.DataType) -> Wanted:
        known = [v for v in plain if v is not None]
        return Wanted(column, pyarrow.array(plain, type_), len(known) < len(plain), known)

    @staticmethod
    def among(column: str, found: pyarrow.ChunkedArray) -> Wanted:
        """The values of a column."""
        if pyarrow.types.is_integer(found.type):
            whole = found.combine_chunks()
            if ascends(whole):
                return Wanted(column, whole, False)
        values = found.unique()
        return Wanted(column, values, values.null_count > 0)


def rises(values: Any) -> bool:
    """Whether no value of an array is smaller than the one before.

    >>> rises(numpy.array([1, 1, 2])), rises(numpy.array([2, 1]))
    (True, False)
    """
    return bool((values[:-1] <= values[1:]).all())


def ascends(column: pyarrow.Array) -> bool:
    """Whether a column is one of integers, each larger than the one before, none of them NULL.

    >>> ascends(pyarrow.array([1, 2, 5])), ascends(pyarrow.array([1, 1])), ascends(pyarrow.array(["a"]))
    (True, False, False)
    """
    if column.null_count or not pyarrow.types.is_integer(column.type):
        return False
    values = column.to_numpy(zero_copy_only=False)
    return bool((values[:-1] < values[1:]).all())
