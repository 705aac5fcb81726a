"""Which datasets a run updates: all of them, or those that `--refresh` and `--full-refresh` name.

A dataset that is not selected stays as it is, even if what it reads has changed. `full` are those that start from the beginning: a
streaming table is emptied and its checkpoints are removed; a materialized view is recomputed.

    --refresh spend                    chosen {spend}, full {}
    --full-refresh orders              chosen {orders}, full {orders}
    neither                            chosen: all, full {}
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from evercurrent.engine.spark.declarative.definitions import Definitions, Name, show
from evercurrent.engine.spark.declarative.sql_statements import full_name
from evercurrent.errors import QueryError


@dataclass(frozen=True)
class Selection:
    """The datasets to update, and those of them that start from the beginning."""

    chosen: frozenset[Name]
    full: frozenset[Name]
    partial: bool

    def __contains__(self, name: Name) -> bool:
        return name in self.chosen


def select(
    definitions: Definitions,
    home: tuple[str, str],
    refresh: Collection[str],
    full_refresh: Collection[str],
    full_refresh_all: bool,
) -> Selection:
    if full_refresh_all and (refresh or full_refresh):
        other = "--full-refresh" if full_refresh else "--refresh"
        raise QueryError(f"--full-refresh-all and {other} cannot be used together")
    everything = frozenset(definitions.outputs)
    if full_refresh_all:
        return Selection(everything, everything, False)
    if not refresh and not full_refresh:
        return Selection(everything, frozenset(), False)
    full = select_names(definitions, home, full_refresh)
    both = full & select_names(definitions, home, refresh)
    if both:
        raise QueryError(f"{show(min(both))} is in --refresh and in --full-refresh")
    return Selection(full | select_names(definitions, home, refresh), full, True)


def select_names(definitions: Definitions, home: tuple[str, str], names: Iterable[str]) -> frozenset[Name]:
    found = set()
    for text in names:
        name = full_name(text.split("."), home)
        output = definitions.outputs.get(name)
        if output is None or not (output.is_stored or output.kind == "sink"):
            known = ", ".join(show(n) for n, o in definitions.outputs.items() if o.is_stored)
            raise QueryError(f"there is no dataset {text!r} to refresh", hint=f"there are {known}")
        found.add(name)
    return frozenset(found)
