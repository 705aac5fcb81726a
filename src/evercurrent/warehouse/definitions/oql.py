"""OQL on a warehouse: the same definitions, kept as their text in every version.

A view with nested collections is kept in parts, as in process, and besides as what Spark reads: a relation with arrays, which
is published like any other view.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from evercurrent.calculus.paths import resolve
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import dependants
from evercurrent.catalog.nodes import View
from evercurrent.catalog.removal import remove
from evercurrent.data.zset import Row
from evercurrent.engine.spark.translate.types import require_stored
from evercurrent.errors import EvaluationError, QueryError
from evercurrent.frontend.oql import syntax
from evercurrent.frontend.oql.context import wrong
from evercurrent.frontend.oql.define import question, views
from evercurrent.frontend.oql.layout import Layout
from evercurrent.frontend.oql.parse import parse, parse_one
from evercurrent.oql_views.translation import context_of
from evercurrent.oql_views.values import Stitcher
from evercurrent.session.oql import follow, handle_of, translated_anew
from evercurrent.warehouse.definitions import statements
from evercurrent.warehouse.definitions.classes import directly
from evercurrent.warehouse.definitions.drafts import Script, change
from evercurrent.warehouse.maintenance.publish import definition_of
from evercurrent.warehouse.queries import answer

if TYPE_CHECKING:
    from evercurrent.warehouse.core import Core
    from evercurrent.warehouse.database import Warehouse


def run(db: Warehouse, text: str, policy: str, mode: str = "strict", publish: bool | None = None) -> Any:
    """Run the statements of a text; the value of the last query."""
    statements = parse(text)
    if not statements:
        raise QueryError("there is no statement in the text")
    result: Any = None
    with db._core.lock, Script(db._core) as script:
        for statement in statements:
            script.next(isinstance(statement, syntax.Define | syntax.Undefine | syntax.Import))
            result = _run(db, statement, policy, mode, publish)
    return result


def _run(db: Warehouse, statement: syntax.Statement, policy: str, mode: str, publish: bool | None) -> Any:
    core = db._core
    match statement:
        case syntax.Define() | syntax.Undefine() | syntax.Import():
            db._require_no_transaction("a definition")
        case _:
            return ask(db, statement)
    match statement:
        case syntax.Define(name, parameters, _, text) if parameters:
            catalog = replace(core.catalog, macros={**core.catalog.macros, name: text})
            if core.catalog.relation(name) is not None:
                raise wrong(f"there is already a table or view {name}", statement.place, "undefine it first")
            if name in core.catalog.macros:
                catalog = stored(translated_anew(catalog), core.catalog)
            change(core, catalog, "DEFINE", statements.defining("macro", name, text))
        case syntax.Define():
            define(core, statement, policy, mode, publish)
        case syntax.Import(name, alias, place):
            if name not in core.catalog.schema.classes:
                raise wrong(f"there is no class {name}", place)
            catalog = replace(core.catalog, aliases={**core.catalog.aliases, alias: name})
            change(core, catalog, "IMPORT", statements.defining("import", alias, name))
        case syntax.Undefine(name, place):
            undefine(core, name, place)
    return None


def define(core: Core, statement: syntax.Define, policy: str, mode: str, publish: bool | None = None) -> None:
    name = statement.name
    if mode not in ("strict", "lazy", "hybrid"):
        raise QueryError(f"there is no mode {mode!r}", hint="there is strict, lazy and hybrid")
    if core.catalog.table(name) is not None:
        raise wrong(f"there is already a table {name}", statement.place)
    catalog = core.catalog
    old = catalog.view(name)
    if old is not None:
        catalog = remove(catalog, "view", name)
    catalog = replace(catalog, macros={k: v for k, v in catalog.macros.items() if k != name})
    about = statements.defining("view", name, statement.text, policy, mode)
    published = {k: v for k, v in definition_of(core, name).items() if k == "publish"}
    if publish is not None:
        published["publish"] = publish
    definition = {**about, "language": "oql", **published}
    catalog = view_of_definition(catalog, definition)
    if old is not None:
        catalog = follow(catalog, core.catalog, name)
    change(core, stored(catalog, core.catalog), "DEFINE", definition, dropped={("macro", name)})


def publish_otherwise(core: Core, view: View, definition: Mapping[str, Any]) -> bool:
    """Whether another place of publishing changes how a view is kept; then it is defined anew.

    What is published nowhere is not kept with arrays: a change inside costs what changed, whatever the size of the collection.
    """
    keeps = definition.get("publish", True) is not False
    if not isinstance(view.shape, Layout) or not view.shape.parts or keeps is not view.inline:
        return False
    catalog = view_of_definition(remove(core.catalog, "view", view.name), definition)
    catalog = follow(catalog, core.catalog, view.name)
    change(core, stored(catalog, core.catalog), "PUBLISH", definition)
    return True


def stored(catalog: Catalog, before: Catalog) -> Catalog:
    """The catalog, if all that is new in it can be kept."""
    for key, view in catalog.views.items():
        if view is not before.views.get(key):
            for f in view.fields:
                require_stored(f.type)
    return catalog


def view_of_definition(catalog: Catalog, definition: Mapping[str, Any]) -> Catalog:
    """The catalog with the views of a definition, or with what else OQL defines."""
    name, text = definition["name"], definition["text"]
    match definition["kind"]:
        case "macro":
            return replace(catalog, macros={**catalog.macros, name: text})
        case "object":
            if text not in catalog.schema.classes:
                raise QueryError(f"there is no class {text}")
            return replace(catalog, objects={**catalog.objects, name: text})
        case "import":
            if text not in catalog.schema.classes:
                raise QueryError(f"there is no class {text}")
            return replace(catalog, aliases={**catalog.aliases, name: text})
        case _:
            statement = cast(syntax.Define, parse(text)[0])
            context = context_of(catalog)
            policy = definition.get("policy") or "incremental"
            mode = definition.get("mode") or "strict"
            for view in views(
                context,
                name,
                statement.body,
                text,
                keep=definition.get("publish", True) is not False,
                policy=policy,
                mode=mode,
            ):
                catalog = catalog.with_view(view)
            return catalog


def undefine(core: Core, name: str, place: Any) -> None:
    catalog = core.catalog
    if name in catalog.macros:
        left = replace(catalog, macros={k: v for k, v in catalog.macros.items() if k != name})
        # The views that use it are read from their texts again when the database is opened.
        translated_anew(left)
        change(core, left, "UNDEFINE", dropped={("macro", name)})
        return
    view = catalog.view(name)
    if view is None or view.name != name:
        raise wrong(f"there is no definition {name}", place)
    needed = dependants(catalog, name)
    if needed:
        raise wrong(f"{name} cannot be undefined: {', '.join(map(str, needed))} needs it", place)
    dropped = {("view", name.lower())}
    change(core, remove(catalog, "view", name), "UNDEFINE", dropped=dropped)


# --- values --------------------------------------------------------------------------------------------------


def query(db: Warehouse, text: str) -> Any:
    """The value of one query."""
    statement = parse_one(text)
    if isinstance(statement, syntax.Define | syntax.Undefine | syntax.Import):
        raise QueryError("this is not a query", hint="db.oql runs statements of every kind")
    with db._core.lock:
        return ask(db, statement)


def ask(db: Warehouse, node: syntax.Node) -> Any:
    core = db._core
    context = context_of(replace(core.catalog, schema=directly(core.catalog.schema)))
    asked = question(context, node)
    for check in context.checks:
        if answer(core, resolve(check.query, core.catalog)):
            raise EvaluationError(check.message.replace("may be", "is"), place=check.place)
    queries = dict(asked.relations)

    def rows(name: str) -> list[Row]:
        return [row for row, weight in answer(core, queries[name]) for _ in range(weight)]

    return Stitcher(rows, lambda name: queries[name].fields, handle_of(db._session)).whole(asked.layout)


def value(db: Warehouse, view: View) -> Any:
    """The value of a view at the present version."""
    if not isinstance(view.shape, Layout):
        raise QueryError(f"{view.name} was not defined in OQL", hint="rows() reads it")
    return stitcher(db).whole(view.shape)


def stitcher(db: Warehouse) -> Stitcher:
    """What reads values from the rows of views."""
    core = db._core

    def rows(name: str) -> list[Row]:
        types = [f.type for f in core.catalog.fields_of(name)]
        found = core.engine.rows(core.view_segments(name), types)
        return [row for row, weight in found for _ in range(weight)]

    return Stitcher(rows, core.catalog.fields_of, handle_of(db._session))
