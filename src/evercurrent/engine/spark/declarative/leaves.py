"""What a plan reads besides datasets of its pipeline: tables of the catalog, files, and rows that a function made.

A table is a source of the warehouse under its name in the catalog. Anything else is read by Spark under a temporary view, whose
rows are compared with those of the last run.

>>> Input("orders", "`spark_catalog`.`default`.`orders`").place
'spark_catalog.default.orders'
>>> Input("files_orders_1f3a", path="/lake/orders").place
'/lake/orders'
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from evercurrent.data.types import Member
from evercurrent.engine.spark.declarative.plans import Leaf
from evercurrent.engine.spark.declarative.sql_statements import elements, full_name, option, pairs


@dataclass(frozen=True)
class Input:
    """A source for the warehouse: a table of the session, or files at a `path`. `plan` is what is behind a temporary view."""

    name: str
    table: str | None = None
    plan: Any = None
    path: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    columns: tuple[Member, ...] = ()

    @property
    def place(self) -> str:
        """Where the rows are: a table's name in the catalog, or a path."""
        if self.path is not None:
            return self.path
        return self.name if self.plan is not None else (self.table or "").replace("`", "")


def input_of(leaf: Leaf, dataset: str, number: int, home: tuple[str, str]) -> Input:
    """The source that a leaf is; `dataset` and `number` name rows that have no name of their own."""
    identifier = catalog_name(leaf.plan)
    if identifier is not None:
        full = full_name(identifier, home)
        return Input(source_name(full, home), ".".join(f"`{p}`" for p in full), columns=leaf.columns)
    paths = root_paths(leaf.plan)
    if paths:
        key = "\n".join([*paths, leaf.plan.schema().json(), leaf.plan.relation().fileFormat().toString()])
        key += "\n" + str(leaf.plan.relation().options().toString())
        name = f"files_{plain(paths[0].rsplit('/', 1)[-1])}_{hashlib.sha256(key.encode()).hexdigest()[:8]}"
        options = reader_options(leaf.plan)
        if len(paths) == 1 and options is not None:
            return Input(name, path=paths[0], options=tuple(sorted(options.items())), columns=leaf.columns)
    else:
        name = f"{dataset}_rows_{number}"
    return Input(name, f"evercurrent_{name}", leaf.plan, columns=leaf.columns)


def source_name(full: tuple[str, ...], home: tuple[str, str]) -> str:
    """The name of a catalog's table in the warehouse: short where it is in the pipeline's own database.

    >>> source_name(("spark_catalog", "default", "orders"), ("spark_catalog", "default"))
    'orders'
    >>> source_name(("spark_catalog", "raw", "orders"), ("spark_catalog", "default"))
    'raw.orders'
    """
    if full[:2] == tuple(p.lower() for p in home):
        return full[-1]
    return ".".join(full[1:] if full[0] == home[0].lower() else full)


def plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_") or "root"


def catalog_name(plan: Any) -> list[str] | None:
    """The name in a catalog of the table that a leaf reads; None if it has none."""
    kind = plan.getClass().getSimpleName()
    table = None
    if kind == "LogicalRelation":
        table = option(plan.catalogTable())
    elif kind == "HiveTableRelation":
        table = plan.tableMeta()
    elif kind == "DataSourceV2Relation":
        catalog, identifier = option(plan.catalog()), option(plan.identifier())
        if catalog is not None and identifier is not None:
            return [catalog.name(), *identifier.namespace(), identifier.name()]
    if table is None:
        return None
    identifier = table.identifier()
    parts = [option(identifier.catalog()), option(identifier.database()), identifier.table()]
    return [p for p in parts if p is not None]


def root_paths(plan: Any) -> list[str]:
    """The folders and files that a leaf reads; none if it does not read files."""
    if plan.getClass().getSimpleName() != "LogicalRelation":
        return []
    if plan.relation().getClass().getSimpleName() != "HadoopFsRelation":
        return []
    return [p.toString() for p in elements(plan.relation().location().rootPaths())]


FORMATS = {"JSON": "json", "CSV": "csv", "ORC": "orc", "Text": "text", "Parquet": "parquet"}

CHOOSING = {
    "pathglobfilter",
    "recursivefilelookup",
    "modifiedafter",
    "modifiedbefore",
    "basepath",
    "wholetext",
    "mergeschema",
}
"""Options by which a reader chooses files, or reads them other than one by one."""


def reader_options(plan: Any) -> dict[str, str] | None:
    """The options with which files can be read one by one, as the plan reads them; None if that is not certain."""
    relation = plan.relation()
    format = FORMATS.get(relation.fileFormat().toString())
    options = {k: v for k, v in pairs(relation.options()).items() if k.lower() not in ("path", "paths")}
    root = root_paths(plan)[0].removeprefix("file:")
    folder = not root.startswith("/") or Path(unquote(root)).is_dir()
    secret = any(re.search(r"secret|token|credential|password|key", k, re.IGNORECASE) for k in options)
    if format is None or not folder or secret or CHOOSING & {k.lower() for k in options}:
        return None
    fields = [f"`{a.name().replace('`', '``')}` {a.dataType().sql()}" for a in elements(plan.output())]
    return {**options, "format": format, "schema": ", ".join(fields)}
