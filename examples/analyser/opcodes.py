"""The instructions of the Java virtual machine: their names, and the shape of what stands behind the opcode.

A shape is a word of `Shape`; the table below gives the shape of every opcode (The Java Virtual Machine Specification,
chapter 6). Most instructions have none and are one byte long.

>>> NAMES[0xB6], SHAPES[0xB6], NAMES[0x60], SHAPES[0x60]
('invokevirtual', <Shape.CONSTANT: 4>, 'iadd', <Shape.NONE: 0>)
"""

from __future__ import annotations

from enum import IntEnum


class Shape(IntEnum):
    NONE = 0
    BYTE = 1  # a signed byte
    SHORT = 2  # a signed short
    SHORT_CONSTANT = 3  # an index into the constant pool, one byte
    CONSTANT = 4  # an index into the constant pool, two bytes
    LOCAL = 5  # a local variable
    INCREMENT = 6  # a local variable and a signed byte
    BRANCH = 7  # an offset, two bytes
    WIDE_BRANCH = 8  # an offset, four bytes
    INTERFACE_CALL = 9  # a constant, a count and a zero
    DYNAMIC_CALL = 10  # a constant and two zeros
    ARRAY_TYPE = 11  # the code of a primitive type
    MULTI_ARRAY = 12  # a constant and a number of dimensions
    TABLE = 13  # tableswitch
    LOOKUP = 14  # lookupswitch
    WIDE = 15  # the next instruction with a local of two bytes


WIDTH = {
    Shape.NONE: 1,
    Shape.BYTE: 2,
    Shape.SHORT: 3,
    Shape.SHORT_CONSTANT: 2,
    Shape.CONSTANT: 3,
    Shape.LOCAL: 2,
    Shape.INCREMENT: 3,
    Shape.BRANCH: 3,
    Shape.WIDE_BRANCH: 5,
    Shape.INTERFACE_CALL: 5,
    Shape.DYNAMIC_CALL: 5,
    Shape.ARRAY_TYPE: 2,
    Shape.MULTI_ARRAY: 4,
}
"""Bytes of an instruction with its opcode; switches and `wide` find out their own."""

_IN_ORDER = """
    nop aconst_null iconst_m1 iconst_0 iconst_1 iconst_2 iconst_3 iconst_4 iconst_5 lconst_0 lconst_1
    fconst_0 fconst_1 fconst_2 dconst_0 dconst_1 bipush sipush ldc ldc_w ldc2_w
    iload lload fload dload aload
    iload_0 iload_1 iload_2 iload_3 lload_0 lload_1 lload_2 lload_3 fload_0 fload_1 fload_2 fload_3
    dload_0 dload_1 dload_2 dload_3 aload_0 aload_1 aload_2 aload_3
    iaload laload faload daload aaload baload caload saload
    istore lstore fstore dstore astore
    istore_0 istore_1 istore_2 istore_3 lstore_0 lstore_1 lstore_2 lstore_3 fstore_0 fstore_1 fstore_2 fstore_3
    dstore_0 dstore_1 dstore_2 dstore_3 astore_0 astore_1 astore_2 astore_3
    iastore lastore fastore dastore aastore bastore castore sastore
    pop pop2 dup dup_x1 dup_x2 dup2 dup2_x1 dup2_x2 swap
    iadd ladd fadd dadd isub lsub fsub dsub imul lmul fmul dmul idiv ldiv fdiv ddiv irem lrem frem drem
    ineg lneg fneg dneg ishl lshl ishr lshr iushr lushr iand land ior lor ixor lxor iinc
    i2l i2f i2d l2i l2f l2d f2i f2l f2d d2i d2l d2f i2b i2c i2s
    lcmp fcmpl fcmpg dcmpl dcmpg ifeq ifne iflt ifge ifgt ifle
    if_icmpeq if_icmpne if_icmplt if_icmpge if_icmpgt if_icmple if_acmpeq if_acmpne
    goto jsr ret tableswitch lookupswitch ireturn lreturn freturn dreturn areturn return
    getstatic putstatic getfield putfield invokevirtual invokespecial invokestatic invokeinterface invokedynamic
    new newarray anewarray arraylength athrow checkcast instanceof monitorenter monitorexit
    wide multianewarray ifnull ifnonnull goto_w jsr_w
"""
NAMES: tuple[str, ...] = tuple(_IN_ORDER.split())
"""By opcode."""

_SHAPED = {
    Shape.BYTE: "bipush",
    Shape.SHORT: "sipush",
    Shape.SHORT_CONSTANT: "ldc",
    Shape.CONSTANT: (
        "ldc_w ldc2_w getstatic putstatic getfield putfield invokevirtual invokespecial invokestatic "
        "new anewarray checkcast instanceof"
    ),
    Shape.LOCAL: "iload lload fload dload aload istore lstore fstore dstore astore ret",
    Shape.INCREMENT: "iinc",
    Shape.BRANCH: (
        "ifeq ifne iflt ifge ifgt ifle if_icmpeq if_icmpne if_icmplt if_icmpge if_icmpgt if_icmple "
        "if_acmpeq if_acmpne goto jsr ifnull ifnonnull"
    ),
    Shape.WIDE_BRANCH: "goto_w jsr_w",
    Shape.INTERFACE_CALL: "invokeinterface",
    Shape.DYNAMIC_CALL: "invokedynamic",
    Shape.ARRAY_TYPE: "newarray",
    Shape.MULTI_ARRAY: "multianewarray",
    Shape.TABLE: "tableswitch",
    Shape.LOOKUP: "lookupswitch",
    Shape.WIDE: "wide",
}
_SHAPE_OF = {name: shape for shape, names in _SHAPED.items() for name in names.split()}

SHAPES: tuple[Shape, ...] = tuple(_SHAPE_OF.get(name, Shape.NONE) for name in NAMES)
CODES: dict[str, int] = {name: code for code, name in enumerate(NAMES)}
