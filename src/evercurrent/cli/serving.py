"""`evercurrent serve` and `evercurrent studio`: a database in a file, or a warehouse, over HTTP until somebody stops it.

    evercurrent serve shop.db --port 8080           shop.db is at http://127.0.0.1:8080 (Ctrl-C stops it)
    evercurrent studio --warehouse warehouse/       the same, and the studio's page opens in a browser

A file that is served read-only is opened for reading alone, so that another process may write it.
"""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from evercurrent.cli.functions import load_functions
from evercurrent.errors import QueryError

if TYPE_CHECKING:
    from evercurrent.serve.server import Server


def add_serving_arguments(command: argparse.ArgumentParser, name: str) -> None:
    """Adds the arguments of both commands."""
    command.add_argument("file", nargs="?", type=Path, help="the file of a database (instead of --warehouse)")
    command.add_argument("--host", default="127.0.0.1", help="where to listen (default: this machine only)")
    command.add_argument("--port", type=int, help="the port (default: 8080, or the next free one)")
    command.add_argument(
        "--token", help="what callers must know (elsewhere than on this machine, one is made)"
    )
    command.add_argument("--read-only", action="store_true", help="answer no request that changes anything")
    if name == "studio":
        command.add_argument("--no-browser", action="store_true", help="only say where the page is")


def open_file(options: argparse.Namespace) -> Any:
    """The database in a file. It is opened for reading alone if it is only read, so that others may write it."""
    from evercurrent.database import connect

    if not options.file.is_file():
        hint = f'ec.connect("{options.file}") in Python makes one'
        if (options.file / "_log").is_dir():
            hint = f"this is a warehouse: --warehouse {options.file}"
        raise QueryError(f"there is no file {options.file}", hint=hint)
    functions = load_functions(options.functions, str(Path.cwd()))
    return connect(options.file, read_only=options.read_only, functions=functions)


def run(db: Any, options: argparse.Namespace, console: Console) -> None:
    """Serves until interrupted."""
    with start(db, options) as server:
        where = server.page if options.command == "studio" else server.url
        console.print(
            Text(f"{options.file or options.warehouse} is at {where} (Ctrl-C stops it)"), soft_wrap=True
        )
        if server.token is not None and options.command == "serve":
            console.print(Text(f"token: {server.token}"), soft_wrap=True)
        if options.command == "studio" and not options.no_browser:
            webbrowser.open(server.page)
        try:
            server.wait()
        except KeyboardInterrupt:
            console.print("stopped")


def start(db: Any, options: argparse.Namespace) -> Server:
    from evercurrent.serve.server import serve

    writes = not (options.read_only or getattr(db, "read_only", False))
    return serve(db, host=options.host, port=options.port, token=options.token, writes=writes)
