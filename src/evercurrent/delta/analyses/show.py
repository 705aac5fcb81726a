"""Programs as text: states, then each relation with its trigger.

    state customers by id (id -> city) unique, by id (one)  # the part of customers that a join looks up

    on orders(id, customer, total)
        for (o.id, o.customer, o.total) * weight
            look up customers by id where id = o.customer as (c.city = city)
            add to orders_customers by city [c.city] * weight, sum(o.total) += weight * o.total

This is what `explain(stage="program")` shows of a view that adds up `total` by `city`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import assert_never

from evercurrent.delta.analyses.labels import Labels, show_readable, weight_names
from evercurrent.delta.program import (
    Amount,
    Explode,
    Finalize,
    Fixpoint,
    Input,
    Keyed,
    Let,
    Linear,
    Lookup,
    Program,
    Ranked,
    Relation,
    Rule,
    Span,
    State,
    Step,
    Where,
    Windowed,
)
from evercurrent.term.nodes import Column, SortKey, Term
from evercurrent.term.show import show as term


def show(program: Program, view: str | None = None) -> str:
    """The whole program, or the part of it that keeps one view."""
    relations = program.relations if view is None else part_of(program, program.views[view])
    names = {n for r in relations for n in names_of(r)}
    rules = {
        n: tuple(r for r in program.triggers.get(n, ()) if view is None or r.into in reach(program, names))
        for n in trigger_names(relations)
    }
    shown = {r.into for rs in rules.values() for r in rs} | {
        s.state for rs in rules.values() for r in rs for s in r.steps if isinstance(s, Lookup)
    }
    labels = Labels(program)
    lines = [state(s, labels) for s in program.states if view is None or s.name in shown]
    for r in relations:
        lines += ["", *relation(r, labels)]
        for name in trigger_names([r]):
            for rule in rules.get(name, ()):
                lines += rule_lines(rule, labels)
    for a in program.assumptions:
        lines.append(
            f"\nassumes: rows of {a.parent} do not change in ({', '.join(a.columns)}) while {a.child} refers to them"
        )
    return "\n".join(lines).strip() + "\n"


def names_of(r: Relation) -> list[str]:
    match r:
        case Fixpoint(_, loops):
            return [n for loop in loops for n in (loop.name, loop.body)]
        case Keyed(name, state=s):
            return [name, s]
        case Linear(name, state=s):
            return [name, *([s] if s else [])]
        case Input(name):
            return [name]
        case _:
            assert_never(r)


def trigger_names(relations: Iterable[Relation]) -> list[str]:
    found: list[str] = []
    for r in relations:
        match r:
            case Fixpoint(_, loops):
                found += [n for loop in loops for n in (loop.inner, loop.name)]
            case _:
                found.append(r.name)
    return found


def reach(program: Program, names: set[str]) -> set[str]:
    """The relations and states that these are made of, themselves included."""
    found = set(names)
    grown = True
    while grown:
        grown = False
        for rules in program.triggers.values():
            for rule in rules:
                if rule.into in found:
                    needed = {s.state for s in rule.steps if isinstance(s, Lookup)}
                    if not needed <= found:
                        found |= needed
                        grown = True
    return found


def part_of(program: Program, target: str) -> tuple[Relation, ...]:
    """The relations that a relation is made of, in order, itself last."""
    by_name = {n: r for r in program.relations for n in names_of(r)}
    inner = {loop.inner: loop.name for r in program.relations if isinstance(r, Fixpoint) for loop in r.loops}
    wanted: set[str] = set()
    todo = [target]
    while todo:
        name = inner.get(todo[-1], todo[-1])
        todo.pop()
        if name in wanted:
            continue
        wanted.add(name)
        r = by_name.get(name)
        todo += names_of(r) if r is not None else []
        for source, rules in program.triggers.items():
            for rule in rules:
                if rule.into == name:
                    todo += [source, *(s.state for s in rule.steps if isinstance(s, Lookup))]
    return tuple(r for r in program.relations if set(names_of(r)) & wanted)


def state(s: State, labels: Labels) -> str:
    inside = ", ".join(labels.value(s.name, c.name) for c in s.columns)
    if s.dependents:
        inside += " -> " + ", ".join(c.name for c in s.dependents)
    if s.accumulators:
        inside += "; " + ", ".join(labels.value(s.name, a.name) for a in s.accumulators)
    indexes = (([labels.value(s.name, c) for c in i.columns], i.single) for i in s.indexes)
    by = "".join(
        f", by {', '.join(columns) or 'nothing'}{' (one)' if one else ''}" for columns, one in indexes
    )
    return f"state {labels.of(s.name)} ({inside}){' unique' if s.unique else ''}{by}  # {s.why}"


def relation(r: Relation, labels: Labels) -> list[str]:
    match r:
        case Input(name, columns, rows):
            return [
                f"on {name}({header(columns)})" + ("" if rows is None else f"  # {len(rows)} constant rows")
            ]
        case Linear(name, columns, kept):
            where = "" if kept is None else f" kept in {labels.of(kept)}"
            return [f"on {labels.of(name)}({header(columns)}), a sum{where}"]
        case Keyed(name, columns, of, key, function):
            each = f", for each ({', '.join(labels.value(of, k) for k in key)})" if key else ""
            return [
                f"on {labels.of(name)}({header(columns)}), computed from {labels.of(of)}{each}",
                f"    {show_keyed(function, of, labels)}",
            ]
        case Fixpoint(name, loops, limit):
            bound = "" if limit is None else f", at most {limit} rounds"
            kinds = [
                f"    {labels.of(x.name)}({header(x.columns)}), a {'set' if x.distinct else 'bag'}"
                for x in loops
            ]
            return [f"on {labels.of(name)}{bound}", *kinds]
        case _:
            assert_never(r)


def show_keyed(f: Finalize | Windowed | Ranked, state: str, labels: Labels) -> str:
    outputs = ", ".join(labels.term(t, state) for t in f.outputs)
    match f:
        case Finalize(_, multiplicity, scalar):
            return f"returns ({outputs}) * {labels.term(multiplicity, state)}{', always' if scalar else ''}"
        case Windowed(functions):
            inside = ", ".join(
                f"{c.name} = {w.function}({', '.join(map(term, w.args))})" for c, w in functions
            )
            return f"returns ({outputs}) with {inside} in order ({order(functions[0][1].order)})"
        case Ranked(by, limit, offset, ties=ties):
            first = "all" if limit is None else str(limit)
            if ties != "rows":
                return f"returns ({outputs}) of {ties} up to {first} in order ({order(by)})"
            return f"returns ({outputs}) of the first {first} after {offset} in order ({order(by)})"
        case _:
            assert_never(f)


def order(keys: Iterable[SortKey]) -> str:
    return ", ".join(term(k.term) + (" desc" if k.descending else "") for k in keys)


def header(columns: Iterable[Column]) -> str:
    return ", ".join(c.name for c in columns)


def rule_lines(r: Rule, labels: Labels) -> list[str]:
    names = weight_names(r)
    lines = [f"    for ({header(r.binds)}) * {names[r.weight.name]}"]
    lines += [f"        {step(s, names, labels)}" for s in r.steps]
    inside = ", ".join(show_readable(t, names) for t in r.columns)
    if r.dependents:
        inside += " -> " + ", ".join(show_readable(t, names) for t in r.dependents)
    values = labels.accumulators(r.into)
    added = "".join(
        f", {values[i] + ' ' if i < len(values) else ''}{amount(a, names)}" for i, a in enumerate(r.amounts)
    )
    return [*lines, f"        add to {labels.of(r.into)} [{inside}] * {show_readable(r.count, names)}{added}"]


def amount(a: Amount, names: Mapping[str, str]) -> str:
    inside = ", ".join(show_readable(t, names) for t in a.args)
    often = "" if a.weight is None else f" * {show_readable(a.weight, names)}"
    return f"+= {inside}{often}" + ("" if a.where is None else f" where {show_readable(a.where, names)}")


def step(s: Step, names: Mapping[str, str], labels: Labels) -> str:
    match s:
        case Where(condition):
            return f"where {show_readable(condition, names)}"
        case Let(column, value):
            return f"let {column.name} = {show_readable(value, names)}"
        case Explode(collection, elements):
            return f"explode {show_readable(collection, names)} as ({header(elements)})"
        case Lookup(name, match, binds, span=span):
            by = (
                " and ".join(pair(labels.value(name, c), t, c in s.null_safe, names) for c, t in match)
                or "nothing"
            )
            seen = ", ".join(f"{names.get(c.name, c.name)} = {labels.value(name, n)}" for n, c in binds)
            verb = "absent from" if s.absent else "present in" if s.present else "look up"
            return (
                f"{verb} {labels.of(name)} where {by}"
                + (f" as ({seen})" if binds else "")
                + (" or NULLs" if s.outer else "")
                + ("" if span is None else range_text(span, names))
            )
        case _:
            assert_never(s)


def range_text(span: Span, names: Mapping[str, str]) -> str:
    """The range of a lookup, and by which value it is read."""
    low, high = (bound and show_readable(bound[0], names) for bound in (span.low, span.high))
    bounds = (f" from {low}" if low else "") + (f" to {high}" if high else "")
    return f", in order of {show_readable(span.key, names)}{bounds}"


def pair(column: str, value: Term, null_safe: bool, names: Mapping[str, str]) -> str:
    return f"{column} {'<=>' if null_safe else '='} {show_readable(value, names)}"
