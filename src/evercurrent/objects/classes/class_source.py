"""The source of a class: its constructor, its setters, its rows.

Everything is numbered: the property at position 3 is the slot `_3` and the parameter `a3` of the constructor, which gets the
property's name when it is compiled (`name_parameters`). What a write does depends on who reads what it changes:

    nobody                        the slot
    views, through triggers       outside a transaction: the trigger of the deleted row, the slot, that of the inserted row
    anything else                 a transaction
    in a transaction              the object is noted as dirty, once, with its values; then the slot

`Traits` is what is known of that; a class is compiled again only when it changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType

from evercurrent.catalog.classes import Attribute, Relationship
from evercurrent.data.types import Boolean, Date, Float, Integer, Reference, String, Type
from evercurrent.objects.model.kinds import Field, Kind, Sheet
from evercurrent.objects.model.values import is_plain


@dataclass(frozen=True, slots=True)
class Traits:
    """Who reads the objects of a kind.

    `reads`: for each sheet (by number) that views read, the positions of the fields that they read; only these stand in
    the rows that triggers get. `notified`: the sheets whose changes somebody must be notified of, so that they take a transaction.
    `guarded`: fields of which a change takes a transaction though others do not.
    """

    reads: tuple[tuple[int, frozenset[int]], ...] = ()
    notified: frozenset[int] = frozenset()
    guarded: frozenset[int] = frozenset()
    tracked: bool = False  # whether references to objects are found from their target
    journal: bool = False  # whether triggers can fail, so that they write down how to undo them


PRIVATE = "__ec_"


PARAMETER = "a"
"""Begins the parameters of the constructor in its source: `a3` is the property at position 3."""


def name_parameters(function: FunctionType, kind: Kind) -> None:
    """Give the parameters of a constructor the names of the properties, so that they can be given by keyword.

    Names are data: they go into the code object and never through the source, so any name will do.
    """
    names = {f"{PARAMETER}{f.position}": f.name for f in kind.fields}
    code = function.__code__
    function.__code__ = code.replace(co_varnames=tuple(names.get(n, n) for n in code.co_varnames))
    function.__kwdefaults__ = dict.fromkeys(names.values())


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


def row_source(sheet: Sheet) -> str:
    """The row of a sheet, off the slots of `self`."""
    cells = ["self.oid", *(_cell(f, f"self._{f.position}") for f in sheet.fields)]
    return f"({', '.join(cells)},)"


def columns_source(sheet: Sheet, held: Mapping[int, str], oid: str, wanted: frozenset[int]) -> str:
    """The columns of a sheet as a trigger takes them: what nobody wants is None, and a reference is the object itself.

    `held` says where the values of fields are (else in the slots of `self`).
    """
    cells = [oid]
    for f in sheet.fields:
        there = held.get(f.position, f"self._{f.position}")
        if f.position not in wanted:
            cells.append("None")
        else:
            cells.append(there if isinstance(f.type, Reference) else _cell(f, there))
    return ", ".join(cells)


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
        lines += [f"def row_{n}(self):", f"    return {row_source(sheet)}"]
        cells = ["oid"]
        for f in sheet.fields:
            cells.append(f"s[{where[f.position]}]" if f.many else _cell(f, f"s[{where[f.position]}]"))
        lines += [f"def before_{n}(oid, s):", f"    return ({', '.join(cells)},)"]
    return "\n".join(lines) + "\n"


# --- checks ------------------------------------------------------------------------------------------------


def _test(f: Field, value: str) -> str:
    """A quick test that a value is what the slot holds already; when it is false, `take` decides."""
    a = f.declaration
    t: Type = f.type
    match a, t:
        case Attribute(labels=labels), String(None) if not labels:
            return f"type({value}) is str and {value}.isascii()"
        case Attribute(least=least, greatest=greatest), Integer(bits):
            low = -(1 << (bits - 1)) if least is None else least
            high = (1 << (bits - 1)) - 1 if greatest is None else greatest
            return f"type({value}) is int and {low} <= {value} <= {high}"
        case _, Float(64):
            return f"type({value}) is float and {value} == {value} != 0.0"  # 0.0 may be -0.0
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
    return f"if not ({test}) and {value} is not None: {take}" if test else f"if {value} is not None: {take}"


# --- both ends of a relationship ---------------------------------------------------------------------------


def is_quick_end(kind: Kind, f: Field) -> bool:
    """Whether a single-valued field is no relationship, or one whose other end is a set that it keeps itself."""
    end = f.relationship
    if end is None:
        return True
    other = kind.space.schema.properties(end.target)[end.inverse][1]
    return isinstance(other, Relationship) and other.kind == "set"


def _other_end(kind: Kind, f: Field, held: str, comes: bool, undoable: bool) -> list[str]:
    """The object comes into the set at the other end, or leaves it."""
    end = f.relationship
    if end is None:
        return []
    p = PRIVATE
    position = list(kind.space.schema.properties(end.target)).index(end.inverse) + 1
    there = f"{held}._{position}"
    do, back = (f"{p}add", f"{p}discard") if comes else (f"{p}discard", f"{p}add")
    lines = [f"if {held} is not None:"]
    if undoable:
        lines.append(f"    {p}journal(({back}, {there}, self))")
    return [*lines, f"    {do}({there}, self)"]


def _attempt(body: list[str], record: list[str], traits: Traits) -> list[str]:
    """What a write does outside a transaction, and what happens if it is stopped: it is undone, and the views are rebuilt.

    `record` writes down how to undo it, in the work of the database. It and the mark before it make no call of Python's, so
    that a second interrupt cannot come between; from then on, whoever takes the lock next can do the rest.
    """
    lines = ["try:", *(f"    {line}" for line in body), f"except BaseException as {PRIVATE}e:"]
    rescue = [f"{PRIVATE}M.torn = True", *record, f"{PRIVATE}rescue({PRIVATE}e, {traits.journal})", "raise"]
    lines += [f"    {line}" for line in rescue]
    return [*lines, f"{PRIVATE}J.clear()"] if traits.journal else lines


def _ends_record(kind: Kind, f: Field, held: str, was_there: bool) -> str:
    """The entry of the journal that puts the other end back: the object was in its set, or was not."""
    end = f.relationship
    assert end is not None
    position = list(kind.space.schema.properties(end.target)).index(end.inverse) + 1
    back = f"{PRIVATE}add" if was_there else f"{PRIVATE}discard"
    return f"*((({back}, {held}._{position}, self),) if {held} is not None else ()), "


def _open(lines: list[str], end: str = "return") -> list[str]:
    """For a transaction that is open, in the only thread there is."""
    p = PRIVATE
    head = [f"{p}t = {p}S.transaction", f"if {p}t is not None and {p}t.status == 'open':"]
    return [*head, *(f"    {line}" for line in lines), f"    {end}"]


def _indent(lines: list[str], by: int) -> list[str]:
    return ["    " * by + line for line in lines]


# --- setters -----------------------------------------------------------------------------------------------


def setter_source(kind: Kind, f: Field, traits: Traits) -> str:
    """The setter of a single-valued field, `set_<position>`."""
    p = PRIVATE
    i = f.position
    slow = f"    {p}set(self, {p}f{i}, value)"
    lines = [f"def set_{i}(self, value):", f"    {_check(f, 'value')}", f"    old = self._{i}"]
    same = "==" if is_plain(f.type) and not isinstance(f.type, Float) else "is"
    lines.append(f"    if value {same} old: return")
    if not is_quick_end(kind, f):
        return "\n".join([*lines, slow]) + "\n"
    reading = [(n, wanted) for n, wanted in traits.reads if i in wanted]
    noted = traits.tracked and f.refers
    write = [f"self._{i} = value"]
    if noted:
        write = [f"{p}back.forget(self, {p}f{i})", *write, f"{p}back.note(self, {p}f{i})"]
    lines.append(f"    if len({p}A) == 1:")
    notified = any(f in kind.sheets[n].fields for n in traits.notified)
    if not notified and i not in traits.guarded:
        quick = [f"{p}d{n}({columns_source(kind.sheets[n], {i: 'old'}, 'self.oid', w)})" for n, w in reading]
        quick += write
        quick += [
            f"{p}i{n}({columns_source(kind.sheets[n], {i: 'value'}, 'self.oid', w)})" for n, w in reading
        ]
        quick += _other_end(kind, f, "old", False, False) + _other_end(kind, f, "value", True, False)
        if len(quick) > 1:
            entries = f"({p}f{i}.slot.__set__, self, old), "
            if f.relationship is not None:
                entries += _ends_record(kind, f, "old", True) + _ends_record(kind, f, "value", False)
            if noted:  # undone from the last to the first: when the slot is as it was
                entries = f"({p}back.note, self, {p}f{i}), {entries}"
            quick = _attempt(quick, [f"{p}undoing(({entries}))"], traits)
        lines += [f"        if {p}S.idle:", *_indent([*quick, "return"], 3)]
    pending = [
        f"if self not in {p}dirty:",
        f"    {p}dirty[self] = {p}snapshot(self)",
        f"    {p}t.objects = {p}work",
    ]
    pending += write
    pending += _other_end(kind, f, "old", False, True) + _other_end(kind, f, "value", True, True)
    lines += _indent(_open(pending), 2)
    return "\n".join([*lines, slow]) + "\n"


# --- the constructor ---------------------------------------------------------------------------------------


def constructor_source(kind: Kind, traits: Traits, make: bool = False) -> str:
    """The constructor; or the function `make`, which does the same for a new object and returns it.

    All parameters have names, and everything else is gathered, so that a wrong call comes in and is refused by `place`. That
    also finds the places of values that are given without a name.
    """
    p = PRIVATE
    end = "return self" if make else "return"
    singles = [f for f in kind.fields if not f.many]
    many = [f for f in kind.fields if f.many]
    local = {f.position: f"{PARAMETER}{f.position}" for f in kind.fields}
    parameters = [f"{name}=None" for name in local.values()]
    values = f"({''.join(f'{name}, ' for name in local.values())})"
    head = [*([] if make else ["self", "/"]), f"*{p}more", *parameters, f"**{p}unknown"]
    lines = [
        f"def {'make' if make else '__init__'}({', '.join(head)}):",
        f"    if {p}more or {p}unknown:",
        f"        {f'{values} = ' if local else ''}{p}place({p}more, {p}unknown, {values})",
    ]
    lines += [f"    {_check(f, local[f.position])}" for f in singles]
    if make:
        lines.append(f"    self = {p}create({p}cls)")
    lines += [f"    self._{f.position} = {local[f.position]}" for f in singles]
    for f in many:
        lines += [f"    self._{f.position} = {p}c = {p}owned{f.position}()", f"    {p}c.owner = self"]
    ends = [f for f in singles if f.relationship is not None]
    quick_ends = [f for f in ends if is_quick_end(kind, f)]
    given = "".join(f"({p}f{f.position}, {local[f.position]}), " for f in (*ends, *many))
    apart = [f"{local[f.position]} is None" for f in (*many, *ends) if f not in quick_ends]
    lines.append(f"    if {' and '.join([f'len({p}A) == 1', *apart])}:")
    noted = [f"{p}back.note(self)"] if traits.tracked and any(f.refers for f in kind.fields) else []
    join = [f"self.oid = {p}oid", f"{p}born(self)"]
    if not traits.notified:
        held = {f.position: local[f.position] for f in singles}
        quick, claim = _keys(kind, local)
        quick.append(f"{p}oid = len({p}live)")
        quick.append(join[0])
        steps = [f"{p}i{n}({columns_source(kind.sheets[n], held, f'{p}oid', w)})" for n, w in traits.reads]
        steps += [*join[1:], *noted, *claim]
        for f in quick_ends:
            steps += _other_end(kind, f, local[f.position], True, False)
        entries = "".join(f"({p}keys{n}.pop, {p}k{n}, None), " for n in range(len(kind.keys)))
        entries += "".join(_ends_record(kind, f, local[f.position], False) for f in quick_ends)
        record = [f"{p}dirty[self] = None"] + ([f"{p}undoing(({entries}))"] if entries else [])
        quick += _attempt(steps, record, traits) if len(steps) > 1 else steps
        lines += [f"        if {p}S.idle:", *_indent([*quick, end], 3)]
    # Noted as new before it is there: whoever is interrupted in between can be undone.
    pending = [f"{p}oid = len({p}live)", f"{p}t.objects = {p}work", join[0], f"{p}dirty[self] = None"]
    pending += [*join[1:], *noted]
    for f in quick_ends:
        pending += _other_end(kind, f, local[f.position], True, True)
    lines += _indent(_open(pending, end), 2)
    lines.append(f"    {p}enter(self, ({given}))")
    if make:
        lines.append("    return self")
    return "\n".join(lines) + "\n"


def _keys(kind: Kind, local: Mapping[int, str]) -> tuple[list[str], list[str]]:
    """The test that no other object has a declared key, and what claims it."""
    p = PRIVATE
    test: list[str] = []
    claim: list[str] = []
    for n, key in enumerate(kind.keys):
        values = [local[kind.named[name].position] for name in key.names]
        test.append(f"{p}k{n} = ({', '.join(values)},)")
        test.append(f"if {p}k{n} in {p}keys{n}: raise {p}clash({n}, {p}k{n}, self)")
        claim.append(f"if None not in {p}k{n}: {p}keys{n}[{p}k{n}] = self")
    return test, claim


def source(kind: Kind, traits: Traits, fields: Sequence[Field]) -> str:
    """Everything that depends on the readers of the objects."""
    setters = [setter_source(kind, f, traits) for f in fields if not f.many]
    return constructor_source(kind, traits) + constructor_source(kind, traits, True) + "".join(setters)
