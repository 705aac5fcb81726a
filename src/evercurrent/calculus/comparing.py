"""Comparisons of rows in three-valued logic.

    x < SOME rows   TRUE if some comparison is, else NULL if some comparison is, else FALSE
    x < ALL rows    FALSE if some comparison is, else NULL if some comparison is, else TRUE

So over no rows SOME is FALSE and ALL is TRUE, whatever x.
"""

from __future__ import annotations

from collections.abc import Iterable

from evercurrent.data.order import compare
from evercurrent.data.types import Type
from evercurrent.data.zset import Row


def quantify(
    comparison: str, every: bool, types: tuple[Type, ...], args: Row, rows: Iterable[Row]
) -> bool | None:
    """`args comparison SOME rows`, or ALL (`every`)."""
    unknown = False
    for row in rows:
        outcome = compare_rows(comparison, types, args, row)
        if outcome is None:
            unknown = True
        elif outcome is not every:
            return outcome
    return None if unknown else every


def equal_rows(left: Row, right: Row) -> bool | None:
    """Whether two rows are equal, in three-valued logic: FALSE in one place decides, then NULL in another."""
    unknown = False
    for a, b in zip(left, right, strict=True):
        if a is None or b is None:
            unknown = True
        elif (a,) != (b,):  # tuples, so that NaN is equal to itself
            return False
    return None if unknown else True


def compare_rows(comparison: str, types: tuple[Type, ...], left: Row, right: Row) -> bool | None:
    """`left comparison right`; several members only for eq and ne."""
    if comparison in ("eq", "ne"):
        equal = equal_rows(left, right)
        return equal if equal is None or comparison == "eq" else not equal
    a, b = left[0], right[0]
    if a is None or b is None:
        return None
    sign = compare(types[0], a, b)
    return {"lt": sign < 0, "le": sign <= 0, "gt": sign > 0, "ge": sign >= 0}[comparison]
