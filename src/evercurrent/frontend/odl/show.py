"""Classes as ODL text that parses back to the same classes.

Named types of the original text (typedefs, enumerations, structs) are written where they are used.

>>> from evercurrent.frontend.odl.resolve import classes_of
>>> from evercurrent.catalog.classes import Schema
>>> print(odl(classes_of("class p (extent Ps) { attribute unsigned short age, size; };", Schema())))
class p (extent Ps) {
    attribute unsigned short age;
    attribute unsigned short size;
};
"""

from __future__ import annotations

from evercurrent.catalog.classes import Attribute, Class, Operation, Path, Property, Relationship, Schema
from evercurrent.data.types import Array, Collection, Map, Reference, Struct, Type
from evercurrent.errors import UnsupportedError
from evercurrent.frontend.odl.primitives import spelling


def odl(schema: Schema) -> str:
    """All classes, in the order of their declaration."""
    return "\n\n".join(class_text(c) for c in schema.classes.values())


def class_text(c: Class) -> str:
    head = f"class {c.name}" + (f" extends {c.parent}" if c.parent else "")
    traits = ([f"extent {c.extent}"] if c.extent else []) + ([_keys(c)] if c.keys else [])
    if traits:
        head += f" ({' '.join(traits)})"
    lines = [_property(p) for p in c.properties] + [_operation(o) for o in c.operations]
    text = head + " {\n" + "".join(f"    {line};\n" for line in lines) + "};"
    if not c.module:
        return text
    return f"module {c.module} {{\n" + "".join(f"    {line}\n" for line in text.splitlines()) + "};"


def _keys(c: Class) -> str:
    keys = [k[0] if len(k) == 1 else f"({', '.join(k)})" for k in c.keys]
    return f"{'key' if len(keys) == 1 else 'keys'} {', '.join(keys)}"


def _property(p: Property) -> str:
    if isinstance(p, Relationship):
        to = p.target if p.kind == "one" else f"{p.kind}<{p.target}>"
        return f"relationship {to} {p.name} inverse {p.target}::{p.inverse}"
    kept = " kept as array" if p.keeping == "array" else ""
    return f"{'readonly ' if p.readonly else ''}attribute {_type(p, p.type, ())} {p.name}{kept}"


def _operation(o: Operation) -> str:
    def plain(t: Type) -> str:
        return _type(Attribute(o.name, t), t, ())

    given = ", ".join(f"in {plain(m.type)} {m.name}" for m in o.parameters)
    return f"{plain(o.type)} {o.name}({given})"


def _type(p: Attribute, t: Type, path: Path) -> str:
    limit = p.limit(path)
    if limit.labels:
        return f"enum {{{', '.join(limit.labels)}}}"
    match t:
        case Reference(target):
            return target
        case Collection(kind, element):
            return f"{kind}<{_type(p, element, (*path, 'element'))}>"
        case Array(element):
            return f"list<{_type(p, element, (*path, 'element'))}>"
        case Map(key, value):
            return f"dictionary<{_type(p, key, (*path, 'key'))}, {_type(p, value, (*path, 'value'))}>"
        case Struct(members):
            inner = " ".join(f"{_type(p, m.type, (*path, m.name))} {m.name};" for m in members)
            return f"struct {{{inner}}}"
        case _:
            found = spelling(t, limit)
            if found is None:
                raise UnsupportedError(f"{p.name}: ODL has no name for the type {t}")
            return found
