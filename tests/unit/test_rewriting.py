"""The driver of rules: strategies, checks, traces."""

from __future__ import annotations

from typing import Any

import pytest

from evercurrent.errors import InternalError
from evercurrent.rewriting import Batch, Rule, Step, run

HALVE: Rule[int] = Rule("halve", lambda n, _: n // 2 if n % 2 == 0 else n)
ADD: Rule[int] = Rule("add", lambda n, k: n + k)


def test_once_runs_every_rule_in_order() -> None:
    assert run((Batch("b", "once", (ADD, HALVE)),), 5, 1) == 3


def test_fixpoint_runs_until_nothing_changes() -> None:
    assert run((Batch("b", "fixpoint", (HALVE,)),), 40, None) == 5


def test_a_fixpoint_without_end_is_refused() -> None:
    with pytest.raises(InternalError, match="'b' does not come to an end"):
        run((Batch("b", "fixpoint", (ADD,)),), 0, 1)


def test_once_must_be_idempotent_when_checked() -> None:
    batches = (Batch("b", "once", (ADD,)),)
    assert run(batches, 0, 1) == 1
    with pytest.raises(InternalError, match="'b' runs once"):
        run(batches, 0, 1, check=lambda n: n)


def test_a_rule_that_breaks_something_is_named() -> None:
    def small(n: int) -> None:
        if n > 3:
            raise InternalError("too large")

    grow: Rule[int] = Rule("grow", lambda n, _: 9 if n == 1 else n)
    with pytest.raises(InternalError, match="after the rule grow: too large"):
        run((Batch("b", "once", (grow,)),), 1, None, check=small)


def test_the_trace_holds_what_changed() -> None:
    trace: list[Step[Any]] = []
    run((Batch("b", "fixpoint", (HALVE,)),), 4, None, trace=trace)
    assert [(s.batch, s.rule, s.before, s.after) for s in trace] == [
        ("b", "halve", 4, 2),
        ("b", "halve", 2, 1),
    ]
