"""`evercurrent`: run a pipeline of SQL views over a warehouse on Spark.

evercurrent run pipeline.sql --warehouse DIR     define, take in what is new, show what was done
evercurrent refresh --warehouse DIR [--full orders]
evercurrent explain --warehouse DIR [VIEW] [--stage program]
evercurrent verify --warehouse DIR
evercurrent history --warehouse DIR
evercurrent compact --warehouse DIR [--keep 100]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from evercurrent.errors import EvercurrentError


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser("evercurrent", description="Views that stay current, on Spark.")
    commands = top.add_subparsers(dest="command", required=True)
    for name, text in (
        ("run", "define what a SQL file says, then take in what is new"),
        ("refresh", "take in what is new in the sources"),
        ("explain", "show how views are kept"),
        ("verify", "compare every view with what Spark's SQL returns for its query"),
        ("history", "list the versions"),
        ("compact", "merge segments and remove old versions"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument("--warehouse", required=True, metavar="DIR", help="the folder of the warehouse")
        command.add_argument("--master", default="local[*]", help="the Spark master (default: local[*])")
        if name == "run":
            command.add_argument("pipeline", type=Path, help="a file of SQL definitions")
        if name in ("run", "refresh"):
            command.add_argument(
                "--full", action="append", default=[], metavar="SOURCE", help="compare a source as a whole"
            )
        if name == "explain":
            command.add_argument("view", nargs="?")
            command.add_argument("--stage", choices=("calculus", "normal", "algebra", "optimised", "program"))
        if name == "compact":
            command.add_argument("--keep", type=int, default=100, help="how many versions to keep")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """The console script."""
    options = parser().parse_args(arguments)
    console = Console(soft_wrap=True)
    try:
        return perform(options, console)
    except EvercurrentError as problem:
        Console(stderr=True, soft_wrap=True).print(
            f"[red]error:[/red] {problem}", markup=True, highlight=False
        )
        return 1


def perform(options: argparse.Namespace, console: Console) -> int:
    from evercurrent.cli.pipeline import define
    from evercurrent.engine.spark.session import local_session
    from evercurrent.warehouse.database import Warehouse

    if options.command == "run" and not options.pipeline.is_file():
        console.print(f"there is no file {options.pipeline}")
        return 2
    with console.status("starting Spark"):
        db = Warehouse(local_session(options.master), options.warehouse)
    match options.command:
        case "run" | "refresh":
            if options.command == "run":
                with console.status("defining") as status:
                    for line in define(db, options.pipeline):
                        console.print(f"  {line}", highlight=False)
                        status.update(f"defining: {line}")
            with console.status("refreshing"):
                run = db.refresh(full=options.full)
            console.print(str(run), highlight=False)
        case "explain":
            for name in [options.view] if options.view else db.views:
                console.print(str(db.view(name).explain(options.stage)), highlight=False, markup=False)
        case "verify":
            report = db.verify()
            console.print(str(report), highlight=False, markup=False)
            return 0 if report else 1
        case "history":
            console.print(history(db))
        case _:
            with console.status("compacting"):
                merged = db.compact()
                freed = db.vacuum(keep=options.keep)
            console.print(f"{merged} stores were merged, {freed / 1e6:.1f} MB were freed")
    return 0


def history(db: object) -> Table:
    from evercurrent.warehouse.database import Warehouse

    assert isinstance(db, Warehouse)
    table = Table("version", "what", "batch", "rows in", "rows changed", "seconds")
    for entry in db._core.engine.log.entries():
        rows = sum(entry.record.get("rows_in", {}).values())
        changed = sum(v[3] for v in entry.record.get("views", ()))
        seconds = entry.record.get("seconds", 0.0)
        table.add_row(
            str(entry.version), entry.kind, entry.batch or "", f"{rows:,}", f"{changed:,}", f"{seconds:.2f}"
        )
    return table


if __name__ == "__main__":
    sys.exit(main())
