"""What is wrong or not supported is said with its place, and nothing but our own errors comes out."""

from __future__ import annotations

import random
import re

import pytest

from evercurrent.errors import EvercurrentError, InternalError, QueryError, UnsupportedError
from evercurrent.frontend.sql.parse import parse_expression, parse_script, parse_statement
from tests.unit.frontend.sql.reading import catalog, read
from tests.unit.frontend.sql.test_meaning import BOTH, SAME

# The text, with the place that the error must point at between « and », then what the message and hint must say.
WRONG = [
    ("SELECT «nme» FROM emp", "there is no column nme", "did you mean name?"),
    ("SELECT e.«nme» FROM emp e", "", ""),
    ("SELECT name FROM «empl»", "there is no table or view empl", "did you mean emp?"),
    ("SELECT «name» FROM emp, dept", "name is ambiguous", "emp.name or dept.name"),
    ("SELECT «name», sum(salary) FROM emp", "must appear in GROUP BY", "any_value(name)"),
    ("SELECT dept, «name» FROM emp GROUP BY dept", "must appear in GROUP BY", ""),
    ("SELECT «*» FROM emp GROUP BY dept", "must appear in GROUP BY", ""),
    ("SELECT dept FROM emp GROUP BY dept ORDER BY «salary» LIMIT 1", "must appear in GROUP BY", ""),
    ("SELECT dept FROM emp GROUP BY dept HAVING «salary» > 1", "must appear in GROUP BY", ""),
    ("SELECT id FROM emp WHERE «sum(salary» ) > 1", "aggregate sum cannot stand in WHERE", "HAVING"),
    ("SELECT sum(«sum(salary») ) FROM emp", "inside the aggregate", "subquery"),
    ("SELECT id FROM emp WHERE «row_number() OVER (ORDER BY id») = 1", "cannot stand in WHERE", "QUALIFY"),
    ("SELECT id FROM emp GROUP BY id HAVING «rank() OVER (ORDER BY id») = 1", "is not allowed in HAVING", ""),
    ("SELECT id FROM emp GROUP BY «2»", "the select list has 1 column", ""),
    ("SELECT id FROM emp ORDER BY «3»", "the select list has 1 column", ""),
    ("SELECT count(*) FROM emp GROUP BY «1»", "an aggregate cannot be a key", ""),
    ("SELECT «upperr(name») FROM emp", "there is no function upperr", "did you mean upper?"),
    ("SELECT «lag(name») FROM emp", "needs OVER", ""),
    ("SELECT «upper(name) OVER (») FROM emp", "neither a window function nor an aggregate", ""),
    ("SELECT sum(id) OVER «w» FROM emp", "there is no window w", ""),
    ("SELECT «name + hired» FROM emp WHERE «1»", "WHERE needs a BOOLEAN", ""),
    ("SELECT id FROM emp WHERE «name»", "WHERE needs a BOOLEAN", ""),
    ("SELECT «abs(hired») FROM emp", "ABS", ""),
    ("SELECT (SELECT «id, name FROM emp» )", "has one column", ""),
    ("SELECT id FROM emp WHERE «id IN (SELECT id, name FROM emp» )", "subquery of 2 columns", ""),
    ("SELECT «id FROM emp UNION SELECT id, name FROM emp»", "as many columns", ""),
    ("SELECT a FROM t JOIN u USING («q»)", "there is no column q on the left side", ""),
    ("SELECT * FROM t AS x(«a», b)", "2 names are given to 4 columns", ""),
    ("WITH «c» AS (SELECT 1), c AS (SELECT 2) SELECT * FROM c", "two queries in WITH are called c", ""),
    ("SELECT «x».* FROM t", "there is no relation x in FROM", ""),
    ("SELECT * EXCEPT («q») FROM t", "there is no column q to leave out", ""),
    ("SELECT a.«x» FROM t", "", ""),
    ("SELECT date «'2020-13-01'»", "this is not a DATE", ""),
    ("SELECT 1 «1» 1", "syntax error", ""),
    ("SELECT (1 «FROM» t", "syntax error", ""),
    ("SELECT «'abc", "never closed", ""),
    ("SELECT «`abc", "never closed", ""),
    ("SELECT a FROM t LIMIT -«1»", "LIMIT", ""),
    ("SELECT a FROM t LIMIT «a»", "LIMIT", ""),
    ("SELECT id, «posexplode(tags») AS x FROM emp", "returns 2 columns", ""),
    ("SELECT explode(tags), «explode(tags») FROM emp", "one generator only", ""),
    ("SELECT upper(«explode(tags»)) FROM emp", "cannot stand here", "LATERAL VIEW"),
    ("SELECT explode(«id») FROM emp", "an ARRAY or a MAP is needed", ""),
    ("SELECT id FROM emp QUALIFY «id = 1»", "QUALIFY needs a window function", ""),
    ("SELECT rank() OVER (ORDER BY id) FROM emp GROUP BY «dept»", "", ""),
    ("SELECT DISTINCT name FROM emp ORDER BY «salary»", "SELECT DISTINCT", ""),
    ("INSERT INTO t («z») VALUES (1)", "there is no column z in t", ""),
    ("INSERT INTO t VALUES («1, 2»)", "takes 4 values here", ""),
    ("INSERT INTO «tt» VALUES (1)", "there is no table tt", "did you mean t?"),
    ("UPDATE t SET «z» = 1", "there is no column z in t", ""),
    ("UPDATE t SET a = 1, «a» = 2", "assigned twice", ""),
    ("DELETE FROM t WHERE «z» = 1", "there is no column z", ""),
    ("CREATE TABLE x («a INT», A INT)", "", ""),
    ("CREATE TABLE x (a INT, PRIMARY KEY («b»))", "there is no column b in x", ""),
    ("CREATE TABLE x (a INT REFERENCES «nothing»)", "there is no table nothing", ""),
    ("CREATE VIEW v AS SELECT «a, a FROM t»", "two columns are called a", "AS"),
]  # fmt: skip


@pytest.mark.parametrize(("marked", "message", "hint"), [w for w in WRONG if w[1]])
def test_an_error_points_at_its_place(marked: str, message: str, hint: str) -> None:
    text = marked.replace("«", "").replace("»", "")
    with pytest.raises(QueryError) as caught:
        read(text)
    error = caught.value
    assert message in error.message
    assert hint in (error.hint or "")
    assert error.place is not None
    starts = [m.start() - 2 * i for i, m in enumerate(re.finditer("«", marked))]
    assert error.place.start in starts or "ambiguous" in message or "WITH" in message or "called a" in message


UNSUPPORTED = [
    ("SELECT «rand»() FROM t", "rand"),
    ("CREATE VIEW v AS SELECT «current_date» FROM t", "current_date"),
    ("CREATE VIEW v AS SELECT «now»()", "now"),
    ("SELECT «uuid»()", "uuid"),
    ("SELECT «monotonically_increasing_id»() FROM t", "monotonically_increasing_id"),
    ("CREATE VIEW v AS SELECT «unix_timestamp»()", "unix_timestamp"),
    ("SELECT «json_tuple(s, 'a'») FROM t", "json_tuple"),
    ("SELECT * FROM «t» TABLESAMPLE (10 PERCENT)", "TABLESAMPLE"),
    ("SELECT a FROM t SORT BY «a»", "SORT BY"),
    ("INSERT OVERWRITE «t SELECT * FROM t»", "INSERT OVERWRITE"),
    ("«VACUUM» t", "VACUUM"),
    ("CREATE TABLE «z (a INT) AS SELECT 1»", "CREATE TABLE AS with types"),
    ("CREATE TABLE z LIKE «t»", "CREATE TABLE ... LIKE"),
    ("SELECT «timestamp '2024-03-31 00:30:00' AT TIME ZONE 'UTC'»", "AT TIME ZONE"),
    ("SELECT «ARRAY[1, 2»]", "ARRAY[...]"),
    ("SELECT «ARRAY[1»]", "ARRAY[...]"),
    ("CREATE VIEW v AS SELECT «name FROM emp ORDER BY salary»", "ordering a view"),
    (
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT max«(n) FROM r») SELECT * FROM r",
        "under an aggregate",
    ),
    (
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT x FROM edge WHERE x NOT IN (SELECT n FROM r)) SELECT * FROM r",
        "in a condition other than EXISTS or IN",
    ),
    ("SELECT a FROM t LIMIT «50» PERCENT", "LIMIT with PERCENT"),
    ("SELECT a FROM t LIMIT «50»%", "LIMIT with PERCENT"),
    ("SELECT a FROM t GROUP BY DISTINCT «ROLLUP (a, a)»", "GROUP BY DISTINCT"),
    (
        "WITH RECURSIVE r(n) AS (SELECT 1) SEARCH DEPTH FIRST BY «n» SET o SELECT * FROM r",
        "DEPTH behind a recursive query",
    ),
    (
        "WITH RECURSIVE r(n) AS (SELECT 1) CYCLE «n» SET c USING p SELECT * FROM r",
        "CYCLE behind a recursive query",
    ),
    ("ALTER TABLE t ADD COLUMN «z» INT FIRST", "the place of an added column"),
    ("ALTER TABLE t ADD COLUMN «z» INT AFTER a", "the place of an added column"),
    ("CREATE TABLE z («a» INT UNIQUE NULLS NOT DISTINCT)", "UNIQUE NULLS NOT DISTINCT"),
    ("CREATE TABLE z (a INT, UNIQUE NULLS NOT DISTINCT («a»))", "UNIQUE NULLS NOT DISTINCT"),
]


@pytest.mark.parametrize(("marked", "message"), UNSUPPORTED)
def test_what_is_not_supported_is_named(marked: str, message: str) -> None:
    text = marked.replace("«", "").replace("»", "")
    with pytest.raises(UnsupportedError) as caught:
        read(text)
    assert message in caught.value.message
    assert caught.value.place is not None


def test_the_caret() -> None:
    with pytest.raises(QueryError) as caught:
        read("SELECT id,\n       nme\nFROM emp")
    assert str(caught.value) == (
        "there is no column nme here\nline 2, column 8\n         nme\n         ^^^\nhint: did you mean name?"
    )


def test_the_furthest_error_is_told() -> None:
    with pytest.raises(QueryError) as caught:
        read("SELECT a FROM t, (SELECT x y z FROM u) v")
    assert caught.value.place is not None
    assert caught.value.place.start == len("SELECT a FROM t, (SELECT x y ")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        ";",
        "-- nothing",
        "SELECT",
        "(",
        ")",
        "SELECT " + "(" * 400 + "1" + ")" * 400,
        "SELECT " + "(" * 5000,
        "SELECT " + " + ".join(["1"] * 3000),
        "SELECT " + "abs(" * 300 + "1" + ")" * 300,
        "SELECT * FROM " + "(SELECT * FROM " * 80 + "t" + ") x" * 80,
        "\0",
        "SELECT '\ud800'",
        "SELECT 'a' 'b' AS FROM t",
        "SELECT 1; SELECT 2",
        "WITH a AS SELECT 1",
        "CREATE",
        "CREATE ASSERTION",
        "CREATE ASSERTION x",
        "CREATE ASSERTION x CHECK (",
        "CREATE OR REPLACE ASSERTION x CHECK (1)",
        "DROP ASSERTION",
        "DROP",
        "INSERT INTO t",
        "UPDATE t",
        "MERGE INTO t USING u",
        "MERGE INTO t USING u ON true",
        "SELECT 99999999999999999999999999999999999999999999",
        "SELECT 1e999999",
        "SELECT INTERVAL '1' FORTNIGHT",
        "SELECT CAST(1 AS DECIMAL(99, 1))",
        "SELECT CAST(1 AS DECIMAL(a))",
        "CREATE TABLE z (a ARRAY)",
        "CREATE TABLE z (a STRUCT<>)",
    ],
)
def test_malformed_text_gives_our_errors_only(text: str) -> None:
    try:
        read(text)
    except InternalError:
        raise
    except EvercurrentError as error:
        assert str(error)
    else:
        assert text.startswith(("SELECT (((", "SELECT abs(", "SELECT * FROM (", "SELECT '", "SELECT 1 +"))


def test_mutated_statements_give_our_errors_only() -> None:
    random_ = random.Random(20260101)
    texts = [*SAME.strip().splitlines(), *(text for text, _ in BOTH)]
    texts.append("UPDATE t SET a = a + 1, s = DEFAULT WHERE b IN (SELECT x FROM edge)")
    texts.append(
        "CREATE TABLE z (a INT PRIMARY KEY, b DECIMAL(9,2) DEFAULT 1.5, CHECK (a > 1), UNIQUE (a, b))"
    )
    texts.append(
        "MERGE INTO t USING u ON t.a = u.a WHEN MATCHED AND u.b > 3 THEN DELETE WHEN MATCHED THEN UPDATE SET b = u.b"
        " WHEN NOT MATCHED THEN INSERT (a, b) VALUES (u.a, DEFAULT)"
    )
    words = [re.findall(r"\w+|'[^']*'|[^\w\s]", text) for text in texts]
    every = sorted(
        {word for text in words for word in text}
        | set([";", "'", '"', "`", "--", "/*", "::", "[", "]", "{", "}", "?", ":x", "@", "\\", "\x00", "é"])
    )
    outcomes = {"read": 0, "refused": 0}
    for _ in range(1500):
        mutated = list(random_.choice(words))
        for _ in range(random_.choice([1, 1, 2, 4])):
            at = random_.randrange(len(mutated) + 1)
            match random_.randrange(4):
                case 0:
                    del mutated[at : at + 1]
                case 1:
                    mutated.insert(at, random_.choice(every))
                case 2:
                    mutated[at : at + 1] = [random_.choice(every)]
                case _:
                    other = random_.choice(words)
                    start = random_.randrange(len(other))
                    mutated[at:at] = other[start : start + 4]
        try:
            parse_statement(" ".join(mutated), catalog())
            outcomes["read"] += 1
        except InternalError as error:
            pytest.fail(f"{' '.join(mutated)!r}: {error.__cause__!r}")
        except EvercurrentError:
            outcomes["refused"] += 1
    assert outcomes["read"] > 20 and outcomes["refused"] > 500


def test_hostile_names_are_data() -> None:
    statement = read(
        'SELECT `x"; import os` AS `\'); DROP TABLE t; --` FROM (SELECT a AS `x"; import os` FROM t) `y``z`'
    )
    assert statement.names == ("'); DROP TABLE t; --",)  # type: ignore[union-attr]


def test_scripts_are_split_at_semicolons_outside_strings_and_comments() -> None:
    text = "SELECT ';' AS a; -- one; two\n/* ; */ SELECT `x;y` FROM t;;\nSELECT \"it's; ok\""
    assert parse_script(text) == ["SELECT ';' AS a", "SELECT `x;y` FROM t", 'SELECT "it\'s; ok"']


def test_an_expression_over_fields() -> None:
    table = catalog().table("t")
    assert table is not None
    term = parse_expression("a + 1 > b", table.fields)
    assert str(term.type) == "BOOLEAN"
    with pytest.raises(QueryError, match="there is no column zz"):
        parse_expression("zz", table.fields)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT FROM WHERE", "a table name is expected here"),
        ("SELECT a FROM", "a table name is expected here"),
        ("CREATE VIEW AS SELECT 1", "a table name is expected here"),
        ("SELECT (a FROM t", "')' is expected here"),
        ("SELECT a FROM t WHERE", "something is missing here"),
    ],
)
def test_messages_of_the_parser_are_sentences(text: str, said: str) -> None:
    with pytest.raises(QueryError) as caught:
        read(text)
    assert str(caught.value).startswith(f"syntax error: {said}\n") and "Token" not in str(caught.value)
