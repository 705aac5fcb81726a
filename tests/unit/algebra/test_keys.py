"""Keys, dependencies, equalities and nullability of plans."""

from __future__ import annotations

import itertools

import pytest

from evercurrent.algebra.evaluate import evaluate
from evercurrent.algebra.keys import at_most_one, determines, equalities, keys, not_null
from evercurrent.algebra.lower import lower
from evercurrent.algebra.nodes import Plan, columns
from evercurrent.calculus.normalize import normalize
from tests.unit.algebra.plans import CATALOG, data, parsed
from tests.unit.algebra.test_lower import PLAIN, SUBQUERIES


def plan(text: str) -> Plan:
    return lower(normalize(parsed(text)), CATALOG)


def keys_of(text: str) -> set[frozenset[str]]:
    return set(keys(plan(text), CATALOG))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT id, s FROM p", [{"id"}]),
        ("SELECT s FROM p", []),
        ("SELECT a, b FROM t", []),
        ("SELECT DISTINCT a, b FROM t", [{"a", "b"}]),
        ("SELECT id FROM p WHERE id = 1", [set()]),
        ("SELECT c.k, p.s FROM c JOIN p ON c.o = p.id", [{"k"}]),
        ("SELECT c.k, p.id FROM c CROSS JOIN p", [{"k", "id"}]),
        ("SELECT c.k, p.s FROM c LEFT JOIN p ON c.b = p.id", [{"k"}]),
        ("SELECT p.id, c.k FROM p LEFT JOIN c ON c.o = p.id", [{"id", "k"}]),
        ("SELECT a, count(*) AS n FROM t GROUP BY a", [{"a"}]),
        ("SELECT count(*) AS n FROM t", [set()]),
        ("SELECT o, s, count(*) AS n FROM c JOIN p ON o = id GROUP BY o, s", [{"o"}]),
        ("SELECT a, b FROM t ORDER BY a LIMIT 1", [set()]),
        ("SELECT k, row_number() OVER (PARTITION BY o ORDER BY k) AS r, o FROM c", [{"k"}, {"o", "r"}]),
        ("SELECT k FROM c INTERSECT SELECT id FROM p", [{"k"}]),
        ("SELECT a FROM t EXCEPT SELECT a FROM u", [{"a"}]),
        ("SELECT k FROM c UNION ALL SELECT id FROM p", []),
        (
            "SELECT a, b, grouping_id() AS g FROM t GROUP BY ROLLUP (a, b)",
            [{"a", "b", "g"}],
        ),
        ("SELECT k FROM c WHERE EXISTS (SELECT 1 FROM t WHERE t.a = c.b)", [{"k"}]),
    ],
)
def test_keys(text: str, expected: list[set[str]]) -> None:
    assert keys_of(text) == {frozenset(key) for key in expected}


def test_a_key_determines_every_column() -> None:
    p = plan("SELECT c.k, c.b, p.s, p.id FROM c JOIN p ON c.o = p.id")
    assert determines(p, CATALOG, ["k"]) >= {"k", "b", "s", "id"}
    assert "b" not in determines(p, CATALOG, ["id"])
    assert "s" in determines(p, CATALOG, ["id"])


def test_joins_make_columns_equal_and_not_null() -> None:
    p = plan("SELECT t.a, u.a AS ua, u.b FROM t JOIN u ON t.a = u.a WHERE u.b > 0")
    assert frozenset({"a", "ua"}) in {frozenset(c) & {"a", "ua"} for c in equalities(p, CATALOG)}
    assert not_null(p, CATALOG) >= {"a", "ua", "b"}


def test_padding_makes_columns_nullable() -> None:
    p = plan("SELECT c.k, p.id FROM c LEFT JOIN p ON c.b = p.id")
    assert "id" not in not_null(p, CATALOG)
    assert "k" in not_null(p, CATALOG)


def test_at_most_one_row_for_given_columns() -> None:
    p = plan("SELECT id, s FROM p")
    assert at_most_one(p, CATALOG, ["id"])
    assert not at_most_one(p, CATALOG, ["s"])
    assert not at_most_one(p, CATALOG)


@pytest.mark.parametrize("text", PLAIN + SUBQUERIES)
def test_what_is_known_is_true(text: str) -> None:
    """On random data no two rows share a key, what is determined is, and what is not NULL is not."""
    p = plan(text)
    names = [c.name for c in columns(p)]
    found, certain, same = keys(p, CATALOG), not_null(p, CATALOG), equalities(p, CATALOG)
    pairs = [(x, y) for x in names for y in names if x != y and y in determines(p, CATALOG, [x])]
    for seed in range(12):
        relations = data(seed)
        try:
            rows = evaluate(p, lambda name: relations[name].items())  # noqa: B023
        except Exception:  # two rows for a scalar query: nothing to be known of
            continue
        table = [dict(zip(names, row, strict=True)) for row, w in rows.items() for _ in range(w)]
        for key in found:
            seen = [tuple(row[n] for n in sorted(key)) for row in table]
            assert len(set(seen)) == len(seen), (text, key, rows)
        for name in certain & set(names):
            assert all(row[name] is not None for row in table), (text, name)
        for members in same:
            for row in table:
                assert len({row[n] for n in members if n in row}) <= 1, (text, members)
        for x, y in pairs:
            for one, other in itertools.combinations(table, 2):
                assert one[x] != other[x] or one[y] == other[y], (text, x, y)
