"""Function calls to terms.

Nearly every call is `build.call(name, *args)`. The rest is written here: calls with words between their arguments, calls
that are another way to write CASE or CAST, units of time as bare words, lambdas.

    upper(name)                  upper(customers.name)
    extract(YEAR FROM day)       year(orders.day)
    if(id > 1, 'a', 'b')         case when orders.id > 1 then 'a' else 'b' end
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from evercurrent.data.types import NULL, Interval
from evercurrent.errors import EvercurrentError
from evercurrent.frontend.sql import aggregates, expressions, literals
from evercurrent.frontend.sql.functions import (
    CASTS,
    CLOCK_IF_BARE,
    GENERATORS,
    INTERNAL,
    MISSING,
    PARTS,
    RENAMED,
    UNSTABLE,
    WINDOW_ONLY,
    find_call,
    name_of,
)
from evercurrent.frontend.sql.names import suggestion
from evercurrent.frontend.sql.scope import Bound, Level, Rows
from evercurrent.term import build, function_table
from evercurrent.term.nodes import Lambda, Literal, Term, Variable


def call(level: Level, node: exp.Expr) -> Term:
    """Any node that is not an operator: a call, or something that does not belong in an expression."""
    env = level.env
    match node:
        case exp.Anonymous():
            return _call_named(level, node)
        case exp.Extract():
            unit = node.this.name if isinstance(node.this, exp.Expr) else str(node.this)
            return _part(level, unit, node.expression, node)
        case exp.Substring():
            return _call(level, node, "substring", node.this, node.args.get("start"), node.args.get("length"))
        case exp.Trim():
            name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or ""), "trim")
            return _call(level, node, name, node.this, node.args.get("expression"))
        case exp.StrPosition():
            return _call(level, node, "locate", node.args.get("substr"), node.this, node.args.get("position"))
        case exp.Overlay():
            return _call(
                level,
                node,
                "overlay",
                node.this,
                node.expression,
                node.args.get("from_"),
                node.args.get("for_"),
            )
        case exp.Concat():
            return _call(level, node, "concat", *node.expressions)
        case exp.Array():
            return _call(level, node, "array", *node.expressions)
        case exp.Window() | exp.Filter() | exp.WithinGroup() | exp.IgnoreNulls() | exp.RespectNulls():
            raise misplaced_error(level, node)
        case exp.Lambda():
            raise env.wrong("a lambda is allowed only as an argument of a function", node)
        case exp.Placeholder() if node.name in env.parameters:
            return env.parameters[node.name]
        case exp.Placeholder() | exp.Parameter() | exp.SessionParameter():
            raise env.unsupported_error("a parameter", node)
        case exp.JSONExtract() | exp.JSONExtractScalar():
            hint = "get_json_object(text, '$.a') reads what stands at a path"
            raise env.unsupported_error("an arrow into JSON", node, node.parent, hint=hint)
        case exp.AtTimeZone():
            hint = "convert_timezone(from, to, time), from_utc_timestamp(time, zone) and to_utc_timestamp(time, zone) convert"
            raise env.unsupported_error("AT TIME ZONE", node, node.parent, hint=hint)
        case exp.Alias():
            raise env.wrong(f"the name {node.alias} cannot be given here", node)
        case exp.Star():
            raise env.wrong("* stands for columns only in a select list or in count(*)", node)
        case _:
            raise env.unsupported_error(
                f"'{node.sql(dialect='spark')[:60]}' in an expression", node, node.parent
            )


def misplaced_error(level: Level, node: exp.Expr) -> EvercurrentError:
    """An aggregate or window where none can be."""
    where = level.clause if isinstance(level, Rows) else "this clause"
    inner = find_call(node.this if isinstance(node, exp.Window) else node)
    name = name_of(inner) if inner is not None else None
    hint: str | None = "compute it in a subquery, or use QUALIFY"
    if isinstance(node, exp.Window):
        return level.env.wrong(f"the window function {name} cannot stand in {where}", node, hint=hint)
    if name is not None and name in WINDOW_ONLY:
        return level.env.wrong(f"{name} is a window function and needs OVER (...)", node)
    hint = "use HAVING, or compute it in a subquery" if where == "WHERE" else None
    return level.env.wrong(f"the aggregate {name} cannot stand in {where}", node, hint=hint)


def unstable(level: Level, node: exp.Expr, name: str) -> EvercurrentError:
    what = f"{name}, whose value can change while the data does not,"
    return level.env.unsupported_error(
        what, node, node.parent, hint=UNSTABLE.get(name) or "give it an argument"
    )


def _call(level: Level, node: exp.Expr, name: str, *args: exp.Expr | None) -> Term:
    terms = [expressions.term(level, a) for a in args if a is not None]
    return build.call(name, *terms, place=level.env.place(node))


def _call_named(level: Level, node: exp.Anonymous) -> Term:
    env, name = level.env, name_of(node)
    assert name is not None
    args = list(node.expressions)
    if name in CLOCK_IF_BARE and not args and (now := env.read_clock("now")) is not None:
        return build.call("unix_timestamp", now, place=env.place(node))
    if name in UNSTABLE or (name in CLOCK_IF_BARE and not args):
        read = None if args else env.read_clock(name)
        if read is None:
            raise unstable(level, node, name)
        return read
    if name in WINDOW_ONLY:
        raise misplaced_error(level, node)
    if name in GENERATORS:
        hint = "it makes rows: put it alone in the select list, or in FROM with LATERAL VIEW"
        raise env.wrong(f"{name} cannot stand here", node, hint=hint)
    special = SPECIAL.get(name)
    if special is not None and special[0] <= len(args) <= special[1]:
        return special[2](level, node, args)
    if name in CASTS and len(args) == 1:
        return build.cast(expressions.term(level, args[0]), CASTS[name], place=env.place(node))
    name = RENAMED.get(name, name)
    if name in ("grouping", "grouping_id"):
        raise env.wrong(f"{name} needs GROUP BY with ROLLUP, CUBE or GROUPING SETS", node)
    if name_of(node) in INTERNAL or (function_table.find(name) is None and name not in build.DERIVED):
        raise _unknown(level, node, name)
    if any(isinstance(a, exp.Distinct | exp.Order) for a in args):
        raise env.wrong(f"{name} is not an aggregate: DISTINCT and ORDER BY mean nothing in it", node)
    return _with_lambdas(level, node, name, args)


INSTEAD = {
    "json_tuple": "get_json_object(text, '$.a') for each member",
    "parse_json": "get_json_object(text, '$.a') reads what stands at a path of a text",
    "try_parse_json": "get_json_object(text, '$.a') is NULL where the text is no JSON",
    "variant_get": "get_json_object(text, '$.a') reads what stands at a path of a text",
    "session_window": "window(at, '10 minutes') for windows of a fixed length",
    "to_char": "date_format for dates, format_number for numbers",
}


def _unknown(level: Level, node: exp.Expr, name: str) -> EvercurrentError:
    if aggregates.is_aggregate(name):
        return misplaced_error(level, node)
    if name in MISSING:
        return level.env.unsupported_error(f"the function {name}", node, hint=INSTEAD.get(name))
    known = {
        *function_table.FUNCTIONS,
        *function_table.ALIASES,
        *build.DERIVED,
        *SPECIAL,
        *aggregates.names(),
    } - INTERNAL
    return level.env.wrong(f"there is no function {name}", node, hint=suggestion(name, sorted(known), 0.75))


# --- lambdas -----------------------------------------------------------------------------------------------


def _with_lambdas(level: Level, node: exp.Expr, name: str, args: Sequence[exp.Expr]) -> Term:
    """Arguments are read first; then each lambda, its parameters typed by them."""
    if not any(isinstance(a, exp.Lambda) for a in args):
        return build.call(name, *(expressions.term(level, a) for a in args), place=level.env.place(node))
    terms: list[Term | None] = [
        None if isinstance(a, exp.Lambda) else expressions.term(level, a) for a in args
    ]
    for i, arg in enumerate(args):
        if isinstance(arg, exp.Lambda):
            terms[i] = _lambda(level, node, name, terms, i, arg)
    done = [t for t in terms if t is not None]
    return build.call(name, *done, place=level.env.place(node))


def _lambda(
    level: Level, node: exp.Expr, name: str, terms: Sequence[Term | None], position: int, arg: exp.Lambda
) -> Lambda:
    names = [p.name for p in arg.expressions]
    before = [t for t in terms[:position] if t is not None]
    types = build.lambda_parameters(name, position, len(names), before, place=level.env.place(node))
    variables = [
        Variable(level.env.names.fresh(n), t, nullable=True) for n, t in zip(names, types, strict=True)
    ]
    inner = Bound(level, list(zip(names, variables, strict=True)))
    body = expressions.term(inner, arg.this)
    return Lambda(tuple(variables), body, body.type)


# --- calls that are another way to write something ---------------------------------------------------------


def _if(level: Level, node: exp.Expr, args: list[exp.Expr]) -> Term:
    test = expressions.condition(level, args[0], "IF")
    otherwise = expressions.term(level, args[2]) if len(args) > 2 else Literal(None, NULL)
    return build.case([(test, expressions.term(level, args[1]))], otherwise, place=level.env.place(node))


def _decode(level: Level, node: exp.Expr, args: list[exp.Expr]) -> Term:
    """decode(x, a, 1, b, 2, default): NULL equals NULL."""
    if len(args) == 2:
        return build.call("decode", *(expressions.term(level, a) for a in args), place=level.env.place(node))
    value, *rest = (expressions.term(level, a) for a in args)
    pairs = [(build.call("eqns", value, rest[i]), rest[i + 1]) for i in range(0, len(rest) - 1, 2)]
    otherwise = rest[-1] if len(rest) % 2 else Literal(None, NULL)
    return build.case(pairs, otherwise, place=level.env.place(node))


def _struct(level: Level, node: exp.Expr, args: list[exp.Expr]) -> Term:
    members: list[tuple[str, Term]] = []
    for i, arg in enumerate(args, 1):
        if isinstance(arg, exp.Alias):
            members.append((arg.alias, expressions.term(level, arg.this)))
        elif isinstance(arg, exp.Star) and isinstance(level, Rows):
            members += [(v.name, v.term) for v in level.visible if v.bare]
        else:
            name = arg.name if isinstance(arg, exp.Column | exp.Dot | exp.Identifier) else f"col{i}"
            members.append((name, expressions.term(level, arg)))
    return build.record(tuple(members))


def _build_named_struct(level: Level, node: exp.Expr, args: list[exp.Expr]) -> Term:
    if len(args) % 2 or not all(isinstance(a, exp.Literal) and a.is_string for a in args[::2]):
        raise level.env.wrong("named_struct takes names (strings) and values in turn", node)
    names = [a.name for a in args[::2]]
    return build.record(tuple(zip(names, (expressions.term(level, a) for a in args[1::2]), strict=True)))


def _date_part(level: Level, node: exp.Expr, args: list[exp.Expr]) -> Term:
    unit = args[0]
    if not (isinstance(unit, exp.Literal) and unit.is_string):
        raise level.env.wrong("the first argument names a part, such as 'YEAR'", node)
    return _part(level, unit.name, args[1], node)


def _part(level: Level, unit: str, value: exp.Expr, node: exp.Expr) -> Term:
    name, place = PARTS.get(unit.lower()), level.env.place(node)
    if name is None:
        raise level.env.wrong(
            f"there is no part {unit} of a date or time", node, hint=suggestion(unit, PARTS)
        )
    term = expressions.term(level, value)
    if name == "date_part" or isinstance(term.type, Interval):
        return build.call("date_part", literals.string(unit), term, place=place)
    return build.call(name, term, place=place)


def _with_unit(name: str) -> Callable[[Level, exp.Expr, list[exp.Expr]], Term]:
    """timestampadd(DAY, n, t): the unit is a bare word, or a string."""

    def read(level: Level, node: exp.Expr, args: list[exp.Expr]) -> Term:
        unit = literals.string(args[0].name.upper())
        return build.call(
            name, unit, *(expressions.term(level, a) for a in args[1:]), place=level.env.place(node)
        )

    return read


Special = tuple[int, int, Callable[[Level, exp.Expr, list[exp.Expr]], Term]]
# name -> least and greatest number of arguments, and how it is read
SPECIAL: dict[str, Special] = {
    "if": (2, 3, _if),
    "decode": (2, 255, _decode),
    "struct": (1, 1000, _struct),
    "named_struct": (2, 1000, _build_named_struct),
    "date_part": (2, 2, _date_part),
    "datepart": (2, 2, _date_part),
    "timestampadd": (3, 3, _with_unit("timestampadd")),
    "dateadd": (3, 3, _with_unit("timestampadd")),
    "date_add": (3, 3, _with_unit("timestampadd")),
    "timestampdiff": (3, 3, _with_unit("timestampdiff")),
    "datediff": (3, 3, _with_unit("timestampdiff")),
    "date_diff": (3, 3, _with_unit("timestampdiff")),
}
