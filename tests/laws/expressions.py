"""Random typed expressions and conditions, in SQL that Spark and DuckDB both take after translation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.laws.chooser import Chooser
from tests.laws.schemas import DOMAINS, literal


@dataclass(frozen=True)
class Visible:
    """A column that can be named: its text and its kind."""

    text: str
    kind: str


Scope = tuple[Visible, ...]

ORDERED = ("INT", "STRING", "DECIMAL", "DOUBLE", "DATE")


def constant(c: Chooser, kind: str) -> str:
    value = c.pick([v for v in DOMAINS[kind] if v is not None])
    return literal(value)


def null(kind: str) -> str:
    return f"CAST(NULL AS {'DECIMAL(8,2)' if kind == 'DECIMAL' else kind})"


def column(c: Chooser, scope: Scope, kind: str) -> str | None:
    found = [v.text for v in scope if v.kind == kind]
    return c.pick(found) if found else None


def expression(c: Chooser, scope: Scope, kind: str, depth: int) -> str:
    """A term of the kind over the scope."""
    leaf = column(c, scope, kind)
    if depth <= 0 or c.chance(50):
        if leaf is not None and not c.chance(10):
            return leaf
        return constant(c, kind) if not c.chance(10) else null(kind)

    def sub(k: str = kind) -> str:
        return expression(c, scope, k, depth - 1)

    general: list[Callable[[], str]] = [
        lambda: f"COALESCE({sub()}, {sub()})",
        lambda: f"CASE WHEN {condition(c, scope, depth - 1)} THEN {sub()} ELSE {sub()} END",
        lambda: f"CASE WHEN {condition(c, scope, depth - 1)} THEN {sub()} END",
        lambda: f"NULLIF({sub()}, {sub()})",
    ]
    special: dict[str, list[Callable[[], str]]] = {
        "INT": [
            lambda: f"({sub()} + {sub()})",
            lambda: f"({sub()} - {sub()})",
            lambda: f"({sub()} * {c.number(-1, 3)})",
            lambda: f"({sub()} % 3)",
            lambda: f"abs({sub()})",
            lambda: f"length({sub('STRING')})",
            lambda: f"GREATEST({sub()}, {sub()})",
        ],
        "STRING": [
            lambda: f"upper({sub()})",
            lambda: f"concat({sub()}, {sub()})",
            lambda: f"substring({sub()}, 1, 1)",
        ],
        "DOUBLE": [lambda: f"({sub()} + {sub()})", lambda: f"(- {sub()})"],
        "DECIMAL": [lambda: f"({sub()} + {sub()})", lambda: f"({sub()} - {sub()})"],
        "BOOLEAN": [lambda: f"({condition(c, scope, depth - 1)})"],
        "DATE": [],
    }
    return c.pick(special[kind] + general)()


def comparison(c: Chooser, scope: Scope, depth: int) -> str:
    kinds = [v.kind for v in scope if v.kind in ORDERED] or ["INT"]
    kind = c.pick(kinds)
    left, right = expression(c, scope, kind, depth), expression(c, scope, kind, depth)
    return f"{left} {c.pick(('=', '<', '>', '<>', '<=', '>=', '<=>'))} {right}"


def condition(c: Chooser, scope: Scope, depth: int) -> str:
    """A condition without subqueries."""
    choice = c.number(0, 9 if depth > 0 else 5)
    kind = c.pick([v.kind for v in scope] or ["INT"])
    term = expression(c, scope, kind, 0)
    match choice:
        case 0 | 1 | 2:
            return comparison(c, scope, max(0, depth - 1))
        case 3:
            return f"{term} IS {c.pick(('', 'NOT '))}NULL"
        case 4:
            listed = ", ".join([constant(c, kind), constant(c, kind)] + (["NULL"] if c.chance(15) else []))
            return f"{term} {c.pick(('', 'NOT '))}IN ({listed})"
        case 5:
            return f"{expression(c, scope, 'INT', 0)} {c.pick(('', 'NOT '))}BETWEEN 0 AND 2"
        case 6:
            return f"NOT ({condition(c, scope, depth - 1)})"
        case 7:
            return f"({condition(c, scope, depth - 1)}) IS NOT TRUE"
        case _:
            operator = c.pick(("AND", "OR"))
            return f"({condition(c, scope, depth - 1)} {operator} {condition(c, scope, depth - 1)})"
