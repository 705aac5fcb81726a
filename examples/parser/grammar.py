"""A grammar as rows of two tables, and a sentence as rows of a third.

Productions for words (`Noun -> ideas`) are rows of `Terminal`; the others (`NP -> AdjP Noun`) rows of `Rule`, whose body is
a list of nonterminals and never empty.

>>> g = grammar(ENGLISH)
>>> g.rules[0], g.terminals[-1]
(Rule(head='S', body=('NP', 'VP')), Terminal(word='furiously', nonterminal='Adv'))
"""

from __future__ import annotations

from typing import NamedTuple


class Token(NamedTuple):
    """A word between two places of the sentence. Places have no order of their own: tokens put them in order."""

    word: str
    start: int
    end: int


class Terminal(NamedTuple):
    word: str
    nonterminal: str


class Rule(NamedTuple):
    head: str
    body: tuple[str, ...]


class Grammar(NamedTuple):
    terminals: tuple[Terminal, ...]
    rules: tuple[Rule, ...]


def grammar(text: str) -> Grammar:
    """Read productions, one head a line: a word of small letters, or of signs, is a terminal."""
    terminals: list[Terminal] = []
    rules: list[Rule] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        head, arrow, bodies = line.partition(" -> ")
        if not arrow:
            raise ValueError(f"{line!r} is not a production; write it as: NP -> Noun | AdjP Noun")
        for body in (tuple(alternative.split()) for alternative in bodies.split(" | ")):
            if len(body) == 1 and not body[0][:1].isupper():
                terminals.append(Terminal(body[0], head))
            elif body and all(symbol[:1].isupper() for symbol in body):
                rules.append(Rule(head, body))
            else:
                raise ValueError(f"{' '.join(body)!r} mixes words and nonterminals, or is empty, in {line!r}")
    return Grammar(tuple(terminals), tuple(rules))


ENGLISH = """
    S -> NP VP
    NP -> Noun | AdjP Noun
    VP -> Verb | Verb Adv
    AdjP -> Adj | Adj AdjP
    Noun -> green | ideas | sleep
    Verb -> green | sleep
    Adj -> colorless | green
    Adv -> furiously
"""
"""The example of Mitschke et al. (2014, figure 8)."""

CHOMSKY = "colorless green ideas sleep furiously"

STATEMENTS = """
    Program -> Statement | Program Statement
    Statement -> Name Assign Sum End | While Open Sum Close Block
    Block -> Begin Program Finish
    Sum -> Product | Sum Plus Product
    Product -> Atom | Product Times Atom
    Atom -> Name | Number | Open Sum Close
    Name -> x | y | z
    Number -> 0 | 1 | 2
    Assign -> =
    End -> ;
    While -> while
    Open -> (
    Close -> )
    Begin -> {
    Finish -> }
    Plus -> + | -
    Times -> * | /
"""
"""A small programming language."""
