"""The derivation that is evidently right: evaluate before, evaluate after, subtract.

Law. For every query e and change dD:   e(D + dD)  =  e(D) + delta,   delta = e(D + dD) - e(D).

The difference of two bags is minimal by itself: a row that is in both, equally often, is not in it. It costs a full
evaluation, and is what the derived programs are compared with.

    view = Naive(query, {"orders": orders})
    view.apply({"orders": change})      # the delta of the view, as a ZSet
    view.rows                           # the view, as a ZSet
"""

from __future__ import annotations

from collections.abc import Mapping

from evercurrent.calculus.evaluate import evaluate
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.walk import relations_of
from evercurrent.data.zset import ZSet


class Naive:
    """A view that is recomputed after every change of the relations that it reads."""

    def __init__(self, query: Query, relations: Mapping[str, ZSet] | None = None) -> None:
        self.query = query
        self.relations = {name: ZSet() for name in relations_of(query)}
        for name, rows in (relations or {}).items():
            self.relations[name] = ZSet(rows.weights)
        self.rows = self.evaluate()

    def evaluate(self) -> ZSet:
        return evaluate(self.query, lambda name: self.relations[name].items())

    def apply(self, changes: Mapping[str, ZSet]) -> ZSet:
        """Change relations, all at once; what the view changes by. On an error nothing has changed."""
        before = dict(self.relations)
        for name, change in changes.items():
            self.relations[name] = before.get(name, ZSet()) + change
        try:
            after = self.evaluate()
        except BaseException:
            self.relations = before
            raise
        delta = after - self.rows
        self.rows = after
        return delta
