"""Benchmarks: `python -m bench.run [names]` writes docs/benchmarks.md and bench/results/*.json."""
