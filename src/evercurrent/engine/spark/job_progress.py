"""How far Spark has come with what it is doing."""

from __future__ import annotations

from typing import Any


def tasks(session: Any) -> tuple[int, int] | None:
    """Finished tasks and all tasks of the stages that are running; None if none is, or if it cannot be told."""
    try:
        tracker = session.sparkContext.statusTracker()
        found = [tracker.getStageInfo(i) for i in tracker.getActiveStageIds()]
    except Exception:
        return None  # a session without a context of its own, or one that is being stopped
    known = [s for s in found if s is not None]
    if not known:
        return None
    return sum(s.numCompletedTasks for s in known), sum(s.numTasks for s in known)
