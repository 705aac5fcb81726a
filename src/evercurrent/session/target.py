"""What the executor of statements asks of a database, answered by one inside this process.

execute(SessionTarget(session), "CREATE TABLE t (n BIGINT)")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from evercurrent.calculus.nodes import Query
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import parts_of
from evercurrent.data.collections import UNDEFINED
from evercurrent.data.zset import Row, ZSet
from evercurrent.design.evaluation import reference, run_query
from evercurrent.errors import ConstraintError, UnsupportedError
from evercurrent.frontend.sql.statements import CreateAssertion, CreateTable, CreateView, DropRelation
from evercurrent.locking.lock import Hold
from evercurrent.rows.constraints import validate
from evercurrent.session.definition import check_unstored, create_assertion, create_table, create_view, drop
from evercurrent.session.installation import defining, install
from evercurrent.session.transactions import Block
from evercurrent.statements.execute import in_transaction
from evercurrent.statements.target import Create, Definition

if TYPE_CHECKING:
    from evercurrent.session.session import Session


class SessionTarget:
    """A session, as the executor sees it."""

    __slots__ = ("session",)

    def __init__(self, session: Session) -> None:
        self.session = session

    @property
    def catalog(self) -> Catalog:
        return self.session.catalog

    @property
    def lock(self) -> Hold:
        return self.session.lock

    def script(self) -> AbstractContextManager[Callable[[object], None]]:
        return nullcontext(lambda statement: None)

    def require_no_transaction(self, what: str) -> None:
        if self.session.open_transaction() is not None:
            raise in_transaction(what)

    # --- rows ----------------------------------------------------------------------------------------------

    def answer(self, query: Query, pending: bool) -> Iterable[tuple[Row, int]]:
        return answer(self.session, query, pending).items()

    def view_rows(self, name: str, pending: bool) -> list[Row]:
        return list(self.session.view_rows(name, pending).inserted())

    def pending_rows(self, table: str) -> ZSet:
        self.session.table_rows(table)  # raises if they are not known
        return self.session.pending_rows(table)

    def changing(self) -> Block:
        return self.session.changing()

    def object_of(self, oid: int) -> Any:
        space = self.session.space
        found = None if space is None else space.at(oid)
        return UNDEFINED if found is None else found

    # --- definitions ---------------------------------------------------------------------------------------

    def create(self, statement: Create, text: str) -> None:
        options = {"replacing": statement.replace, "quietly": statement.if_not_exists}
        match statement:
            case CreateTable(table):
                create_table(self.session, table, **options)
            case CreateView(view):
                create_view(self.session, view, **options)
            case CreateAssertion(assertion):
                create_assertion(self.session, assertion, **options)

    def drop(self, statement: DropRelation) -> None:
        quietly, cascade = statement.if_exists, statement.cascade
        drop(self.session, statement.kind, statement.name, quietly=quietly, cascade=cascade)

    def query_catalog(self) -> Catalog:
        return self.session.catalog

    def publishing(self, name: str, publish: bool | None) -> Definition:
        if publish is not None:
            raise UnsupportedError(
                "a database inside this process publishes no views",
                hint="leave publish out, or open a database on Spark: ec.connect(spark=spark, path=...)",
            )
        return {"publish": False}

    def install(
        self, catalog: Catalog, kind: str, *made: Definition, dropped: set[tuple[str, str]] | None = None
    ) -> None:
        with defining(self.session):
            for definition in made:
                if definition["kind"] == "view":
                    name = definition["name"]
                    for view in (catalog.view(name), *parts_of(catalog, name)):
                        if view is not None:
                            check_unstored(self.session, view)
            install(self.session, catalog)


def answer(session: Session, query: Query, pending: bool) -> ZSet:
    """Returns the rows of a query over the committed state, or over that of the open transaction."""
    plans = {name: s.plan for name, s in session.maintenance.design.stages.items()}
    transaction = session.transaction
    deltas = transaction.deltas() if transaction is not None else {}
    changed = transaction is not None and transaction.objects is not None
    if not pending or not (deltas or changed):
        return run_query(query, session.catalog, session.table_rows, session.maintenance.rows)
    try:
        validate(session.stores, session.rules, deltas, session.children)
    except ConstraintError:
        # Plans may rely on constraints that do not hold yet; the reference evaluator relies on nothing.
        return reference(query, session.catalog, session.pending_rows)
    return run_query(query, session.catalog, session.pending_rows, None, plans)
