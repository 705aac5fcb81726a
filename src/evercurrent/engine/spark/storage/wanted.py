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
            if not whole.null_count and rises(values := whole.to_numpy(zero_copy_only=False)):
                first = numpy.ones(len(values), bool)
                first[1:] = values[1:] != values[:-1]
                return Wanted(column, whole if first.all() else whole.filter(pyarrow.array(first)), False)
        values = found.unique()
        return Wanted(column, values, values.null_count > 0)


def rises(values: Any) -> bool:
    """Whether no value of an array is smaller than the one before.

    >>> rises(numpy.array([1, 1, 2])), rises(numpy.array([2, 1]))
    (True, False)
    """
    return bool((values[:-1] <= values[1:]).all())


def find_equal(rising: Any, keys: Any) -> tuple[Any, Any]:
    """Returns for each of some sorted keys the place of the first value that is not smaller, and of the first that is larger.

    >>> begin, end = find_equal(numpy.array([1, 3, 3, 7]), numpy.array([0, 3, 7, 9]))
    >>> begin.tolist(), end.tolist()
    ([0, 1, 3, 4], [0, 3, 4, 4])
    """
    begin = numpy.searchsorted(rising, keys, "left")
    there = begin < len(rising)
    there[there] = rising[begin[there]] == keys[there]
    end = begin + there
    again = there & (end < len(rising))
    again[again] = rising[end[again]] == keys[again]  # more than one value is the key
    if again.any():
        end[again] = numpy.searchsorted(rising, keys[again], "right")
    return begin, end


def expand_ranges(begin: Any, end: Any) -> Any:
    """All places of ranges.

    >>> expand_ranges(numpy.array([2, 7, 9]), numpy.array([4, 7, 10])).tolist()
    [2, 3, 9]
    """
    count = end - begin
    there = count > 0
    begin, count = begin[there], count[there]
    if not len(count) or int(count.max()) == 1:
        return begin
    before = numpy.cumsum(count) - count
    return numpy.repeat(begin - before, count) + numpy.arange(int(count.sum()))
