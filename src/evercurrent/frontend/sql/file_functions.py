"""Files in FROM: read_parquet('orders/*.parquet'), read_csv('a.csv', header => false, delimiter => ';'), read_json('a.json').

The file is read when the statement is, and its rows are a constant of the query. A view would not see a change of the file,
so it is refused.

    SELECT id FROM read_csv('a.csv')      a.csv with the lines `id`, `1`, `2`: the rows (1), (2)
"""

from __future__ import annotations

from sqlglot import exp

from evercurrent.calculus.nodes import Unnest
from evercurrent.data.naming import unique
from evercurrent.data.types import STRING, Array, Member, Null, Struct
from evercurrent.frontend.sql.scope import Env
from evercurrent.term.nodes import Literal, Variable

KINDS = {"read_parquet": "parquet", "read_csv": "csv", "read_csv_auto": "csv", "read_json": "json"}
OPTIONS = {"header": "header", "delimiter": "delimiter", "delim": "delimiter", "sep": "delimiter"}


def rows_of(env: Env, call: exp.Anonymous, node: exp.Expr) -> tuple[Unnest, tuple[str, ...]]:
    """Returns a generator over the rows of files, and the names of their columns."""
    name = str(call.this).lower()
    if env.keeps:
        raise env.unsupported_error(
            f"{name} in a definition",
            call,
            node,
            hint="the file could change unnoticed: CREATE TABLE name AS SELECT * FROM "
            f"{name}(...), and define the view over the table",
        )
    if env.files is None:
        raise env.unsupported_error(f"{name} here", call, node)
    path, options = _arguments(env, call, node)
    fields, rows = env.files(path, KINDS[name], options)
    kept = tuple(
        Member(n, STRING if isinstance(f.type, Null) else f.type, True)
        for n, f in zip(unique(f.name for f in fields), fields, strict=True)
    )
    struct = Struct(kept)
    variable = Variable(env.names.fresh("f"), struct)
    collection = Literal(tuple(rows), Array(struct))
    return Unnest(variable, collection, False, False, True), tuple(f.name for f in fields)


def _arguments(env: Env, call: exp.Anonymous, node: exp.Expr) -> tuple[str, dict[str, object]]:
    options: dict[str, object] = {}
    paths: list[str] = []
    for argument in call.expressions:
        match argument:
            case exp.Literal() if argument.is_string:
                paths.append(argument.name)
            case exp.Placeholder() if isinstance(given := env.parameters.get(argument.name), Literal):
                paths.append(str(given.value))
            case exp.Kwarg() | exp.PropertyEQ() | exp.EQ() if argument.this.name.lower() in OPTIONS:
                value = argument.expression
                options[OPTIONS[argument.this.name.lower()]] = (
                    bool(value.this) if isinstance(value, exp.Boolean) else value.name
                )
            case _:
                raise env.wrong("a path in quotes, then header => false or delimiter => ';'", argument, node)
    if len(paths) != 1:
        raise env.wrong("one path is expected; it may have * and ?", call, node)
    return paths[0], options
