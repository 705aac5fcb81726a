"""`explain(stage="events")`: what can change a view, and what is done about it.

    db.view("older").explain("events")      one entry for each event: insert Employees, change Employees.name, ...

Beside the plan that Ali, Fernandes and Paton (2000, figure 11) choose stands what the program does: it derives the delta of the
table that the event changes, or it joins the delta of columns that are only shown with the identities, by the lookups of its
rules. A table whose rows are only looked up changes no row of the view: they are kept for the rows that will refer to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import cast

from evercurrent.calculus.events import Event, ViewClass, events, plans, view_class
from evercurrent.calculus.nodes import Comprehension, Generator, Query, Relation
from evercurrent.calculus.show import show as show_query
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.extents import OID
from evercurrent.catalog.nodes import View
from evercurrent.data.types import Member
from evercurrent.delta.program import Linear, Program, Rule
from evercurrent.design.program_parts import find_flow, lineage
from evercurrent.term import build
from evercurrent.term.nodes import Term

CLASSES: dict[ViewClass, str] = {
    "ReduceGet": "one table is filtered and projected",
    "ReduceGetJoin": "tables are joined",
    "Unnest": "elements of collections are read",
    "Nest": "collections are made inside of its rows",
}
"""The classes of figure 10, each with the operator that decides."""

Lookups = Callable[[Program, list[Rule]], str]
"""Says which lookups rules make."""


def show_events(view: View, catalog: Catalog, program: Program | None, lookups: Lookups) -> Iterator[str]:
    """The lines of the explanation; without a program the view is recomputed in full."""
    if view.query is None:
        yield f"view {view.name}: recomputed by Spark's own SQL when {', '.join(sorted(view.uses))} change"
        return
    query = cast(Query, view.query)
    kind = view_class(query, catalog)
    yield f"view {view.name}: {kind} ({CLASSES[kind]})"
    yield ""
    flowing: set[str] = set()
    rules: dict[str, list[Rule]] = {}
    if program is not None:
        for rule in lineage(program, program.views[view.name]).rules:
            rules.setdefault(rule.on, []).append(rule)
        flowing = find_flow(program, program.views[view.name])
    rows = [("event", "condition", "plan", "here")]
    for event in events(query, catalog):
        if program is None:
            here = "recomputed in full"
        elif event.table in rules and event.table not in flowing:
            here = _keep(event, program)
        else:
            here = _here(event, program, rules, lookups)
        rows.append((str(event), "yes" if event.condition else "", ", then ".join(plans(event, kind)), here))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for row in rows:
        cells = [text.ljust(width) for text, width in zip(row, widths, strict=False)]
        yield "  " + "  ".join([*cells, row[3]]).rstrip()
    derived = list(list_derived_views(view, query))
    if derived:
        yield ""
        for name, made in derived:
            yield f"{name} ="
            yield from (f"  {line}" for line in show_query(made).splitlines())


def _here(event: Event, program: Program, rules: dict[str, list[Rule]], lookups: Lookups) -> str:
    """What the program does about an event: the delta of a table is planted, or that of its shown columns joined."""
    if event.table not in rules:
        return "no rule: the view reads nothing of it"
    columns = {r.name: {c.name for c in r.columns} for r in program.relations if isinstance(r, Linear)}
    direct = [r for r in rules[event.table] if r.into in columns and not r.steps and r.into in rules]
    cut = [r.into for r in direct if len(columns[r.into]) < len(r.binds)]
    if not cut or len(cut) < len([r for r in rules[event.table] if r.into in columns]):
        return f"planted in {event.table}: {lookups(program, rules[event.table])}"
    attribute = event.subject.split(" in ")[0].rpartition(".")[2]
    concerned = cut
    if event.kind in ("onModifyAttr", "onModifyAttrInElement"):
        concerned = [name for name in cut if attribute in columns[name]]
    work = lookups(program, [r for name in concerned for r in rules[name]])
    if event.kind in ("onModifyAttr", "onModifyAttrInElement") and not event.condition:
        return f"joined with the identities: {work}"
    return f"planted in the identities: {work}"


def _keep(event: Event, program: Program) -> str:
    """What happens to rows that are only looked up: they are kept, and a change of one that is referred to breaks an assumption."""
    kept = f"kept in {event.table} for lookups: no row of the view changes"
    if event.kind not in ("onModifyAttr", "onModifyAttrInElement"):
        return kept
    attribute = event.subject.split(" in ")[0].rpartition(".")[2]
    children = [a.child for a in program.assumptions if a.parent == event.table and attribute in a.columns]
    if not children:
        return kept
    return f"{kept}, unless {' or '.join(dict.fromkeys(children))} refers to it (the rules for that are compiled then)"


def list_derived_views(view: View, query: Query) -> Iterator[tuple[str, Query]]:
    """The identities that contribute to each row, and the view with them beside its own fields.

    The first is what `OIDs_for_v` associates with the rows of the view, the second is what a planted delta is evaluated in.
    """
    if not isinstance(query, Comprehension):
        return
    ids: list[tuple[str, Term]] = []
    for q in query.qualifiers:
        if isinstance(q, Generator) and isinstance(q.source, Relation):
            if any(f.name == OID for f in q.source.fields):
                ids.append((f"{q.variable.name.split('.')[0].upper()}O", build.field(q.variable, OID)))
    if not ids:
        return
    fields = tuple(Member(name, term.type, False) for name, term in ids)
    terms = tuple(term for _, term in ids)
    yield f"OIDs_for_{view.name}", Comprehension("set", terms, query.qualifiers, fields)
    yield (
        f"OID_projecting_{view.name}",
        Comprehension("set", (*terms, *query.head), query.qualifiers, (*fields, *query.fields)),
    )
