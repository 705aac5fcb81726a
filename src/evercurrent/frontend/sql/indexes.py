"""CREATE INDEX, DROP INDEX, and EXPLAIN of a query or a change.

CREATE INDEX by_customer ON orders (customer)      Index("by_customer", "orders", ("customer",))
"""

from __future__ import annotations

from sqlglot import exp

from evercurrent.catalog.nodes import Index
from evercurrent.frontend.sql import tables
from evercurrent.frontend.sql.dml import column_of
from evercurrent.frontend.sql.scope import Env
from evercurrent.frontend.sql.statements import CreateIndex, DropIndex


def create_index(env: Env, node: exp.Create) -> CreateIndex:
    index = node.this
    if node.args.get("unique"):
        raise env.unsupported_error(
            "CREATE UNIQUE INDEX", node, hint="declare UNIQUE (columns) in CREATE TABLE: it has an index"
        )
    if node.args.get("replace"):
        raise env.unsupported_error("CREATE OR REPLACE INDEX", node, hint="DROP INDEX, then CREATE INDEX")
    if (
        not isinstance(index, exp.Index)
        or not index.name
        or not isinstance(index.args.get("table"), exp.Table)
    ):
        raise env.wrong("an index is written CREATE INDEX name ON table (columns)", node)
    at = index.args["table"]
    table = tables.require_table(env, ".".join(p.name for p in at.parts), at)
    parameters = index.args.get("params")
    listed = parameters.args.get("columns") if parameters is not None else None
    if not listed:
        raise env.wrong("an index needs columns", node)
    columns: list[str] = []
    for item in listed:
        column = item.this if isinstance(item, exp.Ordered) else item
        if not isinstance(column, exp.Column) or len(column.parts) != 1:
            raise env.unsupported_error("an index of an expression", item, node)
        name = table.columns[column_of(env, table, column.name, column)].name
        if name in columns:
            raise env.wrong(f"this list has the column {name} twice", item, node)
        columns.append(name)
    return CreateIndex(Index(index.name, table.name, tuple(columns)), bool(node.args.get("exists")))


def drop_index(env: Env, node: exp.Drop) -> DropIndex:
    targets = node.args.get("tables") or ([node.this] if node.this is not None else [])
    if len(targets) != 1 or not isinstance(targets[0], exp.Table):
        raise env.wrong("an index is dropped with DROP INDEX name", node)
    return DropIndex(targets[0].name, bool(node.args.get("exists")))
