"""Regular expressions of Java, translated to those of Python; what has no translation is refused.

The differences that matter: in Java \\d, \\w, \\s and case-insensitive matching are about ASCII, a dot also leaves out \\r and
the Unicode line ends, groups are named (?<n>...), \\Q...\\E quotes, \\p{...} are classes, and \\z is the very end.

>>> translate(r"(?<y>\\d{4})-\\p{Upper}\\Q.\\E\\z")
'(?P<y>\\\\d{4})-[A-Z]\\\\.\\\\Z'
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache, lru_cache

from evercurrent.errors import EvaluationError, UnsupportedError

LINE_END = "\\n\\r\\u0085\\u2028\\u2029"
BLANK = " \\t\\xa0\\u1680\\u180e\\u2000-\\u200a\\u202f\\u205f\\u3000"
DOT_ALL, CASELESS = "s", "i"

POSIX = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": "\\x00-\\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": "!-/:-@\\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": " \\t",
    "Cntrl": "\\x00-\\x1f\\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": " \\t\\n\\x0b\\f\\r",
}
CATEGORY = re.compile(
    r"(?:Is|general_category=|gc=)?(L[ultmo]?|M[nce]?|N[dlo]?|Z[slp]?|C[cfon]?|P[cdseifo]?|S[mcko]?)"
)


def refuse(pattern: str, what: str) -> UnsupportedError:
    return UnsupportedError(f"{what} in the regular expression {pattern!r} is not supported")


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """The compiled form of a Java pattern."""
    try:
        return re.compile(translate(pattern), re.ASCII)
    except (re.error, OverflowError, RecursionError) as error:
        raise EvaluationError(f"{pattern!r} is not a regular expression: {error}") from None


def translate(pattern: str) -> str:
    """The pattern in Python's syntax, to be compiled with `re.ASCII`."""
    return _Translation(pattern).run()


class _Translation:
    """One pass over the pattern; `flags` are those that hold in the group at hand."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.out: list[str] = []
        self.dot_all = [False]

    def run(self) -> str:
        while self.at < len(self.pattern):
            c = self.pattern[self.at]
            self.at += 1
            match c:
                case "\\":
                    self.out.append(self.escape(in_class=False))
                case "[":
                    self.out.append(self.character_class())
                case "(":
                    self.group()
                case ")":
                    if len(self.dot_all) > 1:
                        self.dot_all.pop()
                    self.out.append(")")
                case ".":
                    self.out.append(r"[\s\S]" if self.dot_all[-1] else f"[^{LINE_END}]")
                case "$":
                    self.out.append(rf"(?=(?:\r\n|[{LINE_END}])?\Z)" if "m" not in self.modes() else "$")
                case _:
                    self.out.append(c)
        return "".join(self.out)

    def modes(self) -> str:
        """Flags given at the very beginning, the usual place."""
        found = re.match(r"\(\?([a-z]+)\)", self.pattern)
        return found[1] if found else ""

    def group(self) -> None:
        rest = self.pattern[self.at :]
        if not rest.startswith("?"):
            self.open("(")
            return
        for prefix in ("?:", "?=", "?!", "?<=", "?<!", "?>"):
            if rest.startswith(prefix):
                self.at += len(prefix)
                self.open("(" + prefix)
                return
        named = re.match(r"\?<([A-Za-z][A-Za-z0-9]*)>", rest)
        if named:
            self.at += named.end()
            self.open(f"(?P<{named[1]}>")
            return
        flags = re.match(r"\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])", rest)
        if not flags:
            raise refuse(self.pattern, "a group of an unknown kind")
        self.at += flags.end()
        on, off = flags[1], flags[2] or ""
        if set(on + off) - set("ismx"):
            raise refuse(self.pattern, f"the flag {flags[0]}")
        dot_all = (self.dot_all[-1] or DOT_ALL in on) and DOT_ALL not in off
        kept_on, kept_off = on.replace(DOT_ALL, ""), off.replace(DOT_ALL, "")
        inner = kept_on + (f"-{kept_off}" if kept_off else "")
        if flags[3] == ":":
            self.dot_all.append(dot_all)
            self.out.append(f"(?{inner}:")
            return
        self.dot_all[-1] = dot_all
        if inner:
            if "".join(self.out) or kept_off:
                raise refuse(self.pattern, "a flag that is not at the beginning")
            self.out.append(f"(?{inner})")

    def open(self, text: str) -> None:
        self.dot_all.append(self.dot_all[-1])
        self.out.append(text)

    def escape(self, in_class: bool) -> str:
        """What follows a backslash."""
        rest = self.pattern[self.at :]
        if not rest:
            raise EvaluationError(f"{self.pattern!r} ends with a backslash")
        c = rest[0]
        self.at += 1
        match c:
            case "Q":
                end = self.pattern.find("\\E", self.at)
                quoted = self.pattern[self.at : end if end >= 0 else len(self.pattern)]
                self.at = end + 2 if end >= 0 else len(self.pattern)
                return re.escape(quoted)
            case "E":
                return ""
            case "p" | "P":
                return self.property(c == "P", in_class)
            case "h":
                return BLANK if in_class else f"[{BLANK}]"
            case "H":
                return self.not_in_class(in_class, f"[^{BLANK}]")
            case "v":
                return f"{LINE_END}\\x0b\\f" if in_class else f"[{LINE_END}\\x0b\\f]"
            case "V":
                return self.not_in_class(in_class, f"[^{LINE_END}\\x0b\\f]")
            case "R":
                return self.not_in_class(in_class, rf"(?:\r\n|[{LINE_END}\x0b\f])")
            case "z":
                return self.not_in_class(in_class, r"\Z")
            case "Z":
                return self.not_in_class(in_class, rf"(?=(?:\r\n|[{LINE_END}])?\Z)")
            case "e":
                return r"\x1b"
            case "k":
                name = re.match(r"<([A-Za-z][A-Za-z0-9]*)>", self.pattern[self.at :])
                if not name:
                    raise refuse(self.pattern, "\\k")
                self.at += name.end()
                return f"(?P={name[1]})"
            case "x" if rest.startswith("x{"):
                end = rest.find("}")
                self.at += end
                return re.escape(chr(int(rest[2:end], 16)))
            case "0":
                digits = re.match(r"[0-7]{1,3}", rest[1:])
                if not digits:
                    raise EvaluationError(f"{self.pattern!r} has an octal escape without digits")
                self.at += digits.end()
                return re.escape(chr(int(digits[0], 8)))
            case "c":
                self.at += 1
                return re.escape(chr(ord(rest[1:2] or "@") ^ 64))
            case "G" | "X" | "N":
                raise refuse(self.pattern, f"\\{c}")
            case _ if c.isalpha() and c not in "dDwWsSbBAtnrfaxuU":
                raise EvaluationError(f"{self.pattern!r} has the unknown escape \\{c}")
            case _ if c in "dDwWsSbBAtnrfaxuU" or c.isdigit():
                return "\\" + c
            case _:
                return re.escape(c)

    def not_in_class(self, in_class: bool, text: str) -> str:
        if in_class:
            raise refuse(self.pattern, "a class of this kind within another")
        return text

    def property(self, negated: bool, in_class: bool) -> str:
        found = re.match(r"\{(\w+(?:=\w+)?)\}|(\w)", self.pattern[self.at :])
        if not found:
            raise refuse(self.pattern, "\\p")
        self.at += found.end()
        name = found[1] or found[2]
        category = CATEGORY.fullmatch(name)
        ranges = POSIX.get(name) or (category_ranges(category[1]) if category else None)
        if ranges is None:
            raise refuse(self.pattern, f"\\p{{{name}}}")
        if in_class:
            if negated:
                raise refuse(self.pattern, "a negated property within a class")
            return ranges
        return f"[{'^' if negated else ''}{ranges}]"

    def character_class(self) -> str:
        out = ["["]
        if self.pattern.startswith("^", self.at):
            out.append("^")
            self.at += 1
        first = True
        while self.at < len(self.pattern):
            c = self.pattern[self.at]
            self.at += 1
            if c == "]" and not first:
                return "".join([*out, "]"])
            if c == "[":
                raise refuse(self.pattern, "a class within a class")
            if c == "&" and self.pattern.startswith("&", self.at):
                raise refuse(self.pattern, "an intersection of classes")
            if c == "\\":
                out.append(self.escape(in_class=True))
            else:
                # Python warns of these; in Java they are plain.
                out.append("\\" + c if c in "]~|&" else c)
            first = False
        raise EvaluationError(f"{self.pattern!r} has a class that is not closed")


@cache
def category_ranges(category: str) -> str:
    """All characters of a Unicode category, as the inside of a class."""
    ranges: list[str] = []
    start: int | None = None
    for i in range(sys.maxunicode + 2):
        inside = i <= sys.maxunicode and unicodedata.category(chr(i)).startswith(category)
        if inside and start is None:
            start = i
        elif not inside and start is not None:
            ranges.append(f"\\U{start:08x}-\\U{i - 1:08x}")
            start = None
    return "".join(ranges)


@lru_cache(maxsize=1024)
def replacement(text: str) -> tuple[str | int, ...]:
    """A Java replacement as pieces: text, and numbers or names of groups (as `$name`)."""
    pieces: list[str | int] = []
    i = 0
    while i < len(text):
        if text[i] == "\\":
            if i + 1 == len(text):
                raise EvaluationError("the replacement ends with a backslash")
            pieces.append(text[i + 1])
            i += 2
        elif text[i] == "$":
            found = re.match(r"\$(?:(\d)|\{([A-Za-z][A-Za-z0-9]*)\})", text[i:])
            if not found:
                raise EvaluationError(f"{text!r} refers to no group after $")
            pieces.append(int(found[1]) if found[1] else "$" + found[2])
            i += found.end()
            if found[1]:
                continue
        else:
            pieces.append(text[i])
            i += 1
    return tuple(pieces)


def expand(match: re.Match[str], pieces: tuple[str | int, ...]) -> str:
    """The replacement of one match; a group that took no part is empty."""
    try:
        return "".join(
            (match[p] or "")
            if isinstance(p, int)
            else (match[p[1:]] or "")
            if len(p) > 1 and p[0] == "$"
            else p
            for p in pieces
        )
    except IndexError:
        raise EvaluationError("the replacement refers to a group that is not in the pattern") from None
