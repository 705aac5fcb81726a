"""Which changes of a batch are set aside, by constraints and by trial. No Spark runs here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evercurrent.catalog.catalog import Catalog
from evercurrent.data.zset import Row, ZSet
from evercurrent.definitions.reading import add_definition
from evercurrent.errors import ConstraintError
from evercurrent.frontend.sql.parse import parse_script
from evercurrent.rows.constraints import children_of, validate
from evercurrent.rows.row_rules import RowRules
from evercurrent.rows.store import Store
from evercurrent.warehouse.changes import assertion_trials
from evercurrent.warehouse.changes.assertion_trials import TooMany, Violations, to_set_aside, units_of
from evercurrent.warehouse.changes.constraint_split import Aside, split_by_constraints

TABLES = """
CREATE TABLE p (id INT PRIMARY KEY, code INT UNIQUE);
CREATE TABLE c (id INT PRIMARY KEY, p INT REFERENCES p (id), n INT NOT NULL, CHECK (n >= 0));
CREATE TABLE free (a INT, b STRING)
"""
CATALOG = Catalog()
for text in parse_script(TABLES):
    CATALOG = add_definition(CATALOG, {"kind": "table", "name": "", "text": text})
RULES = {key: RowRules(t) for key, t in CATALOG.tables.items()}


def stores(**rows: list[Row]) -> dict[str, Store]:
    """Stores that hold these rows."""
    made = {key: Store(t, CATALOG.table) for key, t in CATALOG.tables.items()}
    deltas = {key: ZSet.of(given_rows) for key, given_rows in rows.items() if given_rows}
    for patch in validate(made, RULES, deltas, children_of(made)):
        patch.apply()
    return made


def told(asides: list[Aside]) -> set[tuple[str, Any, int, str]]:
    return {(a.table, a.row[0], a.weight, a.constraint) for a in asides}


def test_units_are_whole_updates() -> None:
    held = stores(p=[(1, 10), (2, 20)])
    moved = ZSet([((1, 10), -1), ((1, 20), 1), ((3, 30), 1)])
    left, gone = split_by_constraints(held, RULES, {"p": moved})
    assert left == {"p": ZSet([((3, 30), 1)])}
    assert told(gone) == {("p", 1, -1, "p_unique_code"), ("p", 1, 1, "p_unique_code")}


def test_keys_may_pass_from_row_to_row() -> None:
    held = stores(p=[(1, 10), (2, 20)])
    swapped = ZSet([((1, 10), -1), ((2, 20), -1), ((1, 20), 1), ((2, 10), 1)])
    assert split_by_constraints(held, RULES, {"p": swapped}) == ({"p": swapped}, [])


def test_what_is_set_aside_takes_its_children_along() -> None:
    held = stores(p=[(1, 10)])
    deltas = {
        "p": ZSet([((2, 10), 1), ((3, None), 1)]),
        "c": ZSet([((5, 2, 0), 1), ((6, 3, 0), 1), ((7, None, 0), 1), ((8, 1, -1), 1), ((9, 1, None), 1)]),
    }
    left, gone = split_by_constraints(held, RULES, deltas)
    assert left == {"p": ZSet([((3, None), 1)]), "c": ZSet([((6, 3, 0), 1), ((7, None, 0), 1)])}
    assert told(gone) == {
        ("p", 2, 1, "p_unique_code"),
        ("c", 5, 1, "c_fk_1"),
        ("c", 8, 1, "c_check_1"),
        ("c", 9, 1, "n NOT NULL"),
    }


def test_rows_without_a_key_are_judged_one_by_one() -> None:
    held = stores(free=[(1, "a"), (1, "a")])
    left, gone = split_by_constraints(
        held, RULES, {"free": ZSet([((1, "a"), -2), ((2, "b"), -1), ((3, "c"), 2)])}
    )
    assert left == {"free": ZSet([((1, "a"), -2), ((3, "c"), 2)])}
    assert told(gone) == {("free", 2, -1, "existing row")}


small = st.integers(0, 3)
parents = st.lists(
    st.tuples(small, st.none() | small), max_size=4, unique_by=(lambda r: r[0], lambda r: r[1])
)
weights = st.sampled_from([-1, 1, 1])


@given(
    parents,
    st.lists(st.tuples(st.tuples(small, st.none() | small), weights), max_size=6),
    st.lists(
        st.tuples(st.tuples(small, st.none() | small, st.none() | st.integers(-1, 1)), weights), max_size=6
    ),
)
def test_what_is_left_may_stand_and_nothing_is_lost(
    held: list[Row], p: list[tuple[Row, int]], c: list[tuple[Row, int]]
) -> None:
    base = stores(p=held, c=[(9, held[0][0], 1)] if held else [])
    deltas = {name: delta for name, delta in (("p", ZSet(p)), ("c", ZSet(c))) if delta}
    left, gone = split_by_constraints(base, RULES, deltas)
    for name, delta in left.items():
        for row, w in delta.items():
            assert w > 0 or base[name].count(row) + w >= 0
    validate(base, RULES, left, children_of(base))
    whole = {name: left.get(name, ZSet()) for name in deltas}
    for a in gone:
        whole[a.table] = whole[a.table] + ZSet([(a.row, a.weight)])
    assert whole == deltas
    possible = all(base[n].count(r) + w >= 0 for n, d in deltas.items() for r, w in d.items() if w < 0)
    try:
        validate(base, RULES, deltas, children_of(base))
    except ConstraintError:
        possible = False
    assert possible == (not gone)


# --- trials ------------------------------------------------------------------------------------------------


def rows_in(deltas: Mapping[str, ZSet]) -> set[Row]:
    return {row for delta in deltas.values() for row, _ in delta.items()}


def test_a_few_are_found_among_many() -> None:
    bad = {(17, "x"), (400, "x"), (401, "x")}
    units = units_of(stores(), {"free": ZSet(((i, "x"), 1) for i in range(1000))})
    seen: list[int] = []

    def violations(d: Mapping[str, ZSet]) -> frozenset[object]:
        seen.append(len(d))
        return frozenset(bad & rows_in(d))

    assert {entries[0][0] for _, entries in to_set_aside(units, {}, violations)} == bad
    assert len(seen) < 100


def unpaired(pairs: Mapping[Row, Row]) -> Violations:
    def violations(d: Mapping[str, ZSet]) -> frozenset[object]:
        found = rows_in(d)
        return frozenset(a for a, b in pairs.items() if (a in found) != (b in found))

    return violations


def test_what_stands_only_together_is_taken_together() -> None:
    pairs: dict[Row, Row] = {(i, None): (i + 50, None) for i in range(10)}
    there = [(row, 1) for row in (*pairs, *pairs.values()) if row not in ((53, None), (7, None))]
    refused = to_set_aside(units_of(stores(), {"free": ZSet(there)}), {}, unpaired(pairs))
    assert {entries[0][0] for _, entries in refused} == {(3, None), (57, None)}


def test_the_first_of_two_is_taken() -> None:
    units = units_of(stores(), {"free": ZSet([((2, "b"), 1), ((1, "a"), 1)])})
    refused = to_set_aside(units, {}, lambda d: frozenset(["both"]) if len(rows_in(d)) > 1 else frozenset())
    assert [entries[0][0] for _, entries in refused] == [(2, "b")]


def test_it_is_given_up_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assertion_trials, "TRIALS", 10)
    units = units_of(stores(), {"free": ZSet(((i, None), 1) for i in range(100))})
    with pytest.raises(TooMany):
        to_set_aside(units, {}, lambda d: frozenset(rows_in(d)))
