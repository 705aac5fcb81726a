"""Literals, and ranges of numbers.

    date '2024-05-01'      Literal(datetime.date(2024, 5, 1), DATE)
    list(1..3)             list(1, 2, 3)

The value of nil is NULL.
"""

from __future__ import annotations

import datetime

from evercurrent.data.texts import read_time
from evercurrent.data.types import DATE, DOUBLE, STRING, TIME, TIMESTAMP
from evercurrent.frontend.oql import syntax
from evercurrent.frontend.oql.context import wrong
from evercurrent.frontend.oql.kinds import NIL, STRING_KIND, Atom, Coll, kind_of
from evercurrent.frontend.oql.values import One
from evercurrent.source import Place
from evercurrent.term import build
from evercurrent.term.nodes import Literal


def constant(node: syntax.Constant) -> One:
    match node.type:
        case "nil":
            return One(NIL, build.null())
        case "undefined":
            return One(NIL, build.null(), build.FALSE)
        case "string":
            return One(STRING_KIND, build.lit(node.value.replace("\\\\", "\\"), STRING))
        case "float":
            return One(Atom(DOUBLE), build.lit(node.value, DOUBLE))
        case "time":
            return One(Atom(TIME), build.lit(time_of_day(node), TIME))
        case "date" | "timestamp":
            type = DATE if node.type == "date" else TIMESTAMP
            term = build.cast(build.lit(node.value), type, strict=False, place=node.place)
            if isinstance(term, Literal) and term.value is None:
                raise wrong(f"{node.value!r} is not a {node.type}", node.place)
            return One(Atom(type), term)
        case _:
            term = build.lit(node.value)
            return One(Atom(term.type), term)


def time_of_day(node: syntax.Constant) -> datetime.time:
    found = read_time(node.value)
    if found is None:
        raise wrong(f"{node.value!r} is not a time", node.place, "write it as '10:30:00'")
    return found


def number_range(kind: syntax.Kind, low: One, high: One, place: Place | None) -> One:
    """`list(low..high)`: the whole numbers from one to the other."""
    numbers = build.call("sequence", low.term, high.term, place=place)
    term = build.case(
        [(build.call("le", low.term, high.term), numbers)], build.cast(build.call("array"), numbers.type)
    )
    element = kind_of(numbers.type)
    assert isinstance(element, Coll)
    defined = build.conjunction([low.defined, high.defined])
    return One(Coll(kind, element.element), term, defined)
