"""The reference semantics: what a query returns, computed from scratch.

Direct and slow, and written without the algebra: this is what the compiler and the engines are compared with. A query is
evaluated in an environment that gives a value to each variable of its scope: the record that a generator is at, as a tuple,
or None for the record that an outer generator did not find.

    evaluate(query, relation)  ->  ZSet          relation(name) returns the rows of a table with their multiplicities

Only what cannot change is remembered: the rows of a relation, the value of a query without free variables, records of such
a query by the values that they are looked up by (`schedule`), and values of a nested query by what it reads from around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, assert_never

from evercurrent.calculus import grouping
from evercurrent.calculus.bindings import EMPTY, Binding, Entry, Index, Memo, bind
from evercurrent.calculus.comparing import equal_rows, quantify
from evercurrent.calculus.nodes import (
    Comprehension,
    Exists,
    Filter,
    Fixpoint,
    FullOuter,
    Generator,
    Group,
    OuterGenerator,
    Quantified,
    Query,
    Relation,
    Scalar,
    SetOperation,
    Top,
    Union,
    Unnest,
    Values,
    Window,
)
from evercurrent.calculus.recursion import solve
from evercurrent.calculus.schedule import Step, schedule, split_equalities
from evercurrent.calculus.scope import free_paths, free_variables
from evercurrent.calculus.walk import relations_of
from evercurrent.calculus.windows import partitions, same_windows, sort_rows, window_values
from evercurrent.data.types import Map
from evercurrent.data.zset import Row, ZSet
from evercurrent.errors import EvaluationError
from evercurrent.term.build import conjuncts
from evercurrent.term.evaluate import Environment, compile_in
from evercurrent.term.nodes import Nested, Term, Variable

RelationSource = Callable[[str], Iterable[Entry]]


def evaluate(query: Query, relation: RelationSource, env: Mapping[str, Any] | None = None) -> ZSet:
    """The rows of a query, with multiplicities; `env` has the values of its free variables."""
    return Evaluator(relation).rows(query, Environment({}, env or {}))


class Evaluator:
    """Evaluates queries over one state of the relations.

    Inside a fixpoint the relations that it defines are in `local`; whatever does not read them is left to `outer`, which
    remembers it from round to round.
    """

    def __init__(
        self,
        relation: RelationSource,
        local: Mapping[str, ZSet] | None = None,
        outer: Evaluator | None = None,
    ) -> None:
        self.relation = relation
        self.local = local or {}
        self.outer = outer
        self.relations: dict[str, ZSet] = {}
        # Keyed by identity: equal nodes at different places only cost a second evaluation. `kept` keeps them alive.
        self.kept: dict[int, Query | Term] = {} if outer is None else outer.kept
        self.schedules: dict[int, list[Step]] = {} if outer is None else outer.schedules
        self.codes: dict[int, Callable[[Environment], Any]] = {}
        self.keepers: dict[int, Evaluator | None] = {}
        self.results: dict[int, ZSet] = {}
        self.indexes: dict[int, Index] = {}
        self.null_rows: dict[int, list[Row]] = {}
        self.memos: dict[int, Memo] = {}

    # --- queries -------------------------------------------------------------------------------------------

    def rows(self, query: Query, env: Environment) -> ZSet:
        """The rows of a query, consolidated."""
        if isinstance(query, Relation):
            return self.relation_rows(query.name)
        keeper = self.keeper(query)
        if keeper is None:
            return ZSet(self.stream(query, env))
        found = keeper.results.get(id(query))
        if found is None:
            found = keeper.results[id(query)] = ZSet(keeper.stream(query, EMPTY))
        return found

    def keeper(self, query: Query) -> Evaluator | None:
        """Who remembers the value of a query: the outermost evaluator that knows what it reads; nobody, if the query
        has free variables."""
        if id(query) not in self.keepers:
            keeper = None
            if not free_variables(query):
                keeper, read = self, relations_of(query)
                while keeper.outer is not None and not read & keeper.local.keys():
                    keeper = keeper.outer
            self.kept[id(query)] = query
            self.keepers[id(query)] = keeper
        return self.keepers[id(query)]

    def relation_rows(self, name: str) -> ZSet:
        if name in self.local:
            return self.local[name]
        if self.outer is not None:
            return self.outer.relation_rows(name)
        if name not in self.relations:
            self.relations[name] = ZSet(self.relation(name))
        return self.relations[name]

    def source(self, query: Query, env: Environment) -> Iterable[Entry]:
        """Rows to range over: what is remembered, or else a stream."""
        if self.keeper(query) is not None:
            return self.rows(query, env).items()
        return self.stream(query, env)

    def stream(self, query: Query, env: Environment) -> Iterator[Entry]:
        """The rows of a query one after another; the same row may come more than once."""
        match query:
            case Relation(name):
                yield from self.relation_rows(name).items()
            case Values(rows):
                for row in rows:
                    yield self.record(row, env), 1
            case Comprehension("bag"):
                yield from self.comprehension(query, env)
            case Comprehension():
                yield from dict.fromkeys((row, 1) for row, _ in self.comprehension(query, env))
            case Union():
                yield from self.union(query, env)
            case SetOperation():
                yield from self.set_operation(query, env)
            case FullOuter():
                yield from self.full_outer(query, env)
            case Group():
                yield from grouping.group(
                    query, self.source(query.source, env), self.scope(query.variable, env)
                )
            case Window():
                yield from self.window(query, env)
            case Top():
                yield from self.top(query, env)
            case Fixpoint():
                yield from solve(
                    query, lambda body, known: Evaluator(self.relation, known, self).rows(body, env)
                )
            case _:
                assert_never(query)

    def union(self, query: Union, env: Environment) -> Iterator[Entry]:
        pending: list[Query] = [query]  # a long chain of unions is no deep recursion
        while pending:
            part = pending.pop()
            if isinstance(part, Union):
                pending.extend(reversed(part.inputs))
            else:
                yield from self.source(part, env)

    def set_operation(self, query: SetOperation, env: Environment) -> Iterator[Entry]:
        left, right = self.rows(query.left, env), self.rows(query.right, env).weights
        for row, weight in left.items():
            other = right.get(row, 0)
            if query.kind == "intersect":
                count = min(weight, other)
            else:
                count = max(weight - other, 0) if query.all else weight * (other == 0)
            if count:
                yield row, count if query.all else 1

    def full_outer(self, query: FullOuter, env: Environment) -> Iterator[Entry]:
        left, right = query.left_variable.name, query.right_variable.name
        lookups, within = split_equalities(right, conjuncts(query.on))
        index = Index(self.record, right, tuple(own for own, _ in lookups), self.source(query.right, env))
        unmatched = dict(self.rows(query.right, env).items())
        for l_row, l_weight in self.source(query.left, env):
            matched = False
            inner = bind(env, left, l_row)
            for r_row, r_weight in index.find(tuple(self.value(other, inner) for _, other in lookups)):
                pair = bind(inner, right, r_row)
                if self.holds(within, pair):
                    matched = True
                    unmatched.pop(r_row, None)
                    yield self.record(query.head, pair), l_weight * r_weight
            if not matched:
                yield self.record(query.head, bind(inner, right, None)), l_weight
        for r_row, r_weight in unmatched.items():
            yield self.record(query.head, bind(bind(env, left, None), right, r_row)), r_weight

    def window(self, query: Window, env: Environment) -> Iterator[Entry]:
        """Functions of one partition and order after those of another: what those found settles further ties."""
        rows = [row for row, weight in self.source(query.source, env) for _ in range(weight)]
        types = tuple(f.type for f in query.source.fields)
        value = self.scope(query.variable, env)
        columns: dict[int, list[Any]] = {}
        for alike in same_windows(query.functions):
            functions = [query.functions[i] for i in alike]
            results: list[list[Any]] = [[None] * len(rows) for _ in alike]
            for places in partitions(functions[0], rows, types, value):
                part = [rows[i] for i in places]
                for function, column in zip(functions, results, strict=True):
                    for i, result in zip(places, window_values(function, part, value), strict=True):
                        column[i] = result
            columns.update(zip(alike, results, strict=True))
            rows = [(*row, *found) for row, *found in zip(rows, *results, strict=True)]
            types += tuple(f.type for f in functions)
        width = len(query.source.fields)
        for i, row in enumerate(rows):
            yield (*row[:width], *(columns[k][i] for k in range(len(columns)))), 1

    def top(self, query: Top, env: Environment) -> Iterator[Entry]:
        types = tuple(f.type for f in query.source.fields)
        value = self.scope(query.variable, env)
        skip, left = query.offset, query.limit
        for row, weight in sort_rows(query.order, self.rows(query.source, env).items(), types, value):
            skipped = min(skip, weight)
            taken = weight - skipped if left is None else min(weight - skipped, left)
            skip -= skipped
            if left is not None:
                left -= taken
            if taken:
                yield row, taken

    # --- comprehensions ------------------------------------------------------------------------------------

    def comprehension(self, query: Comprehension, env: Environment) -> Iterator[Entry]:
        """One record for every binding of the qualifiers."""
        for binding, weight in self.bindings(query, env):
            yield self.record(query.head, binding), weight

    def bindings(self, query: Comprehension, env: Environment) -> Iterator[Binding]:
        steps = self.schedules.get(id(query))
        if steps is None:
            steps = self.schedules[id(query)] = schedule(query)
            self.kept[id(query)] = query
        bindings: Iterator[Binding] = iter([(env, 1)])
        for step in steps:
            bindings = self.step(step, bindings, env)
        return bindings

    def step(self, step: Step, bindings: Iterator[Binding], env: Environment) -> Iterator[Binding]:
        """Each binding extended in all ways that the step allows."""
        index: Index | None = None
        for binding, weight in bindings:
            match step.qualifier:
                case None | Filter():
                    extended: Iterable[Binding] = [(binding, 1)]
                case Generator(variable, source) | OuterGenerator(variable, source):
                    if index is None or not step.fixed:
                        index = self.index(step, variable, source, binding if not step.fixed else env)
                    extended = self.extend(step, variable, index, binding)
                case Unnest():
                    extended = self.unnest(step.qualifier, binding)
                case _:
                    assert_never(step.qualifier)
            for inner, count in extended:
                if self.holds(step.filters, inner):
                    yield inner, weight * count

    def index(self, step: Step, variable: Variable, source: Query, env: Environment) -> Index:
        """The records of a source by what they are looked up by; remembered where the source cannot change."""
        own = tuple(own for own, _ in step.lookups)
        keeper = self.keeper(source)
        if keeper is None:
            return Index(self.record, variable.name, own, self.stream(source, env))
        found = keeper.indexes.get(id(step))
        if found is None:
            found = Index(keeper.record, variable.name, own, keeper.rows(source, EMPTY).items())
            keeper.indexes[id(step)] = found
        return found

    def extend(self, step: Step, variable: Variable, index: Index, binding: Environment) -> Iterator[Binding]:
        found = False
        for row, weight in index.find(tuple(self.value(other, binding) for _, other in step.lookups)):
            inner = bind(binding, variable.name, row)
            if self.holds(step.within, inner):
                found = True
                yield inner, weight
        if not found and isinstance(step.qualifier, OuterGenerator):
            yield bind(binding, variable.name, None), 1

    def unnest(self, qualifier: Unnest, binding: Environment) -> Iterator[Binding]:
        name, value = qualifier.variable.name, self.value(qualifier.collection, binding)
        elements: list[Row | None] = []
        if value is not None and isinstance(qualifier.collection.type, Map):
            elements = list(value.items())
        elif value is not None and qualifier.inline:
            members = len(qualifier.variable.type.members) - qualifier.ordinal  # type: ignore[union-attr]
            elements = [(None,) * members if e is None else e for e in value]
        elif value is not None:
            elements = [(e,) for e in value]
        if qualifier.ordinal:
            elements = [(i, *e) for i, e in enumerate(elements) if e is not None]
        for element in elements or ([None] if qualifier.outer else []):
            yield bind(binding, name, element), 1

    # --- terms ---------------------------------------------------------------------------------------------

    def value(self, term: Term, env: Environment) -> Any:
        code = self.codes.get(id(term))
        if code is None:
            # Compiled for this evaluator alone: the shared cache of `compile_in` would keep it, and its rows, alive.
            code = self.codes[id(term)] = compile_in.__wrapped__(term, self.evaluate_nested)
            self.kept[id(term)] = term
        return code(env)

    def scope(self, variable: Variable, env: Environment) -> Callable[[Term, Row], Any]:
        """Values of terms over the record of one variable."""
        name = variable.name
        return lambda term, row: self.value(term, bind(env, name, row))

    def record(self, terms: tuple[Term, ...], env: Environment) -> Row:
        return tuple(self.value(term, env) for term in terms)

    def holds(self, conditions: list[Term], env: Environment) -> bool:
        return all(self.value(condition, env) is True for condition in conditions)

    def evaluate_nested(self, nested: Nested, env: Environment) -> Any:
        """The value of a nested query; computed once for equal values of what it reads from around it."""
        memo = self.memos.get(id(nested))
        if memo is None:
            memo = self.memos[id(nested)] = Memo(tuple(free_paths(nested)))
            self.kept[id(nested)] = nested
        key = self.record(memo.paths, env)
        if key not in memo.values:
            memo.values[key] = self.compute_nested(nested, env)
        return memo.values[key]

    def compute_nested(self, nested: Nested, env: Environment) -> Any:
        match nested:
            case Scalar(query, _, place):
                entries = list(self.rows(query, env).items())
                if sum(weight for _, weight in entries) > 1:
                    raise EvaluationError("a scalar subquery returned more than one row", place=place)
                return entries[0][0][0] if entries else None
            case Exists(query):
                return self.exists(query, env)
            case Quantified():
                return self.evaluate_quantified(nested, env)
            case _:
                raise AssertionError(f"a nested query of an unknown kind: {nested!r}")

    def exists(self, query: Query, env: Environment) -> bool:
        """Whether there is a record; what is in it is not computed."""
        if isinstance(query, Comprehension):
            return any(True for _ in self.bindings(query, env))
        return any(True for _ in self.source(query, env))

    def evaluate_quantified(self, nested: Quantified, env: Environment) -> bool | None:
        args = self.record(nested.args, env)
        if nested.comparison == "ne" and nested.every:
            found = self.member(args, nested.query, env)
            return None if found is None else not found
        if nested.comparison == "eq" and not nested.every:
            return self.member(args, nested.query, env)
        types = tuple(arg.type for arg in nested.args)
        rows = (row for row, _ in self.source(nested.query, env))
        return quantify(nested.comparison, nested.every, types, args, rows)

    def member(self, args: Row, query: Query, env: Environment) -> bool | None:
        """`args IN query`. Rows with a NULL in them can at best make it unknown, and are tried one by one."""
        if None in args:
            candidates: Iterable[Row] = (row for row, _ in self.source(query, env))
        else:
            rows = self.rows(query, env)
            if args in rows.weights:
                return True
            candidates = self.rows_with_null(query, rows)
        unknown = any(equal_rows(args, row) is None for row in candidates)
        return None if unknown else False

    def rows_with_null(self, query: Query, rows: ZSet) -> Iterable[Row]:
        keeper = self.keeper(query)
        if keeper is None:
            return (row for row, _ in rows.items() if None in row)
        found = keeper.null_rows.get(id(query))
        if found is None:
            found = keeper.null_rows[id(query)] = [row for row, _ in rows.items() if None in row]
        return found
