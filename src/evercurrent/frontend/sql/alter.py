"""ALTER TABLE: columns added, dropped and renamed, and the table renamed.

    ALTER TABLE orders ADD COLUMN note STRING DEFAULT 'none'      AlterTable(old=orders, table=orders with a column note)

The statement is read as the table before and the table after. Definitions that read the table are resolved again by whoever
runs it.
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from evercurrent.catalog.nodes import Check, ForeignKey, Table, TableColumn, Unique
from evercurrent.frontend.sql import tables
from evercurrent.frontend.sql.ddl import name_of
from evercurrent.frontend.sql.names import suggestion
from evercurrent.frontend.sql.scope import Env
from evercurrent.frontend.sql.statements import AlterTable
from evercurrent.frontend.sql.syntax import tokenize

WHAT = "ALTER TABLE name ADD COLUMN c type, DROP COLUMN c, RENAME COLUMN c TO d, or RENAME TO other"


def alter(env: Env, node: exp.Alter) -> AlterTable:
    if str(node.args.get("kind") or "").upper() != "TABLE":
        raise env.unsupported_error(
            f"ALTER {node.args.get('kind')}", node, hint="CREATE OR REPLACE VIEW replaces a view; " + WHAT
        )
    old = tables.require_table(env, name_of(env, node.this), node.this)
    made = AlterTable(old, old, tuple(range(len(old.columns))))
    actions, options = node.args.get("actions") or (), node.args.get("options") or ()
    match actions, options:
        case [exp.AlterRename() as rename], [exp.ToTableProperty() as to]:  # RENAME c TO d
            return _rename(env, made, rename.this, to.this)
        case _, [option, *_]:
            raise env.unsupported_error("this form of ALTER TABLE", option, node, hint=WHAT)
    for action in actions:
        made = _act(env, node, made, action)
    return made


def _act(env: Env, node: exp.Alter, made: AlterTable, action: exp.Expr) -> AlterTable:
    match action:
        case exp.ColumnDef():
            return _add(env, made, [action])
        case exp.Schema() if all(isinstance(c, exp.ColumnDef) for c in action.expressions):
            return _add(env, made, list(action.expressions))
        case exp.Drop() if str(action.args.get("kind") or "").upper() in ("COLUMN", "COLUMNS"):
            listed = action.args.get("tables") or [action.this]
            columns = [c for t in listed for c in (t.expressions if isinstance(t, exp.Schema) else [t])]
            for column in columns:
                made = _drop(env, made, column, bool(action.args.get("exists")))
            return made
        case exp.RenameColumn():
            return _rename(env, made, action.this, action.args["to"])
        case exp.AlterRename():
            return _rename_table(env, made, action)
        case exp.AlterColumn():
            hint = "CREATE TABLE new AS SELECT CAST(c AS type) AS c, ... FROM old, then DROP TABLE old"
            raise env.unsupported_error("ALTER COLUMN", node, hint=hint)
        case _:
            raise env.unsupported_error("this form of ALTER TABLE", node, hint=WHAT)


def _add(env: Env, made: AlterTable, nodes: list[exp.ColumnDef]) -> AlterTable:
    for node in nodes:
        if any(c.name.lower() == node.name.lower() for c in made.table.columns):
            if node.args.get("exists"):
                continue
            raise env.wrong(f"there is already a column {node.name} in {made.table.name}", node)
        if node.args.get("position") is not None:
            raise env.unsupported_error(
                "the place of an added column", node, hint="it comes last: leave FIRST or AFTER out"
            )
        column = tables.read_added_column(env, made.table.name, node)
        if not column.nullable and column.default is None:
            raise env.wrong(
                f"the rows of {made.table.name} would have no value for {node.name}, which is NOT NULL",
                node,
                hint="give it a DEFAULT",
            )
        made = replace(
            made,
            table=replace(made.table, columns=(*made.table.columns, column)),
            sources=(*made.sources, None),
        )
    return made


def _position(env: Env, table: Table, node: exp.Expr) -> int | None:
    for position, column in enumerate(table.columns):
        if column.name.lower() == node.name.lower():
            return position
    return None


def _missing(env: Env, table: Table, node: exp.Expr) -> Exception:
    hint = suggestion(node.name, [c.name for c in table.columns])
    return env.wrong(f"there is no column {node.name} in {table.name}", node, hint=hint)


def _drop(env: Env, made: AlterTable, node: exp.Expr, quietly: bool) -> AlterTable:
    table, at = made.table, _position(env, made.table, node)
    if at is None:
        if quietly:
            return made
        raise _missing(env, table, node)
    name = table.columns[at].name
    for constraint in (table.primary_key, *table.unique, *table.foreign_keys, *table.checks):
        if constraint is not None and name.lower() in _columns(constraint):
            raise env.wrong(
                f"{name} cannot be dropped: the constraint {constraint.name} of {table.name} is about it",
                node,
            )
    if len(table.columns) == 1:
        raise env.wrong(f"{name} is the only column of {table.name}", node, hint="DROP TABLE drops the table")
    columns = tuple(c for i, c in enumerate(table.columns) if i != at)
    sources = tuple(s for i, s in enumerate(made.sources) if i != at)
    return replace(made, table=replace(table, columns=columns), sources=sources)


def _columns(constraint: Unique | ForeignKey | Check) -> set[str]:
    """The columns that a constraint mentions, in lower case."""
    if isinstance(constraint, Check):
        return {t.text.lower() for t in tokenize(constraint.text).tokens}
    return {c.lower() for c in constraint.columns}


def _rename(env: Env, made: AlterTable, node: exp.Expr, to: exp.Expr) -> AlterTable:
    table, at = made.table, _position(env, made.table, node)
    if at is None:
        raise _missing(env, table, node)
    other = _position(env, table, to)
    if other is not None and other != at:
        raise env.wrong(f"there is already a column {to.name} in {table.name}", to, node)
    old, new = table.columns[at].name, to.name
    for check in table.checks:
        if old.lower() in _columns(check):
            raise env.wrong(
                f"{old} cannot be renamed: the constraint {check.name} of {table.name} mentions it", node
            )

    def rename_all(names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(new if n.lower() == old.lower() else n for n in names)

    columns = tuple(
        TableColumn(new, c.type, c.nullable, c.default) if i == at else c for i, c in enumerate(table.columns)
    )
    key = table.primary_key
    changed = replace(
        table,
        columns=columns,
        primary_key=None if key is None else replace(key, columns=rename_all(key.columns)),
        unique=tuple(replace(u, columns=rename_all(u.columns)) for u in table.unique),
        foreign_keys=tuple(_rename_reference(f, table, rename_all) for f in table.foreign_keys),
    )
    return replace(made, table=changed)


def _rename_table(env: Env, made: AlterTable, action: exp.AlterRename) -> AlterTable:
    table, new = made.table, name_of(env, action.this)
    other = env.catalog.relation(new)
    if other is not None and other.name.lower() != table.name.lower():
        raise env.wrong(f"there is already a table or view {other.name}", action.this)
    keys = tuple(
        replace(f, parent=new) if f.parent.lower() == table.name.lower() else f for f in table.foreign_keys
    )
    return replace(made, table=replace(table, name=new, foreign_keys=keys))


def _rename_reference(key: ForeignKey, table: Table, renamed: object) -> ForeignKey:
    assert callable(renamed)
    own = key.parent.lower() == table.name.lower()
    parents = renamed(key.parent_columns) if own else key.parent_columns
    return replace(key, columns=renamed(key.columns), parent_columns=parents)
