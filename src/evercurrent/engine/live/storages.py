"""Storages: the dictionaries of states, empty ones, and those that another layout takes over.

SELECT sum(total) FROM orders      {(): [0, 0, 0]}      a scalar aggregate has its one entry from the start
... GROUP BY customer              {}
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from evercurrent.engine.live.layout import Layout, Path
from evercurrent.engine.live.runtime.aggregates import factory
from evercurrent.engine.live.runtime.index import put
from evercurrent.engine.live.runtime.ordered_entries import OrderedEntries, entries_in_order

if TYPE_CHECKING:
    from evercurrent.engine.live.borrowed_states import Loan


class Storage:
    """The dictionaries of one state, in the order of the layout's paths; of a borrowed state (see `borrowed_states`), its `loan` is the only one."""

    __slots__ = ("layout", "loan", "paths")

    def __init__(self, layout: Layout, loan: Loan | None = None) -> None:
        self.layout = layout
        self.loan = loan
        self.paths: list[dict[Any, Any]] = (
            [make_table(layout, p) for p in layout.paths] if loan is None else [loan]
        )

    def entries(self) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """Every entry: its columns and its payload."""
        home = self.layout.home
        for key, held in self.paths[0].items():
            keys = key if len(home.key) != 1 else (key,)
            if home.kind == "flat":
                yield keys, held
                continue
            for rest, payload in held.items() if type(held) is dict else (held,):
                rests = rest if len(home.rest) != 1 else (rest,)
                columns = dict(zip(home.key + home.rest, keys + rests, strict=True))
                yield tuple(columns[i] for i in range(len(columns))), payload

    def whole_rows(self, key: tuple[int, ...]) -> Iterator[tuple[Any, tuple[Any, ...], int]]:
        """Every entry as its key (one column bare, several as a tuple), its columns with the dependents, and its weight."""
        state = self.layout.state
        first = 0 if state.unique else 1
        for columns, payload in self.entries():
            row = columns
            match self.layout.payload:
                case "value":
                    row = (*columns, payload)
                case "tuple":
                    row = columns + payload
                case "sums" | "cell":
                    row = columns + tuple(payload[first : first + len(state.dependents)])
            found = columns[key[0]] if len(key) == 1 else tuple(columns[i] for i in key)
            yield found, row, 1 if state.unique else self.weight(payload)

    def __len__(self) -> int:
        if self.layout.home.kind != "bucket":
            return len(self.paths[0])
        return sum(len(b) if type(b) is dict else 1 for b in self.paths[0].values())

    def parts(self, payload: Any) -> list[Any]:
        """Weight (unless unique), dependents and accumulators."""
        match self.layout.payload:
            case "true":
                return []
            case "count" | "value":
                return [payload]
            case _:
                return list(payload)

    def insert(self, columns: tuple[Any, ...], parts: list[Any]) -> None:
        """A new entry."""
        match self.layout.payload:
            case "true":
                payload: Any = True
            case "count" | "value":
                payload = parts[0]
            case "tuple" | "sums":
                payload = tuple(parts)
            case _:
                payload = parts
        first = 0 if self.layout.state.unique else 1
        fields = (*columns, *parts[first : first + len(self.layout.state.dependents)])
        for path, table in zip(self.layout.paths, self.paths, strict=True):
            key = key_of(path, fields)
            if path.kind == "flat":
                table[key] = payload
            elif path.kind == "single":
                table[key] = (rest_of(path, fields), payload)
            elif isinstance(table, OrderedEntries):
                table.put(key, table.value_of(fields), rest_of(path, fields), payload)
            else:
                put(table, key, rest_of(path, fields), payload)

    def clear(self) -> None:
        """Leaves no entries; the one that always stays is not looked at."""
        if not self.layout.permanent:
            for table in self.paths:
                table.clear()

    def load(self, columns: Sequence[list[Any]], parts: Sequence[list[Any]], size: int) -> None:
        """Makes these the only entries, given as lists of their columns and parts."""
        if self.layout.permanent:
            self.paths[0][()][:] = [part[0] for part in parts]
            return
        match self.layout.payload:
            case "true":
                payloads: list[Any] = [True] * size
            case "count" | "value":
                payloads = list(parts[0])
            case "tuple" | "sums":
                payloads = list(zip(*parts, strict=True))
            case _:
                payloads = list(map(list, zip(*parts, strict=True)))
        first = 0 if self.layout.state.unique else 1
        fields = [*columns, *parts[first : first + len(self.layout.state.dependents)]]
        for path, table in zip(self.layout.paths, self.paths, strict=True):
            if isinstance(table, OrderedEntries):
                continue
            table.clear()
            keys = lists_of(fields, path.key, size)
            if path.kind == "flat":
                table.update(zip(keys, payloads, strict=True))
            elif path.kind == "single":
                rests = lists_of(fields, path.rest, size)
                table.update(zip(keys, zip(rests, payloads, strict=True), strict=True))
            else:
                for key, rest, payload in zip(keys, lists_of(fields, path.rest, size), payloads, strict=True):
                    put(table, key, rest, payload)
        self.put_in_order()

    def repair(self) -> None:
        """Rebuilds what is derived from the entries, in a path or in an entry."""
        self.put_in_order()
        if any(a.kind == "aggregate" for a in self.layout.state.accumulators):
            for _, cell in self.entries():
                for member in cell:
                    rebuild = getattr(member, "rebuild", None)
                    if rebuild is not None:
                        rebuild()

    def put_in_order(self) -> None:
        """Rebuilds what is kept in order from the entries."""
        first = 0 if self.layout.state.unique else 1
        for path, table in zip(self.layout.paths, self.paths, strict=False):
            if isinstance(table, OrderedEntries):
                rows = (
                    (columns + tuple(self.parts(p)[first : first + len(self.layout.state.dependents)]), p)
                    for columns, p in self.entries()
                )
                table.load((key_of(path, r), table.value_of(r), rest_of(path, r), p) for r, p in rows)

    def weight(self, payload: Any) -> int:
        if self.layout.state.unique:
            return 1
        weight: int = payload if self.layout.payload == "count" else payload[0]
        return weight


def make_table(layout: Layout, path: Path) -> dict[Any, Any]:
    """The dictionary of a path, without entries."""
    return {} if path.order is None else entries_in_order(layout.fields, path.order)


def key_of(path: Path, row: Sequence[Any]) -> Any:
    """The key of a row of columns in a path's dictionary."""
    return row[path.key[0]] if len(path.key) == 1 else tuple(row[i] for i in path.key)


def rest_of(path: Path, row: Sequence[Any]) -> Any:
    return row[path.rest[0]] if len(path.rest) == 1 else tuple(row[i] for i in path.rest)


def lists_of(fields: Sequence[list[Any]], positions: Sequence[int], size: int) -> Iterable[Any]:
    """For each entry its fields at these positions: the bare value of one, a tuple of several."""
    if len(positions) == 1:
        return fields[positions[0]]
    return zip(*(fields[i] for i in positions), strict=True) if positions else [()] * size


# --- new ones ----------------------------------------------------------------------------------------------


def fresh(layout: Layout) -> Storage:
    """An empty storage; a scalar aggregate's has its one entry."""
    storage = Storage(layout)
    if layout.permanent:
        state = layout.state
        cell: list[Any] = [] if state.unique else [0]
        cell += [None for _ in state.dependents]
        cell += [0 if a.aggregate is None else factory(a.aggregate)() for a in state.accumulators]
        storage.paths[0][()] = cell
    return storage


def convert_storage(storage: Storage, layout: Layout) -> Storage:
    """The same entries in another layout: a scalar aggregate's one entry comes with it, or goes if it is of no weight.

    Which states are unique can depend on the other views (a second use, or another assumption): then the weight, 1, comes or goes.
    """
    other = fresh(layout)
    was_unique, is_unique = storage.layout.state.unique, layout.state.unique
    for columns, payload in storage.entries():
        if layout.permanent or storage.weight(payload):
            parts = storage.parts(payload)
            if was_unique and not is_unique:
                parts = [1, *parts]
            elif is_unique and not was_unique:
                parts = parts[1:]
            other.insert(columns, parts)
    return other
