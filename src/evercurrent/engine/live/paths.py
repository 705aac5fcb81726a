"""Source that adds to a state, and updates its indexes and sorted groups.

    add to items by city [city] * weight, sum(price)      if v2 is None:
                                                              s1[v1] = [1, v3]
                                                          else:
                                                              v2[0] = v4; v2[1] += v3      # v4 is the new weight, not 0

A state has one dictionary for each set of columns by which it is looked up.
"""

from __future__ import annotations

from dataclasses import dataclass

from evercurrent.delta.factor import scale_of
from evercurrent.delta.program import Finalize, Keyed
from evercurrent.delta.ranges import is_exact
from evercurrent.engine.live.borrowed_states import Loan
from evercurrent.engine.live.keyed import Give, find_failing, is_small, write_output
from evercurrent.engine.live.layout import Layout, Path
from evercurrent.engine.live.reads import Entry, same
from evercurrent.engine.live.runtime import index
from evercurrent.engine.live.scope import Scope
from evercurrent.term.emit.scope import key_of, tuple_of
from evercurrent.term.emit.writer import Namespace
from evercurrent.term.nodes import Cast, Column, Term


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

    def __init__(self, scope: Scope, namespace: Namespace, target: Target) -> None:
        self.scope, self.w, self.target, self.layout = scope, scope.writer, target, target.layout
        self.columns: list[str] = []
        self.dependents: list[str] = []
        self.home = ("", "", "")
        """Where the entry is in the home path, if that is an index: its key, its rest, and what was found under the key."""
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

    # --- the home path, where it is an index ---------------------------------------------------------------

    def find(self) -> str:
        """The local that holds the payload of the entry in the home path, or None."""
        home, name = self.layout.home, self.target.names[0]
        key, rest = map(self.scope.atom, self.split(home))
        held = self.scope.assign(f"{name}.get({key})")
        self.home = key, rest, held
        equal = f"{held}[0] == {rest}"
        if len(home.rest) == 1:
            equal = same(f"{held}[0]", rest, self.layout.fields[home.rest[0]])
        inline = f"{held}[1] if {equal} else None"
        if home.kind == "bucket":
            inline = f"{held}.get({rest}) if type({held}) is dict else {inline}"
        return self.scope.assign(f"None if {held} is None else {inline}")

    def put_home(self, payload: str) -> None:
        """Puts the payload of a new entry where `find` has found none."""
        name, (key, rest, held) = self.target.names[0], self.home
        if self.layout.home.kind == "single":
            self.w.line(f"{name}[{key}] = ({rest}, {payload})")
        else:
            self._put_under(name, key, rest, held, payload)

    def replace_home(self, payload: str) -> None:
        """Puts another payload where `find` has found one."""
        w, name, (key, rest, held) = self.w, self.target.names[0], self.home
        if self.layout.home.kind == "single":
            w.line(f"{name}[{key}] = ({rest}, {payload})")
            return
        with w.block(f"if type({held}) is dict:"):
            w.line(f"{held}[{rest}] = {payload}")
        with w.block("else:"):
            w.line(f"{name}[{key}] = ({rest}, {payload})")

    def drop_home(self) -> None:
        """Takes the entry that `find` has found out of the home path."""
        w, name, (key, rest, held) = self.w, self.target.names[0], self.home
        if self.layout.home.kind == "single":
            w.line(f"{name}.pop({key}, None)")
            return
        with w.block(f"if type({held}) is not dict:"):
            w.line(f"del {name}[{key}]")
        with w.block(f"elif len({held}) > 2:"):
            w.line(f"del {held}[{rest}]")
        with w.block("else:"):
            w.line(f"drop({name}, {key}, {rest})")

    # --- any path ------------------------------------------------------------------------------------------

    def put(self, name: str, path: Path, payload: str) -> None:
        key, rest = self.split(path)
        if path.order is not None:
            return self.w.line(
                f"{name}.put({key}, {self._value(name, path.order)}, {rest}, {payload}{self._record})"
            )
        self.journal_path(name, path)
        if path.kind == "single":
            self.w.line(f"{name}[{key}] = ({rest}, {payload})")
            return
        key = self.scope.atom(key)
        held = self.scope.assign(f"{name}.get({key})")
        self._put_under(name, key, rest, held, payload)

    def _put_under(self, name: str, key: str, rest: str, held: str, payload: str) -> None:
        """Puts an entry into the bucket that was found under its key, or is the first there; only its second entry costs a call."""
        with self.w.block(f"if {held} is None:"):
            self.w.line(f"{name}[{key}] = ({rest}, {payload})")
        with self.w.block(f"elif type({held}) is dict:"):
            self.w.line(f"{held}[{rest}] = {payload}")
        with self.w.block("else:"):
            self.w.line(f"put({name}, {key}, {rest}, {payload})")

    def bump(self, name: str, path: Path, count: str) -> None:
        """Adds to the weight, where that is the payload; mostly an entry is the first in its bucket."""
        self.journal_path(name, path)
        key, rest = self.split(path)
        if not count.isdigit():
            self.w.line(f"bump({name}, {key}, {rest}, {count})")
            return
        key = self.scope.atom(key)
        with self.w.block(f"if {key} in {name}:"):
            self.w.line(f"bump({name}, {key}, {rest}, {count})")
        with self.w.block("else:"):
            self.w.line(f"{name}[{key}] = ({rest}, {count})")

    def drop(self, name: str, path: Path) -> None:
        key, rest = self.split(path)
        if path.order is not None:
            return self.w.line(f"{name}.drop({key}, {self._value(name, path.order)}, {rest}{self._record})")
        self.journal_path(name, path)
        if path.kind == "single":
            self.w.line(f"{name}.pop({key}, None)")
        else:
            self.w.line(f"drop({name}, {key}, {rest})")

    @property
    def _record(self) -> str:
        return ", J" if self.target.journal else ""

    def _value(self, name: str, order: Term) -> str:
        """The source of the value by which an entry stands in order."""
        fields = [*self.columns, *self.dependents]
        if isinstance(order, Column):
            return fields[self.layout.position(order.name)]
        match order:
            case Cast(Column(column, nullable=False) as of, type) if is_exact(of.type) and is_exact(type):
                factor = 10 ** (scale_of(type) - scale_of(of.type))
                return f"{fields[self.layout.position(column)]} * {factor}"
        return f"{name}.value_of({tuple_of(fields)})"

    def put_others(self, payload: str) -> None:
        for name, path in zip(self.target.names[1:], self.layout.others, strict=True):
            self.put(name, path, payload)

    def drop_others(self) -> None:
        for name, path in zip(self.target.names[1:], self.layout.others, strict=True):
            self.drop(name, path)

    # --- sorted groups -------------------------------------------------------------------------------------

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


@dataclass(frozen=True, slots=True)
class Touches:
    """Writes what the relations that follow a state note of an entry before it changes, and read of it afterwards.

    `key` is the source of its key, `columns` those of its columns, `row` that of its whole row.
    """

    scope: Scope
    namespace: Namespace
    target: Target
    key: str
    columns: list[str]
    row: str

    def before(self, payload: str) -> None:
        """Notes the old output."""
        w = self.scope.writer
        for t in self.target.touches:
            if t.only_checked:
                continue
            if t.into is not None:
                self._write_output(t, 0, payload, trusted=True)
            elif not t.function:
                w.line(f"{t.table}[{self.key}] = None")
            elif t.entry:
                new = f"not {t.table}" if self.target.layout.permanent else f"{self.key} not in {t.table}"
                with w.block(f"if {new}:"):
                    w.line(f"{t.table}[{self.key}] = {self._call(t, payload)}")
            else:
                key = key_of(self.columns[i] for i in t.key)
                if t.by_row:
                    w.line(f"{t.function}({t.table}, {key}, {self.row})")
                    continue
                test = f" and {t.matters}({key}, {self.row})" if t.matters else ""
                with w.block(f"if {key} not in {t.table}{test}:"):
                    w.line(f"{t.table}[{key}] = {t.function}({key})")

    def after(self, payload: str) -> None:
        """Finds the new output, where only one entry can be touched."""
        for t in self.target.touches:
            if t.only_checked:
                self._check_output(t, self.scope.atom(payload))
            elif t.into is not None:
                self._write_output(t, 1, self.scope.atom(payload), trusted=False)

    def _call(self, t: Touch, payload: str) -> str:
        call = f"{t.function}({self.key}, {payload})"
        return call if self.target.layout.permanent else f"None if {payload} is None else {call}"

    def _write_output(self, t: Touch, side: int, payload: str, trusted: bool) -> None:
        """Puts the output of the entry into a local, which holds None before, or into several."""
        assert t.into is not None
        into = t.into[side]
        if t.relation is None or not is_small(t.relation):
            return self.scope.writer.line(f"{into} = {self._call(t, payload)}")

        def give(outputs: list[str], many: str) -> list[str]:
            if t.split is None:
                return [f"{into} = {tuple_of(outputs)}"]
            names = t.split.new() if side else t.split.old()
            return [f"{into} = True", *(f"{n} = {o}" for n, o in zip(names, outputs, strict=True))]

        self._write_in_line(t.relation, payload, give, trusted)

    def _check_output(self, t: Touch, payload: str) -> None:
        """Finds what may fail of the output of the entry, and forgets it."""
        assert t.relation is not None and isinstance(t.relation.function, Finalize)
        if not is_small(t.relation):
            return self.scope.writer.line(self._call(t, payload))
        failing = find_failing(t.relation.function, self.target.layout.state)
        self._write_in_line(t.relation, payload, lambda out, _: [out[i] for i in failing] or ["pass"], False)

    def _write_in_line(self, relation: Keyed, payload: str, give: Give, trusted: bool) -> None:
        w = self.scope.writer
        depth = w.depth
        if not self.target.layout.permanent:
            w.open(f"if {payload} is not None:")
        entry = Entry(self.target.layout, dict(enumerate(self.columns)), payload)
        write_output(w, self.namespace, self.scope.fresh, relation, entry, give, trusted)
        w.close(depth)
