"""A pipeline is one SQL file: definitions, in order, with their settings (`settings`).

When a pipeline is run again, it changes only what is different: a definition with the same text is left alone, a view whose text
or policy has changed is replaced, and what the file no longer names stays as it is. `define` reports each step:

    CREATE TABLE orders ...       table orders: unchanged
    CREATE VIEW spend AS ...      view spend: replaced
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from evercurrent.cli.settings import Settings, ViewSettings
from evercurrent.errors import EvercurrentError, QueryError
from evercurrent.frontend.sql.parse import parse_script, parse_statement
from evercurrent.frontend.sql.statements import CreateAssertion, CreateTable, CreateView
from evercurrent.warehouse.database import Warehouse
from evercurrent.warehouse.maintenance.publish import definition_of


def statements(file: Path) -> list[tuple[str, int]]:
    """The statements of a file, with the lines at which they begin."""
    text = file.read_text()
    found = []
    at = 0
    for one in parse_script(text):
        place = text.find(one, at)
        at = max(at, place + len(one))
        found.append((one, text.count("\n", 0, max(place, 0)) + 1))
    return found


def steps(file: Path, settings: Settings) -> int:
    """Returns how many steps `define` reports."""
    return len(settings.sources) + len(statements(file))


def define(db: Warehouse, file: Path, settings: Settings) -> Iterator[str]:
    """Brings the definitions of a warehouse to those of a file; yields a line about each."""
    for declaration in settings.sources:
        known = declaration.name.lower() in {t.lower() for t in db.tables}
        db.source(
            declaration.name,
            format=declaration.format,  # type: ignore[arg-type]
            path=declaration.path,
            table=declaration.table,
            key=declaration.key,
            options=declaration.options,
            copy=declaration.copy,
        )
        yield f"source {declaration.name}: {'unchanged' if known else 'declared'}"
    named = set()
    for text, line in statements(file):
        try:
            kind, name, told = define_one(db, text, settings)
        except EvercurrentError as problem:
            problem.message = f"{file.name}, line {line}: {problem.message}"
            raise
        named.add((kind, name.lower()))
        yield f"{kind} {name}: {told}"
    for name in settings.views:
        if ("view", name) not in named:
            raise QueryError(
                f"{file.with_suffix('.toml').name}: [views.{name}] is for a view that {file.name} does not define"
            )


def define_one(db: Warehouse, text: str, settings: Settings) -> tuple[str, str, str]:
    """Defines one thing; returns its kind, its name and what was done."""
    statement = parse_statement(text, db._core.catalog)
    match statement:
        case CreateTable(table):
            kind, name = "table", table.name
        case CreateView(view):
            kind, name = "view", view.name
        case CreateAssertion(assertion):
            kind, name = "assertion", assertion.name
        case _:
            raise QueryError(
                "a pipeline holds definitions: CREATE TABLE, CREATE VIEW and CREATE ASSERTION",
                hint=f"this is something else: {text[:60]}",
            )
    wanted = settings.views.get(name.lower(), ViewSettings()) if kind == "view" else ViewSettings()
    known = {(d["kind"], d["name"].lower()): d for d in db._core.snapshot.definitions}
    before = known.get((kind, name.lower()))
    if before is None:
        db.execute(text, policy=wanted.policy)  # type: ignore[arg-type]
        told = "created"
    elif before["text"] == text and (wanted.policy is None or wanted.policy == before["policy"]):
        told = "unchanged"
    elif kind != "view":
        raise QueryError(
            f"{kind} {name} is there with another definition", hint=f"DROP {kind.upper()} {name} first"
        )
    else:
        db.replace_view(text, policy=wanted.policy)  # type: ignore[arg-type]
        told = "replaced"
    about = definition_of(db._core, name)
    if wanted.publish is not None and (wanted.publish, list(wanted.merge)) != (
        about.get("publish", True),
        about.get("merge", []),
    ):
        db.publish(name, wanted.publish, merge=wanted.merge)
        told += ", published " + ("nowhere" if wanted.publish is False else str(wanted.publish))
    return kind, name, told
