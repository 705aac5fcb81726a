"""Origins as a graph: what rows were made from, shared between rows, and walked through for one of them.

>>> base = Origin([], "orders", (1, "Ann"), 2)
>>> both = Origin([base, Origin([base])])
>>> collect_origins(both).rows["orders"].weights
{(1, 'Ann'): 2}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from evercurrent.data.zset import Row, ZSet


@dataclass(frozen=True, slots=True)
class Origins:
    """The rows of each base relation, with their multiplicities there, and what was looked for in vain."""

    rows: Mapping[str, ZSet]
    absent: tuple[str, ...] = ()


@dataclass(slots=True, eq=False)
class Origin:
    """A node of the graph: a base row, something absent, or what its parts come from."""

    parts: list[Origin] = field(default_factory=list)
    relation: str | None = None
    row: Row = ()
    weight: int = 0
    absent: str | None = None


def collect_origins(origin: Origin) -> Origins:
    """Everything that an origin leads to."""
    rows: dict[str, ZSet] = {}
    absent: dict[str, None] = {}
    seen: set[int] = set()
    waiting = [origin]
    while waiting:
        at = waiting.pop()
        if id(at) in seen:
            continue
        seen.add(id(at))
        waiting += at.parts
        if at.relation is not None:
            rows.setdefault(at.relation, ZSet()).weights[at.row] = at.weight
        if at.absent is not None:
            absent[at.absent] = None
    return Origins(rows, tuple(absent))


class Traced:
    """Rows with multiplicities and origins."""

    __slots__ = ("origins", "weights")

    def __init__(self) -> None:
        self.weights: dict[Row, int] = {}
        self.origins: dict[Row, Origin] = {}

    def add(self, row: Row, weight: int, *parts: Origin) -> None:
        before = self.origins.get(row)
        if before is None:
            self.weights[row] = weight
            self.origins[row] = parts[0] if len(parts) == 1 else Origin(list(parts))
        else:
            self.weights[row] += weight
            self.origins[row] = Origin([before, *parts])

    def items(self) -> Iterator[tuple[Row, int, Origin]]:
        for row, weight in self.weights.items():
            yield row, weight, self.origins[row]

    def entries(self) -> list[tuple[Row, int]]:
        return list(self.weights.items())
