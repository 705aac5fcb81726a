"""OQL, executed: definitions become views, or names for queries with parameters; a query is answered once.

A definition without parameters is a maintained view, and one that has nested collections in its result a family of views: its
parts, and under its own name what SQL sees. They are installed and dropped together. A definition with parameters is kept as
its text and written out wherever it is used.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, assert_never

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import all_dependants, dependants, view_order
from evercurrent.catalog.lookup import unknown
from evercurrent.catalog.nodes import PartOf, View
from evercurrent.catalog.removal import remove
from evercurrent.data.collections import UNDEFINED
from evercurrent.data.zset import Row
from evercurrent.errors import EvaluationError, EvercurrentError, QueryError
from evercurrent.frontend.oql import syntax
from evercurrent.frontend.oql.context import wrong
from evercurrent.frontend.oql.define import question, views
from evercurrent.frontend.oql.layout import Layout
from evercurrent.frontend.oql.parse import parse, parse_one
from evercurrent.oql_views.translation import context_of
from evercurrent.oql_views.values import Stitcher
from evercurrent.rows.arguments import require_choice
from evercurrent.session.definition import check_unstored, over_kept
from evercurrent.session.execute import answer
from evercurrent.session.installation import defining, install

if TYPE_CHECKING:
    from evercurrent.session.session import Session


def run(session: Session, text: str, *, pending: bool = False, **options: Any) -> Any:
    """Run the statements of a text; the value of the last query, None if the last statement is none."""
    require_choice(options.get("policy", "incremental"), ("incremental", "auto", "full"), "policy")
    require_choice(options.get("mode", "strict"), ("strict", "lazy", "hybrid"), "mode")
    statements = parse(text)
    if not statements:
        raise QueryError("there is no statement in the text")
    result: Any = None
    for statement in statements:
        with session.lock:
            result = _run(session, statement, text, pending, options)
    return result


def _run(session: Session, statement: syntax.Statement, text: str, pending: bool, options: Any) -> Any:
    match statement:
        case syntax.Define(name, parameters):
            if parameters:
                define_macro(session, statement)
            else:
                define(session, statement, options)
        case syntax.Undefine(name, place):
            undefine(session, name, place)
        case syntax.Import(name, alias, place):
            if name not in session.catalog.schema.classes:
                raise wrong(f"there is no class {name}", place)
            session.catalog = replace(session.catalog, aliases={**session.catalog.aliases, alias: name})
        case (
            syntax.Constant()
            | syntax.Name()
            | syntax.Step()
            | syntax.Index()
            | syntax.Slice()
            | syntax.Unary()
            | syntax.Binary()
            | syntax.Compared()
            | syntax.Quantified()
            | syntax.Call()
            | syntax.Construct()
            | syntax.Collect()
            | syntax.Range()
            | syntax.Cast()
            | syntax.Select()
        ):
            return ask(session, statement, pending)
        case _:
            assert_never(statement)
    return None


def query(session: Session, text: str, pending: bool) -> Any:
    """The value of one query."""
    statement = parse_one(text)
    if isinstance(statement, syntax.Define | syntax.Undefine | syntax.Import):
        raise QueryError("this is not a query", hint="db.oql runs statements of every kind")
    with session.lock:
        return ask(session, statement, pending)


# --- definitions ---------------------------------------------------------------------------------------------


def define(session: Session, statement: syntax.Define, options: dict[str, Any]) -> None:
    name = statement.name
    with defining(session):
        catalog = session.catalog
        if catalog.table(name) is not None:
            raise wrong(f"there is already a table {name}", statement.place)
        old = catalog.view(name)
        if old is not None:
            catalog = remove(catalog, "view", name)
        catalog = replace(catalog, macros={k: v for k, v in catalog.macros.items() if k != name})
        found = views(context_of(catalog), name, statement.body, statement.text, **options)
        for view in found:
            check_unstored(session, view)
            catalog = catalog.with_view(view)
        if old is not None:
            catalog = follow(catalog, session.catalog, name)
        install(session, catalog)


def define_macro(session: Session, statement: syntax.Define) -> None:
    with defining(session):
        catalog = session.catalog
        if catalog.relation(statement.name) is not None:
            raise wrong(
                f"there is already a table or view {statement.name}", statement.place, "undefine it first"
            )
        old = catalog.macros.get(statement.name)
        new = replace(catalog, macros={**catalog.macros, statement.name: statement.text})
        if old is not None and old != statement.text:
            install(session, translated_anew(new))
        else:
            session.catalog = new


def follow(catalog: Catalog, before: Catalog, name: str) -> Catalog:
    """The catalog with everything that used a view defined anew over what it is now."""
    affected = {d.name.lower() for d in all_dependants(before, name) if d.kind == "view"}
    return _again(catalog, [v for v in view_order(before) if v.name.lower() in affected])


def translated_anew(catalog: Catalog) -> Catalog:
    """The catalog with every view in OQL, and what depends on one, defined anew: macros, classes or operations have changed."""
    order = view_order(catalog)
    affected: set[str] = set()
    for view in order:
        if view.language == "oql" or affected & {u.lower() for u in view.uses}:
            affected.add(view.name.lower())
    return _again(catalog, [v for v in order if v.name.lower() in affected])


def _again(catalog: Catalog, again: list[View]) -> Catalog:
    from evercurrent.session.execute import redefine

    for view in again:
        if isinstance(view.shape, PartOf):
            continue
        try:
            if view.language == "oql":
                catalog = remove(catalog, "view", view.name)
                for found in defined_again(view, catalog):
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


def defined_again(view: View, catalog: Catalog) -> list[View]:
    """The family of a definition, translated anew against a catalog."""
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


def redefined(view: View, catalog: Catalog) -> View:
    """One view of a family, translated anew."""
    found = {v.name: v for v in defined_again(view, catalog)}
    if view.name not in found:
        raise QueryError(f"{view.name} would no longer be a part of {next(reversed(found))}")
    return found[view.name]


def undefine(session: Session, name: str, place: Any) -> None:
    with defining(session):
        catalog = session.catalog
        if name in catalog.macros:
            left = replace(catalog, macros={k: v for k, v in catalog.macros.items() if k != name})
            translated_anew(left)  # whoever uses it could not be defined anew any more
            session.catalog = left
            return
        view = catalog.view(name)
        if view is None or view.name != name:
            known = [*catalog.macros, *(v.name for v in catalog.views.values())]
            problem = unknown("view", name, known)
            raise wrong(f"there is no definition {name}", place, problem.hint)
        needed = dependants(catalog, name)
        if needed:
            raise wrong(
                f"{name} cannot be undefined: {', '.join(map(str, needed))} "
                f"{'depends' if len(needed) == 1 else 'depend'} on it",
                place,
                hint="undefine or drop what depends on it first",
            )
        install(session, remove(catalog, "view", name))


# --- queries -------------------------------------------------------------------------------------------------


def ask(session: Session, node: syntax.Node, pending: bool) -> Any:
    """The value of a query, once, from scratch. What would be UNDEFINED in a view for want of a value is an error here."""
    context = context_of(session.catalog)
    asked = question(context, node)
    for check in context.checks:
        from evercurrent.calculus.paths import resolve

        if answer(session, resolve(check.query, session.catalog), pending):
            raise EvaluationError(check.message.replace("may be", "is"), place=check.place)
    queries = dict(asked.relations)
    stitcher = Stitcher(
        lambda name: answer(session, queries[name], pending).inserted(),
        lambda name: queries[name].fields,
        handle_of(session),
    )
    return stitcher.whole(asked.layout)


def value(session: Session, view: View, pending: bool = False) -> Any:
    """The value of a view."""
    layout = view.shape
    if not isinstance(layout, Layout):
        raise QueryError(f"{view.name} was not defined in OQL", hint="rows() reads it")
    return stitcher(session, pending).whole(layout)


def stitcher(session: Session, pending: bool = False) -> Stitcher:
    """What reads values from the rows of views."""

    def rows(name: str) -> list[Row]:
        return list(session.view_rows(name, pending).inserted())

    return Stitcher(rows, session.catalog.fields_of, handle_of(session))


def handle_of(session: Session) -> Any:
    space = session.space

    def handle(oid: int) -> Any:
        found = None if space is None else space.at(oid)
        return UNDEFINED if found is None else found

    return handle
