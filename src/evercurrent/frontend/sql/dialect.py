"""The grammar: sqlglot's Spark dialect, kept close to the text.

sqlglot translates between dialects, so it turns function calls into its own classes, accepts what it does not
understand as a raw command, and reads CAST as TRY_CAST. Here nothing is translated: a call keeps the name that the user
wrote (only the few with a syntax of their own, such as EXTRACT and TRIM, have a class), CAST is strict, what is not
understood is an error, and an error knows the offsets of the token where it was found.

    SELECT ucase(a), CAST(b AS INT)      a call named `ucase`, and a strict cast; sqlglot itself: upper, and TRY_CAST
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from evercurrent.limits import TYPE_DEPTH, check
from evercurrent.source import Place

# Calls whose arguments are separated by words.
WORDED = ("CAST", "TRY_CAST", "EXTRACT", "OVERLAY", "POSITION", "SUBSTRING", "SUBSTR", "TRIM")

# Names that are functions even without parentheses.
BARE = ("CASE",)


# Words that stand before a query in brackets.
PREDICATES: dict[str, type[exp.Expr]] = {
    "EXISTS": exp.Exists,
    "ALL": exp.All,
    "ANY": exp.Any,
    "SOME": exp.Any,
}

# What can follow a list. A list that ends in a comma before one of these lacks an element.
AFTER_LISTS = frozenset(
    (
        TokenType.COMMA,
        TokenType.R_PAREN,
        TokenType.R_BRACKET,
        TokenType.FROM,
        TokenType.WHERE,
        TokenType.GROUP_BY,
        TokenType.HAVING,
        TokenType.QUALIFY,
        TokenType.ORDER_BY,
        TokenType.LIMIT,
        TokenType.UNION,
        TokenType.WHEN,
    )
)


class Malformed(ParseError):
    """A syntax error; `start:end` are offsets in the text."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message, errors=[{"description": message}])
        self.message = message
        self.start = start
        self.end = end


def close_call(parser: Callable[..., Any]) -> Callable[..., Any]:
    """The parser of a call's arguments, which must end at a closing bracket."""

    def parse(self: Any) -> Any:
        result = parser(self)
        if self._curr.token_type != TokenType.R_PAREN:
            self.raise_error("Expecting )")
        return result

    return parse


class EvercurrentParser(SparkParser):
    FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
        name: close_call(parser) for name, parser in SparkParser.FUNCTION_PARSERS.items() if name in WORDED
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
        name: parser for name, parser in SparkParser.NO_PAREN_FUNCTION_PARSERS.items() if name in BARE
    }
    # "stored" is an option of tables, not Hive's STORED AS.
    PROPERTY_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
        name: parser for name, parser in SparkParser.PROPERTY_PARSERS.items() if name != "STORED"
    }
    # A place-holder keeps its name, see `parameters`.
    PLACEHOLDER_PARSERS: ClassVar[dict[TokenType, Callable[..., Any]]] = {
        **SparkParser.PLACEHOLDER_PARSERS,
        TokenType.PLACEHOLDER: lambda self: self.expression(exp.Placeholder(this=self._prev.text)),
    }
    # Constants and stars know their places too.
    PRIMARY_PARSERS: ClassVar[dict[TokenType, Callable[..., Any]]] = {
        **SparkParser.PRIMARY_PARSERS,
        TokenType.NULL: lambda self, token: self.expression(exp.Null(), token),
        TokenType.TRUE: lambda self, token: self.expression(exp.Boolean(this=True), token),
        TokenType.FALSE: lambda self, token: self.expression(exp.Boolean(this=False), token),
        TokenType.STAR: lambda self, token: self._parse_star_ops().update_positions(token),
    }
    ARRAY_CONSTRUCTORS: ClassVar[dict[str, Any]] = {}  # array(1, 2)[0] is a subscript
    STRICT_CAST = True
    SUPPORTS_TABLE_QUERY = True
    # In Spark || binds like + and -, and the bitwise operators bind weaker, each at a level of its own.
    TERM: ClassVar[dict[TokenType, type[exp.Binary]]] = {
        **SparkParser.TERM,
        TokenType.DPIPE: exp.DPipe,
    }

    furthest: Malformed | None = None
    types_open = 0
    """The types that are being read, one in the other."""

    def raise_error(self, message: str, token: Any = None) -> None:
        found = token or self._curr or self._prev
        start, end = (found.start, found.end + 1) if found else (0, 0)
        error = Malformed(message, start, end)
        # sqlglot tries alternatives and drops the errors of those that fail; the one that came furthest says most.
        if self.furthest is None or start >= self.furthest.start:
            self.furthest = error
        raise error

    def _parse_bitwise(self) -> exp.Expr | None:
        return self._bitwise_level(0)

    BITWISE_LEVELS: ClassVar[tuple[tuple[TokenType, type[exp.Expr]], ...]] = (
        (TokenType.PIPE, exp.BitwiseOr),
        (TokenType.CARET, exp.BitwiseXor),
        (TokenType.AMP, exp.BitwiseAnd),
    )

    def _bitwise_level(self, level: int) -> exp.Expr | None:
        if level == len(self.BITWISE_LEVELS):
            return self._shift()
        operator, node = self.BITWISE_LEVELS[level]
        this = self._bitwise_level(level + 1)
        while self._match(operator):
            this = self.expression(node(this=this, expression=self._bitwise_level(level + 1)))
        return this

    def _shift(self) -> exp.Expr | None:
        this = self._parse_term()
        while True:
            if self._match_pair(TokenType.LT, TokenType.LT):
                this = self.expression(exp.BitwiseLeftShift(this=this, expression=self._parse_term()))
            elif self._match_pair(TokenType.GT, TokenType.GT):
                this = self.expression(exp.BitwiseRightShift(this=this, expression=self._parse_term()))
            else:
                return this

    def _parse_types(self, *args: Any, **options: Any) -> exp.Expr | None:
        """sqlglot reads a type several times at each level, so a depth that is too large must be found on the way down."""
        self.types_open += 1
        try:
            if self.types_open > TYPE_DEPTH:
                found = self._curr or self._prev
                place = Place(self.sql, found.start, found.end + 1) if found else None
                check(self.types_open, TYPE_DEPTH, "types in each other", place)
            return super()._parse_types(*args, **options)
        finally:
            self.types_open -= 1

    # sqlglot overlooks a comma with nothing after it and an AS without a name; here they are errors.

    def _parse_csv(self, parse_method: Callable[[], Any], sep: TokenType = TokenType.COMMA) -> list[Any]:
        first = parse_method()
        if first is None:
            if self._curr.token_type == sep:
                self.raise_error("something is missing before this")
            return []
        items = [first]
        while self._match(sep):
            item = parse_method()
            if item is not None:
                items.append(item)
            elif not self._curr or self._curr.token_type in AFTER_LISTS:
                self.raise_error("something is missing here")
            # otherwise the parser is only trying, and goes back
        return items

    def _parse_join(self, *args: Any, **options: Any) -> exp.Join | None:
        comma = self._curr.token_type == TokenType.COMMA
        join = super()._parse_join(*args, **options)
        if comma and join is None:
            self.raise_error("a relation is expected here")
        return join

    def _parse_alias(self, this: exp.Expr | None, explicit: bool = False) -> exp.Expr | None:
        given = self._curr.token_type == TokenType.ALIAS
        result = super()._parse_alias(this, explicit)
        if given and result is this:
            self.raise_error("a name is expected after AS")
        return result

    def _parse_function_call(self, *args: Any, **options: Any) -> exp.Expr | None:
        """sqlglot takes ALL ((SELECT ...) UNION ...) for a call: it looks for a SELECT right after the bracket."""
        found = super()._parse_function_call(*args, **options)
        if isinstance(found, exp.Anonymous) and len(found.expressions) == 1:
            predicate = PREDICATES.get(found.name.upper())
            if predicate is not None and isinstance(found.expressions[0], exp.Query):
                made = predicate(this=found.expressions[0])
                made.meta.update(found.meta)
                return made
        return found

    def _parse_as_command(self, start: Token) -> exp.Command:
        """Reached where sqlglot would give up on a statement and keep it as a text."""
        self.raise_error("I do not understand this statement from here on")
        raise AssertionError

    def _warn_unsupported(self) -> None:
        """Commands are refused later, with their place; nothing is logged."""


class EvercurrentSpark(Spark):
    class Tokenizer(Spark.Tokenizer):
        # Names such as current_date are names: what they mean is said when they are looked up. EXPLAIN is a word before a
        # statement, not a command whose rest is a text.
        KEYWORDS: ClassVar[dict[str, TokenType]] = {
            word: token
            for word, token in Spark.Tokenizer.KEYWORDS.items()
            if token not in SparkParser.NO_PAREN_FUNCTIONS and word != "EXPLAIN"
        }
        COMMANDS: ClassVar[set[TokenType]] = set()  # SHOW and its like are split into words, too
        # Spark 4 reads '' inside a string as a quote.
        STRING_ESCAPES: ClassVar[list[str]] = ["\\", "'", '"']

    Parser = EvercurrentParser
