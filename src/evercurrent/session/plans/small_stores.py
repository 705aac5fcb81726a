"""What a change of one row does to the store of its table, as lines of a function.

    insert into orders      if new[0] is None: return False                 a check
                            (rows, n, None)                                 what stood there: an entry of the journal
                            rows[n] = new                                   a write

Correct because it is what `rows.constraints` and `rows.patch` do for a delta of one row or two; what these lines do not know, they
refuse.
"""

from __future__ import annotations

from collections.abc import Sequence

from evercurrent.catalog.rules import MaxLength, NotNull, References, row_rules
from evercurrent.rows.store import Store

ROWS = (
    "rows = store.held if store.columns is None else store.rows",
    "if type(rows) is not dict: return False",
)


def key_source(positions: Sequence[int], row: str) -> str:
    """The key of a row, as source."""
    cells = ", ".join(f"{row}[{i}]" for i in positions)
    return cells if len(positions) == 1 else f"({cells})"


class StoreWriter:
    """Lines that change the store of a table, for a row that is inserted, deleted or both.

    `checks` change nothing, and return False if the change violates a rule; `entries` are the journal, and `writes` the change.
    With `found`, the old row has just been read under its key. `changed` are the positions at which the new row may differ from
    it, none of them in a key; None: any. What only concerns others need not be checked again.
    """

    def __init__(
        self,
        store: Store,
        references: Sequence[References],
        new: str | None,
        old: str | None,
        found: bool = False,
        changed: frozenset[int] | None = None,
    ) -> None:
        self.store, self.references, self.new, self.old = store, references, new, old
        self.found, self.changed = found, changed
        self.checks: list[str] = [] if found else [*ROWS]
        if new is not None and old is not None:
            self.checks.append(f"if {old} == {new}: return True")
        self.entries: list[str] = []
        self.writes: list[str] = []

    def check_row(self, row: str, has_conditions: bool) -> None:
        """Lines for what a row must satisfy on its own; with `has_conditions`, CHECKs too."""
        tests = []
        for rule in row_rules(self.store.table):
            match rule:
                case NotNull(_, i) | MaxLength(_, i, _) if not self._may_change(i):
                    pass
                case NotNull(_, i):
                    tests.append(f"{row}[{i}] is None")
                case MaxLength(_, i, length):
                    tests.append(f"{row}[{i}] is not None and len({row}[{i}]) > {length}")
                case _:
                    pass
        if tests:
            self.checks.append(f"if {' or '.join(tests)}: return False")
        if has_conditions:
            self.checks += ["for choose in choices:", f"    if choose([{row}]): return False"]

    def _may_change(self, *positions: int) -> bool:
        return self.changed is None or not self.changed.isdisjoint(positions)

    def rows(self) -> None:
        """Lines for the rows themselves: by the primary key, or counted."""
        if self.store.primary is None:
            self._count("rows", "c", self.old, self.new)
            return
        at = self.store.primary.positions
        if self.changed is not None:
            self.checks.append(f"n = {key_source(at, str(self.old))}")
        elif self.old is not None:
            self.checks.append(f"o = {key_source(at, self.old)}")
            if not self.found:
                self.checks.append(f"if rows.get(o) != {self.old}: return False")
        if self.new is not None and self.changed is None:
            self.checks.append(f"n = {key_source(at, self.new)}")
            free = "n in rows" if self.old is None else "n != o"
            self.checks.append(f"if {free}: return False")
        if self.new is None:
            self.entries.append(f"(rows, o, {self.old})")
            self.writes.append("del rows[o]")
        else:
            self.entries.append(f"(rows, n, {self.old})")
            self.writes.append(f"rows[n] = {self.new}")

    def unique(self, place: int) -> None:
        """Lines for a unique key; one with a NULL is none. An update that changes it goes the long way."""
        index = self.store.declared[place]
        assert index is not None
        u, known = f"u{place}", self.new or self.old
        self.checks += [
            f"{u}_rows = key{place}.held if store.columns is None else key{place}.rows",
            f"{u} = {key_source(index.positions, str(known))}",
        ]
        if self.old is not None and self.new is not None and self.changed is None:
            self.checks.append(f"if {key_source(index.positions, self.old)} != {u}: return False")
        is_null = f"None in {u}" if index.wide else f"{u} is None"
        if self.old is None:
            self.checks.append(f"if {u} in {u}_rows: return False")
        self.checks += [f"if type({u}_rows) is not dict: return False", f"{u}_null = {is_null}"]
        before = "None" if self.old is None else f"None if {u}_null else {self.old}"
        self.entries.append(f"({u}_rows, {u}, {before})")
        written = f"del {u}_rows[{u}]" if self.new is None else f"{u}_rows[{u}] = {self.new}"
        self.writes.append(f"if not {u}_null: {written}")

    def reference(self, place: int) -> None:
        """Lines for a foreign key: the parent exists, and the rows that refer to it are counted."""
        reference = self.store.references[place]
        at = self.references[place].columns
        if not self._may_change(*at):
            return
        r = f"r{place}"
        sides = []
        for side, row in (("o", self.old), ("n", self.new)):
            if row is None:
                continue
            name = f"{r}{side}"
            self.checks.append(f"{name} = {key_source(at, row)}")
            is_null = f"None in {name}" if reference.wide else f"{name} is None"
            if reference.wide:
                self.checks.append(f"if {is_null}: return False")
            if side == "n":
                parents = (
                    f"(parent{place}.held if parent{place}.store.columns is None else parent{place}.rows)"
                )
                self.checks.append(f"if {name} is not None and {name} not in {parents}: return False")
            sides.append(name)
        counts = f"{r}_counts"
        self.checks.append(
            f"{counts} = reference{place}.held if store.columns is None else reference{place}.counts"
        )
        for name in sides:
            self.checks.append(f"{name}_before = {counts}.get({name})")
            self.entries.append(f"({counts}, {name}, {name}_before)")
        lines = []
        if self.old is not None:
            o = f"{r}o"
            self.checks.append(f"if {o} is not None and not {o}_before: return False")
            lines.append(f"if {o}_before == 1: {counts}.pop({o}, None)")
            lines.append(f"elif {o} is not None: {counts}[{o}] = {o}_before - 1")
        if self.new is not None:
            n = f"{r}n"
            lines.append(f"if {n} is not None: {counts}[{n}] = ({n}_before or 0) + 1")
        if len(sides) == 2:
            self.writes.append(f"if {sides[0]} != {sides[1]}:")
            lines = [f"    {line}" for line in lines]
        self.writes += lines

    def _count(self, counts: str, name: str, old: str | None, new: str | None) -> None:
        """Lines for a table without a primary key: rows with their number."""
        if old is not None:
            self.checks += [f"{name}o = {counts}.get({old})", f"if not {name}o: return False"]
            self.entries.append(f"({counts}, {old}, {name}o)")
            self.writes += [
                f"if {name}o == 1: del {counts}[{old}]",
                f"else: {counts}[{old}] = {name}o - 1",
            ]
        if new is not None:
            self.checks.append(f"{name}n = {counts}.get({new})")
            self.entries.append(f"({counts}, {new}, {name}n)")
            self.writes.append(f"{counts}[{new}] = ({name}n or 0) + 1")

    def index(self, place: int) -> None:
        """Lines for a secondary index: a row is in it as long as it is there."""
        keyed = self.store.primary is not None
        if self.old is not None:
            self.entries.append(f"(index{place}.restore, {self.old}, True)")
            condition = "" if keyed else "if co == 1: "
            self.writes.append(f"{condition}index{place}.remove({self.old})")
        if self.new is not None:
            self.entries.append(f"(index{place}.restore, {self.new}, {'False' if keyed else 'bool(cn)'})")
            self.writes.append(f"index{place}.put({self.new})")

    def child(self, place: int, parent_place: int) -> None:
        """Lines for a reference of a child: no row of it refers to the deleted one."""
        index = self.store.declared[parent_place]
        assert index is not None and self.old is not None
        key = key_source(index.positions, self.old)
        counts = f"(child{place}.held if child{place}.store.columns is None else child{place}.counts)"
        self.checks.append(f"if {counts}.get({key}): return False")
