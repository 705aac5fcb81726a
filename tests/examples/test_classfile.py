"""The reader of class files, against javap, and on every class of the jars that come with Spark."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from examples.analyser import classfile, opcodes
from examples.analyser.classfile import ClassFile, read
from examples.analyser.code import decode
from examples.analyser.constants import ClassFormatError, Handle, Pool, Reference
from examples.analyser.facts import facts


def test_there_are_202_instructions() -> None:
    assert len(opcodes.NAMES) == 202 and len(set(opcodes.NAMES)) == 202
    assert opcodes.NAMES[0xA9:0xAC] == ("ret", "tableswitch", "lookupswitch")
    assert opcodes.NAMES[0xB9] == "invokeinterface" and opcodes.NAMES[0xC9] == "jsr_w"


def case(compiled: Path, name: str) -> ClassFile:
    return read((compiled / "cases" / f"{name}.class").read_bytes())


def test_what_a_class_says_of_itself(compiled: Path) -> None:
    found = case(compiled, "Clones$Indirect")
    assert found.name == "cases/Clones$Indirect" and found.super_name == "cases/Clones$Between"
    assert found.version == (52, 0) and found.source == "Clones.java"
    assert [m.name + m.descriptor for m in found.methods] == [
        "<init>()V",
        "clone()Lcases/Clones$Indirect;",
        "clone()Ljava/lang/Object;",
    ]
    bridge = found.methods[2]
    assert bridge.flags & classfile.SYNTHETIC and bridge.flags & classfile.BRIDGE
    assert bridge.exceptions == ("java/lang/CloneNotSupportedException",)
    assert {"Indirect", "Between"} <= {i.name for i in found.inner_classes}


def test_signatures_constants_and_enclosing_methods(compiled: Path) -> None:
    statics = case(compiled, "Statics")
    table = next(f for f in statics.fields if f.name == "TABLE")
    assert table.signature == "Ljava/util/Hashtable<Ljava/lang/String;Ljava/lang/String;>;"
    anonymous = case(compiled, "Privileges$1")
    assert anonymous.enclosing_method == (
        "cases/Privileges",
        "openPrivileged(Ljava/lang/reflect/Field;)V",
    )


LISTED = re.compile(r"^ +(\d+): ([a-z]\w*)")


def test_instructions_are_those_of_javap(compiled: Path) -> None:
    javap = shutil.which("javap")
    if javap is None:
        pytest.skip("javap is not installed")
    files = [compiled / "cases" / f"{name}.class" for name in ("Everything", "Clones", "Monitors", "Windows")]
    command = [javap, "-c", "-p", *map(str, files)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    expected = [(int(m[1]), m[2].removesuffix("_w")) for m in map(LISTED.match, text.splitlines()) if m]
    classes = [read(file.read_bytes()) for file in files]
    decoded = [
        (i.pc, i.name.removesuffix("_w"))
        for found in classes
        for method in found.methods
        for i in found.instructions(method)
    ]
    assert decoded == expected and len(decoded) > 500


def test_rows_of_instructions_are_those_that_are_decoded(compiled: Path) -> None:
    for file in sorted(compiled.rglob("*.class")):
        found = read(file.read_bytes())
        rows = {(row.method, row.number): row for row in facts(found).rows[4]}
        decoded = 0
        for method in found.methods:
            for index, (pc, opcode, operand) in enumerate(found.instructions(method)):
                row = rows[f"{found.name}.{method.name}{method.descriptor}", index]
                assert (row.pc, row.operation) == (pc, opcodes.NAMES[opcode])
                expected = ("", "", "")
                if isinstance(operand, Reference):
                    expected = ("" if operand.owner.startswith("#") else operand.owner, *operand[1:])
                elif row.operation in ("new", "anewarray", "checkcast", "instanceof"):
                    expected = (operand, "", "")
                elif row.operation == "multianewarray":
                    expected = (operand[0], "", "")
                assert row[6:] == expected
                decoded += 1
        assert decoded == len(rows)


def of(found: ClassFile, name: str) -> list[tuple[str, object]]:
    method = next(m for m in found.methods if m.name == name)
    return [(i.name, i.operand) for i in found.instructions(method)]


def test_switches_wide_locals_and_dynamic_calls(compiled: Path) -> None:
    found = case(compiled, "Everything")
    dense = next(operand for name, operand in of(found, "dense") if name == "tableswitch")
    sparse = next(operand for name, operand in of(found, "sparse") if name == "lookupswitch")
    assert isinstance(dense, tuple) and isinstance(sparse, tuple)
    assert [value for value, _ in dense[1]] == [-1, 0, 1, 2]
    assert [value for value, _ in sparse[1]] == [-1000, 5, 1_000_000]
    places = {i.pc for i in found.instructions(next(m for m in found.methods if m.name == "sparse"))}
    assert {sparse[0], *(place for _, place in sparse[1])} <= places
    many = of(found, "manyLocals")
    assert ("iinc", (299, 1000)) in many and ("iload", 299) in many and ("iinc", (0, -1)) in many
    dynamic = [operand for name, operand in of(found, "lambda") if name == "invokedynamic"]
    assert dynamic == [Reference("#0", "get", "(Ljava/lang/String;)Ljava/util/function/Supplier;")]
    assert found.bootstraps[0].handle == Handle(
        6,
        Reference(
            "java/lang/invoke/LambdaMetafactory",
            "metafactory",
            "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;"
            "Ljava/lang/invoke/MethodType;Ljava/lang/invoke/MethodHandle;Ljava/lang/invoke/MethodType;)"
            "Ljava/lang/invoke/CallSite;",
        ),
    )
    assert ("multianewarray", ("[[[J", 2)) in of(found, "arrays") and ("newarray", "J") in of(found, "arrays")
    assert [operand for name, operand in of(found, "constants") if name.startswith("ldc")] == [
        "zero \0 and beyond \U0001f600",
        1 << 40,
        0.1,
        "java/lang/String",
    ]
    assert ("sipush", -300) in of(found, "constants") and ("bipush", -100) in of(found, "constants")


def test_lines_of_instructions(compiled: Path) -> None:
    found = case(compiled, "Collecting")
    code = next(m.code for m in found.methods if m.name == "tidy")
    source = (Path(__file__).parent / "java" / "cases" / "Collecting.java").read_text().splitlines()
    assert code is not None
    line = code.line(0)
    assert line is not None and source[line - 1].strip() == "System.gc();"


def test_what_is_no_class_file_is_refused() -> None:
    with pytest.raises(ClassFormatError, match="begins with 504b0304"):
        read(b"PK\3\4" + bytes(20))
    with pytest.raises(ClassFormatError, match="ends too early"):
        read(bytes.fromhex("cafebabe00000034") + b"\0\5\1")
    with pytest.raises(ClassFormatError, match="unknown tag 99"):
        read(bytes.fromhex("cafebabe00000034") + b"\0\2\x63")


def test_a_cut_class_is_refused(compiled: Path) -> None:
    whole = (compiled / "cases" / "Boxing.class").read_bytes()
    for length in range(0, len(whole), 7):
        with pytest.raises(ClassFormatError):
            read(whole[:length])
    with pytest.raises(ClassFormatError, match="2 bytes stand behind the end"):
        read(whole + b"\0\0")


def test_cut_instructions_are_refused() -> None:
    pool = Pool([0], [None])
    assert [i.name for i in decode(b"\0\xb1", pool)] == ["nop", "return"]
    for body in (b"\x11\0", b"\xc4\xb1\0\0", b"\xff", b"\xaa\0\0\0"):
        with pytest.raises(ClassFormatError):
            list(decode(body, pool))


def jars() -> list[Path]:
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        return []
    found = sorted((Path(spec.origin).parent / "jars").glob("*.jar"), key=lambda p: p.stat().st_size)
    return found


@pytest.mark.slow
def test_every_class_of_many_jars_is_read() -> None:
    """Some 3,000 classes of Java, Scala and Kotlin compilers; every instruction ends where the next begins."""
    if not jars():
        pytest.skip("pyspark, whose jars are read, is not installed")
    classes = instructions = 0
    for jar in jars():
        with zipfile.ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith(".class"):
                    read_facts = facts(read(archive.read(name)))
                    classes += 1
                    instructions += len(read_facts.rows[4])
        if classes > 3_000:
            break
    assert classes > 3_000 and instructions > 100_000
