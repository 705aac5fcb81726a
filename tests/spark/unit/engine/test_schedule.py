"""A loop runs after all that feeds it, and what it fills is settled after it."""

from __future__ import annotations

from evercurrent.data.types import INT
from evercurrent.delta.analyses.levels import levels
from evercurrent.delta.program import Fixpoint, Input, Linear, Loop, Program, Rule, State, weight_column
from evercurrent.term.nodes import Column

X = (Column("x", INT, True),)
W = weight_column()


def rule(on: str, into: str) -> Rule:
    return Rule(on, X, W, (), into, X, W)


def test_a_loop_stands_above_its_feeders_and_below_what_it_fills() -> None:
    loop = Loop("p", X, "p body", "p inner", True)
    program = Program(
        (
            Input("edge", X),
            Linear("far", X),
            Linear("between", X),
            Fixpoint("loop", (loop,)),
            Linear("after", X),
        ),
        (State("seen", X), State("edges", X)),
        {
            "edge": (rule("edge", "far"), rule("edge", "edges"), rule("edge", "p body")),
            "far": (rule("far", "between"),),
            "p inner": (rule("p inner", "between"),),
            "between": (rule("between", "seen"), rule("between", "p body")),
            "p": (rule("p", "after"),),
        },
    )
    found = [(tuple(r.name for r in level.relations), level.states) for level in levels(program)]
    assert found == [
        (("edge",), ()),
        (("far",), ("edges",)),
        (("loop",), ()),
        (("after",), ("seen",)),
    ]
