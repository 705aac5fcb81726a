"""ALTER TABLE as a catalog: the altered table, the tables that refer to it, and what reads it, resolved again.

    ALTER TABLE orders ADD COLUMN note STRING      SELECT * FROM orders has one column more
    ALTER TABLE orders RENAME TO sales             a foreign key to orders is one to sales

Law. What a definition means stays what it was. So a name that a view, an assertion or an index mentions is not taken away, and
everything that can be refused is refused here, before anything changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import all_dependants
from evercurrent.catalog.lookup import refuse_class_table
from evercurrent.catalog.nodes import Assertion, ForeignKey, Index, Table, View
from evercurrent.errors import QueryError
from evercurrent.frontend.sql.statements import AlterTable
from evercurrent.frontend.sql.syntax import tokenize
from evercurrent.statements.redefinition import redefine_dependants


def alter_catalog(catalog: Catalog, statement: AlterTable) -> Catalog:
    """Returns the catalog after ALTER TABLE."""
    old, new = statement.old, statement.table
    refuse_class_table(catalog, old.name)
    _refuse_readers(catalog, statement)
    if is_renamed(statement):
        catalog = _rename_table(catalog, old.name, new.name)
    return redefine_dependants(_with_children(catalog.with_table(new), statement), new.name)


def is_renamed(statement: AlterTable) -> bool:
    """Whether the table has another name afterwards. One that differs only in case is found by the old name, too."""
    return statement.old.name.lower() != statement.table.name.lower()


def indexes_of(catalog: Catalog, table: str) -> list[Index]:
    return [i for i in catalog.indexes.values() if i.table.lower() == table.lower()]


def _rename_table(catalog: Catalog, old: str, new: str) -> Catalog:
    """Returns the catalog without the table of the old name, and with its indexes under the new one."""
    indexes = {
        k: replace(i, table=new) if i.table.lower() == old.lower() else i for k, i in catalog.indexes.items()
    }
    tables = {k: t for k, t in catalog.tables.items() if k != old.lower()}
    return replace(catalog, tables=tables, indexes=indexes)


def _with_children(catalog: Catalog, statement: AlterTable) -> Catalog:
    """Returns the catalog in which foreign keys to the table and to renamed columns of it have the new names."""
    names = {
        statement.old.columns[at].name.lower(): c.name
        for at, c in zip(statement.sources, statement.table.columns, strict=True)
        if at is not None
    }
    old, new = statement.old.name.lower(), statement.table
    for child in list(catalog.tables.values()):
        if child is not new:
            keys = tuple(
                _with_parent(f, new, names) if f.parent.lower() == old else f for f in child.foreign_keys
            )
            if keys != child.foreign_keys:
                catalog = catalog.with_table(replace(child, foreign_keys=keys))
    return catalog


def _with_parent(key: ForeignKey, parent: Table, names: dict[str, str]) -> ForeignKey:
    columns = tuple(names[c.lower()] for c in key.parent_columns)
    return replace(key, parent=parent.name, parent_columns=columns)


def _refuse_readers(catalog: Catalog, statement: AlterTable) -> None:
    """Refuses to take away a name that a definition mentions: it could come to mean something else."""
    readers = [d for d in all_dependants(catalog, statement.old.name) if d.kind != "table"]
    if readers and is_renamed(statement):
        raise QueryError(
            f"{statement.old.name} cannot be renamed: {_list_readers(map(str, readers))} it",
            hint="drop these first, and create them again afterwards",
        )
    stays = {c.name.lower() for c in statement.table.columns}
    gone = {c.name.lower(): c.name for c in statement.old.columns if c.name.lower() not in stays}
    if not gone:
        return
    found: dict[str, str] = {
        f"index {i.name}": gone[c.lower()]
        for i in indexes_of(catalog, statement.old.name)
        for c in i.columns
        if c.lower() in gone
    }
    for dependant in readers:
        node: View | Assertion | None = (
            catalog.view(dependant.name)
            if dependant.kind == "view"
            else catalog.assertions.get(dependant.name.lower())
        )
        if node is not None and (mentioned := _find_mentioned(node, gone)):
            found[str(dependant)] = mentioned
    if found:
        columns = ", ".join(sorted(set(found.values())))
        raise QueryError(
            f"{columns} of {statement.old.name} cannot be dropped or renamed: {_list_readers(found)} it",
            hint="drop these first, and create them again afterwards",
        )


def _find_mentioned(node: View | Assertion, names: dict[str, str]) -> str | None:
    if isinstance(node, View) and node.language == "python":
        return None  # resolved again by its terms, which name the table
    words: Iterable[str] = (t.text.lower() for t in tokenize(node.text).tokens)
    return next((names[w] for w in words if w in names), None)


def _list_readers(names: Iterable[str]) -> str:
    """
    >>> _list_readers(["view a"]), _list_readers(["view a", "index b"])
    ('view a mentions', 'view a, index b mention')
    """
    found = list(names)
    return f"{', '.join(found)} mention{'s' if len(found) == 1 else ''}"
