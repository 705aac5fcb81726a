"""window(time, '10 minutes' [, slide [, start]]): event-time windows, as Spark groups by them.

    SELECT window.start, count(*) FROM clicks GROUP BY window(at, '10 minutes', '5 minutes')

    a click at 12:07  ->  (12:00, 1), (12:05, 1)

A row belongs to every window that contains its time; a row without a time to none. The block is rewritten as Spark does it: its
rows are joined with their windows, under the name `window`, and the calls become that column.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from evercurrent.frontend.sql.functions import name_of
from evercurrent.frontend.sql.scope import Env
from evercurrent.limits import check
from evercurrent.term.functions.intervals import MICROS_OF

NAME = "window"
MOST = 1000
"""So many windows at most may contain one instant."""


def expand(env: Env, node: exp.Select) -> exp.Select:
    """Returns the block with its windows written out."""
    calls = list(_calls(node))
    if not calls:
        return node
    texts = {call.sql(dialect="spark", normalize=True) for call in calls}
    if len(texts) > 1:
        raise env.unsupported_error(
            "several different time windows in one query", calls[1], hint="use subqueries"
        )
    if node.args.get("from_") is None:
        raise env.wrong("window(...) needs the rows of a table", calls[0])
    made = node.copy()
    places = list(_calls(made))
    windows = _windows(env, calls[0])
    for call in places:
        call.replace(exp.Column(this=exp.Identifier(this=NAME, quoted=False)))
    alias = exp.TableAlias(
        this=exp.Identifier(this="time_windows", quoted=True),
        columns=[exp.Identifier(this=NAME, quoted=False)],
    )
    lateral = exp.Lateral(this=_call("explode", windows), view=True, outer=False, alias=alias)
    made.set("laterals", [*(made.args.get("laterals") or []), lateral])
    return made


def _calls(node: exp.Expr) -> Iterator[exp.Anonymous]:
    """The calls of window in a block, not those in queries inside it."""
    for part in node.iter_expressions():
        if isinstance(part, exp.Anonymous) and name_of(part) == NAME:
            yield part
        elif not isinstance(part, exp.Query):
            yield from _calls(part)


def _call(name: str, *args: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=list(args))


def _number(n: int) -> exp.Expr:
    return exp.Cast(this=exp.Literal.number(n), to=exp.DataType.build("bigint"))


def _windows(env: Env, call: exp.Anonymous) -> exp.Expr:
    """The array of the windows that contain the time."""
    if not 2 <= len(call.expressions) <= 4:
        raise env.wrong("window takes a time, a duration, and perhaps a slide and a start", call)
    time, *texts = call.expressions
    duration = _micros(env, texts[0])
    slide = _micros(env, texts[1]) if len(texts) > 1 else duration
    start = _micros(env, texts[2]) if len(texts) > 2 else 0
    if not 0 < slide <= duration:
        raise env.wrong("the slide of a window is positive and at most its duration", call)
    if abs(start) >= slide:
        raise env.wrong("the start of windows is less than their slide", call)
    count = -(-duration // slide)
    check(count, MOST, "windows that contain one instant", env.place(call), "use a larger slide")
    at = _call("unix_micros", exp.Cast(this=time.copy(), to=exp.DataType.build("timestamp")))
    shifted = exp.Sub(this=at.copy(), expression=_number(start))
    last = exp.Paren(this=exp.Sub(this=at, expression=_call("pmod", shifted, _number(slide))))
    structs: list[exp.Expr] = []
    for i in range(count):
        begin = exp.Sub(this=last.copy(), expression=_number(i * slide))
        end = exp.Add(this=exp.Paren(this=begin.copy()), expression=_number(duration))
        structs.append(
            _call(
                "named_struct",
                exp.Literal.string("start"),
                _call("timestamp_micros", begin),
                exp.Literal.string("end"),
                _call("timestamp_micros", end),
            )
        )
    made = _call("array", *structs)
    if duration % slide == 0:
        inside: exp.Expr = made
    else:
        element = exp.Dot(this=exp.Identifier(this="w"), expression=exp.Identifier(this="end"))
        later = exp.LT(
            this=exp.Cast(this=time.copy(), to=exp.DataType.build("timestamp")), expression=element
        )
        inside = _call("filter", made, exp.Lambda(this=later, expressions=[exp.Identifier(this="w")]))
    known = exp.Not(this=exp.Is(this=time.copy(), expression=exp.Null()))
    return exp.Case(ifs=[exp.If(this=known, true=inside)])


def _micros(env: Env, node: exp.Expr) -> int:
    """A duration such as '10 minutes', in microseconds."""
    if isinstance(node, exp.Interval):
        text = f"{node.this.name if node.this is not None else ''} {node.args.get('unit') or ''}"
    elif isinstance(node, exp.Literal) and node.is_string:
        text = node.name
    else:
        raise env.wrong("a duration such as '10 minutes' is expected", node)
    words = text.lower().removeprefix("interval").split()
    total = 0
    if not words or len(words) % 2:
        raise env.wrong("a duration such as '10 minutes' is expected", node)
    for amount, unit in zip(words[::2], words[1::2], strict=True):
        size = MICROS_OF.get(unit.rstrip("s")) or MICROS_OF.get(unit)
        try:
            total += int(amount) * (size or 0)
        except ValueError:
            size = None
        if size is None:
            raise env.wrong(
                f"'{amount} {unit}' is no duration of a window",
                node,
                hint="a number and weeks, days, hours, minutes, seconds, milliseconds or microseconds",
            )
    return total
