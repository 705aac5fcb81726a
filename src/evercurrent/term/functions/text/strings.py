"""Functions of text. Positions count characters (code points) from 1; a negative one counts from the end.

substring('evercurrent', 5, 3)      'cur'
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from evercurrent.data.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    INT,
    STRING,
    Array,
    Binary,
    Null,
    String,
    Type,
)
from evercurrent.limits import ELEMENTS
from evercurrent.term.functions.coerce import common_type, implicit
from evercurrent.term.functions.failures import bad_argument, check_size, within_size
from evercurrent.term.functions.function import Function, Signature, TypeMismatch, Types
from evercurrent.term.functions.signatures import any_types, count, expect, simple

MOST = (1 << 31) - 1


# --- text or binary ----------------------------------------------------------------------------------------


def text_or_binary(t: Type, position: int = 0) -> Type:
    """BINARY stays, everything else is text."""
    return t if isinstance(t, Binary) else expect(t, STRING, position)


def _both(result: Type | None, *others: Type, least: int | None = None) -> Callable[[Types], Signature]:
    """A first argument of text or binary, then others; the result is of the first's type unless given."""

    def infer(types: Types) -> Signature:
        count(types, 1 + (len(others) if least is None else least), 1 + len(others))
        first = text_or_binary(types[0])
        rest = tuple(expect(t, w, i + 1) for i, (t, w) in enumerate(zip(types[1:], others, strict=False)))
        return Signature((first, *rest), first if result is None else result)

    return infer


def _two_alike(result: Type) -> Callable[[Types], Signature]:
    """Two texts, or two binaries."""

    def infer(types: Types) -> Signature:
        count(types, 2)
        t: Type = BINARY if all(isinstance(t, Binary | Null) for t in types) and BINARY in types else STRING
        return Signature((expect(types[0], t, 0), expect(types[1], t, 1)), result)

    return infer


def octets(x: str | bytes) -> int:
    return len(x.encode()) if isinstance(x, str) else len(x)


def substring(x: Any, position: int, length: int = MOST) -> Any:
    start = position - 1 if position > 0 else len(x) + position if position < 0 else 0
    end = start + length
    return x[max(0, start) : end] if end > 0 and end > start else x[:0]


def right(x: str, n: int) -> str:
    return x[-n:] if n > 0 else ""


# --- joining -----------------------------------------------------------------------------------------------


def _infer_concat(types: Types) -> Signature:
    if any(isinstance(t, Array) for t in types):
        t = common_type(types)
        return Signature((t,) * len(types), t)
    if types and all(isinstance(t, Binary) for t in types):
        return Signature(types, BINARY)
    return Signature(tuple(expect(t, STRING, i) for i, t in enumerate(types)), STRING)


def _implement_concat(types: Types, result: Type) -> Callable[..., Any]:
    empty: Any = b"" if result == BINARY else "" if isinstance(result, String) else ()

    def two(a: Any, b: Any) -> Any:
        made = a + b
        return made if len(made) <= ELEMENTS else within_size("CONCAT", made)

    def many(*parts: Any) -> Any:
        check_size("CONCAT", sum(map(len, parts)))
        return tuple(x for part in parts for x in part) if isinstance(result, Array) else empty.join(parts)

    return two if len(types) == 2 else many


def _python_concat(types: Types, result: Type, args: tuple[str, ...]) -> str | None:
    """What grows by constants alone needs no limit."""
    if not isinstance(result, String) or not args or sum(not a.startswith(("'", '"')) for a in args) > 1:
        return None
    return f"({' + '.join(args)})" if len(args) < 4 else f"''.join(({', '.join(args)}))"


def _infer_concat_ws(types: Types) -> Signature:
    count(types, 1, 1000)
    args: list[Type] = [expect(types[0], STRING, 0)]
    for i, t in enumerate(types[1:], 1):
        if isinstance(t, Array):
            if not implicit(t.element, STRING):
                raise TypeMismatch(f"argument {i + 1} is {t}, but text or an array of text is needed")
            args.append(Array(STRING))
        else:
            args.append(expect(t, STRING, i))
    return Signature(tuple(args), STRING)


def concat_ws(separator: str | None, *parts: Any) -> str | None:
    if separator is None:
        return None
    known: list[str] = []
    for part in parts:
        known.extend(x for x in (part if isinstance(part, tuple) else (part,)) if x is not None)
    check_size("CONCAT_WS", sum(map(len, known)) + len(separator) * len(known))
    return separator.join(known)


# --- changing ----------------------------------------------------------------------------------------------


def trim(x: str, characters: str = " ") -> str:
    return x.strip(characters) if characters else x


def ltrim(x: str, characters: str = " ") -> str:
    return x.lstrip(characters) if characters else x


def rtrim(x: str, characters: str = " ") -> str:
    return x.rstrip(characters) if characters else x


def translate(x: str, source: str, target: str) -> str:
    table: dict[int, str | None] = {}
    for i, c in enumerate(source):
        table.setdefault(ord(c), target[i] if i < len(target) else None)
    return x.translate(table)


def replace(x: str, search: str, by: str = "") -> str:
    if not search:
        return x
    if len(by) > len(search):
        check_size("REPLACE", len(x) + x.count(search) * (len(by) - len(search)))
    return x.replace(search, by)


def repeat(x: str, n: int) -> str:
    check_size("REPEAT", len(x) * n)
    return x * max(0, n)


def _pad(x: Any, length: int, pad: Any) -> Any:
    """The filling that brings x to a length."""
    check_size("LPAD or RPAD", length)
    missing = length - len(x)
    if missing <= 0 or not pad:
        return x[:0]
    return (pad * (missing // len(pad) + 1))[:missing]


def lpad(x: Any, length: int, pad: Any = None) -> Any:
    if pad is None:
        pad = " " if isinstance(x, str) else b"\x00"
    return _pad(x, length, pad) + x[: max(0, length)]


def rpad(x: Any, length: int, pad: Any = None) -> Any:
    if pad is None:
        pad = " " if isinstance(x, str) else b"\x00"
    return x[: max(0, length)] + _pad(x, length, pad)


def _infer_pad(types: Types) -> Signature:
    count(types, 2, 3)
    binary = isinstance(types[0], Binary) and (len(types) == 2 or isinstance(types[2], Binary))
    t: Type = BINARY if binary else STRING
    wanted = (t, INT, t)[: len(types)]
    return Signature(tuple(expect(f, w, i) for i, (f, w) in enumerate(zip(types, wanted, strict=True))), t)


def initcap(x: str) -> str:
    return " ".join(word[:1].title() + word[1:].lower() for word in x.split(" "))


def overlay(x: str, by: str, position: int, length: int = -1) -> str:
    length = len(by) if length < 0 else length
    made = x[: max(0, position - 1)] + by + x[max(0, position - 1 + length) :]
    return within_size("OVERLAY", made)  # type: ignore[no-any-return]


def mask(x: str, *signs: str | None) -> str | None:
    """Letters and digits hidden behind signs: upper case, lower case, digit, other; a NULL sign leaves them."""
    if x is None:
        return None
    upper, lower, digit, other = (*signs, *("X", "x", "n", None)[len(signs) :])
    hidden = []
    for c in x:
        sign = upper if c.isupper() else lower if c.islower() else digit if c.isdigit() else other
        hidden.append(c if sign is None else sign)
    return "".join(hidden)


# --- finding -----------------------------------------------------------------------------------------------


def instr(x: str, part: str) -> int:
    return x.find(part) + 1


def locate(part: str | None, x: str | None, start: int | None = 1) -> int | None:
    """Where the part first stands from `start` on. A start that is NULL is nowhere, whatever the others are, as in Spark."""
    if start is None:
        return 0
    if part is None or x is None:
        return None
    if start < 1:
        return 0
    if not part:
        return 1
    return x.find(part, start - 1) + 1


def split_part(x: str, delimiter: str, n: int) -> str:
    if n == 0:
        bad_argument("SPLIT_PART", "parts are counted from 1, or from -1 at the end")
    parts = x.split(delimiter) if delimiter else [x]
    position = n - 1 if n > 0 else len(parts) + n
    return parts[position] if 0 <= position < len(parts) else ""


def substring_index(x: str, delimiter: str, n: int) -> str:
    if not delimiter or n == 0:
        return ""
    parts = x.split(delimiter)
    return delimiter.join(parts[:n] if n > 0 else parts[n:]) if abs(n) < len(parts) else x


def find_in_set(x: str, items: str) -> int:
    if "," in x:
        return 0
    found = items.split(",")
    return found.index(x) + 1 if x in found else 0


# --- measuring ---------------------------------------------------------------------------------------------


def levenshtein(a: str | None, b: str | None, *most: int | None) -> int | None:
    """The least number of insertions, deletions and replacements; -1 if it is more than `most`. NULL there is 0, as in Spark."""
    if a is None or b is None:
        return None
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y)))
    return row[-1] if not most or row[-1] <= (most[0] or 0) else -1


SOUNDEX = "01230127022455012623017202"


def soundex(x: str) -> str:
    if not x or not ("A" <= x[0].upper() <= "Z") or not x[0].isascii():
        return x
    code = x[0].upper()
    last = SOUNDEX[ord(code) - 65]
    for c in x[1:]:
        c = c.upper() if c.isascii() else c
        if not "A" <= c <= "Z":
            last = "0"
            continue
        digit = SOUNDEX[ord(c) - 65]
        if digit == "7":
            continue
        if digit not in ("0", last):
            code += digit
            if len(code) == 4:
                break
        last = digit
    return code.ljust(4, "0")


def character(n: int) -> str:
    return "" if n < 0 else chr(n & 0xFF)


def elt(n: int | None, *options: Any) -> Any:
    if n is None:
        return None
    if not 1 <= n <= len(options):
        bad_argument("ELT", f"there is no argument {n}")
    return options[n - 1]


def _infer_elt(types: Types) -> Signature:
    count(types, 2, 1000)
    return Signature(
        (expect(types[0], INT, 0), *(expect(t, STRING, i) for i, t in enumerate(types[1:], 1))), STRING
    )


def _implement_typeof(types: Types, result: Type) -> Callable[[Any], str]:
    name = type_name(types[0])
    return lambda x: name


def type_name(t: Type) -> str:
    """As Spark writes types: `array<int>`, `struct<a:int>`.

    >>> type_name(Array(INT))
    'array<int>'
    """
    return re.sub(r"([,:]) ", r"\1", str(t)).replace("VARCHAR", "varchar").lower()


def _implement_reverse(types: Types, result: Type) -> Callable[[Any], Any]:
    return lambda x: x[::-1]


def _infer_reverse(types: Types) -> Signature:
    count(types, 1)
    t = types[0] if isinstance(types[0], Array) else expect(types[0], STRING, 0)
    return Signature((t,), t)


FUNCTIONS = (
    Function("length", _both(INT), lambda t, r: len, python=lambda t, r, a: f"len({a[0]})"),
    Function("octet_length", _both(INT), lambda t, r: octets),
    Function("bit_length", _both(INT), lambda t, r: lambda x: 8 * octets(x)),
    simple("upper", (STRING,), STRING, str.upper),
    simple("lower", (STRING,), STRING, str.lower),
    simple("initcap", (STRING,), STRING, initcap),
    simple("trim", (STRING, STRING), STRING, trim, least=1),
    simple("ltrim", (STRING, STRING), STRING, ltrim, least=1),
    simple("rtrim", (STRING, STRING), STRING, rtrim, least=1),
    Function("substring", _both(None, INT, INT, least=1), lambda t, r: substring),
    Function("left", _both(None, INT), lambda t, r: lambda x, n: x[: max(0, n)]),
    simple("right", (STRING, INT), STRING, right),
    Function("concat", _infer_concat, _implement_concat, python=_python_concat),
    Function("concat_ws", _infer_concat_ws, lambda t, r: concat_ws, strict=False),
    simple("replace", (STRING, STRING, STRING), STRING, replace, least=2),
    simple("translate", (STRING, STRING, STRING), STRING, translate),
    Function("lpad", _infer_pad, lambda t, r: lpad, fails=True),
    Function("rpad", _infer_pad, lambda t, r: rpad, fails=True),
    simple("repeat", (STRING, INT), STRING, repeat, fails=True),
    simple("space", (INT,), STRING, lambda n: repeat(" ", n), fails=True),
    Function("reverse", _infer_reverse, _implement_reverse),
    simple("instr", (STRING, STRING), INT, instr),
    simple("locate", (STRING, STRING, INT), INT, locate, least=2, strict=False),
    simple("overlay", (STRING, STRING, INT, INT), STRING, overlay, least=3),
    simple("split_part", (STRING, STRING, INT), STRING, split_part, fails=True),
    simple("substring_index", (STRING, STRING, INT), STRING, substring_index),
    simple("find_in_set", (STRING, STRING), INT, find_in_set),
    Function("startswith", _two_alike(BOOLEAN), lambda t, r: lambda x, p: x.startswith(p)),
    Function("endswith", _two_alike(BOOLEAN), lambda t, r: lambda x, p: x.endswith(p)),
    Function("contains", _two_alike(BOOLEAN), lambda t, r: lambda x, p: p in x),
    simple("ascii", (STRING,), INT, lambda x: ord(x[0]) if x else 0),
    simple("chr", (BIGINT,), STRING, character),
    simple("levenshtein", (STRING, STRING, INT), INT, levenshtein, least=2, strict=False),
    simple("soundex", (STRING,), STRING, soundex),
    simple("mask", (STRING,) * 5, STRING, mask, least=1, strict=False),
    Function("elt", _infer_elt, lambda t, r: elt, strict=False, fails=True, nullable=True),
    Function("typeof", any_types(1, STRING), _implement_typeof, strict=False),
)
