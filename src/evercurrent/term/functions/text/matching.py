"""Patterns: LIKE, ILIKE, RLIKE and the regexp functions.

A LIKE pattern that only asks for a beginning, an end or a part becomes a plain string operation.

    'abc' LIKE 'a_c'                            TRUE
    regexp_replace('a1b22', '[0-9]+', '#')      'a#b#'
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from evercurrent.data.types import BOOLEAN, INT, STRING, Array, Type
from evercurrent.errors import EvaluationError
from evercurrent.limits import ELEMENTS
from evercurrent.term.functions.failures import bad_argument, check_size, within_size
from evercurrent.term.functions.function import Function, Signature, Types, Unknown
from evercurrent.term.functions.signatures import Infer, simple, take_exactly
from evercurrent.term.functions.text.regex import compile_pattern, expand, replacement, translate

Test = Callable[[str], bool]


# --- LIKE --------------------------------------------------------------------------------------------------


def pieces(pattern: str, escape: str) -> list[str | None]:
    """Characters of a LIKE pattern: text as it is, "%" as None, "_" as an empty string."""
    found: list[str | None] = []
    i = 0
    while i < len(pattern):
        c = pattern[i]
        if c == escape:
            i += 1
            if i == len(pattern):
                raise EvaluationError(f"the pattern {pattern!r} ends with its escape character")
            if pattern[i] not in ("_", "%", escape):
                raise EvaluationError(f"the pattern {pattern!r} escapes {pattern[i]!r}; only _ and % can be")
            found.append(pattern[i])
        else:
            found.append(None if c == "%" else "" if c == "_" else c)
        i += 1
    return found


@lru_cache(maxsize=4096)
def like_test(pattern: str, escape: str = "\\", caseless: bool = False) -> Test:
    """The test that a pattern stands for."""
    parts = pieces(pattern, escape)
    plain = plain_like(parts)
    if plain is not None and not caseless:
        kind, text = plain
        match kind:
            case "==":
                return lambda s: s == text
            case "startswith":
                return lambda s: s.startswith(text)
            case "endswith":
                return lambda s: s.endswith(text)
            case _:
                return lambda s: text in s
    flags = re.DOTALL | (re.IGNORECASE if caseless else 0)
    match = re.compile(like_regex(parts), flags).fullmatch
    return lambda s: match(s) is not None


def like_regex(parts: list[str | None]) -> str:
    """A regular expression that takes linear time for each piece between two %.

    The first place where a piece is found is as good as any later one, so what was found there is never given up again
    (an atomic group); the last piece stands at the end.

    >>> like_regex(pieces("a%b_%c", "\\\\"))
    'a(?>.*?b.).*c'
    """
    runs = [""]
    for p in parts:
        if p is None:
            runs.append("")
        else:
            runs[-1] += "." if p == "" else re.escape(p)
    if len(runs) == 1:
        return runs[0]
    first, *middle, last = runs
    return f"{first}{''.join(f'(?>.*?{run})' for run in middle if run)}.*{last}"


def plain_like(parts: list[str | None]) -> tuple[str, str] | None:
    """An equivalent string operation and its text, if the pattern has % at its ends only."""
    if "" in parts:
        return None
    start = bool(parts) and parts[0] is None
    end = len(parts) > 1 and parts[-1] is None
    middle = parts[start : len(parts) - end]
    if None in middle:
        return None
    text = "".join(p for p in middle if p is not None)
    return {(0, 0): "==", (0, 1): "startswith", (1, 0): "endswith", (1, 1): "in"}[start, end], text


def like(s: str, pattern: str, escape: str = "\\") -> bool:
    return like_test(pattern, escape)(s)


def ilike(s: str, pattern: str, escape: str = "\\") -> bool:
    return like_test(pattern, escape, True)(s)


def _python_like(types: Types, result: Type, args: tuple[str, ...]) -> str | None:
    try:
        pattern = ast.literal_eval(args[1].strip("() "))
    except (ValueError, SyntaxError):
        return None
    if len(args) > 2 or not isinstance(pattern, str):
        return None
    try:
        plain = plain_like(pieces(pattern, "\\"))
    except EvaluationError:
        return None
    if plain is None:
        return None
    kind, text = plain
    match kind:
        case "==":
            return f"({args[0]} == {text!r})"
        case "in":
            return f"({text!r} in {args[0]})"
        case _:
            return f"{args[0]}.{kind}({text!r})"


# --- regular expressions -----------------------------------------------------------------------------------


def rlike(s: str, pattern: str) -> bool:
    return compile_pattern(pattern).search(s) is not None


def regexp_replace(s: str, pattern: str, by: str, start: int = 1) -> str:
    if start < 1:
        bad_argument("REGEXP_REPLACE", "the position must be at least 1")
    if start > len(s) + 1:
        return s
    parts = replacement(by)
    head, tail = s[: start - 1], s[start - 1 :]
    room = ELEMENTS

    def expand_pattern(m: re.Match[str]) -> str:
        nonlocal room
        made = expand(m, parts)
        room -= len(made)
        if room < 0:
            check_size("REGEXP_REPLACE", ELEMENTS - room)
        return made

    made = head + compile_pattern(pattern).sub(expand_pattern, tail)
    return within_size("REGEXP_REPLACE", made)  # type: ignore[no-any-return]


def _group(name: str, found: re.Match[str], group: int) -> str:
    if not 0 <= group <= found.re.groups:
        bad_argument(name, f"the pattern has {found.re.groups} groups, not {group}")
    return found[group] or ""


def regexp_extract(s: str, pattern: str, group: int = 1) -> str:
    regex = compile_pattern(pattern)
    if not 0 <= group <= regex.groups:
        bad_argument("REGEXP_EXTRACT", f"the pattern has {regex.groups} groups, not {group}")
    found = regex.search(s)
    return "" if found is None else _group("REGEXP_EXTRACT", found, group)


def regexp_extract_all(s: str, pattern: str, group: int = 1) -> tuple[str, ...]:
    regex = compile_pattern(pattern)
    if not 0 <= group <= regex.groups:
        bad_argument("REGEXP_EXTRACT_ALL", f"the pattern has {regex.groups} groups, not {group}")
    return tuple(m[group] or "" for m in regex.finditer(s))


def regexp_count(s: str, pattern: str) -> int:
    return sum(1 for _ in compile_pattern(pattern).finditer(s))


def regexp_substr(s: str, pattern: str) -> str | None:
    found = compile_pattern(pattern).search(s)
    return found[0] if found else None


def regexp_instr(s: str, pattern: str, group: int = 0) -> int:
    found = compile_pattern(pattern).search(s)
    return found.start() + 1 if found else 0


def split(s: str, pattern: str, limit: int = -1) -> tuple[str, ...]:
    """Java's splitting: an empty match at the beginning splits nothing off."""
    if not pattern:
        return _split_characters(s, limit)
    parts: list[str] = []
    start = 0
    for found in compile_pattern(pattern).finditer(s):
        if 0 < limit <= len(parts) + 1:
            break
        if found.end() == 0 or (found.start() == found.end() == len(s)):
            if found.end() == 0:
                continue
        parts.append(s[start : found.start()])
        start = found.end()
    return (*parts, s[start:])


def _split_characters(s: str, limit: int) -> tuple[str, ...]:
    if not s:
        return ("",)
    if 0 < limit < len(s):
        return (*s[: limit - 1], s[limit - 1 :])
    return tuple(s)


def _check_pattern(infer: Infer, position: int = 1) -> Callable[[Types, tuple[Any, ...]], Signature]:
    """Translate a constant pattern when the call is built, so that what is refused is refused early."""

    def refine(types: Types, constants: tuple[Any, ...]) -> Signature:
        signature = infer(types)
        pattern = constants[position]
        if not isinstance(pattern, Unknown) and isinstance(pattern, str):
            translate(pattern)
        return signature

    return refine


def _regexp(
    name: str, args: Types, result: Type, meaning: Callable[..., Any], least: int, nullable: bool = False
) -> Function:
    infer = take_exactly(args, result, least)
    return Function(
        name, infer, lambda t, r: meaning, fails=True, nullable=nullable, refine=_check_pattern(infer)
    )


TEXTS = Array(STRING)

FUNCTIONS = (
    Function(
        "like",
        take_exactly((STRING, STRING, STRING), BOOLEAN, least=2),
        lambda t, r: like,
        python=_python_like,
        fails=True,
    ),
    simple("ilike", (STRING, STRING, STRING), BOOLEAN, ilike, least=2, fails=True),
    _regexp("rlike", (STRING, STRING), BOOLEAN, rlike, 2),
    _regexp("regexp_replace", (STRING, STRING, STRING, INT), STRING, regexp_replace, 3),
    _regexp("regexp_extract", (STRING, STRING, INT), STRING, regexp_extract, 2),
    _regexp("regexp_extract_all", (STRING, STRING, INT), TEXTS, regexp_extract_all, 2),
    _regexp("regexp_count", (STRING, STRING), INT, regexp_count, 2),
    _regexp("regexp_substr", (STRING, STRING), STRING, regexp_substr, 2, nullable=True),
    _regexp("regexp_instr", (STRING, STRING, INT), INT, regexp_instr, 2),
    _regexp("split", (STRING, STRING, INT), TEXTS, split, 2),
)
