"""Query objects of Python on a warehouse: the same objects, answered and maintained on Spark.

    big = db.view("big", db.relation("orders").where(lambda o: o.total > 5))
    big.rows()                                                                [(1, 7, Decimal('9.50'))]

A definition is kept as the JSON of its query (`calculus.codec`), so that opening the warehouse needs none of the code that
built it; opaque functions are stored by name, and the program passes them to `connect`.
"""

from __future__ import annotations

from typing import Any, TypeVar

from evercurrent.algebra.show import show as show_plan
from evercurrent.calculus.codec import encode
from evercurrent.calculus.show import show as show_query
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import Table as Declared
from evercurrent.data.shapes import Shape
from evercurrent.design.compile import stages
from evercurrent.design.explain import Explanation
from evercurrent.errors import UnsupportedError
from evercurrent.frontend.python.core import AnyQuery
from evercurrent.frontend.python.definitions import view_of_query
from evercurrent.python_views.owner import QueryOwner
from evercurrent.rows.results import Result
from evercurrent.statements.live_views import LiveView
from evercurrent.statements.order import order_rows
from evercurrent.statements.table_text import table_text
from evercurrent.term.handed_over import functions_in
from evercurrent.warehouse.definitions import statements
from evercurrent.warehouse.handles import OpenWarehouse, StoredTable, StoredView
from evercurrent.warehouse.queries import answer

T = TypeVar("T")


class WarehouseOwner(QueryOwner):
    """Answers and keeps the queries of one warehouse."""

    def __init__(self, db: OpenWarehouse) -> None:
        self.db = db

    @property
    def catalog(self) -> Catalog:
        return self.db._core.catalog

    def create(self, table: Declared) -> None:
        self.db.execute(table_text(table))

    def table(self, name: str) -> StoredTable:
        return StoredTable(self.db, name)

    def view(self, name: str, query: AnyQuery, replacing: bool) -> StoredLiveView[Any]:
        core = self.db._core
        with core.lock:
            core.require_no_transaction("CREATE")
            made = view_of_query(name, query)
            encode(made.query)  # refuses what could not be opened again
            core.functions.add(*functions_in(made.query))
            statements.create_view(core, made, made.text, replacing, False)
        return StoredLiveView(self, name, query._block.shape)

    def handle(self, name: str) -> StoredView:
        return StoredView(self.db, name)

    def answer(self, query: AnyQuery) -> list[tuple[Any, ...]]:
        with self.db._core.lock:
            made = query._query()
            rows = [row for row, weight in answer(self.db._core, made) for _ in range(weight)]
            return Result(
                "SELECT", len(rows), made.fields, order_rows(rows, made.fields, query._read_order())
            ).rows()

    def keep(self, query: AnyQuery) -> Any:
        raise UnsupportedError("a view without a name on Spark", hint='give it one: db.view("name", query)')

    def watch(self, query: AnyQuery, callback: Any, when: Any) -> Any:
        raise UnsupportedError(
            "subscribing to a query without a name on Spark", hint='db.view("name", query).subscribe(...)'
        )

    def explain(self, query: AnyQuery, stage: str | None) -> Any:
        made = stages(query._query(), self.catalog)
        match stage:
            case "calculus":
                return Explanation(show_query(made.query))
            case "normal":
                return Explanation(show_query(made.normal))
            case "algebra":
                return Explanation(show_plan(made.algebra))
            case _:
                return Explanation(show_plan(made.plan))


class StoredLiveView(StoredView, LiveView[T]):  # type: ignore[misc]
    """A view of a query object on a warehouse."""

    def __init__(self, owner: WarehouseOwner, name: str, shape: Shape) -> None:
        StoredView.__init__(self, owner.db, name)
        self._become_query(owner, shape)
