"""Every rule says the same over rows, over Arrow columns and over DataFrames, in the same words."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow
import pytest

from evercurrent.catalog.rules import describe
from evercurrent.data.zset import ZSet
from evercurrent.engine.spark.intake.constraint_jobs import ConstraintJobs
from evercurrent.engine.spark.storage.digests import H, digests
from evercurrent.engine.spark.translate.arrow_columns import rows_to_arrow
from evercurrent.errors import ConstraintError
from evercurrent.rows.conversion import give_rows
from evercurrent.rows.violations import SAMPLE, Violation, constraint_error, find_violations
from evercurrent.warehouse.changes import bulk, columns
from evercurrent.warehouse.changes.constraints import write_segments
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.database import Warehouse
from evercurrent.warehouse.touched_rows import TouchedRows
from tests.rule_changes import (
    BASE,
    SCHEMA,
    Verdict,
    deletes_missing_rows,
    key_of,
    random_changes,
    violations_by_rows,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
STEPS = 6


@pytest.fixture
def core(spark: SparkSession, tmp_path: Path) -> Core:
    db = Warehouse(spark, tmp_path / "warehouse")
    db.execute(SCHEMA)
    for name, rows in BASE.items():
        db.table(name).insert(rows)
    return db._core


def test_rows_columns_and_jobs_agree_on_every_rule(core: Core) -> None:
    r = random.Random(7)
    violated: Counter[str] = Counter()
    for _ in range(STEPS):
        deltas = random_changes(r, core.catalog.tables)
        partial = TouchedRows(core.engine, core.catalog, core.snapshot.stores)
        partial.load_all(deltas)
        verdict = violations_by_rows(partial.stores, core.rules, deltas)
        violated.update(type(v.rule).__name__ for v in find_violations(partial.stores, core.rules, deltas))
        compare_jobs(core, deltas, verdict)
        if not deletes_missing_rows(verdict):
            first = next(find_violations(partial.stores, core.rules, deltas), None)
            compare_errors(core, deltas, first)
        if set(deltas) <= {"parent", "child"}:
            assert columns.satisfy_rules(
                core.engine, core.present, {k: as_arrow(core, k, d) for k, d in deltas.items()}
            ) == (not verdict), deltas
    assert {"UniqueKey", "References", "Unreferenced", "RowExists"} <= set(violated)


def compare_jobs(core: Core, deltas: Mapping[str, ZSet], verdict: Verdict) -> None:
    jobs = ConstraintJobs(core.engine, core.catalog.tables, core.table_segments, write_segments(core, deltas))
    found: Verdict = {}
    for violating, count in jobs.find_violations():
        rows = list(bulk.collect(violating.rule, violating.rows, count + 1))
        assert len(rows) == count
        found[key_of(violating.rule)] = set(rows)
    if deletes_missing_rows(verdict):
        missing = {key: rows for key, rows in verdict.items() if key[1] == "existing row"}
        assert {key: rows for key, rows in found.items() if key[1] == "existing row"} == missing, deltas
    else:
        assert found == verdict, deltas
        assert list(found) == list(verdict), "the rules are validated in one order"


def compare_errors(core: Core, deltas: Mapping[str, ZSet], first: Violation | None) -> None:
    """Spark's jobs raise what rows raise; only which of several rows is shown first can differ."""
    if first is None:
        return bulk.validate(core.engine, core.present, write_segments(core, deltas))
    expected = constraint_error(first.rule, first.rows)
    with pytest.raises(ConstraintError) as refused:
        bulk.validate(core.engine, core.present, write_segments(core, deltas))
    error = refused.value
    assert (error.constraint, error.count, error.hint) == (expected.constraint, expected.count, expected.hint)
    shown = give_rows(first.rule.table.fields, first.rows)
    assert len(error.rows) == min(len(shown), SAMPLE)
    assert Counter(map(repr, error.rows)) <= Counter(map(repr, shown))
    more = f" (and {error.count - 1} more)" if error.count > 1 else ""
    said = f"{first.rule.table.name}: {describe(first.rule)}: {error.rows[0]!r}{more} [{error.constraint}]"
    assert error.message == said


def as_arrow(core: Core, name: str, delta: ZSet) -> pyarrow.Table:
    types = core.table_types(name)
    rows = rows_to_arrow(types, [f"c{i}" for i in range(len(types))], list(delta.items()), "w")
    return rows.append_column(H, digests(types, rows))
