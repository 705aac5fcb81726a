"""The page of benchmarks shows the figures in `bench/results`, and no others."""

from __future__ import annotations

from bench import report, run


def test_the_page_shows_the_results() -> None:
    assert report.PAGE.read_text(encoding="utf-8") == report.page(list(run.BENCHMARKS)), (
        "docs/benchmarks.md is not what bench/results says: `make bench` writes both"
    )
