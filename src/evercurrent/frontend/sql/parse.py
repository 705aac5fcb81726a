"""The doors of the SQL front end.

    parse_statement(text, catalog)      one statement
    parse_script(text)                  the texts of the statements of a script
    parse_query(text, catalog)          one query, with the order in which it is read
    parse_expression(text, fields)      one expression over columns

Whatever the text, they raise QueryError or UnsupportedError, or return.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sqlglot import exp

from evercurrent.calculus.nodes import Ordered
from evercurrent.calculus.paths import resolve
from evercurrent.calculus.scope import Names
from evercurrent.catalog.catalog import Catalog
from evercurrent.data.types import Member
from evercurrent.errors import EvercurrentError, InternalError, LimitError, QueryError, UnsupportedError
from evercurrent.frontend.sql import ddl, dml, expressions, merge, queries
from evercurrent.frontend.sql.ddl import Policy
from evercurrent.frontend.sql.parameters import Parameters, bind
from evercurrent.frontend.sql.results import Result
from evercurrent.frontend.sql.scope import Env, Rows, Visible
from evercurrent.frontend.sql.statements import Modify, Select, Statement, with_lookups
from evercurrent.frontend.sql.syntax import Tokens, parse_tokens, split
from evercurrent.source import Place
from evercurrent.term.nodes import Column, Term


def parse_script(text: str) -> list[str]:
    """The statements of a script, each as it is written, without its semicolon.

    >>> parse_script("SELECT ';' -- one; two\\n; SELECT 2;")
    ["SELECT ';'", 'SELECT 2']
    """
    with _guarded(text):
        return [_text(s) for s in split(text)]


def parse_statement(
    text: str, catalog: Catalog, policy: Policy = "incremental", parameters: Parameters = None
) -> Statement:
    """One statement; `policy` is that of a view that does not name one."""
    with _guarded(text):
        tokens, constants = bind(_single(text), parameters)
        env = Env(text, catalog, Names(), parameters=constants)
        statement = with_lookups(_statement(env, tokens, policy), catalog)
        if constants and not isinstance(statement, Select | Modify):
            raise QueryError(
                "parameters are allowed in queries and changes, not in definitions",
                hint="write the value itself",
            )
        return statement


def parse_query(text: str, catalog: Catalog) -> Ordered:
    """One query. Its fields have different names; hidden sort keys are refused."""
    with _guarded(text):
        tokens = _single(text)
        env = Env(text, catalog, Names())
        node = parse_tokens(tokens)
        result = _query(env, node)
        if len(result.names) != len(result.query.fields):
            raise env.unsupported("ordering by what is not in the select list", node)
        return Ordered(resolve(result.query, catalog), result.order)


def parse_expression(text: str, fields: Sequence[Member]) -> Term:
    """One expression; names are columns of the row at hand."""
    with _guarded(text):
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
    node = parse_tokens(tokens)
    match node:
        case exp.Create():
            return ddl.create(env, node, _text(tokens), policy)
        case exp.Drop():
            return ddl.drop(env, node)
        case exp.TruncateTable():
            return ddl.truncate(env, node)
        case exp.Insert():
            return dml.insert(env, node)
        case exp.Update():
            return dml.update(env, node)
        case exp.Delete():
            return dml.delete(env, node)
        case exp.Merge():
            return merge.merge(env, node)
        case exp.Query() | exp.Values():
            result = _query(env, node)
            return Select(Ordered(result.query, result.order), result.names)
        case _:
            if words[0] in KNOWN_COMMANDS or isinstance(
                node, exp.Command | exp.Alter | exp.Set | exp.Describe
            ):
                raise UnsupportedError(f"{words[0]} is not supported", place=tokens.place(0))
            raise QueryError("this is not a statement", place=tokens.place(0))


KNOWN_COMMANDS = frozenset(
    [
        "ALTER",
        "ANALYZE",
        "BEGIN",
        "CACHE",
        "CALL",
        "COMMENT",
        "COMMIT",
        "COPY",
        "DECLARE",
        "DESCRIBE",
        "EXECUTE",
        "EXPLAIN",
        "GRANT",
        "KILL",
        "LOAD",
        "OPTIMIZE",
        "REFRESH",
        "REVOKE",
        "ROLLBACK",
        "SET",
        "SHOW",
        "UNCACHE",
        "USE",
        "VACUUM",
    ]
)


def _query(env: Env, node: exp.Expr) -> Result:
    if not isinstance(node, exp.Query | exp.Values):
        raise env.wrong("a query is expected", node)
    return queries.query(env, node, keep_order=True)


@contextmanager
def _guarded(text: str) -> Iterator[None]:
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
