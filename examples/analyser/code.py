"""The instructions of a method, decoded.

An operand is None, a number (a constant, a local variable, or the place that a branch goes to), a constant of the pool
resolved, or a small tuple: `(local, increment)`, `(class, dimensions)`, and for a switch
`(default, ((value, place), ...))`. `wide` is gone after decoding: its instruction has a wide operand.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from examples.analyser.constants import CLASS, ClassFormatError, Pool
from examples.analyser.opcodes import CODES, NAMES, SHAPES, WIDTH, Shape

_branch, _wide_branch, _int = struct.Struct(">h"), struct.Struct(">i"), struct.Struct(">i")
_lookup = struct.Struct(">ii")
_WIDTHS = [WIDTH.get(shape, 0) for shape in SHAPES]
_IINC = CODES["iinc"]
PRIMITIVES = {4: "Z", 5: "C", 6: "F", 7: "D", 8: "B", 9: "S", 10: "I", 11: "J"}
"""The codes of `newarray`."""


class Instruction(NamedTuple):
    pc: int
    opcode: int
    operand: Any

    @property
    def name(self) -> str:
        return NAMES[self.opcode]


_make: Callable[[tuple[int, int, Any]], Instruction] = partial(tuple.__new__, Instruction)
"""An instruction without the detour through its constructor: there are very many."""


class Handler(NamedTuple):
    """An entry of the exception table: what is thrown in `start` to `end` (exclusive) goes to `target`."""

    start: int
    end: int
    target: int
    catches: str | None
    """The class that is caught; None is `finally`."""


class Code(NamedTuple):
    stack: int
    locals: int
    body: bytes
    handlers: tuple[Handler, ...]
    lines: tuple[tuple[int, int], ...]
    """Pairs of the first instruction of a line, and the line."""

    def instructions(self, pool: Pool) -> Iterator[Instruction]:
        return decode(self.body, pool)

    def line(self, pc: int) -> int | None:
        """The source line of an instruction, if the compiler wrote lines."""
        before = [(start, line) for start, line in self.lines if start <= pc]
        return max(before)[1] if before else None


def decode(body: bytes, pool: Pool) -> Iterator[Instruction]:
    """All instructions of a method's body, in order."""
    make, shapes, widths, member = _make, SHAPES, _WIDTHS, pool.member
    known, is_class, name = pool.references, pool.tags, pool.name
    pc, end = 0, len(body)
    try:
        while pc < end:
            opcode = body[pc]
            shape = shapes[opcode]
            operand: Any = None
            width = widths[opcode]
            if shape == Shape.NONE:
                pass
            elif shape == Shape.CONSTANT or shape in (Shape.INTERFACE_CALL, Shape.DYNAMIC_CALL):
                index = (body[pc + 1] << 8) | body[pc + 2]
                operand = known.get(index)
                if operand is None:
                    if is_class[index] == CLASS:
                        operand = name(index)
                    elif opcode in (0x13, 0x14):  # ldc_w, ldc2_w
                        operand = pool.value(index)
                    else:
                        operand = member(index)
            elif shape == Shape.LOCAL:
                operand = body[pc + 1]
            elif shape == Shape.BRANCH:
                operand = pc + _branch.unpack_from(body, pc + 1)[0]
            elif shape == Shape.SHORT_CONSTANT:
                operand = pool.value(body[pc + 1])
            elif shape == Shape.BYTE:
                operand = body[pc + 1] - ((body[pc + 1] & 0x80) << 1)
            elif shape == Shape.SHORT:
                (operand,) = _branch.unpack_from(body, pc + 1)
            elif shape == Shape.INCREMENT:
                operand = body[pc + 1], body[pc + 2] - ((body[pc + 2] & 0x80) << 1)
            elif shape == Shape.ARRAY_TYPE:
                operand = PRIMITIVES[body[pc + 1]]
            elif shape == Shape.WIDE_BRANCH:
                operand = pc + _wide_branch.unpack_from(body, pc + 1)[0]
            elif shape == Shape.MULTI_ARRAY:
                operand = name((body[pc + 1] << 8) | body[pc + 2]), body[pc + 3]
            elif shape == Shape.WIDE:
                opcode, operand, width = wide(body, pc)
            else:
                operand, width = switch(body, pc, shape)
            yield make((pc, opcode, operand))
            pc += width
    except (IndexError, KeyError, struct.error) as problem:
        raise ClassFormatError(f"the instruction at byte {pc} of a method is cut off or unknown") from problem
    if pc != end:
        raise ClassFormatError(f"the last instruction of a method ends at {pc}, its code at {end}")


def wide(body: bytes, pc: int) -> tuple[int, Any, int]:
    """The instruction behind `wide`: its opcode, its operand, and the bytes that both take."""
    opcode = body[pc + 1]
    local = (body[pc + 2] << 8) | body[pc + 3]
    if opcode == _IINC:
        return opcode, (local, _branch.unpack_from(body, pc + 4)[0]), 6
    if SHAPES[opcode] != Shape.LOCAL:
        raise ClassFormatError(f"wide at byte {pc} stands before {NAMES[opcode]}")
    return opcode, local, 4


def switch(body: bytes, pc: int, shape: Shape) -> tuple[Any, int]:
    """The operand of a switch and the bytes it takes; its table begins at a multiple of four."""
    at = (pc + 4) & ~3
    default = pc + _int.unpack_from(body, at)[0]
    if shape == Shape.LOOKUP:
        (count,) = _int.unpack_from(body, at + 4)
        at += 8
        cases = tuple(
            (value, pc + offset) for value, offset in _lookup.iter_unpack(body[at : at + 8 * count])
        )
        at += 8 * count
    else:
        low, high = _lookup.unpack_from(body, at + 4)
        at += 12
        offsets = struct.unpack_from(f">{high - low + 1}i", body, at)
        cases = tuple((low + i, pc + offset) for i, offset in enumerate(offsets))
        at += 4 * len(offsets)
    return (default, cases), at - pc
