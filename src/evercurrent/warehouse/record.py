"""What a run did, view by view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ViewRun:
    """One view in one run."""

    view: str
    strategy: str
    reason: str
    rows_changed: int


@dataclass(frozen=True)
class RunRecord:
    """One batch: the version that it became and what it cost. Prints as a table."""

    version: int
    batch: str | None = None
    repeated: bool = False
    rows_in: Mapping[str, int] = field(default_factory=dict)
    views: tuple[ViewRun, ...] = ()
    bytes_read: int = 0
    jobs: int = 0
    seconds: float = 0.0
    steps: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "rows_in": dict(self.rows_in),
            "views": [[v.view, v.strategy, v.reason, v.rows_changed] for v in self.views],
            "bytes_read": self.bytes_read,
            "jobs": self.jobs,
            "seconds": round(self.seconds, 4),
            "steps": {k: round(v, 4) for k, v in self.steps.items()},
        }

    @staticmethod
    def of_json(version: int, batch: str | None, value: Mapping[str, Any]) -> RunRecord:
        return RunRecord(
            version,
            batch,
            False,
            value.get("rows_in", {}),
            tuple(ViewRun(*v) for v in value.get("views", ())),
            value.get("bytes_read", 0),
            value.get("jobs", 0),
            value.get("seconds", 0.0),
            value.get("steps", {}),
        )

    def __str__(self) -> str:
        if self.repeated:
            return f"version {self.version}: batch {self.batch!r} was applied already; nothing was changed"
        taken = ", ".join(f"{n:,} of {t}" for t, n in self.rows_in.items()) or "none"
        lines = [
            f"version {self.version}: {self.seconds:.2f} s, rows in: {taken}; "
            f"{self.bytes_read / 1e6:.1f} MB read, {self.jobs} jobs"
        ]
        lines += [f"  {note}" for note in self.notes]
        if self.views:
            wide = max(4, *(len(v.view) for v in self.views))
            lines.append(f"  {'view':<{wide}}  {'strategy':<8}  {'rows changed':>12}  reason")
            for v in self.views:
                lines.append(f"  {v.view:<{wide}}  {v.strategy:<8}  {v.rows_changed:>12,}  {v.reason}")
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from evercurrent.display import text_html

        return text_html(str(self))
