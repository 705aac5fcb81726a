"""Measures other engines beside ours: `python -m bench.peers [evercurrent dbsp ...] [--quick]`.

Where some are named, the figures of the others stay as they are. Builds and installs what it can, says what is missing, and writes `bench/results/peers.json` and the page of benchmarks.
"""

from __future__ import annotations

import argparse

from bench import report
from bench import run as benchmarks
from bench.peers.run import PEERS, run


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("names", nargs="*", help=f"which: {', '.join(PEERS)}; all by default")
    parser.add_argument("--quick", action="store_true", help="SF 0.01 instead of 0.02")
    parser.add_argument("--sf", type=float, help="another scale factor")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--dry", action="store_true", help="print only, write nothing")
    options = parser.parse_args()
    unknown = set(options.names) - set(PEERS)
    if unknown:
        parser.error(f"no peer is called {', '.join(sorted(unknown))}")
    result = run(options.quick, options.names, options.repeats, options.sf)
    if not options.dry:
        report.save(result)
        report.write_page(list(benchmarks.BENCHMARKS))
    for table in result.tables:
        print("\n".join(report.markdown(vars(table))))


if __name__ == "__main__":
    main()
