"""Laws of the operations beside comprehensions.

(a + b) + c  =  a + b + c           a + {}  =  a
set{ v | v <- q }  =  q             where q has no duplicates
top 0 of q  =  {}                   all of q in order  =  q
top n of top m of q  =  top min(n, m) of q        in the same order
{} intersect q  =  {}               {} except q  =  {}             q except all {}  =  q
select constants                    =  their row
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.calculus.nodes import (
    Comprehension,
    Fields,
    Fixpoint,
    FullOuter,
    Generator,
    Group,
    Query,
    SetOperation,
    Top,
    Union,
    Values,
    Window,
)
from evercurrent.calculus.scope import row_type, substitute_term
from evercurrent.calculus.walk import function_with_parts, nodes
from evercurrent.calculus.windows import same_windows
from evercurrent.term.build import field
from evercurrent.term.nodes import Field, Nested, Term


def flatten_union(query: Query) -> Query | None:
    """(a + b) + c = a + b + c; {} is dropped."""
    if not isinstance(query, Union):
        return None
    inputs: list[Query] = []
    for part in query.inputs:
        match part:
            case Union(inner):
                inputs.extend(inner)
            case Values(()):
                pass
            case _:
                inputs.append(part)
    if not inputs:
        return Values((), query.fields)
    if len(inputs) == 1 and names(inputs[0].fields) == names(query.fields):
        return inputs[0]
    return None if tuple(inputs) == query.inputs else replace(query, inputs=tuple(inputs))


def merge_values(query: Query) -> Query | None:
    """{(a)} + {(b)} = {(a), (b)}, neighbours in a union."""
    if not isinstance(query, Union):
        return None
    merged: list[Query] = []
    for part in query.inputs:
        last = merged[-1] if merged else None
        if isinstance(part, Values) and isinstance(last, Values):
            merged[-1] = Values(last.rows + part.rows, last.fields)
        else:
            merged.append(part)
    return replace(query, inputs=tuple(merged)) if len(merged) < len(query.inputs) else None


def constant_row(query: Query) -> Query | None:
    """M{ (t) | } = {(t)}, no query being nested in t."""
    match query:
        case Comprehension(_, head, (), fields) if not any(
            isinstance(n, Nested) for t in head for n in nodes(t)
        ):
            return Values((head,), fields)
        case _:
            return None


def drop_distinct(query: Query) -> Query | None:
    """set{ v | v <- q } = q where q has no duplicates."""
    match query:
        case Comprehension("set", head, (Generator(variable, source),), fields):
            whole = {t.name for t in head if isinstance(t, Field) and t.of == variable}
            if has_no_duplicates(source) and whole == {f.name for f in source.fields}:
                return replace(query, monoid="bag", fields=fields)
        case _:
            pass
    return None


def has_no_duplicates(query: Query) -> bool:
    match query:
        case Comprehension("set"):
            return True
        case SetOperation(all=all):
            return not all
        case Group(sets=sets):
            return sets is None or len(set(sets)) == len(sets)
        case Top(source=source) | Window(source=source):
            return has_no_duplicates(source)
        case Fixpoint(definitions, result):
            return any(d.distinct for d in definitions if d.name == result)
        case _:
            return False


def top_of_all(query: Query) -> Query | None:
    """top 0 of q = {}; all of q in order = q."""
    match query:
        case Top(limit=0, fields=fields):
            return Values((), fields)
        case Top(source=Values(()), fields=fields):
            return Values((), fields)
        case Top(source=source, limit=None, offset=0, fields=fields) if names(source.fields) == names(fields):
            return source
        case _:
            return None


def top_of_top(query: Query) -> Query | None:
    """Rows p to q of rows m to n, in the same order, are rows m + p to min(m + q, n)."""
    match query:
        case Top(variable, Top() as inner, order, limit, offset):
            renamed = tuple(
                replace(key, term=substitute_term(key.term, {inner.variable.name: variable}))
                for key in inner.order
            )
            if renamed != order:
                return None
            room = None if inner.limit is None else max(inner.limit - offset, 0)
            bounds = [n for n in (limit, room) if n is not None]
            return replace(
                inner,
                limit=min(bounds) if bounds else None,
                offset=inner.offset + offset,
                fields=query.fields,
            )
        case _:
            return None


def one_window_each(query: Query) -> Query | None:
    """Functions of different partitions or orders are found one window after another, in the order they come in."""
    if not isinstance(query, Window):
        return None
    first, *others = same_windows(query.functions)
    if not others:
        return None
    rest = [i for group in others for i in group]
    width = len(query.source.fields)
    inner = Window(
        query.variable,
        query.source,
        tuple(query.functions[i] for i in first),
        query.source.fields + tuple(query.fields[width + i] for i in first),
    )
    variable = replace(query.variable, type=row_type(inner))

    def rename(term: Term) -> Term:
        return substitute_term(term, {variable.name: variable})

    outer = Window(
        variable,
        inner,
        tuple(function_with_parts(query.functions[i], rename) for i in rest),
        inner.fields + tuple(query.fields[width + i] for i in rest),
    )
    if names(outer.fields) == names(query.fields):
        return outer
    whole = replace(query.variable, type=row_type(outer))
    head = tuple(field(whole, f.name) for f in query.fields)
    return Comprehension("bag", head, (Generator(whole, outer),), query.fields)


def operate_on_nothing(query: Query) -> Query | None:
    """{} intersect q = {}; {} except q = {}; q except all {} = q; grouping, windows and joins of {}."""
    match query:
        case SetOperation("intersect", _, left, right) if is_nothing(left) or is_nothing(right):
            return Values((), query.fields)
        case SetOperation("except", _, left, right) if is_nothing(left):
            return Values((), query.fields)
        case SetOperation("except", True, left, right) if is_nothing(right):
            return left if names(left.fields) == names(query.fields) else None
        case Window(source=source) if is_nothing(source):
            return Values((), query.fields)
        case Group(source=source, keys=keys, sets=None) if keys and is_nothing(source):
            return Values((), query.fields)
        case FullOuter(left=left, right=right) if is_nothing(left) and is_nothing(right):
            return Values((), query.fields)
        case _:
            return None


def is_nothing(query: Query) -> bool:
    return isinstance(query, Values) and not query.rows


def names(fields: Fields) -> tuple[str, ...]:
    return tuple(f.name for f in fields)
