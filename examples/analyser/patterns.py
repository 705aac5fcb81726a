"""The fifteen patterns as live views, in the same order and with the same meaning as the functions of `reference`.

A pattern is a function from the tables to a query. What several of them need (who inherits from whom, which fields other
packages can reach) is a query too, written once; where it stands in several views the engine keeps it once.

    base of a base    closure(p): recursion, with retraction when a class in the middle changes its parent
    is not there      anti_join:  a clone() that calls no super.clone()
    right behind      join on `i.index + 1 == j.index`: one instruction after another
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import evercurrent as ec
from evercurrent import Query
from examples.analyser.bugs import (
    BOXED,
    CLONEABLE,
    EXTERNALIZABLE,
    HASHTABLE,
    MONITOR_STATE,
    OUT_OF_MEMORY,
    PRIMITIVE_PARAMETERS,
    PRIVILEGED,
    REFLECTED,
    RUNTIME,
    SERIALIZABLE,
    SHOWING,
    SWING,
    UNBOXED,
    WRAPPERS,
)
from examples.analyser.facts import Class, Field, Handler, Inherits, Instruction, Method


class Found(NamedTuple):
    """Where a bug is: the class, the method or field, the instruction (-1: none in particular)."""

    owner: str
    member: str
    pc: int


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
    index: int
    writes: bool
    outside: bool


class Named(NamedTuple):
    """A field, by its class and name."""

    owner: str
    name: str


class At(NamedTuple):
    """A place in a method."""

    method: str
    index: int


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
                i.index,
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
                    i.index,
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
            .join(zeros, lambda i, z: i.method == z.method and i.index == z.index + 1)
            .select(lambda i, z: At(i.method, i.index + 1))
        )
        arrays = self.uses.where(lambda u: u.writes and u.descriptor.startswith("["))
        filled = arrays.anti_join(
            behind_empty, lambda u, e: u.method == e.method and u.index == e.index
        ).select(lambda u: Named(u.owner, u.name))
        tables = self.open_fields.where(lambda f: f.descriptor == HASHTABLE)
        return filled.union_all(tables.select(lambda f: Named(f.owner, f.name)))


# --- the patterns ---------------------------------------------------------------------------------------------


def boxing_to_coerce(p: Program) -> Query[Found]:
    boxing = p.instructions.where(
        lambda i: (
            i.target in WRAPPERS
            and (
                (i.name == "<init>" and i.descriptor in PRIMITIVE_PARAMETERS)
                or (i.name == "valueOf" and i.descriptor in BOXED)
            )
        )
    )
    unboxing = p.instructions.where(
        lambda j: (
            j.operation == "invokevirtual"
            and j.target in WRAPPERS
            and j.descriptor in UNBOXED
            and j.name.endswith("Value")
        )
    )
    return (
        boxing.join(
            unboxing, lambda i, j: i.method == j.method and i.index + 1 == j.index and i.target == j.target
        )
        .where(lambda i, j: i.descriptor[1:2] != j.descriptor[2:3])
        .select(lambda i, j: Found(i.owner, i.method, i.pc))
    )


def confused_inheritance(p: Program) -> Query[Found]:
    return (
        p.fields.where(lambda f: f.is_protected)
        .join(p.classes, lambda f, c: f.owner == c.name and c.is_final)
        .select(lambda f, c: Found(f.owner, f.name, -1))
    )


def clone_idiom(p: Program) -> Query[Found]:
    defined = p.methods.where(lambda m: m.name == "clone" and m.descriptor.startswith("()"))
    used = p.instructions.where(lambda i: i.name == "clone" and i.descriptor.startswith("()"))
    return (
        p.classes.where(lambda c: not c.is_interface)
        .semi_join(p.inherits, lambda c, e: c.name == e.sub and e.base == CLONEABLE)
        .anti_join(defined, lambda c, m: c.name == m.owner)
        .anti_join(used, lambda c, i: c.name == i.owner)
        .select(lambda c: Found(c.name, "", -1))
    )


def clone_without_super(p: Program) -> Query[Found]:
    returning = p.instructions.where(
        lambda i: i.operation == "areturn" and i.method.startswith(i.owner + ".clone()")
    )
    calling = p.instructions.where(
        lambda i: i.operation == "invokespecial" and i.name == "clone" and i.descriptor.startswith("()")
    )
    return (
        p.methods.where(lambda m: m.name == "clone" and m.descriptor.startswith("()") and not m.is_synthetic)
        .semi_join(p.classes, lambda m, c: m.owner == c.name and not c.is_final)
        .semi_join(p.under(CLONEABLE), lambda m, a: m.owner == a.sub)
        .semi_join(returning, lambda m, i: m.id == i.method)
        .anti_join(calling, lambda m, i: m.id == i.method)
        .select(lambda m: Found(m.owner, m.id, -1))
    )


def explicit_collection(p: Program) -> Query[Found]:
    excused = p.methods.where(
        lambda m: m.name == "main" or m.name.lower().startswith("gc") or m.name.lower().endswith("gc")
    )
    short_of_memory = p.handlers.where(lambda h: h.catches == OUT_OF_MEMORY)
    return (
        p.instructions.where(lambda i: i.target in RUNTIME and i.name == "gc" and i.descriptor == "()V")
        .anti_join(excused, lambda i, m: i.method == m.id)
        .anti_join(short_of_memory, lambda i, h: i.method == h.method)
        .select(lambda i: Found(i.owner, i.method, i.pc))
    )


def finalizers_on_exit(p: Program) -> Query[Found]:
    return p.instructions.where(lambda i: i.target in RUNTIME and i.name == "runFinalizersOnExit").select(
        lambda i: Found(i.owner, i.method, i.pc)
    )


def unprivileged(p: Program) -> Query[Found]:
    opening = p.instructions.where(lambda i: i.target in REFLECTED and i.name == "setAccessible")
    hidden = p.methods.where(lambda m: m.is_private)
    privileged = p.methods.where(lambda m: m.name == "run").semi_join(
        p.under(*PRIVILEGED), lambda m, a: m.owner == a.sub
    )
    return (
        opening.anti_join(hidden, lambda i, m: i.method == m.id)
        .anti_join(privileged, lambda i, m: i.method == m.id)
        .select(lambda i: Found(i.owner, i.method, i.pc))
    )


def abstract_equals(p: Program) -> Query[Found]:
    return p.methods.where(
        lambda m: m.is_abstract and m.name == "equals" and m.descriptor == "(L" + m.owner + ";)Z"
    ).select(lambda m: Found(m.owner, m.id, -1))


def public_finalizer(p: Program) -> Query[Found]:
    return p.methods.where(lambda m: m.is_public and m.name == "finalize" and m.descriptor == "()V").select(
        lambda m: Found(m.owner, m.id, -1)
    )


def caught_monitor_state(p: Program) -> Query[Found]:
    return p.handlers.where(lambda h: h.catches == MONITOR_STATE).select(
        lambda h: Found(h.owner, h.method, h.target)
    )


def package_protect(p: Program) -> Query[Found]:
    filled = p.open_fields.where(lambda f: f.is_final).semi_join(
        p.mutable, lambda f, m: f.owner == m.owner and f.name == m.name
    )
    assigned = p.open_fields.where(lambda f: not f.is_final).semi_join(
        p.assigned_later, lambda f, u: f.owner == u.owner and f.name == u.name
    )
    return (
        filled.union_all(assigned)
        .anti_join(p.uses.where(lambda u: u.outside), lambda f, u: f.owner == u.owner and f.name == u.name)
        .select(lambda f: Found(f.owner, f.name, -1))
    )


def should_be_final(p: Program) -> Query[Found]:
    return (
        p.open_fields.where(lambda f: not f.is_final)
        .anti_join(p.assigned_later, lambda f, u: f.owner == u.owner and f.name == u.name)
        .anti_join(p.mutable, lambda f, m: f.owner == m.owner and f.name == m.name)
        .select(lambda f: Found(f.owner, f.name, -1))
    )


def serializable_inside(p: Program) -> Query[Found]:
    outward = p.fields.where(lambda f: f.is_synthetic and f.name.startswith("this$"))
    outside = p.classes.anti_join(p.under(SERIALIZABLE), lambda c, a: c.name == a.sub)
    return (
        outward.semi_join(outside, lambda f, c: f.descriptor == "L" + c.name + ";")
        .semi_join(p.under(SERIALIZABLE), lambda f, a: f.owner == a.sub)
        .anti_join(p.under(EXTERNALIZABLE), lambda f, a: f.owner == a.sub)
        .select(lambda f: Found(f.owner, f.name, -1))
    )


def swing_in_main(p: Program) -> Query[Found]:
    mains = p.methods.where(lambda m: m.name == "main" and m.is_public and m.is_static)
    showing = p.instructions.where(
        lambda i: i.operation == "invokevirtual" and i.name + i.descriptor in SHOWING
    ).semi_join(mains, lambda i, m: i.method == m.id)
    windows = p.above.where(lambda a: a.base.startswith(SWING) and not a.sub.startswith(SWING))
    return (
        showing.where(lambda i: i.target.startswith(SWING))
        .union_all(showing.semi_join(windows, lambda i, a: i.target == a.sub))
        .select(lambda i: Found(i.owner, i.method, i.pc))
    )


ONE_PARAMETER = re.compile(r"\(\[*([BCDFIJSZ]|L[^;]+;)\)V")


def takes_one(descriptor: str) -> bool:
    """Whether a method takes one parameter and returns nothing: plain Python, which the compiler does not look into."""
    return ONE_PARAMETER.fullmatch(descriptor) is not None


def unsynchronized_getter(p: Program) -> Query[Found]:
    concrete = p.methods.where(lambda m: not m.is_abstract and not m.is_static and not m.is_synthetic)
    setters = concrete.where(lambda m: m.is_synchronized and m.name.startswith("set")).where(
        lambda m: takes_one(m.descriptor)
    )
    getters = concrete.where(
        lambda m: (
            m.name.startswith("get")
            and m.descriptor.startswith("()")
            and m.descriptor != "()V"
            and not m.is_synchronized
        )
    )
    locking = p.instructions.where(lambda i: i.operation == "monitorenter")
    return (
        getters.semi_join(setters, lambda g, s: g.owner == s.owner and g.name[3:] == s.name[3:])
        .anti_join(locking, lambda g, i: g.id == i.method)
        .select(lambda g: Found(g.owner, g.id, -1))
    )


PATTERNS: dict[str, Callable[[Program], Query[Found]]] = {
    "BX_BOXING_IMMEDIATELY_UNBOXED_TO_PERFORM_COERCION": boxing_to_coerce,
    "CL_CONFUSED_INHERITANCE": confused_inheritance,
    "CN_IDIOM": clone_idiom,
    "CN_IDIOM_NO_SUPER_CALL": clone_without_super,
    "DM_GC": explicit_collection,
    "DM_RUN_FINALIZERS_ON_EXIT": finalizers_on_exit,
    "DP_DO_INSIDE_DO_PRIVILEGED": unprivileged,
    "EQ_ABSTRACT_SELF": abstract_equals,
    "FL_PUBLIC_SHOULD_BE_PROTECTED": public_finalizer,
    "IMSE_DONT_CATCH_IMSE": caught_monitor_state,
    "MS_PKGPROTECT": package_protect,
    "MS_SHOULD_BE_FINAL": should_be_final,
    "SE_BAD_FIELD_INNER_CLASS": serializable_inside,
    "SW_SWING_METHODS_INVOKED_IN_SWING_THREAD": swing_in_main,
    "UG_SYNC_SET_UNSYNC_GET": unsynchronized_getter,
}


def define(db: ec.Database, codes: Sequence[str]) -> None:
    """Make the tables, and a view for each pattern, named by its code."""
    program = Program(db)
    for code in codes:
        db.view(code, PATTERNS[code](program))
