"""A user's call that changes one row, as lines of one function: from the values to the commit.

    small.insert_given((1, 7, "9.50"))            True: it is done; False: whoever called must go the long way
    small.delete_given(1), small.update_given({"id": 1}, {"total": 3})
    get_given(1)                                  (1, 7, Decimal("9.50")), or False

The values are read first, which may call functions of the user's. Then the lock is taken if it is free (`locking.calls`), and if the
database is settled and as it was when the function was generated (`readiness`), the lines of the change follow
(`small_changes`). Whatever is unusual is left to the long way: values of the wrong type, other kinds of rows and keys.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from evercurrent.data.types import Integer, String
from evercurrent.data.values import reading_parts
from evercurrent.locking import calls
from evercurrent.rows.locate import key_of
from evercurrent.rows.store import Store
from evercurrent.session.plans.readiness import READY, SETTLED
from evercurrent.session.plans.small_stores import ROWS
from evercurrent.term.emit.load import load

if TYPE_CHECKING:
    from evercurrent.session.session import Session

KEYS = frozenset((int, str, dict, tuple))
"""Classes of keys by which a single row is found the short way."""

Lines = list[str]


def call_names(session: Session, store: Store) -> dict[str, Any]:
    """What the functions of a table refer to, beside what the change itself does."""
    table = store.table
    parts, names = reading_parts([c.type for c in table.columns])
    for i, part in enumerate(parts):
        load(f"def read{i}(v{i}):\n    return {part}\n", names, "one value")
    columns = {c.name: (i, names[f"read{i}"]) for i, c in enumerate(table.columns)}
    key = store.primary.positions[0] if store.primary is not None else 0
    reader = session.readers[table.name.lower()]
    return names | {
        **calls.NAMES,
        "lock": session._lock,
        "columns": columns,
        "key_name": table.columns[key].name,
        "key_of": key_of,
        "reader": reader,
        "fill": reader.from_mapping,
        "write": reader.write,
        "KEYS": KEYS,
    }


def read_lines(store: Store) -> Lines:
    """Lines that read the row in the local `value` into the local `new`; else the function returns False."""
    parts, _ = reading_parts([c.type for c in store.table.columns])
    return [
        "    kind = type(value)",
        "    if kind is not tuple and kind is not dict: return False",
        "    try:",
        "        if kind is dict: value = fill(value)",
        f"        ({' '.join(f'v{i},' for i in range(len(parts)))}) = value",
        f"        new = ({' '.join(f'{part},' for part in parts)})",
        "    except Exception:",
        "        return False",
    ]


def _insert(store: Store, change: Lines) -> Lines:
    return ["def insert_given(value):", *read_lines(store), *_lock(change)]


def _delete(store: Store, change: Lines) -> Lines:
    return [
        "def delete_given(which):",
        "    if type(which) not in KEYS: return False",
        *_lock([*_find(store), *change]),
    ]


def _update(store: Store, change: Lines) -> Lines:
    return [
        "def update_given(which, changes):",
        "    if type(which) not in KEYS: return False",
        "    try:",
        "        given = []",
        "        for name, value in changes.items():",
        "            i, read = columns[name]",
        "            given.append((i, read(value)))",
        "    except Exception:",
        "        return False",
        *_lock(
            [
                *_find(store),
                "    new = list(old)",
                "    for i, value in given: new[i] = value",
                "    new = tuple(new)",
                *change,
            ]
        ),
    ]


CALLS: dict[str, Callable[[Store, Lines], Lines]] = {
    "insert_given": _insert,
    "delete_given": _delete,
    "update_given": _update,
}
"""From the store and the lines of the change to the whole function."""


def update_columns(store: Store, places: Sequence[int], change: Lines) -> Lines:
    """The function of an update that sets the columns at these places, in this order."""
    parts, _ = reading_parts([c.type for c in store.table.columns])
    cells = [f"v{i}" if i in places else f"old[{i}]" for i in range(len(parts))]
    return [
        "def update_columns(which, changes):",
        "    try:",
        f"        ({' '.join(f'v{i},' for i in places)}) = changes.values()",
        *(f"        v{i} = {parts[i]}" for i in places),
        "    except Exception:",
        "        return False",
        *_lock(
            [
                *_find(store),
                f"    new = ({' '.join(f'{cell},' for cell in cells)})",
                *change,
            ]
        ),
    ]


def get_lines(store: Store) -> Lines:
    """The function that returns the row with a key, as users see it, or None."""
    current = f"{SETTLED} and session.catalog is catalog and session.stores.get(table) is store"
    return [
        "def call(which):",
        "    if type(which) not in KEYS: return False",
        *_lock([*_find(store, "return None"), "    return write(old)"], current),
    ]


def _lock(lines: Lines, condition: str = READY) -> Lines:
    """Lines under the lock, where the condition holds of the database; else the function returns False."""
    return [
        *_indent(calls.BEGIN),
        "    try:",
        *_indent(calls.TAKE, 8),
        f"        if not ({condition}): return False",
        *_indent(lines),
        "    finally:",
        *_indent(calls.RELEASE, 8),
    ]


def _indent(lines: Sequence[str], by: int = 4) -> Lines:
    return [" " * by + line for line in lines]


def _find(store: Store, missing: str = "return False") -> Lines:
    """Lines that find the row that is meant by a key: the local `old`; `missing` is what is done if there is none."""
    usual = None
    if store.primary is not None and len(store.primary.positions) == 1:
        match store.table.columns[store.primary.positions[0]].type:
            case Integer():
                usual = "int"
            case String():
                usual = "str"
    general = [
        "try: meant = key_of(store, reader, which)",
        "except Exception: return False",
        "if meant is None: return False",
        "old = meant[0].rows.get(meant[1])",
    ]
    found = [*ROWS]
    if usual is None:
        found += general
    else:
        found += [
            "key = which",
            "if type(key) is dict and len(key) == 1: key = key.get(key_name)",
            f"if type(key) is {usual}:",
            "    old = rows.get(key)",
            "else:",
            *_indent(general),
        ]
    return _indent([*found, f"if old is None: {missing}"])
