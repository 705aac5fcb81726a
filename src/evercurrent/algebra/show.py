"""Plans as text: an indented tree, inputs below their operator.

    SELECT o.id FROM orders o WHERE EXISTS (SELECT 1 FROM items i WHERE i.order = o.id)

    Map id: o.id
      Semi o.id = i.order
        Scan orders [o.id]
        Scan items [i.order]

A scan shows only the columns that are read somewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Set
from typing import assert_never

from evercurrent.algebra.nodes import (
    Aggregate,
    Constant,
    Distinct,
    Fixpoint,
    Join,
    Map,
    Outer,
    Plan,
    Scan,
    Select,
    Semi,
    SetOperation,
    Top,
    Union,
    Unnest,
    Window,
    columns,
)
from evercurrent.algebra.walk import children, find_names, nodes, terms_of
from evercurrent.term import show as terms
from evercurrent.term.build import TRUE
from evercurrent.term.nodes import Column, SortKey, Term


def show(plan: Plan) -> str:
    """The plan as an indented tree. Scans show only the columns that are read somewhere."""
    return "\n".join(_lines(plan, 0, read_in(plan)))


def _lines(plan: Plan, depth: int, read: Set[str]) -> Iterable[str]:
    pad = "  " * depth
    yield pad + label(plan, read)
    if isinstance(plan, Fixpoint):
        for rule in plan.rules:
            yield f"{pad}  {rule.name}({', '.join(rule.fields)}){' distinct' if rule.distinct else ''}:"
            yield from _lines(rule.body, depth + 2, read | {c.name for c in columns(rule.body)})
        return
    for child in children(plan):
        yield from _lines(child, depth + 1, read)


def read_in(plan: Plan) -> set[str]:
    """The columns that the plan returns or that a term in it reads, or that an operator on whole rows sees."""
    read = {c.name for c in columns(plan)}
    for node in nodes(plan):
        read |= find_names(terms_of(node))
        if isinstance(node, Distinct | Union | SetOperation):
            read |= {c.name for child in children(node) for c in columns(child)}
    return read


def label(plan: Plan, read: Set[str] | None = None) -> str:
    """The operator on one line, without its inputs."""
    match plan:
        case Scan(relation, outputs, fields):
            kept = ", ".join(
                c.name if c.name.endswith(f".{f}") else f"{c.name}: {f}"
                for c, f in zip(outputs, fields, strict=False)
                if read is None or c.name in read
            )
            return f"Scan {relation} [{kept}]"
        case Constant(rows, outputs):
            types = [c.type for c in outputs]
            shown = ("(" + ", ".join(map(terms.show_value, row, types)) + ")" for row in rows)
            return f"Constant [{_names(outputs)}] {', '.join(shown) or 'no rows'}"
        case Select(_, condition):
            return f"Select {terms.show(condition)}"
        case Map(_, outputs):
            return "Map " + ", ".join(_show_definition(c, t) for c, t in outputs)
        case Join(_, _, condition):
            return f"Join{_on(condition)}"
        case Outer(kind, _, _, condition):
            return f"Outer {kind}{_on(condition)}"
        case Semi(_, _, condition, anti):
            return f"{'Anti' if anti else 'Semi'}{_on(condition)}"
        case Unnest(_, collection, elements, outer, ordinal, inline):
            flags = (("outer", outer), ("ordinal", ordinal), ("inline", inline))
            said = "".join(f" {name}" for name, on in flags if on)
            return f"Unnest{said} {terms.show(collection)} as {_names(elements)}"
        case Union(_, outputs):
            return f"Union [{_names(outputs)}]"
        case Aggregate(_, keys, aggregates, scalar):
            by = ", ".join(_show_definition(c, t) for c, t in keys)
            values = ", ".join(f"{c.name}: {terms.show_aggregate(a)}" for c, a in aggregates)
            return " ".join(filter(None, ["Aggregate", "scalar" if scalar else f"by {by};", values])).rstrip(
                ";"
            )
        case Distinct():
            return "Distinct"
        case SetOperation(kind, all, _, _, outputs):
            return f"{kind.capitalize()}{' all' if all else ''} [{_names(outputs)}]"
        case Window(_, functions):
            return "Window " + ", ".join(f"{c.name}: {terms.show_window_function(f)}" for c, f in functions)
        case Top(_, partition, order, limit, offset, ties):
            parts = ["Top" if limit is None else f"Top {limit}"]
            parts += [f"in {ties}"] if ties != "rows" else []
            parts += [f"offset {offset}"] if offset else []
            parts += [f"by {', '.join(map(terms.show, partition))}"] if partition else []
            parts += [f"order {show_order(order)}"] if order else []
            return " ".join(parts)
        case Fixpoint(_, result, outputs, limit):
            return f"Fixpoint {result} [{_names(outputs)}]" + (f" limit {limit}" if limit is not None else "")
        case _:
            assert_never(plan)


def _names(found: tuple[Column, ...]) -> str:
    return ", ".join(c.name for c in found)


def _show_definition(column: Column, term: Term) -> str:
    if isinstance(term, Column) and term.name == column.name:
        return column.name
    return f"{column.name}: {terms.show(term)}"


def _on(condition: Term) -> str:
    return "" if condition == TRUE else f" {terms.show(condition)}"


def show_order(order: tuple[SortKey, ...]) -> str:
    return ", ".join(map(terms.show_sort_key, order))
