"""Is every view what Spark's own SQL returns for its query on the stored tables?

The texts are run by Spark itself over the stored tables, so nothing of the compiler or the engine is trusted. Floats are
compared to twelve digits: Spark's sums of floats depend on the order of rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, cast

from evercurrent.calculus.nodes import Query
from evercurrent.catalog.dependencies import view_order
from evercurrent.catalog.nodes import View
from evercurrent.data.zset import ZSet
from evercurrent.engine.spark.oracle import query_rows, register
from evercurrent.session.query import reference
from evercurrent.session.verify import Report, Verified
from evercurrent.warehouse.core import Core


def verify(core: Core, names: Iterable[str] | None) -> Report:
    views = list(core.catalog.views.values()) if names is None else [core.view(n) for n in names]
    return Report(tuple(_verify(core, view) for view in views))


def _verify(core: Core, view: View) -> Verified:
    tables = {t.name: (core.table_segments(t.name), t.fields) for t in core.catalog.tables.values()}
    if core.catalog.schema or any(v.language != "sql" for v in core.catalog.views.values()):
        # Paths and other languages are not Spark's SQL: the reference evaluator answers, over the stored tables.
        rows = reference(cast(Query, view.query), core.catalog, lambda name: _contents(core, name))
        wanted = Counter(map(rounded, rows.inserted()))
    else:
        below = []
        for other in view_order(core.catalog):
            if other.name == view.name:
                break
            below.append((other.name, query_text(other), tuple(f.name for f in other.fields)))
        register(core.engine, tables, below)
        wanted = Counter(map(rounded, query_rows(core.engine, query_text(view), view.fields)))
    actual: Counter[Any] = Counter()
    for row, w in core.engine.rows(core.view_segments(view.name), [f.type for f in view.fields]):
        actual[rounded(row)] += w
    return Verified(
        view.name,
        sum(actual.values()),
        list((wanted - actual).elements()),
        list((actual - wanted).elements()),
    )


def _contents(core: Core, table: str) -> ZSet:
    return ZSet(core.engine.rows(core.table_segments(table), core.table_types(table)))


def query_text(view: View) -> str:
    """The query of a definition, without CREATE VIEW."""
    import sqlglot

    tree: Any = sqlglot.parse_one(view.text, read="spark")
    return tree.expression.sql(dialect="spark") if tree.expression is not None else view.text


def rounded(row: Any) -> Any:
    if isinstance(row, float):
        return float(f"{row:.12g}")
    if isinstance(row, tuple):
        return tuple(rounded(v) for v in row)
    return row
