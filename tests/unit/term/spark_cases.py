"""Calls that Spark is asked about: for each function a list of argument tuples.

Plain Python values stand for literals: int INT, float DOUBLE, str STRING, Decimal its digits, date, datetime (TIMESTAMP),
bytes, list an array, dict a map, tuple a struct. `T(value, type)` is a literal of another type.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal as D
from typing import Any

from evercurrent.data.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DAYS,
    DOUBLE,
    FLOAT,
    INT,
    MICROS,
    MONTHS,
    SMALLINT,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    Array,
    Decimal,
    Map,
    Time,
    Type,
)


@dataclass(frozen=True)
class T:
    """A value of a given type; the value is written as text inside a cast."""

    value: Any
    type: Type


def null(t: Type) -> T:
    return T(None, t)


def big(n: int) -> T:
    return T(n, BIGINT)


NAN = T("NaN", DOUBLE)
INF = T("Infinity", DOUBLE)
NINF = T("-Infinity", DOUBLE)
INT_MAX, INT_MIN = 2147483647, -2147483648
LONG_MAX, LONG_MIN = big(9223372036854775807), big(-9223372036854775808)
NI, NS, ND, NDATE, NTS = null(INT), null(STRING), null(DOUBLE), null(DATE), null(TIMESTAMP)
LEAP, NEW_YEAR, EARLY = date(2024, 2, 29), date(2023, 1, 1), date(1, 1, 1)
NOON, MIDNIGHT, LAST = time(12, 34, 56, 789012), time(0, 0), time(23, 59, 59, 999999)
NTIME, SHORT = null(TIME), T("01:02:03.456", Time(3))
TS = datetime(2024, 2, 29, 13, 14, 15, 123456)
TS2 = datetime(2023, 12, 31, 23, 59, 59, 999999)
OLD = datetime(1582, 10, 4, 1, 2, 3)
NTZ = T("2024-02-29 13:14:15.5", TIMESTAMP_NTZ)
F32 = T("0.1", FLOAT)
WORDS = "Hello Wörld"
EMOJI = "a😀b"


def pairs(*values: Any) -> list[tuple[Any, Any]]:
    return [(a, b) for a in values for b in values]


def each(*values: Any) -> list[tuple[Any]]:
    return [(v,) for v in values]


# The tables are kept as they are written: a case is not worth a line.
# fmt: off

NUMBERS = [(1, 2), (7, -2), (-7, 2), (0, 5), (5, 0), (NI, 1), (1, NI), (INT_MAX, 1), (INT_MIN, -1), (INT_MIN, 1)]
NUMBERS += [(big(5), 3), (LONG_MAX, 1), (LONG_MIN, -1), (T(100, TINYINT), T(100, TINYINT)), (T(7, SMALLINT), 2)]
NUMBERS += [(1.5, 2), (1.5, 0.0), (0.0, -1.5), (NAN, 1.0), (INF, NINF), (INF, 2.0), (F32, F32), (F32, 3), (1e308, 10.0)]
NUMBERS += [(D("1.50"), D("2.3")), (D("-9.99"), 3), (3, D("0.01")), (D("1.5"), 2.0), (D("5.0"), D("0.0"))]
NUMBERS += [(T("12.34", Decimal(12, 2)), T("0.050", Decimal(5, 3))), (T("1", Decimal(38, 0)), T("3", Decimal(38, 0)))]
NUMBERS += [(T("99999999999999999999999999999999999999", Decimal(38, 0)), 1)]
NUMBERS += [(T("123456789012345678901234567.891234567", Decimal(38, 9)), T("987654321.987654321", Decimal(38, 9)))]
NUMBERS += [(T("0.0000000000000000000000000000000000001", Decimal(38, 37)), T("3.3", Decimal(2, 1)))]
NUMBERS += [("3", 4), ("3", 4.5), (4, "x"), ("1.5", D("2.5")), (T("2", Decimal(10, 2)), big(3)), (True, 1)]

COMPARED = [(1, 1), (1, 2), (2, 1), (1, NI), (NI, NI), (1.5, 1), (NAN, NAN), (NAN, 1.0), (1.0, NAN), (INF, NAN)]
COMPARED += [(0.0, -0.0), ("a", "b"), ("a", "B"), ("", "a"), ("é", "z"), (EMOJI, "a\uffff"), (1, "1"), ("1.5", 1.5)]
COMPARED += [(D("1.50"), D("1.5")), (D("1.50"), 1), (D("0.1"), 0.1), (True, False), (LEAP, NEW_YEAR), (LEAP, TS)]
COMPARED += [(LEAP, "2024-02-29"), (TS, "2024-02-29 13:14:15.123456"), (NTZ, TS), (b"a", b"ab"), (1, "x"), (True, 1)]
COMPARED += [([1, 2], [1, 3]), ([1, None], [1, None]), ([1], [1, None]), ((1, "a"), (1, "b")), ((1, None), (1, None))]
COMPARED += [([NAN], [NAN]), (LEAP, 1), ({1: 2}, {1: 2}), (F32, 0.1), (big(2), T(2, TINYINT))]

BOOLS = pairs(True, False, null(BOOLEAN))
REALS = each(0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 10.0, 1000.0, NAN, INF, NINF, ND, 3, D("2.25"), "4")
TEXTS = each("", "abc", WORDS, EMOJI, "  pad  ", "ß", "İ", NS, 12, 1.5, True, LEAP)
DATES = each(LEAP, NEW_YEAR, EARLY, date(9999, 12, 31), date(1999, 12, 27), NDATE, TS, "2024-01-05", "bad")
MOMENTS = each(TS, TS2, OLD, LEAP, NTZ, NTS, "2024-02-29 01:02:03", "2024-02-29T23:59:59.5+02:00")

CASES: dict[str, list[tuple[Any, ...]]] = {
    "get_json_object": [
        *(
            ('{"a": [1, {"b": "x\\"y"}], "c": 1.50, "d": {"e": null, "f": [true, "q"]}, "g": -0.0, "h": 12345678901234567890}', path)
            for path in ("$", "$.a", "$.a[1].b", "$.a[0]", "$.a[9]", "$.c", "$.d", "$.d.e", "$['d'].f[1]", "$.g", "$.h", "a", "$.nope")
        ),
        ("[1, [2, 3]]", "$[1][0]"),
        ("not json", "$.a"),
        ("", "$"),
        ("null", "$"),
        ('"text"', "$"),
        ('{"a": 1', "$.a"),
        (NS, "$.a"),
        ("{}", NS),
    ],
    "from_json": [
        *(
            (text, "a INT, b STRING, c ARRAY<INT>")
            for text in (
                '{"a": 1, "b": "x", "c": [1, null]}', '{"a": 1.0, "b": 1.50}', '{"a": "1", "b": {"x": 1e3}}', '{"a": 99999999999, "b": true}',
                '{"a": 1, "a": 2}', '{"a": 5, "c": ["x"], "b": "z"}', '{"a": 1', '{"a": 1, "b": bad}', "bad", "", "null", '[{"a": 1}]',
                '{"A": 1}', '{"a": 1} tail', "{'a': 1, 'b': 'it\\'s'}", "{a: 1}", '{"a": 01}', '{"a": 1,}', '{"b": "a\\u0041\\n"}', '{"b": "a\tb"}',
            )
        ),
        *(
            (text, "d DOUBLE, e DECIMAL(6,2), f BOOLEAN, g FLOAT, h TINYINT")
            for text in (
                '{"d": 1.5, "e": 1.005, "f": true, "g": 1e39, "h": 200}', '{"d": "NaN", "e": "1.5", "f": "true", "h": 256}',
                '{"d": NaN, "e": 99999999}', '{"d": "+INF", "e": " 1"}', '{"d": -Infinity, "e": 1e2}', '{"d": "INF", "e": 123456.789}',
            )
        ),
        *(
            (text, "d DATE, t TIMESTAMP, n TIMESTAMP_NTZ")
            for text in (
                '{"d": "2024-02-29", "t": "2024-02-29T10:11:12.345Z", "n": "2024-02-29 10:11:12"}',
                '{"d": "2024-2-9", "t": 1700000000, "n": "2024-02-29T10:11:12Z"}', '{"d": "2024-02-30", "t": 1.5, "n": 1}',
            )
        ),
        ('{"x": {"y": "bad", "z": "q"}, "w": 3}', "x STRUCT<y: INT, z: STRING>, w INT"),
        ('{"x": [{"y": 1}, {"y": "bad"}, null]}', "x ARRAY<STRUCT<y: INT>>"),
        ('{"x": [1, {"y": 3}]}', "x ARRAY<STRUCT<y: INT>>"),
        *((text, "MAP<STRING, INT>") for text in ('{"p": 1, "q": null}', '{"p": 1, "q": "bad"}', "[]", "{}")),
        *((text, "ARRAY<INT>") for text in ("[1, 2]", '[1, "x"]', '{"a": 1}', "[[1]]")),
        *((text, "ARRAY<STRUCT<a: INT>>") for text in ('[{"a": 1}, null]', '{"a": 1}', "[1]")),
        ('{"b": "aGk=", "c": "aGk"}', "b BINARY, c BINARY"),
        ("{}", "INT"),
        ("{}", "a VARCHAR(3)"),
        ("{}", "a:"),
        (NS, "a INT"),
    ],
    "schema_of_json": each(
        '{"b": 1, "a": 1.5, "c": [1, 2.5], "d": null}', "[]", '[1, "x"]', '[{"a": 1}, {"b": 2}, null]', "{}", "1", '"x"', "null", "bad", "",
        '{"a": 99999999999999999999, "b": {}, "c d": [{"e": true}, {"e": 1}]}', '{"a": NaN}', "[[], [1]]", "{'a': 1}",
    ),
    "json_array_length": each("[]", "[1, [2, 3], {}]", "{}", "1", "null", "[1", "bad", NS),
    "json_object_keys": each("{}", '{"a": 1, "b": {"c": 2}}', "[]", "1", "bad", NS),
    "to_json": each(
        (1, "x", None),
        (1.5, D("2.50"), LEAP),
        (TS, True, b"ab"),
        ([1, None, 2], {"k": 1}, 1e10),
        ("tab\t\u0001 é", (1, None), NAN),
        [1, 2],
        {"a": 1.0},
    ),
    # --- arithmetic and comparison
    **{name: list(NUMBERS) for name in (
        "add", "sub", "mul", "div", "mod", "pmod", "try_add", "try_subtract", "try_multiply", "try_divide", "try_mod"
    )},
    "idiv": [c for c in NUMBERS if not any(isinstance(x, float) or x in (NAN, INF, F32) for x in c)],
    "neg": [*REALS, (INT_MIN,), (LONG_MIN,), (T(5, TINYINT),), (T(-128, TINYINT),), (F32,), (NI,)],
    "positive": REALS,
    **{name: list(COMPARED) for name in ("eq", "ne", "lt", "le", "gt", "ge", "eqns")},
    "and": BOOLS,
    "or": BOOLS,
    "not": each(True, False, null(BOOLEAN)),
    "is_null": each(1, NI, "", NAN),
    "is_not_null": each(1, NI, "", NAN),
    "in_list": [(1, 1, 2), (3, 1, 2), (3, 1, NI), (1, 1, NI), (NI, 1, 2), ("a", "b", "a"), (NAN, 1.0, NAN),
        (1, "1", 2)],
    "coalesce": [(NI, 1), (NI, NI), (1, 2), (NI, 1.5), (NI, D("1.5")), (NI, "3"), ("a", 1), (NDATE, TS),
        (1, big(2))],
    "nullif": [(1, 1), (1, 2), (NI, 1), (1, NI), ("a", "b"), (1.5, 1), (D("1.0"), 1)],
    "nvl": [(NI, 1), (2, 1), (NS, "x")],
    "nvl2": [(NI, 1, 2), (5, 1, 2), (5, NI, 2), (NS, "a", "b")],
    "if": [(True, 1, 2), (False, 1, 2), (null(BOOLEAN), 1, 2), (True, 1, 2.5), (True, NS, "x")],
    "zeroifnull": each(NI, 3, ND),
    "nullifzero": each(NI, 3, 0, 0.0),
    # --- numbers
    "abs": [*REALS, (INT_MIN,), (-5,), (LONG_MIN,), (T("-1.25", Decimal(5, 2)),), (F32,)],
    "sign": [*REALS, (-5,)],
    "round": [(2.5,), (-2.5,), (2.675, 2), (1234.567, -2), (0.5,), (1.5,), (NAN, 1), (INF, 1),
        (D("2.345"), 2), (D("-2.345"), 2), (D("99.95"), 1), (D("12345.678"), -2), (D("5.5"), -1), (15, -1),
        (25, -1), (-15, -1), (7, 2), (INT_MAX, -1), (ND, 1), (1.5, NI), (F32, 1), (1e300, 2), (1e-07, 7),
        (123456789.125, 2), (D("1.5"), 5)],
    "bround": [(2.5,), (3.5,), (-2.5,), (2.675, 2), (25, -1), (35, -1), (D("2.345"), 2), (D("2.355"), 2),
        (D("2.5"),)],
    "ceil": [(1.2,), (-1.2,), (D("1.2"),), (D("-1.2"),), (D("9.9"),), (5,), (big(5),), (1.25, 1),
        (D("3.14159"), 3), (D("-12.345"), 1), (D("12345.6"), -3), (ND,), (NAN,), (INF,), (1e20,),
        (T("1", Decimal(38, 0)),), (5, -1)],
    "floor": [(1.2,), (-1.2,), (D("1.2"),), (D("-1.2"),), (D("-9.9"),), (5,), (big(5),), (1.25, 1),
        (D("3.14159"), 3), (D("-12.345"), 1), (D("12345.6"), -3), (ND,), (NAN,), (1e20,)],
    **{name: REALS for name in (
        "sqrt", "cbrt", "exp", "expm1", "ln", "log10", "log2", "log1p", "sin", "cos", "tan", "cot", "sec", "csc",
        "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "degrees", "radians", "rint", "isnan"
    )},
    "exp": [*REALS, (710.0,), (-800.0,)],
    "log": [(10.0,), (0.0,), (2.0, 8.0), (1.0, 8.0), (0.0, 8.0), (2.0, 0.0), (-1.0, 2.0), (ND, 2.0),
        (10.0, 100), (0.5, 4.0)],
    "power": [(2.0, 3.0), (2, 10), (0.0, 0.0), (0.0, -1.0), (-8.0, 1 / 3), (-2.0, 3.0), (1e200, 2.0),
        (-1e200, 3.0), (NAN, 0.0), (1.0, NAN), (INF, -1.0), (ND, 1.0), (D("1.5"), 2)],
    "atan2": [(1.0, 1.0), (0.0, -1.0), (-0.0, -1.0), (ND, 1.0)],
    "hypot": [(3.0, 4.0), (1e200, 1e200)],
    "pi": [()],
    "e": [()],
    "greatest": [(1, 2), (1, NI), (NI, NI), (1, 2.5), (NAN, 1.0), ("a", "b", "ab"), (D("1.5"), 1),
        (LEAP, NEW_YEAR)],
    "least": [(1, 2), (1, NI), (NI, NI), (1, 2.5), (NAN, 1.0), ("a", "b", "ab"), (D("1.5"), 1), (LEAP, TS)],
    "bitand": [(12, 10), (-1, 7), (NI, 1), (big(5), 3), (T(5, TINYINT), T(3, TINYINT))],
    "bitor": [(12, 10), (-8, 7)],
    "bitxor": [(12, 10), (-1, 7)],
    "bitnot": each(0, 5, -1, big(7), T(1, TINYINT)),
    "shiftleft": [(1, 4), (1, 33), (big(1), 40), (-1, 31), (NI, 1)],
    "shiftright": [(-16, 2), (16, 33), (LONG_MIN, 63)],
    "shiftrightunsigned": [(-16, 2), (-1, 31), (LONG_MIN, 63)],
    "bit_count": each(0, 5, -1, big(-1), True, NI),
    "factorial": each(0, 5, 20, 21, -1, NI),
    "width_bucket": [(5.3, 0.2, 10.6, 5), (-2.1, 1.3, 3.4, 3), (8.1, 0.0, 5.7, 4), (-0.9, 5.2, 0.5, 2),
        (1.0, 1.0, 1.0, 3), (5.2, 5.2, 0.5, 2), (3.0, 5.2, 0.5, 2), (NAN, 0.0, 1.0, 3), (0.5, 0.0, 1.0, 0),
        (1.0, 0.0, 1.0, 4)],
    "hex": [*each(17, -1, big(255), "Spark", "é", b"\x00\xff", NI, ""), (LONG_MIN,)],
    "unhex": each("537061726B", "F", "xyz", "", NS),
    "bin": each(13, -13, 0, NI, LONG_MIN),
    "conv": [("100", 2, 10), ("ff", 16, 10), ("-10", 16, -10), ("-10", 16, 10), ("xyz", 10, 16),
        ("", 10, 16), ("9z", 10, 2), ("zz", 36, 10), ("1", 1, 10), ("18446744073709551615", 10, 16),
        ("18446744073709551616", 10, 16), (" 12 ", 10, 10)],
    "nanvl": [(NAN, 5.0), (1.0, 5.0), (ND, 1.0), (1, 2)],
    # --- text
    "length": [*TEXTS, (b"abc",), (b"",)],
    "octet_length": [*TEXTS, (b"abc",)],
    "bit_length": [*TEXTS, (b"abc",)],
    "upper": TEXTS,
    "lower": TEXTS,
    "initcap": [*TEXTS, ("hELLO wORLD-foo\tbar",), ("éa ßb",)],
    "trim": [*TEXTS, ("\t x \n",), ("xxabcxx", "x"), ("abc", "cba"), ("xay", "")],
    "ltrim": [*TEXTS, ("xxabcxx", "x"), ("yxabc", "xy")],
    "rtrim": [*TEXTS, ("xxabcxx", "x"), ("abcyx", "xy")],
    "substring": [("Spark SQL", 5), ("Spark SQL", -3), ("Spark SQL", 5, 1), ("Spark", 0, 2),
        ("Spark", -10, 7), ("Spark", 2, -1), ("Spark", 10), (EMOJI, 2, 1), (NS, 1), ("abc", NI),
        (b"abcd", 2, 2), ("abc", -2, 1), ("abc", 1, INT_MAX), (b"abc", -5, 3)],
    "left": [("Spark", 3), ("Spark", 0), ("Spark", -1), ("Spark", 99), (NS, 1), (EMOJI, 2), (b"abc", 2)],
    "right": [("Spark", 3), ("Spark", 0), ("Spark", -1), ("Spark", 99), (NS, 1), (EMOJI, 2)],
    "concat": [("a", "b"), ("a", NS), (), ("a",), ("a", 1, 2.5, True), (LEAP, "x"), (b"a", b"b"),
        (b"a", "b"), ([1], [2, 3]), ([1], null(Array(INT))), (["a"], ["b"]), ([1], [2.5])],
    "concat_ws": [(",", "a", "b"), (",", "a", NS, "b"), (",",), (NS, "a"), ("-", ["a", None, "b"], "c"),
        (",", NS)],
    "replace": [("ABCabc", "abc", "DEF"), ("aaa", "a"), ("aaa", "", "x"), ("aaa", "aa", "b"),
        (NS, "a", "b"), (EMOJI, "😀", "")],
    "translate": [("AaBbCc", "abc", "123"), ("abc", "ab", "x"), ("abc", "aa", "xy"), ("abc", "", "x"),
        (EMOJI, "😀", "é")],
    "lpad": [("hi", 5, "??"), ("hi", 1, "??"), ("hi", 5), ("hi", 5, ""), ("hi", -1, "?"), (NS, 2, "a"),
        ("é", 4, "ab"), (b"a", 3), (b"a", 4, b"xy"), ("hi", 6, "abc")],
    "rpad": [("hi", 5, "??"), ("hi", 1, "??"), ("hi", 5), ("hi", 5, ""), ("hi", -1, "?"), ("é", 4, "ab"),
        (b"a", 3), ("hi", 6, "abc")],
    "repeat": [("ab", 3), ("ab", 0), ("ab", -1), (NS, 2)],
    "space": each(3, 0, -1, NI),
    "reverse": [*TEXTS, ([1, 2, None],), ([],)],
    "instr": [("SparkSQL", "SQL"), ("abc", ""), ("", "a"), ("abc", "z"), (EMOJI, "b"), (NS, "a"),
        ("aXbX", "X")],
    "locate": [("bar", "foobarbar"), ("bar", "foobarbar", 5), ("bar", "foobarbar", 0), ("", "abc"),
        ("", "abc", 4), ("", "abc", 9), ("z", "abc"), (NS, "abc"), ("b", "abc", -1), ("b", EMOJI),
        ("b", "abc", NI), (NS, "abc", NI), (NS, NS, NI), (NS, "abc", 0), ("b", NS, 0)],
    "overlay": [("Spark SQL", "_", 6), ("Spark SQL", "CORE", 7), ("Spark SQL", "ANSI ", 7, 0),
        ("Spark SQL", "tructured", 2, 4), ("abc", "X", 10), ("abc", "X", 0), (NS, "a", 1)],
    "split_part": [("11.12.13", ".", 3), ("11.12.13", ".", -1), ("a.b", ".", 5), ("a.b", ".", 0),
        ("abc", "", 1), (NS, ".", 1), ("a..b", ".", 2), ("abc", "", 2)],
    "substring_index": [("www.apache.org", ".", 2), ("www.apache.org", ".", -2), ("abc", ".", 1),
        ("abc", "", 1), ("a.b", ".", 0)],
    "find_in_set": [("ab", "abc,b,ab,c,def"), ("z", "a,b"), ("a,b", "a,b"), ("", "a,,b"), (NS, "a")],
    "startswith": [("Spark", "Sp"), ("Spark", "x"), ("Spark", ""), (NS, "a"), (b"ab", b"a")],
    "endswith": [("Spark", "rk"), ("Spark", "x"), ("Spark", ""), ("a", NS), (b"ab", b"b")],
    "contains": [("Spark", "ar"), ("Spark", "x"), ("Spark", ""), (NS, "a"), (b"abc", b"b")],
    "ascii": each("abc", "", "é", "😀", NS, 2),
    "chr": each(65, 0, 256, 321, -5, big(97), NI, 233),
    "levenshtein": [("kitten", "sitting"), ("", "abc"), ("abc", "abc"), (EMOJI, "ab"),
        ("kitten", "sitting", 2), (NS, "a"), ("a", "b", 1)],
    "soundex": each("Miller", "Robert", "Rupert", "Ashcraft", "Tymczak", "Pfister", "Honeyman", "", "123",
        "ünder", "a b c d", NS),
    "mask": [("AbCD123-@$#",), ("AbCD123-@$#", "Q"), ("AbCD123-@$#", "Q", "q"),
        ("AbCD123-@$#", "Q", "q", "d"), ("AbCD123-@$#", "Q", "q", "d", "o"), ("AbCD123", NS, "q"), (NS,),
        ("Éé",)],
    "elt": [(1, "a", "b"), (2, "a", "b"), (3, "a", "b"), (NI, "a", "b"), (1, NS, "b")],
    "typeof": each(1, big(1), 1.5, D("1.5"), "a", LEAP, TS, [1], {1: "a"}, (1, "a"), NI, True, b"a", F32,
        T(1, TINYINT), NTZ),
    "encode": [("abc", "utf-8"), ("é", "iso-8859-1"), ("é", "UTF-16"), ("é", "utf-16be"), (NS, "utf-8"),
        ("a", "bogus")],
    "decode": [(b"abc", "utf-8"), (b"\xe9", "iso-8859-1"), (null(BINARY), "utf-8")],
    "base64": each(b"Spark SQL", b"", null(BINARY), "abc", b"\xff" * 60),
    "unbase64": each("U3BhcmsgU1FM", "", NS, "YQ==", "YWI="),
    "md5": each("Spark", b"", null(BINARY)),
    "sha1": each("Spark", b""),
    "sha2": [("Spark", 256), ("Spark", 0), ("Spark", 224), ("Spark", 384), ("Spark", 512), ("Spark", 1),
        (NS, 256)],
    "crc32": each("Spark", b"", null(BINARY)),
    "url_encode": each("https://spark.apache.org", "a b+c~*-._é", NS),
    "url_decode": each("https%3A%2F%2Fspark.apache.org", "a+b%20c", "%zz", NS),
    "format_string": [("Hello World %d %s", 100, "days"),
        ("%5d|%-5d|%05d|%+d|%,d", 42, 42, 42, 42, 1234567), ("%x %X %o", 255, 255, 8),
        ("%.2f %10.3f %e %.1E", 3.14159, 2.5, 12345.678, 0.00012), ("%s %s %s", True, LEAP, D("1.50")),
        ("%2$s %1$s", "a", "b"), ("100%%",), ("%s", NI), ("%b %c", True, "x"), (NS, 1), ("%d", "x"),
        ("%s",), ("%10s|%-10s|%.2s", "ab", "cd", "efg"), ("%s", 1.0),
        ("%f %,.2f %(d", -0.5, 1234567.891, -5), ("%x", -1), ("%x", big(-1)), ("%.3f", D("2.0005")),
        ("%.0f", 2.5)],
    "format_number": [(12332.123456, 4), (0.5, 0), (1.5, 0), (2.5, 0), (-1234567.891, 2), (5, 2),
        (D("12345.678"), 1), (1.0, -1), (ND, 2), (big(123456789012), 0), (NAN, 2), (INF, 1)],
    # --- patterns
    "like": [("Spark", "_park"), ("Spark", "S%k"), ("Spark", "%par%"), ("Spark", "Sp%"), ("Spark", "%rk"),
        ("Spark", "Spark"), ("Spark", ""), ("", ""), ("", "%"), ("a%b", "a\\%b"), ("axb", "a\\%b"),
        ("a_b", "a/_b", "/"), ("a\nb", "a%b"), (NS, "%"), ("a", NS), ("a.b", "a.b"), ("axb", "a.b"),
        ("a\\b", "a\\\\b"), ("a", "a\\"), ("ab", "a\\b"), ("%%", "\\%\\%"), ("SPARK", "spark"),
        ("abab", "%ab%ab%"), (EMOJI, "a_b")],
    "ilike": [("Spark", "sPARK"), ("Spark", "s%K"), ("É", "é"), (NS, "a"), ("a_b", "A/_B", "/")],
    "rlike": [("Spark", "^S.*k$"), ("Spark", "x"), ("a\nb", "a.b"), ("a\nb", "(?s)a.b"), ("ABC", "(?i)abc"),
        ("٣", "\\d"), ("é", "\\w"), ("aé", "\\p{L}{2}"), ("a1", "^\\p{Alpha}\\p{Digit}$"), (NS, "a"),
        ("a", NS), ("abc\n", "c$"), ("a.b", "a\\Q.\\Eb"), ("foo bar", "\\bbar\\b"), ("aaa", "a{2,}+"),
        ("x", "["), ("a\rb", "a.b"), ("É", "(?i)é"), ("tab\there", "\\t"), ("ab", "(?<n>a)b"),
        ("aa", "(?<n>a)\\k<n>")],
    "regexp_replace": [("100-200", "(\\d+)", "num"), ("abc", "b", "[$0]"),
        ("john smith", "(\\w+) (\\w+)", "$2 $1"), ("aaa", "a", "b", 2), (NS, "a", "b"), ("abc", "", "-"),
        ("abc", "x*", "-"), ("a.b", "\\.", "\\$"), ("aaa", "a", "b", 0), ("abc", "(z)?b", "[$1]")],
    "regexp_extract": [("100-200", "(\\d+)-(\\d+)", 1), ("100-200", "(\\d+)-(\\d+)", 2),
        ("100-200", "(\\d+)-(\\d+)", 0), ("abc", "(\\d+)", 1), ("abc", "b(z)?", 1), ("abc", "(b)", 3),
        ("abc", "(b)"), (NS, "a", 0)],
    "regexp_extract_all": [("100-200, 300-400", "(\\d+)-(\\d+)", 1),
        ("100-200, 300-400", "(\\d+)-(\\d+)", 0), ("abc", "(\\d)", 1), (NS, "a", 0),
        ("a1b2", "([a-z])(\\d)?", 2)],
    "regexp_count": [("Steven Jones and Stephen Smith", "Ste(v|ph)en"), ("abc", "z"), ("aaa", "a"),
        ("abc", ""), (NS, "a")],
    "regexp_substr": [("Steven Jones", "Ste(v|ph)en"), ("abc", "z"), (NS, "a")],
    "regexp_instr": [("user@spark.apache.org", "@[^.]*"), ("abc", "z"), (NS, "a")],
    "split": [("oneAtwoBthreeC", "[ABC]"), ("oneAtwoBthreeC", "[ABC]", 2), ("a,b,,", ","), ("abc", ""),
        ("", ","), (NS, ","), ("abc", "", 2), ("a1b2", "\\d", -1), ("a,b", ",", 0), ("aXbX", "X", 3),
        ("abc", "(?=b)")],
    # --- dates and times
    **{name: DATES for name in ("year", "quarter", "month", "weekofyear", "day", "dayofweek", "weekday", "dayofyear", "monthname", "dayname", "last_day")},
    "weekofyear": [*DATES, (date(2021, 1, 3),), (date(2020, 12, 31),), (date(2019, 12, 30),)],
    **{name: MOMENTS for name in ("hour", "minute", "second")},
    "date_part":
        [(p, TS) for p in ("year", "yearofweek", "quarter", "month", "week", "day", "dow", "dow_iso", "doy", "hour", "minute", "second")] + [("year", LEAP),
        ("seconds", NTZ), ("bogus", TS), ("day", NDATE), ("w", date(2021, 1, 3)),
        ("yearofweek", date(2021, 1, 3))] + [("days", T(86400000000 * 3 + 3723000000, MICROS)),
        ("hour", T(86400000000 * 3 + 3723000000, MICROS)), ("month", T(14, MONTHS)),
        ("second", T(-1500000, MICROS))],
    "date_add": [(LEAP, 1), (LEAP, -1), (LEAP, 366), (NDATE, 1), (LEAP, NI), ("2024-01-01", 1), (TS, 1)],
    "date_sub": [(LEAP, 1), (LEAP, -1), (NDATE, 1)],
    "datediff": [(LEAP, NEW_YEAR), (NEW_YEAR, LEAP), (NDATE, LEAP), (TS, LEAP), ("2024-03-01", LEAP)],
    "add_months": [(date(2024, 1, 31), 1), (LEAP, 12), (LEAP, -12), (LEAP, 0), (NDATE, 1),
        (date(2024, 3, 31), -1)],
    "months_between": [(TS, TS2), (date(2024, 3, 31), LEAP), (LEAP, date(2024, 1, 31)),
        (TS, datetime(2023, 1, 15, 1, 2, 3)), (TS, NTS), (TS, TS2, False),
        (datetime(1997, 2, 28, 10, 30), datetime(1996, 10, 30)),
        (datetime(2024, 3, 15, 5), datetime(2024, 1, 15, 23))],
    "next_day": [(LEAP, "MO"), (LEAP, "Thursday"), (LEAP, "fri"), (LEAP, "xx"), (NDATE, "MO")],
    "trunc":
        [(LEAP, u) for u in ("year", "yy", "QUARTER", "month", "mon", "mm", "week", "day", "bogus")] + [(NDATE, "year"),
        (date(2024, 3, 3), "week")],
    "date_trunc":
        [(u, TS) for u in ("YEAR", "quarter", "MM", "week", "DAY", "dd", "hour", "minute", "second", "millisecond", "microsecond", "x")] + [("day", NTZ),
        ("month", LEAP), ("year", NTS), ("hour", OLD)],
    "timestampadd":
        [(u, 3, TS) for u in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")] + [("DAY", 1, LEAP),
        ("MONTH", -1, datetime(2024, 3, 31)), ("DAY", NI, TS), ("HOUR", 1, NTZ)],
    "timestampdiff":
        [(u, TS2, TS) for u in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND")] + [("MONTH", TS, TS2),
        ("MONTH", datetime(2024, 1, 31), datetime(2024, 2, 29)), ("DAY", LEAP, NEW_YEAR), ("DAY", NTS, TS),
        ("MONTH", LEAP, date(2024, 1, 31)), ("YEAR", LEAP, date(2025, 2, 28))],
    "make_date": [(2024, 2, 29), (2023, 2, 29), (2024, 13, 1), (NI, 1, 1)],
    "make_timestamp": [(2024, 2, 29, 1, 2, D("3.5")), (2024, 2, 29, 1, 2, 60), (2024, 2, 29, 25, 2, 3),
        (2024, 2, 29, 1, 2, D("60.5")), (NI, 1, 1, 1, 1, 1), (2024, 7, 1, 1, 2, 3, "Europe/Paris"),
        (2024, 7, 1, 1, 2, 3, "+05:30"), (2024, 7, 1, 1, 2, 3, "Nowhere"), (LEAP, NOON), (LEAP, NOON, "Europe/Paris"),
        (LEAP, NOON, "Nowhere"), (NDATE, NOON), (LEAP, NTIME), (LEAP, NOON, NS)],
    "make_timestamp_ntz": [(2024, 2, 29, 1, 2, D("3.5")), (2024, 2, 30, 1, 2, 3), (LEAP, NOON), (LEAP, SHORT),
        (NDATE, NOON), (LEAP, NTIME), (LEAP, NOON, "UTC"), (TS, NOON)],
    # --- times of day
    "make_time": [(1, 2, D("3.5")), (23, 59, D("59.999999")), (0, 0, 0), (24, 0, 0), (1, 60, 0), (1, 2, 60), (-1, 0, 0),
        (1, 2, D("3.1234567")), (1, 2, D("59.9999999")), (NI, 1, 1), (1, 2, -1), (1, 2, 3.5)],
    "to_time": [("12:34:56.5",), ("1:2",), ("x",), (NS,), ("12.34.56", "HH.mm.ss"), ("02 PM", "hh a"), ("12:34", "HH.mm"),
        ("12:34:56.987", "HH:mm:ss.SSS"), ("2024-01-01 12:34", "yyyy-MM-dd HH:mm"), (TS,)],
    "try_to_time": [("x",), ("12:34",), (NS,), ("12.34", "HH.mm"), ("12-34", "HH.mm")],
    "time_diff":
        [(u, NOON, LAST) for u in ("HOUR", "minute", "Second", "MILLISECOND", "MICROSECOND")] + [("HOUR", LAST, NOON),
        ("DAY", NOON, LAST), ("HOURS", NOON, LAST), ("SECOND", NTIME, LAST), (NS, NOON, LAST), ("MINUTE", SHORT, NOON),
        ("MINUTE", "01:00", NOON)],
    "time_trunc":
        [(u, NOON) for u in ("HOUR", "minute", "Second", "MILLISECOND", "MICROSECOND", "day")] + [("SECOND", SHORT),
        ("HOUR", NTIME), (NS, NOON), ("HOUR", LAST)],
    "time_from_seconds": each(0, 86399, 86400, -1, NI, D("1.23456789"), D("86399.999999999"), 1.5, NAN, INF, big(5)),
    "time_from_millis": each(0, 86399999, 86400000, -1, NI),
    "time_from_micros": each(0, big(86399999999), big(86400000000), -1, NI),
    "time_to_seconds": each(NOON, MIDNIGHT, LAST, SHORT, NTIME),
    "time_to_millis": each(NOON, LAST, NTIME),
    "time_to_micros": each(NOON, LAST, NTIME, SHORT),
    "make_dt_interval": [(1, 12, 30, D("1.001001")), (2,), ()],
    "make_ym_interval": [(1, 2), (1,), (), (178956970, 8), (NI, 1)],
    "convert_timezone": [("UTC", "Asia/Seoul", NTZ), ("Europe/Paris", "UTC", NTZ), ("UTC", "Nowhere", NTZ)],
    "to_timestamp_ltz": [("2024-02-29 01:02:03",), ("x",)],
    "unix_date": each(LEAP, EARLY, NDATE),
    "unix_seconds": each(TS, OLD, NTS),
    "unix_millis": each(TS, datetime(1969, 12, 31, 23, 59, 59, 999900)),
    "unix_micros": each(TS, datetime(1969, 12, 31, 23, 59, 59, 999999)),
    "date_from_unix_date": each(0, 19782, -1, NI),
    "timestamp_seconds": each(0, 1709212455, D("1.123456"), 1.5, -1, NI),
    "timestamp_millis": each(big(1230219000123), -1, NI),
    "timestamp_micros": each(big(1230219000123123), -1),
    "from_utc_timestamp": [(TS, "Asia/Seoul"), (TS, "+03:00"), (TS, "UTC"), (TS, "Nowhere"), (NTS, "UTC")],
    "to_utc_timestamp": [(TS, "Asia/Seoul"), (TS, "America/New_York"), (TS, "-8:00"), (NTS, "UTC")],
    "to_date": [("2024-02-29",), ("2024-2-9",), ("29/02/2024", "dd/MM/yyyy"), ("x",),
        ("20240229", "yyyyMMdd"), ("Feb 29, 2024", "MMM d, yyyy"), (NS,), (TS,), (LEAP,),
        ("2024-02-30", "yyyy-MM-dd"), ("24-02-29", "yy-MM-dd"),
        ("2024-02-29 10:11:12", "yyyy-MM-dd HH:mm:ss"), ("2024-02-29", "yyyy"), ("2024 060", "yyyy DDD")],
    "try_to_date": [("x",), ("2024-02-29",), ("29/02/2024", "dd/MM/yyyy")],
    "to_timestamp": [("2024-02-29 01:02:03",), ("2024-02-29",), ("2024-02-29T01:02:03.456Z",),
        ("29.02.2024 01:02", "dd.MM.yyyy HH:mm"), ("x",), (NS,), (LEAP,),
        ("01:02:03 PM 2024-02-29", "hh:mm:ss a yyyy-MM-dd"),
        ("2024-02-29 01:02:03.123", "yyyy-MM-dd HH:mm:ss.SSS"),
        ("2024-02-29 01:02 +02:00", "yyyy-MM-dd HH:mm XXX"), ("2024-02-29 01", "yyyy-MM-dd[ HH]"),
        ("2024-02-29", "yyyy-MM-dd[ HH]"), ("Thu, 29 Feb 2024", "EEE, dd MMM yyyy"), ("2024'02", "yyyy''MM")],
    "try_to_timestamp": [("x",), ("2024-02-29 01:02:03",)],
    "to_timestamp_ntz": [("2024-02-29 01:02:03",), ("2024-02-29 01:02:03+05:00",)],
    "date_format":
        [(TS, p) for p in ("yyyy-MM-dd HH:mm:ss", "y yy yyyy yyyyy", "M MM MMM MMMM", "L LL LLL LLLL", "d dd", "D DDD", "E EEE EEEE", "a h hh K KK")] + [(TS, p) for p in ("H HH k kk", "m mm s ss", "S SS SSS SSSSSS SSSSSSSSS", "Q QQ QQQ QQQQ", "q qq qqq qqqq", "z zzzz", "VV", "O OOOO", "X XX XXX", "x xx xxx", "Z ZZZZ ZZZZZ")] + [(TS, p) for p in ("'at' HH''mm", "G", "F", "[yyyy]", "")] + [(LEAP, "yyyy/MM/dd"),
        (NTS, "y"), (NTZ, "HH:mm:ss.SSS"), (datetime(1, 2, 3), "yyyy y")],
    "unix_timestamp": [(TS,), (LEAP,), ("2024-02-29 01:02:03",), ("29/02/2024", "dd/MM/yyyy"), (NTS,),
        ("x",)],
    "from_unixtime": [(0,), (1709212455, "yyyy-MM-dd"), (NI,), (-1,)],
    # --- arrays
    "array": [(1, 2), (1, NI), (), (1, 2.5), ("a", "b"), (1, "a"), ([1], [2])],
    "size": each([1, 2], [], null(Array(INT)), {1: 2}, {}),
    "array_size": each([1, None], null(Array(INT))),
    "element_at": [([1, 2, 3], 2), ([1, 2, 3], -1), ([1, 2, 3], 4), ([1, 2, 3], 0), ([1, None], 2),
        ({1: "a"}, 1), ({1: "a"}, 9), (null(Array(INT)), 1), ({"a": 1}, "a")],
    "try_element_at": [([1, 2, 3], 4), ([1, 2, 3], -4), ([1], 0), ({1: "a"}, 9)],
    "get": [([1, 2], 0), ([1, 2], 2), ([1, 2], -1), (null(Array(INT)), 0), ([1, 2], NI)],
    "subscript": [([1, 2], 0), ([1, 2], 2), ([1, 2], -1), ({1: "a"}, 1), ({1: "a"}, 2)],
    "slice": [([1, 2, 3, 4], 2, 2), ([1, 2, 3, 4], -2, 2), ([1, 2], 5, 1), ([1, 2], 0, 1), ([1, 2], 1, -1),
        ([1, 2], -5, 3), ([1, 2], 1, 0)],
    "array_contains": [([1, 2], 2), ([1, 2], 3), ([1, None], 3), ([1, None], 1), ([1.5, NAN], NAN),
        (["a"], "a"), ([1, 2], 2.0), ([], 1)],
    "array_position": [([3, 2, 1], 1), ([1], 9), ([None, 1], 1), (["a", "b"], "b"), ([1, 2], NI)],
    "array_distinct": each([1, 2, 1, None, None], [], [NAN, NAN], [0.0, -0.0], [[1], [1]]),
    "array_union": [([1, 2], [2, 3]), ([1, None], [None]), ([], [1]), ([1], [2.5])],
    "array_intersect": [([1, 2, 2], [2, 3]), ([1, None], [None]), ([NAN], [NAN])],
    "array_except": [([1, 2, 2], [1]), ([1, None], [None]), ([1], null(Array(INT)))],
    "array_remove": [([1, 2, None, 1], 1), ([1], NI), ([], 1)],
    "array_compact": each([1, None, 2], []),
    "sort_array": [([3, None, 1],), ([3, None, 1], False), (["b", "a"],), ([1.5, NAN, -1.0],),
        ([True, False],)],
    "array_sort": [([3, None, 1],), ([[2], [1, 5]],), ([NAN, 1.0],)],
    "array_min": each([3, None, 1], [], [NAN, 1.0], ["b", "a"]),
    "array_max": each([3, None, 1], [], [NAN, 1.0], [None], ["b", "a"]),
    "array_join": [(["a", None, "b"], ","), (["a", None, "b"], ",", "?"), ([], ","), ([1, 2], "-")],
    "flatten": each([[1, 2], [3]], [[1], None], [[]]),
    "arrays_overlap": [([1, 2], [2]), ([1], [2]), ([1, None], [2]), ([1, None], [1]), ([None], []),
        ([], [1])],
    "array_repeat": [("a", 2), (NI, 2), ("a", 0), ("a", -1), ("a", NI)],
    "array_append": [([1], 2), ([1], NI), (null(Array(INT)), 1), ([1], 2.5)],
    "array_prepend": [([1], 2), ([1], NI)],
    "array_insert": [([1, 2, 3], 2, 9), ([1, 2, 3], 5, 9), ([1, 2, 3], -1, 9), ([1, 2, 3], -5, 9),
        ([1], 0, 9), ([1], 1, NI)],
    "sequence": [(1, 5), (5, 1), (1, 10, 3), (1, 1), (1, 5, -1), (big(1), 3), (LEAP, date(2024, 3, 2)),
        (5, 1, -2)],
    "arrays_zip": [([1, 2], ["a"]), ([1], null(Array(INT))), ()],
    # --- maps
    "map": [(1, "a", 2, "b"), (1, NS), (), (NI, "a"), (1, "a", 1, "b"), (1, 1, 2.5, 2)],
    "map_keys": each({1: "a", 2: "b"}, {}, null(Map(INT, STRING))),
    "map_values": each({1: "a", 2: None}, {}),
    "map_entries": each({1: "a"}),
    "map_from_arrays": [([1, 2], ["a", "b"]), ([1], ["a", "b"]), ([1, 1], ["a", "b"]),
        ([1, None], ["a", "b"])],
    "map_from_entries": each([(1, "a"), (2, "b")], [(1, "a"), None]),
    "map_concat": [({1: "a"}, {2: "b"}), ({1: "a"}, {1: "b"}), ({1: "a"}, null(Map(INT, STRING)))],
    "map_contains_key": [({1: "a"}, 1), ({1: "a"}, 2), (null(Map(INT, STRING)), 1)],
    "str_to_map": [("a:1,b:2",), ("a",), ("a=1&b=2", "&", "="), ("a:1,a:2",), (NS,), ("a:b:c",)],
}

# Days and intervals: the operators again.
CASES["add"] += [(LEAP, 1), (1, LEAP), (LEAP, T(86400000000, DAYS)), (LEAP, T(14, MONTHS)), (TS, T(14, MONTHS)), (TS, T(3600000000, MICROS))]
CASES["add"] += [(LEAP, T(3600000000, MICROS)), (T(3600000000, MICROS), T(1, MICROS)), (NTZ, T(5, MICROS)), (date(2024, 1, 31), T(1, MONTHS)), (LEAP, 1.5)]
CASES["sub"] += [(LEAP, 1), (LEAP, T(86400000000, DAYS)), (LEAP, T(1, MONTHS)), (LEAP, NEW_YEAR), (TS, TS2), (LEAP, TS), (TS, T(3600000000, MICROS))]
CASES["sub"] += [(T(3600000000, MICROS), T(1, MICROS)), (NTZ, NTZ)]
CASES["mul"] += [(T(3600000000, MICROS), 2), (3, T(3600000000, MICROS)), (T(3600000000, MICROS), 1.5), (T(7, MICROS), D("0.5"))]
CASES["div"] += [(T(3600000000, MICROS), 2), (T(7, MICROS), 2), (T(7, MICROS), 0), (T(3600000000, MICROS), 1.5)]
CASES["lt"] += [(T(1, MICROS), T(2, MICROS)), (T(1, MONTHS), T(2, MONTHS))]

# Times of day: the operators again.
CASES["add"] += [(NOON, T(3600000000, MICROS)), (T(3600000000, MICROS), NOON), (LAST, T(1, MICROS)), (NOON, T(86400000000, DAYS)), (SHORT, T(0, DAYS))]
CASES["add"] += [(NOON, T(14, MONTHS)), (NTIME, T(1, MICROS)), (NOON, null(MICROS)), (NOON, NOON), (NOON, 1), (SHORT, T(1000001, MICROS)), (NOON, None)]
CASES["sub"] += [(NOON, T(3600000000, MICROS)), (MIDNIGHT, T(1, MICROS)), (NOON, LAST), (LAST, SHORT), (NOON, NTIME), (NOON, "01:00"), ("01:00", NOON), (NOON, None)]
CASES["sub"] += [(T(3600000000, MICROS), NOON), (NOON, TS)]
for _name in ("eq", "lt", "ge", "ne", "eqns"):
    CASES[_name] += [(NOON, LAST), (NOON, NOON), (SHORT, NOON), (NOON, NTIME), (MIDNIGHT, "00:00"), (NOON, TS), (NOON, LEAP)]
CASES["in_list"] += [(NOON, LAST, NOON), (SHORT, "01:02:03.456", LAST), (NOON, NTIME)]
CASES["coalesce"] += [(NTIME, NOON), (SHORT, NOON), (NTIME, "12:00")]
CASES["greatest"] += [(NOON, LAST, SHORT), (NTIME, MIDNIGHT)]
CASES["concat"] += [("a", NOON), (MIDNIGHT, SHORT)]
CASES["hour"] += each(NOON, MIDNIGHT, LAST, SHORT, NTIME)
CASES["minute"] += each(NOON, LAST, NTIME)
CASES["second"] += each(NOON, LAST, SHORT, NTIME)
CASES["date_part"] += [("hour", NOON), ("minute", NOON), ("second", NOON), ("second", SHORT), ("seconds", T("01:02:03", Time(0))), ("day", NOON), ("second", NTIME)]
CASES["date_format"] += [(NOON, p) for p in ("HH:mm:ss.SSSSSS", "h:mm a", "H m s S", "yyyy HH", "d", "'at' hh")] + [(NTIME, "HH"), (MIDNIGHT, "h a")]
CASES["array_max"] += each([NOON, LAST])
CASES["year"] += each(NOON)

CASTS: list[tuple[Any, Type]] = [
    (value, target)
    for target, values in {
        STRING: [1, -1.5, 10000000.0, 0.0001, 123456.789, 0.001, 1e21, 100.0, NAN, INF, D("1.50"),
            D("-0.05"), True, LEAP, TS, OLD, NTZ, b"abc", [1, None], {1: "a"}, (1, "a", None), F32,
            T("16777216", FLOAT), T("3.4028235E38", FLOAT), T("1.17E-38", FLOAT), T(3723000000, MICROS),
            T(-14, MONTHS), T(172800000000, DAYS), NI, date(5, 1, 2), 5e-324, 1.7976931348623157e308,
            9999999.0, 12345678.9, 2.0**53, ["a", "b"], [[1], []], {"k": [1.5]}, T(0, MICROS),
            T(-1, MICROS), NOON, MIDNIGHT, LAST, SHORT, NTIME, [time(1, 2), None]],
        INT: ["12", " 12 ", "+5", "-5", "1.5", "", "x", "2147483648", 1.9, -1.9, 3e9, NAN, D("2.7"),
            D("-2.7"), True, big(5), LONG_MAX, T(3, TINYINT), NS, T(172800000000, DAYS), NOON, LAST],
        BIGINT: ["9223372036854775808", "1e3", 1e18, 1e19, TS, OLD, D("12345678901.5"),
            datetime(1969, 12, 31, 23, 59, 59, 500000)],
        TINYINT: [127, 128, -129, "128", 1.5, D("127.9"), NOON, MIDNIGHT, time(0, 1)],
        DOUBLE: ["1.5", " 1e3 ", "inf", "-Infinity", "NaN", "nan", "x", "1d", "1f", "", 1, LONG_MAX,
            D("0.1"), F32, True, TS, "0x10", "1_0"],
        FLOAT: ["0.1", 1e39, 0.1, 16777217, D("0.1"), "1e-46"],
        Decimal(5, 2): ["1.005", "1.995", "999.995", "1e2", "x", " 7 ", 1, 1000, 1.005, 2.675, D("1.2345"),
            D("-1.005"), True, INF, NAN, F32, "", "1.", ".5"],
        Decimal(38, 10): ["0.00000000005", 1e30, LONG_MAX, NOON],
        Decimal(6, 1): [NOON, LAST, time(1, 2, 3, 50_000)],
        Array(TIME): [["1:02", "x"], ["1:02"]],
        BOOLEAN: ["true", "T", "yes", "1", " y ", "false", "No", "0", "x", "", 1, 0, -5, 0.0, 0.1,
            D("0.00"), NS],
        DATE: ["2024-02-29", " 2024-2-9 ", "2024", "2024-02", "2023-02-29", "x", "2024-02-29 10:11:12",
            "2024-02-29T10", "20240229", TS, NTZ, "", "0001-01-01", "2024-1-1x", "24-01-01"],
        TIMESTAMP: ["2024-02-29", "2024-02-29 1:2:3", "2024-02-29T01:02:03.123456789Z",
            "2024-02-29 01:02:03+02:00", "2024-02-29 01:02:03 Europe/Paris", "2024", "x",
            "2024-02-29 25:00:00", LEAP, NTZ, 0, 1.5, D("1.123456"), big(1709212455), "2024-02-29 01:02",
            "2024-02-29 01", " 2024-02-29 01:02:03 ", "2024-02-29 01:02:03.", "2024-02-29 01:02:03 UTC",
            "2024-02-29 01:02:03-8", "2024-02-29 24:00:00"],
        TIMESTAMP_NTZ: ["2024-02-29 01:02:03", "2024-02-29 01:02:03+02:00", LEAP, TS],
        TIME: ["12:34:56.789012", " 1:2 ", "T09:00", "12:00 AM", "12:30:15.5pm", "1:02  PM", "13:00 PM", "0:30 AM", "24:00", "12:60",
            "12:34:60", "12", "12:", "12:34:", "x", "", "12:34:56.", "12:34:56.1234567891", "12:34:56Z", "+1:00", "123:00",
            "t1:00", TS, NTZ, LEAP, NOON, SHORT, 5, NS, T(1, MICROS), True, 1.5],
        Time(3): ["12:34:56.7899", NOON, TS, LAST],
        Time(0): ["12:34:56.9", NOON, SHORT, NTZ],
        BINARY: ["abc", "é", NS],
        Array(STRING): [[1, None, 2]],
        Array(INT): [["1", "2"], [1.5], ["x"]],
        Map(STRING, BIGINT): [{1: 2}],
        MICROS: ["INTERVAL '1 02:03:04' DAY TO SECOND", "1 02:03:04", "x"],
        DAYS: [3],
    }.items()
    for value in values
]
