"""Says which view failed, and for which row, when the data make an expression fail.

The compiled functions of all views run together and do not know for whom they work; that costs them nothing. After a failure the
views that read what was changed are evaluated one by one, first over the inserted rows alone:

    view ratio: division by zero
      for the row {'id': 101, 'x': 5, 'y': 0} of t
      defined as SELECT id, x / y AS q FROM t

Law. What is raised is the same error, with the same message at its end. Where nobody can be found to blame in time (many rows,
tables that are not stored) it says which tables were changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

from evercurrent.calculus.nodes import Query
from evercurrent.catalog.dependencies import base_tables, view_order
from evercurrent.catalog.nodes import Assertion, View
from evercurrent.data.zset import Row, ZSet
from evercurrent.design.evaluation import run_query
from evercurrent.errors import EvaluationError, EvercurrentError
from evercurrent.rows.conversion import give_row

if TYPE_CHECKING:
    from evercurrent.session.session import Session

Contents = Callable[[str], ZSet]

MANY = 100_000
"""Views over more rows than this are not evaluated again."""
SOME = 256
"""So many inserted rows are tried one by one."""
LONG = 200


def blame(session: Session, error: EvaluationError, deltas: Mapping[str, ZSet]) -> EvaluationError:
    """Returns the error with the view, its definition and the row that it failed for. `deltas` are by exact names of tables.

    The stores hold the rows of the failing transaction.
    """
    touched = {name.lower() for name in deltas}
    catalog = session.catalog
    nodes: list[View | Assertion] = [v for v in view_order(catalog) if not v.inline]
    nodes += catalog.assertions.values()
    suspects = []
    for node in nodes:
        read = base_tables(catalog, frozenset(node.uses))
        if touched & read and sum(len(session.stores[t]) for t in read) <= MANY:
            suspects.append(node)
    for message in (error.message, None):  # the evaluator may say it in other words
        for node in suspects:
            found = _fails(session, node, deltas, message)
            if found is not None:
                return _name_view(session, node, error, found)
    changed = ", ".join(sorted(deltas))
    return _with(error, f"{error.message} (while {changed} changed)")


Found = tuple[str, Row] | tuple[()]
"""The table and the row for which a view fails; empty, where it takes several rows."""


def _fails(
    session: Session, node: View | Assertion, deltas: Mapping[str, ZSet], message: str | None
) -> Found | None:
    """Whether the view fails with this message (or any), over an inserted row or over all rows. None: it does not."""

    def fails(tables: Contents) -> bool:
        try:
            run_query(cast(Query, node.query), session.catalog, tables)
        except EvaluationError as other:
            return message is None or other.message == message
        except EvercurrentError:  # rows that are not stored, say
            return False
        return False

    def instead(table: str, rows: list[Row]) -> Contents:
        only = ZSet((row, 1) for row in rows)
        return lambda name: only if name == table else session.table_rows(name)

    for table, delta in deltas.items():
        inserted = [row for row, weight in delta.items() if weight > 0]
        if inserted and fails(instead(table, inserted)):
            for row in inserted[:SOME]:
                if fails(instead(table, [row])):
                    return table, row
            return ()
    return () if fails(session.table_rows) else None


def _name_view(
    session: Session, node: View | Assertion, error: EvaluationError, found: Found
) -> EvaluationError:
    kind = "view" if isinstance(node, View) else "assertion"
    lines = [f"{kind} {node.name.partition(chr(0))[0]}: {error.message}"]
    if found:
        table, row = found
        fields = session.table(table).fields
        shown = {f.name: value for f, value in zip(fields, give_row(fields, row), strict=True)}
        lines.append(f"  for the row {_short(repr(shown))} of {table}")
    if node.text:
        lines.append(f"  defined as {_short(' '.join(node.text.split()))}")
    return _with(error, "\n".join(lines))


def _with(error: EvaluationError, message: str) -> EvaluationError:
    return EvaluationError(message, place=error.place, hint=error.hint)


def _short(text: str) -> str:
    return text if len(text) <= LONG else f"{text[:LONG]} ..."
