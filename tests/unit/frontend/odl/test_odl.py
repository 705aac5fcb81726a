"""ODL: every construct is read, printed and read back; every mistake is shown where it is."""

from __future__ import annotations

import pytest

from evercurrent.catalog.classes import Attribute, Limit, Relationship, Schema
from evercurrent.data.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    MICROS,
    SMALLINT,
    STRING,
    TIME,
    TIMESTAMP,
    Collection,
    Decimal,
    Map,
    Member,
    Reference,
    String,
    Struct,
)
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.frontend.odl.resolve import classes_of
from evercurrent.frontend.odl.show import odl


def read(text: str, before: Schema | None = None) -> Schema:
    schema = classes_of(text, before or Schema())
    assert classes_of(odl(schema), Schema()) == schema, "what is printed must read the same"
    return schema


def attribute(declaration: str) -> Attribute:
    found = read(f"class c {{ attribute {declaration}; }}; class d {{}};").classes["c"].properties[0]
    assert isinstance(found, Attribute)
    return found


@pytest.mark.parametrize(
    ("written", "expected", "least", "greatest"),
    [
        ("short", SMALLINT, None, None),
        ("unsigned short", INT, 0, 65535),
        ("long", INT, None, None),
        ("unsigned long", BIGINT, 0, 2**32 - 1),
        ("long long", BIGINT, None, None),
        ("unsigned long long", Decimal(20, 0), 0, 2**64 - 1),
        ("float", FLOAT, None, None),
        ("double", DOUBLE, None, None),
        ("boolean", BOOLEAN, None, None),
        ("octet", SMALLINT, 0, 255),
        ("char", String(1), None, None),
        ("string", STRING, None, None),
        ("string<12>", String(12), None, None),
        ("date", DATE, None, None),
        ("time", TIME, None, None),
        ("timestamp", TIMESTAMP, None, None),
        ("interval", MICROS, None, None),
        ("decimal(12, 2)", Decimal(12, 2), None, None),
        ("decimal(5)", Decimal(5, 0), None, None),
    ],
)
def test_primitive_types(written: str, expected: object, least: int | None, greatest: int | None) -> None:
    found = attribute(f"{written} x")
    assert (found.type, found.least, found.greatest) == (expected, least, greatest)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("d x", Reference("d")),
        ("set<d> x", Collection("set", Reference("d"))),
        ("bag<string> x", Collection("bag", STRING)),
        ("list<list<short>> x", Collection("list", Collection("list", SMALLINT))),
        ("array<long> x", Collection("list", INT)),
        ("array<long, 10> x", Collection("list", INT)),
        ("sequence<long> x", Collection("list", INT)),
        ("long x[10]", Collection("list", INT)),
        ("dictionary<string, set<d>> x", Map(STRING, Collection("set", Reference("d")))),
        (
            "struct {string a; long b, c;} x",
            Struct((Member("a", STRING), Member("b", INT), Member("c", INT))),
        ),
        ("struct point {double x; double y;} x", Struct((Member("x", DOUBLE), Member("y", DOUBLE)))),
    ],
)
def test_composed_types(written: str, expected: object) -> None:
    assert attribute(written).type == expected


def test_limits_inside_a_value() -> None:
    found = attribute("struct {set<octet> bytes; enum {red, green} colour;} x")
    assert found.limit(("bytes", "element")) == Limit(0, 255)
    assert found.limit(("colour",)).labels == ("red", "green")
    assert attribute("enum shade {dark, light} x").labels == ("dark", "light")


def test_definitions() -> None:
    schema = read(
        """
        const unsigned long WIDTH = (2 + 3) * 4 << 1;
        typedef string<WIDTH> label;
        enum colour {red, green};
        struct spot { long x, y; colour c; };
        module shop {
            class thing (extent Things keys no, (a, b)) {
                typedef set<label> labels;
                attribute long no; attribute label a, b; readonly attribute labels many; attribute spot where kept as table;
            };
        };
        """
    )
    thing = schema.classes["thing"]
    assert thing.module == "shop"
    assert thing.keys == (("no",), ("a", "b"))
    assert [p.type for p in thing.properties][1:4] == [String(40), String(40), Collection("set", String(40))]
    many = thing.properties[3]
    assert isinstance(many, Attribute) and many.readonly


def test_relationships_and_operations() -> None:
    schema = read(
        """
        class a (extent As) {
            relationship b one inverse b::many; relationship list<b> some inverse b::back;
            double total(in double rate, in long n) raises (Bad);
        };
        class b { relationship set<a> many inverse a::one; relationship a back inverse a::some; };
        """
    )
    one, some = schema.classes["a"].properties
    assert one == Relationship("one", "b", "one", "many")
    assert some == Relationship("some", "b", "list", "back")
    (total,) = schema.classes["a"].operations
    assert total.parameters == (Member("rate", DOUBLE), Member("n", INT)) and total.type == DOUBLE


def test_functions_of_operations() -> None:
    text = "class a { long f(); };"
    bound = classes_of(text, Schema(), {"a.f": lambda self: 1})
    assert bound.classes["a"].operations[0].function is not None
    with pytest.raises(QueryError, match=r"no operation 'a\.g'"):
        classes_of(text, Schema(), {"a.g": lambda self: 1})


def test_a_second_text_adds_classes() -> None:
    first = read("class person (extent Persons) { attribute string name; };")
    second = classes_of("class employee extends person (extent Employees) { attribute long pay; };", first)
    assert list(second.properties("employee")) == ["name", "pay"]
    with pytest.raises(QueryError, match="already a class person"):
        classes_of("class person {};", second)


def test_keywords_in_any_case_and_comments() -> None:
    schema = read("/* all */ CLASS c (EXTENT Cs) { Attribute STRING Name; }; // end")
    assert schema.classes["c"].extent == "Cs"


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("class a { attribute strng x; };", "no type 'strng'", "                      ^^^^^"),
        ("class a { attribute set<b> x; };", "no type 'b'", "                          ^"),
        ("class a extends b {};", "no class 'b'", "                  ^"),
        ("class a extends b {}; class b extends a {};", "extends itself", "        ^"),
        ("class a {}; class a {};", "already a class a", "                    ^"),
        ("class a { attribute long x; attribute long x; };", "a.x is there twice", "^"),
        ("class a { attribute long x; attribute long X; };", "differ in case alone", "^"),
        ("class a { attribute long oid; };", "every object has it", "^^^"),
        ("class a { attribute long x; }; class b extends a { attribute short x; };", "already, from a", "^"),
        ("class a (key b) {};", "no property of it", "^"),
        ("class a (key b) { attribute set<long> b; };", "is a collection", "^"),
        ("class a { relationship b x inverse b::y; }; class b {};", "b::y is not there", "^"),
        (
            "class a { relationship b x inverse b::y; }; class b { attribute long y; };",
            "is an attribute",
            "^",
        ),
        (
            "class a { relationship b x inverse b::y; }; class b { relationship a y inverse a::z; relationship a q inverse a::x; };",
            "has another inverse",
            "^",
        ),
        ("class a { relationship b x inverse c::y; }; class b {}; class c {};", "is one of b", "^"),
        ("class a (extent Bs) {}; class b (extent bs) {};", "has one of this name", "^"),
        ("class a { attribute decimal(40,2) x; };", "1 to 38 digits", "^"),
        ("class a { attribute enum {x, x} y; };", "label x is there twice", "^"),
        ("typedef t u; typedef u t; class a { attribute t x; };", "contains itself", "^"),
        ("class a { attribute string<n> x; };", "no constant 'n'", "^"),
        ("class a { void f(); };", "would do nothing", "^"),
        ("class a { long f(out long x); };", "no side effects", "^"),
        ("class a { attribute long x }", "';' is expected here, not '}'", "^"),
        ("class a { attribute long x; ", "ends too early|is expected here, not the end", "^"),
        ("class a { attribute long x; } /* open", "the comment does not end", "^"),
        ("class a ! {};", "'!' has no meaning", "^"),
        ('const string s = "\\x"; class a {};', "cannot be read", "^^^^"),
        (f"const long n = {'9' * 5000}; class a {{}};", "cannot be read", "^"),
        ("class a { attribute " + "set<" * 3000 + "long" + ">" * 3000 + " x; };", "nested too deeply", ""),
        ("", "no class in the text", ""),
    ],
)
def test_mistakes_are_shown_where_they_are(text: str, message: str, line: str) -> None:
    with pytest.raises(QueryError, match=message) as caught:
        classes_of(text, Schema())
    assert line in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "interface a { relationship b x inverse b::y; }; class b : a { relationship b y inverse b::x; };",
        "class a extends b, c {};",
    ],
)
def test_what_is_not_built_says_so(text: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        classes_of(text, Schema())
    assert "^" in str(caught.value)
