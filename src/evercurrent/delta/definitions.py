"""What a plan is cut into: relations, each defined by a table, a sum of blocks, a keyed function or a fixpoint.

`graph` makes these of plans; `derive` makes rules of them. A feed is a block whose rows are added up somewhere: into a
relation (then its columns are the row) or into the entries of a state.

Names are structural. A definition's name ends in a digest of its canonical text, in which columns are named by the
position of their source and their field; so equal definitions, of whatever view, are one and are stored once.

    SELECT customer, sum(total) FROM orders GROUP BY customer          KeyedOf orders~finalize3183b291
    SELECT o.customer, sum(o.total) FROM orders o GROUP BY 1           the same one
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from evercurrent.delta.aggregates import Part
from evercurrent.delta.blocks import Block, replace_columns
from evercurrent.delta.program import Accumulator, Explode, Finalize, Ranked, Windowed
from evercurrent.term.nodes import Column, Term

Keys = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Feed:
    """The rows of a block, each adding to the entry of these columns."""

    block: Block
    columns: tuple[Term, ...]
    dependents: tuple[Term, ...] = ()
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class StateOf:
    """A state and all that is added to it."""

    name: str
    columns: tuple[Column, ...]
    dependents: tuple[Column, ...]
    accumulators: tuple[Accumulator, ...]
    unique: bool
    feeds: tuple[Feed, ...]
    why: str


@dataclass(frozen=True, slots=True)
class TableOf:
    name: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[object, ...], ...] | None = None


@dataclass(frozen=True, slots=True)
class SumOf:
    """A sum of blocks. `kept`: its rows are kept too, to be read."""

    name: str
    columns: tuple[Column, ...]
    feeds: tuple[Feed, ...]
    kept: bool = False


@dataclass(frozen=True, slots=True)
class KeyedOf:
    name: str
    columns: tuple[Column, ...]
    state: StateOf
    key: tuple[str, ...]
    function: Finalize | Windowed | Ranked


@dataclass(frozen=True, slots=True)
class LoopOf:
    """One relation of a fixpoint; `feeds` are its one-step derivations, `inner` is how they call it."""

    name: str
    columns: tuple[Column, ...]
    inner: str
    body: str
    feeds: tuple[Feed, ...]
    distinct: bool


@dataclass(frozen=True, slots=True)
class FixpointOf:
    name: str
    loops: tuple[LoopOf, ...] = field(default_factory=tuple)
    limit: int | None = None


Definition = TableOf | SumOf | KeyedOf | FixpointOf


# --- canonical texts and names -----------------------------------------------------------------------------


def name_columns(block: Block) -> dict[str, Term]:
    """What the columns of a block are called in its canonical text."""
    names: dict[str, Term] = {}
    for i, s in enumerate(block.sources):
        for f, c in zip(s.fields, s.columns, strict=True):
            names[c.name] = Column(f"{i}.{f}", c.type, c.nullable)
    for i, e in enumerate(block.explodes):
        for j, c in enumerate(e.elements):
            names[c.name] = Column(f"e{i}.{j}", c.type, c.nullable)
    return names


def canonical(feed: Feed) -> str:
    """The text that is the same for feeds that are the same but for the names of their columns."""
    names = name_columns(feed.block)

    def text(term: Term | None) -> str:
        return "" if term is None else repr(replace_columns(term, names))

    def explode(e: Explode) -> str:
        return f"{text(e.collection)}{[names[c.name] for c in e.elements]}{e.outer}{e.ordinal}{e.inline}"

    b = feed.block
    sources = [f"{s.relation} {s.mode} {s.null_safe} {[(f, text(t)) for f, t in s.on]}" for s in b.sources]
    parts = [f"{p.accumulator} {[text(a) for a in p.args]} {text(p.where)}" for p in feed.parts]
    pieces: Iterable[str] = [
        *sources,
        *sorted(text(c) for c in b.conditions),
        *(explode(e) for e in b.explodes),
        "->",
        *(text(c) for c in feed.columns),
        ";",
        *(text(c) for c in feed.dependents),
        *parts,
    ]
    return "\n".join(pieces)


def digest(*texts: str) -> str:
    return hashlib.sha256("\x00".join(texts).encode()).hexdigest()[:8]


def hint(feeds: Iterable[Feed]) -> str:
    """A few words for a name: which relations it is made of."""
    relations = [s.relation.split("~")[0] for f in feeds for s in f.block.sources]
    return "_".join(dict.fromkeys(relations))[:40]


def state_name(
    feeds: Iterable[Feed],
    columns: tuple[Column, ...],
    dependents: tuple[Column, ...],
    accumulators: tuple[Accumulator, ...],
    rank: int = 0,
) -> str:
    """One name for all states with equal contents, whichever view needs them."""
    feeds = list(feeds)
    shape = repr((columns, dependents, accumulators, rank))
    return f"{hint(feeds)}~{digest(*map(canonical, feeds), shape)}"


RESERVED = "#+*"
"""First letters of the names of weights, sums and bags, so that no field of a user's is mistaken for one."""


def field_names(terms: Iterable[Term], block: Block) -> tuple[str, ...]:
    """Names for output terms, determined by the structure alone: a field's own name where a term is one, or its position."""
    fields = {c.name: f for s in block.sources for f, c in zip(s.fields, s.columns, strict=True)}
    names: list[str] = []
    for i, t in enumerate(terms):
        name = fields.get(t.name, "") if isinstance(t, Column) else ""
        if not name or name[0] in RESERVED:
            name = f"c{i}"
        while name in names:
            name = f"{name}_{i}"
        names.append(name)
    return tuple(names)
