"""TPC-H data, generated once into the temporary folder, as Python rows.

`tables(sf)` gives rows as users write them (decimal.Decimal, datetime.date); `internal(sf)` gives them as the engines
hold them, with decimals of two digits as integers of hundredths, which is also what a careful programmer would do.
"""

from __future__ import annotations

import decimal
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

Row = tuple[Any, ...]

NAMES = ("region", "nation", "supplier", "part", "partsupp", "customer", "orders", "lineitem")
"""All tables, parents first."""


def folder(sf: float) -> Path:
    """The folder with one Parquet file for each table at this scale factor; generated if it is not there."""
    place = Path(tempfile.gettempdir()) / f"evercurrent-tpch-{sf:g}"
    if not (place / "lineitem.parquet").exists():
        program = shutil.which("tpchgen-cli", path=str(Path(sys.executable).parent)) or "tpchgen-cli"
        # Into a folder of its own first: two test processes may generate at the same time.
        fresh = Path(tempfile.mkdtemp(prefix="evercurrent-tpch-"))
        command = [program, "parquet", "-s", f"{sf:g}", "-o", str(fresh), "--no-progress", "-q"]
        subprocess.run(command, check=True)
        try:
            fresh.rename(place)
        except OSError:
            shutil.rmtree(fresh)
    return place


@cache
def tables(sf: float) -> dict[str, list[Row]]:
    """The rows of every table, in Python's own types."""
    from pyarrow import parquet

    result: dict[str, list[Row]] = {}
    for name in NAMES:
        columns = [c.to_pylist() for c in parquet.read_table(folder(sf) / f"{name}.parquet").columns]
        result[name] = list(zip(*columns, strict=True))
    return result


def in_hundredths(row: Row) -> Row:
    return tuple(int(v.scaleb(2)) if isinstance(v, decimal.Decimal) else v for v in row)


@cache
def internal(sf: float) -> dict[str, list[Row]]:
    """The rows of every table, decimals as integers of hundredths."""
    return {name: [in_hundredths(row) for row in rows] for name, rows in tables(sf).items()}
