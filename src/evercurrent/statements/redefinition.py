"""Definitions resolved again, when a relation, macro or class that they read has changed.

    CREATE OR REPLACE TABLE orders (...)      every view over `orders` is parsed against the new columns

Whatever can no longer be resolved is refused, with the reason, before anything changes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar, cast

from evercurrent.calculus.inline import inline_views
from evercurrent.calculus.nodes import Query
from evercurrent.calculus.walk import relations_of
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import all_dependants, view_order
from evercurrent.catalog.nodes import Assertion, PartOf, View
from evercurrent.catalog.removal import remove
from evercurrent.errors import EvercurrentError, QueryError
from evercurrent.frontend.oql import syntax
from evercurrent.frontend.oql.define import views
from evercurrent.frontend.oql.parse import parse
from evercurrent.frontend.python.definitions import resolve
from evercurrent.frontend.sql.parse import parse_statement
from evercurrent.frontend.sql.statements import CreateAssertion, CreateView
from evercurrent.oql_views.translation import context_of

Defined = TypeVar("Defined", View, Assertion)


def over_kept(node: Defined, catalog: Catalog) -> Defined:
    """Returns the definition over tables and kept views alone, and says which these are."""
    if node.query is None:
        return node
    query = inline_views(cast(Query, node.query), catalog)
    return replace(node, query=query, uses=relations_of(query))


def redefine(node: View | Assertion, catalog: Catalog) -> View | Assertion:
    """Returns the same definition, resolved against another catalog."""
    if isinstance(node, View) and node.language == "python":
        return resolve(node, catalog)
    if isinstance(node, View) and node.language == "spark":
        raise QueryError("only Spark understands its query, which is not read again")
    if isinstance(node, View) and node.language == "oql":
        return redefine_part(node, catalog)
    policy = node.policy if isinstance(node, View) else "incremental"
    statement = parse_statement(node.text, catalog, policy)
    assert isinstance(statement, CreateView | CreateAssertion)
    if isinstance(statement, CreateAssertion):
        return statement.assertion
    return replace(statement.view, mode=node.mode) if isinstance(node, View) else statement.view


def redefine_dependants(catalog: Catalog, name: str) -> Catalog:
    """Returns the catalog with everything that depends on a changed relation resolved again, in order."""
    affected = {(d.kind, d.name.lower()) for d in all_dependants(catalog, name)}
    for view in view_order(catalog):
        if ("view", view.name.lower()) in affected:
            try:
                new = redefine(view, catalog)
            except QueryError as problem:
                raise _no_longer(view, name, problem) from problem
            assert isinstance(new, View)
            catalog = catalog.with_view(over_kept(new, catalog))
    for assertion in list(catalog.assertions.values()):
        if ("assertion", assertion.name.lower()) in affected:
            try:
                new = redefine(assertion, catalog)
            except QueryError as problem:
                raise _no_longer(assertion, name, problem) from problem
            assert isinstance(new, Assertion)
            catalog = catalog.with_assertion(over_kept(new, catalog))
    return catalog


def _no_longer(node: View | Assertion, name: str, problem: QueryError) -> QueryError:
    kind = "view" if isinstance(node, View) else "assertion"
    return QueryError(
        f"{kind} {node.name} depends on {name} and would be wrong: {problem.message}",
        place=problem.place,
        hint=f"drop {node.name} first, or keep the columns that it reads",
    )


# --- definitions of OQL --------------------------------------------------------------------------------------


def redefine_users(catalog: Catalog, before: Catalog, name: str) -> Catalog:
    """Returns the catalog with every view that used a view of OQL defined over what that view is now."""
    affected = {d.name.lower() for d in all_dependants(before, name) if d.kind == "view"}
    return _redefine_all(catalog, [v for v in view_order(before) if v.name.lower() in affected])


def redefine_oql(catalog: Catalog) -> Catalog:
    """Returns the catalog with all views of OQL, and what depends on one, defined again.

    For when macros, classes or operations have changed: they are written out in the views that use them.
    """
    order = view_order(catalog)
    affected: set[str] = set()
    for view in order:
        if view.language == "oql" or affected & {u.lower() for u in view.uses}:
            affected.add(view.name.lower())
    return _redefine_all(catalog, [v for v in order if v.name.lower() in affected])


def _redefine_all(catalog: Catalog, affected: list[View]) -> Catalog:
    for view in affected:
        if isinstance(view.shape, PartOf):
            continue
        try:
            if view.language == "oql":
                catalog = remove(catalog, "view", view.name)
                for found in redefine_family(view, catalog):
                    catalog = catalog.with_view(found)
            else:
                new = redefine(view, catalog)
                assert isinstance(new, View)
                catalog = catalog.with_view(over_kept(new, catalog))
        except EvercurrentError as problem:
            raise QueryError(
                f"view {view.name} depends on it and would be wrong: {problem.message}",
                place=problem.place,
                hint=f"undefine {view.name} first",
            ) from problem
    return catalog


def redefine_family(view: View, catalog: Catalog) -> list[View]:
    """Returns the views of one definition of OQL, translated against a catalog."""
    statement = parse(view.text)[0]
    assert isinstance(statement, syntax.Define)
    name = view.shape.view if isinstance(view.shape, PartOf) else view.name
    whole = catalog.view(name) or view
    return views(
        context_of(catalog),
        name,
        statement.body,
        view.text,
        keep=not whole.inline,
        policy=view.policy,
        mode=view.mode,
        plan=view.plan,
    )


def redefine_part(view: View, catalog: Catalog) -> View:
    """Returns one view of such a family, translated against a catalog."""
    found = {v.name: v for v in redefine_family(view, catalog)}
    if view.name not in found:
        raise QueryError(f"{view.name} would no longer be a part of {next(reversed(found))}")
    return found[view.name]
