"""Views of query objects: each always holds what its query would return, and is a query object itself.

>>> import evercurrent as ec
>>> db = ec.connect()
>>> _ = db.execute("CREATE TABLE orders (id BIGINT, total BIGINT); INSERT INTO orders VALUES (1, 50), (2, 150), (3, 500)")
>>> big = db.view("big", db.relation("orders").where(lambda o: o.total > 100))
>>> len(big), big.where(lambda o: o.total > 200).rows()
(2, [(3, 500)])
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from evercurrent.calculus.nodes import Relation
from evercurrent.data.shapes import Shape
from evercurrent.frontend.python.block import over
from evercurrent.frontend.python.core import AnyQuery
from evercurrent.frontend.python.query import Query
from evercurrent.python_views.owner import QueryOwner
from evercurrent.statements.handles import View

T = TypeVar("T")


class LiveView(View, Query[T], Generic[T]):  # type: ignore[misc]
    """A view of a query object: always what the query would return; and a query object itself."""

    def __new__(cls, *args: Any) -> Any:
        return object.__new__(cls)

    def _become_query(self, owner: QueryOwner, shape: Shape) -> None:
        """Makes the handle a query object, once it knows its name."""
        AnyQuery.__init__(self, over(Relation(self.name, self.schema), shape, "v"), owner)

    def objects(self) -> list[T]:
        """All rows, as instances of their class."""
        make = self._block.shape.object
        return [make(row) for row in View.rows(self)]

    def __iter__(self) -> Iterator[T]:  # type: ignore[override]
        return iter(self.objects())

    def materialize(self) -> LiveView[T]:
        """Itself: it is kept already."""
        return self

    def _query(self) -> Any:
        return Relation(self.name, self.schema)
