"""The compiled functions of a program for one set of watched relations, and how they run a transaction.

variant.transact({"orders": delta}, {})   runs `run_n` over the delta, then the stages that follow from it,
                                          and returns the deltas of the watched relations
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from evercurrent.data.zset import Row, ZSet
from evercurrent.delta.program import Input
from evercurrent.engine.live.emit import Emitter
from evercurrent.engine.live.runtime.deltas import deletions_first

Run = Callable[[Iterable[tuple[Row, int]]], None]

NOTHING: tuple[Run | None, Callable[[], None]] = (None, lambda: None)
"""For inputs that the program does not know."""


class Variant:
    """The functions for one set of watched relations."""

    def __init__(
        self, emitter: Emitter, namespace: dict[str, Any], pieces: dict[str, str], watched: frozenset[str]
    ) -> None:
        self.namespace, self.pieces = namespace, pieces
        numbers = emitter.numbers
        inputs = [r.name for r in emitter.program.relations if isinstance(r, Input)]
        self.inputs: list[tuple[str, Run | None]] = [(n, namespace.get(f"run_{numbers[n]}")) for n in inputs]
        self.alone: dict[str, tuple[Run | None, Callable[[], None]]] = {
            n: (run, namespace[f"finish_{numbers[n]}"]) for n, run in self.inputs
        }
        self.finish: Callable[[], None] = namespace["finish"]
        self.flush: Callable[[], None] = namespace["flush"]
        self.watched = [(numbers[n], n, n in self.alone) for n in watched if n in numbers]
        self.out = emitter.out

    def run(self, name: str, rows: Iterable[tuple[Row, int]]) -> None:
        run = self.alone[name][0]
        if run is not None:
            run(rows)

    def transact(
        self,
        deltas: Mapping[str, ZSet | Iterable[tuple[Row, int]]],
        together: Mapping[str, Mapping[Row, int]],
    ) -> dict[str, ZSet]:
        """Runs deletions, children before parents; the parts `together`; insertions, parents before children; what is derived."""
        if self.out:
            self.out.clear()
        changes = {n: d if isinstance(d, ZSet) else ZSet(d) for n, d in deltas.items()}
        if len(changes) == 1:
            ((name, delta),) = changes.items()
            run, finish = self.alone.get(name, NOTHING)
            if run is not None and delta.weights:
                run(deletions_first(delta.weights) if len(delta.weights) > 1 else delta.weights.items())
                finish()
        else:
            parts = changes
            if together:
                parts = {n: without(d, together[n]) if n in together else d for n, d in changes.items()}
            for name, run in reversed(self.inputs):
                if run is not None and name in parts:
                    run([item for item in parts[name].weights.items() if item[1] < 0])
            for name, rows in together.items():
                self.run(name, deletions_first(rows))
            for name, run in self.inputs:
                if run is not None and name in parts:
                    run([item for item in parts[name].weights.items() if item[1] > 0])
            self.finish()
        return {name: self._run_rules(n, name, changes, given) for n, name, given in self.watched}

    def _run_rules(self, n: int, name: str, changes: dict[str, ZSet], given: bool) -> ZSet:
        delta = ZSet()
        if given:
            return changes.get(name, delta)
        delta.weights = self.out.get(n, delta.weights)
        return delta


def without(delta: ZSet, rows: Mapping[Row, int]) -> ZSet:
    """A delta without these rows."""
    result = ZSet()
    result.weights = {row: weight for row, weight in delta.weights.items() if row not in rows}
    return result
