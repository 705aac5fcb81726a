"""The keys of a dictionary that is kept in its owner's row, read by queries that depend on the owner: MAPs are compared then."""

from __future__ import annotations

import pytest

import evercurrent as ec
from tests.oql import schemas

QUERIES = [
    "select struct(n: a.name, k: (select k from k in keys(a.notes))) from a in Animals",
    "select struct(n: a.name, k: (select k from k in keys(a.notes), b in Animals where b.name = k)) from a in Animals",
    "select a.name from a in Animals where exists k in keys(a.notes): k = a.name",
    "select a.name from a in Animals where count(select k from k in keys(a.notes) where k < a.name) > 0",
    "select struct(n: a.name, c: count(select distinct k from k in keys(a.notes))) from a in Animals",
    "select struct(n: a.name, m: max(select k from b in Animals, k in keys(a.notes) where b.legs > a.legs)) from a in Animals",
    "select a.name from a in Animals, b in Animals where for all k in keys(a.notes): k in keys(b.notes)",
    "select struct(n: a.name, f: first(select k from k in keys(a.notes) order by k)) from a in Animals",
    "select struct(n: a.name, r: (select k from k in keys(a.rival.notes), b in Animals where b.legs < a.legs)) from a in Animals",
    "select struct(n: a.name, r: (select k from b in Animals, k in keys(a.notes) where k < b.name limit 1)) from a in Animals",
]


@pytest.mark.parametrize("query", QUERIES)
def test_keys_of_a_dictionary_of_an_outer_select(query: str) -> None:
    """What is kept as an array gives what is kept as a relation gives."""
    seen = []
    for schema in (schemas.ZOO, schemas.ZOO_OF_ARRAYS):
        db = ec.connect()
        db.odl(schema.odl)
        db.oql(f"define v as {query}")
        cat = db.new("animal", name="cat", legs=4, notes={"a": 1, "cat": 2})
        db.new("animal", name="dog", legs=3, notes={}, rival=cat)
        hen = db.new("animal", name="hen", legs=2, notes={"hen": 1}, rival=cat)
        states = [repr(_sorted(db.view("v").value()))]
        cat.notes = {"hen": 7}
        hen.legs = 5
        states.append(repr(_sorted(db.view("v").value())))
        db.delete(cat)
        states.append(repr(_sorted(db.view("v").value())))
        assert bool(db.verify())
        seen.append(states)
    assert seen[0] == seen[1]


def _sorted(value: object) -> object:
    return sorted(map(repr, value)) if hasattr(value, "__iter__") else value
