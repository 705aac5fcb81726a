"""The source of a class: its constructor, its setters, its rows.

Names of properties are parameters of the constructor (they are identifiers; those that Python reserves come by `others`);
everything else is numbered. What a write does depends on who reads what it changes:

    nobody                        the slot
    views, through triggers       outside a transaction: the trigger of the row that goes, the slot, that of the row that comes
    anything else                 a transaction
    in a transaction              the object is noted as dirty, once, with its values; then the slot

`Traits` is what is known of that; a class is written anew only when it changes.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evercurrent.catalog.classes import Attribute, Relationship
from evercurrent.data.types import Boolean, Date, Float, Integer, Reference, String, Type
from evercurrent.objects.kinds import Field, Kind, Sheet
from evercurrent.objects.values import is_plain


@dataclass(frozen=True, slots=True)
class Traits:
    """Who reads the objects of a kind.

    `reads`: for each sheet (by number) that views read, the positions of the fields that they read; only these stand in
    the rows that triggers get. `told`: whether a change of one of the sheets must be told to someone, or can fail, so that
    it takes a transaction. `guarded`: fields of which a change takes a transaction though others do not.
    """

    reads: tuple[tuple[int, frozenset[int]], ...] = ()
    told: bool = False
    guarded: frozenset[int] = frozenset()
    tracked: bool = False  # whether references to objects are found from their target


PRIVATE = "__ec_"


def is_parameter(name: str) -> bool:
    return (
        name.isidentifier() and not keyword.iskeyword(name) and name != "self" and not name.startswith("__")
    )


# --- rows --------------------------------------------------------------------------------------------------


def _cell(f: Field, held: str) -> str:
    """What stands in a row for what the slot holds."""
    if not f.many and is_plain(f.type):
        return held
    if isinstance(f.type, Reference):
        if held.isidentifier():
            return f"(None if {held} is None else {held}.oid)"
        return f"(None if ({PRIVATE}x := {held}) is None else {PRIVATE}x.oid)"
    return f"{PRIVATE}in{f.position}({held})"


def row_source(sheet: Sheet, held: Mapping[int, str], oid: str, wanted: frozenset[int] | None = None) -> str:
    """The row of a sheet; `held` says where the values of fields are (else in the slots of `self`)."""
    cells = [oid]
    for f in sheet.fields:
        if wanted is not None and f.position not in wanted:
            cells.append("None")
        else:
            cells.append(_cell(f, held.get(f.position, f"self._{f.position}")))
    return f"({', '.join(cells)},)"


def rows_source(kind: Kind) -> str:
    """Snapshots, restoring, and the rows of objects and of snapshots."""
    kept = [f for f in kind.fields if f.in_row]
    values = [
        f"{PRIVATE}in{f.position}(self._{f.position})" if f.many else f"self._{f.position}" for f in kept
    ]
    lines = ["def snapshot(self):", f"    return ({''.join(v + ', ' for v in values)})"]
    lines += ["def restore(self, s):", "    pass"]
    lines += [f"    self._{f.position} = s[{i}]" for i, f in enumerate(kept) if not f.many]
    where = {f.position: i for i, f in enumerate(kept)}
    for n, sheet in enumerate(kind.sheets):
        lines += [f"def row_{n}(self):", f"    return {row_source(sheet, {}, 'self.oid')}"]
        cells = ["oid"]
        for f in sheet.fields:
            cells.append(f"s[{where[f.position]}]" if f.many else _cell(f, f"s[{where[f.position]}]"))
        lines += [f"def before_{n}(oid, s):", f"    return ({', '.join(cells)},)"]
    return "\n".join(lines) + "\n"


# --- checks ------------------------------------------------------------------------------------------------


def _test(f: Field, value: str) -> str:
    """A quick test that a value is what the slot holds already; when it is false, `take` decides."""
    a = f.property
    t: Type = f.type
    match a, t:
        case Attribute(labels=labels), String(None) if not labels:
            return f"type({value}) is str"
        case Attribute(least=least, greatest=greatest), Integer(bits):
            low = -(1 << (bits - 1)) if least is None else least
            high = (1 << (bits - 1)) - 1 if greatest is None else greatest
            return f"type({value}) is int and {low} <= {value} <= {high}"
        case _, Float(64):
            return f"type({value}) is float and {value} == {value}"
        case _, Boolean():
            return f"({value} is True or {value} is False)"
        case _, Date():
            return f"type({value}) is {PRIVATE}date"
        case _, Reference():
            return f"type({value}) is {PRIVATE}t{f.position}"
        case _:
            return ""


def _check(f: Field, value: str) -> str:
    test = _test(f, value)
    take = f"{value} = {PRIVATE}take{f.position}({value})"
    return f"if not ({test}): {take}" if test else f"if {value} is not None: {take}"


# --- setters -----------------------------------------------------------------------------------------------


def setter_source(kind: Kind, f: Field, traits: Traits) -> str:
    """The setter of a single-valued field, `set_<position>`."""
    p = PRIVATE
    i = f.position
    lines = [f"def set_{i}(self, value):", f"    {_check(f, 'value')}", f"    old = self._{i}"]
    if is_plain(f.type) and not isinstance(f.type, Float):
        lines.append("    if value == old: return")
    else:
        lines.append("    if value is old: return")
    reading = [(n, wanted) for n, wanted in traits.reads if i in wanted]
    other = f.relationship
    if (reading and traits.told) or i in traits.guarded or (other is not None and not _plain_end(kind, f)):
        lines.append(f"    {p}set(self, {p}f{i}, value)")
        return "\n".join(lines) + "\n"
    fast: list[str] = []
    for n, wanted in reading:
        fast.append(f"{p}d{n}({row_source(kind.sheets[n], {i: 'old'}, 'self.oid', wanted)})")
    noted = traits.tracked and f.refers
    if noted:
        fast.append(f"{p}back.forget(self, {p}f{i})")
    fast.append(f"self._{i} = value")
    if noted:
        fast.append(f"{p}back.note(self, {p}f{i})")
    fast += _inverse(kind, f)
    for n, wanted in reading:
        fast.append(f"{p}i{n}({row_source(kind.sheets[n], {i: 'value'}, 'self.oid', wanted)})")
    lines.append(f"    if {p}S.idle and len({p}A) == 1:")
    lines += [f"        {line}" for line in fast]
    if other is None and not noted:
        lines.append(f"    elif self in {p}dirty and len({p}A) == 1: self._{i} = value")
    lines.append(f"    else: {p}set(self, {p}f{i}, value)")
    return "\n".join(lines) + "\n"


def _plain_end(kind: Kind, f: Field) -> bool:
    """Whether a to-one relationship has an unordered collection, kept by nothing else, as its other end."""
    end = f.relationship
    assert end is not None
    other = kind.space.schema.properties(end.target)[end.inverse][1]
    return isinstance(other, Relationship) and other.kind in ("set", "bag")


def _inverse(kind: Kind, f: Field, old: bool = True, value: str = "value") -> list[str]:
    """The other end of a to-one relationship moves along."""
    end = f.relationship
    if end is None:
        return []
    p = PRIVATE
    position = list(kind.space.schema.properties(end.target)).index(end.inverse) + 1
    lines = [f"if old is not None: {p}discard(old._{position}, self)"] if old else []
    return [*lines, f"if {value} is not None: {p}add({value}._{position}, self)"]


# --- the constructor ---------------------------------------------------------------------------------------


def constructor_source(kind: Kind, traits: Traits) -> str:
    p = PRIVATE
    singles = [f for f in kind.fields if not f.many]
    many = [f for f in kind.fields if f.many]
    named = {f.position: f.name for f in kind.fields if is_parameter(f.name)}
    local = {f.position: named.get(f.position, f"{p}v{f.position}") for f in kind.fields}
    parameters = ", ".join(f"{n}=None" for n in named.values())
    head = (
        f"def __init__(self, *, {parameters}, **{p}others):"
        if parameters
        else f"def __init__(self, **{p}others):"
    )
    lines = [head]
    hidden = [f for f in kind.fields if f.position not in named]
    for f in hidden:
        lines.append(f"    {local[f.position]} = {p}others.pop({f.name!r}, None)")
    lines.append(f"    if {p}others: {p}unknown({p}others)")
    for f in singles:
        lines.append(f"    if {local[f.position]} is not None:")
        lines.append(f"        {_check(f, local[f.position])}")
    for f in singles:
        lines.append(f"    self._{f.position} = {local[f.position]}")
    for f in many:
        lines.append(f"    self._{f.position} = {p}c = {p}owned{f.position}()")
        lines.append(f"    {p}c.owner = self")
    complex_ends = [f for f in singles if f.relationship is not None and not _plain_end(kind, f)]
    slow = traits.told or bool(kind.keys)
    quick = [f"{p}S.idle", f"len({p}A) == 1"]
    quick += [f"{local[f.position]} is None" for f in many]
    quick += [f"{local[f.position]} is None" for f in complex_ends]
    ends = [f for f in singles if f.relationship is not None]
    given = "".join(f"({p}f{f.position}, {local[f.position]}), " for f in (*ends, *many))
    if slow:
        lines.append(f"    {p}enter(self, ({given}))")
        return "\n".join(lines) + "\n"
    lines.append(f"    if {' and '.join(quick)}:")
    lines.append(f"        self.oid = {p}oid = {p}next()")
    lines.append(f"        {p}live[{p}oid] = {p}own[{p}oid] = self")
    for f in ends:
        if f not in complex_ends:
            lines += [f"        {line}" for line in _inverse(kind, f, False, local[f.position])]
    if traits.tracked and any(f.refers for f in kind.fields):
        lines.append(f"        {p}back.note(self)")
    for n, wanted in traits.reads:
        held = {f.position: local[f.position] for f in singles}
        lines.append(f"        {p}i{n}({row_source(kind.sheets[n], held, f'{p}oid', wanted)})")
    lines.append(f"    else: {p}enter(self, ({given}))")
    return "\n".join(lines) + "\n"


def source(kind: Kind, traits: Traits, fields: Sequence[Field]) -> str:
    """Everything that depends on who reads the objects."""
    setters = [setter_source(kind, f, traits) for f in fields if not f.many]
    return constructor_source(kind, traits) + "".join(setters)
