"""The part of a warehouse that speaks Python: what `db.view` returns, for type checkers.

db.view("adults", students.where(lambda s: s.age > 17))      a StoredView[Student]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from evercurrent.limits import guard_nesting
from evercurrent.python_views.face import PythonFace

if TYPE_CHECKING:
    from evercurrent.frontend.python.core import AnyQuery
    from evercurrent.frontend.python.query import Query
    from evercurrent.warehouse.definitions.python_views import StoredView
    from evercurrent.warehouse.handles import View

T = TypeVar("T")


class StoredPythonFace(PythonFace):
    """The methods of a database that take classes, query objects and functions."""

    @overload
    def view(self, name: str, query: Query[T], *, replace: bool = ...) -> StoredView[T]: ...

    @overload
    def view(self, name: str, query: AnyQuery, *, replace: bool = ...) -> StoredView[Any]: ...

    @overload
    def view(self, name: str) -> View: ...

    @overload
    def view(self, name: Query[T]) -> StoredView[T]: ...

    @overload
    def view(self, name: Callable[..., Any]) -> StoredView[Any]: ...

    @guard_nesting("this query")
    def view(self, name: Any, query: Any = None, *, replace: bool = False) -> Any:
        """Returns the view of this name; with a query object, makes one.

        As a decorator (`@db.view`) it makes a view of a function over rows, under the function's name.
        """
        return self._view(name, query, replace)
