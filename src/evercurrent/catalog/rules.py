"""What rows must satisfy: each rule of a table once, as data, derived from its declaration.

Law. The stored rows satisfy every rule. So after a change only what it touches can violate one, and each rule says which
rows of the net change it is about and which stored rows it looks up.

    rule          is about             is violated if
    NotNull       inserted rows        the column is NULL
    MaxLength     inserted rows        the text has more characters
    Satisfies     inserted rows        the condition is FALSE; NULL satisfies it
    RowExists     deleted rows         it is deleted more often than it is there, exactly as given
    UniqueKey     inserted rows        several rows have its key after the change; one with a NULL is no key
    References    inserted rows        no row of the parent has the key after the change; one with a NULL refers to nothing
    Unreferenced  deleted rows         no row has its key after the change, and a row of the child refers to it

"After the change" is the end of the transaction: the order of inserts and deletes does not matter, and a key can pass from
a deleted row to an inserted one. A row that is inserted n times counts n times. The rules of keys and references suppose
that RowExists holds; where it does not, that alone is sure to be reported.

A rule is compiled three times: over rows (`rows.violations`, the definition), over columns
(`engine.columnar.row_rules` for single rows, in process and on Spark; keys and references where their indexes are:
`engine.columnar.table`, `engine.spark.kernel.constraint_precheck`) and over DataFrames
(`engine.spark.intake.constraint_jobs`). Its name and its description, which errors and the quarantine show, are made here
alone.

>>> from evercurrent.catalog.nodes import TableColumn
>>> from evercurrent.data.types import BIGINT, String
>>> columns = TableColumn("id", BIGINT), TableColumn("code", String(3))
>>> for rule in rules_of({"t": Table("t", columns, primary_key=Unique("t_key", ("id",)))}, ["t"]):
...     print(f"{describe(rule)} [{name_of(rule)}]")
id must not be NULL [id NOT NULL]
code is longer than 3 [code VARCHAR(3)]
there is no such row to delete [existing row]
PRIMARY KEY (id) occurs more than once [t_key]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from evercurrent.catalog.nodes import Check, ForeignKey, Table, Unique
from evercurrent.data.types import String

EXISTING_ROW = "existing row"
"""The name of the rule that a deleted row was there."""


@dataclass(frozen=True, slots=True)
class NotNull:
    table: Table
    column: int


@dataclass(frozen=True, slots=True)
class MaxLength:
    table: Table
    column: int
    length: int


@dataclass(frozen=True, slots=True)
class Satisfies:
    table: Table
    check: Check


@dataclass(frozen=True, slots=True)
class RowExists:
    table: Table


@dataclass(frozen=True, slots=True)
class UniqueKey:
    """`place` numbers the keys of a table: the primary key is 0, the others follow in their order."""

    table: Table
    key: Unique
    place: int
    columns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class References:
    """`columns` of the child stand in the order of `parent_columns`, the key of the parent at `parent_place`.

    `place` numbers the references of the child.
    """

    table: Table
    constraint: ForeignKey
    place: int
    columns: tuple[int, ...]
    parent: Table
    parent_place: int
    parent_columns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Unreferenced:
    """The other direction of a reference, a rule of the parent."""

    reference: References

    @property
    def table(self) -> Table:
        return self.reference.parent


RowRule = NotNull | MaxLength | Satisfies
"""What a row must satisfy on its own."""
TableRule = RowExists | UniqueKey | References | Unreferenced
"""What a row must satisfy beside others."""
Rule = RowRule | TableRule


# --- derivation --------------------------------------------------------------------------------------------


def rules_of(tables: Mapping[str, Table], changed: Iterable[str]) -> Iterator[Rule]:
    """Returns the rules that changes of some tables can violate, in the order in which they are validated.

    The names are lower-cased.
    """
    names = list(changed)
    for name in names:
        yield from row_rules(tables[name])
    yield from table_rules(tables, names)


def table_rules(tables: Mapping[str, Table], changed: Iterable[str]) -> Iterator[TableRule]:
    """Returns those of the rules that look at several rows: first all that are about keys, then all references."""
    names = list(changed)
    for name in names:
        yield from key_rules(tables[name])
    for name in names:
        yield from references_of(tables[name], lambda parent: tables.get(parent.lower()))
        yield from find_references_to(tables, name)


def row_rules(table: Table) -> Iterator[RowRule]:
    keys = positions(table, table.primary_key.columns) if table.primary_key else ()
    for i, c in enumerate(table.columns):
        if not c.nullable or i in keys:
            yield NotNull(table, i)
    for i, c in enumerate(table.columns):
        if isinstance(c.type, String) and c.type.length is not None:
            yield MaxLength(table, i, c.type.length)
    for check in table.checks:
        yield Satisfies(table, check)


def key_rules(table: Table) -> Iterator[RowExists | UniqueKey]:
    if table.stored:
        yield RowExists(table)
        yield from unique_keys(table)


def unique_keys(table: Table) -> Iterator[UniqueKey]:
    if table.primary_key is not None:
        yield UniqueKey(table, table.primary_key, 0, positions(table, table.primary_key.columns))
    for place, key in enumerate(table.unique, 1):
        yield UniqueKey(table, key, place, positions(table, key.columns))


def references_of(table: Table, find: Callable[[str], Table | None]) -> Iterator[References]:
    """Returns the references of a table to keys of stored tables; `find` returns a table by its name."""
    if not table.stored:
        return
    place = 0
    for constraint in table.foreign_keys:
        parent = table if constraint.parent.lower() == table.name.lower() else find(constraint.parent)
        target = None if parent is None or not parent.stored else parent_key(parent, constraint)
        if parent is None or target is None:
            continue
        own = positions(table, child_columns(target, constraint))
        theirs = positions(parent, target.columns)
        at = 0 if target is parent.primary_key else 1 + parent.unique.index(target)
        yield References(table, constraint, place, own, parent, at, theirs)
        place += 1


def find_references_to(tables: Mapping[str, Table], name: str) -> Iterator[Unreferenced]:
    """Returns the other direction of all references to a table."""
    for child in tables.values():
        for reference in references_of(child, lambda parent: tables.get(parent.lower())):
            if reference.parent.name.lower() == name:
                yield Unreferenced(reference)


def positions(table: Table, columns: Sequence[str]) -> tuple[int, ...]:
    """Returns where the columns of these names stand in a row."""
    found = {c.name.lower(): i for i, c in enumerate(table.columns)}
    return tuple(found[name.lower()] for name in columns)


def parent_key(parent: Table, reference: ForeignKey) -> Unique | None:
    """Returns the key of the parent that a foreign key refers to, its columns in whatever order."""
    keys = ((parent.primary_key,) if parent.primary_key else ()) + parent.unique
    return next((k for k in keys if _same_columns(k.columns, reference.parent_columns)), None)


def child_columns(key: Unique, reference: ForeignKey) -> tuple[str, ...]:
    """Returns the child's columns in the order in which the parent's key names its own."""
    pairs = {p.lower(): c for p, c in zip(reference.parent_columns, reference.columns, strict=True)}
    return tuple(pairs[name.lower()] for name in key.columns)


def _same_columns(left: Sequence[str], right: Sequence[str]) -> bool:
    return len(left) == len(right) and {c.lower() for c in left} == {c.lower() for c in right}


# --- words -------------------------------------------------------------------------------------------------


def name_of(rule: Rule) -> str:
    """Returns the name of the constraint, as errors and the quarantine show it."""
    match rule:
        case NotNull(table, i):
            return f"{table.columns[i].name} NOT NULL"
        case MaxLength(table, i):
            return f"{table.columns[i].name} {table.columns[i].type}"
        case Satisfies(_, check):
            return check.name
        case RowExists():
            return EXISTING_ROW
        case UniqueKey(_, key):
            return key.name
        case References(_, constraint) | Unreferenced(References(_, constraint)):
            return constraint.name
        case _:
            assert_never(rule)


def describe(rule: Rule) -> str:
    """Returns what is wrong with a row that violates the rule."""
    match rule:
        case NotNull(table, i):
            return f"{table.columns[i].name} must not be NULL"
        case MaxLength(table, i, length):
            return f"{table.columns[i].name} is longer than {length}"
        case Satisfies(_, check):
            return f"CHECK ({check.text}) is false"
        case RowExists():
            return "there is no such row to delete"
        case UniqueKey(_, key, place):
            kind = "UNIQUE" if place else "PRIMARY KEY"
            return f"{kind} ({', '.join(key.columns)}) occurs more than once"
        case References(_, constraint):
            return f"FOREIGN KEY ({', '.join(constraint.columns)}) refers to no row of {constraint.parent}"
        case Unreferenced(References(child, constraint)):
            columns = ", ".join(constraint.columns)
            return f"rows of {child.name} still refer to it by FOREIGN KEY ({columns})"
        case _:
            assert_never(rule)


# --- what is looked up -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lookup:
    """The rows of `table` whose `columns` hold what `keys` of the inserted rows hold, or of the deleted ones."""

    table: Table
    columns: tuple[int, ...]
    inserted: bool
    keys: tuple[int, ...]


def lookup_of(rule: TableRule) -> Lookup:
    """Returns the rows, beside those of the change, that decide whether the change satisfies the rule."""
    match rule:
        case RowExists(table):
            key = table.primary_key
            at = positions(table, key.columns) if key else tuple(range(len(table.columns)))
            return Lookup(table, at, False, at)
        case UniqueKey(table, _, _, columns):
            return Lookup(table, columns, True, columns)
        case References(_, _, _, columns, parent, _, parent_columns):
            return Lookup(parent, parent_columns, True, columns)
        case Unreferenced(References(child, _, _, columns, _, _, parent_columns)):
            return Lookup(child, columns, False, parent_columns)
        case _:
            assert_never(rule)
