"""Malformed SQL gives an EvercurrentError and nothing else, and changes nothing.

Valid statements with tokens dropped, doubled, swapped and replaced; soup of tokens; hostile strings. A statement that is
still valid may succeed.
"""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import evercurrent as ec
from tests.conformance.case import all_cases
from tests.laws.chooser import Drawn

VALID = [case.query for case in all_cases()] + [
    "CREATE TABLE n (id BIGINT PRIMARY KEY, x DECIMAL(10,2) DEFAULT 1.5 CHECK (x > 0), y ARRAY<INT>)",
    "CREATE OR REPLACE VIEW v AS SELECT a, COUNT(*) AS n FROM r GROUP BY a",
    "INSERT INTO r (a, b) VALUES (1, 2), (NULL, 3)",
    "INSERT INTO r SELECT b, c FROM s WHERE b IN (SELECT b FROM r)",
    "UPDATE r SET a = a + 1, b = NULL WHERE a > 1",
    "DELETE FROM r WHERE a IN (1, 2) OR b IS NULL",
    "MERGE INTO r USING s ON r.b = s.b WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (a, b) VALUES (s.b, s.c)",
    "DROP TABLE IF EXISTS nothing CASCADE",
    "TRUNCATE TABLE t",
    "CREATE ASSERTION positive CHECK (NOT EXISTS (SELECT 1 FROM r WHERE a < -100))",
]
TOKEN = re.compile(r"\s+|\w+|'[^']*'|`[^`]*`|.", re.DOTALL)
WORDS = (
    "SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT JOIN LEFT ON AND OR NOT IN EXISTS CASE WHEN THEN END NULL AS WITH "
    "RECURSIVE UNION ALL OVER PARTITION ROWS BETWEEN ( ) , . * = <> < > + - / % ; ' ` \" -- /* */ 0 1 1e999 99999999999 "
    "'a' r s t a b c d CAST INT DECIMAL(99,98) ARRAY<INT> DATE '2024-13-45' INTERVAL :x ? ?? @ # $ \\ \x00 \u2028 é 😀"
)
SOUP = re.split(" ", WORDS)


def database() -> ec.Database:
    db = ec.connect()
    db.execute("CREATE TABLE r (a INT, b INT)")
    db.execute("CREATE TABLE s (b INT, c INT)")
    db.execute("CREATE TABLE t (c INT, d STRING)")
    db.execute("INSERT INTO r VALUES (1, 2), (3, NULL)")
    db.execute("INSERT INTO s VALUES (2, 5)")
    return db


def refused_or_fine(db: ec.Database, statement: str) -> None:
    """Nothing but an EvercurrentError, and never an InternalError."""
    try:
        db.execute(statement)
    except ec.InternalError as bug:
        raise AssertionError(f"an internal error for {statement!r}: {bug}") from bug
    except ec.EvercurrentError as refusal:
        assert str(refusal).strip(), statement
    except Exception as leak:
        raise AssertionError(f"{type(leak).__name__} for {statement!r}: {leak}") from leak


@given(st.data())
def test_mutated_statements(data: Any) -> None:
    c = Drawn(data.draw)
    for _ in range(8):
        tokens = TOKEN.findall(c.pick(VALID))
        for _ in range(c.number(1, 3)):
            where = c.number(0, len(tokens) - 1)
            match c.number(0, 4):
                case 0:
                    del tokens[where]
                case 1:
                    tokens.insert(where, tokens[where])
                case 2:
                    tokens[where] = c.pick(SOUP)
                case 3:
                    tokens.insert(where, " " + c.pick(SOUP) + " ")
                case _:
                    other = c.number(0, len(tokens) - 1)
                    tokens[where], tokens[other] = tokens[other], tokens[where]
            if not tokens:
                break
        refused_or_fine(database(), "".join(tokens))


@given(st.lists(st.sampled_from(SOUP), max_size=25))
def test_token_soup(words: list[str]) -> None:
    refused_or_fine(database(), " ".join(words))
    refused_or_fine(database(), "SELECT " + " ".join(words))


@given(st.text(max_size=40))
def test_hostile_text(text: str) -> None:
    db = database()
    refused_or_fine(db, text)
    refused_or_fine(db, f"SELECT '{text}' FROM r")
    refused_or_fine(db, f"CREATE VIEW `{text}` AS SELECT a AS `{text}` FROM r")
    refused_or_fine(db, f"SELECT a FROM r WHERE d = '{text}' -- {text}")


@given(st.text(max_size=20))
def test_hostile_values_are_data(text: str) -> None:
    db = database()
    db.execute("CREATE VIEW v AS SELECT d, COUNT(*) AS n FROM t GROUP BY d")
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    db.table("t").insert((1, text))
    db.execute("INSERT INTO t VALUES (2, ?)", [text])
    assert db.view("v").rows() == [(text, 2)]


def test_a_refused_statement_changes_nothing() -> None:
    db = database()
    db.execute("CREATE VIEW v AS SELECT a FROM r")
    before = (db.tables, db.views, db.table("r").rows(), db.view("v").rows())
    for statement in (
        "CREATE VIEW w AS SELECT nothing FROM r",
        "CREATE TABLE r (x INT)",
        "INSERT INTO r VALUES (1)",
        "INSERT INTO r VALUES (1, 2), ('x', 3)",
        "UPDATE r SET a = a / 0",
        "DROP TABLE r",
        "DELETE FROM nothing",
        "INSERT INTO r VALUES (5, 5); INSERT INTO r VALUES (1, 2, 3)",
    ):
        try:
            db.execute(statement)
        except ec.EvercurrentError:
            pass
        else:
            raise AssertionError(f"not refused: {statement}")
        if ";" not in statement:
            assert (db.tables, db.views, db.table("r").rows(), db.view("v").rows()) == before, statement
