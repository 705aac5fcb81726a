"""What a column without an alias is called: as Spark calls it.

>>> from evercurrent.frontend.sql.syntax import parse_tokens, tokenize
>>> select = parse_tokens(tokenize("SELECT a, t.b, count(*), sum(a + 1), 'x', a IS NOT NULL, CAST(a AS STRING)"))
>>> [name_for(node) for node in select.expressions]
['a', 'b', 'count(1)', 'sum((a + 1))', 'x', '(a IS NOT NULL)', 'a']
"""

from __future__ import annotations

from sqlglot import exp

from evercurrent.frontend.sql.functions import name_of

OPERATORS: dict[type[exp.Expr], str] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "div",
    exp.Mod: "%",
    exp.EQ: "=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.NullSafeEQ: "<=>",
    exp.And: "AND",
    exp.Or: "OR",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
}


def name_for(node: exp.Expr) -> str:
    """The name of a column of the select list."""
    inner = node.unnest() if isinstance(node, exp.Paren) else node
    if isinstance(inner, exp.Dot) and isinstance(inner.expression, exp.Identifier):
        return str(inner.expression.name) if isinstance(inner.this, exp.Column | exp.Dot) else _text(inner)
    if isinstance(inner, exp.Cast) and isinstance(inner.this, exp.Column):
        return str(inner.this.name)
    return _text(inner)


def _text(node: exp.Expr) -> str:
    match node:
        case exp.Paren():
            return _text(node.this)
        case exp.Column() | exp.Identifier() | exp.Literal() | exp.RawString():
            return str(node.name)
        case exp.Star():
            return "1"
        case exp.Boolean():
            return str(bool(node.this)).lower()
        case exp.Cast() if _is_suffix(node):
            return str(node.this.name)
        case exp.Cast():
            word = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
            return f"{word}({_text(node.this)} AS {_sql(node.args['to']).replace(', ', ',')})"
        case exp.NEQ():
            return f"(NOT ({_text(node.this)} = {_text(node.expression)}))"
        case exp.Not() if isinstance(node.this, exp.Is) and isinstance(node.this.expression, exp.Null):
            return f"({_text(node.this.this)} IS NOT NULL)"
        case exp.Not():
            return f"(NOT {_text(node.this)})"
        case exp.Neg() if isinstance(node.this, exp.Literal):
            return f"-{node.this.name}"
        case exp.Neg():
            return f"(- {_text(node.this)})"
        case exp.Is() if isinstance(node.expression, exp.Null):
            return f"({_text(node.this)} IS NULL)"
        case exp.In() if not node.args.get("query"):
            return f"({_text(node.this)} IN ({_list(node.expressions)}))"
        case exp.Like() if not isinstance(node.expression, exp.Any | exp.All):
            return f"{_text(node.this)} LIKE {_text(node.expression)}"
        case exp.Between():
            return f"between({_text(node.this)}, {_text(node.args['low'])}, {_text(node.args['high'])})"
        case exp.DPipe():
            return f"concat({_text(node.this)}, {_text(node.expression)})"
        case exp.Bracket() if len(node.expressions) == 1:
            return f"{_text(node.this)}[{_text(node.expressions[0])}]"
        case exp.Dot() if isinstance(node.expression, exp.Identifier):
            return f"{_text(node.this)}.{node.expression.name}"
        case exp.Substring():
            parts = [node.this, node.args.get("start"), node.args.get("length")]
            return f"substring({_list([p for p in parts if p is not None])})"
        case exp.Filter():
            return f"{_text(node.this)} FILTER (WHERE {_text(node.expression.this)})"
        case exp.Distinct():
            return f"DISTINCT {_list(node.expressions)}"
        case exp.Anonymous():
            name = name_of(node)
            call = f"{name}({_list(node.expressions)})"
            return f"({call.replace('if(', 'IF(', 1)})" if name == "if" else call
        case exp.Case():
            return _case(node)
        case exp.Binary() if type(node) in OPERATORS:
            return f"({_text(node.this)} {OPERATORS[type(node)]} {_text(node.expression)})"
        case _:
            return _sql(node)


def _list(nodes: list[exp.Expr]) -> str:
    return ", ".join(map(_text, nodes))


def _case(node: exp.Case) -> str:
    subject = "" if node.this is None else f" {_text(node.this)}"
    branches = "".join(
        f" WHEN {_text(b.this)} THEN {_text(b.args['true'])}" for b in node.args.get("ifs") or ()
    )
    default = node.args.get("default")
    last = "" if default is None else f" ELSE {_text(default)}"
    return f"CASE{subject}{branches}{last} END"


def _is_suffix(node: exp.Cast) -> bool:
    """1L, 1.5BD: a cast of a number that nobody wrote."""
    number = isinstance(node.this, exp.Literal) and node.this.args.get("is_string") is False
    return number and not node.args["to"].expressions and node.args["to"].this in SUFFIXED


SUFFIXED = frozenset(
    (exp.DType.BIGINT, exp.DType.SMALLINT, exp.DType.TINYINT, exp.DType.DOUBLE, exp.DType.FLOAT)
)


def _sql(node: exp.Expr) -> str:
    return str(node.sql(dialect="spark", normalize_functions=False, comments=False))
