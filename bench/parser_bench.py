"""The incremental parser: an edit in sentences of 20 to 200 tokens against parsing from scratch."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from statistics import mean

from bench.measure import machine, quiet
from bench.report import Result, Table
from examples.parser.grammar import STATEMENTS, Grammar, grammar
from examples.parser.parser import Parser
from examples.parser.scratch import chart

ABOUT = (
    "The chart parser of `examples/parser` (Mitschke et al. 2014, section 5) on programs of a small language with statements, "
    "loops and sums. *A word*: one word for another of the same kind. *An operator*: `+` for `*` or back, which moves the "
    "borders of sums and products. *A term*: `+ 1` inserted behind a number or name, and taken out again. *Breaking*: a "
    "word that fits nowhere, and the right one again. *Parsing from scratch* is a chart parser written by hand, over plain "
    "dictionaries, and the same view filled again. After every edit the chart is compared with the one written by hand."
)


def program(length: int, chance: random.Random) -> list[str]:
    """A program of about so many tokens."""
    words: list[str] = []
    while len(words) < length:
        if length - len(words) > 20 and chance.random() < 0.2:
            condition, inner = chance.choice("xyz"), statement(chance)
            words += ["while", "(", condition, "-", "1", ")", "{", *inner, *statement(chance), "}"]
        else:
            words += statement(chance)
    return words


def statement(chance: random.Random) -> list[str]:
    a, b, c = (chance.choice("xyz012") for _ in range(3))
    forms = ([a], [a, "+", b], [a, "*", "(", b, "-", c, ")"], [a, "*", b, "+", c])
    return [chance.choice("xyz"), "=", *chance.choice(forms), ";"]


Edit = tuple[int, int, Sequence[str]]


def edits(kind: str, words: list[str], chance: random.Random) -> tuple[Edit, Edit] | None:
    """An edit and the one that takes it back, or None where the program has no place for one."""
    operators = [i for i, w in enumerate(words) if w in "+-*/"]
    atoms = [i for i in range(2, len(words)) if words[i] in "xyz012" and words[i + 1 : i + 2] != ["="]]
    match kind:
        case "a word":
            i = chance.choice(atoms)
            other = chance.choice([w for w in ("xyz" if words[i] in "xyz" else "012") if w != words[i]])
            return (i, i + 1, [other]), (i, i + 1, [words[i]])
        case "an operator" if operators:
            i = chance.choice(operators)
            return (i, i + 1, ["*" if words[i] in "+-" else "+"]), (i, i + 1, [words[i]])
        case "a term":
            i = chance.choice(atoms) + 1
            return (i, i, ["+", "1"]), (i, i + 2, [])
        case "breaking":
            i = chance.randrange(len(words))
            return (i, i + 1, ["while"]), (i, i + 1, [words[i]])
        case _:
            return None


KINDS = ("a word", "an operator", "a term", "breaking")


def run(quick: bool) -> Result:
    given = grammar(STATEMENTS)
    parser = Parser(given, "Program")
    table = Table(
        "One edit against parsing from scratch: milliseconds of CPU time",
        [
            "tokens",
            "edges",
            *KINDS,
            "by hand, from scratch",
            "the view, from scratch",
            "by hand / term",
            "the view / term",
        ],
    )
    for length in (20, 50, 100, 200):
        table.rows.append(measured(length, parser, given, 5 if quick else 25))
    table.notes.append(
        "The view is filled again with the grammar already in it: all tokens as one transaction."
    )
    table.notes.append(
        "An edit that moves edges touches all that span it: lists of statements from every statement to every later one, a "
        "square number. It pays against the view filled again; the parser by hand is about as quick from nothing."
    )
    return Result("parser", ABOUT, [table], machine(), quick)


def measured(length: int, parser: Parser, given: Grammar, repeats: int) -> list[object]:
    chance = random.Random(length)
    words = program(length, chance)
    filling: list[float] = []
    for _ in range(3):
        parser.become([])
        with quiet():
            filling.append(seconds(lambda: parser.become(words)))
    if not parser.accepted:
        raise SystemExit("the program is not one, so there is no figure for it")
    by_hand = [seconds(lambda: chart(words, given)) for _ in range(5)]
    figures = []
    for kind in KINDS:
        times: list[float] = []
        for _ in range(repeats):
            pair = edits(kind, parser.words, chance)
            if pair is None:
                continue
            for start, stop, new in pair:
                times.append(seconds(lambda: parser.edit(start, stop, new)))  # noqa: B023
                require(parser, given)
        figures.append(mean(times) if times else None)
    term = figures[KINDS.index("a term")] or 1.0
    shown = [None if f is None else f * 1e3 for f in figures]
    edges = len(parser.db.view("passive"))
    anew, view = mean(by_hand), min(filling)
    return [len(words), edges, *shown, anew * 1e3, view * 1e3, anew / term, view / term]


def require(parser: Parser, given: Grammar) -> None:
    if parser.passive() != chart(parser.words, given):
        raise SystemExit("the chart is not the one that is parsed from scratch, so there is no figure for it")


def seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start
