"""`evercurrent`: run a pipeline of SQL views over a warehouse on Spark; serve a database, and look at it.

evercurrent run pipeline.sql --warehouse DIR     define, take in what is new, show what was done
evercurrent run [spark-pipeline.yml]             the same for a declarative pipeline of Spark
evercurrent refresh --warehouse DIR [--full orders] [--batch NAME] [--on-violation quarantine]
evercurrent explain --warehouse DIR [VIEW] [--stage program]
evercurrent verify --warehouse DIR [VIEW ...]
evercurrent history --warehouse DIR [--last 20]
evercurrent compact --warehouse DIR [--keep 100] [--hours 24]
evercurrent check --warehouse DIR [--repair]
evercurrent serve shop.db | --warehouse DIR [--host HOST] [--port 8080] [--token TOKEN] [--read-only]
evercurrent studio shop.db | --warehouse DIR
evercurrent shell [shop.db] [--read-only]        statements one by one, on a terminal or from a pipe

`--functions rules` or `--functions rules:score` hands over functions that views in Python call; `--publish-to DIR` confirms a
folder outside the warehouse that views are published in.

The exit code is 0 if all is well, 1 for an error (the message is on the standard error) and if `check` found damage, 2 for a wrong command line, 3 if
`verify` found a view that differs, 4 if another run of the pipeline is active, 5 if `verify` could not compare a view, 130 if interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.text import Text

from evercurrent.cli import serving
from evercurrent.cli.serving import add_serving_arguments
from evercurrent.cli.shell import add_shell_arguments, run_shell
from evercurrent.errors import EvercurrentError, QueryError
from evercurrent.pipelines.run_lock import RunActive
from evercurrent.pipelines.spec import is_spec

if TYPE_CHECKING:
    from evercurrent.cli.settings import Settings
    from evercurrent.warehouse.database import Warehouse

LOG_WIDTH = 400
"""Columns of a table that is not shown on a terminal."""
FINE, FAILED, MISUSED, DIFFERS, ACTIVE, UNVERIFIED, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130

COMMANDS = {
    "run": "define what a SQL file or a declarative pipeline of Spark says, then take in what is new",
    "refresh": "take in what is new in the sources",
    "explain": "show how views are kept, and what a batch would cost",
    "verify": "compare views with what Spark's SQL returns for their queries",
    "history": "list the versions",
    "compact": "merge segments and remove old versions",
    "check": "compare all files with their checksums, and rebuild what can be",
    "serve": "serve a database in a file, or a warehouse, over HTTP",
    "studio": "serve it, and open the page that shows it in a browser",
    "shell": "run statements one by one on a database in a file",
}


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser("evercurrent", description="Views that stay current.")
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
            command.add_argument(
                "pipeline",
                type=Path,
                nargs="?",
                help="a file of SQL definitions, or the spec of a declarative pipeline (default: spark-pipeline.yml, here or above)",
            )
            add_pipeline_arguments(command)
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
            command.add_argument(
                "--hours",
                type=float,
                default=24.0,
                help="keep what was written or read as the newest version since then (default: 24)",
            )
        case "serve" | "studio":
            add_serving_arguments(command, name)
        case "shell":
            add_shell_arguments(command)
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


def add_pipeline_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments for declarative pipelines: those of `spark-pipelines run`, and our own."""
    group = command.add_argument_group("declarative pipelines")
    for name, text in (
        ("--refresh", "datasets to update, and no others"),
        ("--full-refresh", "datasets to empty and recompute, and no others"),
    ):
        group.add_argument(
            name, action="append", default=[], metavar="NAMES", help=text + " (separated by commas)"
        )
    group.add_argument("--full-refresh-all", action="store_true", help="empty and recompute all datasets")
    group.add_argument(
        "--dry-run", action="store_true", help="check the definitions and show the plan; change nothing"
    )
    group.add_argument(
        "--policy",
        choices=("auto", "incremental"),
        default="auto",
        help="what becomes of materialized views that cannot be maintained: recomputed at every run, or refused",
    )
    group.add_argument(
        "--wait", type=float, default=0.0, metavar="SECONDS", help="how long to wait for another run to end"
    )
    command.add_argument(
        "--json", action="store_true", help="print the record of the run as JSON, and nothing else"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The console script."""
    options = parser().parse_args(arguments)
    problems = Console(stderr=True, soft_wrap=True, highlight=False)
    try:
        return perform(options, Console(soft_wrap=True, highlight=False, width=log_width(sys.stdout)))
    except EvercurrentError as problem:
        if options.command == "run" and options.json:
            print(json.dumps({"state": "failed", "error": str(problem), **problem_record(problem)}))
        # The text is data: what looks like markup in it is not.
        problems.print(Text.assemble(("error: ", "bold red"), str(problem)))
        return ACTIVE if isinstance(problem, RunActive) else FAILED
    except Exception as problem:
        said = foreign_error(problem)
        if said is None:
            raise
        if options.command == "run" and options.json:
            print(json.dumps({"state": "failed", "error": said}))
        problems.print(Text.assemble(("error: ", "bold red"), said))
        return FAILED
    except KeyboardInterrupt:
        problems.print("interrupted; what was committed stays, and the rest has changed nothing")
        return INTERRUPTED


def problem_record(problem: EvercurrentError) -> dict[str, Any]:
    """What the record of a failed run says beside the error."""
    record = getattr(problem, "record", None)
    return {} if record is None else {**record.to_json(), "state": "failed", "error": str(problem)}


def log_width(stream: TextIO) -> int | None:
    """How wide tables may be: as the terminal, and where there is none, as in logs, as wide as they need."""
    return None if stream.isatty() or "COLUMNS" in os.environ else LOG_WIDTH


def foreign_error(problem: Exception) -> str | None:
    """What to say of an error that is not ours: of the file system, or of Spark; None if it is a bug."""
    if isinstance(problem, OSError):
        place = f"{problem.filename}: " if problem.filename else ""
        return f"{place}{problem.strerror or problem}"
    try:
        from evercurrent.engine.spark.failures import spark_failure
    except ImportError:
        return None
    return spark_failure(problem)


def settings_of(options: argparse.Namespace) -> Settings:
    from evercurrent.cli.settings import Settings, read_settings, toml_settings

    if options.settings is not None and not options.settings.is_file():
        raise QueryError(f"there is no file {options.settings}")
    if options.command != "run":
        return toml_settings(options.settings) if options.settings is not None else Settings()
    if not options.pipeline.is_file():
        raise QueryError(f"there is no file {options.pipeline}")
    return read_settings(options.pipeline, options.settings)


def pairs_of(conf: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for pair in conf:
        name, equals, value = pair.partition("=")
        if not equals:
            raise QueryError(f"--conf {pair}: a setting is NAME=VALUE")
        pairs[name] = value
    return pairs


def perform(options: argparse.Namespace, console: Console) -> int:
    if options.command == "run" and (options.pipeline is None or is_spec(options.pipeline)):
        from evercurrent.cli.declarative import run_declarative

        return run_declarative(options, console)
    if options.command == "shell":
        return run_shell(options, console)
    if options.command in ("serve", "studio") and options.file is not None:
        serving.run(serving.open_file(options), options, console)
        return FINE
    settings = settings_of(options)
    warehouse = options.warehouse or settings.warehouse
    if warehouse is None:
        raise QueryError(
            "which warehouse?", hint="--warehouse DIR, or warehouse = 'DIR' in the pipeline's TOML file"
        )
    from evercurrent.engine.spark.storage.files import Folder

    folder = Folder(warehouse)
    if options.command != "run" and not folder.disk.names(folder.root / "_log"):
        raise QueryError(
            f"there is no warehouse in {warehouse}",
            hint="evercurrent run pipeline.sql --warehouse DIR makes one",
        )
    conf = {**settings.spark, **pairs_of(options.conf)}
    from evercurrent.cli import commands
    from evercurrent.cli.functions import load_functions
    from evercurrent.engine.spark.private_session import local_session
    from evercurrent.warehouse.database import Warehouse

    def open_warehouse() -> Warehouse:
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
        return FINE if commands.check(folder, options.repair, open_warehouse, console) else FAILED
    return perform_on(open_warehouse(), options, settings, console)


def perform_on(db: Warehouse, options: argparse.Namespace, settings: Settings, console: Console) -> int:
    """Performs a command on an open warehouse."""
    from evercurrent.cli import commands

    match options.command:
        case "run":
            if options.json:
                console = Console(quiet=True)
            commands.define(db, options.pipeline, settings, console)
            record = commands.refresh(db, options.full, options.batch, options.on_violation, console)
            if options.json:
                print(json.dumps({"state": "completed", "version": record.version, **record.to_json()}))
        case "refresh":
            commands.refresh(db, options.full, options.batch, options.on_violation, console)
        case "explain":
            commands.explain(db, options.view, options.stage, console)
        case "verify":
            report = commands.verify(db, options.views or db.views, console)
            return DIFFERS if report.differing else UNVERIFIED if report.unverified else FINE
        case "history":
            commands.history(db, options.last, console)
        case "serve" | "studio":
            serving.run(db, options, console)
        case _:
            keep = options.keep if options.keep is not None else settings.keep
            commands.compact(db, 100 if keep is None else keep, options.hours, console)
    return FINE


if __name__ == "__main__":
    sys.exit(main())
