"""Which functions the definitions of a warehouse call, and which of them the program has not passed to `connect`.

A warehouse opens without them, and rows that are stored can be read; a batch that would have to call one is refused before
anything is computed.

    ec.connect(spark=spark, path="w")                             MissingFunctionWarning: view scored calls rules.score, ...
    ec.connect(spark=spark, path="w", functions=[rules.score])    no warning: batches update the view
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import base_tables
from evercurrent.errors import QueryError
from evercurrent.term.handed_over import HandedOver, find_paths, way_out


class MissingFunctionWarning(UserWarning):
    """A warehouse was opened whose views call functions that the program has not handed over."""


def missing_functions(catalog: Catalog, known: HandedOver) -> Mapping[str, tuple[str, ...]]:
    """The paths of missing functions, by the views that call them."""
    found = {}
    for view in catalog.views.values():
        if view.query is not None and view.language != "sql":
            paths = sorted({p for p in find_paths(view.query) if known.find(p) is None})
            if paths:
                found[view.name] = tuple(paths)
    return found


def warn_of_missing(catalog: Catalog, known: HandedOver) -> None:
    """Say on opening which functions are to be handed over."""
    for view, paths in missing_functions(catalog, known).items():
        warnings.warn(
            f"view {view} calls {', '.join(paths)}, which has not been handed over: its rows can be read, and batches that "
            f"change them are refused; {way_out(paths)}",
            MissingFunctionWarning,
            stacklevel=2,
        )


def require_functions(catalog: Catalog, known: HandedOver, changed: Iterable[str]) -> None:
    """Refuse a change of tables (lower-cased names) if a view over them calls a function that is missing."""
    missing = missing_functions(catalog, known)
    tables = set(changed) if missing else set()
    for view, paths in missing.items():
        if tables & {t.lower() for t in base_tables(catalog, frozenset({view}))}:
            raise QueryError(
                f"view {view} calls {', '.join(paths)}, which has not been handed over: nothing was changed",
                hint=way_out(paths),
            )
