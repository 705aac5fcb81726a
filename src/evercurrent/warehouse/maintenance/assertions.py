"""Assertions after a change: an assertion holds if its query returns no row.

violated_assertions(engine, compiled, deltas)     the assertions that the deltas make false, each with the rows it returns
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evercurrent.catalog.nodes import Assertion
from evercurrent.data.zset import Row
from evercurrent.design.compile import assertion_key
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.storage.files import EMPTY, Segment
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.session.blame import assertion_error
from evercurrent.warehouse.version import Compiled


def find_violated_assertions(
    engine: Engine, compiled: Compiled, deltas: Mapping[str, Segment]
) -> Iterator[tuple[Assertion, list[Row]]]:
    """Yields the assertions whose relations have inserted rows; `deltas` are by relation."""
    for assertion in compiled.catalog.assertions.values():
        segment = deltas.get(compiled.program.views[assertion_key(assertion.name)], EMPTY)
        if segment.rows:
            types = [f.type for f in assertion.fields]
            rows = [row for row, w in engine.rows(Store((segment,)), types) if w > 0]
            if rows:
                yield assertion, rows


def require_assertions(engine: Engine, compiled: Compiled, deltas: Mapping[str, Segment]) -> None:
    """Refuses a change that violates an assertion, with a sample of the rows that do."""
    for assertion, rows in find_violated_assertions(engine, compiled, deltas):
        raise assertion_error(assertion, rows)
