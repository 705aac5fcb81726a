"""A case: a query, its schema and its value on the hand-made graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from tests.oql.oracle.values import Bag, Set, Struct

Graph = SimpleNamespace


@dataclass(frozen=True)
class Case:
    """`defines` are definitions before it; `ties` says that equal sort keys leave the order open."""

    name: str
    schema: str
    query: str
    value: Callable[[Graph], Any]
    defines: str = ""
    ties: bool = False


def bag(*items: Any) -> Bag:
    return Bag(items)


def set_(*items: Any) -> Set:
    return Set(items)


def struct(**fields: Any) -> Struct:
    return Struct.of(**fields)
