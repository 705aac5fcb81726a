"""The text of a query: places in it, and suggestions for a name that is not there.

sqlglot keeps offsets on identifiers, literals and calls; the place of anything else is the hull of the places inside it, with the
brackets that open or close there.

>>> suggestion("custmer", ["customer", "total"])
'did you mean customer?'
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from sqlglot import exp

from evercurrent.source import Place


def place_of(text: str, node: exp.Expr | None) -> Place | None:
    """The range of the text that a syntax node was read from; None if nothing in it has a place."""
    if node is None:
        return None
    start, end = len(text), -1
    for part in node.walk():
        meta = part.meta if part._meta else {}
        if meta.get("start") is not None and meta.get("end") is not None:
            start, end = min(start, meta["start"]), max(end, meta["end"] + 1)
    return Place(text, *with_brackets(text, start, end)) if start < end else None


QUOTED = re.compile(r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"|`(?:[^`]|``)*`", re.DOTALL)
OPENED, CLOSED = re.compile(r"([(\[]\s*)$"), re.compile(r"\s*[)\]]")


def with_brackets(text: str, start: int, end: int) -> tuple[int, int]:
    """The range with the brackets that it opens or closes, where they stand next to it.

    >>> text = "SELECT (a) / (b - 5) AS q"
    >>> text[slice(*with_brackets(text, 8, 19))]
    '(a) / (b - 5)'
    """
    depth = lowest = 0
    for c in QUOTED.sub("", text[start:end]):
        depth += (c in "([") - (c in ")]")
        lowest = min(lowest, depth)
    for _ in range(-lowest):
        if (found := OPENED.search(text, 0, start)) is None:
            break
        start = found.start()
    for _ in range(depth - lowest):
        if (found := CLOSED.match(text, end)) is None:
            break
        end = found.end()
    return start, end


def suggestion(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """A hint that names the closest known name, or lists the few that there are."""
    candidates = list(dict.fromkeys(known))
    lowered = {c.lower(): c for c in candidates}
    close = get_close_matches(name.lower(), list(lowered), n=1, cutoff=cutoff)
    if close:
        return f"did you mean {lowered[close[0]]}?"
    if 0 < len(candidates) <= 12:
        return f"there is {', '.join(candidates)}"
    return None
