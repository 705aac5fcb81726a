"""Windows and top-k over columns: all touched groups are sorted together, once.

Delta    f(new) - f(old) over all entries of the touched groups
State    the entries, and chains by the key of the groups
Cost     one sort of the touched groups; each function is a few operations on arrays
Correct  because the order is total (ties are settled by the columns, ascending, NULLs first), as in `calculus.windows`

    groups   a a a b b      starts  0 0 0 3 3
    keys     1 1 2 5 6      peers   0 0 2 3 4      row_number  1 2 3 1 2      rank  1 1 3 1 2

A function that has no case here (a sum of floats, DISTINCT, RANGE with offsets) is computed group by group, in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from evercurrent.calculus.windows import window_values
from evercurrent.data.order import sort_key
from evercurrent.data.types import Decimal, Integer, Type
from evercurrent.delta.program import WEIGHT, Keyed, Ranked, Windowed
from evercurrent.engine.columnar.arithmetic import arithmetic, check_range, largest, require
from evercurrent.engine.columnar.deltas import to_rows
from evercurrent.engine.columnar.index import Index
from evercurrent.engine.columnar.rules import join_batches
from evercurrent.engine.columnar.state import ColumnState, Saved
from evercurrent.engine.columnar.terms import Batch, Code, compile_vector
from evercurrent.engine.columnar.vectors import (
    Ints,
    Mask,
    Pools,
    Unfit,
    Values,
    Vector,
    clear_nulls,
    from_list,
    is_true,
    kind_of,
    words_of,
)
from evercurrent.errors import EvercurrentError
from evercurrent.term.evaluate import compile_term
from evercurrent.term.nodes import Column, Literal, SortKey, Term, WindowFunction


@dataclass(slots=True)
class Sorted:
    """Rows of groups in order. `starts` and `ends` bound the group of each row, `peers` and `peer_ends` its peers."""

    batch: Batch
    starts: Ints
    ends: Ints
    peers: Ints
    peer_ends: Ints

    @property
    def places(self) -> Ints:
        return numpy.arange(self.batch.size)


class GroupOutput:
    """The output of groups: `change` for those that a transaction has touched, `of` for given entries."""

    scalar = False

    def __init__(self, relation: Keyed, columns: Sequence[Column], pools: Pools) -> None:
        function = relation.function
        assert isinstance(function, Windowed | Ranked)
        self.names = [c.name for c in relation.columns]
        self.key = relation.key
        self.columns = list(columns)
        self.pools = pools
        self.function = function
        order = function.order if isinstance(function, Ranked) else function.functions[0][1].order
        self.order = [(compile_vector(k.term, pools), k) for k in order]
        self.terms = [compile_vector(t, pools) for t in function.outputs]
        self.functions: list[tuple[str, WindowCode]] = []
        if isinstance(function, Windowed):
            self.functions = [(c.name, WindowCode(f, self.columns, pools)) for c, f in function.functions]

    def of(self, state: ColumnState, ids: Ints, saved: Saved | None = None) -> tuple[list[Vector], Ints]:
        """The rows of whole groups that consist of these entries; each once, with weight 1."""
        batch = Batch({c.name: state.read(c.name, ids) for c in self.columns}, len(ids))
        return self._rows(batch, state.weights[ids])

    def change(self, state: ColumnState, saved: Saved, beginning: bool) -> Batch:
        """The delta of the touched groups: columns by name, and the weight under `WEIGHT`."""
        ids = self._entries(state, saved)
        now = state.weights[ids]
        was = now.copy()
        at = numpy.searchsorted(ids, saved.ids)
        was[at] = saved.weights
        batch = Batch({c.name: state.read(c.name, ids) for c in self.columns}, len(ids))
        before = batch
        if state.dependents:
            before = Batch(dict(batch.columns), batch.size)
            for i, name in enumerate(state.dependents):
                before.columns[name] = replace_at(batch.columns[name], at, saved.dependents[i])
        parts = []
        for rows, weights, sign in ((before, was, -1), (batch, now, 1)):
            columns, counts = self._rows(rows, weights)
            if not len(counts):
                continue
            named = dict(zip(self.names, columns, strict=True))
            parts.append(Batch({**named, WEIGHT: Vector(sign * counts)}, len(counts)))
        return join_batches(parts) if parts else Batch({}, 0)

    def _entries(self, state: ColumnState, saved: Saved) -> Ints:
        """All entries of the touched groups, in order of their numbers."""
        if not self.key:
            return numpy.union1d(saved.ids, state.alive())
        keys = [state.read(name, saved.ids) for name in self.key]
        _, first = Index(len(keys) + 1).insert(words_of(keys, True))
        if len(saved.ids) == state.size:
            return numpy.sort(saved.ids)
        _, ids = state.find(self.key, [k.take(first) for k in keys], len(first))
        return numpy.union1d(saved.ids, ids)

    # --- rows ----------------------------------------------------------------------------------------------

    def _rows(self, batch: Batch, weights: Ints) -> tuple[list[Vector], Ints]:
        if (weights < 0).any():
            raise Unfit("a row that is there less than no times")
        if not (weights == 1).all():
            batch = batch.take(numpy.repeat(numpy.arange(batch.size), weights))
        if not batch.size:
            return [], numpy.empty(0, numpy.int64)
        rows = self._sort(batch)
        chosen = rows.batch
        if isinstance(self.function, Ranked):
            place = rows.places - rows.starts
            if self.function.ties == "rank":
                place = rows.peers - rows.starts
            elif self.function.ties == "dense_rank":
                new = rows.places == rows.peers
                counted = numpy.cumsum(new)
                place = counted - counted[rows.starts]
            taken = place >= self.function.offset
            if self.function.limit is not None:
                taken &= place < self.function.offset + self.function.limit
            chosen = chosen.take(numpy.flatnonzero(taken))
        for name, code in self.functions:
            chosen.columns[name] = code.values(rows)
        return [clear_nulls(f(chosen)) for f in self.terms], numpy.ones(chosen.size, numpy.int64)

    def _sort(self, batch: Batch) -> Sorted:
        size = batch.size
        groups = numpy.zeros(size, numpy.int64)
        if self.key:
            groups, _ = Index(len(self.key) + 1).insert(words_of([batch.columns[k] for k in self.key], True))
        keys: list[Values] = []
        for code, key in self.order:
            keys += self._sort_keys(code(batch), key)
        ties: list[Values] = []
        for c in self.columns:
            if c.name not in self.key:
                ties += self._sort_keys(batch.columns[c.name], SortKey(c))
        order = numpy.lexsort([*reversed(ties), *reversed(keys), groups])
        groups = groups[order]
        new_group = changes([groups])
        new_peer = changes([groups, *(k[order] for k in keys)])
        starts, ends = bounds(new_group)
        peers, peer_ends = bounds(new_peer)
        return Sorted(batch.take(order), starts, ends, peers, peer_ends)

    def _sort_keys(self, v: Vector, key: SortKey) -> list[Values]:
        """Arrays whose ascending order, from left to right, is the order of the key."""
        t, kind = key.term.type, kind_of(key.term.type)
        keys: list[Values] = []
        if v.valid is not None:
            keys.append(numpy.where(v.valid, 1, 0 if key.nulls_first else 2))
        if kind == "pool":
            keys.append(self._ranks(t, v, key))
        elif kind == "float":
            missing = numpy.isnan(v.values)
            plain = numpy.where(missing, 0.0, v.values)
            keys += [~missing, -plain] if key.descending else [missing, plain]
        else:
            values = v.values.astype(numpy.int64, copy=False)
            keys.append(~values if key.descending else values)
        return keys

    def _ranks(self, t: Type, v: Vector, key: SortKey) -> Ints:
        """The places of pooled values among the distinct ones, sorted as Python sorts them."""
        distinct, numbers = numpy.unique(v.values, return_inverse=True)
        known = self.pools.of(t).values
        present = [i for i in distinct.tolist() if i < len(known)]
        rank_of = sort_key(t, key.descending)
        ordered = sorted(range(len(present)), key=lambda i: rank_of(known[present[i]]))
        ranks = numpy.zeros(max(1, len(distinct)), numpy.int64)
        ranks[ordered] = numpy.arange(len(ordered))
        result: Ints = ranks[numbers]
        return result


def replace_at(v: Vector, at: Ints, by: Vector) -> Vector:
    values = v.values.copy()
    values[at] = by.values
    valid = numpy.ones(len(v), bool) if v.valid is None else v.valid.copy()
    valid[at] = True if by.valid is None else by.valid
    return clear_nulls(Vector(values, valid))


def changes(arrays: Sequence[Values]) -> Mask:
    """Where one of the arrays differs from the row before."""
    result = numpy.zeros(len(arrays[0]), bool)
    result[:1] = True
    for a in arrays:
        result[1:] |= a[1:] != a[:-1]
    return result


def bounds(first: Mask) -> tuple[Ints, Ints]:
    """For each row where its run begins and ends, given where runs begin."""
    starts = numpy.flatnonzero(first)
    lengths = numpy.diff(numpy.append(starts, len(first)))
    return numpy.repeat(starts, lengths), numpy.repeat(starts + lengths, lengths)


# --- functions ---------------------------------------------------------------------------------------------


class WindowCode:
    """One window function, over sorted rows."""

    def __init__(self, function: WindowFunction, columns: Sequence[Column], pools: Pools) -> None:
        self.function = function
        self.columns = columns
        self.pools = pools
        self.args = [compile_vector(a, pools) for a in function.args]
        self.where: Code | None = None if function.where is None else compile_vector(function.where, pools)

    def values(self, rows: Sorted) -> Vector:
        f = self.function
        match f.function:
            case "row_number":
                return Vector(rows.places - rows.starts + 1)
            case "rank":
                return Vector(rows.peers - rows.starts + 1)
            case "dense_rank":
                before = numpy.cumsum(rows.peers == rows.places)
                return Vector(before - before[rows.starts] + 1)
            case "percent_rank":
                others = rows.ends - rows.starts - 1
                return Vector((rows.peers - rows.starts) / numpy.maximum(others, 1))
            case "cume_dist":
                return Vector((rows.peer_ends - rows.starts) / (rows.ends - rows.starts))
            case "lag" | "lead" if not f.ignore_nulls and (shift := _constant(f.args, 1)) is not None:
                return self._shift(rows, -shift if f.function == "lag" else shift)
            case "first_value" | "last_value" if (
                not f.ignore_nulls and (frame := _frame(f, rows)) is not None
            ):
                return self._pick(rows, frame, f.function == "last_value")
            case "sum" | "count" | "avg" if not f.distinct and (frame := _frame(f, rows)) is not None:
                found = self._sum(rows, frame)
                if found is not None:
                    return found
        return self._by_group(rows)

    def _shift(self, rows: Sorted, shift: int) -> Vector:
        given = self.args[0](rows.batch)
        target = rows.places + shift
        inside = (target >= rows.starts) & (target < rows.ends)
        found = given.take(numpy.where(inside, target, 0))
        valid = inside if found.valid is None else inside & found.valid
        if len(self.args) < 3:
            return clear_nulls(Vector(found.values, valid))
        default = self.args[2](rows.batch)
        values = numpy.where(inside, found.values, default.values)
        return clear_nulls(
            Vector(values, numpy.where(inside, valid, True if default.valid is None else default.valid))
        )

    def _pick(self, rows: Sorted, frame: tuple[Ints, Ints], last: bool) -> Vector:
        low, high = frame
        some = low < high
        found = self.args[0](rows.batch).take(numpy.where(some, high - 1 if last else low, 0))
        return clear_nulls(Vector(found.values, some if found.valid is None else some & found.valid))

    def _sum(self, rows: Sorted, frame: tuple[Ints, Ints]) -> Vector | None:
        """Sums, counts and averages of integers, by sums from the first row on."""
        f = self.function
        low, high = frame
        counted = numpy.ones(rows.batch.size, bool)
        if self.where is not None:
            counted = is_true(self.where(rows.batch)).copy()
        arguments = [a(rows.batch) for a in self.args]
        for v in arguments:
            if v.valid is not None:
                counted &= v.valid
        many = _between(counted.astype(numpy.int64), low, high)
        if f.function == "count":
            return Vector(many)
        t = f.args[0].type
        if not isinstance(t, Integer | Decimal):
            return None
        amounts = numpy.where(counted, arguments[0].values, 0)
        require(largest(amounts) * max(1, len(amounts)))
        total = _between(amounts, low, high)
        if f.function == "sum":
            return (
                clear_nulls(Vector(check_range(f.type, total), many > 0))
                if isinstance(f.type, Integer | Decimal)
                else None
            )
        divide = arithmetic("average", (t, Integer(64)), f.type)
        return None if divide is None else clear_nulls(Vector(divide(total, many), many > 0))

    def _by_group(self, rows: Sorted) -> Vector:
        """The function as its definition has it, group by group."""
        types = [c.type for c in self.columns]
        plain = to_rows(
            types, [rows.batch.columns[c.name] for c in self.columns], rows.batch.size, self.pools
        )
        compiled: dict[Term, object] = {}

        def value(term: Term, row: tuple[object, ...]) -> object:
            read = compiled.get(term)
            if read is None:
                read = compiled[term] = compile_term(term, self.columns)
            return read(row)  # type: ignore[operator]

        result: list[object] = []
        starts = numpy.unique(rows.starts).tolist()
        try:
            for start, end in zip(starts, [*starts[1:], rows.batch.size], strict=True):
                result += window_values(self.function, plain[start:end], value)
        except EvercurrentError as problem:
            raise Unfit(str(problem)) from None
        return from_list(self.function.type, result, self.pools)


def _constant(args: Sequence[Term], position: int) -> int | None:
    """The offset of lag and lead, if it is a constant."""
    if len(args) <= position:
        return 1
    match args[position]:
        case Literal(int(value)):
            return value
        case _:
            return None


def _frame(f: WindowFunction, rows: Sorted) -> tuple[Ints, Ints] | None:
    """For each row the places of its frame, half open; None for RANGE and GROUPS with offsets."""
    start, end = f.frame.start, f.frame.end
    if f.frame.kind == "rows":
        if not all(b is None or isinstance(b, int) for b in (start, end)):
            return None
        low = rows.starts if start is None else rows.places + start
        high = rows.ends if end is None else rows.places + end + 1
    elif start in (None, 0) and end in (None, 0):
        low = rows.starts if start is None else rows.peers
        high = rows.ends if end is None else rows.peer_ends
    else:
        return None
    # Both bounds of a frame may lie beyond the partition: it is empty then.
    low, high = (numpy.minimum(numpy.maximum(b, rows.starts), rows.ends) for b in (low, high))
    return low, numpy.maximum(low, high)


def _between(values: Ints, low: Ints, high: Ints) -> Ints:
    """Sums over half-open ranges of places."""
    sums = numpy.zeros(len(values) + 1, numpy.int64)
    numpy.cumsum(values, out=sums[1:])
    result: Ints = sums[high] - sums[low]
    return result
