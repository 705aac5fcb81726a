"""Outputs and flows, as a project defines them in Python and SQL.

An output is a dataset or a sink; a flow is a query that writes to an output. A dataset's name has three parts: catalog, database, name.

    @dp.materialized_view          Output("materialized view", ("spark_catalog", "default", "best"))
    def best(): ...                Flow("best", target=the same name, function=best)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from evercurrent.frontend.sql.spark_text import quote_name

Name = tuple[str, ...]
"""Catalog, database and name of a dataset."""

Kind = Literal["materialized view", "streaming table", "temporary view", "view", "sink"]


@dataclass(frozen=True)
class Output:
    """A dataset or sink; `schema` is a StructType or DDL, where the project names one."""

    kind: Kind
    name: Name
    place: str = ""
    comment: str | None = None
    format: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    partition: tuple[str, ...] = ()
    cluster: tuple[str, ...] = ()
    schema: Any = None

    @property
    def is_stored(self) -> bool:
        """Whether the catalog has a table of its rows."""
        return self.kind in ("materialized view", "streaming table")


@dataclass(frozen=True)
class Flow:
    """A query that writes to an output: a Python function that returns a DataFrame, or a SQL text."""

    name: str
    target: Name
    place: str = ""
    function: Callable[[], Any] | None = None
    text: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    home: tuple[str, str] | None = None


@dataclass
class Definitions:
    """Everything that a project defines, in the order in which it is defined."""

    outputs: dict[Name, Output] = field(default_factory=dict)
    flows: list[Flow] = field(default_factory=list)

    def flows_of(self, name: Name) -> list[Flow]:
        return [f for f in self.flows if f.target == name]


def show(name: Name) -> str:
    return ".".join(name)


def quote_path(name: Name) -> str:
    """A name of several parts as Spark's SQL reads it."""
    return ".".join(map(quote_name, name))


def first_line(problem: Exception) -> str:
    """What an error says, in short."""
    return str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
