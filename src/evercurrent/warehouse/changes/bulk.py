"""Changes too large for the driver: taken in by the executors, judged by Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evercurrent.data.zset import Row
from evercurrent.engine.spark.engine import DRIVER_ENTRIES
from evercurrent.engine.spark.intake.constraint_jobs import Checks, Violation
from evercurrent.engine.spark.storage.file_schema import row_schema
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.types import internal
from evercurrent.errors import ConstraintError
from evercurrent.rows.conversion import give_rows
from evercurrent.rows.row_rules import SAMPLE
from evercurrent.rows.store import positions
from evercurrent.warehouse.changes.violations import Aside
from evercurrent.warehouse.core import Core


def examine(core: Core, deltas: Mapping[str, Segment]) -> None:
    """Raise ConstraintError for the first constraint that a change breaks, with a sample and a count."""
    core.progress.stage("checking constraints")
    checks = Checks(core.engine, core.catalog.tables, core.table_segments, deltas)
    for violation, count in checks.broken():
        raise error(violation, count)
    core.engine.reader.read_bytes += checks.context.read_bytes


def error(violation: Violation, count: int, hint: str = "nothing was changed") -> ConstraintError:
    shown = give_rows(violation.table.fields, list(rows_of(violation, SAMPLE)))
    more = f" (and {count - 1} more)" if count > 1 else ""
    return ConstraintError(
        f"{violation.table.name}: {violation.what}: {shown[0]!r}{more} [{violation.constraint}]",
        constraint=violation.constraint,
        rows=shown,
        count=count,
        hint=hint,
    )


def rows_of(violation: Violation, most: int) -> Iterator[Row]:
    fields = violation.table.fields
    found: Any = violation.rows.limit(most).toArrow()
    for r in found.to_pylist():
        yield tuple(internal(f.type, r[f"c{i}"]) for i, f in enumerate(fields))


def part(core: Core, deltas: Mapping[str, Segment]) -> tuple[dict[str, Segment], list[Aside]]:
    """What may stand, and what is set aside: as `judging` says, by Spark's checks."""
    left = dict(deltas)
    asides: list[Aside] = []
    while True:
        core.progress.stage("checking constraints")
        checks = Checks(core.engine, core.catalog.tables, core.table_segments, left)
        why: dict[str, dict[Row, Violation]] = {}
        worst: tuple[Violation, int] | None = None
        for violation, count in checks.broken():
            worst = worst or (violation, count)
            if count > DRIVER_ENTRIES:
                raise error(
                    violation, count, f"more than {DRIVER_ENTRIES:,} rows cannot be set aside at once"
                )
            units = why.setdefault(violation.table.name.lower(), {})
            for row in rows_of(violation, count):
                units.setdefault(unit(core, violation.table.name, row), violation)
        if worst is None:
            return {key: s for key, s in left.items() if s.rows}, asides
        before = len(asides)
        for key, units in why.items():
            if key in left:
                left[key] = taken_out(core, key, left[key], units, asides)
        if len(asides) == before:
            raise error(*worst, "no change of the batch is found to be set aside: nothing was changed")


def unit(core: Core, table: str, row: Row) -> Row:
    return tuple(row[i] for i in unit_columns(core, table))


def unit_columns(core: Core, table: str) -> tuple[int, ...]:
    declared = core.table(table)
    key = declared.primary_key
    return positions(declared, key.columns) if key else tuple(range(len(declared.columns)))


def taken_out(
    core: Core, key: str, segment: Segment, units: Mapping[Row, Violation], asides: list[Aside]
) -> Segment:
    """A segment without the changes of these units, which are added to `asides`."""
    types = core.table_types(key)
    at = unit_columns(core, key)
    gone = core.engine.find(Store((segment,)), types, at, set(units))
    for row, weight in gone:
        violation = units[tuple(row[i] for i in at)]
        asides.append(Aside(key, row, weight, violation.constraint, violation.what))
    if not gone:
        return segment
    minus = core.engine.write_rows(table_store(key), types, [(row, -w) for row, w in gone])
    return core.engine.merged(table_store(key), Store((segment,), (minus,)), row_schema(types))
