"""`python -m tests.fuzz --minutes 10`: random campaigns against independent oracles.

--campaign NAME     only this one; may be given several times
--seed S            the first seed of every campaign; without it, one from the clock, which is printed
--scenarios N       so many scenarios of each campaign at most: `--campaign views --seed 17 --scenarios 1` replays one
--no-spark          without the campaigns on Spark
--full-matrix       fails if a supported cell of the matrix was never drawn, whatever the time (from 10 minutes on it always does)

Ctrl-C ends a run at once; its table says what was compared until then.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time

from rich.console import Console

from tests.fuzz.matrix_report import missing_cells, show_matrix
from tests.fuzz.roster import CAMPAIGNS, campaign, is_written
from tests.fuzz.runner import Run


def options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz", description="Random campaigns against independent oracles."
    )
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument(
        "--campaign", action="append", choices=CAMPAIGNS, help="only this one; may be repeated"
    )
    parser.add_argument("--seed", type=int, help="the first seed (default: from the clock)")
    parser.add_argument("--scenarios", type=int, help="so many scenarios of each campaign at most")
    parser.add_argument("--spark", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--full-matrix", action="store_true", help="fail if a supported cell was never drawn")
    return parser.parse_args(arguments)


def main(arguments: list[str]) -> int:
    chosen = options(arguments)
    for kind in (signal.SIGINT, signal.SIGTERM):  # also where a shell has started it in the background
        signal.signal(kind, signal.default_int_handler)
    console = Console(soft_wrap=True)
    names = chosen.campaign or CAMPAIGNS
    absent = [name for name in names if not is_written(name)]
    if absent:
        console.print(f"[yellow]not written yet, so not run: {', '.join(absent)}[/yellow]")
    campaigns = [campaign(name) for name in names if name not in absent]
    left_out = [c.name for c in campaigns if c.needs_spark and not chosen.spark]
    if left_out:
        console.print(f"[yellow]without Spark, so not run: {', '.join(left_out)}[/yellow]")
    seed = chosen.seed if chosen.seed is not None else int(time.time()) % 1_000_000_000
    console.print(f"first seed {seed}; repeat with --seed {seed}", highlight=False)
    run = Run(
        [c for c in campaigns if c.name not in left_out],
        seed,
        chosen.minutes * 60,
        chosen.scenarios,
        console=console,
    )
    report = run()
    console.print(report.table())
    show_matrix(console, report.cells)
    if run.interrupted:
        console.print("interrupted")
    for found in report.differences:
        console.print(f"[red]difference[/red] in {found.campaign}, seed {found.seed}", highlight=False)
    whole = chosen.full_matrix or (chosen.minutes >= 10 and not chosen.campaign and not run.interrupted)
    missing = missing_cells(report.cells) if whole else []
    if missing:
        console.print(f"[red]{len(missing)} supported cells were never drawn[/red]: {missing[:20]}")
    return 1 if report.differences or missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
