"""What is known of a class, as rows of six tables: the whole input of the analyses.

Rows hold nothing that moves when something else in the file moves (no number of the constant pool, no source line): the
rows of a recompiled class that means the same are the same rows, and the change between two versions of a class is the
difference of two small sets.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from examples.analyser import classfile as java
from examples.analyser.code import Code
from examples.analyser.instructions import Columns, Instruction, instruction_rows


class Class(NamedTuple):
    name: str
    package: str
    is_public: bool
    is_final: bool
    is_abstract: bool
    is_interface: bool


class Inherits(NamedTuple):
    """`sub` extends the class, or implements (extends, between interfaces) the interface, `base`."""

    sub: str
    base: str
    by_interface: bool


class Field(NamedTuple):
    owner: str
    package: str
    name: str
    descriptor: str
    is_public: bool
    is_protected: bool
    is_static: bool
    is_final: bool
    is_volatile: bool
    is_synthetic: bool


class Method(NamedTuple):
    id: str
    """`owner.name` and the descriptor, which no other method has."""
    owner: str
    name: str
    descriptor: str
    is_public: bool
    is_private: bool
    is_static: bool
    is_synchronized: bool
    is_abstract: bool
    is_native: bool
    is_synthetic: bool


class Handler(NamedTuple):
    method: str
    owner: str
    number: int
    start: int
    end: int
    target: int
    catches: str
    """The class that is caught; the empty text catches everything."""


Row = Class | Inherits | Field | Method | Instruction | Handler
TABLES: tuple[type[Row], ...] = (Class, Inherits, Field, Method, Instruction, Handler)


class Facts(NamedTuple):
    """The rows of one class, in the order of `TABLES`, and what only the display needs."""

    name: str
    rows: tuple[frozenset[Any], ...]
    source: str | None
    code: dict[str, Code]


def package_of(name: str) -> str:
    """
    >>> package_of("java/util/Map$Entry"), package_of("Main")
    ('java/util', '')
    """
    return name.rpartition("/")[0]


def facts(read: java.ClassFile) -> Facts:
    """All rows of a class."""
    name, package = read.name, package_of(read.name)
    flags = read.flags
    declared = Class(
        name,
        package,
        bool(flags & java.PUBLIC),
        bool(flags & java.FINAL),
        bool(flags & java.ABSTRACT),
        bool(flags & java.INTERFACE),
    )
    bases = [] if read.super_name is None else [Inherits(name, read.super_name, False)]
    bases += [Inherits(name, base, True) for base in read.interfaces]
    methods: list[Method] = []
    instructions: list[Instruction] = []
    handlers: list[Handler] = []
    known: dict[int, Columns] = {}
    for m in read.methods:
        row = method(name, m)
        methods.append(row)
        if m.code is not None:
            instructions += instruction_rows(row.id, name, package, m.code.body, read.pool, known)
            for number, h in enumerate(m.code.handlers):
                handlers.append(Handler(row.id, name, number, h.start, h.end, h.target, h.catches or ""))
    rows: tuple[list[Any], ...] = (
        [declared],
        bases,
        [field(name, package, f) for f in read.fields],
        methods,
        instructions,
        handlers,
    )
    code = {row.id: m.code for row, m in zip(methods, read.methods, strict=True) if m.code is not None}
    return Facts(name, tuple(map(frozenset, rows)), read.source, code)


def field(owner: str, package: str, f: java.Field) -> Field:
    flags = f.flags
    return Field(
        owner,
        package,
        f.name,
        f.descriptor,
        bool(flags & java.PUBLIC),
        bool(flags & java.PROTECTED),
        bool(flags & java.STATIC),
        bool(flags & java.FINAL),
        bool(flags & java.VOLATILE),
        bool(flags & java.SYNTHETIC),
    )


def method(owner: str, m: java.Method) -> Method:
    flags = m.flags
    return Method(
        f"{owner}.{m.name}{m.descriptor}",
        owner,
        m.name,
        m.descriptor,
        bool(flags & java.PUBLIC),
        bool(flags & java.PRIVATE),
        bool(flags & java.STATIC),
        bool(flags & java.SYNCHRONIZED),
        bool(flags & java.ABSTRACT),
        bool(flags & java.NATIVE),
        bool(flags & java.SYNTHETIC),
    )
