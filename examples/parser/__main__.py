"""`python -m examples.parser`: edit a sentence, or the grammar, and see at once what it is.

A line of words is the new sentence: what it has in common with the old one stays. `+ Verb -> dream` adds a production,
`- Verb -> dream` takes it away, an empty line ends. Without a terminal the lines are read from a pipe.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from itertools import islice

from examples.parser.parser import CHOMSKY, ENGLISH, Parser, grammar, show

MANY = 20


def main(lines: Iterable[str], start: str = "S") -> Iterator[str]:
    """What the parser has to say of each line."""
    parser = Parser(grammar(ENGLISH), start, CHOMSKY.split())
    yield ENGLISH.rstrip()
    yield from state(parser)
    for line in map(str.strip, lines):
        if not line:
            return
        begin = time.perf_counter()
        try:
            perform(parser, line)
        except ValueError as problem:
            yield f"error: {problem}"
            continue
        yield f"{(time.perf_counter() - begin) * 1e3:.2f} ms"
        yield from state(parser)


def perform(parser: Parser, line: str) -> None:
    sign, _, production = line.partition(" ")
    if sign not in ("+", "-"):
        parser.become(line.split())
        return
    given = grammar(production)
    change = parser.add if sign == "+" else parser.remove
    change(*given.rules, *given.terminals)


def state(parser: Parser) -> Iterator[str]:
    yield f"{' '.join(parser.words)}: {'a sentence' if parser.accepted else 'not a sentence'}"
    found = list(islice(parser.trees(), MANY + 1))
    yield from (f"  {show(tree)}" for tree in found[:MANY])
    if len(found) > MANY:
        yield "  and more"


def prompted() -> Iterator[str]:
    while True:
        try:
            yield input("> ") if sys.stdin.isatty() else input()
        except (EOFError, KeyboardInterrupt):
            return


if __name__ == "__main__":
    for each in main(prompted()):
        print(each)
