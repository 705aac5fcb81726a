"""Every named case as a view and as a query, under every kind of event, against the oracle."""

from __future__ import annotations

from typing import Any

import pytest

import evercurrent as ec
from tests.laws.chooser import Seeded
from tests.oql import graphs
from tests.oql.cases import collections, expressions, selects
from tests.oql.cases.case import Case
from tests.oql.events import sweep
from tests.oql.mirror import Mirror
from tests.oql.oracle.scalars import OqlError
from tests.oql.oracle.values import key
from tests.oql.schemas import COMPANY, SHOP

CASES = (*selects.CASES, *expressions.CASES, *collections.CASES)
BATCH = 6
"""So many events make a transaction."""
MODES = ("strict", "lazy", "hybrid")
"""Cases take turns; `test_random` tries every mode with everything."""


def filled(schema: str, db: Any = None) -> tuple[Mirror, Any]:
    mirror = Mirror(COMPANY if schema == "company" else SHOP, db)
    return mirror, (graphs.company if schema == "company" else graphs.shop)(mirror)


def compare(mirror: Mirror, case: Case) -> None:
    expected = mirror.oracle.value(case.query)
    found = mirror.shown("v")
    assert key(found) == key(expected), "\n".join(
        [*mirror.story, case.query, f"found    {found!r}", f"expected {expected!r}"]
    )


def ask(mirror: Mirror, case: Case) -> None:
    """The query asked once: the same value, or an error on both sides."""
    try:
        expected = mirror.strict.value(case.query)
    except OqlError:
        with pytest.raises(ec.EvercurrentError):
            mirror.asked(case.query)
        return
    found = mirror.asked(case.query)
    assert key(found) == key(expected), f"{case.query}\nfound    {found!r}\nexpected {expected!r}"


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_case(case: Case) -> None:
    mirror, graph = filled(case.schema)
    if case.defines:
        for oracle in (mirror.oracle, mirror.strict):
            oracle.value(case.defines)
        mirror.db.oql(case.defines)
    mirror.db.oql(f"define v as {case.query};", mode=MODES[CASES.index(case) % 3])
    assert key(mirror.shown("v")) == key(case.value(graph)), f"{mirror.shown('v')!r}"
    ask(mirror, case)
    mirror.story.clear()
    for i, events in enumerate(batches(Seeded(sum(map(ord, case.name))), mirror)):
        mirror.transaction(events)
        compare(mirror, case)
        if i % 4 == 3:
            ask(mirror, case)


def batches(c: Any, mirror: Mirror) -> Any:
    """The sweep in transactions of a few events; each event is chosen on what those before it have left."""
    waiting = list(sweep(c, mirror.model))
    while waiting:
        part, waiting = waiting[:BATCH], waiting[BATCH:]
        yield (e for choose in part if (e := choose()) is not None)
