"""What `db.verify()` returns: for each view, the rows that it lacks and those that it should not have.

>>> print(Report((Verified("spend", 2), Verified("top", 1, missing=[(7,)]))))
spend: 2 rows, as recomputed
top: differs: 1 missing, 0 unexpected
  missing     (7,)
"""

from __future__ import annotations

from dataclasses import dataclass, field

from evercurrent.data.zset import Row
from evercurrent.display import count_text, text_html

SAMPLE = 20


@dataclass(frozen=True)
class Verified:
    """One view: rows that it lacks and rows that it should not have, each as often as it differs."""

    view: str
    rows: int
    missing: list[Row] = field(default_factory=list)
    unexpected: list[Row] = field(default_factory=list)
    skipped: str = ""

    def __bool__(self) -> bool:
        return not self.missing and not self.unexpected

    def __str__(self) -> str:
        if self.skipped:
            return f"{self.view}: not verified: {self.skipped}"
        if self:
            return f"{self.view}: {count_text(self.rows)}, as recomputed"
        lines = [f"{self.view}: differs: {len(self.missing)} missing, {len(self.unexpected)} unexpected"]
        lines += [f"  missing     {row!r}" for row in self.missing[:SAMPLE]]
        lines += [f"  unexpected  {row!r}" for row in self.unexpected[:SAMPLE]]
        return "\n".join(lines)


@dataclass(frozen=True)
class Report:
    """What `db.verify()` returns: true if no view differs; prints what does."""

    views: tuple[Verified, ...]

    def __bool__(self) -> bool:
        return all(self.views)

    def differing(self) -> list[Verified]:
        """The views that are not what they should be."""
        return [v for v in self.views if not v]

    def __str__(self) -> str:
        return "\n".join(map(str, self.views)) or "there are no views"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return text_html(str(self))
