"""Excerpts of statements: the place is shown, and not thousands of characters around it."""

from __future__ import annotations

import random

from evercurrent.source import WIDTH, Place


def test_the_caret_stands_under_the_place_whatever_the_length_of_the_line() -> None:
    rng = random.Random(7)
    for _ in range(500):
        lines = ["".join(rng.choice("abcdef \t") for _ in range(rng.choice((5, 90, 4000)))) for _ in range(3)]
        text = "\n".join(lines)
        start = rng.randrange(len(text))
        if text[start] == "\n":
            continue
        place = Place(text, start, start + rng.choice((1, 3, 500)))
        _, shown, carets = place.excerpt().splitlines()
        assert len(shown) <= WIDTH + 10
        assert carets.lstrip(" \t").strip("^") == ""
        at = carets.index("^")
        width = carets.count("^")
        assert text[start : start + width].startswith(shown[at : at + width])


def test_a_short_line_is_shown_whole() -> None:
    text = "SELECT x\nFROM r"
    assert Place(text, 7, 8).excerpt() == "line 1, column 8\n  SELECT x\n         ^"
