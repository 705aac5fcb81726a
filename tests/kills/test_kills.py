"""A small budget of kills; `make kills` runs hundreds."""

from __future__ import annotations

from pathlib import Path

from tests.kills.campaign import run


def test_a_killed_writer_loses_nothing(tmp_path: Path) -> None:
    tally = run(tmp_path, kills=12, seed=7)
    assert tally.kills == 12
    assert tally.steps > 12
