"""Recomputes views and compares: is every view what its query returns on the tables as they are?

    print(db.verify())      spend: 3 rows, as recomputed

The reference evaluator, which shares neither the algebra nor the engine with what is verified, computes the rows again; they
are compared both ways, with multiplicities.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from evercurrent.catalog.dependencies import base_tables
from evercurrent.catalog.nodes import View
from evercurrent.design.evaluation import reference
from evercurrent.rows.conversion import give_rows
from evercurrent.statements.report import Report, Verified

if TYPE_CHECKING:
    from evercurrent.calculus.nodes import Query
    from evercurrent.session.session import Session


def verify(session: Session, names: Iterable[str] | None) -> Report:
    """Compares the named views, or all."""
    with session.lock:
        chosen = (
            list(session.catalog.views.values()) if names is None else [session.view(name) for name in names]
        )
        return Report(tuple(_verify(session, view) for view in chosen))


def _verify(session: Session, view: View) -> Verified:
    for table in sorted(base_tables(session.catalog, frozenset({view.name}))):
        declared = session.table(table)
        if not declared.stored:
            return Verified(view.name, 0, skipped=f"the rows of {declared.name} are not stored")
    expected = reference(cast("Query", view.query), session.catalog, session.table_rows)
    actual = session.view_rows(view.name)
    difference = expected - actual
    return Verified(
        view.name,
        sum(weight for _, weight in actual.items()),
        give_rows(view.fields, difference.insertions()),
        give_rows(view.fields, difference.deletions()),
    )
