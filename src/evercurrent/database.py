"""The public face: a database with tables, views that stay current, transactions and subscriptions.

>>> db = connect()
>>> _ = db.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT, total DECIMAL(12,2))")
>>> _ = db.execute("CREATE VIEW spend AS SELECT customer, SUM(total) AS total FROM orders GROUP BY customer")
>>> db.table("orders").insert([{"id": 1, "customer": 7, "total": "9.50"}, (2, 7, 3)])
2
>>> db.view("spend").rows()
[(7, Decimal('12.50'))]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from evercurrent.catalog.nodes import Mode, is_part
from evercurrent.data.showing import show_value
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.limits import guard_nesting
from evercurrent.objects.face import ObjectFace
from evercurrent.rows.arguments import require_choice, require_text
from evercurrent.rows.conversion import is_many
from evercurrent.rows.results import Result
from evercurrent.session.feed import Feed
from evercurrent.session.python_face import SessionPythonFace
from evercurrent.session.stats import Stats
from evercurrent.session.tables import Table
from evercurrent.session.transactions import Block
from evercurrent.session.verify import Report

if TYPE_CHECKING:
    from evercurrent.python_views.owner import QueryOwner
    from evercurrent.serve.server import Server
    from evercurrent.warehouse.database import Warehouse

# The compiler and the engine are imported when a database is made, so that importing the package is quick.

Parameters = Sequence[Any] | Mapping[str, Any] | None
Language = Literal["sql", "oql"]
Policy = Literal["incremental", "auto", "full"]
Strategy = Literal["auto", "driver", "spark"]
Functions = Iterable[Any] | Mapping[str, Any]


@overload
def connect() -> Database: ...


@overload
def connect(
    *,
    spark: Any,
    path: Any,
    progress: Any = None,
    strategy: Strategy = "auto",
    functions: Functions = (),
    publish_to: Iterable[Any] = (),
) -> Warehouse: ...


def connect(
    *,
    spark: Any = None,
    path: Any = None,
    progress: Any = None,
    strategy: Strategy = "auto",
    functions: Functions = (),
    publish_to: Iterable[Any] = (),
) -> Database | Warehouse:
    """A new, empty database inside this process; with `spark` and `path`, the one under the path, on Spark.

    `spark` is a SparkSession, `path` a folder that the driver and all executors share; what is not there yet is made.
    Long runs on Spark show on a terminal what they are at, unless `progress=False`; with a function, it is called with the
    name of each stage instead. `strategy` says who works a batch off: the driver alone as long as it is small (`auto`),
    always the `driver`, or always `spark`.

    A warehouse is data: its definitions name functions, and `functions` says what they are, as a list of functions, classes,
    monoids and modules, or as a mapping from paths (`module:name`) to functions. Without one that a view calls the warehouse
    opens with a warning, and batches that change the view are refused. Likewise views are published in folders outside the
    warehouse only if they lie in one of the folders of `publish_to`.
    """
    if spark is None and path is None:
        if functions or publish_to:
            raise QueryError(
                "functions and publish_to are for a database on Spark",
                hint="ec.connect(spark=spark, path=...)",
            )
        return Database()
    if spark is None or path is None:
        raise QueryError(
            "a database on Spark needs both a session and a path", hint="ec.connect(spark=spark, path=...)"
        )
    try:
        from evercurrent.warehouse.database import Warehouse
    except ImportError as problem:
        raise UnsupportedError(
            f"a database on Spark needs packages that are not installed: {problem}",
            hint="pip install 'evercurrent[spark]'",
        ) from problem
    return Warehouse(
        spark, path, strategy=strategy, progress=progress, functions=functions, publish_to=publish_to
    )


class Database(SessionPythonFace, ObjectFace):
    """Tables, and views over them that are at all times what their queries would return.

    Threads may share a database: one lock guards it, and a transaction holds it from its beginning to its end.
    """

    def __init__(self) -> None:
        from evercurrent.session.session import Session

        self._session = Session()

    def _make_owner(self) -> QueryOwner:
        from evercurrent.session.python_views import SessionOwner

        return SessionOwner(self._session)

    # --- statements ----------------------------------------------------------------------------------------

    @guard_nesting()
    def execute(
        self,
        sql: str,
        parameters: Parameters = None,
        *,
        policy: Policy | None = None,
        mode: Mode | None = None,
    ) -> Result:
        """Run a statement, or several parted by semicolons; returns the result of the last.

        `parameters` stand for `?` (a sequence) or `:name` (a mapping); they are values, whatever is written in them.
        `policy` is for views that the statements create: `incremental` (the default) refuses a view that could only be
        recomputed in full, `auto` recomputes it and says so, `full` always recomputes. So is `mode`: a `strict` view (the
        default) moves at each commit, a `lazy` one when it is read, a `hybrid` one moves its collections at once and derives
        values when it is read. The answers are the same.
        """
        from evercurrent.session.execute import execute

        require_text(sql, "a statement")
        return execute(self._session, sql, parameters, policy, mode)

    @guard_nesting()
    def query(
        self,
        text: str,
        parameters: Parameters = None,
        *,
        language: Language = "sql",
        pending: bool = False,
    ) -> Any:
        """Run a query once, from scratch. Inside a transaction it sees the committed state, or the `pending` one.

        In SQL the result is a `Result`, in OQL the value of the query, of whatever type.
        """
        require_text(text, "a query")
        require_choice(language, ("sql", "oql"), "language")
        if language == "oql":
            from evercurrent.session.oql import query as ask

            return ask(self._session, text, pending)
        from evercurrent.session.execute import query

        return query(self._session, text, parameters, pending)

    @guard_nesting()
    def oql(
        self,
        text: str,
        *,
        policy: Policy = "incremental",
        mode: Mode = "strict",
    ) -> Any:
        """Run statements of OQL; returns the value of the last one if it is a query.

        `define name as query` makes a maintained view, `db.view(name).value()` reads it; with parameters it gives a name to a
        query. `undefine name` drops it, `import Class as Name` renames a class. `policy` and `mode` are those of the views.
        """
        from evercurrent.session.oql import run

        require_text(text, "a statement")
        return run(self._session, text, policy=policy, mode=mode)

    @guard_nesting()
    def bind(self, name: str, thing: Any) -> None:
        """Give an object a name that queries in OQL may use; binding it again moves the name, None unbinds it."""
        from evercurrent.objects.names import bind

        require_text(name, "the name of an object")
        bind(self._session, name, thing)

    # --- names ---------------------------------------------------------------------------------------------

    def table(self, name: str) -> Table:
        """The table of this name."""
        return Table(self._session, name)

    @property
    def tables(self) -> list[str]:
        """The names of all tables."""
        return [t.name for t in self._session.catalog.tables.values()]

    @property
    def views(self) -> list[str]:
        """The names of all views."""
        return [v.name for v in self._session.catalog.views.values() if not is_part(v)]

    @property
    def assertions(self) -> list[str]:
        """The names of all assertions."""
        return [a.name for a in self._session.catalog.assertions.values()]

    @property
    def version(self) -> int:
        """How many transactions have changed rows so far: it grows by one with each."""
        return self._session.number

    # --- changes -------------------------------------------------------------------------------------------

    def transaction(self) -> Block:
        """All or nothing: `with db.transaction() as tx: ...`.

        Views move once, at the end of the block, and constraints are judged then. An exception, or `tx.rollback()`, leaves
        everything as it was. A transaction inside another one joins it; there are no savepoints.
        """
        return Block(self._session)

    @guard_nesting()
    def apply(self, changes: Mapping[str, Any]) -> int:
        """Apply change feeds to tables, in one transaction; returns the number of changes.

        For each table an iterable of mappings, an Arrow table or a pandas frame, with a column `_change_type` that says
        `insert`, `delete`, `update_preimage` or `update_postimage`.
        """
        from evercurrent.session.apply import apply

        return apply(self._session, changes)

    def feed(self, table: str) -> Feed:
        """The trusted fast path into a table: no checks, no transactions, values in internal representation."""
        return Feed(self._session, table)

    # --- what it says of itself ----------------------------------------------------------------------------

    @guard_nesting()
    def verify(self, views: Iterable[str] | None = None) -> Report:
        """Recompute views with the reference evaluator and compare, both ways. The report is true if all are equal."""
        if views is not None and not is_many(views):
            raise QueryError("views must be an iterable of names", hint=f"db.verify([{show_value(views)}])")
        from evercurrent.session.verify import verify

        return verify(self._session, views)

    def stats(self) -> Stats:
        """Entries and bytes of every table and every state, and which views use it."""
        from evercurrent.session.stats import stats

        return stats(self._session)

    # --- for others ----------------------------------------------------------------------------------------

    def serve(
        self,
        *,
        host: str = "127.0.0.1",
        port: int | None = None,
        token: str | None = None,
        writes: bool = True,
    ) -> Server:
        """Serve tables and views over HTTP, in a thread of its own; see `docs/serve.md`."""
        from evercurrent.serve.server import serve

        return serve(self, host=host, port=port, token=token, writes=writes)

    def __repr__(self) -> str:
        catalog = self._session.catalog
        return (
            f"<Database: {len(catalog.tables)} tables, {len(catalog.views)} views, "
            f"{len(catalog.assertions)} assertions, {self._session.number} transactions>"
        )
