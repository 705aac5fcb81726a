"""What the executor of statements asks of a database, answered by one inside this process.

>>> from evercurrent.session.session import Session
>>> from evercurrent.statements.execute import execute
>>> target = SessionTarget(Session())
>>> execute(target, "CREATE TABLE t (n BIGINT)", None, None, None)
<Result of CREATE TABLE>
>>> list(target.catalog.tables)
['t']
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from evercurrent.calculus.evaluate import evaluate
from evercurrent.calculus.inline import inline_views
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.normalize import normalize
from evercurrent.calculus.walk import relations_of
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import parts_of
from evercurrent.data.collections import UNDEFINED
from evercurrent.data.zset import Row, ZSet
from evercurrent.design.access_paths import PART, AccessPlan, plan_access
from evercurrent.design.evaluation import reference, run_query
from evercurrent.errors import (
    ConstraintError,
    EvaluationError,
    EvercurrentError,
    TransactionError,
    UnsupportedError,
)
from evercurrent.frontend.sql.statements import (
    AlterTable,
    CreateAssertion,
    CreateIndex,
    CreateTable,
    CreateView,
    DropIndex,
    DropRelation,
    Modify,
    Statement,
)
from evercurrent.locking.lock import Hold
from evercurrent.rows.constraints import validate
from evercurrent.rows.conversion import RowReader
from evercurrent.rows.results import Result
from evercurrent.session.altering import alter_table
from evercurrent.session.blame import blame_query
from evercurrent.session.definition import check_unstored, create_assertion, create_table, create_view, drop
from evercurrent.session.explain import explain_view
from evercurrent.session.installation import defining, install
from evercurrent.session.plans.indexes import create_index, drop_index
from evercurrent.session.plans.lookups import Lookups, shapes_of, size_of
from evercurrent.session.plans.prepared import prepare, run_prepared
from evercurrent.session.transactions import Block
from evercurrent.statements.execute import in_transaction
from evercurrent.statements.options import Parameters, Policy
from evercurrent.statements.target import Create, Definition
from evercurrent.statements.transactions import closed_database_error, end_block, not_begun

if TYPE_CHECKING:
    from evercurrent.session.session import Session


FOUND = 2000
"""Up to this number of rows that were looked up, reading them is quicker than compiling a program."""


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

    def close(self) -> None:
        with self.session.lock:
            block, present = self.session.begun, self.session.transaction
            if present is not None and (block is None or block._transaction is not present):
                raise TransactionError("a database cannot be closed inside a transaction")
            if block is not None:
                self.end("ROLLBACK").release()
        self.session._lock.close(closed_database_error)

    def require_no_transaction(self, what: str) -> None:
        if self.session.open_transaction() is not None:
            raise in_transaction(what)

    # --- rows ----------------------------------------------------------------------------------------------

    def answer(self, query: Query, pending: bool) -> Iterable[tuple[Row, int]]:
        return answer(self.session, query, pending).items()

    def view_rows(self, name: str, pending: bool) -> list[Row]:
        return list(self.session.view_rows(name, pending).insertions())

    def pending_rows(self, table: str) -> ZSet:
        self.session.table_rows(table)  # raises if they are not known
        return self.session.pending_rows(table)

    def modify_large(self, statement: Modify) -> int | None:
        return None  # rows are at hand, however many

    def truncate_large(self, table: str) -> int | None:
        return None

    def changing(self) -> Block:
        return self.session.changing()

    def begin(self) -> None:
        Block(self.session).begin()

    def end(self, kind: Literal["COMMIT", "ROLLBACK"]) -> Hold:
        block, present = self.session.begun, self.session.open_transaction()
        if block is None or present is None or block._transaction is not present or present.inner:
            raise not_begun(kind, present is not None)
        return end_block(self.session.lock, block, kind)

    def reader_of(self, table: str) -> RowReader:
        return self.session.readers[table.lower()]

    def explain_view(self, name: str, stage: str | None) -> str:
        return str(explain_view(self.session, self.session.view(name), stage))

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

    def reading_catalog(self, text: str) -> Catalog:
        return self.catalog

    def foreign_view(self, text: str, policy: Policy, problem: EvercurrentError) -> None:
        return None

    def run_prepared(self, text: str, parameters: Parameters, pending: bool | None) -> Result | None:
        return run_prepared(self.session, text, parameters, pending)

    def prepare(self, text: str, parameters: Parameters, statement: Statement) -> None:
        prepare(self.session, text, parameters, statement)

    def create_index(self, statement: CreateIndex) -> None:
        create_index(self.session, statement.index, quietly=statement.if_not_exists)

    def drop_index(self, statement: DropIndex) -> None:
        drop_index(self.session, statement.name, quietly=statement.if_exists)

    def explain_access(self, query: Query) -> list[str]:
        plan = plan_statement(self.session, query)
        return [str(lookup) for lookup in plan.lookups] + [f"{name}: all rows" for name in plan.scanned]

    def alter(self, statement: AlterTable) -> None:
        alter_table(self.session, statement)

    def query_catalog(self) -> Catalog:
        return self.session.catalog

    def find_publishing(self, name: str, publish: bool | None) -> Definition:
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
    try:
        return _find_answer(session, query, pending)
    except EvaluationError as error:
        rows = session.pending_rows if pending else session.table_rows
        scene = replace(session.scene(), rows=rows)
        raise blame_query(scene, error, query) from error


def _find_answer(session: Session, query: Query, pending: bool) -> ZSet:
    access = plan_statement(session, query)
    if not access.lookups:
        return _answer(session, query, pending, {})
    parts = Lookups(session, pending).parts(access)
    if parts.keys() >= set(access.scanned) and sum(map(len, parts.values())) <= FOUND:
        return evaluate(access.query, lambda name: parts[name].items())
    return _answer(session, access.query, pending, parts)


def plan_statement(session: Session, query: Query) -> AccessPlan:
    """Returns how the rows that a query needs are found."""
    names = relations_of(query)
    if not any(shapes_of(session, name) for name in names) and not _has_inline(session, names):
        return AccessPlan(query, (), tuple(sorted(names)))
    return plan_access(
        normalize(inline_views(query, session.catalog)),
        lambda name: shapes_of(session, name),
        lambda name: size_of(session, name),
    )


def _has_inline(session: Session, names: Iterable[str]) -> bool:
    return any(view.inline for name in names if (view := session.catalog.view(name)) is not None)


def _answer(session: Session, query: Query, pending: bool, parts: Mapping[str, ZSet]) -> ZSet:
    """Returns the rows of a query over whole tables and over these parts of tables."""
    plans = {name: s.plan for name, s in session.maintenance.design.stages.items()}
    catalog = with_parts(session.catalog, parts)
    transaction = session.transaction
    deltas = transaction.deltas() if transaction is not None else {}
    changed = transaction is not None and transaction.objects is not None

    def rows(name: str) -> ZSet:
        return parts[name] if name in parts else session.table_rows(name)

    def pending_rows(name: str) -> ZSet:
        return parts[name] if name in parts else session.pending_rows(name)

    if not pending or not (deltas or changed):
        return run_query(query, catalog, rows, session.maintenance.rows)
    try:
        validate(session.stores, session.rules, deltas, session.children)
    except ConstraintError:
        # Plans may rely on constraints that do not hold yet; the reference evaluator relies on nothing.
        return reference(query, catalog, pending_rows)
    return run_query(query, catalog, pending_rows, None, plans)


def with_parts(catalog: Catalog, parts: Iterable[str]) -> Catalog:
    """Returns the catalog with parts of tables as tables; their rows may refer to rows that are in no part."""
    tables = dict(catalog.tables)
    for part in (name for name in parts if PART in name):
        table = catalog.tables[part.split(PART)[0].lower()]
        tables[part.lower()] = replace(table, name=part, foreign_keys=())
    return replace(catalog, tables=tables) if parts else catalog
