"""`python -m examples.analyser PATH [--follow]`: the bugs in a folder of classes or a jar, now and as it changes."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from examples.analyser.analyser import Analyser
from examples.analyser.bugs import CODES, TITLES, Bug
from examples.analyser.follow import Watch

PIPED = 180
"""Columns where the output goes into a file or a pipe."""


def main(arguments: Sequence[str] | None = None, console: Console | None = None) -> int:
    options = parser().parse_args(arguments)
    console = console or Console(highlight=False, width=None if sys.stdout.isatty() else PIPED)
    if not options.path.exists():
        Console(stderr=True).print(f"[red]error:[/red] there is nothing at {options.path}")
        return 2
    analyser, watch = Analyser(options.only or CODES), Watch(options.path)
    start = time.perf_counter()
    first = list(watch.look())
    read = time.perf_counter()
    analyser.replace((seen.place, seen.facts) for seen in first if not seen.problem)
    done = time.perf_counter()
    for seen in first:
        if seen.problem:
            console.print(f"[yellow]skipped[/yellow] {seen.place.path} {seen.place.entry}: {seen.problem}")
    bugs = analyser.bugs()
    console.print(table(analyser, bugs))
    console.print(
        f"{len(bugs)} bugs in {len(analyser.classes):,} classes; "
        f"read in {read - start:.2f} s, analysed in {done - read:.2f} s"
    )
    if options.follow:
        try:
            follow(analyser, watch, console, options.interval, options.rounds)
        except KeyboardInterrupt:
            console.print(f"{len(analyser.bugs())} bugs in {len(analyser.classes):,} classes")
    return 0


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser("examples.analyser", description=__doc__)
    found.add_argument("path", type=Path, help="a folder of class files and jars, a jar, or a class file")
    found.add_argument("--follow", action="store_true", help="go on, and say what changes, until Ctrl-C")
    found.add_argument("--interval", type=float, default=0.5, help="seconds between two looks (default: 0.5)")
    found.add_argument(
        "--only", action="append", choices=CODES, metavar="CODE", help="look for this pattern only"
    )
    found.add_argument("--rounds", type=int, help="stop after so many looks")
    return found


def follow(
    analyser: Analyser, watch: Watch, console: Console, interval: float, rounds: int | None = None
) -> None:
    """Look again and again; every class that came, changed or went is a transaction of its own."""
    heard: list[tuple[bool, Bug]] = []
    analyser.subscribe(lambda came, found: heard.append((came, found)))
    while rounds is None or rounds > 0:
        rounds = None if rounds is None else rounds - 1
        time.sleep(interval)
        for seen in watch.look():
            if seen.problem:
                console.print(
                    f"[yellow]waiting[/yellow] {seen.place.path} {seen.place.entry}: {seen.problem}"
                )
                continue
            known = analyser.names.get(seen.place)
            start = time.perf_counter()
            rows = analyser.replace([(seen.place, seen.facts)])
            taken = (time.perf_counter() - start) * 1e3
            what = "removed" if seen.facts is None else "changed" if known else "added"
            name = known if seen.facts is None else seen.facts.name
            console.print(f"{dotted(name or '')} {what}: {rows} rows, {taken:.1f} ms", style="dim")
            for came, found in heard:
                console.print(line(analyser, came, found))
            heard.clear()


def table(analyser: Analyser, bugs: Sequence[Bug]) -> Table:
    shown = Table(title="Bugs", title_justify="left")
    for name in ("bug", "class", "member", "line"):
        shown.add_column(name, overflow="fold")
    for found in bugs:
        number = analyser.line(found)
        shown.add_row(
            found.pattern, dotted(found.owner), readable(found), "" if number is None else str(number)
        )
    return shown


def line(analyser: Analyser, came: bool, found: Bug) -> str:
    number = analyser.line(found)
    place = f"{dotted(found.owner)} {readable(found)}" + (f", line {number}" if number is not None else "")
    sign = "[red]+[/red]" if came else "[green]-[/green]"
    return f"  {sign} {found.pattern} {place.strip()}: {TITLES[found.pattern]}"


def dotted(name: str) -> str:
    return name.replace("/", ".")


def readable(found: Bug) -> str:
    """A field or method without its types: they are long, and the line says more."""
    name, parameters, _ = found.member.partition("(")
    return name + ("()" if parameters else "")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:  # before there was anything to follow
        sys.exit(130)
