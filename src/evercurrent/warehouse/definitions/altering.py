"""ALTER TABLE on a warehouse: the rows are written again in their new columns, and what is kept of views is computed again.

    ALTER TABLE orders ADD COLUMN note STRING      one version more; earlier ones have the rows and columns that they had

Versions share files, so the files of the old rows stay as they are, for the versions that list them.
"""

from __future__ import annotations

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.rules import positions
from evercurrent.definitions.python_definitions import python_fields
from evercurrent.definitions.tables import table_definition
from evercurrent.engine.spark.engine import Engine
from evercurrent.engine.spark.rearranged_rows import write_rearranged
from evercurrent.engine.spark.storage.files import Segment
from evercurrent.engine.spark.storage.store_names import table_store
from evercurrent.engine.spark.storage.stored_state import Store
from evercurrent.engine.spark.translate.types import require_stored
from evercurrent.frontend.sql.statements import AlterTable
from evercurrent.statements.altering import alter_catalog
from evercurrent.term.nodes import Literal
from evercurrent.warehouse.core import Core, Definition, Name
from evercurrent.warehouse.definitions.drafts import change


def alter_table(core: Core, statement: AlterTable) -> None:
    """Gives a table other columns or another name."""
    old, new = statement.old, statement.table
    core.present.require_own(old.name.lower())
    catalog = alter_catalog(core.catalog, statement)
    for c in new.columns:
        require_stored(c.type)
    keys = {old.name.lower(), new.name.lower()}
    try:
        segment = write_altered_rows(core.engine, core.present.table_rows(old.name), statement)
        change(
            core,
            catalog,
            "ALTER TABLE",
            definition_of(core, statement),
            dropped={("table", key) for key in keys},
            edited=edit_definitions(core, catalog, statement),
            emptied=frozenset(keys),
            rewritten={new.name.lower(): Store((segment,)) if segment.rows else Store()},
        )
    except BaseException:
        for key in keys:
            core.engine.forget(table_store(key))
        core.install(core.present)  # declares again how the rows of the present version are arranged
        raise


def definition_of(core: Core, statement: AlterTable) -> Definition:
    """Returns the definition of the altered table: what it is, and no longer the text that was written."""
    name = statement.old.name.lower()
    (known,) = (d for d in core.definitions if d["kind"] == "table" and d["name"].lower() == name)
    return {**known, **table_definition(statement.table)}


def edit_definitions(core: Core, catalog: Catalog, statement: AlterTable) -> dict[Name, Definition]:
    """Returns the definitions that say something else now: of tables that refer to this one, of views kept as terms."""
    edited: dict[Name, Definition] = {}
    for known in core.definitions:
        name = known["name"].lower()
        if known["kind"] == "table" and name in catalog.tables:
            table = catalog.tables[name]
            if table is not core.catalog.tables.get(name):
                edited["table", name] = {**known, **table_definition(table)}
        elif known["kind"] == "view" and known.get("language") == "python":
            view = catalog.views[name]
            if view is not core.catalog.views[name]:
                edited["view", name] = {**known, **python_fields(view)}
    return edited


def write_altered_rows(engine: Engine, store: Store, statement: AlterTable) -> Segment:
    """Writes the rows of a table as the altered table has them."""
    new = statement.table
    types = [c.type for c in new.columns]
    name = table_store(new.name)
    engine.forget(name)
    if new.primary_key is not None:
        engine.declare(name, types, positions(new, new.primary_key.columns))
    defaults = [c.default.value if isinstance(c.default, Literal) else None for c in new.columns]
    places = list(zip(statement.sources, defaults, strict=True))
    return write_rearranged(engine, name, store, [c.type for c in statement.old.columns], types, places)
