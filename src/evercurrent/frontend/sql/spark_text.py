r"""The text of a query for Spark's own SQL: the user's tokens, with constants that no setting can change.

Law. Spark reads every constant of the text as the front end read it. The tokens are the ones that the front end parsed;
comments and hints are left out, so nothing can hide in them. Numbers, operators and names stay as they were written. A
string is written again from its value, in printable ASCII without quotes, backslashes and dollar signs:

    'it''s'            'it\u0027s'            the same whether two quotes are one quote or two strings
    '${env:HOME}'      '\u0024{env:HOME}'     no variable to substitute
    r'\d+'             '\u005Cd+'             raw strings need no syntax of their own
    "a"                'a'                    never the name of a column

The session must read escapes in strings; `engine.spark.private_session` sets that.

>>> query_text("CREATE VIEW v AS SELECT 'it''s' AS a /* or not */ FROM t")
"SELECT 'it\\u0027s' AS a FROM t"
>>> total_order("SELECT a, b FROM t ORDER BY b DESC LIMIT 3", 2)
'SELECT a, b FROM t ORDER BY b DESC, 1, 2 LIMIT 3'
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from evercurrent.frontend.sql.syntax import CLOSE, OPEN, Tokens, parse_tokens, tokenize

STRINGS = frozenset((TokenType.STRING, TokenType.RAW_STRING, TokenType.NATIONAL_STRING))
PLAIN = re.compile(r"[ !#%&()*+,\-./0-9:;<=>?@A-Z\[\]^_a-z{|}~]")
"""Characters that stand for themselves in a string, whatever the settings."""


def string_text(value: str) -> str:
    r"""A string constant as Spark's SQL reads it: other characters are written as \u0027 or \U0001F600."""
    return "'" + "".join(c if PLAIN.match(c) else _escape(c) for c in value) + "'"


def _escape(c: str) -> str:
    code = ord(c)
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


def quote_name(name: str) -> str:
    """A name in backticks."""
    return f"`{name.replace('`', '``')}`"


def query_text(definition: str) -> str:
    """The query of a definition, without CREATE VIEW."""
    return _text(query_tokens(definition))


def query_tokens(definition: str) -> Tokens:
    """The tokens of the query of a definition."""
    tokens = tokenize(definition)
    if tokens.word(0) != "CREATE":
        return tokens
    for i, depth in enumerate(_depths(tokens.tokens)):
        if depth == 0 and tokens.tokens[i].token_type == TokenType.ALIAS:
            return tokens.since(i + 1)
    return tokens


def has_grouping_sets(definition: str) -> bool:
    """Whether the query has CUBE, ROLLUP or GROUPING SETS: over no rows Spark leaves out their total row."""
    tree = parse_tokens(query_tokens(definition))
    return tree.find(exp.Cube, exp.Rollup, exp.GroupingSets) is not None


def total_order(definition: str, columns: int) -> str | None:
    """The query with ties broken by the columns of the result wherever it takes the first rows; None if they are not written.

    `columns` is the number of columns of the whole result. The order of a result that is not cut off is left out: it says
    how a view is read, not what it holds.
    """
    tokens = query_tokens(definition)
    tree = parse_tokens(tokens)
    if tree.args.get("limit") is None and tree.args.get("offset") is None:
        tokens = _without_order(tokens)
    inserted: dict[int, str] = {}
    for query in tree.find_all(exp.Query):
        cut = [c for c in (query.args.get("limit"), query.args.get("offset")) if c is not None]
        if not cut:
            continue
        own = columns if query is tree else _width(query)
        at = min((_clause(tokens, c) for c in cut), default=-1)
        if own is None or at < 0 or query.args.get("windows"):
            return None
        keys = ", ".join(str(i + 1) for i in range(own))
        inserted[at] = f", {keys}" if query.args.get("order") is not None else f" ORDER BY {keys}"
    return _text(tokens, inserted)


def _width(query: exp.Query) -> int | None:
    """How many columns a query has, if it names them."""
    own = query.selects
    return None if not own or any(x.is_star for x in own) else len(own)


def _clause(tokens: Tokens, node: exp.Expr) -> int:
    """The position of the token that begins a LIMIT or OFFSET clause; -1 if it is not known."""
    starts = [n.meta["start"] for n in node.walk() if "start" in n.meta]
    wanted = TokenType.LIMIT if isinstance(node, exp.Limit) else TokenType.OFFSET
    before = [
        i for i, t in enumerate(tokens.tokens) if starts and t.token_type == wanted and t.start < min(starts)
    ]
    return before[-1] if before else -1


def _without_order(tokens: Tokens) -> Tokens:
    """The tokens without an ORDER BY at their end."""
    for i, depth in enumerate(_depths(tokens.tokens)):
        if depth == 0 and tokens.tokens[i].token_type == TokenType.ORDER_BY:
            following = {t.token_type for t in tokens.tokens[i:]}
            return tokens if TokenType.WINDOW in following else Tokens(tokens.text, tokens.tokens[:i])
    return tokens


def _depths(tokens: Sequence[Token]) -> Iterator[int]:
    """How many brackets are open before each token."""
    depth = 0
    for token in tokens:
        depth -= token.token_type in CLOSE
        yield depth
        depth += token.token_type in OPEN


# --- writing -----------------------------------------------------------------------------------------------


def _text(tokens: Tokens, inserted: dict[int, str] | None = None) -> str:
    """The tokens as text, with texts inserted before some of them. Tokens touch where they did."""
    parts: list[str] = []
    end = start = -1
    for i, token in enumerate(tokens.tokens):
        if token.token_type == TokenType.HINT or token.start == start:
            continue  # 1L is three tokens of one place
        more = (inserted or {}).get(i, "")
        gap = " " if parts and (token.start > end or more or _needs_gap(token)) else ""
        parts.append(f"{more}{gap}{_one(tokens.text, token)}")
        start, end = token.start, token.end + 1
    return "".join(parts)


def _needs_gap(token: Token) -> bool:
    return token.token_type in STRINGS  # two strings that touch would be one


def _one(text: str, token: Token) -> str:
    if token.token_type in STRINGS:
        return string_text(token.text)
    if token.token_type == TokenType.IDENTIFIER:
        return quote_name(token.text)
    return text[token.start : token.end + 1]
