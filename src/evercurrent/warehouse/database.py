"""The public face of a database on Spark: `ec.connect(spark=spark, path="warehouse/")`.

The same statements and handles as inside the process. Every transaction is a version; versions are durable, and the tables and
views of one version agree with each other.

    db = ec.connect(spark=spark, path="warehouse/")
    db.execute("CREATE TABLE t (n BIGINT)"); db.execute("INSERT INTO t VALUES (1)")
    db.version, db.table("t").rows()                        (2, [(1,)])
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from evercurrent.callables import require_callable
from evercurrent.design.explain import Explanation
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.private_session import require_shared
from evercurrent.engine.spark.progress import Listener
from evercurrent.engine.spark.storage.files import Folder
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.limits import guard_nesting
from evercurrent.oql_views.changes import relations_of_view
from evercurrent.python_views.owner import QueryOwner
from evercurrent.rows.arguments import require_choice
from evercurrent.statements.data_face import DataFace
from evercurrent.statements.handles import Table
from evercurrent.statements.options import STRATEGIES, OnViolation, SourceFormat, Strategy
from evercurrent.statements.python_face import PythonFace
from evercurrent.statements.report import Report
from evercurrent.statements.run_record import RunRecord
from evercurrent.statements.statement_face import StatementFace, require_mapping, require_names
from evercurrent.term.handed_over import HandedOver
from evercurrent.warehouse.changes.apply import apply, require_known
from evercurrent.warehouse.changes.refresh import refresh
from evercurrent.warehouse.changes.transactions import Block
from evercurrent.warehouse.core import Core
from evercurrent.warehouse.definitions.opening import open_version
from evercurrent.warehouse.definitions.sources import Declaration, declare
from evercurrent.warehouse.explain import explain_all, explain_view
from evercurrent.warehouse.handles import StoredTable
from evercurrent.warehouse.history import past_rows, runs_frame
from evercurrent.warehouse.integrity.check import CheckReport, check
from evercurrent.warehouse.integrity.repair import repair as repair_stores
from evercurrent.warehouse.integrity.repair import repair_log
from evercurrent.warehouse.integrity.verify import verify
from evercurrent.warehouse.maintenance import upkeep
from evercurrent.warehouse.maintenance.called_functions import missing_functions, warn_of_missing
from evercurrent.warehouse.maintenance.catch_up import catch_up_view
from evercurrent.warehouse.maintenance.commit import tidying
from evercurrent.warehouse.maintenance.notifications import changes_by_others
from evercurrent.warehouse.maintenance.publish_places import read_places
from evercurrent.warehouse.objects.face import StoredFace
from evercurrent.warehouse.python_views import WarehouseOwner
from evercurrent.warehouse.statements import WarehouseTarget
from evercurrent.warehouse.streaming import StreamFace


class Warehouse(PythonFace, StatementFace, DataFace, StoredFace, StreamFace):
    """Tables and views under a path, kept current by Spark and its driver.

    One driver writes at a time: if another one has committed in between, a commit raises `ConflictError` and changes
    nothing; `reload()` then brings this one to the newest version. Long runs show on a terminal what they are at; with
    `progress=False` they do not, and with a function it is called with the name of each stage.
    """

    def __init__(
        self,
        spark: Any,
        path: str | os.PathLike[str],
        *,
        strategy: Strategy = "auto",
        progress: Listener | bool | None = None,
        functions: Iterable[Any] | Mapping[str, Any] = (),
        publish_to: Iterable[str | os.PathLike[str]] = (),
        storage_options: Mapping[str, str] | None = None,
    ) -> None:
        self._servers: Callable[[str], Callable[..., Any]] | None = None
        require_choice(strategy, STRATEGIES, "strategy")
        known, places = HandedOver(functions), read_places(publish_to)
        folder = Folder(path, storage_options, spark)
        folder.make()
        self._core = Core(Engine(spark, folder, strategy))
        if spark is not None and not folder.disk.remote:
            require_shared(self._core.engine.home, str(folder.root))
        self._core.functions, self._core.publish_to = known, places
        self._statements = WarehouseTarget(self._core, self._find_object)
        self._core.handle = self._statements.object_of
        self._core.past_rows = partial(past_rows, self._core)
        self.listen(progress)
        self.reload()
        warn_of_missing(self._core.catalog, known)

    @property
    def missing_functions(self) -> Mapping[str, tuple[str, ...]]:
        """The functions that views call and that the program has not handed over, by the names of the views."""
        return missing_functions(self._core.catalog, self._core.functions)

    def _make_owner(self) -> QueryOwner:
        return WarehouseOwner(self)

    def _find_object(self, oid: int) -> Any:
        space = self._session.space
        return None if space is None else space.at(oid)

    def listen(self, progress: Listener | bool | None) -> None:
        """Call a function with the name of each stage of a run; False: no one, None: a line on a terminal."""
        if progress is not None and not isinstance(progress, bool):
            require_callable(progress, "progress", "give a function of the name of a stage, or True or False")
        self._core.progress.listener = progress

    @guard_nesting()
    def reload(self) -> int:
        """Go to the newest version that any driver has committed; returns its number."""
        with self._core.lock:
            self._require_no_transaction("reload")
            before = self._core.version
            open_version(self._core, self._core.engine.log.latest())
            self._core.unnotified.extend(changes_by_others(self._core, before))
            for name in self._core.subscribers.watched:
                for relation in relations_of_view(self._core.catalog, name):
                    catch_up_view(self._core, relation)
            self._core.notify_subscribers()
            return self._core.version

    # --- where it is kept ----------------------------------------------------------------------------------

    @property
    def path(self) -> str | None:
        """The folder of the warehouse."""
        return str(self._core.engine.folder.root)

    @property
    def read_only(self) -> bool:
        """Whether it can only be read: never, on Spark; of two drivers that commit, the second is refused."""
        return False

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Not possible on Spark: a warehouse is a folder of files that do not change, which any tool can copy."""
        raise UnsupportedError(
            "backup() needs a database in a file: a warehouse is a folder of files that do not change",
            hint="copy the folder; what is committed meanwhile is not part of the copy",
        )

    # --- statements ----------------------------------------------------------------------------------------

    @property
    def _target(self) -> WarehouseTarget:
        return self._statements

    def _require_no_transaction(self, what: str) -> None:
        self._core.require_no_transaction(what)

    # --- changes -------------------------------------------------------------------------------------------

    def transaction(self, *, batch: str | None = None) -> Block:
        """All or nothing, one version: `with db.transaction(): ...`. `batch`: see `apply`."""
        return Block(self._core, batch)

    def _changing(self) -> Block:
        """Returns the transaction for one call: the open one, or one for this call alone."""
        return Block(self._core, alone=True)

    @guard_nesting()
    def apply(
        self, changes: Mapping[str, Any], *, batch: str | None = None, on_violation: OnViolation = "refuse"
    ) -> RunRecord:
        """Apply change feeds to tables, in one version; returns the record of the run.

        For each table an iterable of mappings, an Arrow table, a pandas or a Spark DataFrame, with a column `_change_type`
        that says `insert`, `delete`, `update_preimage` or `update_postimage`. `batch` is an identity of your choice:
        a batch that was applied already, by whatever driver, is not applied again.

        A batch that breaks a constraint or an assertion is refused as a whole, unless `on_violation="quarantine"`: then
        the changes to blame are set aside in the table `evercurrent_quarantine`, and the others applied, in one version.
        """
        require_known(on_violation)
        require_mapping(changes)
        with self._core.lock, self._core.progress.run():
            self._require_no_transaction("apply")
            if batch is not None:
                done = self._core.engine.log.batch(batch)
                if done is not None:
                    return RunRecord(done, batch, repeated=True)
            return apply(self._core, changes, batch, on_violation)

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
        """Declare a table that others write; `refresh` takes its changes in.

        It is a Delta table, a folder of Parquet files or an Iceberg table at `path`, or a `table` of the session's catalog
        (with `format="iceberg"`, of one of pyiceberg's catalogs, which `options` describe). `key` names columns that no
        two rows share; it is checked. To declare the same source again changes nothing.

        A Delta or Iceberg table is not copied: its rows are read where they are, as of the version that `refresh` has
        reached. With `copy=True`, and of all other sources, the warehouse keeps the rows too.
        """
        if postgres is not None:
            raise UnsupportedError(
                "source(postgres=...) needs a database in process: on Spark a source is files or a table of a catalog",
                hint="format and path name files, table a table of the session's catalog",
            )
        with self._core.lock, self._core.progress.run():
            self._require_no_transaction("source")
            keys = (key,) if isinstance(key, str) else tuple(key)
            declare(self._core, Declaration(name, format, path, table, keys, options, copy))

    @guard_nesting()
    def refresh(
        self, *, full: Iterable[str] = (), batch: str | None = None, on_violation: OnViolation = "refuse"
    ) -> RunRecord:
        """Take in all that has changed in the sources since the last time, as one version.

        `full` names sources that are compared as a whole: the way out where their history is gone, and where rows that
        were set aside are to be validated again. `on_violation`: see `apply`.
        """
        require_known(on_violation)
        if isinstance(full, str):
            raise QueryError("full must be an iterable of names", hint=f"db.refresh(full=[{full!r}])")
        with self._core.lock, self._core.progress.run():
            self._require_no_transaction("refresh")
            if batch is not None:
                done = self._core.engine.log.batch(batch)
                if done is not None:
                    return RunRecord(done, batch, repeated=True)
            self._core.engine.reader.mark()
            with tidying(self._core):
                record = refresh(self._core, tuple(full), batch, on_violation)
            return record or RunRecord(self._core.version, batch)

    # --- names ---------------------------------------------------------------------------------------------

    def table(self, name: str) -> Table:
        """The table of this name."""
        return StoredTable(self, name)

    # --- what only a database inside this process offers -----------------------------------------------------

    def feed(self, table: str) -> Any:
        """Not possible on Spark: every change is a version."""
        raise UnsupportedError(
            "feed() needs a database inside this process: on Spark every change is a version",
            hint="db.apply and db.stream take in many rows at once",
        )

    def stats(self) -> Any:
        """Not possible on Spark: states lie in files."""
        raise UnsupportedError(
            "stats() needs a database inside this process: on Spark states lie in files",
            hint="db.explain() says how large they are",
        )

    def serve(
        self,
        *,
        host: str = "127.0.0.1",
        port: int | None = None,
        token: str | None = None,
        writes: bool = True,
    ) -> Any:
        """Serve tables and views over HTTP, in a thread of its own, following new versions; see `docs/serve.md`."""
        return self._start_server("serve")(self, host=host, port=port, token=token, writes=writes)

    def studio(
        self, *, host: str = "127.0.0.1", port: int | None = None, token: str | None = None, open: bool = True
    ) -> Any:
        """Serve the warehouse, and open the page that shows it in a browser; see `docs/studio.md`."""
        return self._start_server("studio")(self, host=host, port=port, token=token, open=open)

    def _start_server(self, what: str) -> Callable[..., Any]:
        """The function that serves a warehouse, or that shows it: `connect` has handed it over."""
        if self._servers is None:
            raise UnsupportedError(
                f"{what}() is for databases that connect has opened",
                hint="ec.connect(spark=spark, path=...), or evercurrent.serve.server",
            )
        return self._servers(what)

    # --- versions ------------------------------------------------------------------------------------------

    @property
    def version(self) -> int:
        """The version that this database is at."""
        return self._core.version

    def history(self) -> list[RunRecord]:
        """What every version did, oldest first."""
        return [RunRecord.of_json(e.version, e.batch, e.record) for e in self._core.engine.log.entries()]

    def runs(self, *, last: Any = None) -> Any:
        """What versions did for views, as a Spark DataFrame: the rows of `evercurrent_runs`, of the `last` versions or of all."""
        return runs_frame(self._core, last)

    @guard_nesting()
    def explain(
        self, view: str | None = None, *, stage: str | None = None, changes: Mapping[str, int] | None = None
    ) -> Explanation:
        """What a batch would do, before it runs: strategy, estimate and reason for every view, or all about one.

        `changes` are numbers of changed rows by table, say `{"orders": 100}`.
        """
        with self._core.lock:
            if view is None:
                return explain_all(self._core, changes)
            return explain_view(self._core, self._core.view(view), stage, changes)

    def compact(self) -> int:
        """Merge the segments of every store; returns how many stores were merged."""
        with self._core.lock, self._core.progress.run():
            self._require_no_transaction("compact")
            return upkeep.compact(self._core)

    def vacuum(self, *, keep: int = 100, hours: float = 24.0) -> int:
        """Forget all but the newest versions and remove their files; returns how many bytes were freed.

        Files that were written, and versions that were the newest one, within the last `hours` stay: other drivers may be in
        the middle of a batch. With `hours=0` nothing but the newest versions stays; no other driver may be at work then.
        """
        with self._core.lock:
            self._require_no_transaction("vacuum")
            return upkeep.vacuum(self._core, keep, hours)

    def check(self, *, repair: bool = False) -> CheckReport:
        """Read everything and compare it with its checksums; the report is true if nothing is damaged.

        With `repair`, mapped copies, states and views that are damaged are rebuilt; the report says what was and what could not be.
        """
        with self._core.lock, self._core.progress.run():
            self._require_no_transaction("check")
            if not repair:
                return check(self._core.engine.folder)
            return repair_stores(self._core, repair_log(self._core.engine.folder))

    @guard_nesting()
    def verify(self, views: Iterable[str] | None = None) -> Report:
        """Compare views with what Spark's own SQL returns for their queries. The report is true if all were compared and are equal."""
        require_names(views, "verify")
        with self._core.lock, self._core.progress.run():
            return verify(self._core, views)

    def __repr__(self) -> str:
        catalog = self._core.catalog
        return (
            f"<Warehouse {self._core.engine.folder.root}: {len(catalog.tables)} tables, {len(catalog.views)} views, "
            f"version {self.version}>"
        )
