"""What a pipeline says beside its definitions: sources, policies, where views are published, how Spark is started.

Sources stand in the SQL file itself, as comments,

    -- source: orders delta lake/orders key=o_orderkey
    -- source: customers table spark_catalog.crm.customers

or in a TOML file of the same name beside it (`pipeline.toml` beside `pipeline.sql`), which can say more:

    warehouse = "warehouse"                   # unless --warehouse says so
    master = "spark://host:7077"              # unless --master says so
    keep = 50                                 # versions that `compact` keeps
    functions = ["rules", "shapes:Item"]      # modules, and functions in them, that views in Python call
    publish_to = ["exports"]                  # folders outside the warehouse that views may be published in

    [spark]                                   # settings of the session
    "spark.executor.memory" = "4g"

    [sources.orders]
    format = "delta"
    path = "lake/orders"
    key = ["o_orderkey"]

    [views.revenue]
    policy = "auto"
    publish = "exports/revenue"               # or false
    merge = ["customer"]                      # into the Delta table that is there, by this key

Paths are relative to the file that names them.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from evercurrent.errors import QueryError
from evercurrent.warehouse.definitions.sources import Declaration

MARK = "-- source:"
USAGE = "-- source: NAME delta|parquet|iceberg PATH [key=A,B], or -- source: NAME table CATALOG.DB.TABLE [key=A,B]"


@dataclass(frozen=True)
class ViewSettings:
    policy: str | None = None
    publish: bool | str | None = None
    merge: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """A pipeline's settings; None where the file does not say. `folder` is that of the file, where modules are looked for."""

    warehouse: str | None = None
    master: str | None = None
    keep: int | None = None
    spark: Mapping[str, str] = field(default_factory=dict)
    sources: tuple[Declaration, ...] = ()
    views: Mapping[str, ViewSettings] = field(default_factory=dict)
    functions: tuple[str, ...] = ()
    publish_to: tuple[str, ...] = ()
    folder: str | None = None

    @property
    def published(self) -> list[str]:
        """The places outside that the file itself names."""
        return [v.publish for v in self.views.values() if isinstance(v.publish, str)]


def read_settings(pipeline: Path, file: Path | None = None) -> Settings:
    """The settings of a pipeline, from its SQL file and the TOML file beside it (or the one that is named)."""
    beside = file or pipeline.with_suffix(".toml")
    found = toml_settings(beside) if beside.is_file() else Settings()
    sources = {s.name.lower(): s for s in found.sources}
    for declaration in source_lines(pipeline):
        if declaration.name.lower() in sources:
            raise QueryError(
                f"the source {declaration.name} is declared in both {pipeline.name} and {beside.name}",
                hint="declare it in one of them",
            )
        sources[declaration.name.lower()] = declaration
    return replace(found, sources=tuple(sources.values()))


# --- in the SQL file ---------------------------------------------------------------------------------------


def source_lines(pipeline: Path) -> Iterator[Declaration]:
    for number, line in enumerate(pipeline.read_text().splitlines(), 1):
        if line.strip().lower().startswith(MARK):
            yield source_line(line.strip(), pipeline.parent, f"{pipeline.name}, line {number}")


def source_line(line: str, folder: Path, where: str) -> Declaration:
    """The source that one line names.

    >>> source_line("-- source: o delta lake/o key=a,b", Path("/x"), "line 1")
    Declaration(name='o', format='delta', path='/x/lake/o', table=None, key=('a', 'b'), options=None, copy=False)
    """
    try:
        words = shlex.split(line[len(MARK) :])
    except ValueError as problem:
        raise QueryError(f"{where}: {problem}: {line}", hint=USAGE) from problem
    keys = [w.removeprefix("key=") for w in words if w.startswith("key=")]
    plain = [w for w in words if not w.startswith("key=")]
    if len(plain) != 3:
        raise QueryError(f"{where} is no source: {line}", hint=USAGE)
    name, format, place = plain
    key = tuple(k for ks in keys for k in ks.split(",") if k)
    if format == "table":
        return Declaration(name, table=place, key=key)
    return Declaration(name, format, resolve_path(folder, place), key=key)


def resolve_path(folder: Path, place: str) -> str:
    """A path that is relative to a file's folder; addresses of other file systems stay as they are."""
    return place if "://" in place else str(folder.absolute() / place)


# --- in the TOML file --------------------------------------------------------------------------------------

TOP = {
    **{"warehouse": str, "master": str, "keep": int, "spark": dict, "sources": dict, "views": dict},
    **{"functions": list, "publish_to": list},
}
SOURCE = {"format": str, "path": str, "table": str, "key": list, "options": dict, "copy": bool}
VIEW = {"policy": str, "publish": (bool, str), "merge": list}


def toml_settings(file: Path) -> Settings:
    try:
        value = tomllib.loads(file.read_text())
    except tomllib.TOMLDecodeError as problem:
        raise QueryError(f"{file.name}: {problem}") from problem
    require(file, "", value, TOP)
    sources = []
    for name, about in value.get("sources", {}).items():
        require(file, f"sources.{name}", about, SOURCE)
        path = about.get("path")
        sources.append(
            Declaration(
                name,
                about.get("format"),
                None if path is None else resolve_path(file.parent, path),
                about.get("table"),
                tuple(map(str, about.get("key", ()))),
                about.get("options"),
                about.get("copy", False),
            )
        )
    views = {}
    for name, about in value.get("views", {}).items():
        require(file, f"views.{name}", about, VIEW)
        to = about.get("publish")
        views[name.lower()] = ViewSettings(
            about.get("policy"),
            resolve_path(file.parent, to) if isinstance(to, str) else to,
            tuple(map(str, about.get("merge", ()))),
        )
    warehouse = value.get("warehouse")
    return Settings(
        None if warehouse is None else resolve_path(file.parent, warehouse),
        value.get("master"),
        value.get("keep"),
        {k: str(v) for k, v in value.get("spark", {}).items()},
        tuple(sources),
        views,
        tuple(map(str, value.get("functions", ()))),
        tuple(resolve_path(file.parent, str(folder)) for folder in value.get("publish_to", ())),
        str(file.parent.absolute()),
    )


def require(file: Path, section: str, value: Any, known: Mapping[str, Any]) -> None:
    """Refuse what is not understood, rather than pass over a word that someone has misspelt."""
    inside = f"[{section}]" if section else "the file"
    if not isinstance(value, dict):
        raise QueryError(f"{file.name}: {section} must be a table", hint=f"[{section}]")
    for key, found in value.items():
        if key not in known:
            raise QueryError(
                f"{file.name}: {inside} has {key!r}, which is not known", hint=f"known are {', '.join(known)}"
            )
        if not isinstance(found, known[key]):
            kinds = known[key] if isinstance(known[key], tuple) else (known[key],)
            wanted = " or ".join(NOUNS[k] for k in kinds)
            raise QueryError(f"{file.name}: {key!r} in {inside} must be {wanted}, not {found!r}")


NOUNS = {str: "a string", int: "a number", list: "a list", dict: "a table", bool: "true or false"}
