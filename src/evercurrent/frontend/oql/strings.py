"""Strings: characters, substrings, `like`.

    "evercurrent"[0] = "e"        "evercurrent"[4:6] = "cur"        "abc" like "a%" is true

Positions begin with 0, and both ends of a substring are included.
"""

from __future__ import annotations

from evercurrent.data.types import BOOLEAN, INT, STRING
from evercurrent.frontend.oql.context import Context, wrong
from evercurrent.frontend.oql.kinds import STRING_KIND, TRUTH
from evercurrent.frontend.oql.operators import all_defined, atom
from evercurrent.frontend.oql.values import Expr, One
from evercurrent.source import Place
from evercurrent.term import build
from evercurrent.term.nodes import Literal, Term


def character(context: Context, text: Expr, at: One, place: Place | None) -> tuple[One, Term]:
    """`text[at]`, from 0, and whether the text is so long."""
    value, index = atom(context, text, place), build.cast(at.term, INT)
    value = _string(value, place)
    inside = build.conjunction(
        [build.call("ge", index, build.lit(0)), build.call("lt", index, build.call("length", value.term))]
    )
    found = build.call("substring", value.term, build.call("add", index, build.lit(1)), build.lit(1))
    shown = build.case([(inside, found)], build.null(STRING))
    known = build.call("coalesce", inside, build.TRUE)  # nil in is nil out
    return One(STRING_KIND, shown, build.conjunction([value.defined, at.defined, known])), inside


def substring(context: Context, text: Expr, low: One, high: One, place: Place | None) -> One:
    """`text[low:high]`, both included, cut short at the ends."""
    value = _string(atom(context, text, place), place)
    start = build.call("greatest", build.cast(low.term, INT), build.lit(0))
    length = build.call("add", build.call("sub", build.cast(high.term, INT), start), build.lit(1))
    term = build.call(
        "substring",
        value.term,
        build.call("add", start, build.lit(1)),
        build.call("greatest", length, build.lit(0)),
    )
    return One(STRING_KIND, term, all_defined([value, low, high]))


def _string(value: One, place: Place | None) -> One:
    if value.term.type not in (STRING, build.null().type) and "String" not in type(value.term.type).__name__:
        raise wrong("only strings and lists have positions", place)
    return value


def like(context: Context, text: Expr, pattern: Expr, place: Place | None) -> One:
    """`*` and `%` stand for any run of characters, `?` and `_` for one; a backslash takes the next as it is."""
    value, shape = atom(context, text, place), atom(context, pattern, place)
    if not isinstance(shape.term, Literal):
        raise wrong("the pattern of like must be a constant", place)
    if shape.term.value is None:
        return One(TRUTH, build.null(BOOLEAN), all_defined([value, shape]))
    term = build.call("like", value.term, build.lit(translate_pattern(str(shape.term.value))), place=place)
    return One(TRUTH, term, all_defined([value, shape]))


def translate_pattern(pattern: str) -> str:
    r"""A pattern with the signs of SQL.

    >>> print(translate_pattern(r"A*?\*\%"))
    A%_*\%
    """
    parts, at = [], 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\" and at + 1 < len(pattern):
            at += 1
            parts.append(f"\\{pattern[at]}" if pattern[at] in "%_\\" else pattern[at])
        else:
            parts.append({"*": "%", "?": "_", "\\": "\\\\"}.get(sign, sign))
        at += 1
    return "".join(parts)
