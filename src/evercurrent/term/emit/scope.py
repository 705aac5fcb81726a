"""The names that are in scope while a rule is written, and what is worth a local.

A column is read where it is needed: in place if it is needed once, into a local before its first use otherwise (so a
filter that fails has read nothing in vain). A subterm that stands in several places and is evaluated in any case is
computed once. Steps of a rule are nested, so what an earlier step has put into a local is there for all later ones.

>>> from evercurrent.data.types import INT
>>> from evercurrent.term.build import call
>>> a = Column("a", INT, False)
>>> square = call("mul", a, a)
>>> writer = Writer()
>>> scope = Scope(writer, Namespace(), Locals(), [square])
>>> scope.define("a", "r[0]")
>>> value = scope.value(square)
>>> print(writer.text())
v1 = r[0]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from copy import copy
from typing import Self

from evercurrent.term.emit.code import is_atom
from evercurrent.term.emit.expressions import Expressions
from evercurrent.term.emit.writer import Namespace, Writer
from evercurrent.term.failing import can_fail
from evercurrent.term.nodes import Call, Case, Cast, Column, Lambda, Literal, Term, Variable
from evercurrent.term.nullable import nullable
from evercurrent.term.walk import children, nodes


class Locals:
    """Fresh names for the locals of one function."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> str:
        self.count += 1
        return f"v{self.count}"


class Scope:
    """Columns in scope, as sources; `terms` are all terms that will be written, to know what is needed how often."""

    def __init__(self, writer: Writer, namespace: Namespace, fresh: Locals, terms: Iterable[Term]) -> None:
        self.writer = writer
        self.fresh = fresh
        self.sources: dict[str, str] = {}
        self.pending: set[str] = set()
        self.expressions = Expressions(namespace, self.sources, fresh)
        self.uses: Counter[str] = Counter()
        self.seen: Counter[Term] = Counter()
        for term in terms:
            for node in nodes(term):
                if isinstance(node, Column):
                    # A column that may be NULL is tested before a function reads it.
                    self.uses[node.name] += 1 + (node.nullable and node is not term)
                elif not isinstance(node, Literal | Variable | Lambda):
                    self.seen[node] += 1

    def define(self, name: str, source: str) -> None:
        """A column of this name is read by this source; it costs something unless it is an identifier."""
        self.sources[name] = source
        if self.uses[name] > 1 and not source.isidentifier() and not _is_constant(source):
            self.pending.add(name)

    def prepare(self, *terms: Term) -> None:
        """Write locals for what the terms share with others or read more than once."""
        self.prepare_columns(*terms)
        for term in terms:
            for shared in list(self._find_shared(term, 1)):
                self.keep(shared)

    def keep(self, term: Term) -> None:
        """Write a local for the value of a term; all that is written later in this scope reads it."""
        if term not in self.expressions.known:
            name = self.atom(self.expressions.value(term))
            self.expressions.known[term] = self.expressions.atom(name, nullable(term))

    def fork(self) -> Self:
        """The same scope for one of several branches: what it adds is not there for the others."""
        other = copy(self)
        other.sources = dict(self.sources)
        other.pending = set(self.pending)
        other.expressions = Expressions(self.expressions.namespace, other.sources, self.fresh)
        other.expressions.known = dict(self.expressions.known)
        other.expressions.trusted = self.expressions.trusted
        return other

    def prepare_named(self, names: Iterable[str]) -> None:
        """Write locals for columns, by name."""
        for name in names:
            if name in self.pending:
                self.pending.discard(name)
                self.sources[name] = self.assign(self.sources[name])

    def prepare_columns(self, *terms: Term) -> None:
        """Write locals for the columns of the terms that are read more than once."""
        for term in terms:
            for node in nodes(term):
                if isinstance(node, Column) and node.name in self.pending:
                    self.pending.discard(node.name)
                    self.sources[node.name] = self.assign(self.sources[node.name])

    def _find_shared(self, t: Term, enclosing: int, reached: bool = True) -> Iterator[Term]:
        """Subterms that are evaluated in any case and stand in more places than what encloses them.

        A strict function does not look at what follows a NULL (then this is not `reached`): what could fail stays there.
        """
        if t in self.expressions.known or isinstance(t, Literal | Column | Variable | Lambda):
            return
        count = self.seen[t]
        inner = count if count > enclosing else enclosing
        match t:
            case Call("and" | "or" | "coalesce", args):
                yield from self._find_shared(args[0], inner, reached)
            case Case(branches):
                yield from self._find_shared(branches[0][0], inner, reached)
            case _:
                known = reached
                for child in children(t):
                    yield from self._find_shared(child, inner, known)
                    known = known and not nullable(child)
        if count > enclosing and not self._trivial(t) and (reached or not can_fail(t)):
            yield t

    def _trivial(self, t: Term) -> bool:
        """Casts that change nothing, products with a constant: writing them twice costs nothing."""
        return isinstance(t, Cast) and is_atom(self.expressions.value(t))

    def assign(self, source: str) -> str:
        name = self.fresh()
        self.writer.line(f"{name} = {source}")
        return name

    # --- writing terms -------------------------------------------------------------------------------------

    def value(self, term: Term) -> str:
        self.prepare(term)
        return self.expressions.value(term)

    def values(self, terms: Iterable[Term]) -> list[str]:
        terms = tuple(terms)
        self.prepare(*terms)
        return [self.expressions.value(t) for t in terms]

    def true(self, term: Term) -> str:
        self.prepare(term)
        return self.expressions.true(term)

    def atom(self, source: str) -> str:
        """A source that can be written many times."""
        return source if source.isidentifier() or _is_constant(source) else self.assign(source)


def _is_constant(source: str) -> bool:
    return source.strip("()-").isdigit()


def tuple_of(sources: Iterable[str]) -> str:
    """A tuple display.

    >>> tuple_of(["a"]), tuple_of(["a", "b"]), tuple_of([])
    ('(a,)', '(a, b)', '()')
    """
    parts = list(sources)
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def key_of(sources: Iterable[str]) -> str:
    """A key: the bare value of one column, a tuple of several."""
    parts = list(sources)
    return parts[0] if len(parts) == 1 else tuple_of(parts)
