"""Projects for tests: files in a folder, run in the shared session, in a database of their own."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evercurrent.pipelines.preparation import Options
from evercurrent.pipelines.records import PipelineRun
from evercurrent.pipelines.run import run_pipeline
from evercurrent.pipelines.spec import read_spec


class Project:
    """A pipeline of its own, in the database `name`."""

    def __init__(self, spark: Any, folder: Path, name: str, files: Mapping[str, str]) -> None:
        self.spark, self.folder, self.name = spark, folder, name
        spark.sql(f"CREATE DATABASE IF NOT EXISTS {name} LOCATION '{folder}/tables'")
        self.write({**files, "spark-pipeline.yml": SPEC.format(name=name, folder=folder)})

    def write(self, files: Mapping[str, str]) -> None:
        for path, text in files.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text).lstrip())

    def run(self, **options: Any) -> PipelineRun:
        try:
            return run_pipeline(self.spark, read_spec(self.folder / "spark-pipeline.yml"), Options(**options))
        finally:
            self.spark.catalog.setCurrentDatabase("default")

    def rows(self, table: str) -> Counter[tuple[Any, ...]]:
        self.spark.catalog.refreshTable(f"{self.name}.{table}")
        return Counter(tuple(row) for row in self.spark.table(f"{self.name}.{table}").collect())

    def close(self) -> None:
        self.spark.sql(f"DROP DATABASE IF EXISTS {self.name} CASCADE")


SPEC = """
name: {name}
storage: file://{folder}/storage
database: {name}
libraries:
  - glob:
      include: transformations/**
"""
