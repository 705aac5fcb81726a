"""What a batch is estimated to read, and what is decided by it. No Spark runs here."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from evercurrent.catalog.catalog import Catalog
from evercurrent.frontend.sql.parse import parse_script
from evercurrent.session.compile import Design, compile_all
from evercurrent.warehouse.definitions import defined
from evercurrent.warehouse.estimates import DRIVER_FACTOR, HANDED_ON, JOB_BYTES, Estimate, Size, from_scratch
from evercurrent.warehouse.partial import table_store
from evercurrent.warehouse.parts import always_full, kept, stores_of, without
from evercurrent.warehouse.strategies import Decision, Outlook, recomputed

TABLES = """
CREATE TABLE cust (id BIGINT PRIMARY KEY, nation STRING);
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT, total BIGINT);
CREATE TABLE line (id BIGINT, part STRING, quantity BIGINT)
"""
SPEND = (
    "SELECT c.nation, SUM(o.total) AS total FROM orders o JOIN cust c ON o.customer = c.id GROUP BY c.nation"
)
WIDE = "SELECT o.id, c.nation FROM orders o JOIN cust c ON o.customer = c.id"
LARGE = {"cust": (1_500_000, 40_000_000), "orders": (15_000_000, 600_000_000), "line": (1_000, 20_000)}


def outlook(views: Mapping[str, tuple[str, str]]) -> Outlook:
    """Views by name: (policy, query)."""
    catalog = Catalog()
    for text in parse_script(TABLES):
        catalog = defined(catalog, {"kind": "table", "name": "", "text": text})
    for name, (policy, query) in views.items():
        text = f"CREATE VIEW {name} AS {query}"
        catalog = defined(catalog, {"kind": "view", "name": name, "text": text, "policy": policy})
    catalog, design = compile_all(catalog, Design(), full=False)
    return Outlook(catalog, design)


def decided(o: Outlook, changed: Mapping[str, int]) -> dict[str, Decision]:
    """States are as large as the tables that they are made of; the rows of views are few."""
    sizes = {table_store(name): Size(*size) for name, size in LARGE.items()}
    for state in o.design.program.states:
        sizes[state.name] = Size(25, 2_000) if state.accumulators else Size(15_000_000, 300_000_000)
    return o.decide(lambda name: sizes.get(name, Size()), changed)


def test_small_batches_move_and_large_ones_recompute() -> None:
    o = outlook({"spend": ("auto", SPEND), "wide": ("auto", WIDE)})
    small = decided(o, {"orders": 100})["spend"]
    assert (small.strategy, small.code) == ("keyed", "fewer-bytes")
    assert small.estimate.jobs == 0 and small.instead is not None and small.instead.jobs > 0
    # Each customer has ten orders: to take all out and put all in again is twice what recomputing is.
    large = decided(o, {"cust": 3_000_000})["wide"]
    assert (large.strategy, large.code) == ("full", "recompute-cheaper")
    assert large.instead is not None and large.estimate.cost < large.instead.cost


def test_estimates_grow_with_the_batch_up_to_the_whole_state() -> None:
    o = outlook({"spend": ("incremental", SPEND)})
    read = [decided(o, {"orders": n})["spend"].estimate.bytes for n in (1, 10, 100, 10_000)]
    assert read == sorted(read) and read[0] < 1_000_000 and read[-1] > 10_000_000


@pytest.mark.parametrize("policy", ["incremental", "auto", "full"])
def test_an_untouched_view_does_nothing(policy: str) -> None:
    d = decided(outlook({"spend": (policy, SPEND)}), {"line": 5})["spend"]
    assert (d.strategy, d.code, d.estimate) == ("none", "untouched", Estimate())


def test_policies_are_kept_to() -> None:
    o = outlook({"a": ("incremental", SPEND), "b": ("full", "SELECT COUNT(*) AS n FROM orders")})
    for rows in (1, 60_000_000):
        found = decided(o, {"orders": rows})
        assert (found["a"].strategy, found["a"].code) == ("keyed", "policy")
        assert (found["b"].strategy, found["b"].code) == ("full", "policy")


def test_the_strategy_says_what_the_batch_needs() -> None:
    o = outlook({"wide": ("auto", WIDE)})
    assert decided(o, {"orders": 1})["wide"].strategy == "delta"
    query = "SELECT l.part, t.n FROM line l CROSS JOIN (SELECT COUNT(*) AS n FROM orders) t"
    o = outlook({"counted": ("incremental", query)})
    assert decided(o, {"line": 1})["counted"].strategy == "delta"
    assert decided(o, {"orders": 1})["counted"].strategy == "keyed"


def test_views_with_the_same_rows_are_recomputed_together_or_not_at_all() -> None:
    o = outlook({"a": ("auto", WIDE), "b": ("incremental", WIDE)})
    found = decided(o, {"cust": 3_000_000})
    assert found["a"].code == "shared" and recomputed(found) == set()
    o = outlook({"a": ("auto", WIDE), "b": ("full", WIDE)})
    found = decided(o, {"cust": 3_000_000})
    assert {d.strategy for d in found.values()} == {"full"} and len(recomputed(found)) == 1


def test_what_only_full_views_need_is_not_kept() -> None:
    o = outlook({"a": ("full", SPEND)})
    program = o.design.program
    assert always_full(program, o.catalog) == {program.views["a"]}
    assert stores_of(program) and not stores_of(kept(program, o.catalog))
    o = outlook({"a": ("full", SPEND), "b": ("incremental", "SELECT nation FROM a WHERE total > 3")})
    program = o.design.program
    inputs = {r.name for r in without(program, {program.views["a"]}).relations}
    assert program.views["a"] in inputs and "orders" not in inputs


def test_costs_weigh_jobs_and_the_driver() -> None:
    assert Estimate(1_000, 0).cost == 1_000 * DRIVER_FACTOR
    assert Estimate(1_000, 3).cost == 1_000 + 3 * JOB_BYTES
    assert from_scratch([Size(10, 500)], [Size(1, 20)], 4) == Estimate(500 + 10 * HANDED_ON + 20, 0)
    assert from_scratch([Size(10**6, 5 * 10**6)], [], 4) == Estimate(5 * 10**6 + 10**6 * HANDED_ON, 8)
    assert Size(2_000, 20_000).plus(100) == Size(2_100, 21_000)
