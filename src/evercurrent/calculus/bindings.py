"""Bindings of variables to records, as the evaluator makes, looks up and remembers them.

Index(record, "c", (c.id,), customers).find((7,))    the customers whose id is 7, with their multiplicities
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from evercurrent.data.zset import Row
from evercurrent.term.evaluate import Environment
from evercurrent.term.nodes import Term

Entry = tuple[Row, int]
Binding = tuple[Environment, int]
Record = Callable[[tuple[Term, ...], Environment], Row]
EMPTY = Environment()


def bind(env: Environment, name: str, value: Row | None) -> Environment:
    """Returns the environment with one more variable."""
    return Environment(env.columns, {**env.variables, name: value})


@dataclass(slots=True)
class Memo:
    """Values of a nested query by the values of what it reads from around it."""

    paths: tuple[Term, ...]
    values: dict[Row, Any] = field(default_factory=dict)


class Index:
    """The records of a source, by the values of some terms over its variable; a NULL among them is never found."""

    def __init__(
        self, record: Record, variable: str, own: tuple[Term, ...], entries: Iterable[Entry]
    ) -> None:
        self.buckets: dict[Row, list[Entry]] = {}
        for row, weight in entries:
            key = record(own, bind(EMPTY, variable, row))
            if None not in key:
                self.buckets.setdefault(key, []).append((row, weight))

    def find(self, key: Row) -> list[Entry]:
        return [] if None in key else self.buckets.get(key, [])
