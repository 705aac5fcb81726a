"""Tokens, types and constants: what the parser of classes is made of."""

from __future__ import annotations

import ast

from evercurrent.errors import QueryError
from evercurrent.frontend.odl.syntax import (
    Constant,
    Definition,
    Dictionary,
    Enumeration,
    Many,
    Named,
    Sized,
    Structure,
    Written,
)
from evercurrent.frontend.odl.tokens import Token, tokenize
from evercurrent.source import Place

COLLECTIONS = ("set", "bag", "list", "array", "sequence")
LEVELS: tuple[tuple[str, ...], ...] = (("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*", "/", "%"))


class Reading:
    """A position in the tokens of a text."""

    def __init__(self, text: str) -> None:
        self.tokens = tokenize(text)
        self.position = 0

    # --- tokens --------------------------------------------------------------------------------------------

    @property
    def token(self) -> Token:
        return self.tokens[self.position]

    def next(self) -> Token:
        token = self.token
        if token.kind == "end":
            raise QueryError("the text ends too early", place=token.place)
        self.position += 1
        return token

    def at(self, text: str) -> bool:
        token = self.token
        return token.text.lower() == text and token.kind in ("name", "sign")

    def ahead(self, text: str) -> bool:
        return self.tokens[min(self.position + 1, len(self.tokens) - 1)].text == text

    def accept(self, text: str) -> bool:
        if self.at(text):
            self.position += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.wrong(repr(text))

    def close(self) -> None:
        """The `>` that ends a type; of `>>` one half."""
        if self.at(">>"):
            place = self.token.place
            rest = Token("sign", ">", Place(place.text, place.start + 1, place.end))
            self.tokens[self.position] = rest
        else:
            self.expect(">")

    def name(self, what: str) -> tuple[str, Place]:
        token = self.token
        if token.kind != "name":
            raise self.wrong(f"the name of {what}")
        self.position += 1
        return token.text, token.place

    def scoped(self, what: str) -> Named:
        """A name, perhaps with modules before it; the last part counts."""
        name, place = self.name(what)
        while self.accept("::"):
            name, end = self.name(what)
            place = Place(place.text, place.start, end.end)
        return Named(name, place)

    def wrong(self, wanted: str) -> QueryError:
        token = self.token
        found = "the end of the text" if token.kind == "end" else repr(token.text)
        return QueryError(f"{wanted} is expected here, not {found}", place=token.place)

    # --- types ---------------------------------------------------------------------------------------------

    def type(self) -> Written:
        token = self.token
        word = token.text.lower() if token.kind == "name" else ""
        if word in COLLECTIONS:
            return self.collection()
        if word == "dictionary":
            self.next()
            self.expect("<")
            key = self.type()
            self.expect(",")
            value = self.type()
            self.close()
            return Dictionary(key, value, token.place)
        if word == "string" and self.ahead("<"):
            self.next()
            self.next()
            size = self.constant(len(LEVELS) - 2)
            self.close()
            return Sized("string", (size,), token.place)
        if word == "decimal" and self.ahead("("):
            self.next()
            self.next()
            sizes = [self.constant()]
            if self.accept(","):
                sizes.append(self.constant())
            self.expect(")")
            return Sized("decimal", tuple(sizes), token.place)
        if word == "enum":
            return self.enumeration()
        if word == "struct":
            return self.structure()
        if word in ("unsigned", "long", "short"):
            return self.integer()
        return self.scoped("a type")

    def collection(self) -> Many:
        token = self.next()
        self.expect("<")
        element = self.type()
        if self.accept(","):
            self.constant(len(LEVELS) - 2)  # the greatest size of a sequence is not enforced by ODMG either
        self.close()
        return Many(token.text.lower(), element, token.place)

    def integer(self) -> Named:
        first = self.token.place
        words: list[str] = []
        while self.token.text.lower() in ("unsigned", "long", "short") and self.token.kind == "name":
            if words and words[-1] == "short":
                break
            words.append(self.token.text.lower())
            self.position += 1
            if words.count("long") == 2:
                break
        end = self.tokens[self.position - 1].place.end
        return Named(" ".join(words), Place(first.text, first.start, end))

    def arrays(self, element: Written) -> Written:
        """`attribute long lines[10]`: an array; its size is not kept."""
        while self.at("["):
            place = self.next().place
            if not self.at("]"):
                self.constant()
            self.expect("]")
            element = Many("array", element, place)
        return element

    def enumeration(self) -> Enumeration:
        place = self.next().place
        name = self.next().text if self.token.kind == "name" else None
        self.expect("{")
        labels = [self.name("a label")]
        while self.accept(","):
            labels.append(self.name("a label"))
        self.expect("}")
        return Enumeration(name, tuple(labels), place)

    def structure(self) -> Written:
        place = self.next().place
        name = self.next().text if self.token.kind == "name" else None
        if name is not None and not self.at("{"):
            return Named(name, place)
        self.expect("{")
        members: list[tuple[str, Written, Place]] = []
        while not self.accept("}"):
            written = self.type()
            while True:
                called, where = self.name("a member")
                members.append((called, self.arrays(written), where))
                if not self.accept(","):
                    break
            if not self.at("}"):
                self.expect(";")
        return Structure(name, tuple(members), place)

    # --- definitions ---------------------------------------------------------------------------------------

    def definition(self) -> list[Definition] | None:
        """A typedef, an enumeration, a struct or a constant."""
        if self.accept("typedef"):
            written = self.type()
            found = []
            while True:
                name, place = self.name("a type")
                found.append(Definition("type", name, self.arrays(written), place))
                if not self.accept(","):
                    break
            self.expect(";")
            return found
        if self.accept("const"):
            self.type()
            name, place = self.name("a constant")
            self.expect("=")
            value = self.constant()
            self.expect(";")
            return [Definition("constant", name, value, place)]
        if self.at("enum") or self.at("struct"):
            what = self.type()
            if not isinstance(what, Enumeration | Structure) or what.name is None:
                raise self.wrong("the name of the type, and {")
            self.accept(";")
            return [Definition("type", what.name, what, what.place)]
        return None

    # --- constants -----------------------------------------------------------------------------------------

    def constant(self, level: int = 0) -> Constant:
        if level == len(LEVELS):
            return self.operand()
        left = self.constant(level + 1)
        while self.token.kind == "sign" and self.token.text in LEVELS[level]:
            token = self.next()
            left = Constant(token.text, (left, self.constant(level + 1)), None, token.place)
        return left

    def operand(self) -> Constant:
        token = self.next()
        if token.text == "(":
            inner = self.constant()
            self.expect(")")
            return inner
        if token.text in ("-", "+", "~") and token.kind == "sign":
            return Constant(token.text, (self.operand(),), None, token.place)
        if token.kind == "number":
            plain = token.text.isdigit()
            return Constant("value", (), int(token.text) if plain else float(token.text), token.place)
        if token.kind == "text":
            return Constant("value", (), ast.literal_eval(token.text), token.place)
        if token.text.lower() in ("true", "false"):
            return Constant("value", (), token.text.lower() == "true", token.place)
        if token.kind == "name":
            name = token.text
            while self.accept("::"):
                name = self.name("a constant")[0]
            return Constant("name", (), name, token.place)
        raise QueryError("a number, a text or the name of a constant is expected here", place=token.place)
