"""The six tables, and the queries over them that several patterns share.

What is written once here and stands in several views is kept once: equal parts of views are one.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import evercurrent as ec
from evercurrent import Query
from examples.analyser.bugs import HASHTABLE
from examples.analyser.facts import Class, Field, Handler, Inherits, Method
from examples.analyser.instructions import Instruction


class Above(NamedTuple):
    """`base` is extended or implemented by `sub`, however indirectly."""

    sub: str
    base: str


class Open(NamedTuple):
    """A static field that other packages can reach."""

    owner: str
    package: str
    name: str
    descriptor: str
    is_final: bool


class Use(NamedTuple):
    """An instruction that reads or writes an open field."""

    owner: str
    name: str
    descriptor: str
    method: str
    number: int
    writes: bool
    outside: bool


class Named(NamedTuple):
    """A field, by its class and name."""

    owner: str
    name: str


class At(NamedTuple):
    """A place in a method."""

    method: str
    number: int


class Program:
    """The six tables, which store nothing themselves, and queries that several patterns share."""

    def __init__(self, db: ec.Database) -> None:
        self.classes: Query[Class] = db.table_of(Class, stored=False)
        self.inherits: Query[Inherits] = db.table_of(Inherits, stored=False)
        self.fields: Query[Field] = db.table_of(Field, stored=False)
        self.methods: Query[Method] = db.table_of(Method, stored=False)
        self.instructions: Query[Instruction] = db.table_of(Instruction, stored=False)
        self.handlers: Query[Handler] = db.table_of(Handler, stored=False)

    @cached_property
    def above(self) -> Query[Above]:
        """The hierarchy, closed: also through classes of which only the name is known."""
        direct = self.inherits.select(lambda e: Above(e.sub, e.base))
        return ec.recursive(
            lambda above: direct.union_all(
                above.join(direct, lambda a, e: a.base == e.sub).select(lambda a, e: Above(a.sub, e.base))
            )
        )

    def under(self, *bases: str) -> Query[Above]:
        """Who extends or implements one of these."""
        return self.above.where(lambda a: a.base in bases)

    @cached_property
    def open_fields(self) -> Query[Open]:
        """Static fields of public classes that other packages can read, and write unless they are final."""
        return (
            self.fields.where(
                lambda f: (
                    f.is_static
                    and (f.is_public or f.is_protected)
                    and not f.is_volatile
                    and not f.is_synthetic
                    and "$" not in f.name
                )
            )
            .join(self.classes, lambda f, c: f.owner == c.name and c.is_public and not c.is_interface)
            .select(lambda f, c: Open(f.owner, f.package, f.name, f.descriptor, f.is_final))
        )

    @cached_property
    def uses(self) -> Query[Use]:
        """Reads and writes of open fields, by the class that declares them or by a subclass."""
        moves = self.instructions.where(lambda i: i.operation in ("getstatic", "putstatic"))
        directly = moves.join(
            self.open_fields,
            lambda i, f: i.target == f.owner and i.name == f.name and i.descriptor == f.descriptor,
        ).select(
            lambda i, f: Use(
                f.owner,
                f.name,
                f.descriptor,
                i.method,
                i.number,
                i.operation == "putstatic",
                i.package != f.package,
            )
        )
        by_subclass = (
            moves.join(self.open_fields, lambda i, f: i.name == f.name and i.descriptor == f.descriptor)
            .join(self.above, lambda i, f, a: i.target == a.sub and f.owner == a.base)
            .select(
                lambda i, f, a: Use(
                    f.owner,
                    f.name,
                    f.descriptor,
                    i.method,
                    i.number,
                    i.operation == "putstatic",
                    i.package != f.package,
                )
            )
        )
        return directly.union_all(by_subclass)

    @cached_property
    def assigned_later(self) -> Query[Use]:
        """Writes outside of the initialiser of the field's own class."""
        return self.uses.where(lambda u: u.writes and u.method != u.owner + ".<clinit>()V")

    @cached_property
    def mutable(self) -> Query[Named]:
        """Open fields that hold a table, or an array that has elements as far as one can see."""
        zeros = self.instructions.where(lambda i: i.operation == "iconst_0")
        behind_empty = (
            self.instructions.where(lambda i: i.operation in ("newarray", "anewarray"))
            .join(zeros, lambda i, z: i.method == z.method and i.number == z.number + 1)
            .select(lambda i, z: At(i.method, i.number + 1))
        )
        arrays = self.uses.where(lambda u: u.writes and u.descriptor.startswith("["))
        filled = arrays.anti_join(
            behind_empty, lambda u, e: u.method == e.method and u.number == e.number
        ).select(lambda u: Named(u.owner, u.name))
        tables = self.open_fields.where(lambda f: f.descriptor == HASHTABLE)
        return filled.union_all(tables.select(lambda f: Named(f.owner, f.name)))
