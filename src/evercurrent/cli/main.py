"""`evercurrent`: run a pipeline of SQL views over a warehouse on Spark.

evercurrent run pipeline.sql --warehouse DIR     define, take in what is new, show what was done
evercurrent refresh --warehouse DIR [--full orders] [--batch NAME] [--on-violation quarantine]
evercurrent explain --warehouse DIR [VIEW] [--stage program]
evercurrent verify --warehouse DIR [VIEW ...]
evercurrent history --warehouse DIR [--last 20]
evercurrent compact --warehouse DIR [--keep 100]
evercurrent check --warehouse DIR [--repair]

`--functions rules` or `--functions rules:score` hands over functions that views in Python call; `--publish-to DIR` confirms a
folder outside the warehouse that views are published in.

The exit code is 0 if all is well, 1 for an error (the message is on the standard error) and if `check` found damage, 2 for a wrong command line, 3 if
`verify` found a view that differs, 130 if interrupted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from evercurrent.errors import EvercurrentError, QueryError

if TYPE_CHECKING:
    from evercurrent.cli.settings import Settings

FINE, FAILED, MISUSED, DIFFERS, INTERRUPTED = 0, 1, 2, 3, 130

COMMANDS = {
    "run": "define what a SQL file says, then take in what is new",
    "refresh": "take in what is new in the sources",
    "explain": "show how views are kept, and what a batch would cost",
    "verify": "compare views with what Spark's SQL returns for their queries",
    "history": "list the versions",
    "compact": "merge segments and remove old versions",
    "check": "compare all files with their checksums, and rebuild what can be",
}


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser("evercurrent", description="Views that stay current, on Spark.")
    top.add_argument("--version", action="version", version=f"evercurrent {version('evercurrent')}")
    commands = top.add_subparsers(dest="command", required=True)
    for name, text in COMMANDS.items():
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--warehouse", metavar="DIR", help="the folder of the warehouse")
        command.add_argument("--master", help="the Spark master (default: local[*])")
        command.add_argument(
            "--conf", action="append", default=[], metavar="NAME=VALUE", help="a setting of the Spark session"
        )
        command.add_argument(
            "--settings", type=Path, metavar="FILE", help="a TOML file (run: the one beside the pipeline)"
        )
        command.add_argument(
            "--functions",
            action="append",
            default=[],
            metavar="MODULE[:NAME]",
            help="functions that views in Python call: all of a module, or one of them",
        )
        command.add_argument(
            "--publish-to",
            action="append",
            default=[],
            metavar="DIR",
            help="a folder outside the warehouse that views may be published in",
        )
        add_own_arguments(command, name)
    return top


def add_own_arguments(command: argparse.ArgumentParser, name: str) -> None:
    """Adds the arguments that only this command takes."""
    match name:
        case "run":
            command.add_argument("pipeline", type=Path, help="a file of SQL definitions")
        case "explain":
            command.add_argument("view", nargs="?")
            command.add_argument("--stage", choices=("calculus", "normal", "algebra", "optimised", "program"))
        case "verify":
            command.add_argument("views", nargs="*", metavar="VIEW")
        case "history":
            command.add_argument("--last", type=int, default=20, help="how many versions (default: 20)")
        case "check":
            command.add_argument(
                "--repair",
                action="store_true",
                help="rebuild mapped copies, states and views that are damaged",
            )
        case "compact":
            command.add_argument("--keep", type=int, help="how many versions to keep (default: 100)")
        case _:
            pass
    if name in ("run", "refresh"):
        command.add_argument(
            "--full", action="append", default=[], metavar="SOURCE", help="compare a source as a whole"
        )
        command.add_argument("--batch", metavar="NAME", help="a batch of this name is taken in only once")
        command.add_argument(
            "--on-violation",
            choices=("refuse", "quarantine"),
            default="refuse",
            help="what becomes of changes that break a rule: all are refused, or those to blame are set aside",
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """The console script."""
    options = parser().parse_args(arguments)
    problems = Console(stderr=True, soft_wrap=True, highlight=False)
    try:
        return perform(options, Console(soft_wrap=True, highlight=False))
    except EvercurrentError as problem:
        # The text is data: what looks like markup in it is not.
        problems.print(Text.assemble(("error: ", "bold red"), str(problem)))
        return FAILED
    except KeyboardInterrupt:
        problems.print("interrupted; what was committed stays, and the rest has changed nothing")
        return INTERRUPTED


def settings_of(options: argparse.Namespace) -> Settings:
    from evercurrent.cli.settings import Settings, read_settings, toml_settings

    if options.settings is not None and not options.settings.is_file():
        raise QueryError(f"there is no file {options.settings}")
    if options.command != "run":
        return toml_settings(options.settings) if options.settings is not None else Settings()
    if not options.pipeline.is_file():
        raise QueryError(f"there is no file {options.pipeline}")
    return read_settings(options.pipeline, options.settings)


def perform(options: argparse.Namespace, console: Console) -> int:
    settings = settings_of(options)
    warehouse = options.warehouse or settings.warehouse
    if warehouse is None:
        raise QueryError(
            "which warehouse?", hint="--warehouse DIR, or warehouse = 'DIR' in the pipeline's TOML file"
        )
    if options.command != "run" and not (Path(warehouse) / "_log").is_dir():
        raise QueryError(
            f"there is no warehouse in {warehouse}",
            hint="evercurrent run pipeline.sql --warehouse DIR makes one",
        )
    conf = dict(settings.spark)
    for pair in options.conf:
        name, equals, value = pair.partition("=")
        if not equals:
            raise QueryError(f"--conf {pair}: a setting is NAME=VALUE")
        conf[name] = value
    from evercurrent.cli import commands
    from evercurrent.cli.functions import load_functions
    from evercurrent.engine.spark.private_session import local_session
    from evercurrent.engine.spark.storage.files import Folder
    from evercurrent.warehouse.database import Warehouse

    def opened() -> Warehouse:
        with console.status("starting Spark"):
            session = local_session(options.master or settings.master or "local[*]", conf)
            return Warehouse(
                session,
                warehouse,
                progress=False,  # commands show bars of their own
                functions=load_functions(options.functions, str(Path.cwd()))
                + load_functions(settings.functions, settings.folder),
                publish_to=[*options.publish_to, *settings.publish_to, *settings.published],
            )

    if options.command == "check":
        return FINE if commands.check(Folder(warehouse), options.repair, opened, console) else FAILED
    db = opened()
    match options.command:
        case "run":
            commands.define(db, options.pipeline, settings, console)
            commands.refresh(db, options.full, options.batch, options.on_violation, console)
        case "refresh":
            commands.refresh(db, options.full, options.batch, options.on_violation, console)
        case "explain":
            commands.explain(db, options.view, options.stage, console)
        case "verify":
            return FINE if commands.verify(db, options.views or db.views, console) else DIFFERS
        case "history":
            commands.history(db, options.last, console)
        case _:
            keep = options.keep if options.keep is not None else settings.keep
            commands.compact(db, 100 if keep is None else keep, console)
    return FINE


if __name__ == "__main__":
    sys.exit(main())
