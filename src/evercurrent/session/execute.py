"""Statements, executed.

A change written in SQL is a query whose rows say what to do (`frontend.sql.statements.Modify`): it is answered once, from the
tables as they are (inside a transaction: as they are pending), and its rows become changes of the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, assert_never

from evercurrent.calculus.nodes import Query
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import Assertion, Mode, View
from evercurrent.data.types import Member
from evercurrent.data.zset import Row, ZSet
from evercurrent.design.evaluation import reference, run_query
from evercurrent.errors import ConstraintError, EvaluationError, QueryError
from evercurrent.rows.arguments import require_choice
from evercurrent.rows.constraints import examine
from evercurrent.rows.conversion import give_row
from evercurrent.rows.pending import Change
from evercurrent.rows.results import Result
from evercurrent.session.definition import create_assertion, create_table, create_view
from evercurrent.session.dropping import drop
from evercurrent.session.views import in_order

if TYPE_CHECKING:
    from evercurrent.frontend.sql.statements import Modify, Select, Statement
    from evercurrent.session.session import Session

Parameters = Sequence[Any] | Mapping[str, Any] | None
Policy = Literal["incremental", "auto", "full"]


def execute(
    session: Session,
    text: str,
    parameters: Parameters,
    policy: Policy | None,
    mode: Mode | None = None,
) -> Result:
    """Run the statements of a text, one after another; the result of the last."""
    from evercurrent.frontend.sql.parse import parse_script, parse_statement

    if policy is not None:
        require_choice(policy, ("incremental", "auto", "full"), "policy")
    texts = parse_script(text)
    if not texts:
        raise QueryError("there is no statement in the text")
    if len(texts) > 1 and parameters:
        raise QueryError("parameters are for a single statement", hint="execute the statements one by one")
    result = Result("")
    for one in texts:
        with session.lock:
            statement = parse_statement(one, session.catalog, policy or "incremental", parameters)
            result = run(session, in_mode(statement, mode))
    return result


def in_mode(statement: Statement, mode: Mode | None) -> Statement:
    """The statement; a view that it creates and that names no mode itself has this one."""
    from evercurrent.frontend.sql.statements import CreateView

    if mode is not None:
        require_choice(mode, ("strict", "lazy", "hybrid"), "mode")
    if mode is None or not isinstance(statement, CreateView) or statement.view.mode != "strict":
        return statement
    return replace(statement, view=replace(statement.view, mode=mode))


def query(session: Session, text: str, parameters: Parameters, pending: bool) -> Result:
    """Answer one query."""
    from evercurrent.frontend.sql.parse import parse_statement
    from evercurrent.frontend.sql.statements import Select

    with session.lock:
        statement = parse_statement(text, session.catalog, "incremental", parameters)
        if not isinstance(statement, Select):
            raise QueryError("this is not a query", hint="db.execute runs statements of every kind")
        return select(session, statement, pending)


def run(session: Session, statement: Statement) -> Result:
    """Run one statement."""
    from evercurrent.frontend.sql import statements as s

    match statement:
        case s.CreateTable(table, replacing, quietly):
            create_table(session, table, replacing=replacing, quietly=quietly, redefine=redefine)
            return Result("CREATE TABLE")
        case s.CreateView(view, replacing, quietly):
            create_view(session, view, replacing=replacing, quietly=quietly, redefine=redefine)
            return Result("CREATE VIEW")
        case s.CreateAssertion(assertion, replacing, quietly):
            create_assertion(session, assertion, replacing=replacing, quietly=quietly)
            return Result("CREATE ASSERTION")
        case s.DropRelation(kind, name, quietly, cascade):
            drop(session, kind, name, quietly=quietly, cascade=cascade)
            return Result(f"DROP {kind.upper()}")
        case s.Truncate(table):
            return truncate(session, table)
        case s.Select():
            return select(session, statement, pending=False)
        case s.Modify():
            return modify(session, statement)
        case _:
            assert_never(statement)


def redefine(node: View | Assertion, catalog: Catalog) -> View | Assertion:
    """The same definition, resolved against another catalog."""
    if isinstance(node, View) and node.language == "python":
        from evercurrent.frontend.python.definitions import resolved

        return resolved(node, catalog)
    if isinstance(node, View) and node.language == "oql":
        from evercurrent.session.oql import redefined

        return redefined(node, catalog)
    from evercurrent.frontend.sql.parse import parse_statement
    from evercurrent.frontend.sql.statements import CreateAssertion, CreateView

    policy = node.policy if isinstance(node, View) else "incremental"
    statement = parse_statement(node.text, catalog, policy)
    assert isinstance(statement, CreateView | CreateAssertion)
    if isinstance(statement, CreateAssertion):
        return statement.assertion
    return replace(statement.view, mode=node.mode) if isinstance(node, View) else statement.view


# --- queries -----------------------------------------------------------------------------------------------


def select(session: Session, statement: Select, pending: bool) -> Result:
    """The rows of a query in their order; fields that only order them are dropped."""
    found = answer(session, statement.ordered.query, pending)
    fields = statement.ordered.query.fields
    rows = in_order(list(found.inserted()), fields, statement.ordered.order)
    width = len(statement.names)
    if width < len(fields):
        rows = [row[:width] for row in rows]
    shown = tuple(Member(n, f.type, f.nullable) for n, f in zip(statement.names, fields, strict=False))
    return Result("SELECT", len(rows), shown, rows)


def answer(session: Session, asked: Query, pending: bool) -> ZSet:
    """The rows of a query over the committed state, or over that of the open transaction."""
    plans = {name: s.plan for name, s in session.maintenance.design.stages.items()}
    deltas = session.transaction.deltas() if session.transaction is not None else {}
    changed = session.transaction is not None and session.transaction.objects is not None
    if not pending or not (deltas or changed):
        return run_query(asked, session.catalog, session.table_rows, session.maintenance.rows)
    try:
        examine(session.stores, session.rules, deltas, session.children)
    except ConstraintError:
        # Plans may rely on constraints that do not hold yet; the reference evaluator relies on nothing.
        return reference(asked, session.catalog, session.pending_rows)
    return run_query(asked, session.catalog, session.pending_rows, None, plans)


# --- changes -----------------------------------------------------------------------------------------------


def modify(session: Session, statement: Modify) -> Result:
    """INSERT, UPDATE, DELETE and MERGE."""
    from evercurrent.frontend.sql.statements import DELETE, INSERT, UPDATE

    width = len(session.table(statement.table).columns)
    with session.changing() as transaction:
        pending = transaction.on(statement.table.lower())
        found = answer(session, statement.query, pending=True)
        deletions: list[Change] = []
        insertions: list[Change] = []
        affected: Counter[Row] = Counter()
        count = 0
        for row, weight in found.items():
            action, old, new = row[0], row[1 : 1 + width], row[1 + width : 1 + 2 * width]
            if action in (DELETE, UPDATE):
                deletions.append((old, -weight))
                affected[old] += weight
            if action in (INSERT, UPDATE):
                insertions.append((new, weight))
            if action:
                count += weight
        if pending.store.table.stored:
            for old, times in affected.items():
                if times > pending.count(old):
                    raise _several(session, statement.table, old)
        pending.change(deletions + insertions)
    return Result(statement.kind.upper(), count)


def _several(session: Session, table: str, row: Row) -> EvaluationError:
    return EvaluationError(
        f"MERGE into {table}: several source rows match the row {give_row(session.table(table).fields, row)!r}",
        hint="make the rows of the source unique by the columns of the ON condition",
    )


def truncate(session: Session, table: str) -> Result:
    """TRUNCATE: all rows of a table go, in a transaction like any other."""
    with session.changing() as transaction:
        pending = transaction.on(table.lower())
        session.table_rows(table)  # says so if they are not known
        rows = session.pending_rows(table)
        pending.change([(row, -weight) for row, weight in rows.items()])
        return Result("TRUNCATE", sum(weight for _, weight in rows.items()))
