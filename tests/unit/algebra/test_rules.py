"""Every rule: what it does to the plan of a telling query, as a golden file `tests/golden/rules/<rule>.txt`.

`pytest tests/unit/algebra --update-golden` writes the files anew. That rules preserve meaning is shown on random data, here
for the telling queries and in `test_lower` for many more.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from evercurrent.algebra import rules
from evercurrent.algebra.check import check
from evercurrent.algebra.lower import lower
from evercurrent.algebra.optimise import BATCHES
from evercurrent.algebra.show import show
from evercurrent.rewriting import Step, run
from tests.unit.algebra.plans import CATALOG, agree, parsed

FILES = Path(__file__).parents[2] / "golden" / "rules"

TELLING = {
    "aggregate_of_one": ["SELECT k, sum(b) AS s, count(x) AS n FROM c GROUP BY k"],
    "compare_extremes": [
        "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND u.b <> t.b)",
        "SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND u.b <> t.b)",
        "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND u.b > t.b)",
        "SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.b <= t.b)",
    ],
    "derive_equalities": ["SELECT t.b, u.b AS c FROM t JOIN u ON t.a = u.a WHERE t.a = 1"],
    "eliminate_distinct": ["SELECT DISTINCT k, b FROM c"],
    "eliminate_join": ["SELECT c.k, c.b FROM c JOIN p ON c.o = p.id"],
    "eliminate_outer": ["SELECT c.k, c.b FROM c LEFT JOIN p ON c.b = p.id"],
    "fold_empty": [
        "SELECT a FROM t WHERE 1 = 2 UNION ALL SELECT b FROM u",
        "SELECT t.a, v.n FROM t JOIN (VALUES (1)) v(n) ON t.a = v.n",
    ],
    "intersect_selections": [
        "SELECT k, b FROM c WHERE b > 1 INTERSECT SELECT k, b FROM c WHERE o < 5",
        "SELECT a FROM t WHERE a > 1 INTERSECT ALL SELECT a FROM t WHERE a < 5",
    ],
    "merge_map": ["SELECT a + 1 AS n FROM t WHERE a NOT IN (SELECT a FROM u)"],
    "order_joins": [
        "SELECT p.s, c.b, t.g FROM p, t, c WHERE c.o = p.id AND t.a = c.b",
    ],
    "outer_to_inner": [
        "SELECT t.a, u.b FROM t LEFT JOIN u ON t.a = u.a WHERE u.b > 1",
        "SELECT t.a, u.b FROM t FULL JOIN u ON t.a = u.a WHERE u.b > 1",
        "SELECT a FROM t WHERE (SELECT count(*) FROM u WHERE u.a = t.a) > 1",
        "SELECT sum(t.b * u.b) AS s, count(u.b) AS n FROM t LEFT JOIN u ON t.a = u.a",
    ],
    "prune_columns": ["SELECT a FROM (SELECT a, count(*) AS n, sum(b) AS s FROM t GROUP BY a) q WHERE n > 1"],
    "pull_map": [
        "SELECT a FROM t WHERE a NOT IN (SELECT a FROM u) AND EXISTS (SELECT 1 FROM c WHERE c.b = t.b)"
    ],
    "push_selection": [
        "SELECT t.a, u.b FROM t JOIN u ON t.a = u.a WHERE t.b > 1 AND u.b > 2 AND t.b < u.b",
        "SELECT t.a, u.b FROM t LEFT JOIN u ON t.a = u.a AND u.b > 1 WHERE t.b > 1",
        "SELECT a, n FROM (SELECT a, count(*) AS n FROM t GROUP BY a) q WHERE a > 1 AND n > 1",
        "SELECT a, r FROM (SELECT a, rank() OVER (PARTITION BY a ORDER BY b) AS r FROM t) q WHERE a > 1 AND r < 3",
        "SELECT a FROM (SELECT a FROM t UNION SELECT b FROM u) q WHERE a > 1",
    ],
    "rank_to_top": [
        "SELECT a, b FROM (SELECT a, b, row_number() OVER (PARTITION BY a ORDER BY b) AS r FROM t) q WHERE r <= 2",
        "SELECT a, b, r FROM (SELECT a, b, rank() OVER (PARTITION BY a ORDER BY b) AS r FROM t) q WHERE r <= 2",
        "SELECT a FROM (SELECT a, rank() OVER (ORDER BY b) AS r, dense_rank() OVER (ORDER BY b) AS d FROM t) q WHERE d < 4",
        "SELECT a, rank() OVER (ORDER BY b DESC) AS r FROM t ORDER BY r LIMIT 3",
    ],
    "reduce_aggregate": [
        "SELECT c.k FROM c JOIN p ON p.id = c.o WHERE p.s = 'x' AND c.b < "
        "(SELECT avg(c2.b) FROM c c2 WHERE c2.o = p.id)"
    ],
    "refine_nulls": ["SELECT a FROM t WHERE (SELECT count(*) FROM u WHERE u.a = t.a) > 1"],
    "restrict_or": ["SELECT t.a FROM t JOIN u ON (t.a = 1 AND u.a = 2) OR (t.a = 2 AND u.a = 1)"],
    "semi_to_join": ["SELECT k FROM c WHERE b IN (SELECT id FROM p WHERE s = 'x')"],
    "share_aggregate": [
        "SELECT p.id, p.s, sum(c.b) AS total, count(*) AS n FROM p JOIN c ON c.o = p.id "
        "WHERE p.id IN (SELECT o FROM c GROUP BY o HAVING sum(b) > 2) GROUP BY p.id, p.s"
    ],
    "simplify_terms": ["SELECT a FROM t WHERE a > 1 AND a IS NOT NULL"],
    "split_or": ["SELECT c.k FROM c JOIN p ON (c.o = p.id AND c.b = 1) OR (c.o = p.id AND p.a = 2)"],
    "split_record": ["SELECT struct(a, g) AS s, count(*) AS n FROM t GROUP BY struct(a, g)"],
    "strict_equality": [
        "SELECT a, (SELECT sum(u.b) FROM u WHERE u.a < t.a) AS s FROM t",
    ],
}

PRUNING = {"eliminate_join": "prune_columns", "eliminate_outer": "prune_columns"}
"""Rules that another one asks, since they depend on who reads what."""


def steps(text: str) -> list[Step]:
    trace: list[Step] = []
    plan = lower(parsed(text), CATALOG)  # not normalised: that would do part of the rules' work
    run(BATCHES, plan, CATALOG, check=check, trace=trace)
    return trace


@pytest.mark.parametrize("rule", TELLING)
def test_golden(rule: str, request: pytest.FixtureRequest) -> None:
    parts = []
    for text in TELLING[rule]:
        named = PRUNING.get(rule, rule)
        step = next((s for s in steps(text) if s.rule == named), None)
        assert step is not None, f"{rule} does nothing to {text}"
        parts.append(f"-- {text}\n\n{show(step.before)}\n\n=>\n\n{show(step.after)}\n")
    text = "\n\n".join(parts)
    path = FILES / f"{rule}.txt"
    if request.config.getoption("--update-golden"):
        FILES.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert path.exists(), (
        f"no golden file: run pytest tests/unit/algebra --update-golden and read {path.name}"
    )
    assert text == path.read_text(), f"{path.name} differs: judge the change, then --update-golden"


@pytest.mark.parametrize("text", sorted({t for texts in TELLING.values() for t in texts}))
def test_meaning(text: str) -> None:
    agree(text, range(40))


def test_every_rule_has_a_golden_file() -> None:
    folder = Path(rules.__file__).parent
    names = {p.stem for p in folder.glob("*.py")} - {"__init__"}
    assert names == TELLING.keys()
    assert {p.stem for p in FILES.glob("*.txt")} == names
