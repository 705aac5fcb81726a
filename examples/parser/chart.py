"""The chart as one recursive view: what every stretch of the sentence can be, as Mitschke et al. (2014, figure 12) write it.

An edge says that the words from `start` to `end` are a `nonterminal`, once what is left of a rule's body has been found behind
them. An edge with nothing left is passive, the others are active. What must come next is a column of its own, so that active
edges and rules are found by it.

    begin      a token whose word is a terminal is a passive edge
    construct  a passive edge is the first part of a rule's body: an edge of the rule's head, with the rest of the body
    combine    an active edge and a passive one right behind it, of the symbol that is wanted next

Tokens, terminals and rules are tables like any other: a change of the grammar is a change.
"""

from __future__ import annotations

from typing import NamedTuple

import evercurrent as ec
from evercurrent import Query
from examples.parser.grammar import Rule, Terminal, Token


class Edge(NamedTuple):
    start: int
    end: int
    nonterminal: str
    wants: str
    """What must come next, or the empty text: it is passive."""
    rest: tuple[str, ...]


class Start(NamedTuple):
    """A rule, cut behind the first symbols of its body."""

    head: str
    first: str
    wants: str
    rest: tuple[str, ...]


class Passive(NamedTuple):
    start: int
    end: int
    nonterminal: str


class Goal(NamedTuple):
    """The whole sentence, and what it should be."""

    start: int
    end: int
    nonterminal: str


def edges(tokens: Query[Token], terminals: Query[Terminal], rules: Query[Rule]) -> Query[Edge]:
    """All edges, active and passive."""
    begin = tokens.join(terminals, lambda t, x: t.word == x.word).select(
        lambda t, x: Edge(t.start, t.end, x.nonterminal, "", ())
    )
    # Distinct, so that it is a relation of its own, which is looked up by its first symbol.
    starts = rules.select(
        lambda r: Start(r.head, r.body[0], r.body[1] if len(r.body) > 1 else "", r.body[2:])
    ).distinct()

    def derived(edges: Query[Edge]) -> Query[Edge]:
        active = edges.where(lambda e: e.wants != "")
        passive = edges.where(lambda e: e.wants == "")
        construct = starts.join(passive, lambda s, e: s.first == e.nonterminal).select(
            lambda s, e: Edge(e.start, e.end, s.head, s.wants, s.rest)
        )
        combine = active.join(passive, lambda a, p: a.end == p.start and a.wants == p.nonterminal).select(
            lambda a, p: Edge(a.start, p.end, a.nonterminal, a.rest[0] if len(a.rest) > 0 else "", a.rest[1:])
        )
        return begin.union_all(construct, combine)

    return ec.recursive(derived)


def define(db: ec.Database) -> None:
    """The tables, the chart as the view `passive`, and the view `parsed`: a row if the sentence is what it should be."""
    chart = edges(db.table_of(Token), db.table_of(Terminal), db.table_of(Rule))
    passive = chart.where(lambda e: e.wants == "").select(lambda e: Passive(e.start, e.end, e.nonterminal))
    db.view("passive", passive)
    db.view(
        "parsed",
        passive.semi_join(
            db.table_of(Goal),
            lambda e, g: e.start == g.start and e.end == g.end and e.nonterminal == g.nonterminal,
        ),
    )
