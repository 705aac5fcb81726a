"""What versions have changed: of a table from the log, of a view by replaying the log.

    changes(keeper, orders, since=7)      [(8, {(1, 950): -1, (1, 1200): 1})]

The log holds the changes of tables alone. For a view, a program of its own is filled with the tables as they were at the version, and the
changes of each later version run through it: it costs as much as defining the view again, and nothing is kept for it meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import base_tables, views_under
from evercurrent.catalog.nodes import Table, View
from evercurrent.data.types import BIGINT, STRING, Member
from evercurrent.data.zset import ZSet
from evercurrent.design.assumptions import HARMLESS
from evercurrent.design.compile import Design, compile_all
from evercurrent.design.row_keys import row_key
from evercurrent.durable.keeper import FileKeeper
from evercurrent.errors import QueryError
from evercurrent.rows.conversion import row_writer
from evercurrent.rows.results import Result
from evercurrent.rows.subscriptions import Change
from evercurrent.session.maintenance import Maintenance

ADDED = (Member("_change_type", STRING, False), Member("_commit_version", BIGINT, False))


def changes_result(keeper: FileKeeper, node: Table | View, since: int) -> Result:
    """Returns the changes of a table or view after a version, as rows with `_change_type` and `_commit_version`."""
    rows = [
        (*row, kind, version)
        for version, delta in changes(keeper, node, since)
        for kind, part in (("delete", delta.deletions()), ("insert", delta.insertions()))
        for row in part
    ]
    return Result("CHANGES", len(rows), (*node.fields, *ADDED), rows)


def past_changes(keeper: FileKeeper, name: str, since: int) -> list[Change]:
    """Returns what a subscriber is called with for the versions after one."""
    catalog, design = keeper.session.catalog, keeper.session.maintenance.design
    node = catalog.relation(name)
    assert node is not None
    give, key = row_writer(node.fields), row_key(catalog, design, name)
    return [Change(name, delta, version, give, key) for version, delta in changes(keeper, node, since)]


def changes(keeper: FileKeeper, node: Table | View, since: int) -> Iterator[tuple[int, ZSet]]:
    """Yields the versions after one that have changed a table or view, each with the net change."""
    session = keeper.session
    if isinstance(node, View) and node.inline:
        raise QueryError(
            f"{node.name} is not kept as rows, so its changes cannot be listed",
            hint="ask for the changes of what it reads",
        )
    names = base_tables(session.catalog, frozenset({node.name}))
    with keeper.file.refusals("be read"), keeper.file.snapshot():
        keeper.log.require(since, session.number, names)
        logged = list(keeper.log.changes(since, {n: keeper.tables[n] for n in names}))
    logged = [(version, deltas) for version, deltas in logged if version <= session.number]
    if isinstance(node, Table):
        yield from ((version, deltas[node.name.lower()]) for version, deltas in logged)
    elif logged:
        yield from _replay(keeper, node, logged)


def _replay(
    keeper: FileKeeper, view: View, logged: list[tuple[int, dict[str, ZSet]]]
) -> Iterator[tuple[int, ZSet]]:
    session = keeper.session
    names = base_tables(session.catalog, frozenset({view.name}))
    rows = {name: session.table_rows(name) for name in names}
    for _, deltas in logged:
        for name, delta in deltas.items():
            rows[name] = rows[name] - delta
    catalog = _only(session.catalog, view)
    pairs = frozenset((t.name, f.parent) for t in catalog.tables.values() for f in t.foreign_keys)
    catalog, design = compile_all(catalog, Design(), pairs)
    made = Maintenance()
    made.install(catalog, design, lambda name: rows[name.lower()])
    for version, deltas in logged:
        for name, delta in deltas.items():
            rows[name] = rows[name] + delta
        named = {catalog.tables[name].name: delta for name, delta in deltas.items()}
        found = made.apply(named, lambda name: rows[name.lower()], (view.name,), HARMLESS)
        made.commit()
        if found.get(view.name):
            yield version, ZSet(found[view.name].items())


def _only(catalog: Catalog, view: View) -> Catalog:
    """Returns the catalog with a view and those under it, all of them updated at once."""
    needed = {v.name.lower() for v in views_under(frozenset({view.name}), catalog)} | {view.name.lower()}
    views = {k: replace(v, mode="strict") for k, v in catalog.views.items() if k in needed}
    return replace(catalog, views=views, assertions={})
