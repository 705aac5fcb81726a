"""Results as JSON beside the benchmarks, and all of them as one page of tables in docs/benchmarks.md."""

from __future__ import annotations

import json
import textwrap
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS = HERE / "results"
PAGE = HERE.parent / "docs" / "benchmarks.md"


@dataclass
class Table:
    title: str
    columns: list[str]
    rows: list[list[Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass
class Result:
    """What one benchmark found."""

    name: str
    about: str
    tables: list[Table]
    machine: dict[str, Any]
    quick: bool = False


def save(result: Result) -> None:
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{result.name}.json").write_text(json.dumps(asdict(result), indent=1, default=str) + "\n")


def cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float() if value >= 100:
            return f"{value:,.0f}"
        case float():
            return f"{value:.2f}" if value >= 0.095 else f"{value:.3f}"
        case int():
            return f"{value:,}"
        case _:
            return str(value)


def wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False)


def markdown(table: dict[str, Any]) -> list[str]:
    lines = [f"### {table['title']}", ""]
    lines.append("| " + " | ".join(table["columns"]) + " |")
    lines.append("| " + " | ".join(["---"] + ["---:"] * (len(table["columns"]) - 1)) + " |")
    lines += ["| " + " | ".join(map(cell, row)) + " |" for row in table["rows"]]
    for note in table["notes"]:
        lines += ["", *wrapped(note)]
    return [*lines, ""]


def page(order: list[str]) -> str:
    """The page, from all results that there are."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))}
    lines = ["# Benchmarks", ""]
    lines.append("Written by `make bench` (`python -m bench.run`); the raw figures are in `bench/results`.")
    lines.append(
        "Every figure is of a run whose result was compared with DuckDB's, or with a plain loop's, and equal; "
        "tables of Spark say which views were."
    )
    lines.append(
        "Compare ratios within one table: on a shared machine times differ by up to 1.3 between runs."
    )
    lines.append("")
    for name in [*order, *sorted(set(found) - set(order))]:
        if name not in found:
            continue
        result = found[name]
        host = result["machine"]
        lines += [f"## {name.capitalize()}", "", *wrapped(result["about"]), ""]
        short = " Quick run: smaller data." if result["quick"] else ""
        lines += [f"Measured on {host['cpu']}, {host['cores']} cores, CPython {host['python']}.{short}", ""]
        for table in result["tables"]:
            lines += markdown(table)
    return "\n".join(lines).rstrip() + "\n"


def write_page(order: list[str]) -> None:
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(order))
