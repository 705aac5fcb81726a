"""What a run is at, while it runs."""

from __future__ import annotations

import time
from typing import Any

import pytest

from evercurrent import progress
from evercurrent.engine.spark.progress import Progress
from evercurrent.statements.run_record import RunRecord, ViewRun


def test_a_listener_hears_of_the_stages_of_a_run() -> None:
    heard: list[str] = []
    p = Progress(None, heard.append)
    p.stage("before")
    with p.run():
        p.stage("updating 2 views")
        with p.run():
            p.stage("committing")
        p.stage("publishing")
    assert heard == ["updating 2 views", "committing", "publishing"]


def test_a_line_is_shown_only_if_it_takes_long(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.05)
    monkeypatch.setattr(progress, "PERIOD", 0.02)
    lines: list[str] = []
    monkeypatch.setattr(Progress, "line", lambda self, begin: lines.append(self.text) or self.text)
    with Progress(None, True).run():
        pass
    assert lines == []
    p = Progress(None, True)
    with p.run():
        p.stage("recomputing spend")
        time.sleep(0.3)
    assert "recomputing spend" in lines


def test_a_record_prints_and_comes_back() -> None:
    run = RunRecord(
        7,
        "b",
        rows_in={"orders": 1200},
        views=(
            ViewRun("spend", "keyed", "cheaper", "because", 1200, 3, 5000, 9000, 4000, 0.5, 0.25),
            ViewRun("idle", "none", "untouched", "no table under it has changed"),
        ),
        bytes_read=4000,
        seconds=1.5,
        steps={"program": 0.5},
        notes=("updated by the driver: 1200 changed rows",),
        quarantined={"orders": 2},
    )
    text = str(run)
    assert "1,200 of orders" in text and "cheaper: because" in text and "0.50*" in text
    assert "2 changes of orders were set aside" in text and "<td>keyed</td>" in run._repr_html_()
    assert RunRecord.of_json(7, "b", run.to_json()) == run
    assert run.view("SPEND").rows_changed == 3
    old = RunRecord.of_json(1, None, {"views": [["v", "driver", "1 changed rows", 4]]})
    assert old.views == (ViewRun("v", "driver", "", "1 changed rows", 0, 4),)
