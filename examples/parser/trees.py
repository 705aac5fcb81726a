"""All parses of a sentence, from its chart.

The chart says which nonterminals a stretch of the sentence can be; the rules say how a stretch can be split. A tree is
`(symbol, children)` or `(symbol, word)`. Where rules go round in circles over one stretch (`A -> B`, `B -> A`) there
are endlessly many trees; those are given that use no symbol twice over the same stretch on one path.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from examples.parser.grammar import Rule, Terminal, Token

Tree = tuple[str, Any]


class Forest:
    """Passive edges, by where they start and what they are."""

    def __init__(
        self,
        passive: Iterable[tuple[int, int, str]],
        rules: Iterable[Rule],
        terminals: Iterable[Terminal],
        tokens: Iterable[Token],
    ) -> None:
        self.ends: dict[tuple[int, str], list[int]] = defaultdict(list)
        for start, end, symbol in passive:
            self.ends[start, symbol].append(end)
        self.bodies: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        for rule in rules:
            self.bodies[rule.head].append(tuple(rule.body))
        self.words: dict[tuple[int, int, str], list[str]] = defaultdict(list)
        meanings: dict[str, list[str]] = defaultdict(list)
        for terminal in terminals:
            meanings[terminal.word].append(terminal.nonterminal)
        for token in tokens:
            for symbol in meanings[token.word]:
                self.words[token.start, token.end, symbol].append(token.word)

    def trees(self, symbol: str, start: int, end: int, above: frozenset[Any] = frozenset()) -> Iterator[Tree]:
        """All trees of a symbol over a stretch."""
        here = (symbol, start, end)
        if here in above or end not in self.ends.get((start, symbol), ()):
            return
        for word in self.words.get((start, end, symbol), ()):
            yield symbol, word
        for body in self.bodies.get(symbol, ()):
            for children in self._rows(body, start, end, above | {here}):
                yield symbol, children

    def _rows(
        self, body: tuple[str, ...], start: int, end: int, above: frozenset[Any]
    ) -> Iterator[tuple[Tree, ...]]:
        """All ways in which a body covers a stretch."""
        if len(body) == 1:
            for tree in self.trees(body[0], start, end, above):
                yield (tree,)
            return
        for middle in self.ends.get((start, body[0]), ()):
            if middle == end:
                continue
            for rest in self._rows(body[1:], middle, end, above):
                for tree in self.trees(body[0], start, middle, above):
                    yield (tree, *rest)


def show(tree: Tree) -> str:
    """
    >>> show(("S", (("NP", (("Noun", "ideas"),)), ("VP", (("Verb", "sleep"),)))))
    '(S (NP (Noun ideas)) (VP (Verb sleep)))'
    """
    symbol, below = tree
    return f"({symbol} {below if isinstance(below, str) else ' '.join(map(show, below))})"
