"""Parsing from scratch, twice: the algorithm of Cocke, Younger and Kasami, written as plainly as it goes, and a chart parser
with an agenda, written to be quick. The first is the oracle, the second what the live chart is measured against."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from examples.parser.grammar import Grammar

Passive = tuple[int, int, str]
"""Words `start` to `end` can be this nonterminal."""


def cyk(words: Sequence[str], grammar: Grammar) -> set[Passive]:
    """All nonterminals of all stretches of a sentence, short stretches first.

    A body of several symbols splits its stretch, so it asks only for shorter ones; bodies of one symbol ask for the
    same stretch again, and are applied until nothing is added.
    """
    count = len(words)
    found: dict[tuple[int, int], set[str]] = {}

    def derives(body: tuple[str, ...], start: int, end: int) -> bool:
        if len(body) == 1:
            return body[0] in found[start, end]
        return any(
            body[0] in found[start, middle] and derives(body[1:], middle, end)
            for middle in range(start + 1, end - len(body) + 2)
        )

    for length in range(1, count + 1):
        for start in range(count - length + 1):
            end = start + length
            here = found[start, end] = set()
            if length == 1:
                here |= {t.nonterminal for t in grammar.terminals if t.word == words[start]}
            for rule in grammar.rules:
                if 1 < len(rule.body) <= length and derives(rule.body, start, end):
                    here.add(rule.head)
            before = -1
            while before != len(here):
                before = len(here)
                here |= {r.head for r in grammar.rules if len(r.body) == 1 and r.body[0] in here}
    return {(start, end, symbol) for (start, end), symbols in found.items() for symbol in symbols}


def chart(words: Sequence[str], grammar: Grammar) -> set[Passive]:
    """The same by an agenda of new edges, each combined once with those that wait for it."""
    symbols: dict[str, list[str]] = defaultdict(list)
    for terminal in grammar.terminals:
        symbols[terminal.word].append(terminal.nonterminal)
    first: dict[str, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
    for rule in grammar.rules:
        first[rule.body[0]].append((rule.head, rule.body[1:]))
    waiting: dict[tuple[int, str], list[tuple[int, str, tuple[str, ...]]]] = defaultdict(list)
    complete: dict[tuple[int, str], list[int]] = defaultdict(list)
    seen: set[tuple[int, int, str, tuple[str, ...]]] = set()
    agenda: list[tuple[int, int, str, tuple[str, ...]]]
    agenda = [(i, i + 1, s, ()) for i, word in enumerate(words) for s in symbols.get(word, ())]
    while agenda:
        edge = agenda.pop()
        if edge in seen:
            continue
        seen.add(edge)
        start, end, head, rest = edge
        if rest:
            waiting[end, rest[0]].append((start, head, rest[1:]))
            agenda += [(start, stop, head, rest[1:]) for stop in complete.get((end, rest[0]), ())]
        else:
            complete[start, head].append(end)
            agenda += [(start, end, above, body) for above, body in first.get(head, ())]
            agenda += [(begin, end, above, body) for begin, above, body in waiting.get((start, head), ())]
    return {(start, end, head) for start, end, head, rest in seen if not rest}
