"""The incremental parser: the paper's sentence and its edits, all parses, and random edits against parsing from scratch."""

from __future__ import annotations

import random

import pytest

from examples.parser.__main__ import main
from examples.parser.grammar import CHOMSKY, ENGLISH, STATEMENTS, Grammar, Rule, Terminal, grammar
from examples.parser.parser import Parser
from examples.parser.scratch import chart, cyk
from examples.parser.trees import show


@pytest.fixture
def english() -> Parser:
    return Parser(grammar(ENGLISH), "S", CHOMSKY.split())


def shown(parser: Parser) -> set[str]:
    return {show(tree) for tree in parser.trees()}


def test_the_papers_sentence(english: Parser) -> None:
    assert english.accepted
    assert shown(english) == {
        "(S (NP (AdjP (Adj colorless) (AdjP (Adj green))) (Noun ideas)) (VP (Verb sleep) (Adv furiously)))"
    }
    assert {(0, 5, "S"), (0, 3, "NP"), (0, 2, "AdjP"), (3, 5, "VP")} <= english.passive()
    assert english.passive() == cyk(english.words, grammar(ENGLISH))


def test_the_papers_edits(english: Parser) -> None:
    english.edit(5, 5, ["ideas"])  # sentence += Token("ideas", 5)
    assert english.words[-1] == "ideas" and not english.accepted
    english.edit(5, 6, [])
    english.edit(3, 4, ["green"])  # sentence.update(Token("sleep", 3), Token("green", 3))
    assert english.accepted and "(Verb green)" in shown(english).pop()
    english.edit(0, 1, [])  # sentence -= Token("colorless", 0)
    assert english.accepted and english.words == ["green", "ideas", "green", "furiously"]


def test_edits_of_the_grammar(english: Parser) -> None:
    english.remove(Terminal("sleep", "Verb"))
    assert not english.accepted and list(english.trees()) == []
    english.add(Terminal("sleep", "Verb"), Rule("S", ("AdjP", "Noun", "VP")))
    assert len(shown(english)) == 2
    english.remove(Rule("S", ("NP", "VP")))
    assert shown(english) == {
        "(S (AdjP (Adj colorless) (AdjP (Adj green))) (Noun ideas) (VP (Verb sleep) (Adv furiously)))"
    }


def test_ambiguous_sentences_have_all_their_parses() -> None:
    """The number of ways to bracket n + 1 operands is a Catalan number."""
    sums = grammar("E -> E Plus E | Number\nNumber -> 1\nPlus -> +")
    parser = Parser(sums, "E", ["1"])
    for catalan in (1, 2, 5, 14, 42):
        parser.edit(len(parser.words), len(parser.words), ["+", "1"])
        assert parser.accepted and len(shown(parser)) == len(list(parser.trees())) == catalan


def test_rules_in_a_circle_give_finitely_many_trees() -> None:
    circle = grammar("A -> B | C\nB -> A\nC -> x")
    parser = Parser(circle, "A", ["x"])
    assert shown(parser) == {"(A (C x))"}
    parser.remove(Rule("A", ("C",)))  # A and B would now hold each other, with nothing below
    assert parser.passive() == {(0, 1, "C")} and not parser.accepted


def test_nothing_is_not_a_sentence() -> None:
    parser = Parser(grammar(ENGLISH), "S")
    assert not parser.accepted and parser.passive() == set()
    parser.become(["ideas", "sleep"])
    assert parser.accepted
    parser.become([])
    assert not parser.accepted and parser.passive() == set() and parser.places == [0]


def test_edits_outside_of_the_sentence_are_refused(english: Parser) -> None:
    for start, stop in ((-1, 0), (3, 2), (0, 6)):
        with pytest.raises(IndexError, match="there are 5 words"):
            english.edit(start, stop, ["green"])
    assert english.words == CHOMSKY.split() and english.accepted


def test_only_the_neighbours_of_an_edit_move(english: Parser) -> None:
    heard: list[int] = []
    english.db.table("Token").subscribe(lambda c: heard.append(len(c.inserted) + len(c.deleted)))
    english.edit(2, 2, ["green"])
    english.become(["colorless", "green", "green", "green", "ideas", "sleep", "furiously"])
    english.become(["colorless", "green", "ideas", "sleep", "furiously"])
    assert heard == [3, 3, 4] and english.accepted


def test_a_word_of_the_same_kind_moves_nothing() -> None:
    parser = Parser(grammar(STATEMENTS), "Program", ["x", "=", "1", "+", "2", ";"])
    heard: list[object] = []
    parser.db.view("passive").subscribe(heard.append)
    parser.edit(2, 3, ["0"])
    assert parser.words == ["x", "=", "0", "+", "2", ";"] and parser.accepted and heard == []


def words_of(given: Grammar) -> list[str]:
    return sorted({t.word for t in given.terminals})


@pytest.mark.parametrize("seed", range(4))
def test_random_edits_against_parsing_from_scratch(seed: int) -> None:
    chance = random.Random(seed)
    given = grammar(ENGLISH if seed % 2 else STATEMENTS)
    symbols = sorted({r.head for r in given.rules} | {t.nonterminal for t in given.terminals})
    terminals, rules = list(given.terminals), list(given.rules)
    start = rules[0].head
    parser = Parser(given, start)
    for _ in range(60):
        kind = chance.random()
        if kind < 0.7:
            begin = chance.randint(0, len(parser.words))
            end = min(len(parser.words), begin + chance.choice((0, 0, 1, 2)))
            count = chance.choice((0, 1, 1, 3)) if len(parser.words) < 12 else 0
            parser.edit(begin, end, [chance.choice(words_of(given)) for _ in range(count)])
        elif kind < 0.8 and rules:
            gone = rules.pop(chance.randrange(len(rules)))
            parser.remove(gone)
        elif kind < 0.85:
            gone_terminal = terminals.pop(chance.randrange(len(terminals)))
            parser.remove(gone_terminal)
        elif kind < 0.95:
            body = tuple(chance.choice(symbols) for _ in range(chance.choice((1, 2, 2, 3))))
            rules.append(Rule(chance.choice(symbols), body))
            parser.add(rules[-1])
        else:
            terminals.append(Terminal(chance.choice(words_of(given)), chance.choice(symbols)))
            parser.add(terminals[-1])
        now = Grammar(tuple(terminals), tuple(rules))
        expected = cyk(parser.words, now)
        assert parser.passive() == expected == chart(parser.words, now)
        assert parser.accepted == ((0, len(parser.words), start) in expected)
        assert parser.accepted == (next(parser.trees(), None) is not None)
    assert parser.db.verify()


def test_the_command() -> None:
    said = list(
        main(
            ["green ideas sleep", "+ Verb -> dream", "ideas dream", "- Verb -> dream", "+ nonsense", "", "x"]
        )
    )
    assert sum(line.endswith(": a sentence") for line in said) == 4
    assert sum(line.endswith(": not a sentence") for line in said) == 1
    assert "ideas dream: a sentence" in said and "ideas dream: not a sentence" in said
    assert any(line.startswith("error: 'nonsense' is not a production") for line in said)
