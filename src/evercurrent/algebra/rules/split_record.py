"""Records that are grouped by are grouped by their members.

Law. γ(g: (a: x, b: y)); f (A) = π(g: (a: gx, b: gy)), f γ(gx: x), (gy: y); f (A): a record that is built here is never
NULL, and two of them are equal if their members are, NULLs included. A member is a column then, which an index can answer:

    Aggregate by key: (a: t.a, g: t.g)      Map key: (a: key.a, g: key.g)
                                              Aggregate by key.a: t.a, key.g: t.g
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.algebra import build
from evercurrent.algebra.nodes import Aggregate, Plan
from evercurrent.algebra.walk import Names, names_of, rewrite
from evercurrent.catalog.catalog import Knowledge
from evercurrent.term.nodes import Column, Record, Term
from evercurrent.term.nullable import nullable


def split_record(plan: Plan, knowledge: Knowledge) -> Plan:
    fresh = Names(names_of(plan))

    def split(p: Plan) -> Plan:
        match p:
            case Aggregate(_, keys, aggregates, False) if any(isinstance(t, Record) for _, t in keys):
                parts: list[tuple[Column, Term]] = []
                outputs: list[tuple[Column, Term]] = []
                for column, term in keys:
                    if not isinstance(term, Record):
                        parts.append((column, term))
                        outputs.append((column, column))
                        continue
                    members: list[tuple[str, Term]] = []
                    for name, member in term.members:
                        own = Column(fresh.fresh(f"{column.name}.{name}"), member.type, nullable(member))
                        parts.append((own, member))
                        members.append((name, own))
                    outputs.append((column, Record(tuple(members), term.type)))
                outputs += [(column, column) for column, _ in aggregates]
                return build.project(replace(p, keys=tuple(parts)), outputs)
            case _:
                return p

    return rewrite(plan, split)
