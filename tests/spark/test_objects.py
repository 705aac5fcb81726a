"""Every conformance case of OQL on Spark: the same values as plain objects give, in every mode, after every kind of event.

There are no exceptions. All cases of a schema are views of one warehouse, each defined once; modes take turns.
"""

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
from tests.oql.oracle.scalars import OqlError
from tests.oql.oracle.values import key
from tests.oql.schemas import COMPANY, SHOP

pytestmark = pytest.mark.spark

CASES = (*selects.CASES, *expressions.CASES, *collections.CASES)
MODES = ("strict", "lazy", "hybrid")
TRANSACTIONS = 5
ASKED = 6
"""So many cases of each schema are also asked once, at the end."""


@pytest.mark.parametrize("schema", ["company", "shop"])
def test_cases(spark: Any, tmp_path: Path, schema: str) -> None:
    db = ec.connect(spark=spark, path=tmp_path / "w")
    mirror = Mirror(COMPANY if schema == "company" else SHOP, db)
    cases = [c for c in CASES if c.schema == schema]
    defines = " ".join(dict.fromkeys(c.defines for c in cases if c.defines))
    if defines:
        db.oql(defines)
        for oracle in (mirror.oracle, mirror.strict):
            oracle.value(defines)
    version = db.version
    for i, mode in enumerate(MODES):
        db.oql(" ".join(f"define view_{c.name} as {c.query};" for c in cases[i::3]), mode=mode)
    assert db.version == version + len(MODES)
    with db.transaction():
        graph = (graphs.company if schema == "company" else graphs.shop)(mirror)
    for case in cases:
        assert key(mirror.shown(f"view_{case.name}")) == key(case.value(graph)), case.name
    explained(mirror, f"view_{cases[0].name}")
    waiting = list(sweep(Seeded(7), mirror.model))
    size = -(-len(waiting) // TRANSACTIONS)
    for start in range(0, len(waiting), size):
        mirror.transaction(e for choose in waiting[start : start + size] if (e := choose()) is not None)
        for case in cases:
            found, expected = mirror.shown(f"view_{case.name}"), mirror.oracle.value(case.query)
            assert key(found) == key(expected), "\n".join(
                [*mirror.story, case.query, f"found    {found!r}", f"expected {expected!r}"]
            )
    for case in cases[:: len(cases) // ASKED]:
        asked(mirror, case.query)

    again = ec.connect(spark=spark, path=tmp_path / "w")
    assert again.views == db.views and again.version == db.version
    for case in cases[::5]:
        found = again.view(f"view_{case.name}").value()
        assert key(mirror.outside(found)) == key(mirror.oracle.value(case.query)), case.name


def explained(mirror: Mirror, view: str) -> None:
    """`why` gives objects of the graph."""
    told = mirror.db.view(view)
    value = told.value()
    why = told.why() if isinstance(value, ec.Record) else told.why(next(iter(value)))
    assert why.objects
    assert set(why.objects) <= set(mirror.handles.values())


def asked(mirror: Mirror, query: str) -> None:
    """The query asked once: the same value, or an error on both sides."""
    try:
        expected = mirror.strict.value(query)
    except OqlError:
        with pytest.raises(ec.EvercurrentError):
            mirror.asked(query)
        return
    assert key(mirror.asked(query)) == key(expected), query
