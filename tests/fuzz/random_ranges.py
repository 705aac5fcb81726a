"""Random views that show rows of a range: above a threshold that moves, groups above one, pairs of an inequality or a band.

>>> draw_rows(Random(2)).startswith("SELECT")
True
"""

from __future__ import annotations

from random import Random

THRESHOLDS = (
    "(SELECT sum({c}) FROM {t})", "(SELECT avg({c}) FROM {t})", "(SELECT max({c}) FROM {t})", "(SELECT min({c}) FROM {t})",
    "0.25 * (SELECT sum({c}) FROM {t})", "0.1 * (SELECT sum({c}) FROM {t})", "(SELECT median({c}) FROM {t})",
    "(SELECT count(*) FROM {t})", "(SELECT sum({c}) FROM {t}) / 3", "(SELECT avg({c}) FROM {t} WHERE k = 1)",
    "(SELECT {c} FROM {t} ORDER BY id DESC LIMIT 1)",
)  # fmt: skip
"""Over a table and one of its columns. Some are NULL while the table is empty."""

PAIRS = (
    "s.b > r.a", "s.b >= r.a", "s.b < r.a", "s.b <= r.a", "s.b > r.a AND s.b <= r.a + 3", "s.b BETWEEN r.a - 1 AND r.a + 1",
    "s.y < r.x", "s.y >= r.x", "s.y > r.x AND s.y < r.x + 2", "s.e <= r.d", "s.e > r.d - 1", "s.b > r.d", "s.y <= r.a",
    "s.b > r.a AND s.y < r.x", "s.b BETWEEN r.a AND r.k", "s.b > r.a AND s.b > r.k", "s.b - 1 <= r.a",
)  # fmt: skip
SHOWN = (
    "r.id AS i, s.id AS j",
    "s.id AS j",
    "r.id AS i",
    "s.k AS g",
    "r.a AS u, s.b AS v",
    "s.id AS j, r.k AS g",
    "s.y AS v",
)
COMPARISONS = (">", ">=", "<", "<=")


def draw_rows(random: Random) -> str:
    """Draws a view; in front of its query may stand an option that keeps every order."""
    drawn = random.choice(
        (draw_above, draw_above, draw_between, draw_groups, draw_totals, draw_pairs, draw_peers)
    )
    query = drawn(random)
    return f"WITH (maps = 'all') AS {query}" if random.random() < 0.3 else query


def draw_threshold(random: Random, column: str, other: str) -> str:
    table, own = random.choice((("r", column), ("r", column), ("s", other)))
    return random.choice(THRESHOLDS).format(t=table, c=own)


def draw_column(random: Random) -> tuple[str, str]:
    """A column of r, and the one of s of the same type."""
    return random.choice((("a", "b"), ("x", "y"), ("d", "e"), ("k", "k")))


def draw_above(random: Random) -> str:
    """Rows beyond one threshold."""
    column, other = draw_column(random)
    threshold = draw_threshold(random, column, other)
    shown = random.choice(("*", "id", "k, a", "x", f"id, {column}"))
    more = random.choice(("", "", " AND k = 1", " AND a IS NOT NULL"))
    return f"SELECT {shown} FROM r WHERE {column} {random.choice(COMPARISONS)} {threshold}{more}"


def draw_between(random: Random) -> str:
    """Rows between two thresholds, which may have changed places."""
    column, other = draw_column(random)
    low, high = (draw_threshold(random, column, other) for _ in range(2))
    shown = random.choice(("id", "k, a", f"id, {column}"))
    below = random.choice(("<", "<="))
    return (
        f"SELECT {shown} FROM r WHERE {column} {random.choice(('>', '>='))} {low} AND {column} {below} {high}"
    )


def draw_groups(random: Random) -> str:
    """Groups whose sum is beyond a threshold."""
    column, other = draw_column(random)
    amount = random.choice((f"sum({column})", "count(*)", f"max({column})", f"avg({column})"))
    key = random.choice(("k", "a", "k % 2", "k, d"))
    threshold = draw_threshold(random, column, other)
    shown = random.choice((f", {amount} AS f0", ""))
    keys = ", ".join(f"{k} AS g{i}" for i, k in enumerate(key.split(", ")))
    return (
        f"SELECT {keys}{shown} FROM r GROUP BY {key} HAVING {amount} {random.choice(COMPARISONS)} {threshold}"
    )


def draw_totals(random: Random) -> str:
    """Sums by group over the rows beyond a threshold."""
    column, other = draw_column(random)
    threshold = draw_threshold(random, column, other)
    amount = random.choice(("count(*)", "sum(a)", "sum(x)", "max(d)"))
    return f"SELECT k AS g, {amount} AS f0 FROM r WHERE {column} {random.choice(COMPARISONS)} {threshold} GROUP BY k"


def draw_pairs(random: Random) -> str:
    """Pairs of an inequality or a band, or the columns of one side."""
    where = random.choice(PAIRS) + random.choice(("", "", "", " AND r.k = s.k"))
    return f"SELECT {random.choice(SHOWN)} FROM r JOIN s ON {where}"


def draw_peers(random: Random) -> str:
    """Rows beyond a threshold of their own key."""
    column, other = draw_column(random)
    amount = random.choice((f"avg({other})", f"max({other})", f"sum({other})"))
    comparison = random.choice(COMPARISONS)
    return f"SELECT r.id FROM r WHERE r.{column} {comparison} (SELECT {amount} FROM s WHERE s.k = r.k)"
