"""ODL text to syntax, by recursive descent.

Keywords are words in any case; every other name is as it is written.

>>> parse("class dept (extent Depts key name) { attribute string name; };").classes[0].extent
'Depts'
"""

from __future__ import annotations

from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.frontend.odl.reading import Reading
from evercurrent.frontend.odl.syntax import (
    Definition,
    Named,
    Text,
    Written,
    WrittenAttribute,
    WrittenClass,
    WrittenOperation,
    WrittenRelationship,
)
from evercurrent.source import Place


def parse(text: str) -> Text:
    """The classes and definitions of a text."""
    return Parser(text).text()


class Parser(Reading):
    """One text."""

    def text(self) -> Text:
        classes: list[WrittenClass] = []
        definitions: list[Definition] = []
        self.definitions("", classes, definitions)
        if not classes and not definitions:
            raise QueryError("there is no class in the text", hint="class name (extent names) { ... };")
        return Text(tuple(classes), tuple(definitions))

    def definitions(self, module: str, classes: list[WrittenClass], found: list[Definition]) -> None:
        """Definitions up to the end of the text or of the module."""
        while self.token.kind != "end" and not self.at("}"):
            if self.accept(";"):
                continue
            if self.at("module"):
                self.next()
                name = self.name("a module")[0]
                self.expect("{")
                self.definitions(name, classes, found)
                self.expect("}")
                self.accept(";")
            elif self.at("class"):
                classes.append(self.class_(module))
            elif self.at("interface"):
                raise UnsupportedError(
                    "interfaces are not built",
                    place=self.token.place,
                    hint="declare a class without an extent",
                )
            elif (definition := self.definition()) is not None:
                found += definition
            else:
                raise self.wrong("a class, typedef, struct, enum, const or module")

    # --- classes -------------------------------------------------------------------------------------------

    def class_(self, module: str) -> WrittenClass:
        self.next()
        name, place = self.name("a class")
        parent = None
        if self.accept("extends"):
            parent = self.scoped("a class")
            if self.at(","):
                raise UnsupportedError(
                    "a class extends one class",
                    place=self.token.place,
                    hint="ODL has single inheritance of classes",
                )
        if self.at(":"):
            raise UnsupportedError("interfaces are not built", place=self.token.place)
        extent, keys = None, []
        if self.accept("("):
            while not self.accept(")"):
                if self.accept("extent"):
                    extent = self.name("an extent")[0]
                elif self.at("key") or self.at("keys"):
                    self.next()
                    keys = [self.key()]
                    while self.accept(","):
                        keys.append(self.key())
                else:
                    raise self.wrong("extent, key or )")
        members: list[WrittenAttribute | WrittenRelationship | WrittenOperation] = []
        definitions: list[Definition] = []
        self.expect("{")
        while not self.accept("}"):
            self.member(members, definitions)
        self.accept(";")
        return WrittenClass(
            name, module, parent, extent, tuple(keys), tuple(members), tuple(definitions), place
        )

    def key(self) -> tuple[str, ...]:
        if not self.accept("("):
            return (self.name("an attribute")[0],)
        names = [self.name("an attribute")[0]]
        while self.accept(","):
            names.append(self.name("an attribute")[0])
        self.expect(")")
        return tuple(names)

    def member(
        self,
        members: list[WrittenAttribute | WrittenRelationship | WrittenOperation],
        definitions: list[Definition],
    ) -> None:
        readonly = self.accept("readonly")
        if self.accept("attribute"):
            members += self.attributes(readonly)
        elif readonly:
            raise self.wrong("attribute")
        elif self.accept("relationship"):
            members.append(self.relationship())
        elif (found := self.definition()) is not None:
            definitions += found
        elif not self.accept(";"):
            members.append(self.operation())

    def attributes(self, readonly: bool) -> list[WrittenAttribute]:
        written = self.type()
        found = []
        while True:
            name, place = self.name("an attribute")
            found.append(WrittenAttribute(name, self.arrays(written), readonly, place, self.keeping()))
            if not self.accept(","):
                break
        self.expect(";")
        return found

    def keeping(self) -> str:
        """`kept as array`, an extension: a collection inside its owner's row."""
        if not self.accept("kept"):
            return "table"
        self.expect("as")
        if not (self.at("array") or self.at("table")):
            raise self.wrong("array or table")
        return self.next().text.lower()

    def relationship(self) -> WrittenRelationship:
        kind = "one"
        if self.token.text.lower() in ("set", "bag", "list", "array", "sequence") and self.ahead("<"):
            kind = self.next().text.lower()
            self.expect("<")
            target = self.scoped("a class")
            self.close()
        else:
            target = self.scoped("a class")
        name, place = self.name("a relationship")
        self.expect("inverse")
        start = self.token.place
        parts = [self.name("a class")[0]]
        while self.accept("::"):
            parts.append(self.name("a relationship")[0])
        if len(parts) == 1:
            # "inverse dept" alone means the target's
            other = Named(target.name, start)
        else:
            other = Named(parts[-2], start)
        self.expect(";")
        return WrittenRelationship(name, kind, target, other, parts[-1], place)

    def operation(self) -> WrittenOperation:
        self.accept("oneway")
        written = None if self.accept("void") else self.type()
        name, place = self.name("an operation")
        self.expect("(")
        parameters: list[tuple[str, Written, Place]] = []
        while not self.accept(")"):
            if self.at("out") or self.at("inout"):
                raise QueryError(
                    f"operation {name}: operations have no side effects, so parameters are `in`",
                    place=self.token.place,
                )
            self.accept("in")
            given = self.type()
            called, where = self.name("a parameter")
            parameters.append((called, given, where))
            if not self.at(")"):
                self.expect(",")
        for clause in ("raises", "context"):
            if self.accept(clause):
                self.expect("(")
                while not self.accept(")"):
                    self.next()
        self.expect(";")
        if written is None:
            raise QueryError(
                f"operation {name} returns nothing, and operations have no side effects: it would do nothing",
                place=place,
                hint="give it a type",
            )
        return WrittenOperation(name, written, tuple(parameters), place)
