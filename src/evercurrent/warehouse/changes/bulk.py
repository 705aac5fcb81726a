"""Changes too large for the driver: read and validated by Spark's executors.

validate               an error for the first rule that is violated, in the words of `rows.violations`
split_by_constraints   as `constraint_split`, with the same units and the same reasons
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from evercurrent.catalog.rules import Rule, describe, name_of, positions
from evercurrent.data.zset import Row
from evercurrent.engine.spark.engine import DRIVER_ENTRIES, Engine
from evercurrent.engine.spark.intake.constraint_jobs import ConstraintJobs, ViolatingRows
from evercurrent.engine.spark.storage.file_schema import Frame, row_schema
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.types import internal
from evercurrent.errors import ConstraintError
from evercurrent.rows.violations import SAMPLE, constraint_error
from evercurrent.warehouse.changes.constraint_split import Aside
from evercurrent.warehouse.version import Version


def validate(
    engine: Engine, version: Version, deltas: Mapping[str, Segment], satisfied: Collection[Rule] = ()
) -> None:
    """Raises ConstraintError for the first rule that a change violates, with a sample and a count.

    The rules in `satisfied` are known to be.
    """
    engine.progress.stage("checking constraints")
    jobs = ConstraintJobs(engine, version.catalog.tables, version.table_rows, deltas, satisfied)
    for found, _ in jobs.find_violations():
        raise error_of(jobs, found)
    engine.reader.read_bytes += jobs.context.read_bytes


def error_of(jobs: ConstraintJobs, found: ViolatingRows, **hint: str) -> ConstraintError:
    shown = jobs.with_holders(found)
    return constraint_error(found.rule, list(collect(found.rule, shown, SAMPLE)), shown.count(), **hint)


def collect(rule: Rule, rows: Frame, most: int) -> Iterator[Row]:
    """Yields at most `most` rows of a frame, as the driver holds them."""
    fields = rule.table.fields
    found: Any = rows.limit(most).toArrow()
    for r in found.to_pylist():
        yield tuple(internal(f.type, r[f"c{i}"]) for i, f in enumerate(fields))


def split_by_constraints(
    engine: Engine, version: Version, deltas: Mapping[str, Segment]
) -> tuple[dict[str, Segment], list[Aside]]:
    """Returns the changes that satisfy all constraints, and those that are set aside."""
    left = dict(deltas)
    asides: list[Aside] = []
    while True:
        engine.progress.stage("checking constraints")
        jobs = ConstraintJobs(engine, version.catalog.tables, version.table_rows, left)
        reasons: dict[str, dict[Row, Rule]] = {}
        first: ViolatingRows | None = None
        for found, count in jobs.find_violations():
            first = first or found
            if count > DRIVER_ENTRIES:
                raise error_of(
                    jobs, found, hint=f"more than {DRIVER_ENTRIES:,} rows cannot be set aside at once"
                )
            name = found.rule.table.name.lower()
            at = unit_columns(version, name)
            for row in collect(found.rule, found.rows, count):
                reasons.setdefault(name, {}).setdefault(tuple(row[i] for i in at), found.rule)
        if first is None:
            return {key: s for key, s in left.items() if s.rows}, asides
        before = len(asides)
        for key, units in reasons.items():
            left[key] = remove_units(engine, version, key, left[key], units, asides)
        if len(asides) == before:
            hint = "no change of the batch is found to be set aside: nothing was changed"
            raise error_of(jobs, first, hint=hint)


def unit_columns(version: Version, table: str) -> tuple[int, ...]:
    declared = version.table(table)
    key = declared.primary_key
    return positions(declared, key.columns) if key else tuple(range(len(declared.columns)))


def remove_units(
    engine: Engine,
    version: Version,
    key: str,
    segment: Segment,
    units: Mapping[Row, Rule],
    asides: list[Aside],
) -> Segment:
    """Returns a segment without the changes of these units, which are added to `asides`."""
    types = version.table_types(key)
    at = unit_columns(version, key)
    removed = engine.find(Store((segment,)), types, at, set(units))
    for row, weight in removed:
        rule = units[tuple(row[i] for i in at)]
        asides.append(Aside(key, row, weight, name_of(rule), describe(rule)))
    if not removed:
        return segment
    minus = engine.write_rows(table_store(key), types, [(row, -w) for row, w in removed])
    return engine.merge_segments(table_store(key), Store((segment,), (minus,)), row_schema(types))
