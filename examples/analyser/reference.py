"""The fifteen analyses over plain lists, from scratch: what the live views must say, and what they are measured against.

Each is a function from a `Program`, all rows of all classes, to the bugs in it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

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
    Bug,
)
from examples.analyser.facts import Class, Facts, Field, Handler, Inherits, Method
from examples.analyser.instructions import Instruction

ONE_PARAMETER = re.compile(r"\(\[*([BCDFIJSZ]|L[^;]+;)\)V")


class Program:
    """All rows, and the few ways in which several analyses look at them."""

    def __init__(self, classes: Iterable[Facts], library: Iterable[Inherits] = ()) -> None:
        self.classes: list[Class] = []
        self.inherits: list[Inherits] = list(library)
        self.fields: list[Field] = []
        self.methods: list[Method] = []
        self.instructions: list[Instruction] = []
        self.handlers: list[Handler] = []
        lists: tuple[list[Any], ...] = (
            self.classes,
            self.inherits,
            self.fields,
            self.methods,
            self.instructions,
            self.handlers,
        )
        for each in classes:
            for into, rows in zip(lists, each.rows, strict=True):
                into.extend(rows)

    @cached_property
    def by_name(self) -> dict[str, Class]:
        return {c.name: c for c in self.classes}

    @cached_property
    def method(self) -> dict[str, Method]:
        return {m.id: m for m in self.methods}

    @cached_property
    def supertypes(self) -> dict[str, set[str]]:
        """Of each class all that it extends and implements, however indirectly, and itself."""
        direct: dict[str, list[str]] = defaultdict(list)
        for edge in self.inherits:
            direct[edge.sub].append(edge.base)
        found: dict[str, set[str]] = {}
        for name in direct:
            above, waiting = {name}, [name]
            while waiting:
                for base in direct.get(waiting.pop(), ()):
                    if base not in above:
                        above.add(base)
                        waiting.append(base)
            found[name] = above
        return found

    def is_a(self, name: str, *bases: str) -> bool:
        above = self.supertypes.get(name, {name})
        return any(base in above for base in bases)

    @cached_property
    def behind_empty(self) -> set[tuple[str, int]]:
        """Where an array of length zero has just been made."""
        zeros = {(i.method, i.number) for i in self.instructions if i.operation == "iconst_0"}
        return {
            (i.method, i.number + 1)
            for i in self.instructions
            if i.operation in ("newarray", "anewarray") and (i.method, i.number - 1) in zeros
        }

    @cached_property
    def calls(self) -> list[Instruction]:
        return [i for i in self.instructions if i.operation.startswith("invoke")]


def boxing_to_coerce(program: Program) -> Iterator[Bug]:
    boxes: dict[tuple[str, int], Instruction] = {}
    for i in program.calls:
        if i.target in WRAPPERS and (
            (i.name == "<init>" and i.descriptor in PRIMITIVE_PARAMETERS)
            or (i.name == "valueOf" and i.descriptor in BOXED)
        ):
            boxes[i.method, i.number] = i
    for j in program.calls:
        box = boxes.get((j.method, j.number - 1))
        if box is None or j.operation != "invokevirtual" or box.target != j.target:
            continue
        if j.descriptor in UNBOXED and j.name.endswith("Value") and box.descriptor[1] != j.descriptor[2]:
            yield Bug("BX_BOXING_IMMEDIATELY_UNBOXED_TO_PERFORM_COERCION", box.owner, inside(box), box.pc)


def confused_inheritance(program: Program) -> Iterator[Bug]:
    for f in program.fields:
        if f.is_protected and program.by_name[f.owner].is_final:
            yield Bug("CL_CONFUSED_INHERITANCE", f.owner, f.name, -1)


def clone_idiom(program: Program) -> Iterator[Bug]:
    cloning = {m.owner for m in program.methods if m.name == "clone" and m.descriptor.startswith("()")}
    cloning |= {i.owner for i in program.calls if i.name == "clone" and i.descriptor.startswith("()")}
    for edge in program.inherits:
        c = program.by_name.get(edge.sub)
        if c is not None and edge.base == CLONEABLE and not c.is_interface and c.name not in cloning:
            yield Bug("CN_IDIOM", c.name, "", -1)


def clone_without_super(program: Program) -> Iterator[Bug]:
    returning = {i.method for i in program.instructions if i.operation == "areturn"}
    calling = {
        i.method
        for i in program.calls
        if i.operation == "invokespecial" and i.name == "clone" and i.descriptor.startswith("()")
    }
    for m in program.methods:
        if m.name != "clone" or not m.descriptor.startswith("()") or m.is_synthetic:
            continue
        if m.id in calling or m.id not in returning or program.by_name[m.owner].is_final:
            continue
        if program.is_a(m.owner, CLONEABLE):
            yield Bug("CN_IDIOM_NO_SUPER_CALL", m.owner, signature(m), -1)


def explicit_collection(program: Program) -> Iterator[Bug]:
    short_of_memory = {h.method for h in program.handlers if h.catches == OUT_OF_MEMORY}
    for i in program.calls:
        if i.target not in RUNTIME or i.name != "gc" or i.descriptor != "()V" or i.method in short_of_memory:
            continue
        name = program.method[i.method].name
        if name != "main" and not name.lower().startswith("gc") and not name.lower().endswith("gc"):
            yield Bug("DM_GC", i.owner, inside(i), i.pc)


def finalizers_on_exit(program: Program) -> Iterator[Bug]:
    for i in program.calls:
        if i.target in RUNTIME and i.name == "runFinalizersOnExit":
            yield Bug("DM_RUN_FINALIZERS_ON_EXIT", i.owner, inside(i), i.pc)


def unprivileged(program: Program) -> Iterator[Bug]:
    for i in program.calls:
        if i.target not in REFLECTED or i.name != "setAccessible":
            continue
        m = program.method[i.method]
        if not m.is_private and not (m.name == "run" and program.is_a(m.owner, *PRIVILEGED)):
            yield Bug("DP_DO_INSIDE_DO_PRIVILEGED", i.owner, inside(i), i.pc)


def abstract_equals(program: Program) -> Iterator[Bug]:
    for m in program.methods:
        if m.is_abstract and m.name == "equals" and m.descriptor == f"(L{m.owner};)Z":
            yield Bug("EQ_ABSTRACT_SELF", m.owner, signature(m), -1)


def public_finalizer(program: Program) -> Iterator[Bug]:
    for m in program.methods:
        if m.is_public and m.name == "finalize" and m.descriptor == "()V":
            yield Bug("FL_PUBLIC_SHOULD_BE_PROTECTED", m.owner, signature(m), -1)


def caught_monitor_state(program: Program) -> Iterator[Bug]:
    for h in program.handlers:
        if h.catches == MONITOR_STATE:
            yield Bug("IMSE_DONT_CATCH_IMSE", h.owner, h.method.removeprefix(h.owner + "."), h.target)


def open_fields(program: Program) -> Iterator[tuple[Field, list[Instruction]]]:
    """Static fields that other packages can reach, each with the instructions that read and write it."""
    uses: dict[tuple[str, str], list[Instruction]] = defaultdict(list)
    for i in program.instructions:
        if i.operation in ("getstatic", "putstatic"):
            uses[i.name, i.descriptor].append(i)
    for f in program.fields:
        c = program.by_name[f.owner]
        if c.is_interface or not c.is_public or not f.is_static or not (f.is_public or f.is_protected):
            continue
        if not f.is_volatile and not f.is_synthetic and "$" not in f.name:
            named = uses[f.name, f.descriptor]
            yield f, [i for i in named if program.is_a(i.target, f.owner)]


def assigned_later(f: Field, uses: list[Instruction]) -> bool:
    return any(i.operation == "putstatic" and i.method != f"{f.owner}.<clinit>()V" for i in uses)


def mutable(program: Program, f: Field, uses: list[Instruction]) -> bool:
    """A table, or an array that has elements as far as one can see."""
    if f.descriptor == HASHTABLE:
        return True
    if not f.descriptor.startswith("["):
        return False
    return any(i.operation == "putstatic" and (i.method, i.number) not in program.behind_empty for i in uses)


def package_protect(program: Program) -> Iterator[Bug]:
    for f, uses in open_fields(program):
        if any(i.package != f.package for i in uses):
            continue
        if mutable(program, f, uses) if f.is_final else assigned_later(f, uses):
            yield Bug("MS_PKGPROTECT", f.owner, f.name, -1)


def should_be_final(program: Program) -> Iterator[Bug]:
    for f, uses in open_fields(program):
        if not f.is_final and not assigned_later(f, uses) and not mutable(program, f, uses):
            yield Bug("MS_SHOULD_BE_FINAL", f.owner, f.name, -1)


def serializable_inside(program: Program) -> Iterator[Bug]:
    for f in program.fields:
        if not f.is_synthetic or not f.name.startswith("this$"):
            continue
        outer = f.descriptor[1:-1]
        if outer not in program.by_name or program.is_a(outer, SERIALIZABLE):
            continue
        if program.is_a(f.owner, SERIALIZABLE) and not program.is_a(f.owner, EXTERNALIZABLE):
            yield Bug("SE_BAD_FIELD_INNER_CLASS", f.owner, f.name, -1)


def swing_in_main(program: Program) -> Iterator[Bug]:
    for i in program.calls:
        if i.operation != "invokevirtual" or i.name + i.descriptor not in SHOWING:
            continue
        m = program.method[i.method]
        if m.name != "main" or not m.is_public or not m.is_static:
            continue
        if any(base.startswith(SWING) for base in program.supertypes.get(i.target, {i.target})):
            yield Bug("SW_SWING_METHODS_INVOKED_IN_SWING_THREAD", i.owner, inside(i), i.pc)


def unsynchronized_getter(program: Program) -> Iterator[Bug]:
    locking = {i.method for i in program.instructions if i.operation == "monitorenter"}
    concrete = [m for m in program.methods if not (m.is_abstract or m.is_static or m.is_synthetic)]
    setters = {
        (m.owner, m.name[3:])
        for m in concrete
        if m.is_synchronized and m.name.startswith("set") and ONE_PARAMETER.fullmatch(m.descriptor)
    }
    for m in concrete:
        if not m.name.startswith("get") or not m.descriptor.startswith("()") or m.descriptor == "()V":
            continue
        if not m.is_synchronized and m.id not in locking and (m.owner, m.name[3:]) in setters:
            yield Bug("UG_SYNC_SET_UNSYNC_GET", m.owner, signature(m), -1)


def inside(i: Instruction) -> str:
    return i.method.removeprefix(i.owner + ".")


def signature(m: Method) -> str:
    return m.name + m.descriptor


ANALYSES: dict[str, Callable[[Program], Iterator[Bug]]] = {
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


def analyse(program: Program, codes: Iterable[str] = tuple(ANALYSES)) -> list[Bug]:
    """All bugs, in order."""
    return sorted(bug for code in codes for bug in ANALYSES[code](program))
