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

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, overload

from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.limits import guard_nesting
from evercurrent.objects.face import ObjectFace
from evercurrent.rows.arguments import require_text
from evercurrent.session.feed import Feed
from evercurrent.session.spark_methods import SparkMethods
from evercurrent.session.stats import Stats
from evercurrent.session.transactions import Block
from evercurrent.statements.data_face import DataFace
from evercurrent.statements.handles import Table, refuse_in_process
from evercurrent.statements.options import OnViolation, SourceFormat, Strategy
from evercurrent.statements.python_face import PythonFace
from evercurrent.statements.report import Report
from evercurrent.statements.run_record import RunRecord
from evercurrent.statements.statement_face import StatementFace, require_names

if TYPE_CHECKING:
    from evercurrent.design.explain import Explanation
    from evercurrent.durable.database_file import DatabaseFile
    from evercurrent.durable.file import Durability
    from evercurrent.postgres.sources import Sources
    from evercurrent.python_views.owner import QueryOwner
    from evercurrent.serve.server import Server
    from evercurrent.statements.target import Target
    from evercurrent.warehouse.database import Warehouse

# The compiler and the engine are imported when a database is made, so that importing the package is quick.

Functions = Iterable[Any] | Mapping[str, Any]
PathLike = str | os.PathLike[str]


@overload
def connect(
    path: PathLike | None = None,
    *,
    durability: Durability = "full",
    read_only: bool = False,
    progress: Any = None,
    functions: Functions = (),
) -> Database: ...


@overload
def connect(
    path: Any = None,
    *,
    spark: Any,
    progress: Any = None,
    strategy: Strategy = "auto",
    functions: Functions = (),
    publish_to: Iterable[Any] = (),
    storage_options: Mapping[str, str] | None = None,
) -> Warehouse: ...


def connect(
    path: Any = None,
    *,
    spark: Any = None,
    durability: Durability = "full",
    read_only: bool = False,
    progress: Any = None,
    strategy: Strategy = "auto",
    functions: Functions = (),
    publish_to: Iterable[Any] = (),
    storage_options: Mapping[str, str] | None = None,
) -> Database | Warehouse:
    """A database inside this process: a new one, or the one that the file at `path` keeps; with `spark`, one on Spark.

    Without a path, or with `":memory:"`, nothing outlives the process. With one, every transaction is in the file before its
    caller goes on: `durability="full"` survives a failure of power, `"normal"` loses at most the last transactions by one and is
    never damaged, `"off"` leaves writing to the system; a process that is killed loses nothing in any of them. One database
    writes a file at a time. A second one, or one with `read_only=True`, reads the version that was there when it was opened, and
    `db.refresh()` takes it to the newest.

    On Spark, `spark` is a SparkSession, `path` a folder that driver and executors share, or an address in an object store, which is
    reached by the credentials of the environment or `storage_options` (see `docs/spark.md`); what is not there yet is made.
    `strategy` says who applies a batch: the driver alone as long as it is small (`auto`), always the `driver`, always `tasks` of
    the executors, or always jobs of `spark`. Views are published in folders outside the warehouse only if they lie in one of the folders of `publish_to`.

    What is kept is data: definitions name functions, and `functions` says what they are, as a list of functions, classes, monoids
    and modules, or as a mapping from paths (`module:name`) to functions. Without one that a view calls a file is not opened; a
    database on Spark opens with a warning, and changes of the view are refused. Long runs show on a terminal what they are at, unless `progress=False`; with a
    function, it is called with the name of each stage instead.
    """
    if spark is None:
        if publish_to or storage_options or strategy != "auto":
            raise QueryError(
                "publish_to, storage_options and strategy are for a database on Spark",
                hint="ec.connect(spark=spark, path=...)",
            )
        return Database(
            path, durability=durability, read_only=read_only, progress=progress, functions=functions
        )
    if path is None:
        raise QueryError(
            "a database on Spark needs both a session and a path", hint="ec.connect(spark=spark, path=...)"
        )
    if durability != "full" or read_only:
        raise QueryError("durability and read_only are for a database in a file, not for one on Spark")
    try:
        from evercurrent.warehouse.database import Warehouse
    except ImportError as problem:
        raise UnsupportedError(
            f"a database on Spark needs packages that are not installed: {problem}",
            hint="pip install 'evercurrent[spark]'",
        ) from problem
    places: dict[str, Any] = {"publish_to": publish_to, "storage_options": storage_options}
    found = Warehouse(spark, path, strategy=strategy, progress=progress, functions=functions, **places)
    found._servers = _server
    return found


def _server(what: str) -> Callable[..., Server]:
    """The function that serves a database, or that shows it in a browser."""
    from evercurrent.serve.server import serve, studio

    return studio if what == "studio" else serve


class Database(PythonFace, StatementFace, DataFace, ObjectFace, SparkMethods):
    """Tables, and views over them that are at all times what their queries would return.

    Threads may share a database: one lock guards it, and a transaction holds it from its beginning to its end.
    """

    def __init__(
        self,
        path: PathLike | None = None,
        *,
        durability: Durability = "full",
        read_only: bool = False,
        progress: Any = None,
        functions: Functions = (),
    ) -> None:
        from evercurrent.engine.live.memory import sparing
        from evercurrent.session.session import Session
        from evercurrent.session.stats import estimate_held
        from evercurrent.session.target import SessionTarget

        self._session = Session()
        self._statements: Target = SessionTarget(self._session)
        session = self._session
        sparing.watch(self, lambda: estimate_held(session))
        self._file: DatabaseFile | None = None
        self._sources: Sources | None = None
        if path is not None and path != ":memory:":
            from evercurrent.durable.database_file import DatabaseFile

            self._file = DatabaseFile(self._session, path, durability, read_only, progress, functions)
        elif functions:
            raise QueryError(
                "functions are for a database that is kept", hint="ec.connect(path, functions=[...])"
            )

    # --- the file ------------------------------------------------------------------------------------------

    @property
    def path(self) -> str | None:
        """The file that keeps the database; None, if none does."""
        return None if self._file is None else self._file.path

    @property
    def read_only(self) -> bool:
        """Whether the database only reads its file, because another one writes it."""
        return self._file is not None and self._file.read_only

    def close(self) -> None:
        """End the use of this database, and close its file. A transaction that BEGIN has begun is undone; later calls are refused."""
        if self._sources is not None and not self._closed:
            self._sources.close()
        super().close()
        if self._file is not None:
            self._file.close()

    def backup(self, path: PathLike) -> None:
        """Copy the file, as the last transaction has left it, to another path; `ec.connect` opens the copy."""
        self._require_file("backup()").backup(path)

    def reload(self) -> int:
        """Go to the newest version that another process has written into the file; returns its number.

        A database that writes its file is at the newest version.
        """
        return self._require_file("reload()").reload()

    def _require_file(self, what: str) -> DatabaseFile:
        if self._file is None:
            raise UnsupportedError(
                f"{what} needs a database that is kept in a file", hint='ec.connect("shop.db") opens one'
            )
        return self._file

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
        everything as it was. A transaction inside another one joins it; there are no savepoints. `batch` is an identity of your
        choice, in a file: of a batch that was applied already nothing is applied again, and `tx.repeated` says so.
        """
        if batch is not None:
            require_text(batch, "the name of a batch")
            self._require_file("transaction(batch=...)")
        return Block(self._session, batch=batch)

    @guard_nesting()
    def apply(
        self, changes: Mapping[str, Any], *, batch: str | None = None, on_violation: OnViolation = "refuse"
    ) -> RunRecord:
        """Apply change feeds to tables, in one transaction; returns the record of the run, whose `count` is the number of changes.

        For each table an iterable of mappings, an Arrow table or a pandas frame, with a column `_change_type` that says
        `insert`, `delete`, `update_preimage` or `update_postimage`. A batch that breaks a constraint or an assertion is refused as a
        whole. `batch`: see `transaction`.
        """
        from evercurrent.session.apply import apply

        if batch is not None:
            self._require_file("apply(batch=...)")

        return apply(self._session, changes, batch, on_violation)

    # --- sources -------------------------------------------------------------------------------------------

    @guard_nesting()
    def source(
        self,
        name: str,
        *,
        format: SourceFormat | None = None,
        path: Any = None,
        table: str | None = None,
        key: Iterable[str] = (),
        options: Mapping[str, str] | None = None,
        copy: bool = False,
        postgres: str | None = None,
    ) -> None:
        """Declare a table that others write, in PostgreSQL: `db.source("orders", postgres=address, table="public.orders")`.

        It is loaded at once, with its columns, types and key; `refresh` takes in what has changed since. To declare a source
        again that the file of the database holds loads nothing: its changes go on where they were left. `key` names columns that
        no two rows share, where PostgreSQL has no primary key. See `docs/postgres.md`.
        """
        from evercurrent.session.installation import defining

        require_text(name, "the name of a source")
        if postgres is None or format is not None or path is not None or options is not None:
            refuse_in_process("source() of files", "one inside this process follows tables of PostgreSQL")
        require_text(postgres, "the address of a PostgreSQL database")
        keys = (key,) if isinstance(key, str) else tuple(key)
        with defining(self._session):
            self._open_sources().declare(name, postgres, table if table is not None else name, keys)

    @guard_nesting()
    def refresh(
        self, *, full: Iterable[str] = (), batch: str | None = None, on_violation: OnViolation = "refuse"
    ) -> RunRecord:
        """Take in all that has changed in the sources since the last time, as one transaction.

        `full` names sources that are compared as a whole. A database that only reads its file goes to the newest version of it.
        """
        from evercurrent.session.apply import require_in_process
        from evercurrent.session.installation import defining

        require_in_process(on_violation)
        if isinstance(full, str):
            raise QueryError("full must be an iterable of names", hint=f"db.refresh(full=[{full!r}])")
        if self.read_only:
            return RunRecord(self.reload())
        if batch is not None:
            self._require_file("refresh(batch=...)")
        with defining(self._session):
            names = [self.table(n).name.lower() for n in full]
            if not self._session.cursors:
                return RunRecord(self.version, batch)
            from evercurrent.postgres.following import refresh

            return refresh(self._open_sources(), names, batch)

    def _open_sources(self) -> Sources:
        if self._sources is None:
            try:
                from evercurrent.postgres.sources import Sources
            except ImportError as problem:
                raise UnsupportedError(
                    f"a source in PostgreSQL needs a package that is not installed: {problem}",
                    hint="pip install 'evercurrent[postgres]'",
                ) from problem
            self._sources = Sources(self._session)
        return self._sources

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

    def studio(
        self, *, host: str = "127.0.0.1", port: int | None = None, token: str | None = None, open: bool = True
    ) -> Server:
        """Serve the database, and open the page that shows it in a browser; see `docs/studio.md`."""
        from evercurrent.serve.server import studio

        return studio(self, host=host, port=port, token=token, open=open)

    def __repr__(self) -> str:
        catalog = self._session.catalog
        return (
            f"<Database{'' if self._file is None else ' ' + self._file.path}: {len(catalog.tables)} tables, {len(catalog.views)} views, "
            f"{len(catalog.assertions)} assertions, {self._session.number} transactions>"
        )
