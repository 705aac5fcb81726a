"""A view computed by Spark's own SQL, over stored tables: the delta between its stored rows and the new ones.

The text is the one of `planning.sql_equivalence`: that of the definition, with a total order of ties. The text of a view that it
reads is written into it, unless the new rows of that view are known already.

    stored  {(7, 12.50): 1}       Spark's SQL  {(7, 13.50): 1}       delta  {(7, 12.50): -1, (7, 13.50): +1}
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping

from evercurrent.catalog.dependencies import views_under
from evercurrent.catalog.nodes import Table
from evercurrent.catalog.rules import positions
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.kernel.outcome import Report
from evercurrent.engine.spark.own_sql.recompute import (
    REFUSALS,
    QueryText,
    StoredRows,
    change,
    merge_recent,
    register,
)
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import StoreName, table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.warehouse.planning.estimates import Size, by_fill
from evercurrent.warehouse.planning.strategies import Around, Outlook
from evercurrent.warehouse.program_parts import always_full, rows_store


def create_by_sql(
    engine: Engine,
    outlook: Outlook,
    around: Around,
    wanted: Collection[str],
    stores: Mapping[StoreName, Store],
) -> dict[str, tuple[Segment, Report]]:
    """The rows of new relations of which nothing but rows will be kept, where Spark's SQL is the quicker way to them.

    `wanted` are the relations whose rows are not in the stores.
    """
    made: dict[str, tuple[Segment, Report]] = {}
    catalog, program = outlook.catalog, outlook.design.program
    chosen = set(wanted) & always_full(program, catalog)
    if not around.sql or not chosen:
        return made
    known = {name for name, r in program.views.items() if r not in wanted}
    here = dict(stores)
    for view in views_under(frozenset(v.name for v in catalog.views.values()), catalog):
        relation = program.views.get(view.name)
        if relation not in chosen or relation in made or outlook.said[view.name].text is None:
            continue
        part = outlook.parts[view.name]
        tables = {key: here.get(table_store(key), Store()) for key in part.under}
        sizes = {key: Size(t.rows, t.bytes) for key, t in tables.items()}
        fill = by_fill(sizes.values(), (), part.levels, around.cores, driver=around.driver)
        if outlook.by_sql(view.name, sizes, Size(), around.cores).seconds > fill.seconds:
            continue
        found = compute_by_sql(engine, outlook, view.name, here, known)
        if found is not None:
            made[relation] = found
            here[rows_store(program, relation)] = Store().plus(found[0])
            known.add(view.name)
    return made


def compute_by_sql(
    engine: Engine, outlook: Outlook, name: str, stores: Mapping[StoreName, Store], known: Collection[str]
) -> tuple[Segment, Report] | None:
    """Returns the change of the rows in a view's store to what Spark's SQL computes; None if Spark cannot.

    `stores` hold the tables, and the rows of the views that are `known`.
    """
    begin = time.perf_counter()
    catalog, program = outlook.catalog, outlook.design.program
    view = catalog.view(name)
    text = outlook.said[name].text
    assert view is not None and text is not None
    named_so: dict[str, StoredRows | QueryText] = {}
    rows = 0
    for key in sorted(outlook.parts[name].under):
        table = catalog.tables[key]
        store = stores.get(table_store(key), Store())
        rows += store.rows
        if table.primary_key is not None:
            store = merge_recent(engine, table_store(key), store, table.fields)
        named_so[table.name] = StoredRows(store, table.fields, key_of(table))
    for below in views_under(frozenset({name}), catalog):
        own = outlook.said[below.name].text
        if below.name in known and below.name in program.views and below.name != name:
            store = stores.get(rows_store(program, program.views[below.name]), Store())
            named_so[below.name] = StoredRows(store, below.fields)
        elif below.name != name and own is not None:
            named_so[below.name] = QueryText(own, tuple(f.name for f in below.fields))
    place = rows_store(program, program.views[name])
    old = stores.get(place, Store())
    context = engine.job_context(rows)
    try:
        register(context, named_so)
        types = [f.type for f in view.fields]
        segment = change(engine, context, place, text, old, types, collected=bool(old.segments))
    except REFUSALS:
        return None
    seconds = time.perf_counter() - begin
    return segment, Report("sql", f"{rows} rows", rows, context.read_bytes, context.jobs, seconds)


def add_reports(a: Report, b: Report) -> Report:
    rows, read, jobs = a.rows_in + b.rows_in, a.read_bytes + b.read_bytes, a.jobs + b.jobs
    return Report(a.strategy, f"{rows} rows", rows, read, jobs, a.seconds + b.seconds)


def key_of(table: Table) -> tuple[int, ...]:
    return positions(table, table.primary_key.columns) if table.primary_key is not None else ()
