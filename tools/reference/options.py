"""The options of CREATE VIEW and of connect, and the command line, which is read from its parser."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator

import evercurrent as ec
from evercurrent.cli.main import parser
from evercurrent.frontend.sql import ddl
from tools.reference.engine import NOTICE, cell, code, row, table

VIEW_OPTIONS = {"policy": ddl.POLICIES, "mode": ddl.MODES, "maps": ddl.MAPS, "plan": ddl.PLANS}
"""What the code knows; the first choice is the one that holds where nothing is said."""

VIEW_MEANINGS = {
    ("policy", "incremental"): "updated by each change; a query that could only be recomputed is refused",
    (
        "policy",
        "auto",
    ): "recomputed where nothing else is possible; on Spark also where that is estimated to cost less",
    ("policy", "full"): "recomputed whenever a table under it changes",
    ("mode", "strict"): "updated at the commit",
    ("mode", "lazy"): "updated when it is read; until then changes are collected",
    (
        "mode",
        "hybrid",
    ): "its states are updated at the commit, values computed from them, and changes of attributes that many rows show, when it is read",
    ("maps", "auto"): "states over several tables are kept where they are estimated to pay",
    ("maps", "all"): "every state over several tables is kept: quick changes, more memory",
    ("maps", "none"): "only states over one table are kept: less memory, more lookups",
    ("plan", "auto"): "how the change of an attribute that a view only shows reaches it is chosen by cost",
    ("plan", "plant"): "such a change runs through the joins of the query",
    ("plan", "identities"): "such a change is joined with the identities that contribute to each row",
}

CONNECT_MEANINGS = {
    "path": "the file that keeps the database, or the folder of a warehouse on Spark; without one, memory",
    "spark": "a SparkSession: the database is a warehouse on Spark",
    "durability": "`full` survives a failure of power; `normal` may then lose the last transactions; `off` leaves writing to the system",
    "read_only": "read a file that another process writes; `db.refresh()` takes it to the newest version",
    "progress": "False shows nothing of long runs; a function is called with the name of each stage",
    "strategy": "on Spark, who applies a batch: the driver while it is small (`auto`), always the `driver`, always `tasks` of the executors, or always jobs of `spark`",
    "functions": "functions that views in Python call, for a database that is kept",
    "publish_to": "on Spark, folders outside the warehouse that views may be published in",
    "storage_options": "on Spark, credentials and settings of an object store, instead of those of the environment",
}


def options_page() -> str:
    page = [
        "# Options",
        "",
        NOTICE,
        "",
        "## Options of CREATE VIEW",
        "",
        "`CREATE VIEW name WITH (mode = 'lazy', policy = 'auto') AS ...`. The first value of each option is the default.",
        "`db.execute`, `db.oql` and `db.view` take `policy` and `mode` as arguments, too.",
        "",
        *table("option", "value", "meaning"),
    ]
    for option, values in VIEW_OPTIONS.items():
        page += [row(code(option), code(value), VIEW_MEANINGS[option, value]) for value in values]
    page += [
        "",
        "`CREATE TABLE name (...) WITH (stored = false)` keeps no rows of a table: its changes only pass through to the views.",
    ]
    page += ["", "## Arguments of connect", "", *table("argument", "default", "meaning")]
    for name, parameter in inspect.signature(ec.connect).parameters.items():
        page.append(row(code(name), code(repr(parameter.default)), cell(CONNECT_MEANINGS[name])))
    return "\n".join([*page, ""])


# --- the command line ----------------------------------------------------------------------------------------


def commands() -> dict[str, argparse.ArgumentParser]:
    """The commands and their parsers."""
    for action in parser()._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    raise AssertionError("the command line has no commands")


def arguments(command: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    """How each argument of a command is written, and its help."""
    for action in command._actions:
        if isinstance(action, argparse._HelpAction):
            continue
        value = action.metavar or (
            f"{{{','.join(map(str, action.choices))}}}" if action.choices else action.dest.upper()
        )
        if action.option_strings:
            form = action.option_strings[0] + (f" {value}" if action.nargs != 0 else "")
        else:
            form = (
                f"[{value}]"
                if action.nargs == "?"
                else f"[{value} ...]"
                if action.nargs == "*"
                else str(value)
            )
        yield form, action.help or ""


def command_line_page() -> str:
    from evercurrent.cli import main

    found = {name: dict(arguments(command)) for name, command in commands().items()}
    shared = set.intersection(*(set(forms.items()) for forms in found.values()))
    page = [
        "# The command line",
        "",
        NOTICE,
        "",
        "`evercurrent COMMAND ...`; `evercurrent COMMAND --help` says the same.",
        "",
        *table("command", "what it does"),
        *(row(f"[`{name}`](#{name})", cell(text)) for name, text in main.COMMANDS.items()),
        "",
        "## Arguments of every command",
        "",
        *table("argument", "meaning"),
        *(row(code(form), cell(text)) for form, text in found["verify"].items() if (form, text) in shared),
    ]
    for name, forms in found.items():
        own = [row(code(form), cell(text)) for form, text in forms.items() if (form, text) not in shared]
        page += ["", f"## {name}", "", f"{main.COMMANDS[name].capitalize()}."]
        page += ["", *table("argument", "meaning"), *own] if own else []
    return "\n".join([*page, "", "## Exit codes", "", *exit_codes(), ""])


def exit_codes() -> list[str]:
    from evercurrent.cli import main

    meanings = {
        main.FINE: "all is well",
        main.FAILED: "an error, whose message is on the standard error; `check` found damage",
        main.MISUSED: "a wrong command line",
        main.DIFFERS: "`verify` found a view that differs",
        main.ACTIVE: "another run of the pipeline is active",
        main.UNVERIFIED: "`verify` could not compare a view",
        main.INTERRUPTED: "interrupted",
    }
    return [*table("code", "meaning"), *(row(str(number), text) for number, text in meanings.items())]
