"""Is every view what Spark's own SQL returns for its query on the stored tables?

    db.verify()        spend: 2 rows, as recomputed

The texts are run by Spark itself over the stored tables, and compared with the stored rows by its executors, so nothing of
the compiler or the engine is trusted. Floats are compared to twelve digits: Spark's sums of floats depend on the order of rows.
Queries that Spark cannot run (UNION in a recursion, subqueries of any depth, OQL), or at which its planner fails, are evaluated by
the driver instead, as the calculus says. So are CUBE, ROLLUP and GROUPING SETS where Spark returns something else: over no rows it
leaves out the total row.
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
from evercurrent.engine.spark.engine import fits_driver
from evercurrent.engine.spark.failures import FAILED, spark_failure
from evercurrent.engine.spark.own_sql.queries import REFUSALS, compare, register
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.frontend.sql.spark_text import has_grouping_sets, query_text
from evercurrent.statements.report import SAMPLE, Report, Verified
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
    store = view_rows(core, view.name)
    why = not_for_spark(core, view)
    if not why:
        try:
            found = by_spark(core, view, store)
            if found or not reads_grouping_sets(core, view):
                return found
            why = "Spark has no total row over no rows"
        except REFUSALS as problem:
            why = f"Spark refuses the query: {str(problem).splitlines()[0]}"
        except FAILED as problem:  # its planner has errors of its own
            why = spark_failure(problem) or ""
    under = base_tables(core.catalog, frozenset({view.name}))
    rows = sum(core.present.table_rows(name).rows for name in under)
    if rows > MOST_ROWS or not fits_driver(store):
        most = f"the driver evaluates queries over at most {MOST_ROWS:,} rows, and its tables have {rows:,}"
        return Verified(view.name, store.rows, skipped=f"{why}; {most}")
    actual: Counter[Any] = Counter()
    for row, w in core.engine.rows(store, [f.type for f in view.fields]):
        actual[round_row(row)] += w
    wanted = by_driver(core, view)
    return Verified(
        view.name,
        sum(actual.values()),
        list((wanted - actual).elements()),
        list((actual - wanted).elements()),
    )


def not_for_spark(core: Core, view: View) -> str:
    """Why the query of a view is not one for Spark's SQL; empty if it may be."""
    if core.catalog.schema:
        return "paths of classes are not Spark's SQL"
    read = views_under(frozenset({view.name}), core.catalog)
    other = next((v for v in read if v.language not in ("sql", "spark")), None)
    if other is not None:
        return f"{other.name} is not written in SQL"
    names = [*base_tables(core.catalog, frozenset({view.name})), *(v.name for v in read)]
    dotted = next((n for n in names if "." in n), None)
    return "" if dotted is None else f"Spark would look for {dotted} in its own catalog"


def reads_grouping_sets(core: Core, view: View) -> bool:
    """Whether the view, or one that it reads, has CUBE, ROLLUP or GROUPING SETS."""
    return any(has_grouping_sets(v.text) for v in views_under(frozenset({view.name}), core.catalog))


def by_spark(core: Core, view: View, store: Store) -> Verified:
    under = [core.table(key) for key in sorted(base_tables(core.catalog, frozenset({view.name})))]
    tables = {t.name: (core.present.table_rows(t.name), t.fields) for t in under}
    below = [
        (other.name, query_text(other.text), tuple(f.name for f in other.fields))
        for other in views_under(frozenset({view.name}), core.catalog)
        if other.name != view.name
    ]
    register(core.engine, tables, below)
    found = compare(core.engine, query_text(view.text), store, view.fields, SAMPLE)
    missing, unexpected = list(found.some_missing), list(found.some_unexpected)
    counts = found.missing, found.unexpected
    return Verified(view.name, found.rows, missing, unexpected, counts=counts)


def by_driver(core: Core, view: View) -> Counter[Any]:
    """By the reference evaluator, over the stored tables."""

    def contents(table: str) -> ZSet:
        return ZSet(core.engine.rows(core.present.table_rows(table), core.present.table_types(table)))

    return Counter(map(round_row, reference(cast(Query, view.query), core.catalog, contents).insertions()))


def round_row(row: Any) -> Any:
    if isinstance(row, float):
        return NAN if row != row else float(f"{row:.12g}")
    if isinstance(row, tuple):
        return tuple(round_row(v) for v in row)
    return row
