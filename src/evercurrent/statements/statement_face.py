"""The methods of a database that run statements and look up names: written once, over the target that each database has.

class Database(StatementFace): _target = SessionTarget(...)
class Warehouse(StatementFace): _target = WarehouseTarget(...)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evercurrent.catalog.nodes import Mode, is_part
from evercurrent.data.showing import show_value
from evercurrent.errors import QueryError
from evercurrent.limits import guard_nesting
from evercurrent.rows.arguments import require_choice, require_text
from evercurrent.rows.conversion import is_many
from evercurrent.rows.results import Result
from evercurrent.statements.options import LANGUAGES, POLICIES, Language, Parameters, Policy

if TYPE_CHECKING:
    from evercurrent.statements.target import Target

# The compiler is imported when a statement runs, so that importing the package is quick.


class StatementFace:
    """The part of a database that runs statements."""

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
