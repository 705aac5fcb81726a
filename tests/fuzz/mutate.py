"""Runs the fixed budget against each mutant: `python -m tests.fuzz.mutate`, or `make mutants`.

    --only TEXT     the mutants whose name contains this; may be given several times
    --no-spark      without those that only campaigns on Spark can see
    --processes N   so many side by side; 2 without it

Each mutant is a copy of the package in a temporary folder, first on the path of a process of its own, which runs scenarios of the
budget until one fails; it must not fail without the bug. Sets have the order that they have in `make test`, so the same seeds catch
the same bugs each time. A mutant that survives fails the run; so does one whose text is not found exactly once.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from rich.console import Console
from rich.table import Table

from tests.fuzz.budget import CAUGHT
from tests.fuzz.mutants import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "evercurrent"
LIMIT = 400
SPARK_LIMIT = 900
"""Seconds after which a budget is ended; the mutant counts as one that survived."""
PROCESSES = 2
FIXED = {"PYTHONHASHSEED": "0"}
"""What the Makefile fixes for the budget of `make test`: the lines between two faults depend on the order of sets."""


class NotApplicable(Exception):
    """The text of a mutant does not stand exactly once in the package."""


@dataclass(frozen=True)
class Verdict:
    """`caught` says by which campaign and seed; empty if the mutant survived."""

    mutant: Mutant
    caught: str
    seconds: float


def places_of(mutant: Mutant, package: Path = PACKAGE) -> list[Path]:
    """Returns the files that hold the texts of the mutant, one for each."""
    places = []
    for old, _ in mutant.patches():
        found = [p for p in sorted(package.rglob("*.py")) if old in p.read_text()]
        times = sum(p.read_text().count(old) for p in found)
        if times != 1:
            where = ", ".join(str(p.relative_to(package)) for p in found) or "no file"
            raise NotApplicable(
                f"the text of the mutant {mutant.name!r} stands {times} times in the package ({where}): {old}"
            )
        places += found
    return places


def copy_with(mutant: Mutant, folder: Path) -> None:
    """Copies the package into the folder, with the bug."""
    places = places_of(mutant)
    shutil.copytree(PACKAGE, folder / "evercurrent", ignore=shutil.ignore_patterns("__pycache__"))
    for place, (old, new) in zip(places, mutant.patches(), strict=True):
        patched = folder / "evercurrent" / place.relative_to(PACKAGE)
        patched.write_text(patched.read_text().replace(old, new))


def run(mutant: Mutant) -> Verdict:
    """Runs the budget against a mutant until a scenario fails that does not fail without the bug."""
    start = monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy_with(mutant, Path(folder))
        where = "spark" if mutant.spark else "here"
        done = python(["-m", "tests.fuzz.budget", folder, where, *mutant.likely], folder, mutant.spark)
    if done is None:
        # Too slow a machine looks the same, so it does not count.
        return Verdict(mutant, "", monotonic() - start)
    if done.returncode not in (0, CAUGHT):
        raise RuntimeError(f"the budget could not run against {mutant.name!r}:\n{done.stdout}{done.stderr}")
    caught = ""
    if done.returncode == CAUGHT:
        name, seed, error = done.stdout.strip().splitlines()[-1].split()
        without = python(
            ["-c", f"from tests.fuzz.found import replay; replay({name!r}, {seed})"],
            str(ROOT / "src"),
            mutant.spark,
        )
        if without is None or without.returncode:
            raise RuntimeError(
                f"{name}, seed {seed} fails without the mutant {mutant.name!r} too; mend that first"
            )
        caught = f"{name}, seed {seed}: {error}"
    return Verdict(mutant, caught, monotonic() - start)


def python(arguments: Sequence[str], package: str, spark: bool) -> subprocess.CompletedProcess[str] | None:
    """Runs Python with the package of a folder first on the path; returns None if it hangs."""
    try:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={
                **os.environ,
                **FIXED,
                "PYTHONPATH": os.pathsep.join([package, str(ROOT)]),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            capture_output=True,
            text=True,
            timeout=SPARK_LIMIT if spark else LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None


def show(verdicts: Sequence[Verdict]) -> Table:
    table = Table(title="Mutants against the fixed budget")
    for name in ("mutant", "caught by", "seconds"):
        table.add_column(name, justify="right" if name == "seconds" else "left")
    for v in verdicts:
        table.add_row(v.mutant.name, v.caught or "[red]survived[/red]", f"{v.seconds:.1f}")
    return table


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.mutate", description="Deliberate bugs against the budget."
    )
    parser.add_argument(
        "--only", action="append", help="the mutants whose name contains this; may be repeated"
    )
    parser.add_argument("--spark", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--processes", type=int, default=PROCESSES, help="so many side by side")
    chosen = parser.parse_args(arguments)
    console = Console()
    mutants = [m for m in MUTANTS if not chosen.only or any(text in m.name for text in chosen.only)]
    left_out = [m.name for m in mutants if m.spark and not chosen.spark]
    if left_out:
        console.print(f"[yellow]without Spark, so not run: {', '.join(left_out)}[/yellow]")
    mutants = [m for m in mutants if m.name not in left_out]
    try:
        for m in mutants:
            places_of(m)
    except NotApplicable as problem:
        console.print(str(problem), markup=False)
        return 1
    verdicts: list[Verdict] = []
    with ThreadPoolExecutor(chosen.processes) as pool, console.status("running") as status:
        for v in pool.map(run, mutants):
            verdicts.append(v)
            console.print(f"{v.mutant.name}: {v.caught or 'survived'} ({v.seconds:.1f} s)", highlight=False)
            status.update(f"{len(verdicts)} of {len(mutants)} mutants")
    console.print(show(verdicts))
    return 1 if any(not v.caught for v in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
