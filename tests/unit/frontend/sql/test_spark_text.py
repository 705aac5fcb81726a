"""The text that Spark is given: the user's tokens, with constants that no setting can change. No Spark runs here."""

from __future__ import annotations

import re

import pytest

from evercurrent.frontend.sql.spark_text import query_text, string_text, total_order
from evercurrent.frontend.sql.syntax import tokenize
from tests.hostile_constants import STRINGS

STRING = re.compile(r"'(?:[ !#%&()*+,\-./0-9:;<=>?@A-Z\[\]^_a-z{|}~]|\\u[0-9A-F]{4}|\\U[0-9A-F]{8})*'")


@pytest.mark.parametrize("text", STRINGS)
def test_strings_hold_nothing_that_a_setting_changes(text: str) -> None:
    written = query_text(f"CREATE VIEW v AS SELECT {text}").removeprefix("SELECT ")
    assert all(STRING.fullmatch(part) for part in re.findall(r"'[^']*'", written)) and "$" not in written
    values = [t.text for t in tokenize(written).tokens]
    assert "".join(values) == STRINGS[text]


def test_comments_and_hints_are_left_out() -> None:
    text = "SELECT /*+ BROADCAST(t) */ a -- x\n, /* b /* c */ d */ 1L, a<<2 FROM `t``u` /* e */"
    assert query_text(f"CREATE VIEW v (p, q) COMMENT 'AS x' AS {text}") == "SELECT a , 1L, a<<2 FROM `t``u`"


def test_strings_that_touch_stay_two() -> None:
    assert query_text("SELECT 'a'\"b\"") == "SELECT 'a' 'b'"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("SELECT a FROM t OFFSET 2", "SELECT a FROM t ORDER BY 1 OFFSET 2"),
        ("SELECT a FROM t ORDER BY b LIMIT 3 OFFSET 2", "SELECT a FROM t ORDER BY b, 1 LIMIT 3 OFFSET 2"),
        (
            "SELECT a FROM t UNION SELECT b FROM u LIMIT 1",
            "SELECT a FROM t UNION SELECT b FROM u ORDER BY 1 LIMIT 1",
        ),
        (
            "SELECT RANK() OVER (ORDER BY b) FROM t ORDER BY 1",
            "SELECT RANK() OVER (ORDER BY b) FROM t",
        ),
        (
            "SELECT a FROM (SELECT a, ' LIMIT 1' AS b FROM t LIMIT 4) LIMIT 5",
            "SELECT a FROM (SELECT a, ' LIMIT 1' AS b FROM t ORDER BY 1, 2 LIMIT 4) ORDER BY 1 LIMIT 5",
        ),
        ("SELECT a FROM (SELECT * FROM t LIMIT 1)", None),
    ],
)
def test_ties_are_broken_in_the_text(text: str, wanted: str | None) -> None:
    assert total_order(text, 1) == wanted


def test_any_character_can_be_written() -> None:
    for c in map(chr, (*range(0x250), 0x2028, 0xFFFD, 0x1F600, 0x10FFFF)):
        assert [t.text for t in tokenize(string_text(c)).tokens] == [c]
