"""What the executor of statements asks of a database, answered by one on Spark.

execute(WarehouseTarget(core, find_object), "CREATE TABLE t (n BIGINT)")      one version more
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal, cast

from evercurrent.algebra.show import show as show_plan
from evercurrent.calculus.nodes import Query, Relation
from evercurrent.catalog.catalog import Catalog
from evercurrent.data.collections import UNDEFINED
from evercurrent.data.zset import Row, ZSet
from evercurrent.definitions.operations import callable_schema
from evercurrent.design.compile import stages
from evercurrent.errors import EvaluationError, EvercurrentError, TransactionError, UnsupportedError
from evercurrent.frontend.oql import syntax
from evercurrent.frontend.sql.statements import (
    AlterTable,
    CreateIndex,
    CreateView,
    DropIndex,
    DropRelation,
    Modify,
    Statement,
)
from evercurrent.locking.lock import Hold
from evercurrent.rows.conversion import RowReader
from evercurrent.rows.results import Result
from evercurrent.session.blame import Scene, blame_query
from evercurrent.statements.options import Parameters, Policy
from evercurrent.statements.target import Create, Definition
from evercurrent.statements.transactions import closed_database_error, end_block, not_begun
from evercurrent.warehouse.changes.large_statements import modify_large, truncate_large
from evercurrent.warehouse.changes.transactions import Block
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.definitions import statements
from evercurrent.warehouse.definitions.altering import alter_table
from evercurrent.warehouse.definitions.drafts import Script, change
from evercurrent.warehouse.definitions.oql import require_stored_views
from evercurrent.warehouse.definitions.spark_views import foreign_view
from evercurrent.warehouse.explain import explain_view
from evercurrent.warehouse.maintenance.publish import PUBLISHING, definition_of
from evercurrent.warehouse.pending_queries import answer_pending, table_rows, view_rows
from evercurrent.warehouse.queries import answer
from evercurrent.warehouse.run_table import RUNS, require_reading, with_runs


class WarehouseTarget:
    """A warehouse, as the executor sees it."""

    __slots__ = ("core", "find_object")

    def __init__(self, core: Core, find_object: Callable[[int], Any]) -> None:
        self.core = core
        self.find_object = find_object

    @property
    def catalog(self) -> Catalog:
        return self.core.catalog

    @property
    def lock(self) -> Hold:
        return self.core.lock

    @contextmanager
    def script(self) -> Iterator[Callable[[object], None]]:
        """Shows the progress of the run. Definitions that follow each other are one version."""
        with self.core.progress.run(), Script(self.core) as script:
            yield lambda statement: script.next(self.is_drafted(statement))

    def is_drafted(self, statement: Any) -> bool:
        """Returns whether a statement is a definition that can be one version with others."""
        if isinstance(statement, syntax.Define | syntax.Undefine | syntax.Import):
            return True
        return statements.can_be_drafted(self.core, statement)

    def close(self) -> None:
        with self.core.lock:
            block, present = self.core.begun, self.core.transaction
            if present is not None and (block is None or block.begun is not present):
                raise TransactionError("a database cannot be closed inside a transaction")
            if block is not None:
                self.end("ROLLBACK").release()
        self.core._lock.close(closed_database_error)
        self.core.engine.close()

    def require_no_transaction(self, what: str) -> None:
        self.core.require_no_transaction(what)

    # --- rows ----------------------------------------------------------------------------------------------

    def answer(self, query: Query, pending: bool) -> Iterable[tuple[Row, int]]:
        transaction = self.core.transaction if pending else None
        with self.core.progress.run():
            try:
                if transaction is None:
                    return answer(self.core, query)
                return answer_pending(self.core, query, transaction.deltas(), transaction.partial)
            except EvaluationError as error:
                raise blame_query(self._scene(pending), error, query) from error

    def _scene(self, pending: bool) -> Scene:
        present = self.core.present
        rows = self.pending_rows if pending else self.table_rows
        return Scene(present.catalog, lambda table: present.table_rows(table).rows, rows)

    def view_rows(self, name: str, pending: bool) -> list[Row]:
        transaction = self.core.transaction if pending else None
        deltas = {} if transaction is None else transaction.deltas()
        if transaction is None or not deltas:
            return view_rows(self.core, name)
        view = self.core.view(name)
        query = Relation(view.name, view.fields) if view.query is None else cast(Query, view.query)
        found = answer_pending(self.core, query, deltas, transaction.partial)
        return [row for row, weight in found for _ in range(weight)]

    def table_rows(self, table: str) -> ZSet:
        """Returns the rows of a table at the present version."""
        return table_rows(self.core, table)

    def pending_rows(self, table: str) -> ZSet:
        rows = table_rows(self.core, table)
        transaction = self.core.transaction
        delta = None if transaction is None else transaction.deltas().get(table.lower())
        return rows if delta is None else rows + delta

    def modify_large(self, statement: Modify) -> int | None:
        return modify_large(self.core, statement)

    def truncate_large(self, table: str) -> int | None:
        return truncate_large(self.core, table)

    def changing(self) -> Block:
        return Block(self.core, alone=True)

    def begin(self) -> None:
        Block(self.core).begin()

    def end(self, kind: Literal["COMMIT", "ROLLBACK"]) -> Hold:
        block, present = self.core.begun, self.core.transaction
        if block is None or present is None or block.begun is not present or present.inner:
            raise not_begun(kind, present is not None)
        return end_block(self.core.lock, block, kind)

    def reader_of(self, table: str) -> RowReader:
        return self.core.readers[table.lower()]

    def explain_view(self, name: str, stage: str | None) -> str:
        return str(explain_view(self.core, self.core.view(name), stage, None))

    def object_of(self, oid: int) -> Any:
        found = self.find_object(oid)
        return UNDEFINED if found is None else found

    # --- definitions ---------------------------------------------------------------------------------------

    def create(self, statement: Create, text: str) -> None:
        require_reading(statement, self.catalog)
        statements.create(self.core, statement, text)

    def drop(self, statement: DropRelation) -> None:
        kind, name, quietly, cascade = (
            statement.kind,
            statement.name,
            statement.if_exists,
            statement.cascade,
        )
        statements.drop(self.core, kind, name, quietly, cascade)

    def reading_catalog(self, text: str) -> Catalog:
        return with_runs(self.catalog, (RUNS.name,) if RUNS.name in text.lower() else ())

    def foreign_view(self, text: str, policy: Policy, problem: EvercurrentError) -> CreateView | None:
        return foreign_view(self.core, text, policy, problem)

    def run_prepared(self, text: str, parameters: Parameters, pending: bool | None) -> Result | None:
        return None

    def prepare(self, text: str, parameters: Parameters, statement: Statement) -> None:
        """Does nothing: what a statement costs on Spark is not its parsing."""

    def create_index(self, statement: CreateIndex) -> None:
        raise UnsupportedError(
            "CREATE INDEX is for a database inside this process: a table on Spark is sorted by its primary key",
            hint="declare the columns as PRIMARY KEY, or keep a view grouped by them",
        )

    def drop_index(self, statement: DropIndex) -> None:
        if not statement.if_exists:
            raise UnsupportedError("a database on Spark has no indexes that can be dropped")

    def explain_access(self, query: Query) -> list[str]:
        return [show_plan(stages(query, self.catalog).plan)]

    def alter(self, statement: AlterTable) -> None:
        alter_table(self.core, statement)

    def query_catalog(self) -> Catalog:
        return replace(self.catalog, schema=callable_schema(self.catalog.schema))

    def find_publishing(self, name: str, publish: bool | None) -> Definition:
        if publish is not None:
            return {"publish": publish}
        return {k: v for k, v in definition_of(self.core, name).items() if k in PUBLISHING}

    def install(
        self, catalog: Catalog, kind: str, *made: Definition, dropped: set[tuple[str, str]] | None = None
    ) -> None:
        change(self.core, require_stored_views(catalog, self.catalog), kind, *made, dropped=dropped)
