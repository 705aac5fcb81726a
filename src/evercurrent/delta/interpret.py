"""The meaning of a program, by interpretation: slow, direct, for tests of derivations apart from any engine.

It follows the laws of `program` word for word. Fixpoints are left to the engines (and to the reference evaluator of the
calculus): their meaning is not a matter of one pass over the relations.

>>> from evercurrent.data.zset import ZSet
>>> Interpreter(Program((), ())).apply({})
{}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, assert_never

from evercurrent.calculus.windows import choose_first, order_of, total_order, window_values
from evercurrent.data import exact
from evercurrent.data.types import Float, Map
from evercurrent.data.zset import Row, ZSet
from evercurrent.delta.program import (
    WEIGHT,
    Explode,
    Finalize,
    Fixpoint,
    Input,
    Keyed,
    Let,
    Linear,
    Lookup,
    Program,
    Ranked,
    Rule,
    State,
    Step,
    Where,
    Windowed,
)
from evercurrent.errors import UnsupportedError
from evercurrent.term.aggregates import evaluate_aggregate
from evercurrent.term.evaluate import Environment, evaluate
from evercurrent.term.nodes import Term

Scope = dict[str, Any]


class Entry:
    """Weight, dependents, and for each accumulator the Z-set of what was added (a number for exact sums)."""

    def __init__(self, state: State, dependents: Row) -> None:
        self.weight = 0
        self.dependents = dependents
        self.sums: list[Any] = [ZSet() if is_bag(state, i) else 0 for i in range(len(state.accumulators))]


class Listed:
    """The rows of an ordered state (see `ranges`), and what is read of them: by looking at each."""

    def __init__(self, rows: ZSet) -> None:
        self.rows = rows

    def above(self, i: int, low: Any, is_open: bool) -> int:
        return self.total(i, lambda order: order > 0 or (order == 0 and not is_open), low)

    def below(self, i: int, high: Any, is_open: bool) -> int:
        return self.total(i, lambda order: order < 0 or (order == 0 and not is_open), high)

    def within(self, i: int, low: Any, low_open: bool, high: Any, high_open: bool) -> int:
        chosen = [(x, w) for x, w in self.rows.items() if Listed(ZSet([(x, 1)])).above(0, low, low_open)]
        return Listed(ZSet(chosen)).below(i, high, high_open)

    def total(self, i: int, chosen: Callable[[int], bool], bound: Any) -> int:
        def order(x: Any) -> int:  # NaN is greater than every number
            left, right = (x != x, 0 if x != x else x), (bound != bound, 0 if bound != bound else bound)
            return (left > right) - (left < right)

        return sum(w * (x[i] if i else 1) for x, w in self.rows.items() if chosen(order(x[0])))


def is_bag(state: State, i: int) -> bool:
    return state.accumulators[i].kind == "aggregate"


def is_scalar(reader: Keyed) -> bool:
    return isinstance(reader.function, Finalize) and reader.function.scalar


class Interpreter:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.states: dict[str, dict[Row, Entry]] = {s.name: {} for s in program.states}
        self.deltas: dict[str, ZSet] = {}
        self.touched: dict[str, dict[Row, ZSet]] = {}
        constants = {
            r.name: ZSet.of(r.rows) for r in program.relations if isinstance(r, Input) and r.rows is not None
        }
        self.readers = [r for r in program.relations if isinstance(r, Keyed)]
        self.started = False
        self.apply(constants)
        self.started = True

    def apply(self, deltas: Mapping[str, ZSet]) -> dict[str, ZSet]:
        """One transaction; the delta of every relation."""
        self.deltas = {r.name: ZSet() for r in self.program.relations}
        self.touched = {r.name: {} for r in self.readers}
        if not self.started:  # law L12
            self.touched |= {r.name: {(): ZSet()} for r in self.readers if is_scalar(r)}
        result: dict[str, ZSet] = {}
        for name, delta in deltas.items():
            self.deltas[name] = delta
        inputs = [r for r in self.program.relations if isinstance(r, Input)]
        for r in reversed(inputs):
            self.run(r.name, ZSet((x, w) for x, w in self.deltas[r.name].items() if w < 0))
        for r in inputs:
            self.run(r.name, ZSet((x, w) for x, w in self.deltas[r.name].items() if w > 0))
        for relation in self.program.relations:
            match relation:
                case Input():
                    continue
                case Linear(name):
                    result[name] = self.deltas[name]
                case Keyed(name):
                    result[name] = self.update_keyed(relation)
                case Fixpoint():
                    raise UnsupportedError("fixpoints are not interpreted")
                case _:
                    assert_never(relation)
            self.run(relation.name, result[relation.name])
        return result

    def rows(self, name: str) -> ZSet:
        """All rows of a keyed relation, or of a linear one that is kept."""
        relation = next(r for r in self.program.relations if r.name == name)
        if isinstance(relation, Linear) and relation.state is not None:
            return ZSet((key, e.weight) for key, e in self.states[relation.state].items())
        assert isinstance(relation, Keyed)
        keys = {self.group_key(relation, key) for key in self.states[relation.state]}
        if is_scalar(relation):
            keys.add(())
        total = ZSet()
        for key in keys:
            total = total + self.output(relation, key)
        return total

    # --- rules ---------------------------------------------------------------------------------------------

    def run(self, name: str, delta: ZSet) -> None:
        rows = sorted(delta.items(), key=lambda entry: entry[1])  # law L10
        for rule in self.program.triggers.get(name, ()):
            for row, weight in rows:
                scope: Scope = dict(zip((c.name for c in rule.binds), row, strict=True))
                scope[rule.weight.name] = weight
                for out in self.steps([scope], rule.steps):
                    self.add(rule, out)

    def steps(self, scopes: Iterable[Scope], steps: tuple[Step, ...]) -> Iterable[Scope]:
        for step in steps:
            scopes = [out for scope in scopes for out in self.step(scope, step)]
        return scopes

    def step(self, scope: Scope, step: Step) -> list[Scope]:
        match step:
            case Where(condition):
                return [scope] if value(condition, scope) is True else []
            case Let(column, term):
                return [{**scope, column.name: value(term, scope)}]
            case Explode():
                return [
                    {**scope, **elements}
                    for elements in explode_collection(step, value(step.collection, scope))
                ]
            case Lookup():
                return self.look_up(scope, step)
            case _:
                assert_never(step)

    def look_up(self, scope: Scope, step: Lookup) -> list[Scope]:
        wanted = [(name, value(term, scope)) for name, term in step.match]
        found = []
        if all(v is not None or name in step.null_safe for name, v in wanted):
            for key in list(self.states[step.state]):
                seen = self.names(step.state, key)
                if all(seen[name] == v or seen[name] is v for name, v in wanted):
                    found.append(seen)
        if step.absent or step.present:
            return [scope] if bool(found) == step.present else []
        if step.outer and not found:
            return [{**scope, **{c.name: None for _, c in step.binds}}]
        return [{**scope, **{c.name: seen[name] for name, c in step.binds}} for seen in found]

    def names(self, state: str, key: Row) -> Scope:
        """What can be read of an entry, by name."""
        definition = self.program.state(state)
        entry = self.states[state].get(key) or Entry(definition, ())
        seen: Scope = dict(zip((c.name for c in definition.columns), key, strict=True))
        seen |= dict(zip((c.name for c in definition.dependents), entry.dependents, strict=False))
        seen[WEIGHT] = entry.weight
        for i, a in enumerate(definition.accumulators):
            content = entry.sums[i]
            if a.aggregate is not None and a.aggregate.function == "ordered":
                seen[a.name] = Listed(content)
            elif a.aggregate is not None:
                n = len(a.aggregate.args)
                seen[a.name] = evaluate_aggregate(
                    a.aggregate, [(x[:n], x[n:], w) for x, w in content.items()]
                )
            elif isinstance(a.type, Float):
                seen[a.name] = exact.value(content)
            else:
                seen[a.name] = content
        return seen

    def add(self, rule: Rule, scope: Scope) -> None:
        row = tuple(value(t, scope) for t in rule.columns)
        count = value(rule.count, scope)
        if rule.into not in self.states:
            self.deltas[rule.into].add(row, count)
            return
        for reader in self.readers:
            if reader.state == rule.into:
                key = self.group_key(reader, row)
                if key not in self.touched[reader.name]:
                    self.touched[reader.name][key] = self.output(reader, key)
        definition = self.program.state(rule.into)
        entries = self.states[rule.into]
        if row not in entries:
            entries[row] = Entry(definition, tuple(value(t, scope) for t in rule.dependents))
        entry = entries[row]
        entry.weight += count
        for i, amount in enumerate(rule.amounts):
            if amount.where is not None and value(amount.where, scope) is not True:
                continue
            args = tuple(value(t, scope) for t in amount.args)
            if is_bag(definition, i):
                assert amount.weight is not None
                entry.sums[i].add(args, value(amount.weight, scope))
            elif isinstance(definition.accumulators[i].type, Float):
                if amount.weight is None:
                    entry.sums[i] = exact.join(entry.sums[i], args[0])
                else:
                    entry.sums[i] = exact.add(entry.sums[i], args[0], value(amount.weight, scope))
            else:
                entry.sums[i] += args[0]
        if entry.weight == 0:
            del entries[row]

    # --- keyed functions -----------------------------------------------------------------------------------

    def group_key(self, reader: Keyed, row: Row) -> Row:
        names = [c.name for c in self.program.state(reader.state).columns]
        return tuple(row[names.index(k)] for k in reader.key)

    def update_keyed(self, reader: Keyed) -> ZSet:
        total = ZSet()
        for key, old in self.touched[reader.name].items():
            total = total + (self.output(reader, key) - old)
        return total

    def output(self, reader: Keyed, key: Row) -> ZSet:
        """f of the group."""
        entries = self.states[reader.state]
        match reader.function:
            case Finalize(outputs, multiplicity, scalar):
                if key not in entries and not scalar:
                    return ZSet()
                seen = self.names(reader.state, key)
                count = value(multiplicity, seen)
                return ZSet([(tuple(value(t, seen) for t in outputs), count)] if count else [])
            case Windowed(functions, outputs):
                order = functions[0][1].order
                rows = self.group(reader, key, order)
                columns = [c.name for c in self.program.state(reader.state).columns]

                def read(term: Term, row: Row) -> Any:
                    return value(term, dict(zip(columns, row, strict=True)))

                scopes = [dict(zip(columns, row, strict=True)) for row in rows]
                for column, function in functions:
                    for scope, v in zip(scopes, window_values(function, rows, read), strict=True):
                        scope[column.name] = v
                return ZSet((tuple(value(t, s) for t in outputs), 1) for s in scopes)
            case Ranked(order, limit, offset, outputs, ties):
                rows = self.group(reader, key, order)
                columns = [c.name for c in self.program.state(reader.state).columns]
                peers = order_of(order, lambda t, row: value(t, dict(zip(columns, row, strict=True))))
                chosen = choose_first([(row, 1) for row in rows], limit, offset, ties, peers)
                scopes = [dict(zip(columns, row, strict=True)) for row, _ in chosen]
                return ZSet((tuple(value(t, s) for t in outputs), 1) for s in scopes)
            case _:
                assert_never(reader.function)

    def group(self, reader: Keyed, key: Row, order: Any) -> list[Row]:
        """The rows of a group in total order, each as often as its weight."""
        definition = self.program.state(reader.state)
        columns = [c.name for c in definition.columns]
        rows = [
            row
            for row, entry in self.states[reader.state].items()
            if self.group_key(reader, row) == key
            for _ in range(entry.weight)
        ]
        types = tuple(c.type for c in definition.columns)
        return sorted(
            rows, key=total_order(order, types, lambda t, row: value(t, dict(zip(columns, row, strict=True))))
        )


def value(term: Term, scope: Scope) -> Any:
    return evaluate(term, Environment(scope), no_queries)


def no_queries(*_: object) -> Any:
    raise AssertionError("no query is left inside a term")


def explode_collection(step: Explode, collection: Any) -> list[Scope]:
    """The elements of a collection, each as values for the step's columns."""
    names = [c.name for c in step.elements]
    found = []
    if collection is not None:
        items = collection.items() if isinstance(step.collection.type, Map) else collection
        for position, item in enumerate(items):
            if isinstance(step.collection.type, Map):
                values = tuple(item)
            elif step.inline:
                values = item if item is not None else (None,) * (len(names) - step.ordinal)
            else:
                values = (item,)
            found.append(dict(zip(names, ((position, *values) if step.ordinal else values), strict=True)))
    if not found and step.outer:
        found = [dict.fromkeys(names)]
    return found
