"""Random queries of every node kind over three small relations of integers and NULLs.

Their terms cannot fail, so that two ways to evaluate one must agree row for row.
"""

from __future__ import annotations

from random import Random
from typing import Any

from evercurrent.calculus import nodes as n
from evercurrent.data.types import BIGINT, BOOLEAN, INT, Array, Member, Struct, Type
from evercurrent.data.zset import ZSet
from evercurrent.term.aggregates import aggregate
from evercurrent.term.build import call, case, cast, field, lit
from evercurrent.term.nodes import RUNNING, WHOLE, Aggregate, Frame, SortKey, Term, Variable, WindowFunction
from evercurrent.term.nullable import nullable

RELATIONS = {
    "r": n.Relation("r", (Member("a", INT), Member("b", INT))),
    "s": n.Relation("s", (Member("a", INT), Member("b", INT), Member("xs", Array(INT)))),
    "t": n.Relation("t", (Member("k", INT, False), Member("b", INT))),
}


def random_data(rng: Random, rows: int = 5) -> dict[str, ZSet]:
    def number() -> int | None:
        return rng.choice([None, 0, 1, 1, 2, 3])

    def array() -> tuple[int | None, ...] | None:
        return rng.choice([None, (), tuple(number() for _ in range(rng.randint(1, 3)))])

    def some(row: Any) -> ZSet:
        return ZSet.of(row() for _ in range(rng.randint(0, rows)))

    return {
        "r": some(lambda: (number(), number())),
        "s": some(lambda: (number(), number(), array())),
        "t": some(lambda: (rng.randint(0, 3), number())),
    }


class Writer:
    """Writes random queries; `scope` are the variables that a term may mention."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.count = 0

    def name(self) -> str:
        # Few names, so that shadowing and capture happen.
        self.count += 1
        return self.rng.choice("uvwxyz")

    def query(self, depth: int, scope: list[Variable], width: int | None = None) -> n.Query:
        rng = self.rng
        if depth <= 0:
            return self.leaf(scope, width)
        kinds = ["comprehension"] * 6 + ["union", "set", "group", "window", "top", "full"]
        kind = rng.choice(kinds)
        if kind in ("window", "top", "group") and width is not None:
            return self.projected(self.query(depth, scope), scope, width)
        match kind:
            case "union":
                w = width or rng.randint(1, 2)
                inputs = tuple(self.query(depth - 1, scope, w) for _ in range(rng.randint(1, 3)))
                return n.Union(inputs, self.fields(w))
            case "set":
                w = width or rng.randint(1, 2)
                left, right = self.query(depth - 1, scope, w), self.query(depth - 1, scope, w)
                operation = rng.choice(["intersect", "except"])
                return n.SetOperation(operation, rng.random() < 0.5, left, right, self.fields(w))  # type: ignore[arg-type]
            case "group":
                return self.group(depth, scope)
            case "window":
                return self.window(depth, scope)
            case "top":
                source = self.query(depth - 1, scope)
                v = self.variable(source)
                limit = rng.choice([None, 0, 1, 2, 3])
                own = [u for u in scope if u.name != v.name] + [v]
                return n.Top(v, source, self.order(own), limit, rng.randint(0, 1), source.fields)
            case "full":
                return self.full(depth, scope, width)
            case _:
                return self.comprehension(depth, scope, width)

    def leaf(self, scope: list[Variable], width: int | None) -> n.Query:
        rng = self.rng
        if rng.random() < 0.15:
            w = width or rng.randint(1, 2)
            rows = tuple(
                tuple(self.term(0, scope) for _ in range(w)) for _ in range(rng.choice([0, 1, 1, 1, 2, 2]))
            )
            return n.Values(rows, self.fields(w))
        relation = RELATIONS[rng.choice("rst")]
        return relation if width is None else self.projected(relation, scope, width)

    def projected(self, source: n.Query, scope: list[Variable], width: int) -> n.Query:
        v = self.variable(source)
        head = tuple(self.term(0, [v]) for _ in range(width))
        return n.Comprehension("bag", head, (n.Generator(v, source),), self.fields(width))

    def fields(self, width: int, type: Type = INT) -> n.Fields:
        return tuple(Member(f"f{i}", type) for i in range(width))

    def variable(self, source: n.Query, nullable: bool = False) -> Variable:
        return Variable(self.name(), Struct(source.fields), nullable)

    def comprehension(self, depth: int, scope: list[Variable], width: int | None) -> n.Query:
        rng = self.rng
        inner = list(scope)
        qualifiers: list[n.Qualifier] = []

        def bind(v: Variable) -> None:
            inner[:] = [u for u in inner if u.name != v.name] + [v]

        for i in range(rng.randint(1, 3)):
            kind = rng.random()
            source = self.query(depth - 1, inner if rng.random() < 0.4 else [])
            if kind < 0.2 and i > 0:
                v = self.variable(source, True)
                seen = [u for u in inner if u.name != v.name] + [Variable(v.name, v.type, False)]
                qualifiers.append(n.OuterGenerator(v, source, self.condition(depth - 1, seen)))
                bind(v)
            elif kind < 0.3 and (arrays := self.arrays(inner)):
                v = Variable(self.name(), Struct((Member("col", INT),)), rng.random() < 0.5)
                qualifiers.append(n.Unnest(v, rng.choice(arrays), outer=v.nullable))
                bind(v)
            else:
                v = self.variable(source)
                qualifiers.append(n.Generator(v, source))
                bind(v)
            if rng.random() < 0.6:
                qualifiers.append(n.Filter(self.condition(depth - 1, inner)))
        head = tuple(self.term(depth - 1, inner) for _ in range(width or rng.randint(1, 3)))
        fields = tuple(Member(f"f{i}", t.type, nullable(t)) for i, t in enumerate(head))
        return n.Comprehension("set" if rng.random() < 0.3 else "bag", head, tuple(qualifiers), fields)

    def arrays(self, scope: list[Variable]) -> list[Term]:
        return [field(v, m.name) for v in scope for m in members(v) if isinstance(m.type, Array)]

    def group(self, depth: int, scope: list[Variable]) -> n.Query:
        rng = self.rng
        source = self.query(depth - 1, scope)
        v = self.variable(source)
        own = [u for u in scope if u.name != v.name] + [v]
        keys = tuple(self.term(0, own) for _ in range(rng.randint(0, 2)))
        aggregates = tuple(self.aggregate(own) for _ in range(rng.randint(1, 2)))
        fields = tuple(Member(f"f{i}", t.type) for i, t in enumerate((*keys, *aggregates)))
        sets = None
        if keys and rng.random() < 0.3:
            sets = rng.choice([((), tuple(range(len(keys)))), ((0,), (0,)), ((0,), ())])
            fields += (Member("gid", BIGINT, False),)
        return n.Group(v, source, keys, aggregates, fields, sets)

    def aggregate(self, scope: list[Variable]) -> Aggregate:
        rng = self.rng
        where = self.condition(0, scope) if rng.random() < 0.2 else None
        name = rng.choice(["count", "count", "sum", "min", "max"])
        if name == "count" and rng.random() < 0.5:
            return aggregate("count", [], where=where)
        return aggregate(name, [self.term(0, scope)], where=where, distinct=rng.random() < 0.2)

    def window(self, depth: int, scope: list[Variable]) -> n.Query:
        rng = self.rng
        source = self.query(depth - 1, scope)
        v = self.variable(source)
        own = [u for u in scope if u.name != v.name] + [v]
        functions = []
        for _ in range(rng.randint(1, 2)):
            name = rng.choice(["row_number", "rank", "lag", "sum", "count"])
            order = self.order(own)
            args = (self.term(0, own),) if name in ("lag", "sum", "count") else ()
            frame = rng.choice([RUNNING, WHOLE, Frame("rows", -1, 1)]) if order else WHOLE
            partition = (self.term(0, own),) if rng.random() < 0.5 else ()
            result = BIGINT if name in ("sum", "count") else INT
            functions.append(WindowFunction(name, args, result, partition, order, frame))
        added = tuple(Member(f"w{len(source.fields)}{i}", f.type) for i, f in enumerate(functions))
        return n.Window(v, source, tuple(functions), source.fields + added)

    def order(self, scope: list[Variable]) -> tuple[SortKey, ...]:
        rng = self.rng
        return tuple(
            SortKey(self.term(0, scope), rng.random() < 0.5, rng.random() < 0.5)
            for _ in range(rng.randint(0, 2))
        )

    def full(self, depth: int, scope: list[Variable], width: int | None) -> n.Query:
        left, right = self.query(depth - 1, scope), self.query(depth - 1, scope)
        x, y = Variable("p", Struct(left.fields)), Variable("q", Struct(right.fields))
        on = self.condition(0, [*scope, x, y])
        padded = [Variable(v.name, v.type, True) for v in (x, y)]
        head = tuple(self.term(0, [*scope, *padded]) for _ in range(width or self.rng.randint(1, 3)))
        fields = tuple(Member(f"f{i}", t.type) for i, t in enumerate(head))
        return n.FullOuter(x, left, y, right, on, head, fields)

    # --- terms ---------------------------------------------------------------------------------------------

    def term(self, depth: int, scope: list[Variable]) -> Term:
        """An INT."""
        rng = self.rng
        paths = [field(v, m.name) for v in scope for m in members(v) if m.type in (INT, BIGINT)]
        kind = rng.random()
        if depth > 0 and kind < 0.1:
            source = self.query(depth - 1, scope)
            v = self.variable(source)
            total = aggregate("count", []) if rng.random() < 0.5 else aggregate("max", [self.term(0, [v])])
            return cast(
                n.Scalar(n.Group(v, source, (), (total,), (Member("f0", total.type),)), total.type), INT
            )
        if kind < 0.2:
            other = self.term(depth - 1, scope) if depth > 0 else lit(1, INT)
            return case([(self.condition(depth - 1, scope), self.term(0, scope))], other)
        if kind < 0.3:
            return call("coalesce", self.term(0, scope), lit(7, INT))
        if kind < 0.35 or not paths:
            return lit(rng.choice([None, 0, 1, 2]), INT)
        return cast(rng.choice(paths), INT)

    def condition(self, depth: int, scope: list[Variable]) -> Term:
        rng = self.rng
        kind = rng.random()
        if depth > 0 and kind < 0.2:
            return n.Exists(self.query(depth - 1, scope), BOOLEAN)
        if depth > 0 and kind < 0.4:
            source = self.query(depth - 1, scope, rng.choice([1, 1, 1, 2]))
            args = tuple(cast(self.term(0, scope), f.type) for f in source.fields)
            comparison = rng.choice(["eq", "ne"] + ["lt", "ge", "gt", "le"] * (len(args) == 1))
            return n.Quantified(comparison, rng.random() < 0.5, args, source, BOOLEAN)
        if depth > 0 and kind < 0.5:
            parts = [self.condition(depth - 1, scope) for _ in range(2)]
            return call(rng.choice(["and", "or"]), *parts)
        if depth > 0 and kind < 0.55:
            return call("not", self.condition(depth - 1, scope))
        if kind < 0.65:
            return call(rng.choice(["is_null", "is_not_null"]), self.term(0, scope))
        if kind < 0.68:
            return lit(rng.choice([True, False, None]), BOOLEAN)
        comparison = rng.choice(["eq", "eq", "eq", "ne", "lt", "ge", "eqns"])
        return call(comparison, self.term(0, scope), self.term(0, scope))


def members(variable: Variable) -> tuple[Member, ...]:
    assert isinstance(variable.type, Struct)
    return variable.type.members


def random_query(rng: Random, depth: int = 3) -> n.Query:
    return Writer(rng).query(depth, [])
