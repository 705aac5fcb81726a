"""Views that only Spark understands: defined by what Spark says of their columns, kept with these and with the reason.

    CREATE VIEW v WITH (policy = 'full') AS SELECT from_json(j, 'a INT').a AS a FROM t

The compiler refuses `from_json`. The policies `full` and `auto` allow to recompute, so Spark is asked: if it knows the query, it is
a view whose rows Spark computes (`maintenance.views_by_spark`). If not, the compiler's own refusal stands.
"""

from __future__ import annotations

from dataclasses import replace

from evercurrent.catalog.nodes import OnlySpark, View
from evercurrent.data.types import Member
from evercurrent.engine.spark.own_sql.analysis import columns_of_query, require_builtin
from evercurrent.errors import EvercurrentError, LimitError, QueryError, UnsupportedError
from evercurrent.frontend.sql.ddl import Policy
from evercurrent.frontend.sql.spark_text import query_text, total_order
from evercurrent.frontend.sql.spark_views import Heading, view_heading
from evercurrent.frontend.sql.statements import CreateView
from evercurrent.warehouse.core import Core

HINT = "policy='full' and policy='auto' let Spark compute the view, if Spark knows the query"


def foreign_view(core: Core, text: str, policy: Policy, problem: EvercurrentError) -> CreateView | None:
    """Returns the view of a definition that the compiler refuses because of `problem`; None if Spark does not know it either."""
    if isinstance(problem, LimitError):
        return None
    try:
        heading = view_heading(text, core.catalog, policy)
    except EvercurrentError:
        return None
    if heading is None:
        return None
    if heading.policy == "incremental" or core.engine.session is None:
        if isinstance(problem, UnsupportedError):
            problem.hint = f"{problem.hint}; {HINT}" if problem.hint else HINT
        return None
    try:
        view = View(
            heading.name,
            columns_by_spark(core, heading, text),
            None,
            text=text,
            language="spark",
            policy=heading.policy,
            mode=heading.mode,
            uses=heading.uses,
            shape=OnlySpark(problem.message),
        )
    except EvercurrentError as refusal:
        problem.hint = f"{problem.hint}; {refusal.message}" if problem.hint else refusal.message
        return None
    return CreateView(view, heading.replacing, heading.quietly)


def columns_by_spark(core: Core, heading: Heading, text: str) -> tuple[Member, ...]:
    """Returns the columns that Spark finds, under the names of the definition."""
    relations: dict[str, tuple[Member, ...]] = {}
    for name in heading.uses:
        relation = core.catalog.relation(name)
        assert relation is not None
        relations[relation.name] = relation.fields
    session = core.engine.session
    require_builtin(session, heading.functions)
    plain = query_text(text)
    found = columns_of_query(session, plain, relations)
    query = total_order(text, len(found))
    if query is None:
        raise QueryError("it takes the first rows of columns it does not name")
    if query != plain:
        columns_of_query(session, query, relations)  # its columns can be put in an order
    if heading.columns:
        if len(heading.columns) != len(found):
            raise QueryError(f"the view names {len(heading.columns)} columns, and its query has {len(found)}")
        found = tuple(replace(f, name=n) for f, n in zip(found, heading.columns, strict=True))
    names = [f.name.lower() for f in found]
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise QueryError(f"two columns are called {twice}")
    return found
