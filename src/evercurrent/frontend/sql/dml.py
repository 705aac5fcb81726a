"""INSERT, UPDATE and DELETE: each is a query that says, row by row, what to do.

UPDATE t SET a = a + 1 WHERE b      bag{ (action: 3, old: t, new: t with a + 1) | t <- t, t.b }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from evercurrent.calculus.nodes import Comprehension, Filter, Generator, Qualifier, Relation, Values
from evercurrent.catalog.nodes import Table, TableColumn
from evercurrent.data.types import INT, Member
from evercurrent.frontend.sql import expressions, queries, returning, tables
from evercurrent.frontend.sql.ddl import name_of
from evercurrent.frontend.sql.names import suggestion
from evercurrent.frontend.sql.scope import Env, Level, Rows
from evercurrent.frontend.sql.sources import alias_of, visible_of
from evercurrent.frontend.sql.statements import DELETE, INSERT, UPDATE, Modify
from evercurrent.source import Place
from evercurrent.term import build
from evercurrent.term.nodes import Literal, Term, Variable


def fields_of(table: Table) -> tuple[Member, ...]:
    """The fields of a query that changes a table."""
    old = tuple(Member(f"old.{c.name}", c.type, True) for c in table.columns)
    new = tuple(Member(f"new.{c.name}", c.type, True) for c in table.columns)
    return (Member("action", INT, True), *old, *new)


def nothing(table: Table) -> tuple[Term, ...]:
    return tuple(Literal(None, c.type) for c in table.columns)


def row_of(variable: Variable, table: Table) -> tuple[Term, ...]:
    return tuple(build.field(variable, c.name) for c in table.columns)


def is_default(node: exp.Expr) -> bool:
    """The word DEFAULT in the place of a value."""
    if isinstance(node, exp.Column):
        return len(node.parts) == 1 and not node.this.args.get("quoted") and node.name.upper() == "DEFAULT"
    return isinstance(node, exp.Var) and node.name.upper() == "DEFAULT"


def default_of(column: TableColumn) -> Term:
    return Literal(None, column.type) if column.default is None else column.default


def convert_value(env: Env, term: Term, column: TableColumn, place: Place | None) -> Term:
    """A value as it enters a column."""
    return build.cast(term, column.type, place=place)


def column_of(env: Env, table: Table, name: str, node: exp.Expr) -> int:
    for position, column in enumerate(table.columns):
        if column.name.lower() == name.lower():
            return position
    hint = suggestion(name, [c.name for c in table.columns])
    raise env.wrong(f"there is no column {name} in {table.name}", node, hint=hint)


# --- insert ------------------------------------------------------------------------------------------------


def insert(env: Env, node: exp.Insert) -> Modify:
    for key, what in (
        ("overwrite", "INSERT OVERWRITE"),
        ("by_name", "INSERT BY NAME"),
        ("partition", "INSERT with PARTITION"),
        ("where", "INSERT ... REPLACE WHERE"),
        ("is_function", "INSERT INTO FUNCTION"),
    ):
        if node.args.get(key):
            raise env.unsupported_error(what, node, hint=INSTEAD.get(key))
    env = queries.with_ctes(env, node)
    table = tables.require_table(env, name_of(env, node.this), node.this)
    made = _insertion(env, node, table)
    return replace(
        made,
        conflict=returning.conflict(env, node, table),
        returning=returning.read_returning(env, node, table),
    )


INSTEAD = {
    "overwrite": "TRUNCATE TABLE and INSERT INTO in one transaction",
    "by_name": "list the columns: INSERT INTO t (a, b) SELECT ...",
    "partition": "the columns of a partition are columns like others",
    "where": "DELETE and INSERT in one transaction",
}


def _insertion(env: Env, node: exp.Insert, table: Table) -> Modify:
    listed = list(node.this.expressions) if isinstance(node.this, exp.Schema) else []
    positions = [column_of(env, table, c.name, c) for c in listed] or list(range(len(table.columns)))
    if len(set(positions)) != len(positions):
        raise env.wrong("this list has a column twice", node.this)
    source = node.expression
    if source is None:
        raise env.wrong("INSERT needs VALUES or a query", node)
    if isinstance(source, exp.Values) and not source.args.get("alias"):
        return _insert_values(env, table, positions, source)
    result = queries.query(env, source)
    given = len(result.names)
    if given != len(positions):
        raise env.wrong(
            f"{table.name} takes {len(positions)} values here, the query has {given}", source, node
        )
    variable = env.variable("i", result.query)
    values = [build.field(variable, f.name) for f in result.query.fields[:given]]
    new = _new_row(env, table, dict(zip(positions, values, strict=True)), env.place(source))
    return _modify(table, INSERT, nothing(table), new, (Generator(variable, result.query),), "insert")


def _insert_values(env: Env, table: Table, positions: Sequence[int], source: exp.Values) -> Modify:
    level, rows = Rows(env, (), "VALUES"), []
    for row in source.expressions:
        cells = row.expressions if isinstance(row, exp.Tuple) else [row]
        if len(cells) != len(positions):
            raise env.wrong(
                f"{table.name} takes {len(positions)} values here, this row has {len(cells)}", row, source
            )
        given = {p: cell(level, table.columns[p], c) for p, c in zip(positions, cells, strict=True)}
        new = _new_row(env, table, given, env.place(row))
        rows.append((Literal(INSERT, INT), *nothing(table), *new))
    return Modify(table.name, Values(tuple(rows), fields_of(table)), "insert")


def cell(level: Level, column: TableColumn, node: exp.Expr) -> Term:
    if is_default(node):
        return default_of(column)
    return convert_value(level.env, expressions.term(level, node), column, level.env.place(node))


def _new_row(env: Env, table: Table, given: Mapping[int, Term], place: Place | None) -> tuple[Term, ...]:
    return tuple(
        convert_value(env, given[i], c, place) if i in given else default_of(c)
        for i, c in enumerate(table.columns)
    )


def _modify(
    table: Table,
    action: int,
    old: Sequence[Term],
    new: Sequence[Term],
    qualifiers: Sequence[Qualifier],
    kind: str,
) -> Modify:
    query = Comprehension("bag", (Literal(action, INT), *old, *new), tuple(qualifiers), fields_of(table))
    return Modify(table.name, query, kind)  # type: ignore[arg-type]


# --- update and delete ---------------------------------------------------------------------------------------


def target(env: Env, node: exp.Expr) -> tuple[Table, Variable, Relation, Rows]:
    """The table that is changed, a variable over it, and the level of its rows."""
    table = tables.require_table(env, name_of(env, node), node)
    relation = Relation(table.name, table.fields)
    alias, _ = alias_of(node)
    qualifier = (alias,) if alias else tuple(table.name.split("."))
    variable = env.variable(qualifier[-1], relation)
    visible = visible_of(variable, relation, [f.name for f in table.fields], qualifier)
    return table, variable, relation, Rows(env, visible, "this statement")


def _where(level: Rows, node: exp.Expr) -> tuple[Filter, ...]:
    where = node.args.get("where")
    if where is None:
        return ()
    condition = expressions.condition(level.in_clause("WHERE"), where.this, "WHERE")
    return tuple(Filter(c) for c in build.conjuncts(condition))


def update(env: Env, node: exp.Update) -> Modify:
    for key, what in (
        ("from_", "UPDATE ... FROM"),
        ("order", "ORDER BY"),
        ("limit", "LIMIT"),
    ):
        if node.args.get(key):
            raise env.unsupported_error(
                f"{what} in UPDATE", node, hint="use MERGE" if key == "from_" else None
            )
    if node.this is None or node.this.args.get("joins"):
        raise env.unsupported_error("a join in UPDATE", node, hint="use MERGE")
    env = queries.with_ctes(env, node)
    table, variable, relation, level = target(env, node.this)
    old = row_of(variable, table)
    new = assign(level.in_clause("SET"), table, old, node.expressions, node)
    qualifiers: tuple[Qualifier, ...] = (Generator(variable, relation), *_where(level, node))
    made = _modify(table, UPDATE, old, new, qualifiers, "update")
    return replace(made, returning=returning.read_returning(env, node, table))


def assign(
    level: Level, table: Table, old: Sequence[Term], nodes: Sequence[exp.Expr], at: exp.Expr
) -> tuple[Term, ...]:
    """The new row after `SET a = ..., b = ...`."""
    env, new = level.env, list(old)
    changed: set[int] = set()
    if not nodes:
        raise env.wrong("SET needs an assignment", at)
    for node in nodes:
        if not isinstance(node, exp.EQ) or not isinstance(node.this, exp.Column):
            raise env.wrong("an assignment is written column = value", node, at)
        if len(node.this.parts) > 1 and not _qualifies(level, node.this):
            raise env.unsupported_error("assigning to a member of a struct", node.this)
        position = column_of(env, table, node.this.name, node.this)
        if position in changed:
            raise env.wrong(f"{node.this.name} is assigned twice", node.this)
        changed.add(position)
        new[position] = cell(level, table.columns[position], node.expression)
    return tuple(new)


def _qualifies(level: Level, column: exp.Column) -> bool:
    qualifier = [p.name.lower() for p in column.parts[:-1]]
    return not isinstance(level, Rows) or any(
        [q.lower() for q in v.qualifier[-len(qualifier) :]] == qualifier for v in level.visible
    )


def delete(env: Env, node: exp.Delete) -> Modify:
    for key, what in (
        ("using", "USING"),
        ("order", "ORDER BY"),
        ("limit", "LIMIT"),
        ("tables", "several tables"),
    ):
        if node.args.get(key):
            raise env.unsupported_error(f"{what} in DELETE", node)
    env = queries.with_ctes(env, node)
    table, variable, relation, level = target(env, node.this)
    qualifiers: tuple[Qualifier, ...] = (Generator(variable, relation), *_where(level, node))
    made = _modify(table, DELETE, row_of(variable, table), nothing(table), qualifiers, "delete")
    return replace(made, returning=returning.read_returning(env, node, table))
