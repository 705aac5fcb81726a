"""Writes differences down as scripts in `found/`, which a test replays for ever.

A script fails while the difference is there and passes once it is mended. It holds its own history, so that it says the same when
the generators change. A difference without a history of its own (a process that hung or died) is replayed by its seed.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.roster import campaign
from tests.fuzz.workers import Outcome

FOUND = Path(__file__).parent / "found"
ROOT = Path(__file__).parents[2]
REPLAY_LIMIT = 60


def save(outcome: Outcome, folder: Path = FOUND) -> Path:
    """Writes the difference of an outcome as a script, and returns its path."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{outcome.campaign}_{outcome.seed}.py"
    path.write_text(text_of(outcome))
    if is_python(outcome.case) and passes(path):
        # The history alone does not show it, so the seed must.
        path.write_text(by_seed(outcome))
    return path


def text_of(outcome: Outcome) -> str:
    if not is_python(outcome.case):
        return by_seed(outcome)
    return f'"""Campaign {outcome.campaign}, seed {outcome.seed}."""\n\n{outcome.case.strip()}\n'


def by_seed(outcome: Outcome) -> str:
    said = [f"# {line}".rstrip() for line in (outcome.message + "\n" + outcome.case).strip().splitlines()]
    return "\n".join(
        [
            f'"""Campaign {outcome.campaign}, seed {outcome.seed}."""',
            "",
            "from tests.fuzz.found import replay",
            "",
            *said,
            f"replay({outcome.campaign!r}, {outcome.seed})",
            "",
        ]
    )


def is_python(text: str) -> bool:
    """Says whether the text is a script that does anything."""
    try:
        return bool(ast.parse(text).body)
    except (SyntaxError, ValueError):
        return False


def passes(path: Path) -> bool:
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    try:
        done = subprocess.run(
            [sys.executable, str(path)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            timeout=REPLAY_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def replay(name: str, seed: int) -> Tally:
    """Runs the scenario of a seed again."""
    tally = Tally()
    if campaign(name).needs_spark:
        from tests.spark_session import small_session

        small_session("evercurrent-replay")
    try:
        campaign(name).run(seed, tally)
    except Difference as difference:
        raise AssertionError(str(difference)) from difference
    return tally
