"""Views that no program can maintain: the reference evaluator computes their rows, in the driver.

A query that cannot be compiled (with a subquery inside a lambda function, say) still has a meaning:
that of the calculus. Only the driver can evaluate it, so only over as many rows as the driver should hold.

    evaluate_views(engine, catalog, ["tagged"], stores)       ("tagged", {(1, "a"): 1, ...})
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import cast

from evercurrent.calculus.nodes import Query
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import base_tables, view_order
from evercurrent.data.zset import ZSet
from evercurrent.design.evaluation import run_query
from evercurrent.engine.spark.engine import DRIVER_ENTRIES, Engine
from evercurrent.engine.spark.storage.store_names import StoreName, table_store, view_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import UnsupportedError


def evaluate_views(
    engine: Engine, catalog: Catalog, names: Collection[str], stores: Mapping[StoreName, Store]
) -> Iterator[tuple[str, ZSet]]:
    """Yields the rows of these views, one view after another, over the tables in these stores."""
    tables: dict[str, ZSet] = {}

    def rows_of(name: str) -> ZSet:
        key = name.lower()
        if key not in tables:
            view = catalog.view(key)
            if view is not None:  # only Spark computes it, and has
                own = stores.get(view_store(view.name), Store())
                return ZSet(engine.rows(own, [f.type for f in view.fields]))
            types = [c.type for c in catalog.tables[key].columns]
            tables[key] = ZSet(engine.rows(stores.get(table_store(key), Store()), types))
        return tables[key]

    for view in view_order(catalog):
        if view.name in names and view.query is not None:
            needed = base_tables(catalog, frozenset({view.name}))
            rows = sum(stores.get(table_store(key), Store()).rows for key in needed)
            if rows > DRIVER_ENTRIES:
                raise UnsupportedError(
                    f"view {view.name} can only be evaluated by the driver, and its tables have {rows:,} rows",
                    hint=f"the driver takes at most {DRIVER_ENTRIES:,}; view.explain() says what is not kept",
                )
            yield view.name, run_query(cast(Query, view.query), catalog, rows_of)
