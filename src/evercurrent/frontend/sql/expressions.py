"""Scalar expressions: syntax nodes to terms.

`term(level, node)` is one page of `match`. The level says what names mean and knows the nodes that were read before
(aggregates, windows, generators). The smart constructors of the term language find types and raise QueryError; an error
that has no place yet gets that of the smallest node around it.

    total BETWEEN 1 AND 2      orders.total >= 1.00 and orders.total <= 2.00      total being DECIMAL(12,2)
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

from sqlglot import exp

from evercurrent.data.types import BOOLEAN, NULL, Array, Map, Struct, Time
from evercurrent.errors import EvercurrentError, QueryError, QuotedNameWarning
from evercurrent.frontend.sql import calls, literals, subqueries
from evercurrent.frontend.sql.scope import Level, Stage, member
from evercurrent.frontend.sql.types import UnknownType, type_of
from evercurrent.term import build
from evercurrent.term.nodes import Cast, Literal, Term

BINARY: dict[type[exp.Expr], str] = {
    exp.Add: "add",
    exp.Sub: "sub",
    exp.Mul: "mul",
    exp.Div: "div",
    exp.IntDiv: "idiv",
    exp.Mod: "mod",
    exp.EQ: "eq",
    exp.NEQ: "ne",
    exp.LT: "lt",
    exp.LTE: "le",
    exp.GT: "gt",
    exp.GTE: "ge",
    exp.NullSafeEQ: "eqns",
    exp.DPipe: "concat",
    exp.BitwiseAnd: "bitand",
    exp.BitwiseOr: "bitor",
    exp.BitwiseXor: "bitxor",
    exp.BitwiseLeftShift: "shiftleft",
    exp.BitwiseRightShift: "shiftright",
    exp.RegexpLike: "rlike",
}


def term(level: Level, node: exp.Expr | None) -> Term:
    """What a node means at a level."""
    if node is None:
        raise QueryError("an expression is missing")
    try:
        known = level.read(node)
        if known is not None:
            return known
        if isinstance(level, Stage) and level.is_plain(node):
            return _translate(level, node)
        return _term(level, node)
    except EvercurrentError as error:
        if error.place is None:
            error.place = level.env.place(node)
        raise


def _translate(level: Stage, node: exp.Expr) -> Term:
    """A node as a whole, read at the level below; or, where simplification has hidden a key in it, part by part."""
    try:
        return level.translate(term(level.below, node), node)
    except QueryError as error:
        if isinstance(node, exp.Column | exp.Identifier):
            raise
        try:
            return _term(level, node)
        except QueryError:
            raise error from None


def condition(level: Level, node: exp.Expr | None, clause: str) -> Term:
    """A term that must be a truth value."""
    found = term(level, node)
    if found.type not in (BOOLEAN, NULL):
        raise level.env.wrong(f"{clause} needs a BOOLEAN, this is {found.type}", node)
    return build.cast(found, BOOLEAN)


def _term(level: Level, node: exp.Expr) -> Term:
    env = level.env
    match node:
        case exp.Paren():
            return term(level, node.this)
        case exp.Column() if isinstance(node.this, exp.Star):
            raise env.wrong("* stands for columns only in a select list or in count(*)", node)
        case exp.Column():
            return level.column([part.name for part in node.parts], node)
        case exp.Identifier():
            return level.column([node.name], node)
        case exp.Dot():
            return _dot(level, node)
        case exp.Bracket():
            return _subscript(level, node)
        case exp.Literal() | exp.RawString() | exp.National() | exp.HexString() | exp.Boolean() | exp.Null():
            return _constant(level, node)
        case exp.Interval():
            return _interval(level, node)
        case exp.Neg():
            return _negate(level, node)
        case exp.Cast() | exp.TryCast():
            return _cast(level, node)
        case exp.And():
            return build.conjunction(condition(level, n, "AND") for n in _chain(node))
        case exp.Or():
            return build.disjunction(condition(level, n, "OR") for n in _chain(node))
        case exp.Not():
            return build.call("not", condition(level, node.this, "NOT"), place=env.place(node))
        case exp.BitwiseNot():
            return build.call("bitnot", term(level, node.this), place=env.place(node))
        case exp.Between():
            return _between(level, node)
        case exp.In():
            return subqueries.member_of(level, node)
        case exp.Is():
            return _is(level, node)
        case exp.NullSafeNEQ():
            return build.call("not", build.call("eqns", *_sides(level, node), place=env.place(node)))
        case exp.Escape() | exp.Like() | exp.ILike():
            return _like(level, node)
        case exp.Case():
            return _case(level, node)
        case exp.Exists():
            return subqueries.exists(level, node)
        case exp.Query():
            return subqueries.scalar(level, node)
        case exp.Tuple():
            parts = [term(level, n) for n in node.expressions]
            return build.record(tuple((f"col{i}", p) for i, p in enumerate(parts, 1)))
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE() if isinstance(
            node.expression, exp.Any | exp.All
        ):
            return subqueries.quantify(level, node, BINARY[type(node)])
        case exp.Binary() if type(node) in BINARY:
            return build.call(BINARY[type(node)], *_sides(level, node), place=env.place(node))
        case _:
            return calls.call(level, node)


def _constant(level: Level, node: exp.Expr) -> Term:
    match node:
        case exp.Literal():
            return _literal(level, node)
        case exp.RawString() | exp.National():
            return literals.string(node.name)
        case exp.HexString():
            found = literals.binary(node.name)
            if found is None:
                raise level.env.wrong("this is not hexadecimal", node)
            return found
        case exp.Boolean():
            return Literal(bool(node.this), BOOLEAN)
        case _:
            return Literal(None, NULL)


def _sides(level: Level, node: exp.Binary) -> tuple[Term, Term]:
    return term(level, node.this), term(level, node.expression)


def _chain(node: exp.Connector) -> list[exp.Expr]:
    """The operands of a chain of ANDs (or ORs), however long it is."""
    operands: list[exp.Expr] = []
    current: Any = node
    while type(current) is type(node):
        operands.append(current.expression)
        current = current.this
    return [current, *reversed(operands)]


def _literal(level: Level, node: exp.Literal) -> Term:
    if node.is_string:
        _note_quotes(level, node)
        return literals.string(node.name)
    found = literals.number(node.name)
    if found is None:
        raise level.env.wrong("no type holds this number", node)
    return found


def _note_quotes(level: Level, node: exp.Literal) -> None:
    """Points out a text in double quotes that is called like a column: in most other databases it would be the column."""
    env, place = level.env, level.env.place(node)
    if place is None or env.text[place.start : place.start + 1] != '"' or not node.name:
        return
    if any(node.name.lower() == name.lower() for name in level.names()):
        warnings.warn(
            f'"{node.name}" is a text here, as in Spark, and not the column {node.name}: '
            f"write {node.name} or `{node.name}` for the column, '{node.name}' for the text\n{place.excerpt()}",
            QuotedNameWarning,
            stacklevel=2,
        )


def _negate(level: Level, node: exp.Neg) -> Term:
    inner = node.this
    if isinstance(inner, exp.Literal) and not inner.is_string:
        found = literals.number("-" + inner.name)
        if found is not None:
            return found
    if _has_suffix(inner):  # -128Y: the sign belongs to the number, as 128 is no TINYINT
        negative, number = inner.copy(), str(inner.this.name)
        zero = inner.args["to"].this in FLOATS and not number.strip("0.")
        negative.this.set("this", "-0e0" if zero else f"-{number}")  # a decimal has no negative zero
        return term(level, negative)
    return build.call("neg", term(level, inner), place=level.env.place(node))


FLOATS = (exp.DType.DOUBLE, exp.DType.FLOAT)


def _has_suffix(node: exp.Expr) -> bool:
    """Whether a node is a number with a suffix, 1L or 2.5BD, which the grammar reads as a cast."""
    if not isinstance(node, exp.Cast) or not isinstance(node.this, exp.Literal) or node.this.is_string:
        return False
    meta = node.this.meta
    return "start" in meta and meta["end"] + 1 - meta["start"] > len(node.this.name)


def _interval(level: Level, node: exp.Interval) -> Term:
    constant = literals.interval(node)
    if constant is not None:
        return constant
    units = literals.interval_units(node)
    found = literals.interval_type(units)
    if found is None or len(units) != 1 or isinstance(node.this, exp.Literal):
        hint = "write it like INTERVAL 3 DAYS, INTERVAL '1' MONTH or INTERVAL '1 02:30:00' DAY TO SECOND"
        raise level.env.wrong("this interval cannot be read", node, hint=hint)
    one = literals.interval(exp.Interval(this=exp.Literal.string("1"), unit=node.args["unit"]))
    assert one is not None
    return build.call("mul", term(level, node.this), one, place=level.env.place(node))


def _cast(level: Level, node: exp.Cast | exp.TryCast) -> Term:
    env = level.env
    if node.args.get("format") is not None:
        raise env.unsupported_error("CAST with FORMAT", node)
    try:
        target = type_of(node.args.get("to"))
    except UnknownType as error:
        if error.unsupported:
            raise env.unsupported_error(error.message, node) from None
        raise env.wrong(error.message, node) from None
    strict = not isinstance(node, exp.TryCast)
    result = build.cast(term(level, node.this), target, strict=strict, place=env.place(node))
    if isinstance(result, Cast) and isinstance(result.of, Literal) and _is_typed_literal(level, node):
        raise env.wrong(f"this is not a {target}", node)
    if isinstance(target, Time) and isinstance(result, Literal) and _is_typed_literal(level, node):
        _check_digits(level, node)
    return result


def _check_digits(level: Level, node: exp.Cast | exp.TryCast) -> None:
    """TIME'...' of more than six digits is a TIME(7) or more in Spark."""
    digits = re.search(r"\.(\d*)", node.this.name)
    if digits is not None and len(digits[1]) > 6:
        raise level.env.unsupported_error(
            "a time with more than six digits after the second", node, hint="a time has microseconds at most"
        )


def _is_typed_literal(level: Level, node: exp.Expr) -> bool:
    """Whether a cast is written DATE '...', which must be right wherever it stands."""
    place = level.env.place(node.this)
    before = (
        place.text[: place.start].rstrip() if place is not None and isinstance(node.this, exp.Literal) else ""
    )
    return before.lower().endswith(("date", "timestamp", "timestamp_ntz", "timestamp_ltz", "time"))


def _between(level: Level, node: exp.Between) -> Term:
    if node.args.get("symmetric"):
        raise level.env.unsupported_error("BETWEEN SYMMETRIC", node)
    value, place = term(level, node.this), level.env.place(node)
    low = build.call("ge", value, term(level, node.args.get("low")), place=place)
    high = build.call("le", value, term(level, node.args.get("high")), place=place)
    return build.call("and", low, high, place=place)


def _is(level: Level, node: exp.Is) -> Term:
    value, place = term(level, node.this), level.env.place(node)
    match node.expression:
        case exp.Null():
            return build.call("is_null", value, place=place)
        case exp.Boolean(this=this):
            return build.call("eqns", value, Literal(bool(this), BOOLEAN), place=place)
        case exp.Var() if node.expression.name.upper() == "UNKNOWN":
            return build.call("is_null", value, place=place)
        case _:
            raise level.env.unsupported_error("IS followed by something other than NULL, TRUE or FALSE", node)


def _like(level: Level, node: exp.Expr) -> Term:
    escape: list[Term] = []
    if isinstance(node, exp.Escape):
        escape, node = [term(level, node.expression)], node.this
    if not isinstance(node, exp.Like | exp.ILike):
        raise level.env.wrong("ESCAPE belongs to LIKE", node)
    name, value, pattern = (
        "ilike" if isinstance(node, exp.ILike) else "like",
        term(level, node.this),
        node.expression,
    )
    place = level.env.place(node)
    negated = bool(node.args.get("negate"))

    def match(one: exp.Expr) -> Term:
        found = build.call(name, value, term(level, one), *escape, place=place)
        return build.call("not", found, place=place) if negated else found

    if isinstance(pattern, exp.Any | exp.All):
        inner = pattern.this.unnest() if isinstance(pattern.this, exp.Paren) else pattern.this
        matches = [match(p) for p in (inner.expressions if isinstance(inner, exp.Tuple) else [inner])]
        if len(matches) == 1:
            return matches[0]
        return build.call("or" if isinstance(pattern, exp.Any) else "and", *matches, place=place)
    return match(pattern)


def _case(level: Level, node: exp.Case) -> Term:
    subject = None if node.this is None else term(level, node.this)
    branches: list[tuple[Term, Term]] = []
    for branch in node.args.get("ifs") or ():
        if subject is None:
            test = condition(level, branch.this, "WHEN")
        else:
            test = build.call("eq", subject, term(level, branch.this), place=level.env.place(branch.this))
        branches.append((test, term(level, branch.args.get("true"))))
    default = node.args.get("default")
    if not branches:
        raise level.env.wrong("CASE needs a WHEN", node)
    otherwise = Literal(None, NULL) if default is None else term(level, default)
    return build.case(branches, otherwise, place=level.env.place(node))


def _dot(level: Level, node: exp.Dot) -> Term:
    if isinstance(node.expression, exp.Star):
        raise level.env.wrong("* stands for columns only in a select list or in count(*)", node)
    if not isinstance(node.expression, exp.Identifier):
        raise level.env.unsupported_error("a function with a qualified name", node)
    parts = _path(node)
    if parts is not None:
        return level.column(parts, node)
    return member(level.env, term(level, node.this), node.expression.name, node)


def _path(node: exp.Dot) -> Sequence[str] | None:
    """`a.b.c.d.e` as names, where the parser has split a column and members."""
    parts: list[str] = []
    current: exp.Expr = node
    while isinstance(current, exp.Dot):
        if not isinstance(current.expression, exp.Identifier):
            return None
        parts.append(current.expression.name)
        current = current.this
    if not isinstance(current, exp.Column):
        return None
    return [*(p.name for p in current.parts), *reversed(parts)]


def _subscript(level: Level, node: exp.Bracket) -> Term:
    env = level.env
    of = node.this
    if isinstance(of, exp.Column) and of.sql().upper() == "ARRAY" and level.find([of.name], of) is None:
        raise env.unsupported_error("ARRAY[...]", node, hint="[1, 2] and array(1, 2) are arrays")
    if len(node.expressions) != 1 or isinstance(node.expressions[0], exp.Slice):
        raise env.unsupported_error(
            "a subscript other than one index or key", node, hint="use slice(array, start, length)"
        )
    value, index = term(level, node.this), node.expressions[0]
    match value.type:
        case Struct():
            if isinstance(index, exp.Literal) and index.is_string:
                return member(env, value, index.name, node)
            raise env.wrong("a struct's member is chosen by its name, a string", node)
        case Array():
            return build.call("subscript", value, term(level, index), place=env.place(node))
        case Map():
            return build.call("element_at", value, term(level, index), place=env.place(node))
        case _:
            raise env.wrong(f"only an ARRAY, MAP or STRUCT has a subscript, this is {value.type}", node)
