"""ALTER TABLE in a database inside this process: every row is rewritten, and what is kept is computed again.

    ALTER TABLE orders ADD COLUMN note STRING      (1, 7) becomes (1, 7, NULL)

Everything that can be refused is refused before anything changes (`statements.altering`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercurrent.catalog.rules import positions
from evercurrent.data.zset import ZSet
from evercurrent.design.compile import Design, compile_all
from evercurrent.errors import QueryError
from evercurrent.frontend.sql.statements import AlterTable
from evercurrent.rows.constraints import validate
from evercurrent.rows.secondary_index import SecondaryIndex
from evercurrent.session.catalog_change import CatalogChange
from evercurrent.session.installation import defining
from evercurrent.session.maintenance import Maintenance
from evercurrent.statements.altering import alter_catalog, indexes_of, is_renamed
from evercurrent.statements.definition import rules_of
from evercurrent.term.nodes import Literal

if TYPE_CHECKING:
    from evercurrent.session.session import Session


def alter_table(session: Session, statement: AlterTable) -> None:
    """Gives a table other columns or another name, and its rows with it."""
    old, new = statement.old, statement.table
    with defining(session):
        _refuse_source(session, statement)
        catalog = alter_catalog(session.catalog, statement)
        stores = dict(session.stores)
        key = new.name.lower()
        rows = _rows(session, statement) if old.stored else ZSet()
        del stores[old.name.lower()]
        stores[key] = session.new_store(new, catalog)
        for child in catalog.tables.values():
            if child.name.lower() != key and any(f.parent.lower() == key for f in child.foreign_keys):
                stores[child.name.lower()] = stores[child.name.lower()].with_foreign_keys(
                    child, catalog.table
                )
        if old.stored:
            for patch in validate(stores, rules_of(catalog), {key: rows}, {}):
                patch.apply()
            contents = stores[key].contents().weights
            stores[key].indexes = [
                SecondaryIndex(i, positions(new, i.columns), contents) for i in indexes_of(catalog, new.name)
            ]
        catalog, design = compile_all(catalog, Design(), session.maintenance.design.refused)
        made = Maintenance()
        made.lender, made.notes = session.maintenance.lender, session.maintenance.notes
        CatalogChange(session, catalog, stores, {key}, made).take_effect(
            lambda: made.install(catalog, design, lambda name: session.contents_of(stores[name.lower()]))
        )


def _rows(session: Session, statement: AlterTable) -> ZSet:
    """Returns the rows as the altered table has them."""
    new = statement.table
    defaults = [c.default.value if isinstance(c.default, Literal) else None for c in new.columns]
    places = list(zip(statement.sources, defaults, strict=True))
    result = ZSet()
    for row, weight in session.table_rows(statement.old.name).items():
        result.add(tuple([default if at is None else row[at] for at, default in places]), weight)
    return result


def _refuse_source(session: Session, statement: AlterTable) -> None:
    """Refuses to rename a table that a source fills: it is known by its name."""
    if is_renamed(statement) and statement.old.name.lower() in session.cursors:
        raise QueryError(
            f"{statement.old.name} is a source and cannot be renamed: others write it",
            hint=f"db.source({statement.table.name!r}, ...) opens it under another name",
        )
