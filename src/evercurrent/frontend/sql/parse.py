"""The doors of the SQL front end.

    parse_statement(text, catalog)      one statement
    parse_script(text)                  the texts of the statements of a script
    parse_query(text, catalog)          one query, with the order in which it is read
    parse_expression(text, fields)      one expression over columns

Whatever the text, they raise QueryError or UnsupportedError, or return.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sqlglot import exp

from evercurrent.calculus.nodes import Ordered
from evercurrent.calculus.paths import resolve
from evercurrent.calculus.scope import Names
from evercurrent.catalog.catalog import Catalog
from evercurrent.data.types import Member
from evercurrent.errors import EvercurrentError, InternalError, LimitError, QueryError
from evercurrent.frontend.sql import alter, commands, ddl, dml, expressions, indexes, merge, queries
from evercurrent.frontend.sql.ddl import Policy
from evercurrent.frontend.sql.parameters import Parameters, bind
from evercurrent.frontend.sql.refused import refusal_error, refuse_early
from evercurrent.frontend.sql.results import Result
from evercurrent.frontend.sql.scope import Env, Files, Rows, Visible
from evercurrent.frontend.sql.statements import (
    Copy,
    CreateTableAs,
    Explain,
    Modify,
    Select,
    Statement,
    with_lookups,
)
from evercurrent.frontend.sql.syntax import Tokens, parse_tokens, split
from evercurrent.source import Place
from evercurrent.term.nodes import Column, Term


def parse_script(text: str) -> list[str]:
    """The statements of a script, each as it is written, without its semicolon.

    >>> parse_script("SELECT ';' -- one; two\\n; SELECT 2;")
    ["SELECT ';'", 'SELECT 2']
    """
    with _translate_errors(text):
        return [_text(s) for s in split(text)]


def parse_statement(
    text: str,
    catalog: Catalog,
    policy: Policy = "incremental",
    parameters: Parameters = None,
    make: Callable[[str, Any], Term] | None = None,
    files: Files | None = None,
) -> Statement:
    """One statement; `policy` is that of a view that does not name one.

    `make` returns what stands for a parameter; `files` reads the files that stand in FROM.
    """
    with _translate_errors(text):
        tokens, constants = bind(_single(text), parameters, make)
        env = Env(text, catalog, Names(), parameters=constants, files=files)
        statement = with_lookups(_statement(env, tokens, policy), catalog)
        if constants and not isinstance(statement, Select | Modify | CreateTableAs | Explain | Copy):
            raise QueryError(
                "parameters are allowed in queries and changes, not in definitions",
                hint="write the value itself",
            )
        return statement


def parse_query(text: str, catalog: Catalog) -> Ordered:
    """One query. Its fields have different names; hidden sort keys are refused."""
    with _translate_errors(text):
        tokens = _single(text)
        env = Env(text, catalog, Names())
        node = parse_tokens(tokens)
        result = _query(env, node)
        if len(result.names) != len(result.query.fields):
            raise env.unsupported_error("ordering by what is not in the select list", node)
        return Ordered(resolve(result.query, catalog), result.order)


def parse_expression(text: str, fields: Sequence[Member]) -> Term:
    """One expression; names are columns of the row at hand."""
    with _translate_errors(text):
        env = Env(text, Catalog(), Names())
        visible = [Visible(f.name, Column(f.name, f.type, f.nullable)) for f in fields]
        return expressions.term(
            Rows(env, visible, "an expression"), parse_tokens(_single(text), exp.Condition)
        )


# --- statements --------------------------------------------------------------------------------------------


def _single(text: str) -> Tokens:
    statements = split(text)
    if not statements:
        raise QueryError("the statement is empty")
    if len(statements) > 1:
        second = statements[1]
        raise QueryError("one statement is expected", place=second.place(0), hint="use a script for several")
    return statements[0]


def _text(tokens: Tokens) -> str:
    return tokens.text[tokens.tokens[0].start : tokens.tokens[-1].end + 1]


def _statement(env: Env, tokens: Tokens, policy: Policy) -> Statement:
    words = [tokens.word(i) for i in range(4)]
    if words[:2] == ["CREATE", "ASSERTION"] or words == ["CREATE", "OR", "REPLACE", "ASSERTION"]:
        return ddl.create_assertion(env, tokens)
    if words[:2] == ["DROP", "ASSERTION"]:
        return ddl.drop_assertion(tokens)
    found = commands.command(env, tokens, lambda env, inner: _statement(env, inner, policy))
    if found is not None:
        return found
    refuse_early(tokens)
    node = parse_tokens(tokens)
    match node:
        case exp.Create() if str(node.args.get("kind")).upper() == "INDEX":
            return indexes.create_index(env, node)
        case exp.Drop() if str(node.args.get("kind")).upper() == "INDEX":
            return indexes.drop_index(env, node)
        case exp.Alter():
            return alter.alter(env, node)
        case exp.Create():
            return ddl.create(env, node, _text(tokens), policy)
        case exp.Drop():
            return ddl.drop(env, node)
        case exp.TruncateTable():
            return ddl.truncate(env, node)
        case _ if isinstance(node, exp.Insert | exp.Update | exp.Delete | exp.Merge | exp.Query | exp.Values):
            return _query_or_change(env.with_clock(), node)
        case _:
            raise refusal_error(tokens)


def _query_or_change(env: Env, node: exp.Expr) -> Statement:
    match node:
        case exp.Insert():
            return dml.insert(env, node)
        case exp.Update():
            return dml.update(env, node)
        case exp.Delete():
            return dml.delete(env, node)
        case exp.Merge():
            return merge.merge(env, node)
        case _:
            result = _query(env, node)
            return Select(Ordered(result.query, result.order), result.names)


def _query(env: Env, node: exp.Expr) -> Result:
    if not isinstance(node, exp.Query | exp.Values):
        raise env.wrong("a query is expected", node)
    return queries.query(env, node, keep_order=True)


@contextmanager
def _translate_errors(text: str) -> Iterator[None]:
    """Whatever goes wrong is one of our errors."""
    try:
        yield
    except EvercurrentError as error:
        if error.place is None and text.strip():
            error.place = Place(text, len(text) - len(text.lstrip()), len(text.rstrip()))
        raise
    except RecursionError:
        raise LimitError("this is nested too deeply", hint="name parts of it in WITH, or in views") from None
    except Exception as error:
        raise InternalError(
            f"this statement could not be understood: {type(error).__name__}: {error}",
            hint="please report it",
        ) from error
