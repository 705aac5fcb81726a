"""OQL text to syntax, by lark; the grammar is `oql.lark`.

>>> parse("select e.name from e in Employees; 1 + 2")[1]
Binary(operator='+', left=Constant(value=1, type='integer'), right=Constant(value=2, type='integer'))
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token
from lark import Tree as LarkTree
from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from evercurrent.errors import LimitError, QueryError
from evercurrent.frontend.oql import syntax
from evercurrent.limits import DIGITS, guard_nesting
from evercurrent.source import Place

# Typed loosely: what a rule's children are is the grammar's matter.
Tree: Any = LarkTree


@cache
def _parser() -> Lark:
    grammar = files("evercurrent.frontend.oql").joinpath("oql.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", propagate_positions=True, maybe_placeholders=True)


def parse(text: str) -> list[syntax.Statement]:
    """The statements of a text, in order."""
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as problem:
        raise _wrong(text, problem) from None
    except RecursionError:
        raise LimitError("this is nested too deeply", hint="name parts of it with define") from None
    reader = _Reader(text)
    with guard_nesting("this text"):
        return [reader.statement(part) for part in tree.children if isinstance(part, Tree)]


def parse_one(text: str) -> syntax.Statement:
    """The only statement of a text."""
    found = parse(text)
    if len(found) != 1:
        raise QueryError("one query is expected" if found else "the query is empty")
    return found[0]


def _wrong(text: str, problem: UnexpectedInput) -> QueryError:
    match problem:
        case UnexpectedToken(token=token) if token.type != "$END":
            place = Place(text, token.start_pos or 0, token.end_pos or 0)
            return QueryError(
                f"{str(token)!r} is not expected here", place=place, hint=_hint(problem.expected)
            )
        case UnexpectedCharacters(pos_in_stream=int(at)):
            word = re.match(r"\w+|\S", text[at:])
            shown = word[0] if word else text[at : at + 1]
            place = Place(text, at, at + len(shown))
            return QueryError(f"{shown!r} is not expected here", place=place, hint=_hint(problem.allowed))
        case UnexpectedToken() | UnexpectedEOF() | _:
            end = len(text.rstrip())
            place = Place(text, max(0, end - 1), end)
            expected = getattr(problem, "expected", None)
            return QueryError("the query ends too early", place=place, hint=_hint(expected))


SPELLED = {
    "RPAR": ")",
    "LPAR": "(",
    "RSQB": "]",
    "COLON": ":",
    "FROM": "from",
    "AS": "as",
    "IN": "in",
    "NAME": "a name",
    "MEMBER": "a name",
    "SEMICOLON": ";",
}


def _hint(expected: Any) -> str | None:
    words = [SPELLED[e] for e in sorted(expected or ()) if e in SPELLED]
    return f"{' or '.join(dict.fromkeys(words))} could follow" if 0 < len(words) <= 4 else None


class _Reader:
    """Lark's tree as our nodes. A method for each rule; `place` is where the rule matched."""

    def __init__(self, text: str) -> None:
        self.text = text

    def place(self, part: Any) -> Place:
        if isinstance(part, Token):
            return Place(self.text, part.start_pos or 0, part.end_pos or 0)
        meta = part.meta
        return Place(self.text, getattr(meta, "start_pos", 0), getattr(meta, "end_pos", len(self.text)))

    def statement(self, tree: Any) -> syntax.Statement:
        place = self.place(tree)
        match tree:
            case Tree("define", [_, name, *parameters, _, body]):
                found = tuple(self.parameter(p) for p in parameters if p is not None)
                text = self.text[place.start : place.end]
                return syntax.Define(str(name), found, self.node(body), text, place)
            case Tree("undefine", [_, name]):
                return syntax.Undefine(str(name), self.place(name))
            case Tree("import_", [_, *names]):
                path = [str(n) for n in names if isinstance(n, Token) and n.type == "NAME"]
                aliased = any(isinstance(n, Token) and n.type == "AS" for n in names)
                name = path[-2] if aliased else path[-1]
                return syntax.Import(name, path[-1], place)
            case _:
                return self.node(tree)

    def parameter(self, tree: Any) -> tuple[str, str]:
        words = [str(t) for t in tree.scan_values(lambda t: isinstance(t, Token) and t.type == "NAME")]
        return words[-1], " ".join(words[:-1])

    def nodes(self, parts: Any) -> tuple[syntax.Node, ...]:
        return tuple(self.node(p) for p in parts if p is not None)

    def node(self, tree: Any) -> syntax.Node:
        place = self.place(tree)
        match tree:
            case Tree("select"):
                return self.select(tree)
            case Tree("binary", [left, operator, right]):
                word = {"<>": "!="}.get(str(operator), str(operator).lower())
                return syntax.Binary(word, self.node(left), self.node(right), self.place(operator))
            case Tree("compared", [left, operator, quantity, right]):
                word = {"<>": "!="}.get(str(operator), str(operator))
                every = quantity.lower() == "all"
                return syntax.Compared(word, every, self.node(left), self.node(right), self.place(operator))
            case Tree("exists_in" | "for_all" as rule, [_, variable, _, collection, condition]):
                every = rule == "for_all"
                return syntax.Quantified(
                    every, str(variable), self.node(collection), self.node(condition), place
                )
            case Tree("signed", [operator, of]):
                return syntax.Unary(operator.lower(), self.node(of), place)
            case Tree("casting", [_, *names, of]):
                return syntax.Cast(str(names[-1]), self.node(of), place)
            case Tree("step", [of, name]):
                return syntax.Step(self.node(of), str(name), None, self.place(name))
            case Tree("step", [of, name, arguments]):
                return syntax.Step(self.node(of), str(name), self.nodes(arguments.children), self.place(name))
            case Tree("index", [of, at]):
                return syntax.Index(self.node(of), self.node(at), place)
            case Tree("slice", [of, low, high]):
                return syntax.Slice(self.node(of), self.node(low), self.node(high), place)
            case Tree("name", [name]):
                return syntax.Name(str(name), place)
            case Tree("exists_of", [_, of]):
                return syntax.Call("exists", (self.node(of),), place=place)
            case Tree("distinct_of", [_, of]):
                return syntax.Call("distinct", (self.node(of),), place=place)
            case Tree("struct", [_, *members]):
                return syntax.Construct(None, self.members(members), place)
            case Tree("construct", [name, *members]):
                return syntax.Construct(str(name), self.members(members), place)
            case Tree("collect", [kind, *items]):
                return syntax.Collect(_kind(kind), self.nodes(items), place)
            case Tree("range", [kind, low, high]):
                return syntax.Range(_kind(kind), self.node(low), self.node(high), place)
            case Tree("call_star", [name, _]):
                return syntax.Call(str(name), (), True, place)
            case Tree("call_distinct", [name, _, of]):
                return syntax.Call(str(name), (self.node(of),), False, place, distinct=True)
            case Tree("call", [name, arguments]):
                return syntax.Call(str(name), self.nodes(arguments.children), False, place)
            case _:
                return self.constant(tree, place)

    def constant(self, tree: Any, place: Place) -> syntax.Node:
        match tree:
            case Tree("integer", [token]):
                if len(token) > DIGITS:
                    raise QueryError("no type holds this number", place=place)
                return syntax.Constant(int(token), "integer", place)
            case Tree("float_", [token]):
                return syntax.Constant(float(token), "float", place)
            case Tree("string", [token]):
                return syntax.Constant(_unquote(token), "string", place)
            case Tree("moment", [kind, token]):
                return syntax.Constant(_unquote(token), kind.lower(), place)
            case Tree("true" | "false" as word):
                return syntax.Constant(word == "true", "boolean", place)
            case Tree("nil"):
                return syntax.Constant(None, "nil", place)
            case Tree("undefined"):
                return syntax.Constant(None, "undefined", place)
            case _:
                raise AssertionError(tree)

    def members(self, parts: Any) -> tuple[tuple[str, syntax.Node], ...]:
        found: dict[str, syntax.Node] = {}
        for part in parts:
            if part is not None:
                label, of = part.children
                if str(label) in found:
                    raise QueryError(f"two members are called {label}", place=self.place(label))
                found[str(label)] = self.node(of)
        return tuple(found.items())

    # --- select ----------------------------------------------------------------------------------------------

    def select(self, tree: Any) -> syntax.Select:
        _, distinct, projections, _, iterators, where, group, having, order, limit = tree.children
        most, start = (None, None) if limit is None else limit.children[1::2]
        return syntax.Select(
            distinct is not None,
            self.projections(projections),
            tuple(self.iterator(i) for i in iterators.children),
            None if where is None else self.node(where.children[1]),
            None if group is None else tuple(self.label(g) for g in group.children[1:]),
            None if having is None else self.node(having.children[1]),
            () if order is None else tuple(self.key(k) for k in order.children[1:]),
            self.place(tree),
            None if most is None else int(most),
            0 if start is None else int(start),
        )

    def projections(self, tree: Any) -> tuple[syntax.Projection, ...] | None:
        if isinstance(tree.children[0], Token):
            return None
        return tuple(self.projection(p) for p in tree.children)

    def projection(self, tree: Any) -> syntax.Projection:
        match tree:
            case Tree("labelled_projection", [label, of]):
                return syntax.Projection(str(label), self.node(of), self.place(tree))
            case Tree("as_projection", [of, _, name]):
                return syntax.Projection(str(name), self.node(of), self.place(tree))
            case Tree(_, [of]):
                return syntax.Projection(None, self.node(of), self.place(tree))
            case _:
                raise AssertionError(tree)

    def iterator(self, tree: Any) -> syntax.Iterator:
        place = self.place(tree)
        match tree:
            case Tree("in_iterator", [variable, _, of]):
                return syntax.Iterator(str(variable), self.node(of), None, place)
            case Tree("typed_iterator", [variable, _, name, _, of]):
                return syntax.Iterator(str(variable), self.node(of), str(name), place)
            case Tree("as_iterator", [of, *_, variable]):
                return syntax.Iterator(str(variable), self.node(of), None, place)
            case Tree("bare_iterator", [of]):
                node = self.node(of)
                if isinstance(node, syntax.Cast) and isinstance(node.of, syntax.Name):
                    # `from (Employees) e` looks like a cast; a class is no collection, so it is none.
                    return syntax.Iterator(node.of.name, syntax.Name(node.name, node.place), None, place)
                return syntax.Iterator(None, node, None, place)
            case _:
                raise AssertionError(tree)

    def label(self, tree: Any) -> tuple[str, syntax.Node]:
        match tree:
            case Tree("labelled_group", [label, of]):
                return str(label), self.node(of)
            case Tree("as_group", [of, _, name]):
                return str(name), self.node(of)
            case Tree(_, [of]):
                node = self.node(of)
                name = syntax.last_name(node)
                if name is None:
                    raise QueryError(
                        "what is grouped by needs a label",
                        place=self.place(tree),
                        hint="write label: expression",
                    )
                return name, node
            case _:
                raise AssertionError(tree)

    def key(self, tree: Any) -> syntax.Key:
        of, *direction = tree.children
        descending = any(t is not None and t.type == "DESC" for t in direction)
        return syntax.Key(self.node(of), descending, self.place(tree))


def _kind(token: Token) -> syntax.Kind:
    word = token.lower()
    return "list" if word == "array" else word  # type: ignore[return-value]


ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\\\"}


def _unquote(token: Token) -> str:
    """The text of a string. A backslash before any other character stays: it is what `like` escapes with."""
    return re.sub(r"\\(.)", lambda m: ESCAPES.get(m[1], m[0]), str(token)[1:-1], flags=re.DOTALL)
