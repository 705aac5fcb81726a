"""The deltas of touched groups: f(new group) - f(old group), for all touched groups at once.

A group of `Finalize` is one entry, so its old and new outputs are its terms over the saved and the present values.

    sum(total) is 5.00 for customer 7 and 6.00 for 9;      -(9, 6.00), +(9, 8.00)
    orders of 0.00 for 7 and 2.00 for 9 are inserted       the equal outputs of 7 cancel
"""

from __future__ import annotations

import numpy

from evercurrent.delta.program import WEIGHT, Finalize, Keyed
from evercurrent.engine.columnar.rules import join_batches
from evercurrent.engine.columnar.state import ColumnState, Saved
from evercurrent.engine.columnar.terms import Batch, compile_vector
from evercurrent.engine.columnar.vectors import Ints, Mask, Pools, Unfit, Vector, clear_nulls, equal
from evercurrent.term.walk import columns_of


class Output:
    """The output of entries: `columns` of the relation and how often each row is there."""

    def __init__(self, relation: Keyed, pools: Pools) -> None:
        function = relation.function
        if not isinstance(function, Finalize):
            raise Unfit(f"a function {type(function).__name__}")
        self.names = [c.name for c in relation.columns]
        self.scalar = function.scalar
        self.terms = [compile_vector(t, pools) for t in function.outputs]
        self.multiplicity = compile_vector(function.multiplicity, pools)
        read = {c.name for t in (*function.outputs, function.multiplicity) for c in columns_of(t)}
        self.read = sorted(read)

    def of(self, state: ColumnState, ids: Ints, saved: Saved | None = None) -> tuple[list[Vector], Ints]:
        """The outputs of these entries, or of what they were, with multiplicities; all must be there."""
        names = [n for n in self.read if n == WEIGHT or n in state.readable]
        batch = Batch({n: state.read(n, ids, saved) for n in names}, len(ids))
        counts = self.multiplicity(batch)
        if counts.valid is not None:
            raise Unfit("a multiplicity that is NULL")
        return [clear_nulls(f(batch)) for f in self.terms], counts.values

    def change(self, state: ColumnState, saved: Saved, beginning: bool) -> Batch:
        """The delta for the touched entries: columns by name, and the weight under `WEIGHT`."""
        was = saved.weights != 0
        now = state.weights[saved.ids] != 0
        if self.scalar:
            now[:] = True
            was[:] = not beginning
        parts = []
        places_old, places_new = was.nonzero()[0], now.nonzero()[0]
        old = self.of(state, saved.ids[places_old], choose(saved, places_old)) if len(places_old) else None
        new = self.of(state, saved.ids[places_new]) if len(places_new) else None
        if old is not None and new is not None:
            old, new = self._without_equal(old, places_old, new, places_new, len(was))
        for part, sign in ((old, -1), (new, 1)):
            if part is not None:
                columns, counts = part
                there = counts.nonzero()[0]
                named = dict(zip(self.names, (c.take(there) for c in columns), strict=True))
                parts.append(Batch({**named, WEIGHT: Vector(sign * counts[there])}, len(there)))
        return join_batches(parts) if parts else Batch({}, 0)

    def _without_equal(
        self,
        old: tuple[list[Vector], Ints],
        places_old: Ints,
        new: tuple[list[Vector], Ints],
        places_new: Ints,
        size: int,
    ) -> tuple[tuple[list[Vector], Ints], tuple[list[Vector], Ints]]:
        """Leaves out the outputs that have not changed."""
        where = numpy.full(size, -1, numpy.int64)
        where[places_old] = numpy.arange(len(places_old))
        mine = where[places_new]
        both = numpy.flatnonzero(mine >= 0)
        theirs = mine[both]
        same = new[1][both] == old[1][theirs]
        for a, b in zip(new[0], old[0], strict=True):
            same &= equal(a.take(both), b.take(theirs))
        if not same.any():
            return old, new
        keep_new = numpy.ones(len(places_new), bool)
        keep_new[both[same]] = False
        keep_old = numpy.ones(len(places_old), bool)
        keep_old[theirs[same]] = False
        return _filter(old, keep_old), _filter(new, keep_new)


def _filter(part: tuple[list[Vector], Ints], mask: Mask) -> tuple[list[Vector], Ints]:
    places = mask.nonzero()[0]
    return [c.take(places) for c in part[0]], part[1][places]


def choose(saved: Saved, places: Ints) -> Saved:
    return Saved(
        saved.ids[places],
        saved.weights[places],
        [s[places] for s in saved.sums],
        [d.take(places) for d in saved.dependents],
    )
