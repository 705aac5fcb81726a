"""Sources as definitions: declared once, and from then on tables that only `refresh` changes.

    db.source("orders", format="delta", path="lake/orders", key=["id"])       a table orders, without rows yet
    db.refresh()                                                              its rows are those of the Delta table

A source is a table's definition with a place beside it. Declaring the same source again changes nothing. When columns
are added to what others write, they are added to the table too, at its end and NULL in the rows that are held (`widen`). A
column whose type becomes wider (INT to BIGINT, DECIMAL(12,2) to DECIMAL(14,2)) becomes wider in the table. Views follow as if they
were defined over the wider table.

A source that can be read at earlier versions is a reference: its rows are not in the warehouse. Any other is a copy, as is one for which a copy
was asked for, or of which rows were quarantined (`keep_copy`), and every source of a warehouse from before there were
references.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from evercurrent.catalog.rules import positions
from evercurrent.data.types import Member
from evercurrent.engine.spark.intake.frames import widen_rows
from evercurrent.engine.spark.sources.changes import columns_of, find_followed_columns, tells_past
from evercurrent.engine.spark.sources.files import require_file_options
from evercurrent.engine.spark.sources.iceberg import require_options
from evercurrent.engine.spark.sources.nodes import FORMATS, Format, Source
from evercurrent.engine.spark.sources.origins import with_columns
from evercurrent.engine.spark.sources.parquet import require_place
from evercurrent.engine.spark.storage.file_schema import row_schema
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.errors import QueryError
from evercurrent.frontend.sql.parse import parse_statement
from evercurrent.frontend.sql.spark_text import quote_name
from evercurrent.frontend.sql.statements import CreateTable
from evercurrent.statements.redefinition import redefine_dependants
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.definitions import statements
from evercurrent.warehouse.definitions.drafts import change
from evercurrent.warehouse.version import Version

ASKED = "copy=True"


@dataclass(frozen=True)
class Declaration:
    """What a user says of a source: a path with a format, or a table of a catalog."""

    name: str
    format: str | None = None
    path: Any = None
    table: str | None = None
    key: tuple[str, ...] = ()
    options: Mapping[str, str] | None = None
    copy: bool = False

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
                hint="a path is delta, parquet, iceberg or files; a table needs no format, or is iceberg",
            )
        options = dict(self.options or {})
        if format == "files":
            require_file_options(self.name, options)
        elif options and format != "iceberg":
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
        require_same_key(core, known.name, declaration.key)
        if declaration.copy and known.kept == "reference":
            keep_copy(core, known, ASKED)
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
    about: dict[str, Any] = {"format": source.format, "path": source.place, "key": key}
    refers = not declaration.copy and tells_past(core.engine, source)
    about |= {"options": dict(source.options), "kept": "reference" if refers else "copy"}
    if declaration.copy:
        about["why"] = ASKED
    statements.create_table(core, statement.table, text, False, False, source=about)


def require_same_key(core: Core, name: str, key: Sequence[str]) -> None:
    """Refuses another key for a source that is declared: rows are kept and compared by the key that it has."""
    declared = core.table(name).primary_key
    has = () if declared is None else declared.columns
    if {k.lower() for k in key} != {k.lower() for k in has}:
        raise QueryError(
            f"the source {name} has {show_key(has)}; it cannot be declared again with {show_key(key)}",
            hint=f"nothing was changed; DROP TABLE {name} CASCADE, then declare the source and its views again",
        )


def show_key(key: Sequence[str]) -> str:
    return f"the key {', '.join(key)}" if key else "no key"


def table_text(name: str, columns: Sequence[Member], key: Collection[str]) -> str:
    parts = [f"{quote_name(c.name)} {c.type}" for c in columns]
    if key:
        parts.append(f"PRIMARY KEY ({', '.join(map(quote_name, key))})")
    return f"CREATE TABLE {quote_name(name)} ({', '.join(parts)})"


def sources_of(version: Version) -> dict[str, Source]:
    result = {}
    for d in version.definitions:
        about = d.get("source")
        if about:
            table = version.catalog.tables[d["name"].lower()]
            columns = tuple(Member(c.name, c.type) for c in table.columns)
            options = about.get("options", {})
            kept = about.get("kept", "copy")
            result[d["name"]] = Source(d["name"], about["format"], about["path"], columns, options, kept)
    return result


def follow_columns(core: Core) -> list[str]:
    """Adds the columns that have been added to sources; returns a note for each source."""
    notes = []
    for name, source in sources_of(core.present).items():
        now, whole = columns_of(core.engine, source, core.snapshot.sources.get(name, {}))
        columns = find_followed_columns(source, now, whole)
        if columns != source.columns:
            widen(core, source, columns)
            added = columns[len(source.columns) :]
            wider = [f"{c.name} {c.type}" for c in columns[: len(source.columns)] if c not in source.columns]
            notes += [f"{name}: new columns {', '.join(c.name for c in added)}"] if added else []
            notes += [f"{name}: wider columns {', '.join(wider)}"] if wider else []
    return notes


def widen(core: Core, source: Source, columns: tuple[Member, ...]) -> None:
    """Give the table of a source more columns, or columns of wider types, in a version of its own."""
    key = source.name.lower()
    old = next(d for d in core.snapshot.definitions if d["kind"] == "table" and d["name"].lower() == key)
    text = table_text(source.name, columns, old["source"].get("key", ()))
    statement = parse_statement(text, core.catalog)
    assert isinstance(statement, CreateTable)
    catalog = redefine_dependants(core.catalog.with_table(statement.table), source.name)
    present, before = core.present, core.snapshot
    stores = dict(before.stores)
    held = present.table_rows(source.name)
    types = [c.type for c in columns]
    at = positions(statement.table, old_key) if (old_key := old["source"].get("key", ())) else ()
    if at:
        core.engine.declare(table_store(key), types, at)  # files have the digests of the wider rows
    if held.segments and present.is_reference(source.name):
        stores[table_store(key)] = Store(tuple(with_columns(s, columns) for s in held.segments))
    elif held.segments:
        context = core.engine.job_context(held.rows)
        segment = widen_rows(context, table_store(key), held, [c.type for c in source.columns], types)
        core.engine.sync([segment])
        stores[table_store(key)] = Store((segment,))
    core.present = present.with_snapshot(present.number, replace(before, stores=stores))
    try:
        change(core, catalog, "ALTER TABLE", {**old, "text": text}, followed=frozenset({key}))
    except BaseException:
        core.present = present
        if at:
            core.engine.declare(table_store(key), [c.type for c in source.columns], at)
        raise


def keep_copy(core: Core, source: Source, why: str) -> None:
    """Keeps the rows of a source in the warehouse from now on, in a version of its own."""
    key = source.name.lower()
    old = next(d for d in core.snapshot.definitions if d["kind"] == "table" and d["name"].lower() == key)
    about = {**old["source"], "kept": "copy", "why": why}
    present, before = core.present, core.snapshot
    held = present.table_rows(source.name)
    stores = dict(before.stores)
    if held.segments:
        core.progress.stage(f"copying {source.name}")
        segment = core.engine.merge_segments(
            table_store(key), held, row_schema([c.type for c in source.columns])
        )
        core.engine.sync([segment])
        stores[table_store(key)] = Store((segment,))
    core.present = present.with_snapshot(present.number, replace(before, stores=stores))
    try:
        change(core, core.catalog, "ALTER TABLE", {**old, "source": about}, followed=frozenset({key}))
    except BaseException:
        core.present = present
        raise
