"""What a new Python worker imports for tasks: the kernel and the files, neither the compiler nor a database.

Pandas is not among them: Arrow imports it wherever it is installed, as soon as a value is converted.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

RUN_BY_TASKS = (
    "evercurrent.engine.spark.tasks.runner",
    "evercurrent.engine.spark.tasks.rule_slices",
    "evercurrent.engine.spark.tasks.keyed_slices",
    "evercurrent.engine.spark.tasks.merging",
    "evercurrent.engine.spark.tasks.sorted_frames",
    "evercurrent.engine.spark.tasks.fill_waves",
    "evercurrent.engine.spark.intake.task_intake",
)
NOT_FOR_TASKS = (
    "duckdb",
    "lark",
    "obstore",
    "py4j.java_gateway",
    "pyarrow.dataset",
    "pyspark.sql.connect",
    "rich",
    "sqlglot",
    "sqlite3",
    "evercurrent.algebra.optimise",
    "evercurrent.calculus.normalize",
    "evercurrent.database",
    "evercurrent.delta.compile",
    "evercurrent.design",
    "evercurrent.engine.live",
    "evercurrent.engine.spark.engine",
    "evercurrent.frontend",
    "evercurrent.rows",
    "evercurrent.session",
    "evercurrent.statements",
    "evercurrent.warehouse",
)


def loaded_by(modules: tuple[str, ...]) -> set[str]:
    """The modules that a new process has after importing these, without those that Spark's worker has anyway."""
    code = f"import sys, pyspark.worker; had = set(sys.modules); import {', '.join(modules)}; print(*sorted(set(sys.modules) - had))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_tasks_import_neither_the_compiler_nor_a_database() -> None:
    loaded = loaded_by(RUN_BY_TASKS)
    assert set(RUN_BY_TASKS) <= loaded
    assert sorted(loaded & set(NOT_FOR_TASKS)) == []
    assert all(find_spec(name) for name in NOT_FOR_TASKS if name.startswith("evercurrent."))


@pytest.mark.parametrize(
    "module",
    [
        "evercurrent.algebra.lowering.quantify",
        "evercurrent.frontend.sql.block",
        "evercurrent.frontend.sql.items",
        "evercurrent.frontend.sql.sources",
    ],
)
def test_parts_of_the_compiler_can_be_imported_first(module: str) -> None:
    assert module in loaded_by((module,))
