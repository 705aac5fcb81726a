"""`python -m tests.kills --kills 300`: kills writers of a file, and says what it has seen."""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from tests.kills.campaign import run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=300)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        tally = run(Path(folder), given.kills, given.seed)
    print(
        f"{tally.kills} kills, {tally.steps} steps committed, of which {tally.unacknowledged} were committed and not "
        "acknowledged: nothing lost, nothing doubled, nothing half there"
    )


if __name__ == "__main__":
    main()
