"""Run benchmarks: `python -m bench.run [streams growth views checked] [--quick]`."""

from __future__ import annotations

import argparse
import time

from bench import (
    analyser_bench,
    checked,
    columns_bench,
    durable_bench,
    growth_bench,
    large_bench,
    maps_bench,
    objects_bench,
    objects_spark,
    opening_bench,
    parser_bench,
    pauses_bench,
    python_bench,
    report,
    shares_bench,
    spark_bench,
    statements_bench,
    stream_bench,
    views_bench,
    windows_bench,
)
from bench.history import Missing
from bench.peers import run as peers

BENCHMARKS = {
    "streams": stream_bench.run,
    "growth": growth_bench.run,
    "maps": maps_bench.run,
    "views": views_bench.run,
    "checked": checked.run,
    "columns": columns_bench.run,
    "statements": statements_bench.run,
    "windows": windows_bench.run,
    "pauses": pauses_bench.run,
    "durable": durable_bench.run,
    "objects": objects_bench.run,
    "analyser": analyser_bench.run,
    "parser": parser_bench.run,
    "python": python_bench.run,
    "spark": spark_bench.run,
    "scale": large_bench.run,
    "cluster": large_bench.run_cluster,
    "spark-objects": objects_spark.run,
    "spark10": spark_bench.run_large,
    "shares": shares_bench.run,
    "shares10": shares_bench.run_large,
    "opening": opening_bench.run,
    "peers": peers.run,
}
WITH_VIEWS = {
    "spark": spark_bench.run,
    "spark10": spark_bench.run_large,
    "shares": shares_bench.run,
    "shares10": shares_bench.run_large,
}
"""Those that can be told which views to measure."""
ON_REQUEST = (
    "spark",
    "spark10",
    "scale",
    "cluster",
    "spark-objects",
    "shares",
    "shares10",
    "opening",
    "peers",
)
"""Run only where they are named: they need Java, other engines, and half an hour and more at full size."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "names", nargs="*", help=f"which: {', '.join(BENCHMARKS)}; all but {', '.join(ON_REQUEST)} by default"
    )
    parser.add_argument("--views", nargs="+", help=f"of {', '.join(WITH_VIEWS)} only these views")
    parser.add_argument("--quick", action="store_true", help="smaller data, fewer repeats: a minute or two")
    options = parser.parse_args()
    unknown = set(options.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    for name in options.names or [n for n in BENCHMARKS if n not in ON_REQUEST]:
        start = time.perf_counter()
        try:
            if options.views and name in WITH_VIEWS:
                result = WITH_VIEWS[name](options.quick, options.views)
            else:
                result = BENCHMARKS[name](options.quick)
        except Missing as why:
            print(f"{name}: left out, {why}")
            continue
        report.save(result)
        report.write_page(list(BENCHMARKS))
        print(f"{name}: {time.perf_counter() - start:.0f} s")
        for table in result.tables:
            print("\n".join(report.markdown(vars(table))))


if __name__ == "__main__":
    main()
