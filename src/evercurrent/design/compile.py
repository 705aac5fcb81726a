"""From the queries of all views and assertions to one maintenance program.

    query --normalize--> normal form --lower--> algebra --optimise--> plan  --compile_views--> program

Every stage is kept, so that each can be shown:

    SELECT id FROM orders WHERE total > 5      bag{ (id: orders.id) | orders <- orders, orders.total > 5.00 }      calculus
                                               Map id (Select total > 5.00 (Scan orders))                          algebra
                                               on orders: where total > 5.00, add to the view                      program

A view that is recomputed in full has no part in the program: for the
views that read it, it is an input like a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from evercurrent.algebra.keys import keys, not_null
from evercurrent.algebra.lower import lower
from evercurrent.algebra.nodes import Plan, columns
from evercurrent.algebra.optimise import optimise
from evercurrent.calculus.nodes import Comprehension, Generator, OuterGenerator, Query
from evercurrent.calculus.normalize import normalize
from evercurrent.calculus.walk import nodes
from evercurrent.catalog.catalog import Catalog, Knowledge
from evercurrent.catalog.dependencies import view_order, views_under
from evercurrent.catalog.nodes import OnlySpark
from evercurrent.data.types import Member
from evercurrent.delta.compile import compile_views, require_maintainable
from evercurrent.delta.memory import Memory
from evercurrent.delta.program import Program
from evercurrent.delta.upkeep import ALL, NONE
from evercurrent.design.statistics import TableStatistics
from evercurrent.errors import UnsupportedError
from evercurrent.limits import JOINED, check

ASSERTION = "assertion\0"
"""Begins the names under which assertions stand among the views of a program; no identifier has a NUL."""


@dataclass(frozen=True, slots=True)
class Stages:
    """A query at every stage of its way down to the plan."""

    query: Query
    normal: Query
    algebra: Plan
    plan: Plan
    knowledge: object = None  # what the plan depends on, see `knowledge_of`


@dataclass(frozen=True, slots=True)
class Recomputed:
    """Why a view is recomputed in full."""

    view: str
    code: str  # "policy" or "unsupported"
    reason: str


@dataclass(frozen=True, slots=True)
class Design:
    """What is kept current, and how: the stages of every view and assertion, and the one program."""

    stages: Mapping[str, Stages] = field(default_factory=dict)
    program: Program = field(default_factory=lambda: Program((), ()))
    recomputed: Mapping[str, Recomputed] = field(default_factory=dict)
    keys: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    refused: frozenset[tuple[str, str]] = frozenset()  # (child, parent) of which nothing is assumed any more
    lazy: frozenset[str] = frozenset()  # the views that are updated when they are read
    later: Program = field(default_factory=lambda: Program((), ()))  # their program
    unbounded: frozenset[str] = frozenset()  # amounts that have been seen not to keep within bounds
    statistics: TableStatistics | None = None  # what maps were chosen by
    memory: Memory = field(default_factory=Memory, compare=False)  # for the next compilation

    def program_of(self, view: str) -> Program:
        """The program that keeps a view."""
        return self.later if view in self.lazy else self.program

    def find_stored_maps(self) -> frozenset[str]:
        """The maps that were chosen to be kept."""
        return frozenset(c.name for c in self.program.choices if c.kept)

    def relation(self, view: str) -> str:
        """The relation of its program that a view or assertion is."""
        return self.program_of(view).views[view]


def assertion_key(name: str) -> str:
    return ASSERTION + name


def stages(query: Query, knowledge: Knowledge, known: object = None) -> Stages:
    """Bring one query down to its plan."""
    normal = normalize(query)
    check_joins(normal)
    algebra = lower(normal, knowledge)
    return Stages(query, normal, algebra, optimise(algebra, knowledge), known)


def check_joins(normal: Query) -> None:
    """Refuses a join of more tables than can be maintained at a sensible cost."""
    for node in nodes(normal):
        if isinstance(node, Comprehension):
            joined = sum(isinstance(q, Generator | OuterGenerator) for q in node.qualifiers)
            hint = "join some of the tables in a view of its own, and read that"
            check(joined, JOINED, "tables in one join", hint=hint)


def compile_all(
    catalog: Catalog,
    previous: Design,
    refused: frozenset[tuple[str, str]] = frozenset(),
    *,
    full: bool = True,
    unbounded: frozenset[str] | None = None,
    statistics: TableStatistics | None = None,
) -> tuple[Catalog, Design]:
    """The design for everything in the catalog, and the catalog with the keys of its views.

    With `full`, views of the policy `full` have no part in the program, and `refused` are pairs of which the parent has been
    seen to change; without (on Spark), only views that cannot have a part have none, and nothing is assumed of any pair.
    `unbounded` are the amounts that are computed row by row; those of the previous design, if none are given.
    Maps are chosen by `statistics`, or by those of the previous design.
    What the previous design already knows of a view that has not changed, nor anything it reads, is taken over.
    """
    unbounded = previous.unbounded if unbounded is None else unbounded
    catalog, found, recomputed, view_keys = _stages_of_views(catalog, previous, full=full)
    found |= _stages_of_assertions(catalog, previous)
    lazy = lazy_views(catalog) - recomputed.keys()
    identities = [v.name for v in catalog.views.values() if v.plan == "identities"]
    planted = [v.name for v in catalog.views.values() if v.plan == "plant"]
    statistics = previous.statistics if statistics is None else statistics
    memory = replace(previous.memory)
    program = compile_views(
        {name: s.plan for name, s in found.items() if name not in lazy},
        catalog,
        refused=refused,
        identities=identities,
        planted=planted,
        hybrid=[v.name for v in catalog.views.values() if v.mode == "hybrid"] if full else (),
        changing=refused if full else (),
        unread=[v.name for v in catalog.views.values() if not v.stored],
        lent=find_borrowed_tables(catalog) if full else (),
        levels=levels_of(catalog),
        statistics=statistics,
        kept_maps=previous.find_stored_maps(),
        ordered=full,
        bounded=full and can_refill(catalog),
        unbounded=unbounded,
        memory=memory,
    )
    # What lazy views read is kept a second time for them: it is updated when they are.
    under = {v.name for v in views_under(lazy, catalog)}
    later = compile_views(
        {name: s.plan for name, s in found.items() if name in under},
        catalog,
        assume=False,
        identities=identities,
        planted=planted,
    )
    return catalog, Design(
        found, program, recomputed, view_keys, refused, lazy, later, unbounded, statistics, memory
    )


Keys = tuple[tuple[str, ...], ...]


def _stages_of_views(
    catalog: Catalog, previous: Design, *, full: bool
) -> tuple[Catalog, dict[str, Stages], dict[str, Recomputed], dict[str, Keys]]:
    """The catalog with the keys of its views; the stages of each, or why it is recomputed; and the keys."""
    found: dict[str, Stages] = {}
    recomputed: dict[str, Recomputed] = {}
    view_keys: dict[str, Keys] = {}
    for view in view_order(catalog):
        if view.inline:
            continue
        if isinstance(view.shape, OnlySpark):
            recomputed[view.name] = Recomputed(view.name, "unsupported", view.shape.reason)
            catalog = catalog.with_view(view, ())
            continue
        if view.policy == "full" and full:
            recomputed[view.name] = Recomputed(view.name, "policy", "its policy is full")
            catalog = catalog.with_view(view, ())
            continue
        known = knowledge_of(catalog, view.uses)
        old = previous.stages.get(view.name)
        try:
            if old is not None and old.query is view.query and old.knowledge == known:
                made = old
                if view.name in previous.recomputed:
                    raise UnsupportedError(previous.recomputed[view.name].reason)
            else:
                made = stages(cast(Query, view.query), catalog, known)
                if view.policy != "incremental":
                    require_maintainable(made.plan, catalog)
        except UnsupportedError as problem:
            if view.policy == "incremental":
                raise
            recomputed[view.name] = Recomputed(view.name, "unsupported", problem.message)
            catalog = catalog.with_view(view, ())
            continue
        found[view.name] = made
        known_keys = previous.keys.get(view.name) if made is old else None
        view_keys[view.name] = keys_of(made.plan, view.fields, catalog) if known_keys is None else known_keys
        catalog = catalog.with_view(view, view_keys[view.name])
    return catalog, found, recomputed, view_keys


def _stages_of_assertions(catalog: Catalog, previous: Design) -> dict[str, Stages]:
    found: dict[str, Stages] = {}
    for assertion in catalog.assertions.values():
        name = assertion_key(assertion.name)
        known = knowledge_of(catalog, assertion.uses)
        old = previous.stages.get(name)
        if old is not None and old.query is assertion.query and old.knowledge == known:
            found[name] = old
        else:
            found[name] = stages(cast(Query, assertion.query), catalog, known)
    return found


def levels_of(catalog: Catalog) -> dict[str, int]:
    """The levels of maps that users have asked for."""
    said = {"all": ALL, "none": NONE}
    return {v.name: said[v.maps] for v in catalog.views.values() if v.maps != "auto"}


def can_refill(catalog: Catalog) -> bool:
    """Whether every state can be computed again from the tables: all are stored, none is held by objects."""
    return all(t.stored for t in catalog.tables.values()) and not find_borrowed_tables(catalog)


def find_borrowed_tables(catalog: Catalog) -> frozenset[str]:
    """The tables whose rows objects in the process hold."""
    return frozenset(c.relation for c in catalog.schema.classes.values())


def hybrid_relations(catalog: Catalog, program: Program) -> frozenset[str]:
    """The relations of a program that are hybrid views and no other ones."""
    modes: dict[str, set[str]] = {}
    for name, relation in program.views.items():
        view = catalog.view(name)
        modes.setdefault(relation, set()).add(view.mode if view is not None else "strict")
    return frozenset(relation for relation, found in modes.items() if found == {"hybrid"})


def lazy_views(catalog: Catalog) -> frozenset[str]:
    """The views that can wait until they are read: lazy ones that no view and no assertion needs at the commit.

    A view of the policy `full` is recomputed when its tables change, which is at the commit.
    """
    found: set[str] = set()
    needed = {u.lower() for a in catalog.assertions.values() for u in a.uses}
    for view in reversed(view_order(catalog)):
        if view.inline:
            continue
        if view.mode == "lazy" and view.policy != "full" and view.name.lower() not in needed:
            found.add(view.name)
        else:
            needed |= {u.lower() for u in view.uses}
    return frozenset(found)


def knowledge_of(catalog: Catalog, names: Iterable[str]) -> object:
    """All that the compiler can know of these relations, to be compared."""
    return tuple(
        (name, catalog.fields_of(name), catalog.keys_of(name), catalog.references_of(name))
        for name in sorted(names)
    )


def keys_of(plan: Plan, fields: tuple[Member, ...], knowledge: Knowledge) -> tuple[tuple[str, ...], ...]:
    """The keys of a plan that are never NULL, in the names of the fields that its columns stand for."""
    names = {column.name: field.name for column, field in zip(columns(plan), fields, strict=True)}
    known = not_null(plan, knowledge) & names.keys()
    found = [key for key in keys(plan, knowledge) if key <= known]
    return tuple(sorted(tuple(names[c.name] for c in columns(plan) if c.name in key) for key in found))
