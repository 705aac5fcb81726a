"""The events that can change a view, and the plan for each.

After Ali, Fernandes, Paton, *Incremental Maintenance of Materialized OQL Views* (2000): figure 8 says which events of a
schema of classes a view must follow, figure 10 puts the view into a class by the operators that it needs, and figure 11
says for each kind of event whether the delta is *planted* in the view's query in place of the extent that changed, or
*joined with the object ids* that contribute to the view's rows. There the events are read off the text of an OQL query; here
they are read off the calculus, so a view in any language has them.

    scan of an extent                 inserted and deleted objects: onInsertTo, onDeleteTo
    attribute                         onModifyAttr; of an element of a collection, onModifyAttrInElement
    reference                         onModifyAttr, the extent of the class that declares it, and its inverse
    collection                        onInsertElementIn, onDeleteElementIn, the extent of its elements, and its inverse

A *condition attribute* is one that a condition reads: its change can bring rows into the view or take them out. What the paper
leaves to later work (self joins, aggregates, set operations, quantifiers) is classified by the same four operators.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as Choice
from typing import assert_never

from evercurrent.calculus.event_reading import KINDS, Kind, Reader
from evercurrent.calculus.nodes import (
    Comprehension,
    FullOuter,
    Generator,
    Group,
    OuterGenerator,
    Query,
    Relation,
    Scalar,
    Unnest,
)
from evercurrent.calculus.walk import nodes
from evercurrent.catalog.catalog import Catalog
from evercurrent.data.types import Array, Collection, Map
from evercurrent.term.nodes import Term

ViewClass = Choice["ReduceGet", "ReduceGetJoin", "Unnest", "Nest"]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that can happen to the data; `condition`: an attribute that a condition of the view reads."""

    kind: Kind
    subject: str
    condition: bool
    table: str

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"


def plans(event: Event, view: ViewClass) -> tuple[str, ...]:
    """Figure 11: what is done about an event."""
    joined = view == "ReduceGetJoin"
    match event.kind:
        case "onInsertTo":
            return ("plant Δnew",)
        case "onInsertElementIn":
            return ("OIDs_for_v ⋈ Δnew",) if joined else ("plant Δnew",)
        case "onDeleteTo" | "onDeleteElementIn":
            return ("OIDs_for_v ⋈ Δold",) if joined else ("plant Δold",)
        case "onModifyAttr" | "onModifyAttrInElement":
            if not event.condition:
                return ("OIDs_for_v ⋈ Δnew",) if joined else ("plant Δnew",)
            return ("OIDs_for_v ⋈ Δold" if joined else "plant Δold", "plant Δnew")
        case _:
            assert_never(event.kind)


def view_class(query: Query, catalog: Catalog) -> ViewClass:
    """Figure 10: the most demanding operator that the view needs."""
    found = list(nodes(query))
    reader = Reader(catalog)
    if any(_nests(node) for node in found):
        return "Nest"
    qualifiers = [q for node in found if isinstance(node, Comprehension) for q in node.qualifiers]
    collections = [
        q
        for q in qualifiers
        if isinstance(q, Unnest)
        or (isinstance(q, Generator) and isinstance(q.source, Relation) and q.source.name in reader.apart)
    ]
    if collections:
        return "Unnest"
    scans = [
        q
        for q in qualifiers
        if isinstance(q, Generator | OuterGenerator)
        and isinstance(q.source, Relation)  # a query in its place has scans of its own
        and reader.find_path_step(q) is None
    ]
    joins = len(scans) > 1 or any(isinstance(node, FullOuter) for node in found)
    return "ReduceGetJoin" if joins else "ReduceGet"


def _nests(node: Query | Term) -> bool:
    """Whether a collection is made inside a record of the result."""
    match node:
        case Scalar(_, Array() | Collection() | Map()):
            return True
        case Group(aggregates=aggregates):
            return any(isinstance(a.type, Array | Collection | Map) for a in aggregates)
        case _:
            return False


def events(query: Query, catalog: Catalog) -> tuple[Event, ...]:
    """Everything that can change the view, in the order of figure 11, and by name."""
    reader = Reader(catalog)
    reader.query(query, {})
    found = [Event(kind, name, condition, table) for (kind, name, table), condition in reader.found.items()]
    return tuple(sorted(found, key=lambda e: (KINDS.index(e.kind), e.subject)))
