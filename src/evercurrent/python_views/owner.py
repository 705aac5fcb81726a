"""What a database needs to have query objects: tables of classes, relations by name, views, answers.

owner.table_of(Student, None, {})      the table of a dataclass, which is a query object too
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

from evercurrent.calculus.nodes import Comprehension, Generator, Relation
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.lookup import unknown
from evercurrent.catalog.nodes import Table
from evercurrent.data.shapes import Shape
from evercurrent.data.showing import show_value
from evercurrent.data.types import Member, Reference
from evercurrent.errors import QueryError
from evercurrent.frontend.python.annotations import is_row_class
from evercurrent.frontend.python.block import over, variable
from evercurrent.frontend.python.core import AnyQuery
from evercurrent.frontend.python.definitions import shape_over, table_of_class
from evercurrent.frontend.python.query import Query
from evercurrent.term import build

T = TypeVar("T")


class TableHandle(Protocol):
    """What a table of classes asks of a table of its database."""

    name: str

    @property
    def schema(self) -> tuple[Member, ...]: ...
    def insert(self, rows: Any) -> int: ...
    def delete(self, which: Any) -> int: ...
    def update(self, which: Any, changes: Mapping[str, Any] | None = ..., /, **columns: Any) -> None: ...
    def replace(self, old: Any, new: Any) -> None: ...
    def __len__(self) -> int: ...


class QueryOwner(ABC):
    """The database behind query objects; see `core.Owner` for what the objects themselves ask."""

    @property
    @abstractmethod
    def catalog(self) -> Catalog: ...

    @abstractmethod
    def create(self, table: Table) -> None: ...

    @abstractmethod
    def table(self, name: str) -> TableHandle: ...

    @abstractmethod
    def view(self, name: str, query: AnyQuery, replacing: bool) -> Any: ...

    @abstractmethod
    def handle(self, name: str) -> Any: ...

    @abstractmethod
    def answer(self, query: AnyQuery) -> list[tuple[Any, ...]]: ...

    @abstractmethod
    def keep(self, query: AnyQuery) -> Any: ...

    @abstractmethod
    def watch(self, query: AnyQuery, callback: Any, when: Any) -> Any: ...

    @abstractmethod
    def explain(self, query: AnyQuery, stage: str | None) -> Any: ...

    # --- tables and relations --------------------------------------------------------------------------------

    def relation(self, name: str) -> Query[Any]:
        """All rows of a table or view, as a query object."""
        found = self.catalog.relation(name)
        if found is None:
            names = [
                *(t.name for t in self.catalog.tables.values()),
                *(v.name for v in self.catalog.views.values()),
            ]
            raise unknown("table or view", name, names)
        inner = [Shape.reference(self) if isinstance(f.type, Reference) else None for f in found.fields]
        shape = Shape.record(None, len(found.fields), inner, [f.name for f in found.fields])
        return Query(over(Relation(found.name, found.fields), shape, found.name[:1].lower() or "r"), self)

    def table_of(self, what: Any, name: str | None, options: Mapping[str, Any]) -> Any:
        """The table of a class, made if it is not there; or the relation of a name."""
        if isinstance(what, str):
            if options or name is not None:
                raise QueryError("options apply only to tables made from a class")
            return self.relation(what)
        extent = self._extent_of(what)
        if extent is not None:
            return self.relation(extent)
        if not is_row_class(what):
            raise QueryError(
                f"{show_value(what)} is not a class of rows",
                hint="a class of rows is a dataclass, a NamedTuple or a TypedDict",
            )
        chosen = name or what.__name__
        if self.catalog.relation(chosen) is None:
            self.create(table_of_class(what, chosen, **options))
        table = self.table(chosen)
        shape, columns = shape_over(what, table.name, table.schema)
        return TableOf(self, table, shape, columns)

    def _extent_of(self, what: Any) -> str | None:
        """The extent of a class of objects, if it is one."""
        declared = self.catalog.schema.classes.get(getattr(what, "__name__", ""))
        return None if declared is None or is_row_class(what) else declared.extent


class TableOf(Query[T]):
    """A table whose rows are instances of a class: a query object, and every way to change it."""

    def __new__(cls, *args: Any) -> Any:
        return object.__new__(cls)

    def __init__(self, owner: QueryOwner, table: TableHandle, shape: Shape, columns: Sequence[str]) -> None:
        fields = table.schema
        source = Relation(table.name, fields)
        stem = table.name[:1].lower()
        if [f.name for f in fields] == list(columns):
            block = over(source, shape, stem)
        else:
            v = variable(source, stem)
            chosen = tuple(f for c in columns for f in fields if f.name == c)
            head = tuple(build.field(v, f.name) for f in chosen)
            block = over(Comprehension("bag", head, (Generator(v, source),), chosen), shape, stem)
        super().__init__(block, owner)
        self.table = table

    @property
    def name(self) -> str:
        """The name of the table."""
        return self.table.name

    def insert(self, rows: Any) -> int:
        """Insert a row, or many; see `Table.insert`."""
        return self.table.insert(rows)

    def delete(self, which: Any) -> int:
        """Delete a row, or many; see `Table.delete`."""
        return self.table.delete(which)

    def update(self, which: Any, changes: Mapping[str, Any] | None = None, /, **columns: Any) -> None:
        """Change columns of one row; see `Table.update`."""
        self.table.update(which, changes, **columns)

    def replace(self, old: Any, new: Any) -> None:
        """Put one row in the place of another."""
        self.table.replace(old, new)

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return f"<TableOf {self.table!r}>"
