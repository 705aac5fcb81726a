"""Queries in which an expression stands in a certain position.

A *source* is what the query reads: it has the columns `id` and `g`, and the expression over a row of it, by the alias of the row.

    POSITIONS["where"]([source])      SELECT x.id FROM t x WHERE (x.c0) > (x.c1)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from zlib import crc32

from evercurrent.data.types import Boolean, Decimal, Float, Integer, Type


@dataclass(frozen=True)
class Source:
    """`relation` is what stands in FROM; `expression` writes the item over a row; `small`: sums of it cannot overflow."""

    relation: str
    expression: Callable[[str], str]
    type: Type
    small: bool

    def condition(self, alias: str) -> str:
        e = self.expression(alias)
        return e if isinstance(self.type, Boolean) else f"{e} IS NOT NULL"


Sources = Sequence[Source]


def every(sources: Sources, write: Callable[[Source], str], between: str = ", ") -> str:
    return between.join(write(s) for s in sources)


def named(sources: Sources, alias: str = "x") -> str:
    return ", ".join(f"{s.expression(alias)} AS e{i}" for i, s in enumerate(sources))


def select(s: Sources) -> str:
    return f"SELECT x.id, {named(s)} FROM {s[0].relation} x"


def where(s: Sources) -> str:
    found = " OR ".join(f"({o.condition('x')})" for o in s)
    return f"SELECT x.id FROM {s[0].relation} x WHERE {found}"


def _on(s: Sources) -> str:
    return every(s, lambda o: f"{o.expression('x')} = {o.expression('y')}", " AND ")


def join(s: Sources) -> str:
    return f"SELECT x.id, y.id AS other FROM {s[0].relation} x JOIN {s[0].relation} y ON {_on(s)}"


def outer_join(s: Sources) -> str:
    return f"SELECT x.id, y.id AS other FROM {s[0].relation} x LEFT JOIN {s[0].relation} y ON {_on(s)} AND x.id <> y.id"


def group(s: Sources) -> str:
    keys = every(s, lambda o: o.expression("x"))
    return f"SELECT {named(s)}, COUNT(*) AS n FROM {s[0].relation} x GROUP BY {keys}"


def aggregate(s: Sources) -> str:
    """One aggregate of an expression, or several: what stands alone is compiled in place, what stands twice is shared."""
    parts = []
    for o in s:
        e = o.expression("x")
        summed = o.small and isinstance(o.type, Integer | Decimal | Float)
        match crc32(e.encode()) % 3:
            case 0 if summed:
                parts.append(f"SUM({e})")
            case 1 if summed:
                parts.append(f"AVG({e})")
            case _:
                parts += [f"COUNT({e})", f"COUNT(DISTINCT {e})", f"MIN({e})"]
                parts += [f"SUM({e})", f"AVG({e})", f"SUM({e} * {e})"] if summed else []
    listed = ", ".join(f"{p} AS a{i}" for i, p in enumerate(parts))
    return f"SELECT x.g, {listed} FROM {s[0].relation} x GROUP BY x.g"


def filter_clause(s: Sources) -> str:
    parts = [
        p
        for o in s
        for p in (
            f"COUNT(*) FILTER (WHERE {o.condition('x')})",
            f"SUM(x.id) FILTER (WHERE {o.condition('x')})",
        )
    ]
    listed = ", ".join(f"{p} AS a{i}" for i, p in enumerate(parts))
    return f"SELECT x.g, {listed} FROM {s[0].relation} x GROUP BY x.g"


def window_argument(s: Sources) -> str:
    parts = [
        p
        for o in s
        for p in (
            f"COUNT({o.expression('x')}) OVER (PARTITION BY x.g)",
            f"LAG({o.expression('x')}) OVER (PARTITION BY x.g ORDER BY x.id)",
            f"FIRST_VALUE({o.expression('x')}) OVER (ORDER BY x.id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)",
        )
    ]
    listed = ", ".join(f"{p} AS a{i}" for i, p in enumerate(parts))
    return f"SELECT x.id, {listed} FROM {s[0].relation} x"


def window_order(s: Sources) -> str:
    parts = [
        p
        for o in s
        for p in (
            f"ROW_NUMBER() OVER (PARTITION BY x.g ORDER BY {o.expression('x')}, x.id)",
            f"RANK() OVER (ORDER BY {o.expression('x')} DESC)",
        )
    ]
    listed = ", ".join(f"{p} AS a{i}" for i, p in enumerate(parts))
    return f"SELECT x.id, {listed} FROM {s[0].relation} x"


def case_branch(s: Sources) -> str:
    parts = every(s, lambda o: f"CASE WHEN {o.condition('x')} THEN {o.expression('x')} END AS e{s.index(o)}")
    return f"SELECT x.id, {parts} FROM {s[0].relation} x"


def subquery(s: Sources) -> str:
    counts = ", ".join(
        f"(SELECT COUNT({o.expression('y')}) FROM {o.relation} y WHERE y.g = x.g) AS n{i}"
        for i, o in enumerate(s)
    )
    found = every(s, lambda o: f"({o.condition('y')})", " AND ")
    return (
        f"SELECT x.id, {counts} FROM {s[0].relation} x "
        f"WHERE EXISTS (SELECT 1 FROM {s[0].relation} y WHERE y.g = x.g AND y.id <> x.id AND {found})"
    )


def having(s: Sources) -> str:
    found = every(s, lambda o: f"COUNT({o.expression('x')}) > 1", " OR ")
    return f"SELECT x.g FROM {s[0].relation} x GROUP BY x.g HAVING {found}"


def distinct(s: Sources) -> str:
    return f"SELECT DISTINCT {named(s)} FROM {s[0].relation} x"


def union(s: Sources) -> str:
    return f"SELECT {named(s)} FROM {s[0].relation} x WHERE x.id % 2 = 0 UNION SELECT {named(s, 'y')} FROM {s[0].relation} y"


def top(s: Sources) -> str:
    return (
        f"SELECT x.id FROM {s[0].relation} x ORDER BY {every(s, lambda o: o.expression('x'))}, x.id LIMIT 3"
    )


def assertion(s: Sources) -> str:
    """No row with a negative id may satisfy a condition."""
    return f"SELECT x.id FROM {s[0].relation} x WHERE x.id < 0 AND ({every(s, lambda o: o.condition('x'), ' OR ')})"


POSITIONS: dict[str, Callable[[Sources], str]] = {
    "select": select,
    "where": where,
    "join": join,
    "outer join": outer_join,
    "group": group,
    "aggregate": aggregate,
    "filter": filter_clause,
    "window argument": window_argument,
    "window order": window_order,
    "case": case_branch,
    "subquery": subquery,
    "having": having,
    "distinct": distinct,
    "union": union,
    "top": top,
    "assertion": assertion,
}

COMPARED = frozenset({"join", "outer join"})
"""Positions whose expression is compared for equality."""
ONE_ROW_EACH = frozenset({"group", "distinct", "union"})
"""Positions in whose result no row stands twice."""
