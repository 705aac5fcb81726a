"""Window functions follow single changes of a partition: compared with the reference evaluator after each.

Chunks are made small and partitions are never evaluated as a whole, so that what a change reaches decides what is shown.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.engine.live import columns
from evercurrent.engine.live.runtime import chunks, window_groups
from evercurrent.engine.live.runtime.chunks import Chunks, count_rows
from tests.fuzz.campaign import Tally
from tests.fuzz.campaigns.windows import draw_steps, follow_views
from tests.fuzz.small_partitions import small_partitions

FUNCTIONS = [
    "row_number() OVER (PARTITION BY g ORDER BY k)",
    "rank() OVER (PARTITION BY g ORDER BY k DESC)",
    "dense_rank() OVER (PARTITION BY g ORDER BY k)",
    "percent_rank() OVER (PARTITION BY g ORDER BY k)",
    "cume_dist() OVER (PARTITION BY g ORDER BY k DESC NULLS FIRST)",
    "ntile(3) OVER (PARTITION BY g ORDER BY k)",
    "lag(v) OVER (PARTITION BY g ORDER BY k)",
    "lead(v, 3, -1) OVER (PARTITION BY g ORDER BY k)",
    "lag(v, 2) IGNORE NULLS OVER (PARTITION BY g ORDER BY k)",
    "first_value(v) OVER (PARTITION BY g ORDER BY k)",
    "last_value(v) OVER (PARTITION BY g ORDER BY k)",
    "last_value(v) OVER (PARTITION BY g ORDER BY k ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
    "nth_value(v, 2) OVER (PARTITION BY g ORDER BY k)",
    "first_value(v) OVER (PARTITION BY g ORDER BY k ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
    "sum(v) OVER (PARTITION BY g)",
    "sum(v) OVER (PARTITION BY g ORDER BY k)",
    "avg(v) OVER (PARTITION BY g ORDER BY k ROWS BETWEEN 3 PRECEDING AND CURRENT ROW)",
    "count(v) OVER (PARTITION BY g ORDER BY k ROWS BETWEEN UNBOUNDED PRECEDING AND 2 PRECEDING)",
    "sum(v) OVER (PARTITION BY g ORDER BY k ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)",
    "sum(x) OVER (PARTITION BY g ORDER BY k ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING)",
    "sum(x) OVER (PARTITION BY g ORDER BY k)",
    "sum(v) OVER (PARTITION BY g ORDER BY k RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING)",
    "count(*) OVER (PARTITION BY g ORDER BY k DESC RANGE BETWEEN 1 FOLLOWING AND 3 FOLLOWING)",
    "sum(v) OVER (PARTITION BY g ORDER BY x RANGE BETWEEN 1.5D PRECEDING AND CURRENT ROW)",
    "min(v) OVER (PARTITION BY g ORDER BY k)",
    "max(v) OVER (PARTITION BY g ORDER BY k ROWS BETWEEN 4 PRECEDING AND 1 PRECEDING)",
    "min(x) OVER (PARTITION BY g ORDER BY k RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING)",
    "sum(v) FILTER (WHERE v > 2) OVER (PARTITION BY g ORDER BY k)",
    "stddev(x) OVER (PARTITION BY g ORDER BY k ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)",
    "collect_list(v) OVER (PARTITION BY g ORDER BY k ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING)",
]
SHOWN = ("id, ", "")
"""With the key the rows of a partition differ; without it some are equal and have weights."""


@pytest.mark.parametrize("part", range(6))
def test_each_function_follows_changes(part: int) -> None:
    functions = FUNCTIONS[part::6]
    texts = {
        f"v{i}_{len(shown)}": f"SELECT {shown}g, k, v, {function} AS f FROM t"
        for i, function in enumerate(functions)
        for shown in SHOWN
    }
    with small_partitions():
        follow_views(texts, draw_steps(part, 40), Tally())


@pytest.mark.parametrize("part", range(3))
def test_each_function_follows_changes_over_columns(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "LEAST_ROWS", 1)
    functions = [
        *FUNCTIONS[part::3],
        "avg(v) OVER (ORDER BY k ROWS BETWEEN 4 FOLLOWING AND 4 FOLLOWING)",
        "count(*) OVER (PARTITION BY g ORDER BY k DESC ROWS BETWEEN 9 PRECEDING AND 7 PRECEDING)",
    ]
    texts = {f"v{i}": f"SELECT id, g, k, {function} AS f FROM t" for i, function in enumerate(functions)}
    follow_views(texts, draw_steps(part, 25), Tally())


def test_functions_of_several_windows() -> None:
    text = (
        "SELECT id, rank() OVER w AS r, lag(v) OVER w AS l, sum(x) OVER w AS s, "
        "max(v) OVER (PARTITION BY g ORDER BY k ROWS 2 PRECEDING) AS m, "
        "row_number() OVER (PARTITION BY g ORDER BY v, id) AS n FROM t WINDOW w AS (PARTITION BY g ORDER BY k)"
    )
    with small_partitions():
        follow_views({"w": text}, draw_steps(17, 60), Tally())


def test_a_change_evaluates_what_it_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    db = ec.connect()
    db.execute("CREATE TABLE players (id BIGINT PRIMARY KEY, points BIGINT)")
    db.execute(
        "CREATE VIEW board AS SELECT id, points, rank() OVER (ORDER BY points DESC) AS place FROM players"
    )
    db.table("players").insert([(i, 10 * i) for i in range(3000)])
    db.view("board").subscribe(lambda change: None)  # without a reader nothing is evaluated
    evaluated: list[int] = []
    values = window_groups.Ranks.values

    def count(self: window_groups.Ranks, rows: Chunks, span: window_groups.Span) -> list[Any]:
        evaluated.append(len(span.rows))
        return values(self, rows, span)

    monkeypatch.setattr(window_groups.Ranks, "values", count)
    db.table("players").update({"id": 1000}, points=10035)
    assert 0 < sum(evaluated) <= 20  # none, if the states were still columns
    assert (1000, 10035, 1997) in db.view("board").rows()


def test_chunks_count_rows_in_front() -> None:
    random = Random(5)
    rows = Chunks(count_rows)
    there: dict[tuple[int], int] = {}
    for _ in range(3000):
        sort = (random.randrange(900),)
        weight = random.choice((0, 1, 1, 2))
        rows.place(sort, sort, weight)
        there[sort] = weight
    expected = [sort for sort in sorted(there) for _ in range(there[sort])]
    assert [sort for sort, _ in rows.between(None, None)] == expected
    for bound in ((0,), (450,), (450, chunks.TOP), (900,)):
        assert rows.before(bound).weight == sum(sort < bound for sort in expected)
        assert [s for s, _ in rows.between(bound, None)] == [s for s in expected if not s < bound]
