"""What the executor of statements asks of a database, answered by one on Spark.

execute(WarehouseTarget(core, find_object), "CREATE TABLE t (n BIGINT)")      one version more
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from evercurrent.calculus.nodes import Query
from evercurrent.catalog.catalog import Catalog
from evercurrent.data.collections import UNDEFINED
from evercurrent.data.zset import Row, ZSet
from evercurrent.frontend.oql import syntax
from evercurrent.frontend.sql.statements import DropRelation
from evercurrent.locking.lock import Hold
from evercurrent.statements.target import Create, Definition
from evercurrent.warehouse.changes.transactions import Block
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.definitions import statements
from evercurrent.warehouse.definitions.classes import callable_schema
from evercurrent.warehouse.definitions.drafts import Script, change
from evercurrent.warehouse.definitions.oql import require_stored_views
from evercurrent.warehouse.maintenance.publish import definition_of
from evercurrent.warehouse.pending_queries import answer_pending, table_rows, view_rows
from evercurrent.warehouse.queries import answer


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

    def require_no_transaction(self, what: str) -> None:
        self.core.require_no_transaction(what)

    # --- rows ----------------------------------------------------------------------------------------------

    def answer(self, query: Query, pending: bool) -> Iterable[tuple[Row, int]]:
        transaction = self.core.transaction if pending else None
        if transaction is None:
            return answer(self.core, query)
        return answer_pending(self.core, query, transaction.deltas(), transaction.partial)

    def view_rows(self, name: str, pending: bool) -> list[Row]:
        transaction = self.core.transaction if pending else None
        deltas = {} if transaction is None else transaction.deltas()
        if transaction is None or not deltas:
            return view_rows(self.core, name)
        found = answer_pending(
            self.core, cast(Query, self.core.view(name).query), deltas, transaction.partial
        )
        return [row for row, weight in found for _ in range(weight)]

    def table_rows(self, table: str) -> ZSet:
        """Returns the rows of a table at the present version."""
        return table_rows(self.core, table)

    def pending_rows(self, table: str) -> ZSet:
        rows = table_rows(self.core, table)
        transaction = self.core.transaction
        delta = None if transaction is None else transaction.deltas().get(table.lower())
        return rows if delta is None else rows + delta

    def changing(self) -> Block:
        return Block(self.core, alone=True)

    def object_of(self, oid: int) -> Any:
        found = self.find_object(oid)
        return UNDEFINED if found is None else found

    # --- definitions ---------------------------------------------------------------------------------------

    def create(self, statement: Create, text: str) -> None:
        statements.create(self.core, statement, text)

    def drop(self, statement: DropRelation) -> None:
        kind, name, quietly, cascade = (
            statement.kind,
            statement.name,
            statement.if_exists,
            statement.cascade,
        )
        statements.drop(self.core, kind, name, quietly, cascade)

    def query_catalog(self) -> Catalog:
        return replace(self.catalog, schema=callable_schema(self.catalog.schema))

    def publishing(self, name: str, publish: bool | None) -> Definition:
        if publish is not None:
            return {"publish": publish}
        return {k: v for k, v in definition_of(self.core, name).items() if k == "publish"}

    def install(
        self, catalog: Catalog, kind: str, *made: Definition, dropped: set[tuple[str, str]] | None = None
    ) -> None:
        change(self.core, require_stored_views(catalog, self.catalog), kind, *made, dropped=dropped)
