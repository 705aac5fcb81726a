"""Patterns of Java: what is translated, and what is refused."""

from __future__ import annotations

import datetime

import pytest

from evercurrent.errors import EvaluationError, UnsupportedError
from evercurrent.term.functions.temporal import date_patterns
from evercurrent.term.functions.text.matching import like_test
from evercurrent.term.functions.text.regex import compile_pattern, translate


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"\d", "٣", False),
        (r"\w+", "é", False),
        (r"\p{L}+", "é", True),
        (r"\P{L}", "é", False),
        (r"[\p{Upper}\d]", "a", False),
        (r"(?<y>a)\k<y>", "aa", True),
        (r"\Qa.b\E", "a.b", True),
        (r"\Qa.b\E", "axb", False),
        (r"a.b", "a\rb", False),
        (r"(?s)a.b", "a\rb", True),
        (r"(?i)ABC", "abc", True),
        (r"(?i:A)B", "aB", True),
        (r"a\z", "a\n", False),
        (r"a\Z", "a\n", True),
        (r"\h", "\u00a0", True),
        (r"\x{1F600}", "😀", True),
        (r"\0101", "A", True),
        (r"a++a", "aaa", False),
        (r"(?>a|ab)c", "abc", False),
        (r"[a\]b]", "]", True),
        (r"x{2,3}", "xx", True),
    ],
)
def test_a_regular_expression_of_java_means_the_same(pattern: str, text: str, found: bool) -> None:
    assert (compile_pattern(pattern).search(text) is not None) is found


@pytest.mark.parametrize("pattern", [r"[a&&b]", r"[a[b]]", r"\G", r"\X", r"\p{IsGreek}", r"a(?i)b", r"(?u)a"])
def test_what_has_no_translation_is_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedError):
        translate(pattern)


@pytest.mark.parametrize("pattern", ["[", "(", "a{2,1}", "\\", r"\y", "*"])
def test_what_is_no_regular_expression_is_an_error(pattern: str) -> None:
    with pytest.raises(EvaluationError):
        compile_pattern(pattern)


def test_like_knows_its_escape() -> None:
    assert like_test("a\\%b")("a%b") and not like_test("a\\%b")("axb")
    assert like_test("10/%", "/")("10%")
    for bad in ("a\\", "a\\b"):
        with pytest.raises(EvaluationError):
            like_test(bad)


@pytest.mark.parametrize(
    "pattern", ["yyyy-MM-dd HH:mm:ss", "dd/MM/yyyy HH:mm:ss", "MMM d, yyyy h:mm:ss a", "yyyyMMdd HHmmss"]
)
def test_what_is_written_can_be_read(pattern: str) -> None:
    moment = datetime.datetime(2024, 2, 29, 13, 14, 15)
    assert date_patterns.read(date_patterns.write(moment, pattern), pattern) == moment


@pytest.mark.parametrize("pattern", ["YYYY", "ww", "MMMMM", "A", "bbb"])
def test_other_letters_are_refused(pattern: str) -> None:
    with pytest.raises(UnsupportedError):
        date_patterns.writers(pattern)
    with pytest.raises(UnsupportedError):
        date_patterns.reader(pattern)


def test_quotes_must_close() -> None:
    with pytest.raises(EvaluationError):
        date_patterns.tokens("yyyy 'at")
