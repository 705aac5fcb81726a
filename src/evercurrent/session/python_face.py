"""The part of a database in process that speaks Python: what `db.view` returns, for type checkers.

db.view("adults", students.where(lambda s: s.age > 17))      a LiveView[Student]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from evercurrent.limits import guard_nesting
from evercurrent.python_views.face import PythonFace

if TYPE_CHECKING:
    from evercurrent.frontend.python.core import AnyQuery
    from evercurrent.frontend.python.query import Query
    from evercurrent.session.python_views import LiveView
    from evercurrent.session.views import View

T = TypeVar("T")


class SessionPythonFace(PythonFace):
    """The methods of a database that take classes, query objects and functions."""

    @overload
    def view(self, name: str, query: Query[T], *, replace: bool = ...) -> LiveView[T]: ...

    @overload
    def view(self, name: str, query: AnyQuery, *, replace: bool = ...) -> LiveView[Any]: ...

    @overload
    def view(self, name: str) -> View: ...

    @overload
    def view(self, name: Query[T]) -> LiveView[T]: ...

    @overload
    def view(self, name: Callable[..., Any]) -> LiveView[Any]: ...

    @guard_nesting("this query")
    def view(self, name: Any, query: Any = None, *, replace: bool = False) -> Any:
        """Returns the view of this name; with a query object, makes one.

        A query object alone is kept without a name, while the result is referenced. As a decorator
        (`@db.view`) it makes a view of a function over rows, under the function's name.
        """
        return self._view(name, query, replace)
