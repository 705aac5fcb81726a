"""The scenarios of `matrix`, whose views are also compared with Spark's own SQL.

The reference evaluator shares the terms with the engine, so it cannot find a function that is wrong in both. Spark gets the rows of
the table as Arrow, the text of each view, and is asked when the table is as full as the scenario makes it.

    SELECT x.id, upper(x.c0_0) AS e0 FROM t x      the rows of the view = the rows that Spark returns
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import evercurrent as ec
from evercurrent.data.types import Array, Interval, Map, Struct, Type
from tests.duck import difference
from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.campaigns.matrix import scenario
from tests.fuzz.matrix.scenario import STEPS, Scenario, Wrong, follow
from tests.fuzz.shortening import fails_like, shortened
from tests.spark_session import small_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


UNCERTAIN = frozenset(
    f"{name}()"
    for name in (
        *("first", "last", "any_value", "min_by", "max_by", "mode", "corr"),
        # tests/unit/term/test_aggregates_against_spark.py compares these where Spark's answer is certain
        *("collect_list", "collect_set", "percentile_cont", "percentile_approx"),
    )
) | frozenset(f"regr_{name}()" for name in ("r2", "slope", "intercept", "sxy"))
"""Aggregates whose answer in Spark depends on the order of the rows, on ties, or on where a NaN or an infinity stands."""

ROUNDED = frozenset(
    f"{name}()"
    for name in (
        *("sum", "avg", "mean", "kurtosis", "skewness", "covar_pop", "covar_samp"),
        *("variance", "var_pop", "var_samp", "stddev", "std", "stddev_pop", "stddev_samp"),
        *("regr_sxx", "regr_syy", "regr_avgx", "regr_avgy"),
    )
)
"""Aggregates whose last digits depend, in Spark, on the order of the rows; here they are rounded once. So two of them can be equal here
and differ there, and positions that ask for equality are not compared."""

EQUAL = frozenset({"join", "outer join", "group", "distinct", "union", "window order", "where", "having"})


def has_months(t: Type) -> bool:
    """Whether the type holds intervals of months, which neither Arrow nor Python can bring from Spark."""
    match t:
        case Interval("months"):
            return True
        case Array(element):
            return has_months(element)
        case Map(key, element):
            return has_months(key) or has_months(element)
        case Struct(members):
            return any(has_months(m.type) for m in members)
        case _:
            return False


@dataclass
class AskSpark:
    """Called after each step; asks once, when the random changes are over."""

    scenario: Scenario
    session: SparkSession
    tally: Tally
    steps: int = 0
    compared: int = field(default=0)

    def __call__(self, db: ec.Database) -> None:
        self.steps += 1
        if self.steps != min(STEPS, len(self.scenario.steps)):
            return
        self.register(db)
        for name, text, cells in self.scenario.views:
            self.compare(db, name, text, cells)

    def register(self, db: ec.Database) -> None:
        from evercurrent.engine.spark.translate.types import spark_type

        fields = db._session.catalog.table("t").columns
        frame = self.session.createDataFrame(db.table("t").arrow())
        columns = [
            frame[c.name].cast("string" if has_months(c.type) else spark_type(c.type)).alias(c.name)
            for c in fields
        ]
        frame.select(*columns).createOrReplaceTempView("t")

    def compare(self, db: ec.Database, name: str, text: str, cells: Any) -> None:
        from evercurrent.engine.spark.translate.types import internal, spark_type
        from evercurrent.rows.conversion import give_rows

        view = db._session.view(name)
        if any(item in UNCERTAIN for item, _ in cells):
            return
        if any(item in ROUNDED and position in EQUAL for item, position in cells):
            return
        if any(has_months(f.type) for f in view.fields):
            return
        from pyspark.errors import AnalysisException

        try:
            made = self.session.sql(text)
        except AnalysisException:
            return  # what Spark does not have (maps in UNION) has no answer to compare with
        try:
            names = [f"c{i}" for i in range(len(view.fields))]
            found = made.toDF(*names)
            cast = found.select(
                *(found[n].cast(spark_type(f.type)).alias(n) for n, f in zip(names, view.fields, strict=True))
            )
            table = cast.toArrow().to_pylist()
        except Exception as error:
            raise Wrong(f"{cells}\n{text}\nSpark fails: {str(error)[:600]}") from error
        theirs = [
            tuple(internal(f.type, r[n]) for n, f in zip(names, view.fields, strict=True)) for r in table
        ]
        other = difference(db.view(name).rows(), give_rows(view.fields, theirs))
        if other:
            raise Wrong(f"{cells}\n{text}\n{other}")
        self.compared += 1


def run(whole: Scenario, tally: Tally) -> None:
    session = small_session("evercurrent-matrix")
    follow(whole, tally, AskSpark(whole, session, tally))


def again(seed: int, views: list[str]) -> None:
    """Runs the scenario of a seed with some of its views: what a saved case calls."""
    whole = scenario(seed)
    kept = [v for v in whole.views if v[0] in views]
    run(replace(whole, views=kept, assertions=[], refused=[]), Tally())


@dataclass(frozen=True)
class MatrixOnSpark:
    name: str = "matrix_spark"
    needs_spark: bool = True

    def run(self, seed: int, tally: Tally) -> None:
        whole = scenario(seed)
        try:
            run(whole, tally)
        except Exception as error:
            raise Difference(str(error), self.minimal(seed, whole, error)) from error

    def minimal(self, seed: int, whole: Scenario, error: Exception) -> str:
        fails = fails_like(error, lambda views: again(seed, [v[0] for v in views]))
        kept = [v[0] for v in shortened([(v[0],) for v in whole.views], fails)]
        lines = [f"# {line}" for line in str(error).splitlines()]
        return "\n".join(
            [
                "from tests.fuzz.campaigns.matrix_spark import again",
                "",
                *lines,
                f"again({seed}, {kept!r})",
                "",
            ]
        )


CAMPAIGN = MatrixOnSpark()
