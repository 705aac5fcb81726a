"""Sources as definitions: declared once, and from then on tables that only `refresh` changes.

A source is a table's definition with a place beside it. To declare the same source again changes nothing. When columns
are added to what others write, they are added to the table too, at its end and NULL in the rows that are held (`widen`);
views follow as if they were defined anew over the wider table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from evercurrent.data.types import Member
from evercurrent.engine.spark.own_sql.queries import quoted
from evercurrent.engine.spark.sources.changes import columns_of, new_columns
from evercurrent.engine.spark.sources.iceberg import require_options
from evercurrent.engine.spark.sources.nodes import FORMATS, Format, Source
from evercurrent.engine.spark.sources.parquet import require_place
from evercurrent.engine.spark.storage.file_schema import consolidate, row_schema
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import QueryError
from evercurrent.frontend.sql.parse import parse_statement
from evercurrent.frontend.sql.statements import CreateTable
from evercurrent.statements.redefinition import redefine_dependants
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.definitions import statements
from evercurrent.warehouse.definitions.drafts import change
from evercurrent.warehouse.version import Version


@dataclass(frozen=True)
class Declaration:
    """What a user says of a source: a path with a format, or a table of a catalog."""

    name: str
    format: str | None = None
    path: Any = None
    table: str | None = None
    key: tuple[str, ...] = ()
    options: Mapping[str, str] | None = None

    def source(self) -> Source:
        """The source, with its place in the form in which it is kept."""
        if (self.path is None) == (self.table is None):
            raise QueryError(
                f"the source {self.name} needs a path or a table",
                hint="db.source(name, format='delta', path=...) or db.source(name, table='catalog.db.name')",
            )
        format = self.format or ("table" if self.table is not None else None)
        if format not in FORMATS or (format == "table") != (self.table is not None and format != "iceberg"):
            raise QueryError(
                f"the source {self.name}: there is no format {format!r} for a "
                f"{'path' if self.table is None else 'table'}",
                hint="a path is delta, parquet or iceberg; a table needs no format, or is iceberg",
            )
        options = dict(self.options or {})
        if options and format != "iceberg":
            raise QueryError(f"the source {self.name}: a source of format {format} takes no options")
        require_options(options)
        place = self.table if self.table is not None else require_place(self.path, format)
        return Source(self.name, cast(Format, format), place, (), options)


def declare(core: Core, declaration: Declaration) -> None:
    """Make a source known, unless it is."""
    source = declaration.source()
    known = next((s for n, s in sources_of(core.present).items() if n.lower() == source.name.lower()), None)
    if known is not None and (known.format, known.place, dict(known.options)) == (
        source.format,
        source.place,
        dict(source.options),
    ):
        return
    columns, _ = columns_of(core.engine, source, {})
    names = {c.name.lower(): c.name for c in columns}
    for k in declaration.key:
        if k.lower() not in names:
            raise QueryError(
                f"the source {source.name} has no column {k!r}", hint=f"it has {', '.join(names.values())}"
            )
    key = [names[k.lower()] for k in declaration.key]
    text = table_text(source.name, columns, key)
    statement = parse_statement(text, core.catalog)
    assert isinstance(statement, CreateTable)
    about = {"format": source.format, "path": source.place, "key": key, "options": dict(source.options)}
    statements.create_table(core, statement.table, text, False, False, source=about)


def table_text(name: str, columns: Sequence[Member], key: Collection[str]) -> str:
    parts = [f"{quoted(c.name)} {c.type}" for c in columns]
    if key:
        parts.append(f"PRIMARY KEY ({', '.join(map(quoted, key))})")
    return f"CREATE TABLE {quoted(name)} ({', '.join(parts)})"


def sources_of(version: Version) -> dict[str, Source]:
    result = {}
    for d in version.definitions:
        about = d.get("source")
        if about:
            table = version.catalog.tables[d["name"].lower()]
            columns = tuple(Member(c.name, c.type) for c in table.columns)
            options = about.get("options", {})
            result[d["name"]] = Source(d["name"], about["format"], about["path"], columns, options)
    return result


def follow_columns(core: Core) -> list[str]:
    """Adds the columns that have been added to sources; returns a note for each source."""
    notes = []
    for name, source in sources_of(core.present).items():
        now, whole = columns_of(core.engine, source, core.snapshot.sources.get(name, {}))
        added = new_columns(source, now, whole)
        if added:
            widen(core, source, added)
            notes.append(f"{name}: new columns {', '.join(c.name for c in added)}")
    return notes


def widen(core: Core, source: Source, added: Sequence[Member]) -> None:
    """Add columns to the table of a source, in a version of its own."""
    key = source.name.lower()
    old = next(d for d in core.snapshot.definitions if d["kind"] == "table" and d["name"].lower() == key)
    columns = (*source.columns, *added)
    text = table_text(source.name, columns, old["source"].get("key", ()))
    statement = parse_statement(text, core.catalog)
    assert isinstance(statement, CreateTable)
    catalog = redefine_dependants(core.catalog.with_table(statement.table), source.name)
    present, before = core.present, core.snapshot
    stores = dict(before.stores)
    held = present.table_rows(source.name)
    if held.segments:
        schema = row_schema([c.type for c in columns])
        context = core.engine.job_context(held.rows)
        # Spark reads a column that a file does not have as NULL.
        frame = consolidate(context.read(schema, held.segments), schema)
        segment = context.collect({table_store(key): frame})[table_store(key)]
        core.engine.sync([segment])
        stores[table_store(key)] = Store((segment,))
    core.present = present.with_snapshot(present.number, replace(before, stores=stores))
    cursor = before.sources.get(source.name)
    try:
        change(core, catalog, "ALTER TABLE", {**old, "text": text})
    except BaseException:
        core.present = present
        raise
    if cursor is not None:
        # If we crash before the next commit, the cursor is lost, and everything is compared once.
        sources = {**core.snapshot.sources, source.name: cursor}
        core.present = core.present.with_snapshot(core.version, replace(core.snapshot, sources=sources))
