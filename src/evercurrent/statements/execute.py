"""Executes statements of SQL on any database.

A change written in SQL is a query whose rows say what to do (`frontend.sql.statements.Modify`). The query is answered once, from
the tables as they are (inside a transaction: as they are pending), and its rows become changes of the table.

    UPDATE t SET n = n + 1 WHERE n > 1      rows (3, old row, new row): delete the old one, insert the new one
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import assert_never

from evercurrent.catalog.lookup import require_table
from evercurrent.catalog.nodes import Mode, Table
from evercurrent.data.types import Member
from evercurrent.data.zset import Row
from evercurrent.errors import EvaluationError, QueryError, TransactionError
from evercurrent.frontend.sql import statements as s
from evercurrent.frontend.sql.parse import parse_script, parse_statement
from evercurrent.rows.arguments import require_choice, require_text
from evercurrent.rows.conversion import give_row
from evercurrent.rows.pending import Change
from evercurrent.rows.results import Result
from evercurrent.statements.options import MODES, POLICIES, Parameters, Policy
from evercurrent.statements.order import order_rows
from evercurrent.statements.target import Target


def execute(
    target: Target,
    text: str,
    parameters: Parameters = None,
    policy: Policy | None = None,
    mode: Mode | None = None,
) -> Result:
    """Runs the statements of a text, one after another; returns the result of the last."""
    require_text(text, "a statement")
    if policy is not None:
        require_choice(policy, POLICIES, "policy")
    if mode is not None:
        require_choice(mode, MODES, "mode")
    texts = parse_script(text)
    if not texts:
        raise QueryError("there is no statement in the text")
    if len(texts) > 1 and parameters:
        raise QueryError("parameters are for a single statement", hint="execute the statements one by one")
    result = Result("")
    with target.lock, target.script() as begin:
        for one in texts:
            statement = parse_statement(one, target.catalog, policy or "incremental", parameters)
            begin(statement)
            result = run(target, with_mode(statement, mode), one)
    return result


def with_mode(statement: s.Statement, mode: Mode | None) -> s.Statement:
    """Returns the statement; a view that it creates and that names no mode itself has this one."""
    if mode is None or not isinstance(statement, s.CreateView) or statement.view.mode != "strict":
        return statement
    return replace(statement, view=replace(statement.view, mode=mode))


def query(target: Target, text: str, parameters: Parameters = None, pending: bool = False) -> Result:
    """Answers one query."""
    require_text(text, "a query")
    with target.lock:
        statement = parse_statement(text, target.catalog, "incremental", parameters)
        if not isinstance(statement, s.Select):
            raise QueryError("this is not a query", hint="db.execute runs statements of every kind")
        return select(target, statement, pending)


def run(target: Target, statement: s.Statement, text: str) -> Result:
    """Runs one statement; `text` is kept if it defines something."""
    match statement:
        case s.CreateTable() | s.CreateView() | s.CreateAssertion():
            kind = f"CREATE {type(statement).__name__.removeprefix('Create').upper()}"
            target.require_no_transaction(kind)
            target.create(statement, text)
            return Result(kind)
        case s.DropRelation(kind):
            target.require_no_transaction(f"DROP {kind.upper()}")
            target.drop(statement)
            return Result(f"DROP {kind.upper()}")
        case s.Truncate(table):
            return truncate(target, table)
        case s.Select():
            return select(target, statement, pending=False)
        case s.Modify():
            return modify(target, statement)
        case _:
            assert_never(statement)


def in_transaction(what: str) -> TransactionError:
    """Returns the error of a definition inside a transaction."""
    return TransactionError(
        f"{what} cannot be part of a transaction with other changes",
        hint="run it before or after the `with db.transaction()` block",
    )


def select(target: Target, statement: s.Select, pending: bool) -> Result:
    """Returns the rows of a query in their order; fields that only order them are dropped."""
    fields = statement.ordered.query.fields
    rows = [row for row, weight in target.answer(statement.ordered.query, pending) for _ in range(weight)]
    rows = order_rows(rows, fields, statement.ordered.order)
    width = len(statement.names)
    if width < len(fields):
        rows = [row[:width] for row in rows]
    shown = tuple(Member(n, f.type, f.nullable) for n, f in zip(statement.names, fields, strict=False))
    return Result("SELECT", len(rows), shown, rows)


# --- changes -----------------------------------------------------------------------------------------------


def modify(target: Target, statement: s.Modify) -> Result:
    """INSERT, UPDATE, DELETE and MERGE."""
    table = require_table(target.catalog, statement.table)
    key, width = table.name.lower(), len(table.columns)
    with target.changing() as transaction:
        pending = transaction.on(key)
        deletions: list[Change] = []
        insertions: list[Change] = []
        affected: Counter[Row] = Counter()
        count = 0
        for row, weight in target.answer(statement.query, pending=True):
            action, old, new = row[0], row[1 : 1 + width], row[1 + width : 1 + 2 * width]
            if action in (s.DELETE, s.UPDATE):
                deletions.append((old, -weight))
                affected[old] += weight
            if action in (s.INSERT, s.UPDATE):
                insertions.append((new, weight))
            if action:
                count += weight
        if table.stored:
            transaction.load_rows(key, affected)
            for old, times in affected.items():
                if times > pending.count(old):
                    raise _several_matches(table, old)
        transaction.change(key, deletions + insertions)
    return Result(statement.kind.upper(), count)


def _several_matches(table: Table, row: Row) -> EvaluationError:
    return EvaluationError(
        f"MERGE into {table.name}: several source rows match the row {give_row(table.fields, row)!r}",
        hint="make the rows of the source unique by the columns of the ON condition",
    )


def truncate(target: Target, table: str) -> Result:
    """TRUNCATE: deletes all rows of a table, in a transaction like any other."""
    key = require_table(target.catalog, table).name.lower()
    with target.changing() as transaction:
        transaction.on(key)
        rows = target.pending_rows(key)
        transaction.change(key, [(row, -weight) for row, weight in rows.items()])
        return Result("TRUNCATE", sum(weight for _, weight in rows.items()))
