"""Statements that are read word by word: BEGIN and COMMIT, SHOW, DESCRIBE, EXPLAIN, COPY.

COPY orders FROM 'orders.csv' (HEADER false)      Copy(direction='from', path='orders.csv', table='orders', header=False, ...)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal as Choice

from sqlglot.tokenizer_core import Token, TokenType

from evercurrent.catalog.lookup import require_table
from evercurrent.errors import EvercurrentError, QueryError, UnsupportedError
from evercurrent.frontend.sql.scope import Env
from evercurrent.frontend.sql.statements import (
    Control,
    Copy,
    Describe,
    Explain,
    Modify,
    Select,
    Show,
    Statement,
)
from evercurrent.frontend.sql.syntax import Tokens

Reader = Callable[[Env, Tokens], Statement]
"""Reads the statement inside another one."""

WORK = ("WORK", "TRANSACTION")
FORMATS = ("parquet", "csv", "json")


class Words:
    """The tokens of a statement, read from left to right."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.at = 0

    def word(self, ahead: int = 0) -> str:
        return self.tokens.word(self.at + ahead)

    def take(self, *words: str) -> bool:
        """Goes past these words, if they come next."""
        if [self.word(i) for i in range(len(words))] != list(words):
            return False
        self.at += len(words)
        return True

    def is_done(self) -> bool:
        return self.at >= len(self.tokens.tokens)

    def wrong(self, message: str, hint: str | None = None) -> QueryError:
        place = min(self.at, len(self.tokens.tokens) - 1)
        return QueryError(message, place=self.tokens.place(place), hint=hint)

    def name(self) -> str:
        """The name of a relation: `t`, or `s.t`."""
        if self.is_done():
            raise self.wrong("a name is expected here")
        parts = [self.tokens.tokens[self.at].text]
        self.at += 1
        while not self.is_done() and self.tokens.tokens[self.at].token_type == TokenType.DOT:
            parts.append(self.tokens.tokens[self.at + 1].text)
            self.at += 2
        return ".".join(parts)

    def text(self, what: str) -> str:
        """A string."""
        if self.is_done() or self.tokens.tokens[self.at].token_type != TokenType.STRING:
            raise self.wrong(f"{what} is expected here, in quotes")
        self.at += 1
        return self.tokens.tokens[self.at - 1].text

    def end(self) -> None:
        if not self.is_done():
            raise self.wrong("this is unexpected here")


def command(env: Env, tokens: Tokens, read: Reader) -> Statement | None:
    """Returns the statement, if it is one of these."""
    words = Words(tokens)
    first, second = words.word(), words.word(1)
    if first in ("BEGIN", "COMMIT", "ROLLBACK", "ABORT") or (first, second) == ("START", "TRANSACTION"):
        return _control(words)
    if first == "SHOW":
        return _show(env, words)
    if first in ("DESCRIBE", "DESC"):
        return _describe(env, words, read)
    if first == "EXPLAIN":
        return _explain(env, words, read)
    if first == "COPY":
        return _copy(env, words, read)
    return None


def _control(words: Words) -> Control:
    kinds: dict[str, Choice["BEGIN", "COMMIT", "ROLLBACK"]] = {
        "BEGIN": "BEGIN", "START": "BEGIN", "COMMIT": "COMMIT", "ROLLBACK": "ROLLBACK", "ABORT": "ROLLBACK",
    }  # fmt: skip
    kind = kinds[words.word()]
    words.at += 1
    if words.word() in WORK:
        words.at += 1
    if kind == "ROLLBACK" and words.word() == "TO":
        raise UnsupportedError(
            "ROLLBACK TO a savepoint is not supported",
            place=words.tokens.place(words.at),
            hint="ROLLBACK undoes the whole transaction",
        )
    words.end()
    return Control(kind)


def _show(env: Env, words: Words) -> Show:
    words.take("SHOW")
    if words.take("TABLES") or words.take("VIEWS"):
        what: Choice["tables", "views"] = "tables" if words.tokens.word(1) == "TABLES" else "views"
        words.end()
        return Show(what)
    if words.take("COLUMNS", "IN") or words.take("COLUMNS", "FROM"):
        found = Show("columns", _relation(env, words))
        words.end()
        return found
    if words.take("CREATE", "TABLE") or words.take("CREATE", "VIEW"):
        found = Show("create", _relation(env, words))
        words.end()
        return found
    raise UnsupportedError(
        f"SHOW {words.word()} is not supported".replace("  ", " "),
        place=words.tokens.place(0),
        hint="there is SHOW TABLES, SHOW VIEWS, SHOW COLUMNS IN name and SHOW CREATE TABLE name"
        + ("; functions are listed in docs/reference" if words.word() == "FUNCTIONS" else ""),
    )


def _relation(env: Env, words: Words) -> str:
    place = words.tokens.place(min(words.at, len(words.tokens.tokens) - 1))
    name = words.name()
    found = env.catalog.relation(name)
    if found is None:
        try:
            require_table(env.catalog, name)
        except EvercurrentError as problem:
            problem.place = place
            raise
        raise AssertionError(name)
    return found.name


def _describe(env: Env, words: Words, read: Reader) -> Describe:
    words.at += 1
    if words.take("QUERY") or words.word() in ("SELECT", "WITH", "VALUES"):
        inner = read(env, words.tokens.since(words.at))
        if not isinstance(inner, Select):
            raise words.wrong("a query is expected here")
        return Describe(inner)
    while words.word() in ("TABLE", "VIEW", "EXTENDED", "FORMATTED") and words.at + 1 < len(
        words.tokens.tokens
    ):
        words.at += 1
    if words.word() == "FUNCTION":
        raise UnsupportedError(
            "DESCRIBE FUNCTION is not supported",
            place=words.tokens.place(0),
            hint="the functions and aggregates are listed in docs/reference",
        )
    found = Describe(_relation(env, words))
    words.end()
    return found


def _explain(env: Env, words: Words, read: Reader) -> Explain:
    words.take("EXPLAIN")
    stage = None
    if words.word() in ("EXTENDED", "FORMATTED", "VERBOSE", "LOGICAL", "COST", "CODEGEN", "ANALYZE"):
        stage = {"CODEGEN": "source", "LOGICAL": "algebra"}.get(words.word(), "program")
        words.at += 1
    words.take("VIEW")
    if (
        len(words.tokens.tokens) == words.at + 1
        and env.catalog.view(words.tokens.tokens[words.at].text) is not None
    ):
        return Explain(words.name(), stage)
    inner = read(env, words.tokens.since(words.at))
    if not isinstance(inner, Select | Modify):
        raise words.wrong("EXPLAIN is for queries and changes, and for views by their names")
    return Explain(inner, stage)


def _copy(env: Env, words: Words, read: Reader) -> Copy:
    """COPY table [(columns)] FROM 'path', COPY table TO 'path', COPY (query) TO 'path', each with options."""
    words.take("COPY")
    no_columns: tuple[str, ...] = ()
    if words.tokens.tokens[words.at].token_type == TokenType.L_PAREN:
        inner_tokens = _read_brackets(words)
        inner = read(env, Tokens(words.tokens.text, inner_tokens))
        if not isinstance(inner, Select):
            raise words.wrong("COPY copies the rows of a query")
        name, columns = None, no_columns
    else:
        inner, name = None, _relation(env, words)
        columns = _names(words)
    direction: Choice["from", "to"]
    if words.take("FROM") and inner is None:
        direction = "from"
    elif words.take("TO"):
        direction = "to"
    else:
        raise words.wrong("COPY table FROM 'path', or COPY table or (query) TO 'path'")
    path = words.text("the path of a file")
    options = _options(words)
    words.end()
    header = options.get("header", "true") not in ("false", "0", "off")
    form = options.get("format")
    if form is not None and form not in FORMATS:
        raise words.wrong(f"there is no format {form}", hint=f"there is {', '.join(FORMATS)}")
    return Copy(direction, path, name, inner, columns, form, header, options.get("delimiter"))


def _read_brackets(words: Words) -> list[Token]:
    """The tokens between brackets."""
    depth, begin = 0, words.at + 1
    while not words.is_done():
        kind = words.tokens.tokens[words.at].token_type
        depth += (kind == TokenType.L_PAREN) - (kind == TokenType.R_PAREN)
        words.at += 1
        if depth == 0:
            return list(words.tokens.tokens[begin : words.at - 1])
    raise words.wrong("this is never closed: ) is missing")


def _names(words: Words) -> tuple[str, ...]:
    if words.is_done() or words.tokens.tokens[words.at].token_type != TokenType.L_PAREN:
        return ()
    return tuple(t.text for t in _read_brackets(words) if t.token_type != TokenType.COMMA)


def _options(words: Words) -> dict[str, str]:
    """[WITH] (FORMAT csv, HEADER false, DELIMITER ';'), or the words FORMAT, CSV, HEADER one after another."""
    words.take("WITH")
    if words.is_done():
        return {}
    if words.tokens.tokens[words.at].token_type != TokenType.L_PAREN:
        raise words.wrong(
            "the options of COPY stand in brackets", hint="(FORMAT csv, HEADER true, DELIMITER ',')"
        )
    found: dict[str, str] = {}
    known = ("format", "header", "delimiter", "delim", "sep")
    part: list[str] = []
    found_tokens: list[Token | None] = [*_read_brackets(words), None]
    for token in found_tokens:
        if token is not None and token.token_type != TokenType.COMMA:
            part.append(token.text)
            continue
        if part:
            name = part[0].lower()
            if name not in known:
                raise words.wrong(
                    f"COPY has no option {part[0]}", hint="there is FORMAT, HEADER and DELIMITER"
                )
            values = [p for p in part[1:] if p != "="]
            value = values[0] if values else "true"
            found["delimiter" if name in ("delim", "sep") else name] = (
                value if len(value) == 1 else value.lower()
            )
        part = []
    return found
