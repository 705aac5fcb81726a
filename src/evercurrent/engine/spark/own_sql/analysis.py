"""What Spark says of a query over relations of which only the columns are known: whether it is one, and its columns.

Only functions of Spark itself are allowed: what sessions and catalogs have registered under a name is code of somebody else.

    relations {t: (a STRING)}      SELECT a, count(*) AS n FROM t GROUP BY a      columns a STRING, n BIGINT
    my_function                                                                   UnsupportedError: Spark itself has no function my_function
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from evercurrent.data.types import Member
from evercurrent.engine.spark.failures import first_line
from evercurrent.engine.spark.storage.user_frames import user_schema
from evercurrent.engine.spark.translate.types import require_stored, type_of
from evercurrent.errors import UnsupportedError
from evercurrent.frontend.sql.spark_text import quote_name

GRAMMAR = frozenset(("cast", "try_cast", "case", "if", "exists", "extract", "interval", "struct", "values"))
"""What the parser takes for a function, and Spark for grammar."""


def require_builtin(session: SparkSession, functions: Iterable[str]) -> None:
    """Refuses functions that are not Spark's own."""
    wanted = set(functions) - GRAMMAR
    if not wanted:
        return
    known = {str(row[0]).lower() for row in session.sql("SHOW SYSTEM FUNCTIONS").collect()}
    unknown = sorted(wanted - known)
    if unknown:
        raise UnsupportedError(f"Spark itself has no function {unknown[0]}")


def columns_of_query(
    session: SparkSession, text: str, relations: Mapping[str, tuple[Member, ...]]
) -> tuple[Member, ...]:
    """Returns the columns of a query over relations, given by their columns; refuses what Spark refuses."""
    for name, fields in relations.items():
        session.createDataFrame([], user_schema(fields)).createOrReplaceTempView(quote_name(name))
    try:
        schema = session.sql(text).schema
    except PySparkException as problem:
        raise UnsupportedError(f"Spark refuses it too: {first_line(str(problem))}") from problem
    found = tuple(Member(f.name, type_of(f.dataType), True) for f in schema.fields)
    for f in found:
        require_stored(f.type)
    return found
