"""Versions that only tidy up, and commits that go on over them.

A version that merges segments or works off what has waited changes no table and no definition. A commit that another driver was
quicker than by nothing but such versions is made again over the newest of them: the batch itself has lost no race. A batch
that does lose one has changed nothing, so the driver is then at the version that it was at before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from evercurrent.errors import ConflictError
from evercurrent.warehouse.maintenance.notifications import missed

if TYPE_CHECKING:
    from evercurrent.warehouse.core import Core

CATCH_UP = "CATCH UP"
"""The kind of a version that only works off what has waited."""
COMPACT = "COMPACT"
"""The kind of a version that only merges segments."""

P = ParamSpec("P")
T = TypeVar("T")


def again(method: Callable[Concatenate[Core, P], T]) -> Callable[Concatenate[Core, P], T]:
    """Repeat a commit that another driver was quicker than, if that one has changed nothing of what this one rests on."""

    @wraps(method)
    def committed(core: Core, /, *args: P.args, **options: P.kwargs) -> T:
        before = core.version, core.snapshot, len(core.untold)
        while True:
            try:
                return method(core, *args, **options)
            except ConflictError:
                if not followed(core):
                    core.version, core.snapshot, told = before
                    while len(core.untold) > told:
                        core.untold.pop()
                    raise

    return committed


def followed(core: Core) -> bool:
    """Go to the newest version, if all that lies between is upkeep: no table and no definition has changed by it."""
    log = core.engine.log
    newest = log.latest()
    between = [log.entry(v) for v in range(core.version + 1, newest + 1)]
    if not between or any(e.kind not in (CATCH_UP, COMPACT) for e in between):
        return False
    before, core.version, core.snapshot = core.version, newest, log.snapshot(newest)
    core.untold.extend(missed(core, before))
    return True
