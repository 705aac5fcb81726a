"""Executes statements of OQL on any database: a definition becomes views or a macro, a query is answered once.

A definition without parameters is a maintained view, and one that has nested collections in its result a family of views: its
parts, and under its own name what SQL sees. They are installed and dropped together. A definition with parameters is a macro: it is
kept as its text and written out wherever it is used.

    define rich as select e from e in Employees where e.salary > 100      a view
    define above(n) as select e from e in Employees where e.salary > n    a macro
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evercurrent.calculus.paths import resolve
from evercurrent.catalog.dependencies import dependants
from evercurrent.catalog.lookup import unknown
from evercurrent.catalog.nodes import Mode, View
from evercurrent.catalog.removal import remove
from evercurrent.data.zset import Row
from evercurrent.errors import EvaluationError, QueryError
from evercurrent.frontend.oql import syntax
from evercurrent.frontend.oql.context import wrong
from evercurrent.frontend.oql.define import question, views
from evercurrent.frontend.oql.layout import Layout
from evercurrent.frontend.oql.parse import parse, parse_one
from evercurrent.oql_views.translation import context_of
from evercurrent.oql_views.values import Stitcher
from evercurrent.rows.arguments import require_choice, require_text
from evercurrent.source import Place
from evercurrent.statements.options import MODES, POLICIES, Policy
from evercurrent.statements.redefinition import redefine_oql, redefine_users
from evercurrent.statements.target import Definition, Target

Definitions = syntax.Define | syntax.Undefine | syntax.Import


def run(
    target: Target,
    text: str,
    policy: Policy = "incremental",
    mode: Mode = "strict",
    publish: bool | None = None,
) -> Any:
    """Runs the statements of a text; returns the value of the last one, None if that is no query."""
    require_text(text, "a statement")
    require_choice(policy, POLICIES, "policy")
    require_choice(mode, MODES, "mode")
    statements = parse(text)
    if not statements:
        raise QueryError("there is no statement in the text")
    result: Any = None
    with target.lock, target.script() as begin:
        for statement in statements:
            begin(statement)
            if isinstance(statement, Definitions):
                target.require_no_transaction("a definition")
                result = None
                _define(target, statement, policy, mode, publish)
            else:
                result = ask(target, statement, False)
    return result


def query(target: Target, text: str, pending: bool = False) -> Any:
    """Returns the value of one query."""
    require_text(text, "a query")
    statement = parse_one(text)
    if isinstance(statement, Definitions):
        raise QueryError("this is not a query", hint="db.oql runs statements of every kind")
    with target.lock:
        return ask(target, statement, pending)


# --- definitions ---------------------------------------------------------------------------------------------


def _define(target: Target, statement: Definitions, policy: Policy, mode: Mode, publish: bool | None) -> None:
    match statement:
        case syntax.Define(_, parameters) if parameters:
            define_macro(target, statement)
        case syntax.Define():
            define_view(target, statement, policy, mode, publish)
        case syntax.Undefine(name, place):
            undefine(target, name, place)
        case syntax.Import(name, alias, place):
            if name not in target.catalog.schema.classes:
                raise wrong(f"there is no class {name}", place)
            catalog = replace(target.catalog, aliases={**target.catalog.aliases, alias: name})
            target.install(catalog, "IMPORT", definition_of("import", alias, name))


def definition_of(
    kind: str, name: str, text: str, policy: str | None = None, mode: str = "strict"
) -> Definition:
    """Returns what a definition is kept as."""
    about = {"kind": kind, "name": name, "text": text, "policy": policy}
    return about if mode == "strict" else {**about, "mode": mode}


def define_view(
    target: Target, statement: syntax.Define, policy: Policy, mode: Mode, publish: bool | None
) -> None:
    """Defines a view, or replaces one; what depends on a replaced one is defined again."""
    name, before = statement.name, target.catalog
    published = target.find_publishing(name, publish)
    if before.table(name) is not None:
        raise wrong(f"there is already a table {name}", statement.place)
    old = before.view(name)
    catalog = before if old is None else remove(before, "view", name)
    catalog = replace(catalog, macros={k: v for k, v in catalog.macros.items() if k != name})
    keep = published.get("publish", True) is not False
    context = context_of(catalog)
    for view in views(context, name, statement.body, statement.text, keep=keep, policy=policy, mode=mode):
        catalog = catalog.with_view(view)
    if old is not None:
        catalog = redefine_users(catalog, before, name)
    about = definition_of("view", name, statement.text, policy, mode)
    made = {**about, "language": "oql", **published}
    target.install(catalog, "DEFINE", made, dropped={("macro", name)})


def define_macro(target: Target, statement: syntax.Define) -> None:
    """Defines a macro, or replaces one; the views of OQL are then defined again."""
    name, catalog = statement.name, target.catalog
    if catalog.relation(name) is not None:
        raise wrong(f"there is already a table or view {name}", statement.place, "undefine it first")
    old = catalog.macros.get(name)
    new = replace(catalog, macros={**catalog.macros, name: statement.text})
    if old is not None and old != statement.text:
        new = redefine_oql(new)
    target.install(new, "DEFINE", definition_of("macro", name, statement.text))


def undefine(target: Target, name: str, place: Place | None) -> None:
    """Drops a view of OQL or a macro; refused while something depends on it."""
    catalog = target.catalog
    if name in catalog.macros:
        left = replace(catalog, macros={k: v for k, v in catalog.macros.items() if k != name})
        redefine_oql(left)  # raises if a view uses it
        target.install(left, "UNDEFINE", dropped={("macro", name)})
        return
    view = catalog.view(name)
    if view is None or view.name != name:
        known = [*catalog.macros, *(v.name for v in catalog.views.values())]
        raise wrong(f"there is no definition {name}", place, unknown("view", name, known).hint)
    needed = dependants(catalog, name)
    if needed:
        raise wrong(
            f"{name} cannot be undefined: {', '.join(map(str, needed))} "
            f"{'depends' if len(needed) == 1 else 'depend'} on it",
            place,
            hint="undefine or drop what depends on it first",
        )
    target.install(remove(catalog, "view", name), "UNDEFINE", dropped={("view", name.lower())})


# --- queries -------------------------------------------------------------------------------------------------


def ask(target: Target, node: syntax.Node, pending: bool) -> Any:
    """Returns the value of a query, from scratch. What would be UNDEFINED in a view for want of a value is an error here."""
    context = context_of(target.query_catalog())
    asked = question(context, node)
    for check in context.checks:
        if any(weight for _, weight in target.answer(resolve(check.query, target.catalog), pending)):
            raise EvaluationError(check.message.replace("may be", "is"), place=check.place)
    queries = dict(asked.relations)

    def rows(name: str) -> list[Row]:
        return [row for row, weight in target.answer(queries[name], pending) for _ in range(weight)]

    return Stitcher(rows, lambda name: queries[name].fields, target.object_of).whole(asked.layout)


def value_of(target: Target, view: View, pending: bool = False) -> Any:
    """Returns the value of a view of OQL."""
    if not isinstance(view.shape, Layout):
        raise QueryError(f"{view.name} was not defined in OQL", hint="rows() reads it")
    return stitcher_of(target, pending).whole(view.shape)


def stitcher_of(target: Target, pending: bool = False) -> Stitcher:
    """Returns what reads values from the rows of views."""
    return Stitcher(lambda name: target.view_rows(name, pending), target.catalog.fields_of, target.object_of)
