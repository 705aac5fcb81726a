"""What a run did, view by view: strategy and reason, rows in, rows changed, bytes, seconds.

>>> run = RunRecord(7, rows_in={"orders": 2}, views=(ViewRun("spend", "keyed", reason="2 rows changed", rows_in=2, rows_changed=1),))
>>> run.count, run.view("spend").rows_changed
(2, 1)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from evercurrent.display import bytes_text


@dataclass(frozen=True)
class ViewRun:
    """One view in one run.

    `strategy` is none, delta, keyed, fixpoint or full; `code` and `reason` say why (see `strategies`). `estimate` and
    `bytes_read` are what was expected and what came of it, `instead` what the way not taken was expected to cost.
    `expected` and `instead_seconds` say the same in seconds. `way` is how: by rules, by Spark's SQL, by a fill or by the
    evaluator. `seconds` and `bytes_read` are those of the steps that serve this view; `shared` is how many of the seconds served
    other views as well.
    """

    view: str
    strategy: str
    code: str = ""
    reason: str = ""
    rows_in: int = 0
    rows_changed: int = 0
    estimate: int = 0
    instead: int | None = None
    bytes_read: int = 0
    seconds: float = 0.0
    shared: float = 0.0
    expected: float = 0.0
    instead_seconds: float | None = None
    way: str = ""

    @staticmethod
    def of_json(value: Any) -> ViewRun:
        if isinstance(value, Mapping):
            return ViewRun(**value)
        view, strategy, reason, changed = value
        return ViewRun(view, strategy, "", reason, 0, changed)


@dataclass(frozen=True)
class RunRecord:
    """One batch: the version that it became and what it cost. Prints as a table.

    `rows_in` says how many changed rows of each table it took in, and `count`, or `int(run)`, how many these are together.

    `warnings` say what failed after the commit: the version stands, and the rest is done with a later batch.
    """

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
    quarantined: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """The number of changed rows that were taken in, of all tables."""
        return sum(self.rows_in.values())

    def __int__(self) -> int:
        return self.count

    def view(self, name: str) -> ViewRun:
        """What was done for one view."""
        return next(v for v in self.views if v.view.lower() == name.lower())

    def to_json(self) -> dict[str, Any]:
        return {
            "rows_in": dict(self.rows_in),
            "views": [asdict(v) for v in self.views],
            "bytes_read": self.bytes_read,
            "jobs": self.jobs,
            "seconds": round(self.seconds, 4),
            "steps": {k: round(v, 4) for k, v in self.steps.items()},
            "notes": list(self.notes),
            "quarantined": dict(self.quarantined),
        }

    @staticmethod
    def of_json(version: int, batch: str | None, value: Mapping[str, Any]) -> RunRecord:
        return RunRecord(
            version,
            batch,
            False,
            value.get("rows_in", {}),
            tuple(map(ViewRun.of_json, value.get("views", ()))),
            value.get("bytes_read", 0),
            value.get("jobs", 0),
            value.get("seconds", 0.0),
            value.get("steps", {}),
            tuple(value.get("notes", ())),
            value.get("quarantined", {}),
        )

    def __str__(self) -> str:
        if self.repeated:
            return f"version {self.version}: batch {self.batch!r} was applied already; nothing was changed"
        lines = [self.headline(), *(f"  {note}" for note in self.notes)]
        if self.steps:
            lines.append(
                "  " + ", ".join(f"{name} {s:.2f} s" for name, s in self.steps.items() if s >= 0.005)
            )
        for table, rows in self.quarantined.items():
            lines.append(f"  {rows:,} changes of {table} were set aside")
        lines += [f"  warning: {w}" for w in self.warnings]
        cells = [HEADER, *map(row_of, self.views)]
        wide = [max(len(c) for c in column) for column in zip(*cells, strict=True)]
        if self.views:
            for row in cells:
                padded = [
                    c.rjust(w) if right else c.ljust(w) for c, w, right in zip(row, wide, RIGHT, strict=True)
                ]
                lines.append(("  " + "  ".join(padded)).rstrip())
        if any(v.shared for v in self.views):
            lines.append("  * steps that serve several views are counted for each of them")
        return "\n".join(lines)

    def headline(self) -> str:
        taken = ", ".join(f"{n:,} of {t}" for t, n in self.rows_in.items()) or "none"
        named = f" ({self.batch})" if self.batch else ""
        return (
            f"version {self.version}{named}: {self.seconds:.2f} s, rows in: {taken}; "
            f"{bytes_text(self.bytes_read)} read, {self.jobs} jobs"
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        if self.repeated or not self.views:
            from evercurrent.display import text_html

            return text_html(str(self))
        head = "".join(f"<th>{escape(h)}</th>" for h in HEADER)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row_of(v)) + "</tr>" for v in self.views
        )
        notes = [*self.notes, *(f"{n:,} changes of {t} were set aside" for t, n in self.quarantined.items())]
        notes += [f"warning: {w}" for w in self.warnings]
        more = "".join(f"<p>{escape(n)}</p>" for n in notes)
        return f"<p>{escape(self.headline())}</p>{more}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


HEADER = ("view", "strategy", "rows in", "rows changed", "estimate", "read", "expected", "seconds", "why")
RIGHT = (False, False, True, True, True, True, True, True, False)


def row_of(v: ViewRun) -> tuple[str, ...]:
    """A view's line in the table."""
    why = f"{v.code}: {v.reason}" if v.code else v.reason
    if v.strategy == "none":
        return (v.view, v.strategy, "", "", "", "", "", "", why)
    seconds = f"{v.seconds:.2f}{'*' if v.shared else ''}"
    return (
        v.view,
        v.strategy,
        f"{v.rows_in:,}",
        f"{v.rows_changed:,}",
        bytes_text(v.estimate),
        bytes_text(v.bytes_read),
        f"{v.expected:.2f}",
        seconds,
        why,
    )
