"""Random plans, compiled to maintenance programs: the interpreter and the live engine beside the evaluation of the plan.

Plans and data are those of `tests/unit/delta/random_plans`. Every program runs twice, in the interpreter, which follows the laws
word for word, and in the live engine, which runs half of them over columns (`tests.fuzz.columns`); the rows and the delta of each transaction must equal those of the plan evaluated before and
after it. A few plans are compiled as one program, with and without assumptions about references, and by identities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from evercurrent.algebra.evaluate import evaluate
from evercurrent.algebra.nodes import Plan
from evercurrent.algebra.show import show as show_plan
from evercurrent.data.zset import ZSet
from evercurrent.delta.compile import compile_views
from evercurrent.delta.interpret import Interpreter
from evercurrent.engine.live.engine import LiveEngine
from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.columns import Forms
from tests.fuzz.histories import Wrong
from tests.fuzz.shortening import fails_like, shortened
from tests.unit.delta.random_plans import CATALOG, TABLES, Data, Guesses, Plans

Step = tuple[Any, ...]


@dataclass(frozen=True)
class Case:
    """The plans of a seed and the way that they are compiled."""

    plans: dict[str, Plan]
    options: dict[str, Any]


def case(seed: int) -> Case:
    chooser = Random(seed)
    made = Plans(seed)
    plans = {f"v{i}": made.plan(1 + chooser.randrange(4)) for i in range(chooser.choice((1, 1, 2, 3)))}
    if chooser.random() < 0.2:
        return Case(plans, {"identities": tuple(plans)})
    options = {"assume": chooser.random() < 0.5, "least_fan_out": chooser.randint(0, 3)}
    options |= {"bounded": True, "ordered": True}
    return Case(plans, options | ({"statistics": Guesses(seed)} if options["least_fan_out"] == 3 else {}))


def draw_steps(seed: int, transactions: int) -> list[Step]:
    """Changes as data: (table, row, weight) triples."""
    data = Data(seed)
    return [
        (
            "change",
            "commit",
            [(name, row, weight) for name, z in data.step().items() for row, weight in z.items()],
        )
        for _ in range(transactions)
    ]


def follow(seed: int, steps: Sequence[Step], tally: Tally | None = None) -> None:
    """Follows changes over rows and columns; raises Wrong at the first difference."""
    with Forms(seed) as forms:
        follow_in(forms, seed, steps, tally)


def follow_in(forms: Forms, seed: int, steps: Sequence[Step], tally: Tally | None) -> None:
    """Follows changes in the forms that are drawn."""
    counted = tally or Tally()
    drawn = case(seed)
    program = compile_views(drawn.plans, CATALOG, **drawn.options)
    interpreter, live = Interpreter(program), LiveEngine()
    live.install(program, lambda _: ())
    late = LiveEngine()  # installed in the middle: filled from the tables
    tables = {name: ZSet() for name in TABLES}

    def evaluated() -> dict[str, ZSet]:
        return {v: evaluate(plan, lambda n: tables[n].items()) for v, plan in drawn.plans.items()}

    before = evaluated()
    counted.views += len(drawn.plans)
    for number, (_, _, changes) in enumerate(steps):
        forms.draw()
        deltas: dict[str, ZSet] = {}
        for name, row, weight in changes:
            deltas.setdefault(name, ZSet()).add(row, weight)
        for name, delta in deltas.items():
            tables[name] = tables[name] + delta
            if any(w < 0 for _, w in tables[name].items()):
                raise ValueError(f"{name} has not enough rows to delete")
        after = evaluated()
        by_rules = interpreter.apply(deltas)
        if forms.undoes():
            live.apply(deltas)
            live.undo()
            forms.draw()
        by_triggers = live.apply(deltas, set(program.views.values()))
        if number > len(steps) // 2:
            late.apply(deltas)
        for view, relation in program.views.items():
            expected = after[view] - before[view]
            compare(f"delta of {view}, interpreter", by_rules[relation], expected)
            compare(f"delta of {view}, live engine", by_triggers[relation], expected)
            compare(f"rows of {view}, interpreter", interpreter.rows(relation), after[view])
            compare(f"rows of {view}, live engine", ZSet(live.rows(relation)), after[view])
            if number > len(steps) // 2:
                compare(f"rows of {view}, filled late", ZSet(late.rows(relation)), after[view])
        if number == len(steps) // 2:
            late.install(program, lambda name: tables[name].items())
        before = after
        counted.transactions += 1


def compare(what: str, found: ZSet, expected: ZSet) -> None:
    if found != expected:
        raise Wrong(f"{what}\nfound    {dict(found.items())}\nexpected {dict(expected.items())}")


def script(seed: int, steps: Sequence[Step], message: str) -> str:
    """Returns a script that follows the changes over the plans of the seed."""
    told = [message, *(f"{name}:\n{show_plan(plan)}" for name, plan in case(seed).plans.items())]
    lines = ["from tests.fuzz.campaigns.plans import follow", ""]
    lines += [f"# {line}" for part in told for line in part.splitlines()]
    lines += [
        "follow(",
        f"    {seed},",
        "    [",
        *(f"        {step!r}," for step in steps),
        "    ],",
        ")",
        "",
    ]
    return "\n".join(lines)


@dataclass(frozen=True)
class RandomPlans:
    name: str = "plans"
    needs_spark: bool = False
    transactions: int = 40

    def run(self, seed: int, tally: Tally) -> None:
        steps = draw_steps(seed, self.transactions)
        try:
            follow(seed, steps, tally)
        except Exception as error:
            short = shortened(steps, fails_like(error, lambda some: follow(seed, some)))
            raise Difference(str(error), script(seed, short, str(error))) from error


CAMPAIGN = RandomPlans()
