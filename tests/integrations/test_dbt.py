"""The adapter for dbt, in short; `make test-dbt` runs all its tests in an environment of their own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import evercurrent as ec

JAFFLE = Path(__file__).parents[2] / "integrations" / "dbt-evercurrent" / "jaffle"


def test_dbt_builds_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reason = "dbt-evercurrent is not installed here: make test-dbt installs it in .venv-dbt"
    pytest.importorskip("dbt.adapters.evercurrent", reason=reason)
    main = pytest.importorskip("dbt.cli.main", reason=reason)
    ignored = shutil.ignore_patterns("target", "logs", "*.db*")
    folder = Path(shutil.copytree(JAFFLE, tmp_path / "jaffle", ignore=ignored))
    monkeypatch.setenv("JAFFLE_DB", str(folder / "jaffle.db"))
    place = ["--project-dir", str(folder), "--profiles-dir", str(folder)]
    assert main.dbtRunner().invoke(["--quiet", "build", *place]).success
    with ec.connect(folder / "jaffle.db") as db:
        assert len(db.view("main.customers")) == 6 and db.verify()
