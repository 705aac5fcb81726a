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

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, overload

from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.limits import guard_nesting
from evercurrent.objects.face import ObjectFace
from evercurrent.rows.arguments import require_text
from evercurrent.session.feed import Feed
from evercurrent.session.spark_methods import SparkMethods
from evercurrent.session.stats import Stats
from evercurrent.session.transactions import Block
from evercurrent.statements.handles import Table, refuse_in_process
from evercurrent.statements.options import OnViolation, Strategy
from evercurrent.statements.python_face import PythonFace
from evercurrent.statements.report import Report
from evercurrent.statements.run_record import RunRecord
from evercurrent.statements.statement_face import StatementFace, require_names

if TYPE_CHECKING:
    from evercurrent.design.explain import Explanation
    from evercurrent.python_views.owner import QueryOwner
    from evercurrent.serve.server import Server
    from evercurrent.statements.target import Target
    from evercurrent.warehouse.database import Warehouse

# The compiler and the engine are imported when a database is made, so that importing the package is quick.

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
    name of each stage instead. `strategy` says who applies a batch: the driver alone as long as it is small (`auto`),
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


class Database(StatementFace, PythonFace, ObjectFace, SparkMethods):
    """Tables, and views over them that are at all times what their queries would return.

    Threads may share a database: one lock guards it, and a transaction holds it from its beginning to its end.
    """

    def __init__(self) -> None:
        from evercurrent.session.session import Session
        from evercurrent.session.target import SessionTarget

        self._session = Session()
        self._statements: Target = SessionTarget(self._session)

    @property
    def _target(self) -> Target:
        return self._statements

    def _make_owner(self) -> QueryOwner:
        from evercurrent.session.python_views import SessionOwner

        return SessionOwner(self._session)

    @guard_nesting()
    def bind(self, name: str, thing: Any) -> None:
        """Give an object a name that queries in OQL may use; binding it again changes what it names, None unbinds it."""
        from evercurrent.objects.names import bind

        require_text(name, "the name of an object")
        bind(self._session, name, thing)

    def table(self, name: str) -> Table:
        """The table of this name."""
        from evercurrent.session.tables import SessionTable

        return SessionTable(self._session, name)

    @property
    def version(self) -> int:
        """How many transactions have changed rows so far: it grows by one with each."""
        return self._session.number

    # --- changes -------------------------------------------------------------------------------------------

    def transaction(self, *, batch: str | None = None) -> Block:
        """All or nothing: `with db.transaction() as tx: ...`.

        Views are updated once, at the end of the block, and constraints are checked then. An exception, or `tx.rollback()`, leaves
        everything as it was. A transaction inside another one joins it; there are no savepoints.
        """
        if batch is not None:
            refuse_in_process("transaction(batch=...)", "one inside this process keeps no log of batches")
        return Block(self._session)

    @guard_nesting()
    def apply(
        self, changes: Mapping[str, Any], *, batch: str | None = None, on_violation: OnViolation = "refuse"
    ) -> RunRecord:
        """Apply change feeds to tables, in one transaction; returns the record of the run, whose `count` is the number of changes.

        For each table an iterable of mappings, an Arrow table or a pandas frame, with a column `_change_type` that says
        `insert`, `delete`, `update_preimage` or `update_postimage`. A batch that breaks a constraint or an assertion is refused as a
        whole.
        """
        from evercurrent.session.apply import apply

        return apply(self._session, changes, batch, on_violation)

    def feed(self, table: str) -> Feed:
        """The trusted fast path into a table: no checks, no transactions, values in internal representation."""
        return Feed(self._session, table)

    # --- what it says of itself ----------------------------------------------------------------------------

    @guard_nesting()
    def explain(
        self, view: str | None = None, *, stage: str | None = None, changes: Mapping[str, int] | None = None
    ) -> Explanation:
        """How a view is kept, or how all are: see `View.explain`."""
        from evercurrent.design.explain import Explanation
        from evercurrent.session.views import SessionView

        names = self.views if view is None else [view]
        found = [SessionView(self._session, n).explain(stage, changes=changes) for n in names]
        return found[0] if len(found) == 1 else Explanation("\n\n".join(map(str, found)))

    @guard_nesting()
    def verify(self, views: Iterable[str] | None = None) -> Report:
        """Recompute views with the reference evaluator and compare, both ways. The report is true if all are equal."""
        from evercurrent.session.verify import verify

        require_names(views, "verify")
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
