"""Where the properties of objects are kept: a place for every cardinality, and tables that fit the places."""

from __future__ import annotations

import pytest

from evercurrent.catalog.classes import Schema
from evercurrent.catalog.extents import OWNER, Apart, Inside, Inverse, Single, place_of, tables_of
from evercurrent.data.types import Array, Reference
from evercurrent.frontend.odl.resolve import classes_of

SCHEMA = classes_of(
    """
    class a (extent As key name) {
        attribute string name; attribute b friend; attribute set<b> some; attribute list<b> line;
        attribute dictionary<string, long> scores; attribute bag<long> marks kept as array;
        relationship b one inverse b::uno; relationship b owner inverse b::things; relationship b shelf inverse b::books;
        relationship set<b> many inverse b::multi; relationship list<b> ranked inverse b::fans;
        relationship list<b> left inverse b::right;
    };
    class b (extent Bs) {
        relationship a uno inverse a::one; relationship set<a> things inverse a::owner; relationship list<a> books inverse a::shelf;
        relationship set<a> multi inverse a::many; relationship set<a> fans inverse a::ranked; relationship list<a> right inverse a::left;
    };
    class c extends a (extent Cs) { attribute long more; };
    class d extends b {};
    """,
    Schema(),
)


@pytest.mark.parametrize(
    ("name", "attribute", "kind", "table"),
    [
        ("a", "name", Single, "As"),
        ("c", "name", Single, "Cs"),
        ("a", "friend", Single, "As"),
        ("a", "some", Apart, "As_some"),
        ("c", "some", Apart, "As_some"),
        ("a", "marks", Inside, "As"),
        ("c", "marks", Inside, "Cs"),
        ("a", "one", Single, "As"),
        ("b", "uno", Single, "Bs"),
        ("b", "things", Inverse, "As"),
        ("d", "things", Inverse, "As"),
        ("b", "books", Apart, "Bs_books"),
        ("a", "many", Apart, "As_many"),
        ("b", "multi", Apart, "As_many"),
        ("a", "ranked", Apart, "As_ranked"),
        ("b", "fans", Apart, "As_ranked"),
        ("a", "left", Apart, "As_left"),
        ("b", "right", Apart, "Bs_right"),
    ],
)
def test_places(name: str, attribute: str, kind: type, table: str) -> None:
    place = place_of(SCHEMA, name, attribute)
    assert isinstance(place, kind) and place.table == table


def test_the_other_end_reads_the_table_the_other_way_round() -> None:
    kept, other = place_of(SCHEMA, "a", "many"), place_of(SCHEMA, "b", "multi")
    assert isinstance(kept, Apart) and isinstance(other, Apart)
    assert (kept.owner, kept.value) == (other.value, other.owner) == (OWNER, "element")


def test_tables() -> None:
    tables = {t.name: t for name in SCHEMA.classes for t in tables_of(SCHEMA, name)}
    assert list(tables) == [
        "As", "As_some", "As_line", "As_scores", "As_many", "As_ranked", "As_left", "Bs", "Bs_books", "Bs_right", "Cs", "d",
    ]  # fmt: skip
    assert [c.name for c in tables["As"].columns] == [
        "oid",
        "name",
        "friend",
        "marks",
        "one",
        "owner",
        "shelf",
    ]
    assert [c.name for c in tables["Cs"].columns][-1] == "more"
    assert [c.name for c in tables["As_line"].columns] == ["owner", "position", "element"]
    assert [c.name for c in tables["As_scores"].columns] == ["owner", "key", "element"]
    assert tables["As"].columns[0].type == Reference("a") and isinstance(tables["As"].columns[3].type, Array)
    assert [u.columns for u in tables["Cs"].unique] == [("name",)]


def test_every_place_is_a_column_or_a_table_that_is_there() -> None:
    tables = {t.name: {c.name for c in t.columns} for name in SCHEMA.classes for t in tables_of(SCHEMA, name)}
    for name in SCHEMA.classes:
        for attribute in SCHEMA.properties(name):
            match place_of(SCHEMA, name, attribute):
                case Single(table, column) | Inside(table, column) | Inverse(table, column):
                    assert column in tables[table]
                case Apart(table, _, _, owner, value, position):
                    assert {owner, value} <= tables[table] and (position is None or position in tables[table])


def test_lineage() -> None:
    assert [c.name for c in SCHEMA.lineage("c")] == ["a", "c"]
    assert SCHEMA.is_a("c", "a") and not SCHEMA.is_a("a", "c")
    assert {c.name for c in SCHEMA.subclasses("a")} == {"a", "c"}
    assert SCHEMA.common("c", "a") == "a" and SCHEMA.common("a", "b") is None
