"""The matrix draws every cell: all functions of the product are items, and seeds that follow each other visit all blocks."""

from __future__ import annotations

from collections import Counter

from evercurrent.frontend.sql.functions import WINDOW_ONLY
from evercurrent.term.aggregates import TABLE
from evercurrent.term.function_table import FUNCTIONS
from evercurrent.term.functions.numbers.bounds import BOUNDS
from evercurrent.term.functions.numbers.ordered_reads import READS
from evercurrent.term.functions.numbers.ring import RING
from tests.fuzz.matrix.cells import BLOCK, all_cells, block, expected_cells, render
from tests.fuzz.matrix.items import items


def test_every_function_of_the_product_is_an_item() -> None:
    names = set(items())
    assert set(FUNCTIONS) - {f.name for f in (*RING, *BOUNDS, *READS)} <= names
    assert {f"{name}()" for name in TABLE if name != "monoid"} <= names
    assert {f"{name}() over" for name in WINDOW_ONLY} <= names


def test_consecutive_seeds_visit_every_cell() -> None:
    blocks = -(-len(all_cells()) // BLOCK)
    visited = Counter(cell for seed in range(500, 500 + blocks) for cell in block(seed))
    assert set(visited) == set(all_cells()) and set(visited.values()) == {1}
    assert expected_cells() <= set(visited)


def test_the_report_counts_what_was_drawn() -> None:
    assert f"0 of {len(expected_cells())} cells" in str(render(Counter()).caption)
    assert f"{len(expected_cells())} of" in str(render(Counter(expected_cells())).caption)
