"""The conformance cases of OQL on Spark: the same values as plain objects give, after every kind of event."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import evercurrent as ec
from tests.laws.chooser import Seeded
from tests.oql import graphs
from tests.oql.cases import collections, expressions, selects
from tests.oql.events import sweep
from tests.oql.mirror import Mirror
from tests.oql.oracle.values import key
from tests.oql.schemas import COMPANY, SHOP

pytestmark = pytest.mark.spark

CHOSEN = {
    "company": """older nest_unnest distinct_objects nested_aggregate group_undefined partition_names order_nil_first self_join long_path
        subclasses_in_extent cast undefined_and_false for_all not_member at_least_all union_bags element flatten_sets slice""",
    "shop": "ledger statistics unpaid dependent_iterator list_element struct_attribute",
}
CASES = {c.name: c for c in (*selects.CASES, *expressions.CASES, *collections.CASES)}
TRANSACTIONS = 2


@pytest.mark.parametrize("schema", CHOSEN)
def test_cases(spark: Any, tmp_path: Path, schema: str) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w")
    mirror = Mirror(COMPANY if schema == "company" else SHOP, db)
    cases = [CASES[name] for name in CHOSEN[schema].split()]
    db.oql(" ".join(f"define view_{c.name} as {c.query};" for c in cases))
    with db.transaction():
        graph = (graphs.company if schema == "company" else graphs.shop)(mirror)
    for case in cases:
        assert key(mirror.shown(f"view_{case.name}")) == key(case.value(graph)), case.name
    lineage = db.view(f"view_{cases[0].name}")
    value = lineage.value()
    told = lineage.why() if isinstance(value, ec.Record) else lineage.why(next(iter(value)))
    assert told.objects
    assert set(told.objects) <= set(mirror.handles.values())
    waiting = list(sweep(Seeded(7), mirror.model))
    size = -(-len(waiting) // TRANSACTIONS)
    for start in range(0, len(waiting), size):
        mirror.transaction(e for choose in waiting[start : start + size] if (e := choose()) is not None)
        for case in cases:
            found, expected = mirror.shown(f"view_{case.name}"), mirror.oracle.value(case.query)
            assert key(found) == key(expected), "\n".join(
                [*mirror.story, case.query, f"found    {found!r}", f"expected {expected!r}"]
            )
    assert key(mirror.asked(cases[0].query)) == key(mirror.oracle.value(cases[0].query))
