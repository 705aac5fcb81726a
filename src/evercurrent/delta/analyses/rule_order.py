"""The order in which the rules of one delta run, so that deletions come before insertions.

padding of an outer join     inserted right rows delete it: its rule runs, for them, before the rule that inserts
"""

from __future__ import annotations

from evercurrent.delta.derive import PADDED
from evercurrent.delta.program import Rule
from evercurrent.term.nodes import Call, Literal, Term


def sign_of(rule: Rule) -> int:
    """-1 if the rule deletes for inserted rows (the padding of an outer join), else 1."""

    def sign(t: Term) -> int:
        match t:
            case Literal(int(value)):
                return -1 if value < 0 else 1
            case Call("ring_mul", args):
                result = 1
                for a in args:
                    result *= sign(a)
                return result
            case _:
                return 1

    return sign(rule.count)


def in_turn(rules: tuple[Rule, ...]) -> list[tuple[Rule, int]]:
    """Rules with the sign of the rows that they run for (0: all), so that deletions are processed before insertions (law L10).

    A rule that deletes for inserted rows stands, for inserted rows, right before the rule for the same delta, and no
    earlier: what it takes away is what the rules before have brought (law L11: weights and sums are zero together).
    """
    result: list[tuple[Rule, int]] = []
    i = 0
    while i < len(rules):
        run = [rules[i]]
        while i + len(run) < len(rules) and rules[i + len(run)].into == rules[i].into:
            run.append(rules[i + len(run)])
        i += len(run)
        takers = [r for r in run if sign_of(r) < 0]
        if not takers or len(takers) == len(run):
            result += [(r, 0) for r in run]
            continue
        givers = [r for r in run if sign_of(r) > 0]
        deltas = [_delta(r) for r in givers]
        lost = [r for r in takers if _delta(r) not in deltas]
        result += [(r, 1) for r in lost]
        for k, giver in enumerate(givers):
            own = [r for r in takers if _delta(r) == deltas[k]]
            if deltas[k] not in deltas[:k]:
                result += [(r, 1) for r in own]
            result.append((giver, 0))
            if deltas[k] not in deltas[k + 1 :]:
                result += [(r, -1) for r in own]
        result += [(r, -1) for r in lost]
    return result


def _delta(rule: Rule) -> tuple[str, ...]:
    """Which occurrence of its relation a rule starts from, by the names of its columns."""
    return tuple(c.name.removesuffix(PADDED) for c in rule.binds)
