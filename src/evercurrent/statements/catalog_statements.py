"""SHOW, DESCRIBE and EXPLAIN: what the database says of itself, as rows.

DESCRIBE orders      (id, BIGINT, false, PRIMARY KEY), (total, DECIMAL(12,2), true, NULL)
"""

from __future__ import annotations

from collections.abc import Sequence

from evercurrent.algebra.show import show as show_plan
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.show import show as show_query
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import Table, is_part
from evercurrent.data.types import BOOLEAN, STRING, Member
from evercurrent.data.zset import Row
from evercurrent.design.compile import stages
from evercurrent.frontend.sql import statements as s
from evercurrent.rows.conversion import Fields
from evercurrent.rows.results import Result
from evercurrent.statements.table_text import table_text
from evercurrent.statements.target import Target


def show(catalog: Catalog, statement: s.Show) -> Result:
    """SHOW TABLES, VIEWS, COLUMNS IN name, CREATE TABLE name."""
    match statement.what:
        case "tables":
            found = [("default", t.name, False) for t in catalog.tables.values()]
            return _result("SHOW", ["namespace", "tableName"], ["isTemporary"], found)
        case "views":
            kept = [v for v in catalog.views.values() if not is_part(v)]
            return _result(
                "SHOW",
                ["namespace", "viewName"],
                ["isTemporary"],
                [("default", v.name, v.inline and v.language == "sql") for v in kept],
            )
        case "columns":
            return _result("SHOW", ["col_name"], [], [(f.name,) for f in catalog.fields_of(statement.name)])
        case "create":
            table = catalog.table(statement.name)
            view = catalog.view(statement.name)
            text = table_text(table) if table is not None else "" if view is None else view.text
            return _result("SHOW", ["createtab_stmt"], [], [(text,)])


def describe(catalog: Catalog, statement: s.Describe) -> Result:
    """DESCRIBE: the columns, their types, whether they can be NULL, and the keys that they belong to."""
    if isinstance(statement.what, s.Select):
        query, names = statement.what.ordered.query, statement.what.names
        fields: Fields = tuple(
            Member(n, f.type, f.nullable) for n, f in zip(names, query.fields, strict=False)
        )
        keys: dict[str, str] = {}
    else:
        fields = catalog.fields_of(statement.what)
        table = catalog.table(statement.what)
        keys = {} if table is None else _keys(table)
    rows = [(f.name, str(f.type), f.nullable, keys.get(f.name)) for f in fields]
    shown = (
        Member("col_name", STRING, False),
        Member("data_type", STRING, False),
        Member("nullable", BOOLEAN, False),
        Member("key", STRING),
    )
    return Result("DESCRIBE", len(rows), shown, rows)


def _keys(table: Table) -> dict[str, str]:
    found: dict[str, str] = {}
    for reference in table.foreign_keys:
        found |= dict.fromkeys(reference.columns, f"REFERENCES {reference.parent}")
    for unique in table.unique:
        found |= dict.fromkeys(unique.columns, "UNIQUE")
    if table.primary_key is not None:
        found |= dict.fromkeys(table.primary_key.columns, "PRIMARY KEY")
    return found


def explain(target: Target, statement: s.Explain) -> Result:
    """EXPLAIN: how the rows of a query or change are found, or how a view is kept.

    EXPLAIN LOGICAL shows the plan of a query before it is optimised, EXPLAIN EXTENDED every stage of it.
    """
    match statement.what:
        case s.Select() | s.Modify() as inner:
            query = inner.ordered.query if isinstance(inner, s.Select) else inner.query
            if statement.stage is None:
                lines = target.explain_access(query)
            else:
                lines = [_plan(query, target.catalog, statement.stage)]
        case name:
            lines = [target.explain_view(name, statement.stage)]
    return _result("EXPLAIN", ["plan"], [], [(line,) for line in lines])


def _plan(query: Query, catalog: Catalog, stage: str | None) -> str:
    made = stages(query, catalog)
    match stage:
        case "algebra":
            return show_plan(made.algebra)
        case "program":
            parts = {
                "calculus": show_query(made.query),
                "normal": show_query(made.normal),
                "algebra": show_plan(made.algebra),
                "optimised": show_plan(made.plan),
            }
            return "\n\n".join(f"{name}\n{text}" for name, text in parts.items())
        case _:
            return show_plan(made.plan)


def _result(kind: str, texts: Sequence[str], flags: Sequence[str], rows: Sequence[Row]) -> Result:
    fields = (*(Member(n, STRING, False) for n in texts), *(Member(n, BOOLEAN, False) for n in flags))
    return Result(kind, len(rows), fields, list(rows))
