"""Source that adds to a state, and updates its indexes and sorted groups.

    add to items by city [city] * weight, sum(price)      if v2 is None:
                                                              s1[v1] = [1, v3]
                                                          else:
                                                              v2[0] = v4; v2[1] += v3      # v4 is the new weight, not 0

A state has one dictionary for each set of columns by which it is looked up.
"""

from __future__ import annotations

from dataclasses import dataclass

from evercurrent.delta.program import Keyed
from evercurrent.engine.live.borrowed_states import Loan
from evercurrent.engine.live.layout import Layout, Path
from evercurrent.engine.live.runtime import index
from evercurrent.term.emit.scope import key_of, tuple_of
from evercurrent.term.emit.writer import Namespace, Writer


@dataclass(frozen=True, slots=True)
class Split:
    """The locals of the columns of an entry's old and new output; those at `fixed` are the key's, and the same."""

    local: str
    width: int
    fixed: frozenset[int]

    def old(self) -> tuple[str, ...]:
        return self._names("o")

    def new(self) -> tuple[str, ...]:
        return self._names("n")

    def _names(self, side: str) -> tuple[str, ...]:
        return tuple(f"{self.local}_{'k' if i in self.fixed else side}{i}" for i in range(self.width))


@dataclass(frozen=True, slots=True)
class Touch:
    """A keyed relation that follows a state.

    `function` returns the old output (if it is empty, only the key is noted): of an entry (`entry`: called with its key and
    payload) or of a group (called with the group's key, whose columns are at `key`). `table` collects them by key; with `into`
    the outputs before and after go into two locals instead, since only one entry is touched, and the function of `relation`
    is written in line; with `split` the locals only tell that there is an output, and its columns are in locals of their own.
    `matters`, if given, tells whether a change of the group by a row can change its output at all. With `by_row` the function
    is called with the table, the group's key and the row, and notes the row's weight. With `only_checked` nobody follows: the
    output after the change is found because that may fail, and forgotten.
    """

    function: str
    table: str
    entry: bool
    key: tuple[int, ...] = ()
    into: tuple[str, str] | None = None
    relation: Keyed | None = None
    matters: str = ""
    split: Split | None = None
    by_row: bool = False
    only_checked: bool = False


@dataclass(frozen=True, slots=True)
class Target:
    """A state as rules write to it: its dictionaries' identifiers, what follows it, and its sorted groups.

    A group is its identifier, the places of its key, and whether it keeps the weights of rows.

    `loan`: it is not kept, and lookups read the things themselves.
    """

    layout: Layout
    names: tuple[str, ...]
    touches: tuple[Touch, ...] = ()
    groups: tuple[tuple[str, tuple[int, ...], bool], ...] = ()
    journal: bool = False
    loan: Loan | None = None


class Paths:
    """Writes changes of the dictionaries of a state for one entry, whose columns and dependents are given as sources."""

    def __init__(self, writer: Writer, namespace: Namespace, target: Target) -> None:
        self.w, self.target, self.layout = writer, target, target.layout
        self.columns: list[str] = []
        self.dependents: list[str] = []
        namespace.define("put", index.put)
        namespace.define("drop", index.drop)
        namespace.define("bump", index.bump)
        namespace.define("remember", index.remember)

    def split(self, path: Path) -> tuple[str, str]:
        fields = [*self.columns, *self.dependents]
        return key_of(fields[i] for i in path.key), key_of(fields[i] for i in path.rest)

    def journal_path(self, name: str, path: Path) -> None:
        if self.target.journal:
            key, rest = self.split(path)
            self.w.line(f"remember({name}, {key}, {rest}, J)")

    def put(self, name: str, path: Path, payload: str) -> None:
        self.journal_path(name, path)
        key, rest = self.split(path)
        if path.kind == "single":
            self.w.line(f"{name}[{key}] = ({rest}, {payload})")
        else:
            self.w.line(f"put({name}, {key}, {rest}, {payload})")

    def drop(self, name: str, path: Path) -> None:
        self.journal_path(name, path)
        key, rest = self.split(path)
        if path.kind == "single":
            self.w.line(f"{name}.pop({key}, None)")
        else:
            self.w.line(f"drop({name}, {key}, {rest})")

    def put_others(self, payload: str) -> None:
        for name, path in zip(self.target.names[1:], self.layout.others, strict=True):
            self.put(name, path, payload)

    def drop_others(self) -> None:
        for name, path in zip(self.target.names[1:], self.layout.others, strict=True):
            self.drop(name, path)

    def enter_groups(self, dependents: str, weight: str = "1") -> None:
        """Puts the row of a new entry into the sorted groups."""
        self._move_groups("enter", "leave", dependents)
        self.weigh_groups(dependents, weight, "0")

    def leave_groups(self, dependents: str, weight: str = "1") -> None:
        """Takes the row of an entry, which has this weight, out of the sorted groups."""
        self._move_groups("leave", "enter", dependents)
        self.weigh_groups(dependents, "0", weight)

    def weigh_groups(self, dependents: str, weight: str, old: str) -> None:
        """Sets the weight of an entry's row, in the groups that keep weights."""
        for group, key, weighed in self.target.groups:
            if not weighed:
                continue
            row, group_key = self._group_row(dependents, key)
            if self.target.journal:
                self.w.line(f"journal(({group}.put_back, {group_key}, ({row}, {old})))")
            self.w.line(f"{group}.place({group_key}, {row}, {weight})")

    def _move_groups(self, verb: str, inverse: str, dependents: str) -> None:
        for group, key, weighed in self.target.groups:
            if weighed:
                continue
            row, group_key = self._group_row(dependents, key)
            if self.target.journal:
                self.w.line(f"journal(({group}.{inverse}, {group_key}, {row}))")
            self.w.line(f"{group}.{verb}({group_key}, {row})")

    def _group_row(self, dependents: str, key: tuple[int, ...]) -> tuple[str, str]:
        """The row of an entry as groups hold it, columns and then dependents, and the group's key."""
        row = tuple_of(self.columns)
        if self.layout.state.dependents:
            row = f"{row} + {dependents}"
        return row, key_of(self.columns[i] for i in key)
