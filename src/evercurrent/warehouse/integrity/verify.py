"""Is every view what Spark's own SQL returns for its query on the stored tables?

The texts are run by Spark itself over the stored tables, so nothing of the compiler or the engine is trusted. Floats are
compared to twelve digits: Spark's sums of floats depend on the order of rows. Queries that Spark cannot run (UNION in a
recursion, subqueries of any depth, OQL) are evaluated by the driver instead, as the calculus says. So are CUBE, ROLLUP and
GROUPING SETS where Spark returns something else: over no rows it leaves out the total row.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, cast

from evercurrent.calculus.nodes import Query
from evercurrent.catalog.dependencies import base_tables, parts_of, views_under
from evercurrent.catalog.nodes import View
from evercurrent.data.values import NAN
from evercurrent.data.zset import ZSet
from evercurrent.design.evaluation import reference
from evercurrent.engine.spark.own_sql.queries import REFUSALS, query_rows, register
from evercurrent.frontend.sql.spark_text import has_grouping_sets, query_text
from evercurrent.statements.report import Report, Verified
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.maintenance.catch_up import view_rows

MOST_ROWS = 100_000
"""Tables with more rows are not read by the reference evaluator where Spark does not know a query."""


def verify(core: Core, names: Iterable[str] | None) -> Report:
    views = list(core.catalog.views.values()) if names is None else [core.view(n) for n in names]
    views = [one for v in views for one in ([v] if not v.inline else parts_of(core.catalog, v.name))]
    views = list({v.name: v for v in views}.values())
    return Report(tuple(_verify(core, view) for view in views))


def _verify(core: Core, view: View) -> Verified:
    core.progress.stage(f"verifying {view.name}")
    actual: Counter[Any] = Counter()
    for row, w in core.engine.rows(view_rows(core, view.name), [f.type for f in view.fields]):
        actual[rounded(row)] += w
    # Paths and other languages are not Spark's SQL; a name with a point would be one of Spark's own catalog.
    names = [*(t.name for t in core.catalog.tables.values()), *(v.name for v in core.catalog.views.values())]
    foreign = core.catalog.schema or any(v.language != "sql" for v in core.catalog.views.values())
    foreign = foreign or any("." in name for name in names)
    why = ""
    try:
        wanted = by_driver(core, view) if foreign else by_spark(core, view)
        if wanted != actual and not foreign and reads_grouping_sets(core, view):
            why = "Spark has no total row over no rows"
    except REFUSALS as problem:
        why = f"Spark does not know this query ({str(problem).splitlines()[0]})"
    if why:
        under = base_tables(core.catalog, frozenset({view.name}))
        if sum(core.present.table_rows(name).rows for name in under) > MOST_ROWS:
            return Verified(view.name, sum(actual.values()), skipped=f"{why}, and its tables are large")
        wanted = by_driver(core, view)
    return Verified(
        view.name,
        sum(actual.values()),
        list((wanted - actual).elements()),
        list((actual - wanted).elements()),
    )


def reads_grouping_sets(core: Core, view: View) -> bool:
    """Whether the view, or one that it reads, has CUBE, ROLLUP or GROUPING SETS."""
    return any(has_grouping_sets(v.text) for v in views_under(frozenset({view.name}), core.catalog))


def by_spark(core: Core, view: View) -> Counter[Any]:
    under = [core.table(key) for key in sorted(base_tables(core.catalog, frozenset({view.name})))]
    tables = {t.name: (core.present.table_rows(t.name), t.fields) for t in under}
    below = [
        (other.name, query_text(other.text), tuple(f.name for f in other.fields))
        for other in views_under(frozenset({view.name}), core.catalog)
        if other.name != view.name
    ]
    register(core.engine, tables, below)
    return Counter(map(rounded, query_rows(core.engine, query_text(view.text), view.fields)))


def by_driver(core: Core, view: View) -> Counter[Any]:
    """By the reference evaluator, over the stored tables."""

    def contents(table: str) -> ZSet:
        return ZSet(core.engine.rows(core.present.table_rows(table), core.present.table_types(table)))

    return Counter(map(rounded, reference(cast(Query, view.query), core.catalog, contents).inserted()))


def rounded(row: Any) -> Any:
    if isinstance(row, float):
        return NAN if row != row else float(f"{row:.12g}")
    if isinstance(row, tuple):
        return tuple(rounded(v) for v in row)
    return row
