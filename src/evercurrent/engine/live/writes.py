"""Adding to a state, as source.

    k = (a, b)
    c = s3.get(k)
    if c is None:
        s3[k] = [1, amount]
    elif (n := c[0] + 1):
        c[0] = n
        c[1] += amount
    else:
        del s3[k]

Before an entry changes, its old output is remembered for the relations that are made of the state and that somebody
follows (*touch*); with a journal, what the change overwrites is written down.
"""

from __future__ import annotations

from collections.abc import Callable

from evercurrent.delta.program import Rule
from evercurrent.engine.live.amounts import Added, show_entry, show_sum, write_addition, write_amounts
from evercurrent.engine.live.paths import Paths, Target, Touches
from evercurrent.engine.live.scope import Scope
from evercurrent.term.emit.scope import key_of, tuple_of
from evercurrent.term.emit.writer import Namespace


class Addition:
    """One addition to a state, written at the end of a rule."""

    def __init__(self, scope: Scope, namespace: Namespace, target: Target, rule: Rule) -> None:
        self.scope, self.namespace, self.target, self.rule = scope, namespace, target, rule
        self.w = scope.writer
        self.layout = target.layout
        self.paths = Paths(scope, namespace, target)
        self.name = target.names[0]
        namespace.define("WHOLE", slice(None))

    @property
    def columns(self) -> list[str]:
        return self.paths.columns

    @columns.setter
    def columns(self, sources: list[str]) -> None:
        self.paths.columns = sources

    @property
    def dependents(self) -> list[str]:
        return self.paths.dependents

    def write(self, row: str | None = None) -> None:
        """`row` is the local that holds the row of the delta."""
        scope, rule = self.scope, self.rule
        self.row = row
        if row is None or rule.columns != rule.binds or self._columns_again() or len(rule.columns) == 1:
            self.columns = scope.values(rule.columns)
        else:
            self.columns = [f"{row}[{i}]" for i in range(len(rule.columns))]
        self.count = scope.value(rule.count)
        if self.layout.payload in ("sums", "cell") or not self.constant:
            self.count = scope.atom(self.count)
        if self.layout.home.kind != "flat":
            self.columns = [scope.atom(c) for c in self.columns]
            self._read_dependents()
            match self.layout.payload:
                case "cell":
                    self._write_cell()
                case "sums":
                    self._write_sums()
                case _:
                    self._write_to_index()
            return
        self.columns = [scope.atom(c) for c in self.columns] if self._columns_again() else self.columns
        self.key = key_of(self.columns)
        if self.row is not None and len(self.columns) > 1 and rule.columns == rule.binds:
            self.key = self.row  # the row itself is the key
        elif len(self.columns) > 1 or not self.key.isidentifier():
            self.key = scope.assign(self.key) if self.columns else "()"
        match self.layout.payload:
            case "count":
                self._write_count()
            case "cell":
                self._write_cell()
            case "sums":
                self._write_sums()
            case _:
                self._write_unique()

    # --- the count -----------------------------------------------------------------------------------------

    @property
    def constant(self) -> int | None:
        digits = self.count.strip("()")
        return int(digits) if digits.lstrip("-").isdigit() else None

    def _columns_again(self) -> bool:
        touches = self.target.touches
        return bool(
            self.layout.others
            or self.target.groups
            or any(not t.entry or t.split is not None for t in touches)
        )

    def _read_dependents(self) -> list[str]:
        """The sources of the dependents, before any branch; as locals if indexes need them too."""
        sources = self.scope.values(self.rule.dependents)
        if any(p.order is not None or p.key[-1] >= len(self.columns) for p in self.layout.others):
            sources = [self.scope.atom(s) for s in sources]
        self.paths.dependents = sources
        return sources

    # --- payloads ------------------------------------------------------------------------------------------

    def _write_count(self) -> None:
        w, name, key = self.w, self.name, self.key
        old = None
        if self.constant == -1 and not (self.target.touches or self.target.groups or self.target.journal):
            # Mostly the last of its kind goes: it is found once, not twice.
            left = self.scope.assign(f"{name}.pop({key}, 0) - 1")
            with w.block(f"if {left}:"):
                w.line(f"{name}[{key}] = {left}")
            return
        if self.target.touches or self.target.groups or self.target.journal:
            old = self.scope.assign(f"{name}.get({key})")
            self._touch(old)
            total = f"({old} or 0) + {self.count}"
        else:
            total = f"{name}.get({key}, 0) + {self.count}"
        if self.target.journal:
            w.line(f"journal(({name}, {key}, {old}))")
        new = self.scope.assign(show_sum(total))
        with w.block(f"if {new}:"):
            w.line(f"{name}[{key}] = {new}")
            if self.target.groups:
                with w.block(f"if {old} is None:"):
                    self.paths.enter_groups("()", new)
                if any(weighed for _, _, weighed in self.target.groups):
                    with w.block("else:"):
                        self.paths.weigh_groups("()", new, str(old))
        with w.block("else:"):
            w.line(f"{name}.pop({key}, None)")
            self.paths.leave_groups("()", f"{old} or 0")
        self._after(f"{new} or None")

    def _write_unique(self) -> None:
        w, name, key = self.w, self.name, self.key
        dependents = self._read_dependents()
        match self.layout.payload:
            case "true":
                payload = "True"
            case "value":
                payload = dependents[0]
            case _:
                payload = tuple_of(dependents)
        if self.target.touches:
            self._touch(self.scope.assign(f"{name}.get({key})"))
        if self.target.journal:
            w.line(f"journal(({name}, {key}, {name}.get({key})))")

        def come() -> None:
            held = self.scope.atom(payload) if self.layout.others and payload != "True" else payload
            w.line(f"{name}[{key}] = {held}")
            self.paths.put_others(held)
            self.paths.enter_groups(tuple_of(dependents))

        def go() -> None:
            w.line(f"{name}.pop({key}, None)")
            self.paths.drop_others()
            self.paths.leave_groups(tuple_of(dependents))

        self._by_sign(come, go)
        self._after(f"{name}.get({key})")

    def _by_sign(self, come: Callable[[], None], go: Callable[[], None]) -> None:
        constant = self.constant
        if constant is not None:
            (come if constant > 0 else go)()
            return
        with self.w.block(f"if {self.count} > 0:"):
            come()
        with self.w.block("else:"):
            go()

    def _write_cell(self) -> None:
        w = self.w
        cell = f"{self.name}_cell" if self.layout.permanent else self._find_cell()
        self._touch(cell)
        # What both branches use is computed before them.
        self._read_dependents()
        amounts = self._amounts()
        unique, permanent = self.layout.state.unique, self.layout.permanent
        constant = self.constant
        if constant == 0 or permanent:
            if not permanent:
                w.open(f"if {cell} is not None:")
            self._remember_cell(cell)
            if constant != 0 and not unique and self.layout.weighed:
                w.line(f"{cell}[0] += {self.count}")
            write_amounts(w, amounts, cell, self.target.journal)
            if not permanent:
                w.close(w.depth - 1)
            self._after(cell)
            return
        if unique and constant is None:
            with w.block(f"if {self.count} > 0:"):
                self._new_cell(cell, amounts)
            with w.block(f"elif {cell} is not None:"):
                self._remove_cell(cell)
        elif unique and constant is not None:
            if constant > 0:
                self._new_cell(cell, amounts)
            else:
                self._remove_cell(cell)
        else:
            with w.block(f"if {cell} is None:"):
                self._new_cell(cell, amounts)
            total = self.scope.fresh()
            with w.block("else:"):
                w.line(f"{total} = {show_sum(f'{cell}[0] + {self.count}')}")
                with w.block(f"if {total}:"):
                    self._remember_cell(cell)
                    self.paths.weigh_groups(tuple_of(self._cell_dependents(cell)), total, f"{cell}[0]")
                    w.line(f"{cell}[0] = {total}")
                    write_amounts(w, amounts, cell, self.target.journal)
                with w.block("else:"):
                    self._remove_cell(cell)
        self._after(cell)

    def _find_cell(self) -> str:
        """The local that holds the cell, or None."""
        if self.layout.home.kind == "flat":
            return self.scope.assign(f"{self.name}.get({self.key})")
        return self.paths.find()

    @property
    def _compared(self) -> bool:
        """Whether the cell is read once more after the change: its local must then hold what there is now."""
        return any(t.into is not None or t.only_checked for t in self.target.touches)

    def _remember_cell(self, cell: str) -> None:
        if self.target.journal:
            self.w.line(f"journal(({cell}, WHOLE, {cell}[:]))")

    def _new_cell(self, cell: str, amounts: list[Added]) -> None:
        w = self.w
        dependents = self.dependents
        parts = [] if self.layout.state.unique else [self.count]
        parts += [*dependents, *(a.initial for a in amounts)]
        made = f"[{', '.join(parts)}]"
        if self.layout.home.kind == "flat":
            if self.target.journal:
                w.line(f"journal(({self.name}, {self.key}, None))")
            again = any(a.later for a in amounts) or bool(self.layout.others) or self._compared
            w.line(f"{f'{cell} = ' if again else ''}{self.name}[{self.key}] = {made}")
        else:
            w.line(f"{cell} = {made}")
            self.paths.journal_path(self.name, self.layout.home)
            self.paths.put_home(cell)
        write_amounts(w, [a for a in amounts if a.later], cell, journal=False)
        self.paths.put_others(cell)
        self.paths.enter_groups(tuple_of(dependents), "1" if self.layout.state.unique else self.count)

    def _remove_cell(self, cell: str) -> None:
        w = self.w
        if self.layout.home.kind == "flat":
            if self.target.journal:
                w.line(f"journal(({self.name}, {self.key}, {cell}))")
            w.line(f"{self.name}.pop({self.key}, None)")
        else:
            self.paths.journal_path(self.name, self.layout.home)
            self.paths.drop_home()
        self.paths.drop_others()
        self.paths.leave_groups(
            tuple_of(self._cell_dependents(cell)), "1" if self.layout.state.unique else f"{cell}[0]"
        )
        if self._compared:
            w.line(f"{cell} = None")

    def _cell_dependents(self, cell: str) -> list[str]:
        first = 0 if self.layout.state.unique else 1
        return [f"{cell}[{first + i}]" for i in range(len(self.layout.state.dependents))]

    def _amounts(self) -> list[Added]:
        slots = self.layout.slots()
        pairs = zip(self.layout.state.accumulators, self.rule.amounts, strict=True)
        return [write_addition(self.scope, self.namespace, slots[a.name], a, amount) for a, amount in pairs]

    def _write_sums(self) -> None:
        """The entry is a tuple, and another takes its place."""
        w, flat = self.w, self.layout.home.kind == "flat"
        entry = self._find_cell()
        dependents, amounts = self._read_dependents(), self._amounts()
        if not flat:
            self.paths.journal_path(self.name, self.layout.home)
        elif self.target.journal:
            w.line(f"journal(({self.name}, {self.key}, {entry}))")
        place = f"{self.name}[{self.key}]" if flat else entry
        depth = w.depth
        if self.constant == 0:
            w.open(f"if {entry} is not None:")
        else:
            with w.block(f"if {entry} is None:"):
                w.line(f"{place} = {show_entry([self.count, *dependents], amounts, None)}")
                if not flat:
                    self.paths.put_home(entry)
            w.open("else:")
        total = self.scope.assign(show_sum(f"{entry}[0] + {self.count}"))
        with w.block(f"if {total}:"):
            w.line(f"{place} = {show_entry([total, *self._cell_dependents(entry)], amounts, entry)}")
            if not flat:
                self.paths.replace_home(entry)
        with w.block("else:"):
            if flat:
                w.line(f"{self.name}.pop({self.key}, None)")
            else:
                self.paths.drop_home()
        w.close(depth)

    # --- indexes and groups --------------------------------------------------------------------------------

    def _write_to_index(self) -> None:
        """The home path is an index itself, and payloads are replaced, not changed."""
        dependents = self.dependents
        if self.layout.payload == "count":
            for name, path in zip(self.target.names, self.layout.paths, strict=True):
                self.paths.bump(name, path, self.count)
            return
        match self.layout.payload:
            case "true":
                payload = "True"
            case "value":
                payload = self.scope.atom(dependents[0])
            case _:
                payload = self.scope.atom(tuple_of(dependents))

        def come() -> None:
            self.paths.put(self.name, self.layout.home, payload)
            self.paths.put_others(payload)

        def go() -> None:
            self.paths.drop(self.name, self.layout.home)
            self.paths.drop_others()

        self._by_sign(come, go)

    # --- touching ------------------------------------------------------------------------------------------

    def _touch(self, payload: str) -> None:
        """Before the change: remember the old output."""
        if self.target.touches:
            self._touches().before(payload)

    def _after(self, payload: str) -> None:
        """After the change, where only one entry can be touched: find the new output."""
        if self.target.touches:
            self._touches().after(payload)

    def _touches(self) -> Touches:
        row = tuple_of(self.columns)
        if self.layout.state.dependents and any(not t.entry for t in self.target.touches):
            row = f"{row} + {tuple_of(self._read_dependents())}"
        columns = self.columns
        if self.key == self.row:
            columns = [f"{self.row}[{i}]" for i in range(len(columns))]
        return Touches(self.scope, self.namespace, self.target, self.key, columns, row)
