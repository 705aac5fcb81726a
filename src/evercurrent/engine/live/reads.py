"""Source that looks a state up.

`enter` opens the ifs and fors under which one entry at a time is at hand, and says how its columns, dependents,
accumulators and weight are read there.

    look up customers by id where id = o.customer as (c.city = city)      v1 = s2.get(r[1])
                                                                          if v1 is not None:
                                                                              ... v1[0] ...
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evercurrent.data.exact import value as exact_value
from evercurrent.data.types import Float
from evercurrent.delta.program import WEIGHT, Lookup, Span
from evercurrent.engine.live.layout import Layout, Path, float_column
from evercurrent.engine.live.scope import Scope
from evercurrent.term.emit.scope import key_of
from evercurrent.term.emit.writer import Namespace
from evercurrent.term.nodes import Column
from evercurrent.term.nullable import nullable


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry at hand: the sources of its columns by position, and of its payload."""

    layout: Layout
    columns: dict[int, str]
    payload: str


def read(entry: Entry, name: str, namespace: Namespace) -> str:
    """The source that reads a name of an entry."""
    layout = entry.layout
    for i, c in enumerate(layout.state.columns):
        if c.name == name:
            return entry.columns[i]
    if name == WEIGHT:
        if layout.state.unique:
            return "1"
        return entry.payload if layout.payload == "count" else f"{entry.payload}[0]"
    if layout.payload == "value":
        return entry.payload
    source = f"{entry.payload}[{layout.slots()[name]}]"
    accumulator = layout.accumulator(name)
    if accumulator is None:
        return source
    if accumulator.kind == "aggregate":
        return f"{source}.value()"
    if isinstance(accumulator.type, Float):
        return f"{namespace.define('exact_value', exact_value)}({source})"
    return source


def enter(
    scope: Scope,
    layout: Layout,
    names: Sequence[str],
    step: Lookup,
    namespace: Namespace,
    before: Span | None = None,
) -> None:
    """Open the blocks of a lookup; `names` are the identifiers of the layout's dictionaries.

    With the span of `before`, the entries that lie either in it or in the lookup's own.
    """
    _Reader(scope, layout, names, step, namespace, before).enter()


class _Reader:
    """One lookup being written."""

    def __init__(
        self,
        scope: Scope,
        layout: Layout,
        names: Sequence[str],
        step: Lookup,
        namespace: Namespace,
        before: Span | None,
    ) -> None:
        self.scope, self.layout, self.step, self.namespace = scope, layout, step, namespace
        self.before = before
        self.w = scope.writer
        by, span = [name for name, _ in step.match], step.span
        self.path = layout.path(by) if span is None else layout.path_in_order(by, span.key)
        self.name = names[layout.paths.index(self.path)]
        self.wanted = {name for name, _ in step.binds}
        self.guards: list[str] = []
        self.sources: dict[int, str] = {}

    def enter(self) -> None:
        self._match()
        if self.step.absent:
            self._absent()
        elif self.step.outer:
            self._outer()
        else:
            if self.guards:
                self.w.open(f"if {' and '.join(self.guards)}:")
            entry = self._find()
            for name, column in self.step.binds:
                self.scope.define(column.name, read(entry, name, self.namespace))

    def _match(self) -> None:
        """The sources of what is matched; NULL matches nothing, unless it is said to match NULL."""
        scope, fields = self.scope, self.layout.fields
        terms = {self.layout.position(name): term for name, term in self.step.match}
        scope.prepare(*terms.values())
        for i, term in terms.items():
            source = scope.expressions.value(term)
            if nullable(term) and fields[i].nullable and fields[i].name not in self.step.null_safe:
                source = scope.atom(source)
                self.guards.append(f"{source} is not None")
            elif fields[i].name in self.wanted or i not in self.path.key:
                source = scope.atom(source)
            self.sources[i] = source
        for name, term in self.step.match:  # a column that is matched twice: both terms must be equal
            i = self.layout.position(name)
            if terms[i] is not term:
                first, other = scope.atom(self.sources[i]), scope.atom(scope.value(term))
                self.sources[i] = first
                self.guards.append(same(first, other, fields[i]))

    # --- one entry at most ---------------------------------------------------------------------------------

    @property
    def _complete(self) -> bool:
        return self.layout.covers(self.sources)

    def _key(self) -> str:
        return key_of(self.sources[i] for i in self.path.key)

    def _extra(self, payload: str) -> list[str]:
        """Tests of matched dependents, where the entry was found by its columns."""
        tests = []
        for i in self.sources:
            if i not in self.path.key and i >= len(self.layout.state.columns):
                found = read(
                    Entry(self.layout, self.sources, payload), self.layout.fields[i].name, self.namespace
                )
                tests.append(same(found, self.sources[i], self.layout.fields[i]))
        return tests

    def _payload(self, condition: str = "") -> str:
        """Write the search for the one entry that has all columns; returns the local that holds its payload or None."""
        w, scope, path = self.w, self.scope, self.path
        payload = scope.fresh()
        unless = f" if {condition} else None" if condition else ""
        if path.kind == "flat":
            w.line(f"{payload} = {self.name}.get({self._key()}){unless}")
            return payload
        held, rest = scope.fresh(), key_of(self.sources[i] for i in path.rest)
        if len(path.rest) > 1:
            rest = scope.assign(rest)
        equal = f"{held}[0] == {rest}"
        if len(path.rest) == 1:
            equal = same(f"{held}[0]", rest, self.layout.fields[path.rest[0]])
        inline = f"{held}[1] if {equal} else None"
        if path.kind == "bucket":
            inline = f"{held}.get({rest}) if type({held}) is dict else {inline}"
        w.line(f"{held} = {self.name}.get({self._key()}){unless}")
        w.line(f"{payload} = None if {held} is None else {inline}")
        return payload

    def _presence_suffices(self) -> bool:
        """Whether nothing of the payload is read."""
        state = self.layout.state
        payload = {d.name for d in state.dependents} | {a.name for a in state.accumulators}
        if not state.unique:
            payload.add(WEIGHT)
        return (
            self.path.kind == "flat"
            and not self.layout.permanent
            and not self._extra("")
            and (self.step.present or not self.wanted & payload)
        )

    # --- the forms of a lookup -----------------------------------------------------------------------------

    def _find(self) -> Entry:
        w, scope, path, layout = self.w, self.scope, self.path, self.layout
        if self.step.span is not None:
            return self._range(self.step.span)
        if not self.sources and layout.state.columns:
            return self._every()
        if self._complete:
            if self._presence_suffices():
                w.open(f"if {self._key()} in {self.name}:")
                return Entry(layout, self.sources, "")
            payload = self._payload()
            # A scalar aggregate's entry stays when it has no rows, but then there is nothing to join with.
            alive = [f"{payload}[0]"] if layout.permanent else []
            w.open(f"if {' and '.join([f'{payload} is not None', *alive, *self._extra(payload)])}:")
            return Entry(layout, self.sources, payload)
        if self.step.present:
            w.open(f"if {self._key()} in {self.name}:")
            return Entry(layout, self.sources, "")
        held, rest, payload = scope.fresh(), scope.fresh(), scope.fresh()
        w.line(f"{held} = {self.name}.get({self._key()})")
        w.open(f"if {held} is not None:")
        if path.kind == "single":
            w.line(f"{rest}, {payload} = {held}")
        else:
            w.open(f"for {rest}, {payload} in {held}.items() if type({held}) is dict else ({held},):")
        return Entry(layout, {**self.sources, **_rest_columns(path, rest)}, payload)

    def _range(self, span: Span) -> Entry:
        """The entries in a range, or those that only one of two ranges has."""
        w, scope = self.w, self.scope
        key = self._key()
        w.open(f"if {key} in {self.name}:")  # with nothing to compare, a bound is not computed: it might fail
        ranges = [self._bounds(s) for s in (self.before, span) if s is not None]
        rest, payload = scope.fresh(), scope.fresh()
        how = "between" if self.before is None else "difference"
        w.open(f"for {rest}, {payload} in {self.name}.{how}({', '.join([key, *ranges])}):")
        return Entry(self.layout, {**self.sources, **_rest_columns(self.path, rest)}, payload)

    def _bounds(self, span: Span) -> str:
        """A range as two cuts (see `runtime.ordered_entries`); None if a bound is NULL."""
        cuts, unknown = [], []
        for bound, behind in ((span.low, True), (span.high, False)):
            if bound is None:
                cuts.append("None")
                continue
            source = self.scope.atom(self.scope.value(bound[0]))
            cuts.append(f"({source}, {1 if bound[1] is behind else 0})")
            if nullable(bound[0]):
                unknown.append(f"{source} is None")
        made = f"({', '.join(cuts)})"
        return f"None if {' or '.join(unknown)} else {made}" if unknown else made

    def _every(self) -> Entry:
        """Nothing is given: all entries."""
        w, scope, path = self.w, self.scope, self.path
        payload, key = scope.fresh(), scope.fresh()
        if self.step.present:
            w.open(f"if {self.name}:")
            return Entry(self.layout, {}, payload)
        keys = (
            {path.key[0]: key} if len(path.key) == 1 else {i: f"{key}[{j}]" for j, i in enumerate(path.key)}
        )
        if path.kind == "flat":
            w.open(f"for {key}, {payload} in {self.name}.items():")
            return Entry(self.layout, keys, payload)
        held, rest = scope.fresh(), scope.fresh()
        w.open(f"for {key}, {held} in {self.name}.items():")
        w.open(f"for {rest}, {payload} in {held}.items() if type({held}) is dict else ({held},):")
        return Entry(self.layout, {**keys, **_rest_columns(path, rest)}, payload)

    def _absent(self) -> None:
        """A row stays if nothing matches."""
        w, layout = self.w, self.layout
        unknown = [
            g.replace(" is not None", " is None") if g.endswith(" is not None") else f"not ({g})"
            for g in self.guards
        ]
        if not self.sources:
            w.open(f"if not {self.name}_cell[0]:" if layout.permanent else f"if not {self.name}:")
        elif self._complete and (self.path.kind != "flat" or self._extra("")):
            payload = self._payload(" and ".join(self.guards))
            missing = [f"{payload} is None", *(f"not {test}" for test in self._extra(payload))]
            w.open(f"if {' or '.join(missing)}:")
        else:
            w.open(f"if {' or '.join([*unknown, f'{self._key()} not in {self.name}'])}:")

    def _outer(self) -> None:
        """A row without a match stays, and what would be bound is NULL."""
        w, scope, path = self.w, self.scope, self.path
        condition = " and ".join(self.guards)
        names = {name: scope.fresh() for name, column in self.step.binds if scope.uses[column.name]}
        if self._complete:
            found = payload = self._payload(condition)
            entry = Entry(self.layout, self.sources, payload)
        else:
            assert path.kind == "single", self.layout.state.name
            found, rest, payload = scope.fresh(), scope.fresh(), scope.fresh()
            unless = f" if {condition} else None" if condition else ""
            w.line(f"{found} = {self.name}.get({self._key()}){unless}")
            entry = Entry(self.layout, {**self.sources, **_rest_columns(path, rest)}, payload)
        extra = self._extra(payload) if self._complete else []
        if names:
            with w.block(f"if {' and '.join([f'{found} is not None', *extra])}:"):
                if not self._complete:
                    w.line(f"{rest}, {payload} = {found}")
                for name, local in names.items():
                    w.line(f"{local} = {read(entry, name, self.namespace)}")
            with w.block("else:"):
                w.line(f"{' = '.join(names.values())} = None")
        for name, column in self.step.binds:
            scope.define(column.name, names.get(name, "None"))


def same(a: str, b: str, column: Column) -> str:
    """Equality of two values of a column; NaN is found by identity."""
    return f"({a} == {b} or {a} is {b})" if float_column([column]) else f"{a} == {b}"


def _rest_columns(path: Path, rest: str) -> dict[int, str]:
    if len(path.rest) == 1:
        return {path.rest[0]: rest}
    return {i: f"{rest}[{j}]" for j, i in enumerate(path.rest)}
