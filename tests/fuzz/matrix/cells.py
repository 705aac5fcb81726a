"""All cells of the matrix, in the order in which they are drawn, and those that are not supported."""

from __future__ import annotations

from collections import Counter
from functools import cache
from random import Random

from rich.table import Table

from evercurrent.data.types import Array, Map, Struct, Type
from tests.fuzz.matrix.items import Item, items
from tests.fuzz.matrix.positions import COMPARED, POSITIONS

Cell = tuple[str, str]
BLOCK = 24
"""Cells that one scenario tries."""

MAPS = "maps are not compared, in Spark either"


def contains_map(t: Type) -> bool:
    match t:
        case Map():
            return True
        case Array(element):
            return contains_map(element)
        case Struct(members):
            return any(contains_map(m.type) for m in members)
        case _:
            return False


def refusal(item: Item, position: str) -> str | None:
    """Why an item is not supported in a position; None where it is. The product must refuse it with an error of its own."""
    if position in COMPARED | {"aggregate"} and contains_map(item.result):
        return MAPS
    return None


@cache
def all_cells() -> tuple[Cell, ...]:
    """Every cell, by position; within one shuffled the same way each time, so that neighbours share little."""
    names = sorted(items())
    found = []
    for position in POSITIONS:
        own = list(names)
        Random(position).shuffle(own)
        found += [(name, position) for name in own]
    return tuple(found)


@cache
def expected_cells() -> frozenset[Cell]:
    """The cells that a run must have drawn."""
    return frozenset(c for c in all_cells() if any(refusal(i, c[1]) is None for i in items()[c[0]]))


def count_blocks() -> int:
    """How many seeds in a row try all cells."""
    return -(-len(all_cells()) // BLOCK)


def block(seed: int) -> list[Cell]:
    """The cells of a seed: seeds that follow each other try all cells in turn."""
    cells, blocks = all_cells(), count_blocks()
    # A stride without a common divisor: a few seeds already see every position.
    at = seed * _stride(blocks) % blocks
    return list(cells[at * BLOCK : (at + 1) * BLOCK])


def _stride(blocks: int) -> int:
    from math import gcd

    return next(s for s in range(max(1, blocks * 5 // 8), 2 * blocks + 2) if gcd(s, blocks) == 1)


def render(cells: Counter[Cell]) -> Table:
    """The matrix: how often each item was drawn in each position; `-` where it is not supported."""
    table = Table(title="Functions and positions", show_lines=False, pad_edge=False)
    table.add_column("")
    for position in POSITIONS:
        table.add_column(position.replace(" ", "\n"), justify="right")
    expected = expected_cells()
    for name in sorted(items()):
        row = [(name, position) for position in POSITIONS]
        table.add_row(name, *(str(cells[c]) if c in expected else "-" for c in row))
    drawn = sum(1 for c in expected if cells[c])
    table.caption = f"{drawn} of {len(expected)} cells drawn"
    return table
