"""What a batch is estimated to read, and what is decided by it. No Spark runs here."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest

from evercurrent.catalog.catalog import Catalog
from evercurrent.definitions.reading import add_definition
from evercurrent.design.compile import Design, compile_all
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.frontend.sql.parse import parse_script
from evercurrent.warehouse.planning import estimates
from evercurrent.warehouse.planning.estimates import (
    JOB_SECONDS,
    SQL_JOBS,
    Estimate,
    Size,
    by_fill,
    by_sql,
    flow,
)
from evercurrent.warehouse.planning.experience import LEAST, Cold, key, learn
from evercurrent.warehouse.planning.strategies import Around, Decision, Outlook, find_recomputed
from evercurrent.warehouse.program_parts import always_full, part_without, select_stored_part, stores_of

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
        catalog = add_definition(catalog, {"kind": "table", "name": "", "text": text})
    for name, (policy, query) in views.items():
        text = f"CREATE VIEW {name} AS {query}"
        catalog = add_definition(catalog, {"kind": "view", "name": name, "text": text, "policy": policy})
    catalog, design = compile_all(catalog, Design(), full=False)
    return Outlook(catalog, design)


def decided(
    o: Outlook, changed: Mapping[str, int], around: Around | None = None, cold: Collection[str] = ()
) -> dict[str, Decision]:
    """States are as large as the tables that they are made of; the rows of views are few."""
    sizes = {table_store(name): Size(*size) for name, size in LARGE.items()}
    for state in o.design.program.states:
        sizes[state.name] = Size(25, 2_000) if state.accumulators else Size(15_000_000, 300_000_000)
    there = {name: size for name, size in sizes.items() if name not in cold}
    return o.decide(lambda name: there.get(name, Size()), changed, around or Around(sql=True))


def test_a_relation_that_nobody_keeps_does_not_fan_out() -> None:
    """The keys that come and go of a semijoin are in no store; each finds one order at most."""
    busy = "SELECT nation, COUNT(*) AS n FROM cust c WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id) GROUP BY nation"
    found = decided(outlook({"busy": ("auto", busy)}), {"orders": 10_000})["busy"]
    assert (found.strategy, found.code) == ("keyed", "cheaper")
    assert found.estimate.jobs == 0 and found.estimate.seconds < 10


def test_a_table_counts_as_often_as_it_is_read() -> None:
    once = "SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer"
    twice = "SELECT o.customer, COUNT(*) AS n FROM orders o JOIN orders p ON o.customer = p.id GROUP BY o.customer"
    found = decided(
        outlook({"once": ("auto", once), "twice": ("auto", twice), "over": ("auto", "SELECT n FROM twice")}),
        {"orders": 10},
    )
    sql = {name: decision.ways["sql"].bytes for name, decision in found.items()}
    assert 1.5 * sql["once"] < sql["twice"] <= sql["over"]


def test_small_batches_move_and_large_ones_recompute() -> None:
    o = outlook({"spend": ("auto", SPEND), "wide": ("auto", WIDE)})
    small = decided(o, {"orders": 100})["spend"]
    assert (small.strategy, small.code) == ("keyed", "cheaper")
    assert small.estimate.jobs == 0 and small.instead is not None and small.instead.jobs > 0
    # Each customer has ten orders: to take all out and put all in again is twice what recomputing is.
    large = decided(o, {"cust": 3_000_000})["wide"]
    assert (large.strategy, large.code) == ("full", "recompute-cheaper")
    assert large.instead is not None and large.estimate.seconds < large.instead.seconds
    assert large.way == "sql" and large.ways["sql"].seconds < large.ways["fill"].seconds


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


def test_an_incremental_view_says_what_recomputing_would_cost() -> None:
    """It is updated all the same."""
    o = outlook({"wide": ("incremental", WIDE)})
    found = decided(o, {"cust": 3_000_000})["wide"]
    assert (found.way, found.code) == ("rules", "policy")
    assert found.instead is not None and 0 < found.instead.seconds < found.estimate.seconds
    assert f"{found.ways['sql'].seconds:.2f} s for " in found.reason and "from scratch" in found.reason


def test_the_driver_is_limited_in_bytes_as_in_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many rows, but wide ones, are left to tasks."""
    o = outlook({"spend": ("auto", SPEND)})
    assert decided(o, {"orders": 10_000})["spend"].ways["rules"].place == "driver"
    monkeypatch.setitem(LARGE, "orders", (15_000_000, 15_000_000 * 20_000))
    assert decided(o, {"orders": 5_000})["spend"].ways["rules"].place == "driver"
    assert decided(o, {"orders": 10_000})["spend"].ways["rules"].place == "tasks"


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
    assert found["a"].code == "shared" and not find_recomputed(found)
    o = outlook({"a": ("auto", WIDE), "b": ("full", WIDE)})
    found = decided(o, {"cust": 3_000_000})
    assert {d.strategy for d in found.values()} == {"full"} and len(find_recomputed(found)) == 1


def test_what_only_full_views_need_is_not_kept() -> None:
    o = outlook({"a": ("full", SPEND)})
    program = o.design.program
    assert always_full(program, o.catalog) == {program.views["a"]}
    assert stores_of(program) and not stores_of(select_stored_part(program, o.catalog))
    o = outlook({"a": ("full", SPEND), "b": ("incremental", "SELECT nation FROM a WHERE total > 3")})
    program = o.design.program
    inputs = {r.name for r in part_without(program, {program.views["a"]}).relations}
    assert program.views["a"] in inputs and "orders" not in inputs


def test_costs_weigh_jobs_and_the_driver() -> None:
    small, large = [Size(10, 500)], [Size(10**6, 5 * 10**6)]
    assert by_fill(small, [Size(1, 20)], 4, 2).jobs == 0 and by_fill(small, [], 4, 2).bytes == 500
    assert by_fill(small, [], 4, 2, driver=False).jobs == 8
    assert by_sql(small, Size(), 2).seconds >= SQL_JOBS * JOB_SECONDS > by_fill(small, [], 4, 2).seconds
    assert by_sql(large, Size(), 2).seconds < by_fill(large, [], 4, 2).seconds
    assert by_sql(large, Size(), 8).seconds < by_sql(large, Size(), 2).seconds
    assert Size(2_000, 20_000).plus(100) == Size(2_100, 21_000)


def test_a_lookup_reads_little_where_the_files_are_sorted_by_its_columns() -> None:
    o = outlook({"wide": ("incremental", WIDE)})
    by_key = decided(o, {"orders": 10})["wide"].estimate.bytes  # customers are found by their key
    assert by_key < 10_000_000


def test_experience_corrects_estimates() -> None:
    o = outlook({"spend": ("auto", SPEND)})
    relation = o.design.program.views["spend"]
    plain = decided(o, {"orders": 600})["spend"]
    assert plain.way == "rules"
    slow = Around(sql=True, factors={key("rules", relation): 5_000.0, key("sql", relation): 1.0})
    found = decided(o, {"orders": 600}, slow)["spend"]
    assert found.ways["rules"].seconds == pytest.approx(5_000 * plain.ways["rules"].seconds)
    assert found.way == "sql" and found.code == "recompute-cheaper"


def test_a_way_that_was_quick_says_nothing_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch had less to do than was thought: the next one, too, is the driver's, and recomputing costs what it did."""
    monkeypatch.setattr(estimates, "BATCH_ENTRIES", 100_000)
    o = outlook({"v": ("auto", SPEND)})
    relation = o.design.program.views["v"]
    changed = {"orders": 400_000, "cust": 90_000}
    new = decided(o, changed)["v"]
    assert (new.way, new.learnt, new.estimate.jobs > 0) == ("rules", "tasks", True)
    around = Around(sql=True, factors=learn({}, key("rules", relation), 2.0, 0.1))
    then = decided(o, changed, around)["v"]
    assert (then.way, then.learnt, then.estimate.jobs) == ("rules", "rules", 0)
    assert then.ways["sql"] == new.ways["sql"]
    assert learn({}, key("rules", relation), 2.0, 1e-6) == {
        key("rules", relation): pytest.approx(LEAST, abs=1e-4)
    }
    slow = Around(sql=True, factors={key("jobs", relation): 4.0})
    assert decided(o, changed, slow)["v"].ways["rules"].seconds == pytest.approx(
        4 * new.ways["rules"].seconds
    )


def test_groups_may_come_whole_or_in_parts() -> None:
    """Of rows that are added up, the mean of both is expected, as ratios go, and never more than all groups twice."""
    o = outlook({"v": ("auto", "SELECT customer, SUM(total) AS n FROM orders GROUP BY customer")})
    state = next(s.name for s in o.design.program.states if s.accumulators)

    def added(groups: int, rows: int) -> float:
        sizes = {table_store("orders"): Size(16_000_000, 600_000_000), state: Size(groups, 20 * groups)}

        def size(name: str) -> Size:
            return sizes.get(name, Size())

        return flow(o.design.program, size, lambda r: size(table_store(r)), {"orders": rows}).added[state]

    assert added(1_000_000, 1_000) == pytest.approx(250)
    assert added(16_000_000, 1_000) == pytest.approx(1_000)
    assert added(4, 100_000) == pytest.approx(8)


def test_cold_states_are_filled_when_their_want_has_cost_a_fill() -> None:
    o = outlook({"spend": ("auto", SPEND)})
    relation = o.design.program.views["spend"]
    states = {s.name for s in o.design.program.states}
    cold = Cold(
        sizes={
            s.name: (25, 2_000) if s.accumulators else (15_000_000, 300_000_000)
            for s in o.design.program.states
        }
    )
    paid, fills = 0.0, 0
    for _ in range(1_000):
        around = Around(sql=True, cold={relation: cold})
        d = decided(o, {"orders": 100}, around, cold=states)["spend"]
        assert d.strategy == "full" and d.ways["rules"].bytes > 0, "the sizes are remembered"
        if d.way == "fill":
            fills, fill = 1, d.estimate.seconds
            assert d.code == "fill-due"
            break
        assert d.code == "cold" and d.more > 0
        paid += d.more
        cold = cold.add_cost(d.more)
        assert cold.spent == pytest.approx(paid)
    assert (
        fills and paid < fill <= paid + d.more
    )  # less than a fill was spent, then a fill: at most twice the best
    # A batch for which recomputing is the better way adds nothing.
    d = decided(o, {"orders": 60_000_000}, Around(sql=True, cold={relation: cold}), cold=states)["spend"]
    assert d.code == "cold" and d.more < 0 and cold.add_cost(d.more) == cold


def test_where_spark_is_not_asked_a_recompute_fills() -> None:
    o = outlook({"b": ("full", SPEND), "avg": ("full", "SELECT AVG(total) AS a FROM orders")})
    found = decided(o, {"orders": 5})
    assert found["b"].way == "sql" and found["avg"].way == "fill" and "sql" not in found["avg"].ways
    assert decided(o, {"orders": 5}, Around(sql=False))["b"].way == "fill"
    assert Estimate(10, 1, 2.0).times(3.0) == Estimate(10, 1, 6.0)
