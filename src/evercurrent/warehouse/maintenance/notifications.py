"""Subscribers of a warehouse: each is notified of every version that changes its table or view, once, in order.

    before the commit    inside `commit_version`, after constraints and assertions: reads the version that is about to be
                         committed; if it raises, nothing is committed
    after the commit     when the version is committed and published
    since=version        first of what has changed after that version, from the log: the way to go on after a restart
    other drivers        their versions are notified when `reload` goes to them

A subscriber gets the delta of the version's change feed: minimal, and the same on every driver.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping

from evercurrent.callables import require_callable
from evercurrent.data.zset import ZSet
from evercurrent.design.row_keys import row_key
from evercurrent.engine.spark.storage.disk import MissingFileError
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import QueryError
from evercurrent.frontend.oql.layout import Layout
from evercurrent.oql_views.changes import ValueChange, relations_of_view
from evercurrent.rows.arguments import require_choice
from evercurrent.rows.awaiting import as_callback
from evercurrent.rows.conversion import row_writer
from evercurrent.rows.subscriptions import Callback, Change, SubscriberWarning, Subscription, When
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.version import Version

Past = Mapping[int, Mapping[str, Segment]]
"""Changes as versions list them."""


def feed_name(version: Version, name: str) -> str:
    """The name under which a version lists the change of a table or view."""
    return name if version.catalog.view(name) is not None else table_store(name)


def change_of(core: Core, name: str, changes: Mapping[str, Segment], version: int) -> Change | None:
    """Returns what a version has changed in a table or view, by the changes that it lists; of a view in OQL, also inside of it."""

    catalog = core.present.catalog

    def delta_of(relation: str) -> ZSet:
        segment = changes.get(feed_name(core.present, relation))
        if segment is None or not segment.rows:
            return ZSet()
        return ZSet(core.engine.rows(Store((segment,)), [f.type for f in catalog.fields_of(relation)]))

    deltas = {r: delta for r in relations_of_view(catalog, name) if (delta := delta_of(r))}
    if not deltas:
        return None
    view = catalog.view(name)
    if view is not None and isinstance(view.shape, Layout):
        return ValueChange(name, view.shape, deltas, version, catalog, core.handle)
    return Change(
        name, deltas[name], version, row_writer(catalog.fields_of(name)), row_key(catalog, core.design, name)
    )


def find_subscribed_changes(core: Core, changes: Mapping[str, Segment], version: int) -> dict[str, Change]:
    """Returns what subscribers are notified of, by name; `changes` are as the version lists them."""
    found = {name: change_of(core, name, changes, version) for name in core.subscribers.watched}
    return {name: change for name, change in found.items() if change is not None}


def changes_by_others(core: Core, since: int) -> Iterator[dict[str, Change]]:
    """Yields what other drivers have committed after a version, one version after another."""
    log = core.engine.log
    for name in core.subscribers.watched:
        if core.present.catalog.relation(name) is None:
            core.subscribers.forget(name)
    for version in range(since + 1, core.version + 1):
        if core.subscribers.watched:
            try:
                yield find_subscribed_changes(core, log.entry(version).changes, version)
            except MissingFileError:
                warnings.warn(
                    f"the changes of version {version} have been cleaned up: subscribers are not notified of them",
                    SubscriberWarning,
                    stacklevel=3,
                )


def subscribe(core: Core, name: str, callback: Callback, when: When, past: Past | None) -> Subscription:
    """Subscribes to a table or view; `past` are changes that the callback gets at once."""
    require_choice(when, ("before", "after"), "time to be notified")
    if past is not None and when == "before":
        raise QueryError('since is for when="after": what is committed cannot be refused')
    callback = as_callback(callback, name, when)
    require_callable(callback, f"subscribe to {name}", "give a function of one argument, the change")
    for version, listed in sorted((past or {}).items()):
        change = change_of(core, name, listed, version)
        if change is not None:
            callback(change)
    return core.subscribers.add(name, callback, when)
