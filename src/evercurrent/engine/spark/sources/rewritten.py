"""Rows of files that were written again, without those that were only copied.

Where rows cannot be marked as deleted, a row is deleted by writing its whole file again without it:

    gone: a.parquet, rows p q r s      come: b.parquet, rows p r s      left: -q

One job adds up how often rows stand on either side, by key and digest (`storage.digests`): a few numbers of each row are
exchanged, not the row. A second job reads the rows whose digests are left. So what is written and sorted grows with the
change, not with the files that it is in.

Law. The sum of rows is unchanged. Rows of one digest are read together or left out together; they are left out if every key among
them stands as often on one side as on the other. Rows of one key are taken for equal if their digests are, as everywhere: two
different ones pass for equal with a probability of 2**-64. Where no key is declared, a second digest takes its place.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from evercurrent.data.types import Type
from evercurrent.engine.spark.sources.pieces import Piece
from evercurrent.engine.spark.storage.digests import H, digest_column, digestible
from evercurrent.engine.spark.storage.file_schema import W

SALT = 7_919
MOST_DIGESTS = 4_000_000
"""The most digests that are sent to every executor; if more are left, all rows are read."""


def are_rewritten(pieces: Sequence[Piece]) -> bool:
    """Whether whole files are added and taken off, so that rows may stand on both sides."""
    return {p.sign for p in pieces if p.only is None and not p.feed} == {1, -1}


def leave_out_copied(
    session: SparkSession, rows: DataFrame, types: Sequence[Type], key: Sequence[int]
) -> DataFrame | None:
    """The same sum of rows `c0, c1, ..., w`, by fewer of them; None if it is zero."""
    if not digestible(types):
        return rows
    digested = rows.withColumn(H, digest_column(types))
    again = F.xxhash64(F.lit(SALT), *(F.col(f"c{i}") for i in range(len(types))), H)
    own = [F.col(f"c{i}") for i in key] or [again]
    named = [c.alias(f"k{i}") for i, c in enumerate(own)]
    names = [*(f"k{i}" for i in range(len(own))), H]
    sums = digested.select(*named, H, W).groupBy(*names).agg(F.sum(W).alias(W))
    left = sums.filter(F.col(W) != 0).select(H).distinct().limit(MOST_DIGESTS + 1).toArrow()
    if left.num_rows > MOST_DIGESTS:
        return rows
    if not left.num_rows:
        return None
    wanted = F.broadcast(session.createDataFrame(left))
    return digested.join(wanted, H, "left_semi").drop(H)
