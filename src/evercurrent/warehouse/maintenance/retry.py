"""Versions that are mere upkeep, and commits that are repeated over them.

A version that merges segments or applies deferred changes changes no table and no definition. If another driver has committed
nothing but such versions in between, a commit is repeated over the newest of them. If it has committed a batch, the commit
raises ConflictError, and this driver stays at the version that it was at before.

    here at version 5; another driver has committed 6 COMPACT, 7 CATCH UP       committed as version 8
    here at version 5; another driver has committed a batch as version 6        ConflictError; still at version 5
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from evercurrent.errors import ConflictError
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.maintenance.notifications import changes_by_others

CATCH_UP = "CATCH UP"
"""The kind of a version that only applies deferred changes."""
COMPACT = "COMPACT"
"""The kind of a version that only merges segments."""

P = ParamSpec("P")
T = TypeVar("T")


def repeat_over_upkeep(commit: Callable[Concatenate[Core, P], T]) -> Callable[Concatenate[Core, P], T]:
    """Repeats a commit as long as other drivers have committed nothing but upkeep in between."""

    @wraps(commit)
    def commit_or_repeat(core: Core, /, *args: P.args, **options: P.kwargs) -> T:
        before, notices = core.present, len(core.unnotified)
        while True:
            try:
                return commit(core, *args, **options)
            except ConflictError:
                if not follow_upkeep(core):
                    core.present = before
                    while len(core.unnotified) > notices:
                        core.unnotified.pop()
                    raise

    return commit_or_repeat


def follow_upkeep(core: Core) -> bool:
    """Goes to the newest version if all versions in between are upkeep; says whether it did."""
    log = core.engine.log
    newest = log.latest()
    between = [log.entry(v) for v in range(core.version + 1, newest + 1)]
    if not between or any(e.kind not in (CATCH_UP, COMPACT) for e in between):
        return False
    before = core.version
    core.present = core.present.with_snapshot(newest, log.snapshot(newest))
    core.unnotified.extend(changes_by_others(core, before))
    return True
