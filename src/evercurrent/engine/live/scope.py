"""The names in scope while a rule of the live engine is written: those of its terms, and borrowed things that are at hand.

>>> scope_ = Scope(Writer(), Namespace(), Locals(), [])
>>> scope_.things["e.dept"] = "v1"
>>> branch = scope_.fork()
>>> branch.things["d.boss"] = "v2"
>>> scope_.things
{'e.dept': 'v1'}
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from evercurrent.term.emit import scope
from evercurrent.term.emit.scope import Locals
from evercurrent.term.emit.writer import Namespace, Writer
from evercurrent.term.nodes import Term


class Scope(scope.Scope):
    """`things`: for columns that are keys of things at hand, their locals."""

    def __init__(self, writer: Writer, namespace: Namespace, fresh: Locals, terms: Iterable[Term]) -> None:
        super().__init__(writer, namespace, fresh, terms)
        self.things: dict[str, str] = {}

    def fork(self) -> Self:
        other = super().fork()
        other.things = dict(self.things)
        return other
