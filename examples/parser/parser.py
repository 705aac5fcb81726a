"""The incremental parser: a sentence and a grammar that one edits, and at all times all parses.

>>> parser = Parser(grammar(ENGLISH), "S", CHOMSKY.split())
>>> parser.accepted, [show(tree) for tree in parser.trees()]
(True, ['(S (NP (AdjP (Adj colorless) (AdjP (Adj green))) (Noun ideas)) (VP (Verb sleep) (Adv furiously)))'])
>>> parser.edit(3, 4, ["green"])  # colorless green ideas green furiously
>>> parser.accepted
True
>>> parser.remove(Terminal("green", "Verb"))
>>> parser.accepted
False
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import evercurrent as ec
from examples.parser.chart import Goal, define
from examples.parser.grammar import CHOMSKY, ENGLISH, Grammar, Rule, Terminal, Token, grammar
from examples.parser.trees import Forest, Tree, show

__all__ = ["CHOMSKY", "ENGLISH", "Parser", "grammar", "show"]


class Parser:
    """A sentence as words, and between them places, whose numbers say nothing of their order.

    So a word that comes or goes in the middle moves no other: only the token behind it begins at another place.
    """

    def __init__(self, given: Grammar, start: str, words: Sequence[str] = ()) -> None:
        self.db = ec.connect()
        define(self.db)
        self.start = start
        self.words: list[str] = []
        self.places = [0]
        self.fresh = 1
        with self.db.transaction():
            self.db.table("Terminal").insert(list(given.terminals))
            self.db.table("Rule").insert(list(given.rules))
            self.db.table("Goal").insert(self.goal)
            self.edit(0, 0, words)

    # --- the sentence ----------------------------------------------------------------------------------------

    def edit(self, start: int, stop: int, words: Sequence[str]) -> None:
        """Put words in the place of `self.words[start:stop]`, as one transaction."""
        if not 0 <= start <= stop <= len(self.words):
            raise IndexError(f"there are {len(self.words)} words: {start} to {stop} is not a stretch of them")
        before, goal = set(self.tokens(start, stop + 1)), self.goal
        left, right = self.places[start], self.places[stop]
        if not words:
            right = left  # the token behind moves up
        elif start == stop:
            right = self._place()  # the token behind begins at a place of its own
        inner = [self._place() for _ in words[1:]]
        self.places[start : stop + 1] = [left, *inner, right] if words else [left]
        self.words[start:stop] = words
        after = set(self.tokens(start, start + len(words) + 1))
        with self.db.transaction():
            self.db.table("Token").delete(list(before - after))
            self.db.table("Token").insert(list(after - before))
            if goal != self.goal:
                self.db.table("Goal").replace(goal, self.goal)

    def become(self, words: Sequence[str]) -> None:
        """Edit the sentence into another one; what both begin and end with stays as it is."""
        same = min(len(words), len(self.words))
        front = next((i for i in range(same) if words[i] != self.words[i]), same)
        back = next((i for i in range(same - front) if words[-1 - i] != self.words[-1 - i]), same - front)
        self.edit(front, len(self.words) - back, words[front : len(words) - back])

    @property
    def goal(self) -> Goal:
        return Goal(self.places[0], self.places[-1], self.start)

    def tokens(self, start: int = 0, stop: int | None = None) -> list[Token]:
        """The tokens of words `start` to `stop`."""
        places = self.places
        return [Token(word, places[i], places[i + 1]) for i, word in enumerate(self.words[start:stop], start)]

    def _place(self) -> int:
        self.fresh += 1
        return self.fresh - 1

    # --- the grammar -----------------------------------------------------------------------------------------

    def add(self, *productions: Rule | Terminal) -> None:
        with self.db.transaction():
            for each in productions:
                self.db.table(type(each).__name__).insert(each)

    def remove(self, *productions: Rule | Terminal) -> None:
        with self.db.transaction():
            for each in productions:
                self.db.table(type(each).__name__).delete(each)

    # --- what it is ------------------------------------------------------------------------------------------

    @property
    def accepted(self) -> bool:
        """Whether the whole sentence is what it should be."""
        return len(self.db.view("parsed")) > 0

    def passive(self) -> set[tuple[int, int, str]]:
        """What every stretch of the sentence can be, by the numbers of its words."""
        number = {place: i for i, place in enumerate(self.places)}
        return {(number[a], number[b], symbol) for a, b, symbol in self.db.view("passive").rows()}

    def trees(self) -> Iterator[Tree]:
        """All parses."""
        forest = Forest(
            self.db.view("passive").rows(),
            (Rule(head, tuple(body)) for head, body in self.db.table("Rule").rows()),
            (Terminal(*row) for row in self.db.table("Terminal").rows()),
            self.tokens(),
        )
        return forest.trees(self.start, self.places[0], self.places[-1])
