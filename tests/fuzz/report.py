"""What a run says while it goes on and at its end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from rich.table import Table

from tests.fuzz.workers import Outcome

COLUMNS = ("scenarios", "transactions", "views", "faults", "differences")


@dataclass
class Totals:
    """What one campaign has compared so far."""

    scenarios: int = 0
    transactions: int = 0
    views: int = 0
    faults: int = 0
    differences: int = 0
    seconds: float = 0.0

    def add(self, outcome: Outcome) -> None:
        self.scenarios += 1
        self.transactions += outcome.tally.transactions
        self.views += outcome.tally.views
        self.faults += outcome.tally.faults
        self.differences += bool(outcome.message)
        self.seconds += outcome.seconds


@dataclass
class Report:
    """Totals by campaign, the drawn cells of the matrix, and the differences."""

    by_campaign: dict[str, Totals] = field(default_factory=dict)
    cells: Counter[tuple[str, str]] = field(default_factory=Counter)
    differences: list[Outcome] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        self.by_campaign.setdefault(outcome.campaign, Totals()).add(outcome)
        self.cells.update(outcome.tally.cells)
        if outcome.message:
            self.differences.append(outcome)

    def total(self) -> Totals:
        found = Totals()
        for t in self.by_campaign.values():
            for name in (*COLUMNS, "seconds"):
                setattr(found, name, getattr(found, name) + getattr(t, name))
        return found

    def line(self) -> str:
        t = self.total()
        return (
            f"{t.transactions:,} transactions, {t.views:,} views, {t.faults:,} faults compared, "
            f"{t.differences:,} differences"
        )

    def table(self) -> Table:
        table = Table(title="Compared with independent oracles")
        table.add_column("campaign")
        for name in (*COLUMNS, "seconds"):
            table.add_column(name, justify="right")
        for name, totals in self.by_campaign.items():
            table.add_row(name, *cells_of(totals))
        table.add_section()
        table.add_row("together", *cells_of(self.total()))
        return table


def cells_of(totals: Totals) -> list[str]:
    return [*(f"{getattr(totals, name):,}" for name in COLUMNS), f"{totals.seconds:,.1f}"]
