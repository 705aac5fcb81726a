"""Batches of rules, and the driver that runs them.

A rule is a function from a term of some language to an equal one, given some knowledge. A batch runs its rules in order,
once, or again and again until none of them changes anything. A pipeline is a literal tuple of batches.

The driver distrusts rules. With `check`, the result of every rule is checked at once, so a rule that breaks something is
named in the error; and a batch that says `once` is run a second time and must change nothing.

>>> halve = Rule("halve", lambda n, _: n // 2 if n % 2 == 0 else n)
>>> run((Batch("odd", "fixpoint", (halve,)),), 24, None)
3
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from typing import Literal as Choice

from evercurrent.errors import InternalError

T = TypeVar("T")

ROUNDS = 100
"""A fixpoint that has not been reached after so many rounds never will be: the rules undo each other."""


@dataclass(frozen=True, slots=True)
class Rule(Generic[T]):
    name: str
    apply: Callable[[T, Any], T]


@dataclass(frozen=True, slots=True)
class Batch(Generic[T]):
    name: str
    strategy: Choice["once", "fixpoint"]
    rules: tuple[Rule[T], ...]


@dataclass(frozen=True, slots=True)
class Step(Generic[T]):
    """What a trace holds: a rule that changed something."""

    batch: str
    rule: str
    before: T
    after: T


def run(
    batches: Sequence[Batch[T]],
    subject: T,
    knowledge: Any,
    *,
    check: Callable[[T], object] | None = None,
    trace: list[Step[T]] | None = None,
) -> T:
    """The subject after all batches."""
    for batch in batches:
        match batch.strategy:
            case "once":
                subject = _round(batch, subject, knowledge, check, trace)
                if check is not None and _round(batch, subject, knowledge, check, None) != subject:
                    raise InternalError(f"the batch '{batch.name}' runs once, but a second time changes more")
            case "fixpoint":
                for _ in range(ROUNDS):
                    before = subject
                    subject = _round(batch, subject, knowledge, check, trace)
                    if subject == before:
                        break
                else:
                    raise InternalError(f"the batch '{batch.name}' does not come to an end")
    return subject


def _round(
    batch: Batch[T],
    subject: T,
    knowledge: Any,
    check: Callable[[T], object] | None,
    trace: list[Step[T]] | None,
) -> T:
    for rule in batch.rules:
        result = rule.apply(subject, knowledge)
        if result is subject or result == subject:
            continue
        if check is not None:
            try:
                check(result)
            except InternalError as problem:
                raise InternalError(f"after the rule {rule.name}: {problem.message}") from problem
        if trace is not None:
            trace.append(Step(batch.name, rule.name, subject, result))
        subject = result
    return subject
