"""What holds for every CREATE, whichever database keeps the definition: free names, fitting keys, no view of itself.

check_foreign_keys(catalog, orders)      raises where `orders` refers to columns that are no key
"""

from __future__ import annotations

from collections.abc import Mapping

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import all_dependants
from evercurrent.catalog.nodes import Assertion, ForeignKey, Table, View
from evercurrent.catalog.rules import parent_key
from evercurrent.data.types import Decimal, Float, Integer, String, Type
from evercurrent.data.values import give_out
from evercurrent.errors import ConstraintError, QueryError
from evercurrent.rows.conversion import RowReader
from evercurrent.rows.row_rules import RowRules
from evercurrent.statements.redefinition import redefine_dependants
from evercurrent.term.evaluate import compile_term

# --- names --------------------------------------------------------------------------------------------------


def may_create(catalog: Catalog, name: str, kind: str, replacing: bool, quietly: bool) -> bool:
    """Returns whether to go on: the name is free, or what has it is to be replaced."""
    other = catalog.view(name) if kind == "table" else catalog.table(name)
    same = catalog.table(name) if kind == "table" else catalog.view(name)
    if other is not None:
        raise QueryError(f"there is already a {'view' if kind == 'table' else 'table'} {other.name}")
    if same is None or replacing:
        return True
    if quietly:
        return False
    raise QueryError(
        f"there is already a {kind} {same.name}", hint=f"CREATE OR REPLACE {kind.upper()} replaces it"
    )


def may_create_assertion(catalog: Catalog, assertion: Assertion, replacing: bool, quietly: bool) -> bool:
    """Returns whether to go on with CREATE ASSERTION."""
    if assertion.name.lower() not in catalog.assertions or replacing:
        return True
    if quietly:
        return False
    raise QueryError(
        f"there is already an assertion {assertion.name}", hint="CREATE OR REPLACE ASSERTION replaces it"
    )


def add_view(catalog: Catalog, view: View) -> Catalog:
    """Returns the catalog with a new or replaced view; what depends on a replaced one is resolved again."""
    old = catalog.view(view.name)
    new = catalog.with_view(view)
    if old is None:
        return new
    below = {d.name.lower() for d in all_dependants(catalog, view.name)} | {view.name.lower()}
    if below & {u.lower() for u in view.uses}:
        raise QueryError(f"view {view.name} cannot be defined by itself", hint="use WITH RECURSIVE")
    return redefine_dependants(new, view.name)


# --- keys ---------------------------------------------------------------------------------------------------


def check_foreign_keys(catalog: Catalog, table: Table) -> None:
    """Refuses foreign keys that refer to no table, to no key, or to columns of other types."""
    for reference in table.foreign_keys:
        own = reference.parent.lower() == table.name.lower()
        parent = table if own else catalog.table(reference.parent)
        if parent is None:
            raise QueryError(
                f"{table.name}: FOREIGN KEY {reference.name} refers to {reference.parent}, which is no table"
            )
        check_foreign_key(table, parent, reference)


def check_foreign_key(table: Table, parent: Table, reference: ForeignKey) -> None:
    """Refuses a foreign key that does not fit the table that it refers to."""
    columns = ", ".join(reference.parent_columns)
    if parent_key(parent, reference) is None:
        raise QueryError(
            f"{table.name}: FOREIGN KEY {reference.name} refers to {parent.name} ({columns}), which is no key of it",
            hint=f"declare PRIMARY KEY or UNIQUE ({columns}) in {parent.name}",
        )
    own = {c.name.lower(): c.type for c in table.columns}
    theirs = {c.name.lower(): c.type for c in parent.columns}
    for child_column, parent_column in zip(reference.columns, reference.parent_columns, strict=True):
        a, b = own[child_column.lower()], theirs[parent_column.lower()]
        if not _comparable(a, b):
            raise QueryError(
                f"{table.name}.{child_column} is {a}, and {parent.name}.{parent_column}, to which it refers, is {b}",
                hint="give both columns the same type",
            )


def _comparable(a: Type, b: Type) -> bool:
    """Returns whether equal values of the two types are equal inside, too."""
    match a, b:
        case (Integer(), Integer()) | (String(), String()) | (Float(), Float()):
            return True
        case Decimal(scale=x), Decimal(scale=y):
            return x == y
        case _:
            return a == b


def references_to(catalog: Catalog, table: Table) -> list[tuple[Table, ForeignKey]]:
    """Returns the foreign keys of other tables that refer to a replaced table; each must still fit it."""
    found = []
    for child in catalog.tables.values():
        for reference in child.foreign_keys:
            if reference.parent.lower() == table.name.lower() and child is not table:
                check_foreign_key(child, table, reference)
                found.append((child, reference))
    return found


def referring_error(table: Table, child: Table, reference: ForeignKey) -> ConstraintError:
    """Returns the error of a table that cannot be replaced by an empty one."""
    return ConstraintError(
        f"{table.name} cannot be replaced: rows of {child.name} refer to it [{reference.name}]",
        constraint=reference.name,
    )


# --- rows ---------------------------------------------------------------------------------------------------


def readers_of(catalog: Catalog, known: Mapping[str, RowReader] | None = None) -> dict[str, RowReader]:
    """Returns what reads the rows of each table, by its lower-cased name; columns left out get their default.

    The readers of tables that are as they were are taken over from those that are `known`.
    """
    found = known or {}
    return {
        key: found[key] if key in found and found[key].table is t else RowReader(t, _defaults(t))
        for key, t in catalog.tables.items()
    }


def _defaults(table: Table) -> tuple[object, ...]:
    """Returns the defaults of the columns, as a user would write them."""
    return tuple(
        None if c.default is None else give_out(c.type, compile_term(c.default, [])(()))
        for c in table.columns
    )


def rules_of(catalog: Catalog, known: Mapping[str, RowRules] | None = None) -> dict[str, RowRules]:
    """Returns the rules that each row of a table satisfies on its own, by the table's lower-cased name; as `readers_of`."""
    found = known or {}
    return {
        key: found[key] if key in found and found[key].table is t else RowRules(t)
        for key, t in catalog.tables.items()
    }
