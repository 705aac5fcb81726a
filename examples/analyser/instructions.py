"""The rows of instructions. `code.decode` reads every operand; here only what an instruction refers to is looked up, which is
all that rows have room for, and takes half the time.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from examples.analyser.code import switch, wide
from examples.analyser.constants import CLASS, ClassFormatError, Pool
from examples.analyser.opcodes import CODES, NAMES, SHAPES, WIDTH, Shape


class Instruction(NamedTuple):
    """One instruction; `number` counts instructions, `pc` bytes.

    What an instruction refers to is in the last three columns: a field or method with its class, name and descriptor; a
    class alone in `target`; nothing is three times the empty text. Of a dynamic call there are name and descriptor.
    """

    method: str
    owner: str
    package: str
    number: int
    pc: int
    operation: str
    target: str
    name: str
    descriptor: str


Columns = tuple[str, str, str]
"""The last three columns of an instruction."""

_REFERRING = {Shape.CONSTANT, Shape.INTERFACE_CALL, Shape.DYNAMIC_CALL, Shape.MULTI_ARRAY}
_LOADING = {CODES[name] for name in ("ldc", "ldc_w", "ldc2_w")}  # constants, which are no references
_PLAIN = [
    0 if shape in _REFERRING and code not in _LOADING else WIDTH.get(shape, 0)
    for code, shape in enumerate(SHAPES)
]
"""Bytes of instructions whose operands are in no row; the others, with 0, are looked at more closely."""

_make: Callable[[tuple[Any, ...]], Instruction] = partial(tuple.__new__, Instruction)
"""A row without the detour through its constructor: there are very many."""


def instruction_rows(
    id: str, owner: str, package: str, code: bytes, pool: Pool, known: dict[int, Columns]
) -> list[Instruction]:
    """The rows of a method's instructions; `known` are the references of its class that were met before."""
    rows: list[Instruction] = []
    add, make, plain, names = rows.append, _make, _PLAIN, NAMES
    pc = index = 0
    try:
        while pc < len(code):
            opcode = code[pc]
            width = plain[opcode]
            if width:
                add(make((id, owner, package, index, pc, names[opcode], "", "", "")))
            elif SHAPES[opcode] in _REFERRING:
                number = (code[pc + 1] << 8) | code[pc + 2]
                reference = known.get(number)
                if reference is None:
                    reference = known[number] = referred(pool, number)
                add(make((id, owner, package, index, pc, names[opcode], *reference)))
                width = WIDTH[SHAPES[opcode]]
            else:
                if SHAPES[opcode] == Shape.WIDE:
                    opcode, _, width = wide(code, pc)
                else:
                    _, width = switch(code, pc, SHAPES[opcode])
                add(make((id, owner, package, index, pc, names[opcode], "", "", "")))
            pc += width
            index += 1
    except (IndexError, struct.error) as problem:
        raise ClassFormatError(f"the instruction at byte {pc} of {id} is cut off or unknown") from problem
    if pc != len(code):
        raise ClassFormatError(f"the last instruction of {id} ends at {pc}, its code at {len(code)}")
    return rows


def referred(pool: Pool, number: int) -> Columns:
    """What an instruction refers to, in three columns."""
    if pool.tags[number] == CLASS:
        return pool.name(number), "", ""
    owner, name, descriptor = pool.member(number)
    return ("" if owner.startswith("#") else owner), name, descriptor
