"""ODL text to syntax, by lark; the grammar is `odl.lark`.

Keywords are words in any case; every other name is as it is written.

>>> parse("class dept (extent Depts key name) { attribute string name; };").classes[0].extent
'Depts'
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token
from lark import Tree as LarkTree
from lark.exceptions import UnexpectedInput, UnexpectedToken
from lark.lexer import PatternStr

from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.frontend.odl.syntax import (
    Constant,
    Definition,
    Dictionary,
    Enumeration,
    Many,
    Named,
    Sized,
    Structure,
    Text,
    Written,
    WrittenAttribute,
    WrittenClass,
    WrittenOperation,
    WrittenRelationship,
)
from evercurrent.source import Place

# Typed loosely: what a rule's children are is the grammar's matter.
Tree: Any = LarkTree


@cache
def _parser() -> Lark:
    grammar = files("evercurrent.frontend.odl").joinpath("odl.lark").read_text(encoding="utf-8")
    return Lark(
        grammar,
        parser="lalr",
        lexer="contextual",
        propagate_positions=True,
        maybe_placeholders=True,
        start=["start", "type_text"],
    )


def parse(text: str) -> Text:
    """The classes and definitions of a text."""
    reader = _Reader(text)
    with _depth_limited():
        tree = _tree(text, "start").children[0]
        reader.read_interfaces(tree)
        reader.definitions(tree, "")
    if not reader.classes and not reader.found:
        raise QueryError("there is no class in the text", hint="class name (extent names) { ... };")
    return Text(tuple(reader.classes), tuple(reader.found))


def parse_type(text: str) -> Written:
    """The type that a text spells: `unsigned long`, `set<string>`."""
    with _depth_limited():
        return _Reader(text).type(_tree(text, "type_text"))


@contextmanager
def _depth_limited() -> Iterator[None]:
    try:
        yield
    except RecursionError:
        raise QueryError("this is nested too deeply", hint="name parts of it with typedef") from None


def _tree(text: str, start: str) -> Any:
    try:
        return _parser().parse(text, start=start)
    except UnexpectedInput as problem:
        raise _wrong(text, problem) from None


# --- mistakes ----------------------------------------------------------------------------------------------


def _wrong(text: str, problem: UnexpectedInput) -> QueryError:
    at = int(getattr(problem, "pos_in_stream", None) or 0)
    if isinstance(problem, UnexpectedToken) and problem.token.type == "$END":
        return QueryError("the text ends too early", place=Place(text, len(text), len(text)))
    if text.startswith("/*", at):
        return QueryError("the comment does not end", place=Place(text, at, at + 2))
    if isinstance(problem, UnexpectedToken):
        place = Place(text, at, at + len(problem.token))
        return QueryError(
            f"{_describe_expected(problem.accepts)} is expected here, not {str(problem.token)!r}",
            place=place,
        )
    return QueryError(f"{text[at]!r} has no meaning in ODL", place=Place(text, at, at + 1))


def _describe_expected(terminals: set[str]) -> str:
    """What can stand at a place, in words; of many things the one that is most likely meant."""
    if "_CLASS" in terminals:
        return "a class, typedef, struct, enum, const or module"
    if "_ATTRIBUTE" in terminals:
        return "an attribute, a relationship, an operation or '}'"
    for terminal in ("SEMICOLON", "LBRACE"):
        if terminal in terminals:
            return repr(_spell_terminal(terminal))
    if "NAME" in terminals:
        return "a name"
    return " or ".join(sorted({repr(_spell_terminal(t)) for t in terminals})[:4])


def _spell_terminal(terminal: str) -> str:
    pattern = next(t.pattern for t in _parser().terminals if t.name == terminal)
    return pattern.value if isinstance(pattern, PatternStr) else terminal.strip("_").lower().replace("_", " ")


# --- trees to syntax ---------------------------------------------------------------------------------------


class _Reader:
    """Lark's tree of one text as our nodes; collects classes and definitions."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.classes: list[WrittenClass] = []
        self.found: list[Definition] = []
        self.interfaces: dict[str, tuple[Any, list[Any]]] = {}

    def place(self, part: Any) -> Place:
        if isinstance(part, Token):
            return Place(self.text, part.start_pos or 0, part.end_pos or 0)
        return Place(self.text, part.meta.start_pos, part.meta.end_pos)

    def read_interfaces(self, tree: Any) -> None:
        """Notes the interfaces, which classes may name before they are declared."""
        for part in tree.children:
            match part:
                case Tree("module", [_, inner]):
                    self.read_interfaces(inner)
                case Tree("interface", [_, name, parents, *members]):
                    self.interfaces[str(name)] = (parents, members)
                case _:
                    pass

    def definitions(self, tree: Any, module: str) -> None:
        for part in tree.children:
            match part:
                case Tree("module", [name, inner]):
                    self.definitions(inner, str(name))
                case Tree("class_"):
                    self.classes.append(self.class_(part, module))
                case Tree("interface" | "forward" | "exception"):
                    pass  # a class may be named before it is declared; exceptions belong to operations
                case _:
                    self.found += self.definition(part)

    # --- classes -------------------------------------------------------------------------------------------

    def class_(self, tree: Any, module: str) -> WrittenClass:
        name, parents, interfaces, *rest = tree.children
        rest += self.list_inherited(interfaces, {str(name)})
        if parents is not None and len(parents.children) > 1:
            raise UnsupportedError(
                "a class extends one class",
                place=self.place(parents.children[1]),
                hint="ODL has single inheritance of classes",
            )
        extent, keys = None, []
        members: list[WrittenAttribute | WrittenRelationship | WrittenOperation] = []
        definitions: list[Definition] = []
        for part in rest:
            match part:
                case None:
                    pass
                case Tree("extent", [called]):
                    extent = str(called)
                case Tree("exception"):
                    pass
                case Tree("keys", found):
                    keys = [tuple(map(str, key.children)) for key in found]
                case Tree("attribute"):
                    members += self.attributes(part)
                case Tree("relationship"):
                    members.append(self.relationship(part))
                case Tree("operation"):
                    members.append(self.operation(part))
                case _:
                    definitions += self.definition(part)
        parent = None if parents is None else self.read_scoped(parents.children[0])
        return WrittenClass(
            str(name),
            module,
            parent,
            extent,
            tuple(keys),
            tuple(members),
            tuple(definitions),
            self.place(name),
        )

    def list_inherited(self, interfaces: Any, seen: set[str]) -> list[Any]:
        """The members of the interfaces that a class or interface names, and of those that they name."""
        found: list[Any] = []
        for named in () if interfaces is None else interfaces.children:
            if not isinstance(named, Tree):
                continue  # the colon
            name = str(named.children[-1])
            if name in seen:
                continue
            if name not in self.interfaces:
                raise QueryError(
                    f"there is no interface {name} in the text",
                    place=self.place(named),
                    hint="interface name { ... }; declares one; a class follows `extends`",
                )
            seen.add(name)
            above, members = self.interfaces[name]
            for member in members:
                if isinstance(member, Tree) and member.data == "relationship":
                    raise UnsupportedError(
                        "a relationship in an interface is not supported",
                        place=self.place(member),
                        hint="declare it in the classes",
                    )
            found += [*self.list_inherited(above, seen), *members]
        return found

    def attributes(self, tree: Any) -> list[WrittenAttribute]:
        readonly, written, *declarators = tree.children
        element = self.type(written)
        found = []
        for declarator in declarators:
            name, *dimensions, storage = declarator.children
            kept = "table" if storage is None else storage.lower()
            type = self.arrays(element, dimensions)
            found.append(WrittenAttribute(str(name), type, readonly is not None, self.place(name), kept))
        return found

    def relationship(self, tree: Any) -> WrittenRelationship:
        target, name, path = tree.children
        *kind, to = target.children
        named = self.read_scoped(to)
        *classes, inverse = path.children
        # "inverse dept" alone means the target's
        other = Named(str(classes[-1]) if classes else named.name, self.place(path.children[0]))
        written = kind[0].lower() if kind else "one"
        return WrittenRelationship(str(name), written, named, other, str(inverse), self.place(name))

    def operation(self, tree: Any) -> WrittenOperation:
        result, name, *rest = tree.children
        parameters: list[tuple[str, Written, Place]] = []
        for part in rest:
            if isinstance(part, Tree) and part.data == "parameter":
                direction, written, called = part.children
                if direction is not None and direction.lower() != "in":
                    raise QueryError(
                        f"operation {name}: operations have no side effects, so parameters are `in`",
                        place=self.place(direction),
                    )
                parameters.append((str(called), self.type(written), self.place(called)))
        if isinstance(result, Token):
            raise QueryError(
                f"operation {name} returns nothing, and operations have no side effects: it would do nothing",
                place=self.place(name),
                hint="give it a type",
            )
        return WrittenOperation(str(name), self.type(result), tuple(parameters), self.place(name))

    # --- definitions ---------------------------------------------------------------------------------------

    def definition(self, tree: Any) -> list[Definition]:
        """A typedef, an enumeration, a struct or a constant."""
        match tree:
            case Tree("typedef", [written, *declarators]):
                element = self.type(written)
                return [
                    Definition(
                        "type",
                        str(d.children[0]),
                        self.arrays(element, d.children[1:]),
                        self.place(d.children[0]),
                    )
                    for d in declarators
                ]
            case Tree("const", [_, name, value]):
                return [Definition("constant", str(name), self.constant(value), self.place(name))]
            case Tree("named_type", [word, name, content]):
                read = self.enumeration if content.data == "labels" else self.structure
                return [Definition("type", str(name), read(word, name, content), self.place(word))]
            case _:
                raise AssertionError(tree)

    # --- types ---------------------------------------------------------------------------------------------

    def type(self, tree: Any) -> Written:
        place = self.place(tree.children[0])
        match tree:
            case Tree("collection", [kind, element, _]):
                # The greatest size is not enforced by ODMG either.
                return Many(kind.lower(), self.type(element), place)
            case Tree("dictionary", [_, key, value]):
                return Dictionary(self.type(key), self.type(value), place)
            case Tree("sized", [word, *sizes]):
                found = tuple(self.constant(s) for s in sizes if s is not None)
                return Sized(word.lower(), found, place)
            case Tree("enumeration", [word, name, labels]):
                return self.enumeration(word, name, labels)
            case Tree("structure", [word, name, fields]):
                return self.structure(word, name, fields)
            case Tree("named_structure", [_, name]):
                return Named(str(name), place)
            case Tree("integer", words):
                return Named(" ".join(w.lower() for w in words if w is not None), self.place(tree))
            case _:
                return self.read_scoped(tree)

    def read_scoped(self, tree: Any) -> Named:
        """A name, perhaps with modules before it; the last part counts."""
        return Named(str(tree.children[-1]), self.place(tree))

    def arrays(self, element: Written, dimensions: Any) -> Written:
        """`attribute long lines[10]`: an array; its size is not kept."""
        for dimension in dimensions:
            element = Many("array", element, self.place(dimension.children[0]))
        return element

    def enumeration(self, word: Any, name: Any, labels: Any) -> Enumeration:
        found = tuple((str(label), self.place(label)) for label in labels.children)
        return Enumeration(None if name is None else str(name), found, self.place(word))

    def structure(self, word: Any, name: Any, fields: Any) -> Structure:
        members: list[tuple[str, Written, Place]] = []
        for field in fields.children:
            if field is None:
                continue
            written, *declarators = field.children
            element = self.type(written)
            for declarator in declarators:
                called, *dimensions = declarator.children
                members.append((str(called), self.arrays(element, dimensions), self.place(called)))
        return Structure(None if name is None else str(name), tuple(members), self.place(word))

    # --- constants -----------------------------------------------------------------------------------------

    def constant(self, tree: Any) -> Constant:
        match tree:
            case Tree("binary", [left, operator, right]):
                sign = ">>" if operator == ">" else str(operator)
                return Constant(sign, (self.constant(left), self.constant(right)), None, self.place(operator))
            case Tree("unary", [operator, of]):
                return Constant(str(operator), (self.constant(of),), None, self.place(operator))
            case Tree("number" | "text", [token]):
                value = self.literal(token)
            case Tree("boolean", [token]):
                value = token.lower() == "true"
            case Tree("name", names):
                return Constant("name", (), str(names[-1]), self.place(names[0]))
            case _:
                raise AssertionError(tree)
        return Constant("value", (), value, self.place(token))

    def literal(self, token: Any) -> object:
        try:
            return ast.literal_eval(token.lstrip("0") or "0" if token.isdigit() else token)
        except (SyntaxError, ValueError):
            raise QueryError("this constant cannot be read", place=self.place(token)) from None
