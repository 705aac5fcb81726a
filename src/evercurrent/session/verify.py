"""Recompute and compare: is every view what its query returns on the tables as they are?

The rows are found anew by the reference evaluator, which shares neither the algebra nor the engine with what is verified,
and compared both ways, with multiplicities.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from evercurrent.catalog.dependencies import base_tables
from evercurrent.catalog.nodes import View
from evercurrent.data.zset import Row
from evercurrent.display import count_text
from evercurrent.rows.conversion import give_rows

if TYPE_CHECKING:
    from evercurrent.calculus.nodes import Query
    from evercurrent.session.session import Session

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
        from evercurrent.display import text_html

        return text_html(str(self))


def verify(session: Session, names: Iterable[str] | None) -> Report:
    """Compare the named views, or all."""
    with session.lock:
        chosen = (
            list(session.catalog.views.values()) if names is None else [session.view(name) for name in names]
        )
        return Report(tuple(_verify(session, view) for view in chosen))


def _verify(session: Session, view: View) -> Verified:
    for table in sorted(base_tables(session.catalog, frozenset({view.name}))):
        declared = session.table(table)
        if not declared.stored:
            return Verified(view.name, 0, skipped=f"the rows of {declared.name} are not stored")
    from evercurrent.design.evaluation import reference

    expected = reference(cast("Query", view.query), session.catalog, session.table_rows)
    actual = session.view_rows(view.name)
    difference = expected - actual
    return Verified(
        view.name,
        sum(weight for _, weight in actual.items()),
        give_rows(view.fields, difference.inserted()),
        give_rows(view.fields, difference.deleted()),
    )
