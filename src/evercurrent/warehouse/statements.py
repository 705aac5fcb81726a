"""Statements of SQL on a warehouse, one by one."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evercurrent.data.types import Member
from evercurrent.data.zset import Row, ZSet
from evercurrent.errors import EvaluationError
from evercurrent.frontend.sql import statements as s
from evercurrent.rows.conversion import give_row
from evercurrent.rows.results import Result
from evercurrent.session.views import in_order
from evercurrent.warehouse.definitions import statements
from evercurrent.warehouse.queries import answer

if TYPE_CHECKING:
    from evercurrent.warehouse.database import Warehouse


def run(db: Warehouse, statement: s.Statement, text: str) -> Result:
    """Run one statement, of which the text is kept if it defines something."""
    match statement:
        case s.CreateTable() | s.CreateView() | s.CreateAssertion():
            db._require_no_transaction("CREATE")
            statements.create(db._core, statement, text)
            return Result(f"CREATE {type(statement).__name__.removeprefix('Create').upper()}")
        case s.DropRelation(kind, name, quietly, cascade):
            db._require_no_transaction("DROP")
            statements.drop(db._core, kind, name, quietly, cascade)
            return Result(f"DROP {kind.upper()}")
        case s.Truncate(table):
            return truncate(db, table)
        case s.Select(ordered, names):
            found = answer(db._core, ordered.query)
            rows = [row for row, weight in found for _ in range(weight)]
            rows = in_order(rows, ordered.query.fields, ordered.order)
            fields = tuple(
                Member(n, f.type, f.nullable) for n, f in zip(names, ordered.query.fields, strict=False)
            )
            return Result("SELECT", len(rows), fields, [row[: len(names)] for row in rows])
        case s.Modify():
            return modify(db, statement)


def modify(db: Warehouse, statement: s.Modify) -> Result:
    """INSERT, UPDATE, DELETE and MERGE: the query says of each row what becomes of it."""
    key = statement.table.lower()
    table = db._core.table(statement.table)
    width = len(table.columns)
    with db.transaction() as transaction:
        found = answer(db._core, statement.query, transaction.deltas())
        deletions: list[tuple[Row, int]] = []
        insertions: list[tuple[Row, int]] = []
        affected: Counter[Row] = Counter()
        count = 0
        for row, weight in found:
            action, old, new = row[0], row[1 : 1 + width], row[1 + width : 1 + 2 * width]
            if action in (s.DELETE, s.UPDATE):
                deletions.append((old, -weight))
                affected[old] += weight
            if action in (s.INSERT, s.UPDATE):
                insertions.append((new, weight))
            if action:
                count += weight
        transaction.partial.load_rows(key, affected)
        for old, times in affected.items():
            if times > transaction.on(key).count(old):
                raise EvaluationError(
                    f"MERGE into {table.name}: several source rows match the row {give_row(table.fields, old)!r}",
                    hint="make the rows of the source unique by the columns of the ON condition",
                )
        transaction.change(key, deletions + insertions)
    return Result(statement.kind.upper(), count)


def truncate(db: Warehouse, name: str) -> Result:
    """Take all rows out of a table."""
    with db.transaction() as transaction:
        key = db._core.table(name).name.lower()
        rows = ZSet(db._core.engine.rows(db._core.table_segments(key), db._core.table_types(key)))
        if key in transaction.pending:
            rows = rows + transaction.pending[key].delta
        transaction.change(key, [(row, -weight) for row, weight in rows.items()])
        return Result("TRUNCATE", sum(weight for _, weight in rows.items()))
