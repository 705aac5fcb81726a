"""Rules as generated loops over lists of rows.

A lookup is made for all keys of a delta at once, so a rule falls into parts: what leads to the keys of a lookup, and what
follows from the entries that were found. Each part is one function, one loop around all of its steps:

    def part(rows, keys, found):            # with the entries of one lookup, to the keys of the next
        for r, k in zip(rows, keys):
            for e in found.get(k, ()):
                if e[1] < r[2]:
                    ask((e[0],))
                    put((r[0], r[3], e[2]))

The last part adds to a state, to a relation or to a list. Of a row only what later parts read is carried on. Names of
relations and columns are never source: columns are read by position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, assert_never

from evercurrent.data.types import Map
from evercurrent.data.zset import Row
from evercurrent.delta.program import Amount, Explode, Let, Lookup, Rule, Step, Where
from evercurrent.delta.terms import read_by
from evercurrent.engine.spark.kernel.entry_columns import Reading, reading
from evercurrent.engine.spark.kernel.generated_code import Source, compile_once
from evercurrent.engine.spark.storage.file_schema import Shape
from evercurrent.term.emit.scope import Locals, Scope, tuple_of
from evercurrent.term.emit.writer import remark
from evercurrent.term.nodes import Column, Term
from evercurrent.term.nullable import nullable
from evercurrent.term.walk import nodes


@dataclass(frozen=True, slots=True)
class Part:
    """A function, and the lookup that it makes keys for, with how entries are read; the last part has none."""

    function: Callable[..., Any]
    lookup: Lookup | None
    reading: Reading | None


def loops(rule: Rule, names: Sequence[str], shapes: Mapping[str, Shape], adding: bool) -> list[Part]:
    """The parts of a rule over rows of these columns and the weight; compiled once.

    With `adding`, the results are added up in a dictionary (unless they are added to a state); otherwise they are listed.
    """
    states = {s.state: shapes[s.state] for s in rule.steps if isinstance(s, Lookup)}
    if rule.into in shapes:
        states[rule.into] = shapes[rule.into]
    made_of = (rule, *(s.state for s in states.values()))
    return compile_once(
        made_of,
        (tuple(names), adding),
        lambda source: _Loops(rule, states, adding, source).compile((*names, rule.weight.name)),
    )


class _Loops:
    """Writes the parts of one rule."""

    def __init__(self, rule: Rule, shapes: Mapping[str, Shape], adding: bool, source: Source) -> None:
        self.rule = rule
        self.shapes = shapes
        self.adding = adding
        self.source = source
        self.writer = source.writer
        self.namespace = source.namespace

    def compile(self, names: Sequence[str]) -> list[Part]:
        asked: list[Lookup | None] = [s for s in self.rule.steps if isinstance(s, Lookup)]
        asked.append(None)
        before: Lookup | None = None
        for number, (steps, lookup) in enumerate(zip(_runs(self.rule.steps), asked, strict=True)):
            names = self.part(number, names, before, steps, lookup)
            before = lookup
        objects = self.source.load(f"from {remark(self.rule.on)} to {remark(self.rule.into)}")
        functions = [objects[f"part{number}"] for number in range(len(asked))]
        return [
            Part(f, s, None if s is None else self.reading(s)) for f, s in zip(functions, asked, strict=True)
        ]

    def reading(self, lookup: Lookup) -> Reading:
        return reading(self.shapes[lookup.state], [name for name, _ in lookup.binds])

    # --- one part ------------------------------------------------------------------------------------------

    def part(
        self,
        number: int,
        names: Sequence[str],
        before: Lookup | None,
        steps: Sequence[Step],
        lookup: Lookup | None,
    ) -> Sequence[str]:
        """Write a part over rows of these columns; returns the columns of the rows that it carries on."""
        last = lookup is None
        ends = _ends(self.rule) if lookup is None else read_by(lookup)
        later = {} if lookup is None else _columns(self.terms_after(lookup))
        w = self.writer
        scope = Scope(
            w, self.namespace, Locals(), [*(t for s in steps for t in read_by(s)), *ends, *later.values()]
        )
        for i, name in enumerate(names):
            scope.define(name, f"r[{i}]")
        state = self.shapes.get(self.rule.into) if last else None
        w.line()
        w.open(f"def part{number}(rows, keys, found{', into, bags' if last else ''}):")
        if not last:
            w.line("out, asked = [], []")
            w.line("put, ask = out.append, asked.append")
        elif state is not None:
            for i in state.bags:
                w.line(f"bag{i} = bags[{i}]")
        self.enter(scope, before)
        for step in steps:
            self.step(scope, step)
        if lookup is not None:
            names = self.ask(scope, lookup, list(names), later)
        elif state is not None:
            self.add(scope, state)
        else:
            self.give(scope)
        w.close(0)
        if not last:
            w.line("    return out, asked")
        return names

    def terms_after(self, lookup: Lookup) -> list[Term]:
        at = next(i for i, s in enumerate(self.rule.steps) if s is lookup)
        return [*(t for s in self.rule.steps[at + 1 :] for t in read_by(s)), *_ends(self.rule)]

    def enter(self, scope: Scope, before: Lookup | None) -> None:
        """The loops over rows, and over the entries that a lookup has found for each."""
        w = self.writer
        if before is None:
            w.open("for r in rows:")
            return
        w.open("for r, k in zip(rows, keys):")
        if before.absent or before.present:
            w.open(f"if k {'in' if before.present else 'not in'} found:")
            return
        read = self.reading(before)
        none = self.namespace.bind(((None,) * read.width,), "c") if before.outer else "()"
        w.open(f"for e in found.get(k, {none}):")
        for name, column in before.binds:
            scope.define(column.name, f"e[{read.positions[name]}]")

    def step(self, scope: Scope, step: Step) -> None:
        if self.writer.crowded:
            self.writer.cut(self.namespace.number("rest"))
        match step:
            case Where(condition):
                test = scope.true(condition)
                if test != "True":
                    self.writer.open(f"if {test}:")
            case Let(column, term):
                scope.sources[column.name] = scope.atom(scope.value(term))
            case Explode(collection, items):
                function = self.namespace.bind(elements(step), "f")
                name = scope.fresh()
                self.writer.open(f"for {name} in {function}({scope.value(collection)}):")
                for i, item in enumerate(items):
                    scope.define(item.name, f"{name}[{i}]")
            case Lookup():
                raise AssertionError("a lookup stands between parts")
            case _:
                assert_never(step)

    def ask(
        self, scope: Scope, lookup: Lookup, names: list[str], later: Mapping[str, Column]
    ) -> Sequence[str]:
        """The key of a lookup, and what of the row is read later; NULL equals nothing."""
        terms = [t for _, t in lookup.match]
        sources = scope.values(terms)
        tests = []
        for i, (name, term) in enumerate(lookup.match):
            if nullable(term) and name not in lookup.null_safe:
                sources[i] = scope.atom(sources[i])
                tests.append(f"{sources[i]} is not None")
        key = tuple_of(sources)
        if tests and (lookup.absent or lookup.outer):
            key = f"{key} if {' and '.join(tests)} else None"
        elif tests:
            self.writer.open(f"if {' and '.join(tests)}:")
        self.writer.line(f"ask({key})")
        needed = [n for n in later if n in scope.sources]
        if all(n in names for n in needed):
            self.writer.line("put(r)")
            return names
        self.writer.line(f"put({tuple_of(scope.sources[n] for n in needed)})")
        return needed

    # --- the end -------------------------------------------------------------------------------------------

    def give(self, scope: Scope) -> None:
        """Into a relation: rows with their weights, added up or listed."""
        *columns, count = scope.values((*self.rule.columns, self.rule.count))
        if not self.adding:
            self.writer.line(f"into.append(({tuple_of(columns)}, {count}))")
            return
        self.writer.line(f"key = {tuple_of(columns)}")
        self.writer.line(f"into[key] = into.get(key, 0) + {count}")

    def add(self, scope: Scope, shape: Shape) -> None:
        """Into a state: the weight, sums, and values of bags."""
        rule, w = self.rule, self.writer
        sums = list(shape.sums)
        always = [t for a in rule.amounts if a.where is None for t in _amount(a)]
        scope.prepare(*rule.columns, *rule.dependents, rule.count, *always)
        w.line(f"key = {tuple_of(scope.values((*rule.columns, *rule.dependents)))}")
        w.line("totals = into.get(key)")
        with w.block("if totals is None:"):
            w.line(f"totals = into[key] = [{', '.join(['0'] * (1 + len(sums)))}]")
        w.line(f"totals[0] += {scope.value(rule.count)}")
        if shape.bags:
            w.line(f"entry = key[:{len(rule.columns)}]" if rule.dependents else "entry = key")
        groups: dict[Term | None, list[int]] = {}
        for i, a in enumerate(rule.amounts):
            groups.setdefault(a.where, []).append(i)
        for where, amounts in groups.items():
            if where is None:
                self.amounts(scope, amounts, sums)
                continue
            test = scope.true(where)
            inner = scope.fork()  # what only these rows compute is not there for others
            with w.block(f"if {test}:"):
                self.amounts(inner, amounts, sums)

    def amounts(self, scope: Scope, amounts: Sequence[int], sums: Sequence[int]) -> None:
        w = self.writer
        for i in amounts:
            a = self.rule.amounts[i]
            if i in sums:
                w.line(f"totals[{1 + sums.index(i)}] += {scope.value(a.args[0])}")
                continue
            assert a.weight is not None
            *values, weight = scope.values((*a.args, a.weight))
            w.line(f"bag, value = bag{i}.get(entry), {tuple_of(values)}")
            with w.block("if bag is None:"):
                w.line(f"bag = bag{i}[entry] = {{}}")
            w.line(f"bag[value] = bag.get(value, 0) + {weight}")


def _runs(steps: Iterable[Step]) -> list[list[Step]]:
    """The steps between lookups."""
    runs: list[list[Step]] = [[]]
    for step in steps:
        if isinstance(step, Lookup):
            runs.append([])
        else:
            runs[-1].append(step)
    return runs


def _ends(rule: Rule) -> tuple[Term, ...]:
    conditions = (a.where for a in rule.amounts if a.where is not None)
    amounts = (t for a in rule.amounts for t in _amount(a))
    return (*rule.columns, rule.count, *rule.dependents, *conditions, *amounts)


def _amount(a: Amount) -> tuple[Term, ...]:
    return a.args if a.weight is None else (*a.args, a.weight)


def _columns(terms: Iterable[Term]) -> dict[str, Column]:
    return {c.name: c for t in terms for c in nodes(t) if isinstance(c, Column)}


def elements(step: Explode) -> Callable[[Any], list[Row]]:
    """From a collection to the values that stand beside a row, element by element."""
    width, ordinal = len(step.elements), step.ordinal
    a_map = isinstance(step.collection.type, Map)
    nothing: list[Row] = [(None,) * width] if step.outer else []
    missing = (None,) * (width - ordinal)

    def list_elements(collection: Any) -> list[Row]:
        if not collection:
            return nothing
        items: list[Row]
        if a_map:
            items = [tuple(item) for item in collection.items()]
        elif step.inline:
            items = [missing if item is None else item for item in collection]
        else:
            items = [(item,) for item in collection]
        return [(i, *item) for i, item in enumerate(items)] if ordinal else items

    return list_elements
