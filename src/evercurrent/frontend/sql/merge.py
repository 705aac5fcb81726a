"""MERGE INTO: three kinds of rows, each with its clauses, the first that applies decides.

matched                 pairs (t, s) that satisfy ON            UPDATE or DELETE
not matched [by target] s without any such t                    INSERT
not matched by source   t without any such s                    UPDATE or DELETE
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from evercurrent.calculus.nodes import Comprehension, Exists, Filter, Generator, Qualifier, Query, Union
from evercurrent.calculus.scope import rename_apart
from evercurrent.catalog.nodes import Table
from evercurrent.data.types import BOOLEAN, INT, Member
from evercurrent.frontend.sql import dml, expressions, queries, sources
from evercurrent.frontend.sql.names import suggestion
from evercurrent.frontend.sql.scope import Env, Rows
from evercurrent.frontend.sql.statements import DELETE, INSERT, UPDATE, Modify
from evercurrent.term import build
from evercurrent.term.nodes import Literal, Term

Action = tuple[Term, int, tuple[Term, ...]]  # when, what, the new row


def merge(env: Env, node: exp.Merge) -> Modify:
    if node.args.get("returning") or node.args.get("using_cond"):
        raise env.unsupported_error("RETURNING or USING (columns) in MERGE", node)
    env = queries.with_ctes(env, node)
    table, variable, relation, target_rows = dml.target(env, node.this)
    if node.args.get("using") is None or node.args.get("on") is None or node.args.get("on") is False:
        raise env.wrong("MERGE needs USING a source ON a condition", node)
    source = sources.source(env, node.args["using"], Rows(env, (), "USING"))
    both = Rows(env, target_rows.visible + source.visible, "MERGE")
    on = expressions.condition(both.in_clause("ON"), node.args["on"], "ON")
    conditions = tuple(Filter(c) for c in build.conjuncts(on))
    source_rows = Rows(env, source.visible, "MERGE")
    targets: tuple[Qualifier, ...] = (Generator(variable, relation),)
    whens = list(node.args["whens"].expressions) if node.args.get("whens") is not None else []
    if not whens:
        raise env.wrong("MERGE needs a WHEN clause", node)
    matched = [w for w in whens if w.args.get("matched")]
    by_target = [w for w in whens if not w.args.get("matched") and not w.args.get("source")]
    by_source = [w for w in whens if not w.args.get("matched") and w.args.get("source")]
    old = dml.row_of(variable, table)
    parts: list[Query] = []
    if matched:
        actions = [_change(both, source_rows, table, old, w) for w in matched]
        parts.append(_part(table, old, actions, source.qualifiers + targets + conditions))
    if by_target:
        actions = [_insertion(source_rows, table, w) for w in by_target]
        absent = _unless(targets + conditions)
        parts.append(_part(table, dml.nothing(table), actions, (*source.qualifiers, absent)))
    if by_source:
        actions = [_change(target_rows, None, table, old, w) for w in by_source]
        absent = _unless(source.qualifiers + conditions)
        parts.append(_part(table, old, actions, (*targets, absent)))
    parts = [parts[0], *(rename_apart(p, env.names) for p in parts[1:])]
    query = parts[0] if len(parts) == 1 else Union(tuple(parts), dml.fields_of(table))
    return Modify(table.name, query, "merge")


def _unless(qualifiers: tuple[Qualifier, ...]) -> Filter:
    one = Comprehension("bag", (Literal(1, INT),), qualifiers, (Member("found", INT, False),))
    return Filter(build.call("not", Exists(one, BOOLEAN)))


def _part(
    table: Table, old: Sequence[Term], actions: Sequence[Action], qualifiers: Sequence[Qualifier]
) -> Query:
    """Rows of one kind: the first clause whose condition holds determines the action and the new row."""
    action = build.case([(when, Literal(what, INT)) for when, what, _ in actions], Literal(0, INT))
    new = tuple(
        build.case([(when, row[i]) for when, _, row in actions], Literal(None, column.type))
        for i, column in enumerate(table.columns)
    )
    head = (action, *old, *new)
    return Comprehension("bag", head, tuple(qualifiers), dml.fields_of(table))


def _when(level: Rows, node: exp.When) -> Term:
    condition = node.args.get("condition")
    return build.TRUE if condition is None else expressions.condition(level, condition, "WHEN")


def _change(level: Rows, source: Rows | None, table: Table, old: tuple[Term, ...], node: exp.When) -> Action:
    """WHEN MATCHED, or WHEN NOT MATCHED BY SOURCE: UPDATE or DELETE."""
    env, then = level.env, node.args.get("then")
    if isinstance(then, exp.Var) and then.name.upper() == "DELETE":
        return _when(level, node), DELETE, dml.nothing(table)
    if isinstance(then, exp.Update) and not then.args.get("where"):
        found = then.args.get("expressions") or []
        assignments: list[exp.Expr] = found if isinstance(found, list) else [found]
        if any(isinstance(a, exp.Star) for a in assignments):
            if source is None:
                raise env.wrong("UPDATE SET * needs a source row", then, node)
            return _when(level, node), UPDATE, _same_names(source, table, node)
        return _when(level, node), UPDATE, dml.assign(level, table, old, assignments, node)
    raise env.wrong("only UPDATE SET or DELETE is allowed here", then, node)


def _insertion(level: Rows, table: Table, node: exp.When) -> Action:
    """WHEN NOT MATCHED [BY TARGET]: INSERT."""
    env, then = level.env, node.args.get("then")
    if not isinstance(then, exp.Insert) or then.args.get("where"):
        raise env.wrong("only INSERT is allowed here", then, node)
    if isinstance(then.this, exp.Star):
        return _when(level, node), INSERT, _same_names(level, table, node)
    values = then.args.get("expression")
    cells = list(values.expressions) if isinstance(values, exp.Tuple) else [values] if values else []
    listed = (
        list(then.this.expressions) if isinstance(then.this, exp.Tuple) else [then.this] if then.this else []
    )
    positions = [dml.column_of(env, table, c.name, c) for c in listed] or list(range(len(table.columns)))
    if len(cells) != len(positions):
        raise env.wrong(f"{len(positions)} columns, but {len(cells)} values", then, node)
    row = [dml.default_of(c) for c in table.columns]
    for position, cell in zip(positions, cells, strict=True):
        row[position] = dml.cell(level, table.columns[position], cell)
    return _when(level, node), INSERT, tuple(row)


def _same_names(source: Rows, table: Table, node: exp.When) -> tuple[Term, ...]:
    """`*`: every column from the source's column of the same name."""
    row: list[Term] = []
    for column in table.columns:
        found = source.find_own([column.name], node)
        if found is None:
            hint = suggestion(column.name, [v.name for v in source.visible])
            raise source.env.wrong(f"the source has no column {column.name}", node, hint=hint)
        row.append(build.cast(found, column.type, place=source.env.place(node)))
    return tuple(row)
