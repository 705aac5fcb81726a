"""Queries as SQL, their plans, and random data with NULLs and duplicates to compare them on."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from functools import cache

from evercurrent.algebra import evaluate as algebra
from evercurrent.algebra.check import check
from evercurrent.algebra.lower import lower
from evercurrent.algebra.nodes import Plan, columns
from evercurrent.algebra.optimise import BATCHES
from evercurrent.algebra.show import show
from evercurrent.calculus import evaluate as calculus
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.normalize import normalize
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import ForeignKey, Table, TableColumn, Unique
from evercurrent.data.types import BIGINT, DOUBLE, INT, STRING, Array
from evercurrent.data.zset import Row, ZSet
from evercurrent.errors import EvaluationError
from evercurrent.frontend.sql.parse import parse_query
from evercurrent.rewriting import run

PARENT = Table(
    "p",
    (TableColumn("id", INT, False), TableColumn("a", INT), TableColumn("s", STRING)),
    Unique("pk", ("id",)),
)
CHILD = Table(
    "c",
    (
        TableColumn("k", INT, False),
        TableColumn("o", INT, False),
        TableColumn("b", INT),
        TableColumn("x", DOUBLE),
    ),
    Unique("ck", ("k",)),
    foreign_keys=(ForeignKey("c_p", ("o",), "p", ("id",)),),
)
LOOSE = Table("t", (TableColumn("a", INT), TableColumn("b", INT), TableColumn("g", BIGINT)))
OTHER = Table("u", (TableColumn("a", INT), TableColumn("b", INT), TableColumn("xs", Array(INT))))
CATALOG = Catalog().with_table(PARENT).with_table(CHILD).with_table(LOOSE).with_table(OTHER)
SMALL = (None, 0, 1, 2, 3)


def data(seed: int) -> dict[str, ZSet]:
    """Rows for all tables: keys and references hold, other values are few, so that they meet; some tables are empty."""
    chance = random.Random(seed)

    def some(most: int) -> range:
        return range(0 if chance.random() < 0.1 else chance.randint(1, most))

    def small() -> int | None:
        return chance.choice(SMALL)

    parents = [(i, small(), chance.choice((None, "x", "y"))) for i in some(5)]
    children = [
        (k, chance.choice(parents)[0], small(), chance.choice((None, 0.5, 1.0))) for k in some(8) if parents
    ]
    loose = [(small(), small(), small()) for _ in some(7)]
    arrays = [
        (
            small(),
            small(),
            None if chance.random() < 0.2 else tuple(small() for _ in range(chance.randint(0, 3))),
        )
        for _ in some(5)
    ]
    return {
        "p": ZSet.of(parents),
        "c": ZSet.of(children),
        "t": ZSet.of(loose),
        "u": ZSet.of(arrays),
    }


@cache
def parsed(text: str) -> Query:
    return parse_query(text, CATALOG).query


def plan_of(text: str) -> Plan:
    return check(lower(normalize(parsed(text)), CATALOG))


def outcome(rows: Callable[[], ZSet]) -> ZSet | str:
    """The rows, or that the query fails."""
    try:
        return rows()
    except EvaluationError as problem:
        return problem.message


def agree(text: str, seeds: Iterable[int] = range(15), *, optimised: bool = True) -> None:
    """The query, its plan, the plan of what is not normalised and the optimised plan have the same rows on random data."""
    query = parsed(text)
    plain = check(lower(query))
    plan = plan_of(text)
    assert [c.type for c in columns(plan)] == [f.type for f in query.fields]
    best = run(BATCHES, plan, CATALOG, check=check) if optimised else plan
    assert [c.type for c in columns(best)] == [f.type for f in query.fields]
    for seed in seeds:
        relations = data(seed)

        def relation(name: str, of: dict[str, ZSet] = relations) -> Iterable[tuple[Row, int]]:
            return of[name].items()

        expected = outcome(lambda: calculus.evaluate(query, relation))
        for name, candidate in (("plain", plain), ("lowered", plan), ("optimised", best)):
            found = outcome(lambda: algebra.evaluate(candidate, relation))  # noqa: B023
            if isinstance(expected, str) and isinstance(found, str):
                continue
            assert found == expected, f"{name}, seed {seed}\n{text}\n{show(candidate)}\n{relations}"
