"""Views that only Spark understands: Spark's own SQL computes their rows, and the difference to the stored ones is their delta.

    CREATE VIEW parsed AS SELECT json_tuple(body, 'a') AS a FROM events       with policy="full" or "auto"

The text of a view that such a view reads is written into its own, except where the rows of that view are stored as they will be
after the batch: those of other views that no program maintains. So of two such views the one that is read comes first.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping

from evercurrent.catalog.dependencies import view_order, views_under
from evercurrent.catalog.nodes import View
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.kernel.outcome import Report
from evercurrent.engine.spark.own_sql.analysis import require_builtin
from evercurrent.engine.spark.own_sql.recompute import QueryText, StoredRows, change, merge_recent, register
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import StoreName, table_store, view_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import UnsupportedError
from evercurrent.frontend.sql.spark_views import view_heading
from evercurrent.warehouse.maintenance.recompute_by_sql import key_of
from evercurrent.warehouse.planning.strategies import Outlook

Stores = Mapping[StoreName, Store]


def fill_spark_views(
    engine: Engine, outlook: Outlook, names: Collection[str], stores: Stores
) -> Iterator[tuple[str, Segment]]:
    """Yields the rows of new views among these, over the tables in these stores."""
    before = {n: s for n, s in stores.items() if n not in {view_store(name) for name in names}}
    for name, segment, _ in update_spark_views(engine, outlook, names, before):
        yield name, segment


def update_spark_views(
    engine: Engine, outlook: Outlook, names: Collection[str], stores: Stores
) -> Iterator[tuple[str, Segment, Report]]:
    """Yields the deltas of the views among these that only Spark understands, over the tables in these stores."""
    here = dict(stores)
    for view in view_order(outlook.catalog):
        if view.name in names and view.query is None:
            engine.progress.stage(f"computing {view.name} by Spark's SQL")
            segment, report = compute_view(engine, outlook, view, here)
            here[view_store(view.name)] = here.get(view_store(view.name), Store()).plus(segment)
            yield view.name, segment, report


def compute_view(engine: Engine, outlook: Outlook, view: View, stores: Stores) -> tuple[Segment, Report]:
    """What Spark's SQL changes of the stored rows of a view."""
    begin = time.perf_counter()
    if engine.session is None:
        raise UnsupportedError(f"only Spark computes {view.name}, and there is no session")
    heading = view_heading(view.text, outlook.catalog, view.policy)
    assert heading is not None
    require_builtin(engine.session, heading.functions)
    text = outlook.said[view.name].text
    assert text is not None
    known, rows = relations_under(engine, outlook, view, stores)
    context = engine.job_context(rows)
    register(context, known)
    place = view_store(view.name)
    old = stores.get(place, Store())
    types = [f.type for f in view.fields]
    segment = change(engine, context, place, text, old, types, collected=bool(old.segments))
    seconds = time.perf_counter() - begin
    return segment, Report("sql", f"{rows} rows", rows, context.read_bytes, context.jobs, seconds)


def relations_under(
    engine: Engine, outlook: Outlook, view: View, stores: Stores
) -> tuple[dict[str, StoredRows | QueryText], int]:
    """What the text of a view may name, in order, and how many rows its tables have."""
    catalog = outlook.catalog
    known: dict[str, StoredRows | QueryText] = {}
    rows = 0
    for key in sorted(outlook.parts[view.name].under):
        table = catalog.tables[key]
        store = stores.get(table_store(key), Store())
        rows += store.rows
        if table.primary_key is not None:
            store = merge_recent(engine, table_store(key), store, table.fields)
        known[table.name] = StoredRows(store, table.fields, key_of(table))
    for below in views_under(frozenset({view.name}), catalog):
        if below.name == view.name:
            continue
        if below.name in outlook.design.recomputed and below.query is None:
            known[below.name] = StoredRows(stores.get(view_store(below.name), Store()), below.fields)
            continue
        said = outlook.said[below.name]
        if said.text is None:
            raise UnsupportedError(
                f"only Spark computes {view.name}, which reads {below.name}, and that is not computed by Spark: {said.reason}",
                hint=f"let {view.name} read the tables under {below.name}",
            )
        known[below.name] = QueryText(said.text, tuple(f.name for f in below.fields))
    return known, rows
