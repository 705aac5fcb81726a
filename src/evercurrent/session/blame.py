"""Says which view failed, in which expression and for which row, when the data make an expression fail.

The compiled functions of all views run together and do not record which view they serve, which would cost time. After a failure the
views that read what was changed are evaluated one by one, first over the inserted rows alone:

    INSERT INTO t VALUES (101, 5, 0)      # raises EvaluationError
    view ratio: division by zero
      for the row {'id': 101, 'x': 5, 'y': 0} of t
    line 1, column 33
      CREATE VIEW ratio AS SELECT id, x / y AS q FROM t
                                      ^^^^^

The expression is the one without which the view does not fail, and whose operands do not fail. Where there is none, or it has no
place in a text, the whole definition is shown.

Law. What is raised is an EvaluationError whose first line ends in the message of the failure. Where nobody can be found to blame in
time (many rows, tables that are not stored) it says which tables were changed, or which views were being computed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from evercurrent.calculus.nodes import Query
from evercurrent.calculus.walk import nodes as nodes_of
from evercurrent.calculus.walk import relations_of, rewrite
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import base_tables, view_order
from evercurrent.catalog.lookup import require_table
from evercurrent.catalog.nodes import Assertion, View
from evercurrent.data.types import BOOLEAN
from evercurrent.data.zset import Row, ZSet
from evercurrent.design.evaluation import run_query
from evercurrent.errors import ConstraintError, EvaluationError, EvercurrentError, SizeError
from evercurrent.rows.conversion import give_row, give_rows
from evercurrent.rows.violations import SAMPLE
from evercurrent.source import Place
from evercurrent.term.failing import fails_itself
from evercurrent.term.nodes import Apply, Call, Case, Cast, Lambda, Literal, Term, Variable
from evercurrent.term.show import show
from evercurrent.term.walk import children

Contents = Callable[[str], ZSet]

MANY = 100_000
"""Views over more rows than this are not evaluated again."""
SECONDS = 2.0
"""After this time no further row or expression is tried."""
LONG = 200


@dataclass(frozen=True, slots=True)
class Scene:
    """What a database looks like to the failing transaction: its rows are in the tables.

    `count` says how many rows a table has, by its lower-case name; `rows` has them, by the exact name.
    """

    catalog: Catalog
    count: Callable[[str], int]
    rows: Contents


def blame(
    scene: Scene,
    error: EvaluationError,
    deltas: Mapping[str, ZSet],
    among: Iterable[str] | None = None,
) -> EvaluationError:
    """Returns the error with the view, the expression and the row that it failed for. `deltas` are by exact names of tables.

    `among`: the names of the views that were being computed, if that is known.
    """
    touched = {name.lower() for name in deltas}
    catalog = scene.catalog
    views = [v for v in view_order(catalog) if not v.inline]
    nodes: list[View | Assertion] = [v for v in views if among is None or v.name in among]
    if among is None:
        nodes += catalog.assertions.values()
    suspects = []
    for node in nodes:
        read = base_tables(catalog, frozenset(node.uses))
        if touched & read and sum(map(scene.count, read)) <= MANY:
            suspects.append(node)
    for message in (error.message, None):  # the evaluator may say it in other words
        for node in suspects:
            found = _find_failure(scene, node, deltas, message)
            if found is not None:
                return _name_view(scene, node, error, found)
    known = sorted({n.name.partition("\0")[0] for n in nodes}) if among is not None else []
    if known:
        kind = "view" if len(known) == 1 else "one of the views"
        return _replace_message(error, f"{kind} {_shorten(', '.join(known))}: {error.message}")
    changed = f" (while {', '.join(sorted(deltas))} changed)" if deltas else ""
    return _replace_message(error, error.message + changed)


@dataclass(frozen=True, slots=True)
class Failure:
    """How a view fails: over which contents of tables, and for which row of which table if one is enough."""

    tables: Contents
    row: tuple[str, Row] | None = None


def _fails(scene: Scene, query: Query, tables: Contents, message: str | None) -> bool:
    """Whether the query fails with this message, or with any."""
    try:
        run_query(query, scene.catalog, tables)
    except EvaluationError as other:
        return message is None or other.message == message
    except EvercurrentError:  # rows that are not stored, say
        return False
    return False


def rename_error(error: EvaluationError, other: EvaluationError) -> None:
    """Gives an error that is on its way the words of another one."""
    error.message, error.place, error.hint = other.message, other.place, other.hint
    error.args = (other.message,)


def blame_read(scene: Scene, error: EvaluationError) -> EvaluationError:
    """Returns the error of views that are computed when they are read, with the view, the expression and the row."""
    found = blame(scene, error, _all_rows(scene, scene.catalog.tables))
    return found if found.message.startswith(("view ", "assertion ")) else error


def blame_definition(
    scene: Scene, error: EvaluationError, made: Iterable[View | Assertion]
) -> EvaluationError:
    """Returns the error of views and assertions that could not be filled, with the one that fails, the expression and the row."""
    for node in made:
        read = base_tables(scene.catalog, frozenset(node.uses))
        if sum(map(scene.count, read)) <= MANY:
            found = _find_failure(scene, node, _all_rows(scene, read), error.message)
            if found is not None:
                return _name_view(scene, node, error, found)
    return error


def blame_query(scene: Scene, error: EvaluationError, query: Query) -> EvaluationError:
    """Returns the error of a query that is no view, with the expression and the row.

    division by zero
      for the row {'id': 2, 'k': 0} of t
    line 1, column 12
      SELECT id, 1 / k FROM t
                 ^^^^^
    """
    uses = relations_of(query)
    if any(
        scene.catalog.relation(name) is None for name in uses
    ):  # what is not in the catalog cannot be read again
        return error
    return blame_definition(scene, error, [View("", query.fields, query, uses=uses)])


def _all_rows(scene: Scene, tables: Iterable[str]) -> dict[str, ZSet]:
    """Returns the rows of these tables, of those that are not too large and are stored."""
    found = {}
    for key in tables:
        table = scene.catalog.tables[key.lower()]
        if scene.count(table.name.lower()) <= MANY:
            with suppress(EvercurrentError):  # its rows are not stored
                found[table.name] = scene.rows(table.name)
    return found


def _find_failure(
    scene: Scene, node: View | Assertion, deltas: Mapping[str, ZSet], message: str | None
) -> Failure | None:
    """Returns how the view fails with this message (or any), over one inserted row, those of a table, or all rows."""
    query = cast(Query, node.query)

    def instead(table: str, rows: list[Row]) -> Contents:
        only = ZSet((row, 1) for row in rows)
        return lambda name: only if name == table else scene.rows(name)

    for table, delta in deltas.items():
        inserted = [row for row, weight in delta.items() if weight > 0]
        if inserted and _fails(scene, query, instead(table, inserted), message):
            few = _halve(inserted, lambda rows, t=table: _fails(scene, query, instead(t, rows), message))  # type: ignore[misc]
            return Failure(instead(table, few), (table, few[0]) if len(few) == 1 else None)
    return Failure(scene.rows) if _fails(scene, query, scene.rows, message) else None


def _halve(rows: list[Row], fails: Callable[[list[Row]], bool]) -> list[Row]:
    """Returns rows that fail, one if one is enough: half of those that fail, as long as a half of them does."""
    until = time.monotonic() + SECONDS
    while len(rows) > 1 and time.monotonic() < until:
        middle = len(rows) // 2
        for half in (rows[:middle], rows[middle:]):
            if fails(half):
                rows = half
                break
        else:
            break
    return rows


def _find_expression(scene: Scene, query: Query, failure: Failure, anything: bool) -> Term | None:
    """Returns the outermost expression whose operands do not fail, and without which the query does not fail.

    `anything`: any expression can raise the error, not only those that are known to fail.
    """
    found = [
        n for n in nodes_of(query) if isinstance(n, Call | Cast | Apply) and (anything or fails_itself(n))
    ]
    until = time.monotonic() + SECONDS
    try:
        for term in dict.fromkeys(found):
            if time.monotonic() > until:
                return None
            cures = (_replace(query, term, other) for other in _without(term))
            if not any(_fails(scene, q, failure.tables, None) for q in cures):
                return term
    except Exception:  # a query that no front end makes: it says nothing
        return None
    return None


def _without(term: Term) -> Iterator[Term]:
    """NULL instead of a term, and the same after each of its operands was evaluated."""
    missing = Literal(None, term.type)
    yield missing
    for part in children(term):
        if not isinstance(part, Lambda | Literal | Variable):
            yield Case(((Call("is_null", (part,), BOOLEAN), missing),), missing, term.type)


def _replace(query: Query, term: Term, other: Term) -> Query:
    return rewrite(query, lambda q: q, lambda t: other if t == term else t)


def _place_in(term: Term | None, text: str | None) -> Place | None:
    """The place of an expression in the text of its view (None: in any text); that of what is cast for a cast."""
    while isinstance(term, Cast):
        term = term.of
    place = term.place if isinstance(term, Call) else None
    if place is None or text is None:
        return place
    return place if text.strip() and text.strip() in place.text else None


def _name_view(
    scene: Scene, node: View | Assertion, error: EvaluationError, failure: Failure
) -> EvaluationError:
    kind = "view" if isinstance(node, View) else "assertion"
    whose = f"{kind} {node.name.partition(chr(0))[0]}: " if node.name else ""
    lines = [whose + error.message]
    if failure.row is not None:
        table, row = failure.row
        fields = require_table(scene.catalog, table).fields
        shown = {f.name: value for f, value in zip(fields, give_row(fields, row), strict=True)}
        lines.append(f"  for the row {_shorten(repr(shown))} of {table}")
    anything = isinstance(error, SizeError)
    expression = _find_expression(scene, cast(Query, node.query), failure, anything)
    place = _place_in(expression, node.text if node.name else None)
    if expression is not None and place is None:
        lines.append(f"  in {_shorten(show(expression))}")
    if node.text and place is None:
        lines.append(f"  defined as {_shorten(' '.join(node.text.split()))}")
    return _replace_message(error, "\n".join(lines), place)


def _replace_message(error: EvaluationError, message: str, place: Place | None = None) -> EvaluationError:
    kind = SizeError if isinstance(error, SizeError) else EvaluationError
    return kind(message, place=place or error.place, hint=error.hint)


def _shorten(text: str) -> str:
    return text if len(text) <= LONG else f"{text[:LONG]} ..."


def assertion_error(assertion: Assertion, rows: list[Row]) -> ConstraintError:
    shown = give_rows(assertion.fields, rows[:SAMPLE])
    more = f" (and {len(rows) - 1} more)" if len(rows) > 1 else ""
    return ConstraintError(
        f"assertion {assertion.name} does not hold: {shown[0]!r}{more}",
        constraint=assertion.name,
        rows=shown,
        count=len(rows),
        hint="nothing was changed",
    )
