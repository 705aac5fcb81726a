"""What DuckDB says of a case: its rows after every step, computed once for all engines."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from tests.conformance.case import Case
from tests.duck import Duck, Rows, statements, translate


@dataclass(frozen=True)
class Verdict:
    """The view's rows before the first step and after each; None where DuckDB cannot judge. Tables likewise."""

    rows: tuple[Rows | None, ...]
    tables: tuple[dict[str, Rows], ...]


def table_names(duck: Duck) -> list[str]:
    found = duck.query("SELECT table_name FROM duckdb_tables() ORDER BY table_name", translated=True)
    return [name for (name,) in found]


@cache
def judge(case: Case) -> Verdict:
    duck = Duck()
    try:
        for statement in statements(case.tables):
            duck.execute(statement)
        query = case.query
        if case.views:
            for name, text in case.views:
                duck.connection.execute(f"CREATE VIEW {name} AS {translate(text)}")
        names = table_names(duck)
        rows: list[Rows | None] = []
        tables: list[dict[str, Rows]] = []
        for step in ("", *case.steps):
            for statement in statements(step):
                duck.execute(statement)
            tables.append({name: duck.query(f"SELECT * FROM {name}", translated=True) for name in names})
            if case.unjudged is not None:
                rows.append(None)
            elif case.duckdb is not None:
                rows.append(duck.query(case.duckdb, translated=True))
            else:
                rows.append(duck.query(query))
        return Verdict(tuple(rows), tuple(tables))
    finally:
        duck.close()
