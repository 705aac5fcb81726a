"""The result of reading a query.

The fields of a query have different names, because the calculus finds them by name; SQL's columns may share one. `names` are
the names of the columns. Fields past the names are hidden sort keys of the outermost query.

    SELECT id, id FROM orders ORDER BY total      fields id, id_2, and a hidden one for total; names id, id
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from evercurrent.calculus.nodes import Comprehension, Generator, Query
from evercurrent.data.types import Member, Type
from evercurrent.frontend.sql.scope import Env
from evercurrent.term import build
from evercurrent.term.nullable import nullable


@dataclass(frozen=True, slots=True)
class Result:
    query: Query
    names: tuple[str, ...]
    order: tuple[tuple[int, bool, bool], ...] = ()


def rename_columns(
    env: Env, names: Sequence[str], columns: Sequence[exp.Identifier], node: exp.Expr
) -> tuple[str, ...]:
    """The names of columns after `AS t(a, b)`."""
    if not columns:
        return tuple(names)
    if len(columns) != len(names):
        raise env.wrong(f"{len(columns)} names are given to {len(names)} columns", columns[0], node)
    return tuple(c.name for c in columns)


def with_types(env: Env, query: Query, types: Sequence[Type]) -> Query:
    """The query with its fields cast; itself where they are of these types already."""
    if all(f.type == t for f, t in zip(query.fields, types, strict=True)):
        return query
    variable = env.variable("q", query)
    head = tuple(
        build.cast(build.field(variable, f.name), t) for f, t in zip(query.fields, types, strict=True)
    )
    fields = tuple(Member(f.name, h.type, nullable(h)) for f, h in zip(query.fields, head, strict=True))
    return Comprehension("bag", head, (Generator(variable, query),), fields)
