"""Mutants: every one still applies, and a few are run each time. `make mutants` runs all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.mutants import MUTANTS, Mutant
from tests.fuzz.mutate import PACKAGE, NotApplicable, copy_with, places_of, run

SAMPLE = ("left join keeps its padding", "minimum stays after its deletion", "undo forgets the first change")


@pytest.mark.parametrize("mutant", MUTANTS, ids=[m.name for m in MUTANTS])
def test_applies_exactly_once(mutant: Mutant) -> None:
    assert all(place.is_file() for place in places_of(mutant))
    assert all(old != new for old, new in mutant.patches())


def test_names_are_unique() -> None:
    assert len({m.name for m in MUTANTS}) == len(MUTANTS)


def test_a_text_that_is_gone_is_reported() -> None:
    with pytest.raises(NotApplicable, match="stands 0 times in the package"):
        places_of(Mutant("gone", "no such text stands here", ""))


def test_a_text_that_stands_twice_is_reported() -> None:
    with pytest.raises(NotApplicable, match=r"'twice' stands [0-9]+ times"):
        places_of(Mutant("twice", "from __future__ import annotations", ""))


def test_the_tree_is_left_alone(tmp_path: Path) -> None:
    mutant = MUTANTS[0]
    (where,) = places_of(mutant)
    before = where.read_text()
    copy_with(mutant, tmp_path)
    assert where.read_text() == before
    assert mutant.new in (tmp_path / "evercurrent" / where.relative_to(PACKAGE)).read_text()


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE)
def test_is_caught(name: str) -> None:
    (mutant,) = [m for m in MUTANTS if m.name == name]
    assert run(mutant).caught
