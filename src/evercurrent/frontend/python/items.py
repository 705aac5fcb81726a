"""Membership and items: `x in values`, `row["name"]`, `values[0]`, `text[1:3]`.

    s.city in ("Oslo", "Rome")      s.city is not null, s.city in ('Oslo', 'Rome')
    s.name[:3]                      substring(s.name, 1, 3)
    s.tags[0]                       element_at(s.tags, 1)

An item that terms cannot express, such as `s.name[0]`, is left to Python: the function is opaque then.
"""

from __future__ import annotations

from typing import Any

from evercurrent.data.types import INT, Array, Map, String, Struct
from evercurrent.errors import QueryError
from evercurrent.frontend.python.logic import make_known
from evercurrent.frontend.python.operations import equality, parts_of, require_comparable
from evercurrent.frontend.python.symbols import Symbol, attribute
from evercurrent.frontend.python.terms import Resists, mapping, term_of
from evercurrent.term import build
from evercurrent.term.nodes import Literal, Term
from evercurrent.term.nullable import nullable


def contains(container: Any, value: Any) -> Term:
    """`value in container`."""
    if hasattr(container, "_contains_"):
        found: Term = container._contains_(value)
        return found
    if isinstance(container, Symbol):
        return _contains_symbol(container._term, value)
    if isinstance(container, str):
        return build.call("contains", term_of(container), term_of(value))
    members = [*container]
    if parts_of(value) is not None:
        return build.disjunction(equality(value, m) for m in members)
    term = term_of(value)
    there = [m for m in members if m is not None]
    options = [term_of(m) for m in there]
    for option in options:
        require_comparable("==", term.type, option.type)
    if not options:
        found = build.lit(False)
    elif all(isinstance(o, Literal) for o in options):
        found = build.call("in_list", term, *options)
    else:
        found = build.disjunction(equality(value, m) for m in there)
    if len(there) < len(members):
        return build.disjunction([build.call("is_null", term), found])
    return make_known(term, found) if options else found


def _contains_symbol(container: Term, value: Any) -> Term:
    match container.type:
        case String():
            return build.call("contains", container, term_of(value))
        case Array():
            found = build.call("array_contains", container, term_of(value))
            return build.call("coalesce", found, build.lit(False)) if nullable(found) else found
        case Map():
            return build.call("map_contains_key", container, term_of(value))
        case other:
            raise QueryError(f"nothing is in {other}", hint="`in` needs a list, a text, an ARRAY or a query")


def item(container: Any, key: Any) -> Any:
    """`container[key]`."""
    if isinstance(container, dict):
        table = mapping(container)
        assert isinstance(table.type, Map)
        return Symbol(build.call("element_at", table, build.cast(term_of(key), table.type.key)))
    if not isinstance(container, Symbol):
        raise Resists("an index that depends on the row")
    term = container._term
    match term.type:
        case Struct(members):
            if isinstance(key, str):
                return attribute(container, key)
            if isinstance(key, int) and -len(members) <= key < len(members):
                return attribute(container, members[key].name)
            raise QueryError(f"a row of {len(members)} fields has no field {key!r}")
        case String():
            return Symbol(_characters(term, key))
        case Map():
            return Symbol(build.call("element_at", term, term_of(key)))
        case Array():
            if isinstance(key, int) and not isinstance(key, bool):
                return Symbol(build.call("element_at", term, build.lit(key + 1 if key >= 0 else key)))
            if isinstance(key, Symbol):
                index = build.cast(key._term, INT)
                zero = build.lit(0)
                at = build.case(
                    [(build.call("lt", index, zero), index)], build.call("add", index, build.lit(1))
                )
                return Symbol(build.call("element_at", term, at))
            return Symbol(_stretch(term, key))
        case other:
            raise QueryError(f"{other} has no items")


def _stretch(term: Term, key: Any) -> Term:
    """`items[i:j]` of an array, with constants from the front; anything else is left to Python."""
    if isinstance(key, slice) and key.step in (None, 1):
        start, stop = key.start or 0, key.stop
        if isinstance(start, int) and start >= 0:
            if stop is None:
                return build.call("slice", term, build.lit(start + 1), build.call("size", term))
            if isinstance(stop, int) and stop >= 0:
                return build.call("slice", term, build.lit(start + 1), build.lit(max(0, stop - start)))
    raise Resists("a slice of an array")


def _characters(term: Term, key: Any) -> Term:
    """`text[i:j]` with constants from the front; anything else is left to Python."""
    if isinstance(key, slice) and key.step in (None, 1):
        start, stop = key.start or 0, key.stop
        if isinstance(start, int) and start >= 0 and (stop is None or (isinstance(stop, int) and stop >= 0)):
            if stop is None:
                return build.call("substring", term, build.lit(start + 1))
            return build.call("substring", term, build.lit(start + 1), build.lit(max(0, stop - start)))
    raise Resists("characters of a text by their positions")
