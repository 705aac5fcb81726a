"""The methods of a database that take classes, query objects and functions.

>>> import evercurrent as ec
>>> from typing import NamedTuple
>>> Student = NamedTuple("Student", [("name", str), ("age", int)])
>>> db = ec.connect()
>>> students = db.table_of(Student)
>>> adults = db.view("adults", students.where(lambda s: s.age > 17))
>>> students.insert(Student("Ann", 20)), adults.objects()
(1, [Student(name='Ann', age=20)])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from evercurrent.data.showing import show_value
from evercurrent.errors import QueryError
from evercurrent.limits import guard_nesting
from evercurrent.rows.arguments import require_text
from evercurrent.statements.handles import View

if TYPE_CHECKING:
    from evercurrent.frontend.python.core import AnyQuery
    from evercurrent.frontend.python.query import Query
    from evercurrent.python_views.owner import QueryOwner, TableOf
    from evercurrent.statements.live_views import LiveView

T = TypeVar("T")


class PythonFace:
    """Methods of a database that take classes, query objects and functions."""

    _python: QueryOwner | None = None

    if TYPE_CHECKING:
        create_view: Any

    def _make_owner(self) -> QueryOwner:
        raise AssertionError("every database has one")

    def _owner(self) -> QueryOwner:
        if self._python is None:
            self._python = self._make_owner()
        return self._python

    @overload
    def table_of(
        self,
        what: type[T],
        *,
        name: str | None = ...,
        key: str | Sequence[str] | None = ...,
        unique: Sequence[str | Sequence[str]] = ...,
        references: Mapping[Any, Any] | None = ...,
        stored: bool = ...,
    ) -> TableOf[T]: ...

    @overload
    def table_of(self, what: str) -> Query[Any]: ...

    @guard_nesting("this class")
    def table_of(
        self,
        what: Any,
        *,
        name: str | None = None,
        key: str | Sequence[str] | None = None,
        unique: Sequence[str | Sequence[str]] = (),
        references: Mapping[Any, Any] | None = None,
        stored: bool = True,
    ) -> Any:
        """The table whose rows are instances of a dataclass, NamedTuple or TypedDict; made if it is not there.

        With the name of a table or view, a query object over it. `key`, `unique` and `references`
        (`{"dept": (Dept, "id")}`) are constraints; a table that is not `stored` only forwards its changes.
        """
        options = {"key": key, "unique": unique, "references": references, "stored": stored}
        given = {k: v for k, v in options.items() if v not in (None, ()) and (k, v) != ("stored", True)}
        return self._owner().table_of(what, name, given)

    @guard_nesting()
    def relation(self, name: str) -> Query[Any]:
        """All rows of a table or view, as a query object."""
        return self._owner().relation(require_text(name, "the name of a table or view"))

    @overload
    def view(self, name: str, query: Query[T], *, replace: bool = ...) -> LiveView[T]: ...

    @overload
    def view(self, name: str, query: AnyQuery, *, replace: bool = ...) -> LiveView[Any]: ...

    @overload
    def view(self, name: str, query: str, *, replace: bool = ...) -> View: ...

    @overload
    def view(self, name: str) -> View: ...

    @overload
    def view(self, name: Query[T]) -> LiveView[T]: ...

    @overload
    def view(self, name: Callable[..., Any]) -> LiveView[Any]: ...

    @guard_nesting("this query")
    def view(self, name: Any, query: Any = None, *, replace: bool = False) -> Any:
        """The view of this name; with a query in SQL or a query object, a new one.

        A query object alone is kept without a name, while what is returned is referenced. As a decorator
        (`@db.view`) it makes a view of a function over rows, under the function's name.
        """
        if isinstance(name, str) and query is None:
            return self._owner().handle(name)
        from evercurrent.frontend.python.core import AnyQuery

        if isinstance(name, str):
            if isinstance(query, str):
                return self.create_view(name, query, replace=replace)
            if not isinstance(query, AnyQuery):
                raise QueryError(
                    f"a query is needed, not {show_value(query)}",
                    hint='db.view("name", "SELECT ..."), or db.view("name", db.table_of(...).where(...))',
                )
            return self._owner().view(name, query, replace)
        if isinstance(name, AnyQuery):
            return self._owner().keep(name)
        if callable(name):
            from evercurrent.frontend.python.functions import query_of

            made = query_of(name, self._owner(), self.table_of)
            return self._owner().view(name.__name__, made, replace)
        raise QueryError(
            f"a view has a name, not {show_value(name)}", hint='db.view("name"), db.view("name", query)'
        )
