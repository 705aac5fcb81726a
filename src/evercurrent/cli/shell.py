"""`evercurrent shell shop.db`: statements one by one, their rows as tables, and commands that begin with a dot.

    shop> SELECT * FROM spend;         a table of its rows
    shop> .why spend 7, '12.50'        the rows from which that row comes
    shop> .watch spend                 every change, until Ctrl-C

A statement ends with a semicolon and may take several lines. On a terminal there is a history, and the tab key completes names and
words of SQL. Without one, statements are read from the standard input: the first that fails ends the shell, with exit code 1.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.text import Text

from evercurrent.cli.functions import load_functions
from evercurrent.errors import EvercurrentError, QueryError

if TYPE_CHECKING:
    from evercurrent.database import Database
    from evercurrent.rows.subscriptions import Change, Subscription

HISTORY = Path("~/.evercurrent_history")
PERIOD = 0.2
"""Seconds between two looks at a file that another process writes."""
COMMENT = re.compile(r"--[^\n]*(\n|$)|/\*.*?\*/", re.DOTALL)
# fmt: off
WORDS = [
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "HAVING", "LIMIT", "JOIN", "LEFT JOIN", "ON", "AND", "OR", "NOT", "NULL",
    "INSERT INTO", "VALUES", "UPDATE", "SET", "DELETE FROM", "MERGE INTO", "CREATE", "CREATE OR REPLACE", "TABLE", "VIEW",
    "ASSERTION", "INDEX", "DROP", "ALTER TABLE", "PRIMARY KEY", "BEGIN", "COMMIT", "ROLLBACK", "EXPLAIN", "DESCRIBE", "SHOW",
    "COUNT", "SUM", "AVG", "MIN", "MAX", "DISTINCT",
]
# fmt: on


def add_shell_arguments(command: argparse.ArgumentParser) -> None:
    """Adds the arguments of the command."""
    command.add_argument(
        "file", nargs="?", type=Path, help="the file of a database (default: one that is not kept)"
    )
    command.add_argument(
        "--read-only", action="store_true", help="change nothing, and let others write the file"
    )


def run_shell(options: argparse.Namespace, console: Console) -> int:
    """Runs the shell until its input ends; returns the exit code."""
    from evercurrent.database import connect

    functions = load_functions(options.functions, str(Path.cwd()))
    file = options.file
    with connect(file, read_only=options.read_only, functions=functions) if file else connect() as db:
        shell = Shell(db, console, file.stem if file else "memory")
        if sys.stdin.isatty():
            return shell.talk()
        return shell.run(sys.stdin)


class Shell:
    """One session of the shell."""

    def __init__(self, db: Database, console: Console, name: str = "shop") -> None:
        self.db, self.console, self.name = db, console, name
        self.watched: dict[str, Subscription] = {}
        self.commands: dict[str, tuple[str, Callable[[str], None]]] = {
            ".help": ("what there is", self.help),
            ".tables": ("tables and views, with the numbers of their rows", self.tables),
            ".schema": ("the definition of a table or view, or of all: .schema [NAME]", self.schema),
            ".explain": ("how a view is kept: .explain VIEW [STAGE]", self.explain),
            ".why": ("where a row of a view comes from: .why VIEW value, value, ...", self.why),
            ".watch": ("show every change of a view, until it is named again: .watch VIEW", self.watch),
            ".oql": ("a statement of OQL: .oql select p.name from p in people", self.oql),
            ".verify": ("compare all views with their queries", lambda _: self.show(str(self.db.verify()))),
            ".quit": ("end (as the end of the input does)", self.quit),
        }

    # --- input ---------------------------------------------------------------------------------------------------

    def run(self, lines: TextIO) -> int:
        """Runs what a file or a pipe holds; the first error ends it."""
        try:
            for statement in statements(lines):
                self.perform(statement)
        except EvercurrentError as problem:
            self.complain(problem)
            return 1
        except EOFError:
            pass
        return 0

    def talk(self) -> int:
        """Asks for statements on a terminal; an error is shown, and the next statement asked for."""
        with suppress(ImportError):
            self._prepare_readline()
        self.show(f"{self.db!r}\n.help says what there is")
        text = ""
        while True:
            try:
                line = input(f"{self.name}> " if is_blank(text) else f"{' ' * len(self.name)}. ")
                ready, text = split(text, line + "\n")
                for statement in ready:
                    self.perform(statement)
            except EvercurrentError as problem:
                self.complain(problem)
            except KeyboardInterrupt:
                text = ""
                self.show("")
            except EOFError:
                return 0

    def _prepare_readline(self) -> None:
        import atexit
        import readline

        place = HISTORY.expanduser()
        with suppress(OSError):
            readline.read_history_file(place)
        readline.set_history_length(2000)
        atexit.register(_keep_history, place)
        readline.set_completer(self.completion)
        readline.set_completer_delims(" \t\n,;()=<>+-*/'\"")
        readline.parse_and_bind("tab: complete")

    def completion(self, text: str, state: int) -> str | None:
        """What readline asks: the n-th completion of a word."""
        names: list[str] = [*self.commands, *self.db.tables, *self.db.views]
        for relation in (*self.db.tables, *self.db.views):
            names += self.db[relation].columns
        words = WORDS if not text or text[0].isupper() else [w.lower() for w in WORDS]
        found = sorted({n for n in (*names, *words) if n.lower().startswith(text.lower())})
        return found[state] if state < len(found) else None

    # --- output --------------------------------------------------------------------------------------------------

    def show(self, text: str) -> None:
        self.console.print(Text(text))

    def complain(self, problem: EvercurrentError) -> None:
        Console(stderr=True, soft_wrap=True, highlight=False).print(
            Text.assemble(("error: ", "bold red"), str(problem))
        )

    # --- statements ----------------------------------------------------------------------------------------------

    def perform(self, statement: str) -> None:
        """Runs one statement or command."""
        if not statement.startswith("."):
            self.show(str(self.db.execute(statement)))
            return
        word, _, rest = statement.partition(" ")
        found = self.commands.get(word)
        if found is None:
            raise QueryError(f"there is no command {word}", hint=f"there are {', '.join(self.commands)}")
        found[1](rest.strip())

    def help(self, _: str) -> None:
        wide = max(map(len, self.commands))
        self.show("\n".join(f"{name.ljust(wide)}  {text}" for name, (text, _) in self.commands.items()))
        self.show("Anything else is SQL, and ends with a semicolon.")

    def tables(self, _: str) -> None:
        names = [("table", n) for n in self.db.tables] + [("view", n) for n in self.db.views]
        wide = max((len(n) for _, n in names), default=0)
        self.show("\n".join(f"{kind.ljust(5)}  {n.ljust(wide)}  {len(self.db[n]):,}" for kind, n in names))

    def schema(self, name: str) -> None:
        from evercurrent.statements.table_text import table_text

        catalog = self.db._session.catalog
        for one in [name] if name else [*self.db.tables, *self.db.views]:
            self.db[one]  # raises if there is none
            table = catalog.table(one)
            self.show(table_text(table) if table is not None else self.db.view(one).text)

    def explain(self, rest: str) -> None:
        name, _, stage = rest.partition(" ")
        self.show(str(self.db.view(self._require_name(name, ".explain VIEW")).explain(stage.strip() or None)))

    def why(self, rest: str) -> None:
        name, _, values = rest.partition(" ")
        view = self.db.view(self._require_name(name, ".why VIEW value, value, ..."))
        try:
            row = ast.literal_eval(f"({values},)") if values.strip() else ()
        except (ValueError, SyntaxError) as problem:
            raise QueryError(
                f"{values!r} is no row", hint="write the values as in Python: .why spend 7, '12.50', None"
            ) from problem
        self.show(str(view.why(row) if row else view.why()))

    def watch(self, rest: str) -> None:
        view = self.db.view(self._require_name(rest, ".watch VIEW"))
        known = self.watched.pop(view.name, None)
        if known is not None:
            known.cancel()
            self.show(f"{view.name} is not watched any more")
            return
        self.watched[view.name] = view.subscribe(self._print_change)
        if self.db.read_only and sys.stdin.isatty():  # another process writes
            self.show("Ctrl-C ends it")
            while True:
                self.db.refresh()
                time.sleep(PERIOD)

    def _print_change(self, change: Change) -> None:
        lines = [f"{change.name}, transaction {change.transaction}:"]
        lines += [f"  - {row}" for row in change.deleted] + [f"  + {row}" for row in change.inserted]
        self.show("\n".join(lines))

    def oql(self, text: str) -> None:
        found: Any = self.db.oql(text)
        if found is not None:
            self.show(repr(found))

    def quit(self, _: str) -> None:
        raise EOFError

    def _require_name(self, name: str, use: str) -> str:
        if not name.strip():
            raise QueryError("which view?", hint=use)
        return name.strip()


def statements(lines: Iterator[str] | TextIO) -> Iterator[str]:
    """Yields the statements and commands of some lines: a command is a line, a statement ends with a semicolon.

    >>> list(statements(iter([".tables\\n", "SELECT ';'\\n", "FROM t; DELETE\\n", "FROM t;\\n"])))
    ['.tables', "SELECT ';'\\nFROM t;", 'DELETE\\nFROM t;']
    """
    text = ""
    for line in lines:
        ready, text = split(text, line)
        yield from ready
    if not is_blank(text):
        yield text.strip()


def split(text: str, line: str) -> tuple[list[str], str]:
    """Returns what is complete once a line is added to a text, and the rest."""
    if is_blank(text) and line.lstrip().startswith("."):
        return [line.strip()], ""
    text += line
    ready = []
    while (end := end_of_statement(text)) is not None:
        ready.append(text[:end].strip())
        text = text[end:]
    return ready, text


def is_blank(text: str) -> bool:
    """Returns whether there is nothing but blanks and comments."""
    return not COMMENT.sub("", text).strip()


def end_of_statement(text: str) -> int | None:
    """Returns where the first statement ends: after a semicolon that is in no text, name or comment."""
    at = 0
    while at < len(text):
        if text[at] in "'\"`":
            quote = text[at]
            at += 1
            while at < len(text) and text[at] != quote:
                at += 2 if text[at] == "\\" and quote != "`" else 1
        elif text.startswith("--", at):
            at = text.find("\n", at)
            if at < 0:
                return None
        elif text.startswith("/*", at):
            at = text.find("*/", at)
            if at < 0:
                return None
        elif text[at] == ";":
            return at + 1
        at += 1
    return None


def _keep_history(place: Path) -> None:
    import readline

    with suppress(OSError):
        readline.write_history_file(place)
        os.chmod(place, 0o600)
