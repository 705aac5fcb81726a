"""Day-time intervals as numbers of microseconds, and back: sums of intervals are kept as numbers.

    INTERVAL '1 02:00:00.5' DAY TO SECOND        93600500000

Law. `interval(micros(x)) = x`.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

DAY = 86_400_000_000


def micros(c: Column) -> Column:
    """The microseconds of an interval, as a decimal."""

    def part(name: str, times: int) -> Column:
        return F.extract(F.lit(name), c).cast("decimal(20,6)") * F.lit(times).cast("decimal(12,0)")

    parts = (
        part("DAY", DAY) + part("HOUR", DAY // 24) + part("MINUTE", 60_000_000) + part("SECOND", 1_000_000)
    )
    return parts.cast("decimal(20,0)")


def interval(c: Column) -> Column:
    """Returns the interval of a number of microseconds."""
    whole = c.cast("bigint")
    days = F.floor(whole / F.lit(DAY).cast("decimal(20,0)")).cast("int")
    rest = (whole - days.cast("bigint") * F.lit(DAY)).cast("decimal(18,0)")
    seconds = (rest * F.lit("0.000001").cast("decimal(7,6)")).cast("decimal(18,6)")
    return F.make_dt_interval(days, F.lit(0), F.lit(0), seconds)
