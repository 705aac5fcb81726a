"""Tokens to syntax, by recursive descent with the standard's precedences, loosest first:

or < orelse < and < quantifiers < andthen < = != like < < <= > >= < + - || union except
   < * / mod div intersect < in < - not abs < . -> [] < primary
"""

from __future__ import annotations

import datetime
from collections.abc import Collection

from tests.oql.oracle.lexer import Token, tokens
from tests.oql.oracle.syntax import (
    Binary,
    Call,
    Cast,
    Collect,
    Compared,
    Construct,
    Define,
    Import,
    Index,
    Iterator,
    Literal,
    Name,
    Node,
    Projection,
    Quantified,
    Range,
    Select,
    Slice,
    Step,
    Unary,
    Undefine,
)
from tests.oql.oracle.values import UNDEFINED

WORDS = """select distinct from where group by having order asc desc in as and or not andthen orelse exists for all some
any union intersect except like mod div true false nil undefined define undefine query import"""
RESERVED = frozenset(WORDS.split())
LEVELS: tuple[tuple[str, ...], ...] = (
    ("or",),
    ("orelse",),
    ("and",),
)
SIGNS = {"<>": "!="}


def parse(text: str, classes: Collection[str] = ()) -> list[Node]:
    """The statements of a text; a query is an expression."""
    parser = Parser(text, frozenset(classes))
    statements = []
    while not parser.at("end"):
        statements.append(parser.statement())
        if not parser.accept(";") and not parser.at("end"):
            raise parser.error("the end or ;")
    return statements


class Parser:
    def __init__(self, text: str, classes: frozenset[str]) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.place = 0
        self.classes = classes

    # Tokens

    @property
    def token(self) -> Token:
        return self.tokens[self.place]

    def ahead(self, by: int = 1) -> Token:
        return self.tokens[min(self.place + by, len(self.tokens) - 1)]

    def at(self, word: str) -> bool:
        token = self.token
        if word == "end":
            return token.kind == "end"
        return (token.kind == "name" and token.text.lower() == word) or (
            token.kind == "sign" and token.text == word
        )

    def accept(self, *words: str) -> str | None:
        for word in words:
            if self.at(word):
                self.place += 1
                return word
        return None

    def expect(self, word: str) -> None:
        if not self.accept(word):
            raise self.error(word)

    def error(self, wanted: str) -> SyntaxError:
        return SyntaxError(f"expected {wanted} at {self.token.text!r} ({self.place}) in {self.text!r}")

    def name(self) -> str:
        if self.token.kind != "name":
            raise self.error("a name")
        self.place += 1
        return self.tokens[self.place - 1].text

    def is_name(self) -> bool:
        word = self.token.text.lower()
        if word in ("order", "group"):
            return self.ahead().text.lower() != "by"
        if word in ("limit", "offset") and self.ahead().kind == "int":
            return False
        return self.token.kind == "name" and word not in RESERVED

    # Statements

    def statement(self) -> Node:
        if self.accept("define"):
            self.accept("query")
            name, parameters = self.name(), []
            if self.accept("("):
                while not self.accept(")"):
                    words = [self.name()]
                    while self.token.kind == "name":
                        words.append(self.name())
                    parameters.append((words[-1], " ".join(words[:-1])))
                    self.accept(",")
            self.expect("as")
            return Define(name, tuple(parameters), self.query())
        if self.accept("undefine"):
            self.accept("query")
            return Undefine(self.name())
        if self.accept("import"):
            parts = [self.name()]
            while self.accept("::"):
                parts.append(self.name())
            alias = self.name() if self.accept("as") else parts[-1]
            self.classes |= {alias}
            return Import(parts[-1], alias)
        return self.query()

    def query(self) -> Node:
        return self.select() if self.at("select") else self.expression()

    def select(self) -> Select:
        self.expect("select")
        distinct = self.accept("distinct") is not None
        projections = None if self.accept("*") else tuple(self.listed(self.projection))
        self.expect("from")
        iterators = tuple(self.listed(self.iterator))
        where = self.expression() if self.accept("where") else None
        groups = having = None
        if self.accept("group"):
            self.expect("by")
            groups = tuple(self.listed(self.label))
        if self.accept("having"):
            having = self.expression()
        order: list[tuple[Node, bool]] = []
        if self.accept("order"):
            self.expect("by")
            order = self.listed(self.key)
        limit, offset = self.counted("limit"), self.counted("offset")
        return Select(
            distinct, projections, iterators, where, groups, having, tuple(order), limit, offset or 0
        )

    def counted(self, word: str) -> int | None:
        """`limit 3`, `offset 2`."""
        if not self.at(word) or self.ahead().kind != "int":
            return None
        self.place += 2
        return int(self.tokens[self.place - 1].text)

    def listed(self, item):
        items = [item()]
        while self.accept(","):
            items.append(item())
        return items

    def projection(self) -> Projection:
        if self.token.kind == "name" and self.ahead().text == ":" and self.ahead().kind == "sign":
            name = self.name()
            self.expect(":")
            return Projection(name, self.query())
        of = self.query()
        return Projection(self.name() if self.accept("as") else None, of)

    def iterator(self) -> Iterator:
        if self.is_name() and self.ahead().kind == "name" and self.ahead().text.lower() == "in":
            variable = self.name()
            self.expect("in")
            return Iterator(variable, self.expression())
        collection = self.expression()
        if self.accept("as") or self.is_name():
            return Iterator(self.name(), collection)
        return Iterator(None, collection)

    def label(self) -> tuple[str, Node]:
        if self.token.kind == "name" and self.ahead().text == ":":
            name = self.name()
            self.expect(":")
            return name, self.query()
        of = self.query()
        if self.accept("as"):
            return self.name(), of
        name = last_name(of)
        if name is None:
            raise self.error("a label")
        return name, of

    def key(self) -> tuple[Node, bool]:
        of = self.expression()
        return of, self.accept("asc", "desc") == "desc"

    # Expressions

    def expression(self, level: int = 0) -> Node:
        if self.at("select"):
            return self.select()
        if level == len(LEVELS):
            return self.quantifier()
        left = self.expression(level + 1)
        while operator := self.accept(*LEVELS[level]):
            left = Binary(operator, left, self.expression(level + 1))
        return left

    def quantifier(self) -> Node:
        exists = self.at("exists") and self.ahead().text != "("
        every = self.at("for") and self.ahead().text.lower() == "all"
        if exists or every:
            self.place += 1
            if every:
                self.expect("all")
            variable = self.name()
            self.expect("in")
            collection = self.additive()
            self.expect(":")
            return Quantified(every, variable, collection, self.quantifier())
        left = self.equality()
        while self.accept("andthen"):
            left = Binary("andthen", left, self.equality())
        return left

    def equality(self) -> Node:
        left = self.relation()
        while operator := self.accept("=", "!=", "<>", "like"):
            left = self.compared(SIGNS.get(operator, operator), left, self.relation)
        return left

    def relation(self) -> Node:
        left = self.additive()
        while operator := self.accept("<=", ">=", "<", ">"):
            left = self.compared(operator, left, self.additive)
        return left

    def compared(self, operator: str, left: Node, right) -> Node:
        if quantifier := self.accept("some", "any", "all"):
            return Compared(operator, "all" if quantifier == "all" else "some", left, right())
        return Binary(operator, left, right())

    def additive(self) -> Node:
        left = self.multiplicative()
        while operator := self.accept("+", "-", "||", "union", "except"):
            left = Binary(operator, left, self.multiplicative())
        return left

    def multiplicative(self) -> Node:
        left = self.membership()
        while operator := self.accept("*", "/", "mod", "div", "intersect"):
            left = Binary(operator, left, self.membership())
        return left

    def membership(self) -> Node:
        left = self.unary()
        return Binary("in", left, self.unary()) if self.accept("in") else left

    def unary(self) -> Node:
        if operator := self.accept("-", "not"):
            return Unary(operator, self.unary())
        if self.accept("+"):
            return self.unary()
        return self.cast_or_postfix()

    def cast_or_postfix(self) -> Node:
        """`(employee) p` where employee is a class."""
        if self.at("(") and self.ahead().text in self.classes and self.ahead(2).text == ")":
            self.place += 1
            name = self.name()
            self.expect(")")
            return Cast(name, self.unary())
        return self.postfix()

    def postfix(self) -> Node:
        of = self.primary()
        while True:
            if self.accept(".", "->"):
                name, arguments = self.name(), ()
                if self.accept("("):
                    arguments = self.arguments()
                of = Step(of, name, arguments)
            elif self.accept("["):
                low = self.query()
                of = Slice(of, low, self.query()) if self.accept(":") else Index(of, low)
                self.expect("]")
            else:
                return of

    def arguments(self) -> tuple[Node, ...]:
        if self.accept(")"):
            return ()
        items = tuple(self.listed(self.query))
        self.expect(")")
        return items

    def primary(self) -> Node:
        token = self.token
        if self.accept("("):
            of = self.query()
            self.expect(")")
            return of
        if token.kind in ("int", "float", "string"):
            self.place += 1
            return Literal({"int": int, "float": float, "string": str}[token.kind](token.text))
        for word, value in (("true", True), ("false", False), ("nil", None)):
            if self.accept(word):
                return Literal(value)
        if self.accept("undefined"):
            return Literal(UNDEFINED)
        if token.kind == "name" and self.ahead().kind == "string":
            return self.moment()
        if token.kind == "name" and (self.is_name() or self.ahead().text == "("):
            name = self.name()
            if self.accept("("):
                return self.called(name)
            return Name(name)
        raise self.error("an expression")

    def moment(self) -> Node:
        kind = self.name().lower()
        text = self.token.text
        self.place += 1
        if kind == "date":
            return Literal(datetime.date.fromisoformat(text))
        if kind == "timestamp":
            return Literal(datetime.datetime.fromisoformat(text))
        raise self.error("date or timestamp")

    def called(self, name: str) -> Node:
        lower = name.lower()
        if lower in ("set", "bag", "list", "array"):
            if self.accept(")"):
                return Collect(lower, ())
            first = self.query()
            if self.accept(".."):
                high = self.query()
                self.expect(")")
                return Range(first, high)
            items = [first]
            while self.accept(","):
                items.append(self.query())
            self.expect(")")
            return Collect(lower, tuple(items))
        if self.accept("*"):
            self.expect(")")
            return Call(lower, (), star=True)
        if self.at("distinct") and self.ahead().text != "(":
            self.expect("distinct")
            of = self.expression()
            self.expect(")")
            return Call(lower, (of,), distinct=True)
        if lower == "struct" or (name in self.classes and (self.ahead().text == ":" or self.at(")"))):
            fields = []
            while not self.accept(")"):
                field = self.name()
                self.expect(":")
                fields.append((field, self.query()))
                self.accept(",")
            return Construct(lower if lower == "struct" else name, tuple(fields))
        return Call(name, self.arguments())


def last_name(node: Node) -> str | None:
    """The name that a projection has by itself: the last step of a path."""
    match node:
        case Name(name) | Step(name=name) | Call(name=name):
            return name
        case Cast(of=of):
            return last_name(of)
    return None
