"""The change of one row, as one generated function for each table and operation: checks, stores, views, commit.

    small_change(session, "orders").insert((1, 7, 950))       True, and the transaction is committed; or False, and nothing happened

Law. What such a function does is what a transaction of that one change does. It returns False where it cannot tell, before anything
has changed or after everything is undone: a rule that is violated, an expression that fails. Then the transaction is run the long
way, which reports the reason. It is not used where somebody is called before the commit, where assertions, lazy or recomputed views,
views in OQL with subscribers or objects exist, where a file keeps the database, or where others write the table.

Interrupts. As in `Session.commit`: `committing` is set before the first store changes, the assignment of `status` decides, and what
remains is idempotent. Whoever takes the lock next finishes or undoes what was left (`Session.settle`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.rules import MaxLength, NotNull, References, references_of, row_rules
from evercurrent.data.zset import Row
from evercurrent.engine.live.core import Core
from evercurrent.locking.insist import insist
from evercurrent.rows.store import Store
from evercurrent.session.plans.small_notices import notices_maker
from evercurrent.session.plans.small_transactions import SmallTransaction
from evercurrent.term.emit.load import load

if TYPE_CHECKING:
    from evercurrent.catalog.catalog import Catalog
    from evercurrent.session.session import Session

WATCHED = 128
"""One change out of this number takes the long way."""

NOBODY: frozenset[str] = frozenset()


class SmallChanges:
    """The functions of one table, and what they were generated for."""

    __slots__ = ("catalog", "core", "delete", "insert", "session", "store", "update", "watching")

    insert: Callable[[Row], bool]
    delete: Callable[[Row], bool]
    update: Callable[[Row, Row], bool]

    def __init__(self, session: Session, store: Store) -> None:
        self.session, self.store = session, store
        self.catalog: Catalog = session.catalog
        self.core: Core = session.maintenance.engine.core
        self.watching = session.find_watched()
        names: dict[str, Any] = _names(session, store, self.core)
        load(_source(session, store, names), names, "small changes")
        self.insert, self.delete, self.update = names["insert"], names["delete"], names["update"]


def small_change(session: Session, table: str) -> SmallChanges | None:
    """The functions of a table, by its lower-cased name, where they may be used now. The lock is held."""
    if (
        session.transaction is not None
        or session.committing is not None
        or session.subscribers.asks_before
        or session.space is not None
        or session.keeper is not None
        or table in session.cursors
    ):
        return None
    core = session.maintenance.engine.core
    if core.columns is not None:  # the functions change dictionaries, which are of no account then
        return None
    if session.number % WATCHED == WATCHED - 1:  # the long way watches how tables grow
        return None
    found = session.small.get(table)
    watching = session.find_watched()
    if (
        found is not None
        and found.core is core
        and found.catalog is session.catalog
        and found.watching is watching
    ):
        return found if found.store is session.stores.get(table) else None
    store = session.stores.get(table)
    maintenance = session.maintenance
    if (
        type(store) is not Store
        or not store.stored
        or session.catalog.assertions
        or maintenance.design.recomputed
        or maintenance.lazy.inputs
        or core.loans
        or (watching.names and watching.has_oql)
    ):
        return None
    session.small[table] = made = SmallChanges(session, store)
    return made


def undo_failed(session: Session, change: SmallTransaction, error: BaseException) -> bool:
    """Finishes or undoes a small change that was stopped. Returns False if it can be tried the long way; else raises."""
    insist(session.settle)
    if change.status != "committed":
        change.status = "failed"
        if isinstance(error, Exception) and not isinstance(error, MemoryError):
            return False
    raise error


# --- source ------------------------------------------------------------------------------------------------


def _names(session: Session, store: Store, core: Core) -> dict[str, Any]:
    """What the functions refer to, under names of ours."""
    views = session.maintenance.design.program.views
    relations = session.find_watched().relations
    watched = frozenset(views[name] for name in relations if name in views) if relations else NOBODY
    variant = core.transactions(watched)
    run, finish = variant.alone.get(store.table.name, (None, None))
    names: dict[str, Any] = {
        "session": session,
        "store": store,
        "core": core,
        "variant": variant,
        "run": run,
        "finish": finish,
        "journal": core.journal,
        "SmallTransaction": SmallTransaction,
        "undo_failed": undo_failed,
        "choices": session.rules[store.table.name.lower()].conditions,
        "watched": watched,
        "out": variant.out,
        "make_notices": notices_maker(session, store, variant),
        "subscribers": session.subscribers,
        "queue": session.subscribers.queue,
    }
    for place, index in enumerate(store.declared):
        if index is not None:
            names[f"key{place}"] = index
    for place, reference in enumerate(store.references):
        names[f"reference{place}"] = reference
        parent = session.stores[reference.parent]
        names[f"parent{place}"] = parent.declared[reference.place]
        if not parent.stored:
            names[f"parent{place}"] = None
    for place, secondary in enumerate(store.indexes):
        names[f"index{place}"] = secondary
    for place, (_, reference) in enumerate(session.children.get(store.table.name.lower(), ())):
        names[f"child{place}"] = reference
    return names


def _key(positions: Sequence[int], row: str) -> str:
    cells = ", ".join(f"{row}[{i}]" for i in positions)
    return cells if len(positions) == 1 else f"({cells})"


def _source(session: Session, store: Store, names: dict[str, Any]) -> str:
    children = session.children.get(store.table.name.lower(), ())
    # An update of a parent can break an assumption of the program: that is examined the long way.
    parents = {a.parent.lower() for a in session.maintenance.design.program.assumptions}
    changeable = store.table.name.lower() not in parents
    return "\n".join(
        [
            *_function(store, names, children, "insert", "new", None),
            *_function(store, names, children, "delete", None, "old"),
            *(
                _function(store, names, children, "update", "new", "old")
                if changeable
                else _write_refusal("update", "old, new")
            ),
        ]
    )


def _write_refusal(name: str, arguments: str) -> list[str]:
    return [f"def {name}({arguments}):", "    return False"]


def _function(
    store: Store, names: dict[str, Any], children: Sequence[Any], name: str, new: str | None, old: str | None
) -> list[str]:
    if any(names[f"parent{i}"] is None for i in range(len(store.references))):
        return _write_refusal(name, "old, new" if new and old else new or old or "")
    writer = _Writer(store, list(references_of(store.table, names["session"].catalog.table)), new, old)
    if new is not None:
        writer.check_row(new)
    writer.rows()
    for place in range(1, len(store.declared)):
        writer.unique(place)
    for place in range(len(store.references)):
        writer.reference(place)
    for place in range(len(store.indexes)):
        writer.index(place)
    if old is not None and new is None:  # an update changes no key, so whoever refers to the row still may
        for place, (_, reference) in enumerate(children):
            writer.child(place, reference.place)
    arguments = ", ".join(a for a in (old, new) if a is not None)
    changes = ", ".join([f"({old}, -1)"] * (old is not None) + [f"({new}, 1)"] * (new is not None))
    followed = names["make_notices"] is not None
    collected = followed and names["subscribers"].collects_only
    return [
        f"def {name}({arguments}):",
        *["    if queue: return False"] * collected,
        *[f"    {line}" for line in writer.checks],
        f"    change = SmallTransaction([{', '.join(writer.entries)}])",
        "    if core._transactions is not variant:",
        "        core.transactions(watched)",
        "    session.committing = change",
        "    try:",
        *[f"        {line}" for line in writer.writes],
        *["        out.clear()"] * followed,
        "        if run is not None:",
        "            journal.clear()",
        "            core.phase = 'moving'",
        "            if core.lone and any(core.lone):",
        "                core.flush()",
        f"            run(({changes},))",
        "            finish()",
        "            core.phase = 'ahead'",
        *[f"        change.notices = make_notices(({changes},))"] * followed,
        "        change.number = session.number + 1",
        "        change.status = 'committed'",
        "        journal.clear()",
        "        core.phase = 'settled'",
        "        session.number = change.number",
        *["        for take, entry in change.notices: take(entry)"] * collected,
        *["        subscribers.announce(change.notices)"] * (followed and not collected),
        "        session.committing = None",
        "    except BaseException as error:",
        "        return undo_failed(session, change, error)",
        *["    subscribers.deliver()"] * (followed and not collected),
        "    return True",
    ]


class _Writer:
    """Lines of one function: checks that change nothing, entries of the journal, and writes."""

    def __init__(
        self, store: Store, references: Sequence[References], new: str | None, old: str | None
    ) -> None:
        self.store, self.references, self.new, self.old = store, references, new, old
        self.checks: list[str] = ["rows = store.rows", "if type(rows) is not dict: return False"]
        self.entries: list[str] = []
        self.writes: list[str] = []

    def check_row(self, row: str) -> None:
        """Lines for what a row must satisfy on its own."""
        tests = []
        for rule in row_rules(self.store.table):
            match rule:
                case NotNull(_, i):
                    tests.append(f"{row}[{i}] is None")
                case MaxLength(_, i, length):
                    tests.append(f"{row}[{i}] is not None and len({row}[{i}]) > {length}")
                case _:
                    pass
        if tests:
            self.checks.append(f"if {' or '.join(tests)}: return False")
        self.checks += ["for choose in choices:", f"    if choose([{row}]): return False"]

    def rows(self) -> None:
        """Lines for the rows themselves: by the primary key, or counted."""
        if self.store.primary is None:
            self._count("rows", "c", self.old, self.new)
            return
        at = self.store.primary.positions
        if self.old is not None:
            self.checks += [f"o = {_key(at, self.old)}", f"if rows.get(o) != {self.old}: return False"]
        if self.new is not None:
            self.checks.append(f"n = {_key(at, self.new)}")
            free = "n in rows" if self.old is None else f"n != o or {self.old} == {self.new}"
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
        self.checks += [f"{u}_rows = key{place}.rows", f"{u} = {_key(index.positions, str(known))}"]
        if self.old is not None and self.new is not None:
            self.checks.append(f"if {_key(index.positions, self.old)} != {u}: return False")
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
        r = f"r{place}"
        sides = []
        for side, row in (("o", self.old), ("n", self.new)):
            if row is None:
                continue
            name = f"{r}{side}"
            self.checks.append(f"{name} = {_key(at, row)}")
            is_null = f"None in {name}" if reference.wide else f"{name} is None"
            if reference.wide:
                self.checks.append(f"if {is_null}: return False")
            if side == "n":
                self.checks.append(
                    f"if {name} is not None and {name} not in parent{place}.rows: return False"
                )
            sides.append(name)
        counts = f"reference{place}.counts"
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
        if old is not None and new is not None:
            self.checks.append(f"if {old} == {new}: return False")
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
        key = _key(index.positions, self.old)
        self.checks.append(f"if child{place}.counts.get({key}): return False")
