"""The fifteen patterns as live views, in the same order and with the same meaning as the functions of `reference`.

A pattern is a function from the program's tables to a query.

    is not there    anti_join: a clone() that calls no super.clone()
    right behind    join on `i.number + 1 == j.number`: one instruction after another
    far above       semi_join with `p.under(...)`: the closed hierarchy
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import evercurrent as ec
from evercurrent import Query
from examples.analyser.bugs import (
    BOXED,
    CLONEABLE,
    EXTERNALIZABLE,
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
from examples.analyser.program import Program


class Found(NamedTuple):
    """Where a bug is: the class, the method or field, the instruction (-1: none in particular)."""

    owner: str
    member: str
    pc: int


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
            unboxing, lambda i, j: i.method == j.method and i.number + 1 == j.number and i.target == j.target
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
