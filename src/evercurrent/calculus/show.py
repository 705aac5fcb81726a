"""Queries as text.

    bag{ (name: e.name) | e <- employees, d <- departments, e.dept = d.id }

What is too long for a line is broken after `{`, with one qualifier on each line:

    bag{ (name: e.name, dept: d.name)
       | e <- employees
       , d <- departments
       , e.dept = d.id }
"""

from __future__ import annotations

from typing import assert_never

from evercurrent.calculus.nodes import (
    Comprehension,
    Exists,
    Fields,
    Filter,
    Fixpoint,
    FullOuter,
    Generator,
    Group,
    Ordered,
    OuterGenerator,
    Qualifier,
    Quantified,
    Query,
    Relation,
    Scalar,
    SetOperation,
    Top,
    Union,
    Unnest,
    Values,
    Window,
)
from evercurrent.calculus.walk import aggregate_with_parts, function_with_parts, order_with_parts
from evercurrent.data.types import NULL
from evercurrent.term import show as terms
from evercurrent.term.nodes import Column, Nested, SortKey, Term
from evercurrent.term.show import INFIX
from evercurrent.term.walk import rewrite

WIDTH = 100


def show(query: Query | Ordered) -> str:
    """The query as text, on one line if it fits."""
    if isinstance(query, Ordered):
        names = [f.name for f in query.query.fields]
        keys = (_position_key(names[i], descending, first) for i, descending, first in query.order)
        return show(query.query) + (f"\norder by {', '.join(keys)}" if query.order else "")
    match query:
        case Relation(name):
            return name
        case Values(rows):
            return _bracket("values", "{", [_tuple(row) for row in rows], "}")
        case Comprehension(monoid, head, qualifiers, fields):
            return _comprehension(monoid, _record(fields, head), [show_qualifier(q) for q in qualifiers])
        case Union(inputs):
            return _bracket("union", "(", [show(i) for i in inputs], ")")
        case SetOperation(kind, all, left, right):
            return _bracket(f"{kind}{' all' if all else ''}", "(", [show(left), show(right)], ")")
        case FullOuter(left_variable, left, right_variable, right, on, head, fields):
            sides = [
                _after(f"{left_variable.name} <- ", show(left)),
                _after(f"{right_variable.name} <- ", show(right)),
            ]
            return _comprehension("full outer", _record(fields, head), [*sides, f"on {show_term(on)}"])
        case Group():
            return _group(query)
        case Window(variable, source, functions, fields):
            new = fields[len(source.fields) :]
            shown = [
                f"{f.name}: {terms.show_window_function(function_with_parts(w, _plain))}"
                for f, w in zip(new, functions, strict=True)
            ]
            return _bracket("window", "(", [_after(f"{variable.name} <- ", show(source)), *shown], ")")
        case Top(variable, source, order, limit, offset):
            parts = [_after(f"{variable.name} <- ", show(source))]
            parts += [f"order by {', '.join(map(_sort_key, order))}"] if order else []
            parts += [f"offset {offset}"] if offset else []
            return _bracket("top" if limit is None else f"top {limit}", "(", parts, ")")
        case Fixpoint(definitions, result, _, limit):
            shown = [
                _after(f"{d.name} = {'set' if d.distinct else 'bag'} ", show(d.body)) for d in definitions
            ]
            bound = [] if limit is None else [f"limit {limit}"]
            return _bracket(f"fixpoint {result}", "(", [*shown, *bound], ")")
        case _:
            assert_never(query)


def show_qualifier(qualifier: Qualifier) -> str:
    match qualifier:
        case Generator(variable, source):
            return _after(f"{variable.name} <- ", show(source))
        case OuterGenerator(variable, source, on):
            return _after(f"{variable.name} <-outer ", show(source)) + f" on {show_term(on)}"
        case Unnest(variable, collection, outer, ordinal, inline):
            options = "".join(
                f" {name}" for name, on in (("with position", ordinal), ("inline", inline)) if on
            )
            return f"{variable.name} <-{'outer' if outer else ''} unnest {show_term(collection)}{options}"
        case Filter(condition):
            return show_term(condition)
        case _:
            assert_never(qualifier)


def show_term(term: Term) -> str:
    """A term, the queries nested in it spelled out."""
    return terms.show(_plain(term))


def _plain(term: Term) -> Term:
    """Every nested query as a column that is called what the query looks like."""
    return rewrite(term, lambda t: Column(_show_nested(t), t.type) if isinstance(t, Nested) else t)


def _show_nested(nested: Nested) -> str:
    match nested:
        case Scalar(query):
            return _after("the ", show(query))
        case Exists(query):
            return _after("exists ", show(query))
        case Quantified(comparison, every, args, query):
            left = show_term(args[0]) if len(args) == 1 else f"({', '.join(map(show_term, args))})"
            return _after(f"({left} {INFIX[comparison][0]} {'all' if every else 'some'} ", show(query)) + ")"
        case _:
            raise AssertionError(f"a nested query of an unknown kind: {nested!r}")


def _group(query: Group) -> str:
    width = len(query.keys)
    keys = _record(query.fields[:width], query.keys)
    shown = [
        f"{f.name}: {terms.show_aggregate(aggregate_with_parts(a, _plain))}"
        for f, a in zip(query.fields[width:], query.aggregates, strict=False)
    ]
    parts = [_after(f"{query.variable.name} <- ", show(query.source)), f"by {keys}", *shown]
    if query.sets is not None:
        names = [f.name for f in query.fields]
        sets = ", ".join(f"({', '.join(names[i] for i in kept)})" for kept in query.sets)
        parts.append(f"{names[-1]}: sets {sets}")
    return _bracket("group", "(", parts, ")")


# --- layout ------------------------------------------------------------------------------------------------


def _record(fields: Fields, head: tuple[Term, ...]) -> str:
    return f"({', '.join(f'{f.name}: {show_term(t)}' for f, t in zip(fields, head, strict=True))})"


def _tuple(row: tuple[Term, ...]) -> str:
    return f"({', '.join(map(show_term, row))})"


def _sort_key(key: SortKey) -> str:
    return terms.show_sort_key(order_with_parts((key,), _plain)[0])


def _position_key(name: str, descending: bool, nulls_first: bool) -> str:
    return terms.show_sort_key(SortKey(Column(name, NULL), descending, nulls_first))


def _fits(text: str) -> bool:
    return len(text) <= WIDTH and "\n" not in text


def _comprehension(monoid: str, head: str, qualifiers: list[str]) -> str:
    flat = f"{monoid}{{ {head}{' | ' if qualifiers else ''}{', '.join(qualifiers)} }}"
    if _fits(flat):
        return flat
    margin = " " * (len(monoid) + 2)
    lines = [f"{monoid}{{ {_indent(head, margin)}"]
    for i, qualifier in enumerate(qualifiers):
        lines.append(f"{margin[:-2]}{'|' if i == 0 else ','} {_indent(qualifier, margin)}")
    return "\n".join(lines) + " }"


def _bracket(name: str, opening: str, parts: list[str], closing: str) -> str:
    flat = f"{name}{opening}{', '.join(parts)}{closing}"
    if _fits(flat):
        return flat
    inner = ",\n  ".join(_indent(part, "  ") for part in parts)
    return f"{name}{opening}\n  {inner}{closing}"


def _after(start: str, text: str) -> str:
    """The text behind its start, further lines below its first."""
    return start + _indent(text, " " * len(start.rpartition("\n")[2]))


def _indent(text: str, margin: str) -> str:
    return text.replace("\n", "\n" + margin)
