"""Executes statements of SQL on any database.

A change written in SQL is a query whose rows say what to do (`frontend.sql.statements.Modify`). The query is answered once, from
the tables as they are (inside a transaction: as they are pending), and its rows become changes of the table.

    UPDATE t SET n = n + 1 WHERE n > 1      rows (3, old row, new row): delete the old one, insert the new one
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from evercurrent.catalog.lookup import require_table
from evercurrent.catalog.nodes import Mode, Table
from evercurrent.data.types import Member
from evercurrent.data.zset import Row
from evercurrent.errors import EvaluationError, QueryError, TransactionError, UnsupportedError
from evercurrent.frontend.sql import statements as s
from evercurrent.frontend.sql.parse import parse_script, parse_statement
from evercurrent.locking.lock import Hold
from evercurrent.rows.arguments import require_choice, require_text
from evercurrent.rows.conversion import give_row
from evercurrent.rows.pending import Change
from evercurrent.rows.results import Result
from evercurrent.statements.catalog_statements import describe, explain, show
from evercurrent.statements.conflicts import insert_or
from evercurrent.statements.data import copy, create_filled, read_rows
from evercurrent.statements.definition import may_create
from evercurrent.statements.options import MODES, POLICIES, Parameters, Policy
from evercurrent.statements.order import order_rows
from evercurrent.statements.target import Changes, Target
from evercurrent.term.evaluate import compile_term
from evercurrent.term.nullable import nullable


def execute(
    target: Target,
    text: str,
    parameters: Parameters = None,
    policy: Policy | None = None,
    mode: Mode | None = None,
) -> Result:
    """Runs the statements of a text, one after another; returns the result of the last."""
    require_text(text, "a statement")
    prepared = target.run_prepared(text, parameters, None)
    if prepared is not None:
        return prepared
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
    held: list[Hold] = []
    try:
        with target.lock, target.script() as begin:
            for one in texts:
                statement = read_statement(target, one, policy or "incremental", parameters)
                begin(statement)
                if isinstance(statement, s.Control):
                    result = control(target, statement, held)
                else:
                    result = run(target, with_mode(statement, mode), one)
            if len(texts) == 1:
                target.prepare(text, parameters, statement)
    finally:
        for hold in held:
            hold.release()
    return result


def read_statement(target: Target, text: str, policy: Policy, parameters: Parameters) -> s.Statement:
    """Parses one statement. A view that is not understood here may still be one that the database computes otherwise."""
    try:
        return parse_statement(text, target.reading_catalog(text), policy, parameters, files=read_rows)
    except (QueryError, UnsupportedError) as problem:
        found = None if parameters is not None else target.foreign_view(text, policy, problem)
        if found is None:
            raise
        return found


def control(target: Target, statement: s.Control, held: list[Hold]) -> Result:
    """BEGIN, COMMIT and ROLLBACK. After the last two, the rest of the text holds the lock by what is added to `held`."""
    if statement.kind == "BEGIN":
        target.begin()
    else:
        held.append(target.end(statement.kind))
    return Result(statement.kind)


def execute_many(target: Target, text: str, rows: Iterable[Parameters]) -> Result:
    """Runs a statement once for each element of `rows`, in one transaction."""
    require_text(text, "a statement")
    if isinstance(rows, str | bytes | Mapping):
        raise QueryError(
            "executemany takes many rows of parameters", hint="db.executemany(text, [(1, 'a'), (2, 'b')])"
        )
    result, count = Result(""), 0
    with target.lock, target.changing():
        for parameters in rows:
            prepared = target.run_prepared(text, parameters, None)
            if prepared is not None:
                result = prepared
                count += result.count
                continue
            statement = parse_statement(text, target.catalog, "incremental", parameters, files=read_rows)
            if not isinstance(statement, s.Modify | s.Select):
                raise QueryError(
                    "executemany runs changes and queries", hint="db.execute runs statements of every kind"
                )
            result = run(target, statement, text)
            target.prepare(text, parameters, statement)
            count += result.count
    result.count = count
    return result


def with_mode(statement: s.Statement, mode: Mode | None) -> s.Statement:
    """Returns the statement; a view that it creates and that names no mode itself has this one."""
    if mode is None or not isinstance(statement, s.CreateView) or statement.view.mode != "strict":
        return statement
    return replace(statement, view=replace(statement.view, mode=mode))


def query(target: Target, text: str, parameters: Parameters = None, pending: bool = False) -> Result:
    """Answers one query."""
    require_text(text, "a query")
    prepared = target.run_prepared(text, parameters, pending)
    if prepared is not None:
        return prepared
    with target.lock:
        catalog = target.reading_catalog(text)
        statement = parse_statement(text, catalog, "incremental", parameters, files=read_rows)
        if not isinstance(statement, s.Select):
            raise QueryError("this is not a query", hint="db.execute runs statements of every kind")
        result = select(target, statement, pending)
        target.prepare(text, parameters, statement)
        return result


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
        case s.CreateIndex():
            target.require_no_transaction("CREATE INDEX")
            target.create_index(statement)
            return Result("CREATE INDEX")
        case s.DropIndex():
            target.require_no_transaction("DROP INDEX")
            target.drop_index(statement)
            return Result("DROP INDEX")
        case s.Select():
            return select(target, statement, pending=False)
        case s.Modify():
            return modify(target, statement)
        case s.CreateTableAs(table, query, replacing, quietly):
            target.require_no_transaction("CREATE TABLE")
            if not may_create(target.catalog, table.name, "table", replacing, quietly):
                return Result("CREATE TABLE")
            rows = select(target, query, pending=False)
            return Result("CREATE TABLE", create_filled(target, table, rows._internal(), replacing=replacing))
        case s.AlterTable():
            target.require_no_transaction("ALTER TABLE")
            target.alter(statement)
            return Result("ALTER TABLE")
        case s.Show():
            return show(target.catalog, statement)
        case s.Describe():
            return describe(target.catalog, statement)
        case s.Explain():
            return explain(target, statement)
        case s.Copy():
            return copy(target, statement, lambda query: select(target, query, pending=True))
        case s.Control():
            raise AssertionError("handled where the lock is")
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
    done = target.modify_large(statement)
    if done is not None:
        return Result(statement.kind.upper(), done)
    returned: list[Row] = []
    with target.changing() as transaction:
        if statement.conflict is not None:
            found = target.answer(statement.query, pending=True)
            rows = [row[1 + width : 1 + 2 * width] for row, weight in found for _ in range(weight)]
            written, count = insert_or(transaction, table, statement.conflict, rows)
            return build_result(statement, table, count, written)
        transaction.on(key)
        entries = list(target.answer(statement.query, pending=True))
        count = change_rows(transaction, table, entries)
        if statement.returning is not None:
            for row, weight in entries:
                if row[0]:
                    old, new = row[1 : 1 + width], row[1 + width : 1 + 2 * width]
                    returned += [old if row[0] == s.DELETE else new] * weight
    return build_result(statement, table, count, returned)


def build_result(statement: s.Modify, table: Table, count: int, rows: list[Row]) -> Result:
    """Returns the result of a change, with what RETURNING asks for of the changed rows."""
    kind, wanted = statement.kind.upper(), statement.returning
    if wanted is None:
        return Result(kind, count)
    names = [c.name for c in table.columns]
    cells = [compile_term(term, names) for term in wanted.terms]
    fields = tuple(Member(n, t.type, nullable(t)) for n, t in zip(wanted.names, wanted.terms, strict=True))
    return Result(kind, count, fields, [tuple([cell(row) for cell in cells]) for row in rows])


def change_rows(transaction: Changes, table: Table, entries: Iterable[tuple[Row, int]]) -> int:
    """Makes the changes that the rows of a statement's query say; returns how many rows they concern."""
    key, width = table.name.lower(), len(table.columns)
    pending = transaction.on(key)
    deletions: list[Change] = []
    insertions: list[Change] = []
    affected: Counter[Row] = Counter()
    count = 0
    for row, weight in entries:
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
                raise several_matches(table, old)
    transaction.change(key, deletions + insertions)
    return count


def several_matches(table: Table, row: Row) -> EvaluationError:
    return EvaluationError(
        f"MERGE into {table.name}: several source rows match the row {give_row(table.fields, row)!r}",
        hint="make the rows of the source unique by the columns of the ON condition",
    )


def truncate(target: Target, table: str) -> Result:
    """TRUNCATE: deletes all rows of a table, in a transaction like any other."""
    key = require_table(target.catalog, table).name.lower()
    done = target.truncate_large(key)
    if done is not None:
        return Result("TRUNCATE", done)
    with target.changing() as transaction:
        transaction.on(key)
        rows = target.pending_rows(key)
        transaction.change(key, [(row, -weight) for row, weight in rows.items()])
        return Result("TRUNCATE", sum(weight for _, weight in rows.items()))
