"""Changes too large for the driver: taken in by the executors, judged by Spark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evercurrent.engine.spark.checks import Checks
from evercurrent.engine.spark.files import Segment
from evercurrent.engine.spark.types import internal
from evercurrent.errors import ConstraintError
from evercurrent.session.rows import give_rows
from evercurrent.session.rules import SAMPLE
from evercurrent.warehouse.core import Core


def examine(core: Core, deltas: Mapping[str, Segment]) -> None:
    """Raise ConstraintError for the first constraint that a change breaks, with a sample and a count."""
    checks = Checks(core.engine, core.catalog.tables, core.table_segments, deltas)
    for violation, count in checks.broken():
        found: Any = violation.rows.limit(SAMPLE).toArrow()
        fields = violation.table.fields
        rows = [tuple(internal(f.type, r[f"c{i}"]) for i, f in enumerate(fields)) for r in found.to_pylist()]
        shown = give_rows(fields, rows)
        more = f" (and {count - 1} more)" if count > 1 else ""
        raise ConstraintError(
            f"{violation.table.name}: {violation.what}: {shown[0]!r}{more} [{violation.constraint}]",
            constraint=violation.constraint,
            rows=shown,
            count=count,
            hint="nothing was changed",
        )
