"""Conformance cases are data: files of SQL under `cases/`, over the tables of a file under `datasets/`.

A line that begins with `--!` opens a section; everything up to the next one belongs to it.

    --! dataset shop            the tables, rows and steps of datasets/shop.sql (for the cases that follow)
    --! case left_join          a case; its text is the query of the view, in Spark's SQL
    --! view spend              a view that the query (or a later view) reads
    --! query                   the query, where views come before it
    --! tables                  more tables, and statements that fill them
    --! step                    one transaction (statements end with ; at the end of a line); steps of a case replace
                                those of the dataset
    --! duckdb                  the query in DuckDB's spelling, where translation does not give it
    --! duckdb none: why        DuckDB has no such thing: only the reference evaluator judges
    --! rough                   a float of 32 bits is compared roughly
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Case:
    name: str
    topic: str
    tables: str = ""
    views: tuple[tuple[str, str], ...] = ()
    query: str = ""
    steps: tuple[str, ...] = ()
    duckdb: str | None = None  # None: translate
    unjudged: str | None = None  # why DuckDB cannot judge
    rough: bool = False

    def __str__(self) -> str:
        return f"{self.topic}-{self.name}"


@dataclass(frozen=True)
class Dataset:
    tables: str = ""
    steps: tuple[str, ...] = field(default=())


def sections(path: Path) -> list[tuple[str, str, str]]:
    """(keyword, rest of its line, text) for each section."""
    found: list[tuple[str, str, list[str]]] = []
    for line in path.read_text().splitlines():
        if line.startswith("--!"):
            keyword, _, rest = line[3:].strip().partition(" ")
            found.append((keyword, rest.strip(), []))
        elif found:
            found[-1][2].append(line)
    return [(k, r, "\n".join(t).strip()) for k, r, t in found]


@cache
def dataset(name: str) -> Dataset:
    result = Dataset()
    for keyword, _, text in sections(HERE / "datasets" / f"{name}.sql"):
        match keyword:
            case "tables" | "data":
                result = replace(result, tables=f"{result.tables}\n{text}\n")
            case "step":
                result = replace(result, steps=(*result.steps, text))
            case _:
                raise ValueError(f"{name}: {keyword}")
    return result


def cases_of(path: Path) -> list[Case]:
    """The cases of one file, in order."""
    cases: list[Case] = []
    base = Dataset()
    own_steps = False
    for keyword, rest, text in sections(path):
        if keyword == "dataset":
            base = dataset(rest)
            continue
        if keyword == "case":
            own_steps = False
            cases.append(Case(rest, path.stem, base.tables, query=text, steps=base.steps))
            continue
        case = cases.pop()
        match keyword:
            case "view":
                case = replace(case, views=(*case.views, (rest, text)))
            case "query":
                case = replace(case, query=text)
            case "tables":
                case = replace(case, tables=f"{case.tables}\n{text}\n")
            case "step":
                case = replace(case, steps=(*case.steps, text) if own_steps else (text,))
                own_steps = True
            case "duckdb" if rest.startswith("none"):
                case = replace(case, unjudged=rest.partition(":")[2].strip() or "not in DuckDB")
            case "duckdb":
                case = replace(case, duckdb=text)
            case "rough":
                case = replace(case, rough=True)
            case _:
                raise ValueError(f"{path.name}: {case.name}: {keyword}")
        cases.append(case)
    return cases


def all_cases() -> list[Case]:
    found = [case for path in sorted((HERE / "cases").glob("*.sql")) for case in cases_of(path)]
    names = [str(case) for case in found]
    assert len(names) == len(set(names)), "names of cases are unique within a topic"
    return found
