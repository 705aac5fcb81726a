"""What `db.verify()` returns: for each view, the rows that it lacks and those that it should not have.

>>> report = Report((Verified("spend", 2), Verified("top", 1, missing=[(7,)]), Verified("all", 9, skipped="too large")))
>>> print(report)
spend: 2 rows, as recomputed
top: differs: 1 missing, 0 unexpected
  missing     (7,)
all: not verified: too large

A view that was not compared is not verified: neither it nor the report is true then.

>>> [bool(v) for v in report.views], bool(Report((Verified("all", 9, skipped="too large"),)))
([True, False, False], False)
"""

from __future__ import annotations

from dataclasses import dataclass, field

from evercurrent.data.zset import Row
from evercurrent.display import count_text, text_html

SAMPLE = 20


@dataclass(frozen=True)
class Verified:
    """One view: rows that it lacks and rows that it should not have, each as often as it differs.

    On Spark the two lists are samples, and `counts` says how many rows there are of each kind. `skipped` says why the view was
    not compared. It is true if it was compared and is equal.
    """

    view: str
    rows: int
    missing: list[Row] = field(default_factory=list)
    unexpected: list[Row] = field(default_factory=list)
    skipped: str = ""
    counts: tuple[int, int] | None = None

    def __bool__(self) -> bool:
        return not self.skipped and not self.differs

    @property
    def differs(self) -> bool:
        return bool(self.missing or self.unexpected)

    def __str__(self) -> str:
        if self.skipped:
            return f"{self.view}: not verified: {self.skipped}"
        if self:
            return f"{self.view}: {count_text(self.rows)}, as recomputed"
        missing, unexpected = self.counts or (len(self.missing), len(self.unexpected))
        lines = [f"{self.view}: differs: {missing:,} missing, {unexpected:,} unexpected"]
        lines += [f"  missing     {row!r}" for row in self.missing[:SAMPLE]]
        lines += [f"  unexpected  {row!r}" for row in self.unexpected[:SAMPLE]]
        return "\n".join(lines)


@dataclass(frozen=True)
class Report:
    """What `db.verify()` returns: true if all views were compared and are equal; prints what was found."""

    views: tuple[Verified, ...]

    def __bool__(self) -> bool:
        return all(self.views)

    @property
    def differing(self) -> list[Verified]:
        """The views that are not what they should be."""
        return [v for v in self.views if v.differs]

    @property
    def unverified(self) -> list[Verified]:
        """The views that were not compared; `skipped` says why."""
        return [v for v in self.views if v.skipped]

    def __str__(self) -> str:
        return "\n".join(map(str, self.views)) or "there are no views"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return text_html(str(self))
