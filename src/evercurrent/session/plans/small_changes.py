"""The change of one row, as one generated function for each table and operation: checks, stores, views, commit.

    small_change(session, "orders").insert((1, 7, 950))       True, and the transaction is committed; or False, and nothing happened

Law. What such a function does is what a transaction of that one change does. It returns False where it cannot tell, before anything
has changed or after everything is undone: a rule that is violated, an expression that fails. Then the transaction is run the long
way, which reports the reason. It is not used where somebody is called before the commit, where assertions, lazy or recomputed views,
views in OQL with subscribers or objects exist, where a file keeps the database, or where others write the table.

The functions come in three kinds with the same lines in the middle: `insert` takes a row as it is stored, under the lock,
`insert_in` commits a transaction that has come to the same, and `insert_given` takes the user's row, and takes the lock
(`small_calls`).

Interrupts. As in `Session.commit`: `committing` is set before the first store changes, the assignment of `status` decides, and what
remains is idempotent. Whoever takes the lock next finishes or undoes what was left (`Session.settle`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.rules import references_of
from evercurrent.data.zset import Row
from evercurrent.engine.live.core import Core
from evercurrent.engine.live.plan import ends_in_states, plan_for
from evercurrent.locking.insist import insist
from evercurrent.rows.store import Store
from evercurrent.session.plans.readiness import FITTING, is_admitted
from evercurrent.session.plans.small_calls import CALLS, call_names, update_columns
from evercurrent.session.plans.small_notices import notices_maker
from evercurrent.session.plans.small_stores import StoreWriter
from evercurrent.session.plans.small_transactions import SmallTransaction
from evercurrent.term.emit.load import load

if TYPE_CHECKING:
    from evercurrent.session.session import Session
    from evercurrent.session.transactions import Transaction

NOBODY: frozenset[str] = frozenset()

MOST_UPDATES = 32
"""Sets of columns for which updates have functions of their own; others share one."""

ARGUMENTS = {"insert": "new", "delete": "old", "update": "old, new"}


class SmallChanges:
    """The functions of one table. Each is generated when it is first asked for."""

    __slots__ = (
        "delete", "delete_given", "delete_in", "insert", "insert_given", "insert_in", "is_fitting", "names", "session",
        "store", "update", "update_given", "update_in", "updates",
    )  # fmt: skip

    insert: Callable[[Row], bool]
    delete: Callable[[Row], bool]
    update: Callable[[Row, Row], bool]
    insert_in: Callable[[Transaction, Row], bool]
    delete_in: Callable[[Transaction, Row], bool]
    update_in: Callable[[Transaction, Row, Row], bool]
    insert_given: Callable[[Any], bool]
    delete_given: Callable[[Any], bool]
    update_given: Callable[[Any, Mapping[str, Any]], bool]
    is_fitting: Callable[[], bool]
    """Whether the other functions were generated for the database as it is now."""

    def __init__(self, session: Session, store: Store) -> None:
        self.session, self.store = session, store
        self.names: dict[str, Any] = _names(session, store, session.maintenance.engine.core)
        self.updates = Updates(self)

    def __getattr__(self, name: str) -> Any:
        """Generates the function of this name, under the lock: generators of one program work one after another."""
        with self.session.lock:
            return self._generate(name)

    def _generate(self, name: str) -> Any:
        if name == "is_fitting":
            lines = ["def is_fitting():", f"    return {FITTING}"]
        elif name in ARGUMENTS:
            lines = [f"def {name}({ARGUMENTS[name]}):", *self._lines(name)]
        elif name.removesuffix("_in") in ARGUMENTS:
            operation = name.removesuffix("_in")
            lines = [f"def {name}(change, {ARGUMENTS[operation]}):", *self._lines(operation, begun=True)]
        elif name in CALLS:
            self.names |= call_names(self.session, self.store)
            operation = name.removesuffix("_given")
            lines = CALLS[name](self.store, self._lines(operation, found=operation != "insert"))
        else:
            raise AttributeError(name)
        load("\n".join(lines), self.names, f"small changes, {name}")
        setattr(self, name, self.names[name])
        return self.names[name]

    def generate_update(self, places: Sequence[int]) -> Callable[[Any, Mapping[str, Any]], bool]:
        """Generates `update_given` for the columns at these places, in this order. None of them is in a key."""
        with self.session.lock:
            self.names |= call_names(self.session, self.store)
            change = self._lines("update", found=True, changed=frozenset(places))
            load("\n".join(update_columns(self.store, places, change)), self.names, "small changes, update")
            made: Callable[[Any, Mapping[str, Any]], bool] = self.names["update_columns"]
            return made

    def _lines(
        self,
        operation: str,
        *,
        found: bool = False,
        begun: bool = False,
        changed: frozenset[int] | None = None,
    ) -> list[str]:
        """The lines between the values and the commit, indented.

        With `found`, they have just read the row from the store; with `begun`, the local `change` is the transaction. An update
        touches at most the columns at `changed`.
        """
        new = "new" if operation != "delete" else None
        old = "old" if operation != "insert" else None
        if any(self.names[f"parent{i}"] is None for i in range(len(self.store.references))):
            return ["    return False"]
        references = list(references_of(self.store.table, self.session.catalog.table))
        writer = StoreWriter(self.store, references, new, old, found, changed)
        return [f"    {line}" for line in _write(self.session, self.names, writer, begun)]


class Updates(dict[tuple[str, ...], Callable[[Any, Mapping[str, Any]], bool]]):
    """For the names of columns that a call sets, the function of such updates; it is generated when it is first asked for."""

    def __init__(self, small: SmallChanges) -> None:
        self.small = small

    def __missing__(self, names: tuple[str, ...]) -> Callable[[Any, Mapping[str, Any]], bool]:
        store = self.small.store
        known = {c.name: i for i, c in enumerate(store.table.columns)}
        keyed = {i for index in store.declared if index is not None for i in index.positions}
        places = [known[name] for name in names if name in known]
        if len(self) >= MOST_UPDATES or len(places) < len(names) or not keyed.isdisjoint(places):
            return self.small.update_given
        self[names] = made = self.small.generate_update(places)
        return made


def small_change(session: Session, table: str) -> SmallChanges | None:
    """The functions of a table, by its lower-cased name, where they may be used now. The lock is held."""
    if session.transaction is not None or session.committing is not None or not is_admitted(session, table):
        return None
    found = session.small.get(table)
    if found is not None and found.is_fitting():
        return found
    session.find_watched()
    if found is not None and found.is_fitting():
        return found
    store = session.stores.get(table)
    if not _is_possible(session, table, store):
        return None
    assert store is not None
    session.small[table] = made = SmallChanges(session, store)
    return made


def _is_possible(session: Session, table: str, store: Store | None) -> bool:
    """Whether there can be functions of a table, with these definitions and subscribers."""
    maintenance, watching = session.maintenance, session.find_watched()
    return (
        type(store) is Store
        and store.stored
        and not session.catalog.assertions
        and not maintenance.design.recomputed
        and not maintenance.lazy.inputs
        and not maintenance.engine.core.loans
        and maintenance.engine.core.columns is None
        and not (watching.names and watching.has_oql)
    )


def commit_small(session: Session, transaction: Transaction) -> bool:
    """Commits a transaction that comes to the change of one row, where that can be done the short way."""
    if transaction.objects is not None or transaction.cursors:
        return False
    changed = [(name, p.delta.weights) for name, p in transaction.pending.items() if p.delta.weights]
    if len(changed) != 1 or len(changed[0][1]) > 2:
        return False
    table, weights = changed[0]
    small = small_change(session, table)
    if small is None:
        return False
    rows = list(weights.items())
    row, weight = rows[0]
    if len(rows) == 1:
        if weight == 1:
            return small.insert_in(transaction, row)
        return weight == -1 and small.delete_in(transaction, row)
    other, back = rows[1]
    if weight == -1 and back == 1:
        return small.update_in(transaction, row, other)
    return weight == 1 and back == -1 and small.update_in(transaction, other, row)


def undo_failed(session: Session, change: SmallTransaction | Transaction, error: BaseException) -> bool:
    """Finishes or undoes a small change that was stopped. Returns False if it can be tried the long way; else raises."""
    insist(session.settle)
    if change.status != "committed" and isinstance(error, Exception) and not isinstance(error, MemoryError):
        return False
    raise error


# --- source ------------------------------------------------------------------------------------------------


def _names(session: Session, store: Store, core: Core) -> dict[str, Any]:
    """What the functions refer to, under names of ours."""
    views, watching = session.maintenance.design.program.views, session.find_watched()
    table = store.table.name
    watched = frozenset(views[name] for name in watching.relations if name in views) or NOBODY
    variant = core.transactions(watched)
    run, finish = variant.alone.get(table, (None, None))
    names: dict[str, Any] = {
        "session": session,
        "store": store,
        "core": core,
        "catalog": session.catalog,
        "watching": watching,
        "table": table.lower(),
        "variant": variant,
        "run": run,
        "finish": finish,
        "journal": core.journal,
        "SmallTransaction": SmallTransaction,
        "undo_failed": undo_failed,
        "choices": session.rules[table.lower()].conditions,
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
    for place, (_, reference) in enumerate(session.children.get(table.lower(), ())):
        names[f"child{place}"] = reference
    return names


def _write(session: Session, names: dict[str, Any], writer: StoreWriter, begun: bool) -> list[str]:
    """The lines of a change. They end in `return`, whatever happens."""
    store, new, old = writer.store, writer.new, writer.old
    # An update of a parent can break an assumption of the program: that is examined the long way.
    parents = {a.parent.lower() for a in session.maintenance.design.program.assumptions}
    if new and old and store.table.name.lower() in parents:
        return ["return False"]
    if new is not None:
        writer.check_row(new, bool(names["choices"]))
    writer.rows()
    for place in range(1, len(store.declared)):
        writer.unique(place)
    for place in range(len(store.references)):
        writer.reference(place)
    for place in range(len(store.indexes)):
        writer.index(place)
    if old is not None and new is None:  # an update changes no key, so whoever refers to the row still may
        for place, (_, reference) in enumerate(session.children.get(store.table.name.lower(), ())):
            writer.child(place, reference.place)
    changes = ", ".join([f"({old}, -1)"] * (old is not None) + [f"({new}, 1)"] * (new is not None))
    stores = "stores" if begun else "change"
    followed = names["make_notices"] is not None
    collected = followed and session.subscribers.collects_only
    return [
        *["if queue: return False"] * collected,
        *writer.checks,
        f"{stores} = SmallTransaction()",
        f"{stores}.entries = ({', '.join(writer.entries)},)",
        *["change.patches = [stores]"] * begun,
        "if core._transactions is not variant:",
        "    core.transactions(watched)",
        "session.committing = change",
        "try:",
        *[f"    {line}" for line in writer.writes],
        *["    out.clear()"] * followed,
        *[f"    {line}" for line in _update_views(names, new, old, changes, writer.changed)],
        *[f"    change.notices = make_notices(({changes},))"] * followed,
        "    change.number = session.number + 1",
        "    change.status = 'committed'",
        "    journal.clear()",
        "    core.phase = 'settled'",
        "    session.number = change.number",
        *["    for take, entry in change.notices: take(entry)"] * collected,
        *["    subscribers.announce(change.notices)"] * (followed and not collected),
        "    session.committing = None",
        "except BaseException as error:",
        "    return undo_failed(session, change, error)",
        *["subscribers.deliver()"] * (followed and not collected),
        "return True",
    ]


def _update_views(
    names: dict[str, Any], new: str | None, old: str | None, changes: str, changed: frozenset[int] | None
) -> list[str]:
    """Lines that update the views: by functions of one row where nobody watches, else as any transaction does."""
    core: Core = names["core"]
    table = names["store"].table.name
    if names["run"] is None:
        return []
    lines = ["journal.clear()", "core.phase = 'moving'"]
    if core.lone:
        lines += ["if any(core.lone): core.flush()"]
    both = new is not None and old is not None
    # Of a row that is updated, what follows is found once for both sides.
    if names["watched"] or (both and not ends_in_states(plan_for(core.program, core.fallible), table)):
        lines += [f"run(({changes},))", "finish()"]
    elif changed is not None and (change := core.update_change(table, changed)) is not None:
        name = "change_" + "_".join(map(str, sorted(changed)))
        names[name] = change
        lines.append(f"{name}({old}, {new})")
    else:
        if old is not None:
            names["remove"] = core.single_change(table, -1)
            lines.append(f"remove({old})")
        if new is not None:
            names["add"] = core.single_change(table, 1)
            lines.append(f"add({new})")
    return [*lines, "core.phase = 'ahead'"]
