"""The folder in which the Python files of a project run; no session is needed for that."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any, cast

import pytest

pytest.importorskip("pyspark.pipelines", reason="this PySpark has no declarative pipelines")


def test_files_and_query_functions_run_in_the_folder_of_the_project(tmp_path: Path) -> None:
    from evercurrent.engine.spark.declarative.loading import load

    (tmp_path / "limits.json").write_text("[3]")
    file = tmp_path / "transformations" / "a.py"
    file.parent.mkdir()
    text = """
        from pathlib import Path
        from pyspark import pipelines as dp

        LIMITS = Path("limits.json").read_text()

        @dp.materialized_view
        def few():
            return LIMITS, Path("limits.json").read_text()
        """
    file.write_text(textwrap.dedent(text))
    before = Path.cwd()
    definitions = load(cast(Any, None), [file], tmp_path, ("spark_catalog", "default"))
    assert Path.cwd() == before
    (flow,) = definitions.flows
    assert flow.function is not None
    assert flow.function() == ("[3]", "[3]")
    assert Path.cwd() == before
