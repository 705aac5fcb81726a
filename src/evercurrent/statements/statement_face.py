"""The methods of a database that run statements and look up names: written once, over the target that each database has.

>>> import evercurrent as ec
>>> db = ec.connect()
>>> db.execute("CREATE TABLE t (n BIGINT); INSERT INTO t VALUES (1), (2)")
<Result of INSERT: 2 rows>
>>> db.query("SELECT sum(n) AS total FROM t WHERE n > ?", [1]).rows()
[(2,)]

`Database` and `Warehouse` inherit them: the one has a `SessionTarget`, the other a `WarehouseTarget`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from evercurrent.catalog.lookup import unknown
from evercurrent.catalog.nodes import Mode, is_part
from evercurrent.catalog.nodes import Table as TableNode
from evercurrent.data.showing import show_value
from evercurrent.errors import QueryError
from evercurrent.limits import guard_nesting
from evercurrent.rows.arguments import require_choice, require_text
from evercurrent.rows.conversion import is_many
from evercurrent.rows.familiar_names import DATABASE, finder
from evercurrent.rows.results import Result
from evercurrent.statements.handles import Table, View
from evercurrent.statements.options import LANGUAGES, POLICIES, Language, Parameters, Policy

if TYPE_CHECKING:
    from evercurrent.statements.target import Target

# The compiler is imported when a statement runs, so that importing the package is quick.


class StatementFace:
    """The part of a database that runs statements."""

    _closed = False

    if TYPE_CHECKING:
        table: Callable[[str], Table]
        view: Any

    else:
        __getattr__ = finder(DATABASE, "a database")

    @property
    def _target(self) -> Target:
        raise NotImplementedError

    @guard_nesting()
    def execute(
        self,
        sql: str,
        parameters: Parameters = None,
        *,
        policy: Policy | None = None,
        mode: Mode | None = None,
    ) -> Result:
        """Run a statement, or several separated by semicolons; returns the result of the last.

        `parameters` stand for `?` (a sequence) or `:name` (a mapping); they are values, whatever is written in them.

        `policy` is for views that the statements create and that name none: `incremental` (the default) refuses a view that could
        only be recomputed in full, `full` recomputes it whenever a table under it changes, `auto` recomputes it where nothing
        else is possible, and on Spark also where that is estimated to cost less. So is `mode`: a `strict` view (the default) is
        updated at each commit, a `lazy` one when it is read, a `hybrid` one updates its collections at once and derives values
        when it is read. The answers are the same.

        On Spark, definitions that follow each other are one version: there are all of them or none.
        """
        from evercurrent.statements.execute import execute

        return execute(self._target, sql, parameters, policy, mode)

    @guard_nesting()
    def executemany(self, sql: str, rows: Iterable[Parameters]) -> Result:
        """Run a statement once for each element of `rows`, which are its parameters, in one transaction.

        Returns the result of the last run, whose `count` is that of all runs together.
        """
        from evercurrent.statements.execute import execute_many

        return execute_many(self._target, sql, rows)

    def sql(self, text: str, parameters: Parameters = None) -> Result:
        """Run a statement of any kind, or several: `execute` under the name that Spark and DuckDB have for it."""
        return self.execute(text, parameters)

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
        require_choice(language, LANGUAGES, "language")
        if language == "oql":
            from evercurrent.statements import oql

            return oql.query(self._target, text, pending)
        from evercurrent.statements.execute import query

        return query(self._target, text, parameters, pending)

    @guard_nesting()
    def oql(
        self,
        text: str,
        *,
        policy: Policy = "incremental",
        mode: Mode = "strict",
        publish: bool | None = None,
    ) -> Any:
        """Run statements of OQL; returns the value of the last one if it is a query.

        `define name as query` makes a maintained view, `db.view(name).value()` reads it; with parameters it gives a name to a
        query. `undefine name` drops it, `import Class as Name` renames a class. `policy` and `mode` are those of the views.

        On Spark, `publish=False` publishes the views nowhere (see `publish`); those with nested collections are then not kept with
        arrays besides.
        """
        from evercurrent.statements.oql import run

        return run(self._target, text, policy, mode, publish)

    @guard_nesting()
    def replace_view(self, text: str, *, policy: Policy | None = None) -> None:
        """Replace a view by the definition of this text (CREATE VIEW), or create it."""
        from evercurrent.frontend.sql.parse import parse_statement
        from evercurrent.frontend.sql.statements import CreateView
        from evercurrent.statements.execute import run

        require_text(text, "a statement")
        if policy is not None:
            require_choice(policy, POLICIES, "policy")
        target = self._target
        with target.lock, target.script() as begin:
            statement = parse_statement(text, target.catalog, policy or "incremental")
            if not isinstance(statement, CreateView):
                raise QueryError("this does not define a view", hint="CREATE VIEW name AS SELECT ...")
            begin(statement)
            run(target, replace(statement, replace=True, if_not_exists=False), text)

    def create_view(
        self,
        name: str,
        query: Any,
        *,
        replace: bool = False,
        policy: Policy | None = None,
        mode: Mode | None = None,
    ) -> View:
        """Create a view: CREATE VIEW for a query in SQL, `db.view(name, query)` for a query object. `policy` and `mode` as in `execute`."""
        require_text(name, "the name of a view")
        if not isinstance(query, str):
            if policy is not None or mode is not None:
                raise QueryError("policy and mode are for views in SQL", hint="db.view(name, query)")
            made: View = self.view(name, query, replace=replace)
            return made
        from evercurrent.frontend.sql.parse import parse_script
        from evercurrent.frontend.sql.spark_text import quote_name

        queries = parse_script(query)
        if len(queries) != 1:
            raise QueryError(f"the view {name} needs one query, not {len(queries)}")
        head = "CREATE OR REPLACE VIEW" if replace else "CREATE VIEW"
        self.execute(f"{head} {quote_name(name)} AS {queries[0]}", policy=policy, mode=mode)
        found: View = self.view(name)
        return found

    def drop_view(self, name: str, *, if_exists: bool = False, cascade: bool = False) -> None:
        """Drop a view; with `cascade`, what depends on it too."""
        self._drop("VIEW", name, if_exists, cascade)

    def drop_table(self, name: str, *, if_exists: bool = False, cascade: bool = False) -> None:
        """Drop a table; with `cascade`, what depends on it too."""
        self._drop("TABLE", name, if_exists, cascade)

    def _drop(self, kind: str, name: str, if_exists: bool, cascade: bool) -> None:
        from evercurrent.frontend.sql.spark_text import quote_name

        require_text(name, f"the name of a {kind.lower()}")
        exists, others = " IF EXISTS" if if_exists else "", " CASCADE" if cascade else ""
        self.execute(f"DROP {kind}{exists} {quote_name(name)}{others}")

    # --- the whole ------------------------------------------------------------------------------------------

    def close(self) -> None:
        """End the use of this database. A transaction that BEGIN has begun is undone; later calls are refused. Idempotent."""
        if not self._closed:
            self._target.close()
            self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getitem__(self, name: str) -> Table | View:
        """The table or view of this name: `db["orders"]`."""
        found = self._target.catalog.relation(require_text(name, "the name of a table or view"))
        if found is None:
            known = [*self.tables, *self.views]
            raise unknown("table or view", name, known)
        return self.table(found.name) if isinstance(found, TableNode) else self.view(found.name)

    def changes(self, name: str, *, since: int) -> Any:
        """What has changed of a table or view after a version, with the columns `_change_type` and `_commit_version`.

        In a file, a `Result`; on Spark, a Spark DataFrame.
        """
        return self[name].changes(since=since)

    def __contains__(self, name: object) -> bool:
        """Whether there is a table or view of this name."""
        return isinstance(name, str) and self._target.catalog.relation(name) is not None

    def __iter__(self) -> Iterator[str]:
        """The names of all tables and views."""
        return iter([*self.tables, *self.views])

    # --- names ---------------------------------------------------------------------------------------------

    @property
    def tables(self) -> list[str]:
        """The names of all tables."""
        return [t.name for t in self._target.catalog.tables.values()]

    @property
    def views(self) -> list[str]:
        """The names of all views."""
        return [v.name for v in self._target.catalog.views.values() if not is_part(v)]

    @property
    def assertions(self) -> list[str]:
        """The names of all assertions."""
        return [a.name for a in self._target.catalog.assertions.values()]


def require_names(views: Any, method: str) -> None:
    """Refuses what is no iterable of names."""
    if views is not None and not is_many(views):
        raise QueryError("views must be an iterable of names", hint=f"db.{method}([{show_value(views)}])")


def require_mapping(changes: Any) -> None:
    """Refuses what is no mapping from tables to feeds."""
    if not isinstance(changes, Mapping):
        raise QueryError("changes must be a mapping from names of tables to change feeds")
