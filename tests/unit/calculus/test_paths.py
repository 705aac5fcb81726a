"""Steps through references: each query with paths means what the same query with joins means."""

from __future__ import annotations

import pytest

from evercurrent.calculus.evaluate import evaluate
from evercurrent.calculus.nodes import (
    Comprehension,
    FullOuter,
    Generator,
    Group,
    OuterGenerator,
    Query,
    Relation,
    Top,
    Values,
    Window,
)
from evercurrent.calculus.normalize import normalize
from evercurrent.calculus.paths import has_paths, resolve, step
from evercurrent.calculus.show import show
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.classes import Attribute, Class, Relationship, Schema
from evercurrent.catalog.extents import tables_of
from evercurrent.data.types import INT, STRING, Array, Collection, Member, Reference, Struct
from evercurrent.data.zset import ZSet
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.term import build
from evercurrent.term.nodes import (
    RUNNING,
    Aggregate,
    Lambda,
    Literal,
    SortKey,
    Term,
    Variable,
    WindowFunction,
)

SCHEMA = Schema(
    {
        c.name: c
        for c in (
            Class(
                "dept",
                None,
                "Depts",
                (),
                (Attribute("name", STRING), Relationship("staff", "emp", "set", "dept")),
            ),
            Class(
                "emp",
                None,
                "Emps",
                (),
                (
                    Attribute("name", STRING),
                    Attribute("pay", INT),
                    Relationship("dept", "dept", "one", "staff"),
                    Attribute("boss", Reference("emp")),
                    Attribute("tags", Collection("set", STRING)),
                ),
            ),
        )
    }
)
CATALOG = Catalog(schema=SCHEMA)
for _class in SCHEMA.classes:
    for _table in tables_of(SCHEMA, _class):
        CATALOG = CATALOG.with_table(_table)

ROWS = {
    "Depts": [(10, "dev"), (11, "ops")],
    "Emps": [(1, "a", 5, 10, None), (2, "b", 7, 11, 1), (3, "c", 9, None, 2), (4, "d", 9, 10, 2)],
}
EMPS = Relation("Emps", CATALOG.fields_of("Emps"))
E = Variable("e", Struct(EMPS.fields))


def path(variable: Variable, *steps: str) -> Term:
    term = build.field(variable, steps[0])
    for name in steps[1:]:
        term = step(SCHEMA, term, name)
    return term


def rows(query: Query) -> list[tuple[object, ...]]:
    resolved = resolve(query, CATALOG)
    assert not has_paths(resolved)

    def run(q: Query) -> ZSet:
        return evaluate(q, lambda name: [(row, 1) for row in ROWS[name]])

    found = run(resolved)
    assert run(normalize(resolved)) == found
    return sorted(found.insertions(), key=repr)


def fields(*members: tuple[str, object]) -> tuple[Member, ...]:
    return tuple(Member(name, type) for name, type in members)  # type: ignore[arg-type]


def test_nil_steps_to_null_and_equal_paths_share_a_lookup() -> None:
    query = Comprehension(
        "bag",
        (path(E, "name"), path(E, "boss", "dept", "name"), path(E, "boss", "name")),
        (Generator(E, EMPS),),
        fields(("n", STRING), ("d", STRING), ("b", STRING)),
    )
    assert rows(query) == [("a", None, None), ("b", "dev", "a"), ("c", "ops", "b"), ("d", "ops", "b")]
    assert show(resolve(query, CATALOG)).count("<-outer Emps") == 1


def test_groups() -> None:
    query = Group(
        E,
        EMPS,
        (path(E, "dept", "name"),),
        (Aggregate("sum", (path(E, "boss", "pay"),), INT),),
        fields(("d", STRING), ("s", INT)),
    )
    assert rows(query) == [("dev", 7), ("ops", 5), (None, 7)]


def test_top_gives_the_fields_of_its_source() -> None:
    order = (SortKey(path(E, "boss", "name"), True, False), SortKey(path(E, "name")))
    query = Top(E, EMPS, order, 2, 0, EMPS.fields)
    assert [r[1] for r in rows(query)] == ["c", "d"]


def test_windows() -> None:
    number = WindowFunction(
        "row_number", (), INT, (path(E, "dept", "name"),), (SortKey(path(E, "boss", "name")),), RUNNING
    )
    query = Window(E, EMPS, (number,), (*EMPS.fields, Member("n", INT)))
    assert [(r[1], r[-1]) for r in rows(query)] == [("a", 1), ("b", 1), ("c", 1), ("d", 2)]


def test_full_outer_joins_and_their_missing_sides() -> None:
    left, right = Variable("l", E.type, True), Variable("r", E.type, True)
    query = FullOuter(
        left,
        EMPS,
        right,
        EMPS,
        build.call("eq", path(left, "dept", "name"), path(right, "boss", "dept", "name")),
        (path(left, "name"), path(right, "dept", "name"), build.call("is_null", right)),
        fields(("l", STRING), ("r", STRING), ("m", STRING)),
    )
    assert rows(query) == [
        ("a", "ops", False),
        ("b", "dev", False),
        ("b", None, False),
        ("c", None, True),
        ("d", "ops", False),
        (None, "dev", False),
    ]


def test_the_condition_of_an_outer_generator() -> None:
    other = Variable("o", E.type, True)
    query = Comprehension(
        "bag",
        (path(E, "name"), path(other, "name"), path(other, "dept", "name")),
        (
            Generator(E, EMPS),
            OuterGenerator(other, EMPS, build.call("eq", path(other, "boss", "name"), path(E, "name"))),
        ),
        fields(("n", STRING), ("o", STRING), ("d", STRING)),
    )
    assert rows(query) == [
        ("a", "b", "ops"),
        ("b", "c", None),
        ("b", "d", "dev"),
        ("c", None, None),
        ("d", None, None),
    ]


def test_values_have_paths_too() -> None:
    query = Values(
        ((step(SCHEMA, Literal(10, Reference("dept")), "name"),), (Literal("x", STRING),)),
        fields(("n", STRING)),
    )
    assert rows(query) == [("dev",), ("x",)]


def test_names_of_properties() -> None:
    assert path(E, "dept", "NAME") == path(E, "dept", "name")
    with pytest.raises(QueryError, match="has no property nam") as caught:
        path(E, "dept", "nam")
    assert caught.value.hint == "did you mean name?"
    with pytest.raises(QueryError, match="is a collection") as caught:
        path(E, "boss", "tags")
    assert caught.value.hint == "its elements are the rows of Emps_tags whose owner is the object"
    with pytest.raises(QueryError, match="is a collection"):
        path(E, "dept", "staff")


def test_no_path_in_a_lambda() -> None:
    item = Variable("x", Reference("dept"))
    body = step(SCHEMA, item, "name")
    many = Literal((10,), Array(Reference("dept")))
    term = build.call("transform", many, Lambda((item,), body, body.type))
    with pytest.raises(UnsupportedError, match="lambda"):
        resolve(Values(((term,),), fields(("n", Array(STRING)))), CATALOG)


def test_a_step_through_the_identity_of_a_record_is_its_member() -> None:
    query = Comprehension(
        "bag",
        (step(SCHEMA, build.field(E, "oid"), "name"), path(E, "dept", "name")),
        (Generator(E, EMPS),),
        fields(("n", STRING), ("d", STRING)),
    )
    resolved = resolve(query, CATALOG)
    assert isinstance(resolved, Comprehension)
    assert resolved.head[0] == build.field(E, "name")
    assert len(resolved.qualifiers) == 2, "only the department is looked up"
