"""Random OQL, typed: whatever is made has a meaning on any graph of its schema.

Lists are made so that their order is determined: what is ordered is ordered by all that is shown of it.
"""

from __future__ import annotations

from typing import Any

from tests.laws.chooser import Chooser
from tests.oql.oracle.model import Model

Scope = list[tuple[str, Any]]
NUMBERS = ("int", "float", "decimal")
WORDS = ('"Ann"', '"Ben"', '"dev"', '"A"', '""')


def query(c: Chooser, model: Model, depth: int = 2) -> str:
    """A query of any type."""
    return Queries(c, model).whole(depth)


class Queries:
    def __init__(self, c: Chooser, model: Model) -> None:
        self.c = c
        self.model = model
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"x{self.count}"

    # Whole queries

    def whole(self, depth: int) -> str:
        choice = self.c.number(1, 20)
        if choice <= 10:
            return self.select([], depth)[0]
        if choice <= 12:
            return self.grouped([], depth)
        if choice == 13:
            return f"struct(a: {self.number([], depth)}, b: {self.select([], depth - 1)[0]})"
        if choice == 14 and self.c.chance(30):
            inner, froms = self.iterators([], depth)
            path = self.path(inner, "int") or self.path(inner, "string")
            if path:
                function = self.c.pick(("count", "max", "min"))
                return f"select {function}(distinct {path}) from {froms}"
        if choice == 14:
            return self.number([], depth)
        if choice == 15:
            return self.ordered([], depth)
        if choice == 16:
            return self.set_operation(depth)
        if choice == 17:
            return self.flatten(depth)
        if choice == 18:
            text = self.ordered([], depth - 1)
            return self.c.pick((f"first({text})", f"last({text})", f"({text})[0:1]", f"({text})[1]"))
        if choice == 19:
            return f"element({self.select([], depth - 1)[0]})"
        return self.boolean([], depth)

    def select(self, scope: Scope, depth: int, of: Any = None) -> tuple[str, Any]:
        """A select, and the type of its elements; with `of`, of elements of one of these types."""
        inner, froms = self.iterators(scope, depth)
        if of is None:
            shown, t = self.projection(inner, depth)
        else:
            shown, t = self.scalar(inner, depth, of)
        where = f" where {self.boolean(inner, depth - 1)}" if self.c.chance(60) else ""
        distinct = "distinct " if self.c.chance(20) else ""
        limit = self.limit() if isinstance(t, str) and self.c.chance(12) else ""
        return f"select {distinct}{shown} from {froms}{where}{limit}", t

    def limit(self) -> str:
        offset = f" offset {self.c.number(0, 2)}" if self.c.chance(30) else ""
        return f" limit {self.c.number(0, 4)}{offset}"

    def iterators(self, scope: Scope, depth: int) -> tuple[Scope, str]:
        inner, parts = list(scope), []
        for _ in range(2 if self.c.chance(35) else 1):
            text, t = self.collection(inner, depth - 1)
            name = self.fresh()
            parts.append(self.c.pick((f"{name} in {text}", f"{text} as {name}")))
            inner.append((name, t))
        return inner, ", ".join(parts)

    def projection(self, scope: Scope, depth: int) -> tuple[str, Any]:
        choice = self.c.number(1, 10)
        if choice <= 5:
            return self.scalar(scope, depth)
        if choice <= 6:
            objects = [(n, t) for n, t in self.paths(scope) if t[0] == "class"]
            return self.c.pick(objects) if objects else self.scalar(scope, depth)
        fields = []
        for label in "abc"[: self.c.number(1, 3)]:
            if depth > 0 and self.c.chance(30):
                text, t = self.select(scope, depth - 1)
                fields.append((label, f"({text})", ("bag", t)))
            else:
                text, t = self.scalar(scope, depth)
                fields.append((label, text, t))
        made = ("struct", tuple((label, t) for label, _, t in fields))
        return f"struct({', '.join(f'{n}: {e}' for n, e, _ in fields)})", made

    def ordered(self, scope: Scope, depth: int) -> str:
        inner, froms = self.iterators(scope, depth)
        keys = [self.scalar(inner, 0)[0] for _ in range(self.c.number(1, 2))]
        # nil and UNDEFINED sort together: which of them comes first is open.
        conditions = [f"is_defined({k})" for k in keys]
        conditions += [f"({self.boolean(inner, depth - 1)})"] if self.c.chance(50) else []
        where = f" where {' and '.join(conditions)}"
        shown = keys[0] if len(keys) == 1 else f"struct(k: {keys[0]}, l: {keys[1]})"
        distinct = "distinct " if self.c.chance(20) else ""
        by = ", ".join(k + self.c.pick(("", " asc", " desc")) for k in keys)
        limit = self.limit() if self.c.chance(30) else ""
        return f"select {distinct}{shown} from {froms}{where} order by {by}{limit}"

    def grouped(self, scope: Scope, depth: int) -> str:
        inner, froms = self.iterators(scope, depth)
        labels = []
        for name in "gh"[: self.c.number(1, 2)]:
            objects = [(n, t) for n, t in self.paths(inner) if t[0] == "class"]
            if objects and self.c.chance(40):
                labels.append((name, *self.c.pick(objects)))
            elif self.c.chance(20):
                labels.append((name, self.boolean(inner, 0), "boolean"))
            else:
                labels.append((name, *self.scalar(inner, 0)))
        where = f" where {self.boolean(inner, depth - 1)}" if self.c.chance(40) else ""
        by = ", ".join(f"{n}: {e}" for n, e, _ in labels)
        partition: Scope = [("p", ("struct", tuple(inner[len(scope) :])))]
        shown = [f"{n}: {n}" for n, _, _ in labels]
        shown.append(self.c.pick(("n: count(partition)", "n: count(*)")))
        path = self.path(inner, self.c.pick(("int", "string")))
        if path and self.c.chance(30):
            shown.append(f"d: count(distinct {path})")
        if self.c.chance(60):
            function = self.c.pick(("sum", "min", "max", "avg"))
            text, _ = self.scalar(partition, 0, ("int",) if function != "min" else ("int", "string"))
            shown.append(f"v: {function}(select {text} from p in partition)")
        if self.c.chance(30):
            shown.append(f"m: (select {self.scalar(partition, 0)[0]} from p in partition)")
        having = f" having count(partition) > {self.c.number(0, 2)}" if self.c.chance(30) else ""
        body = "*" if self.c.chance(8) else f"struct({', '.join(shown)})"
        return f"select {body} from {froms}{where} group by {by}{having}"

    def set_operation(self, depth: int) -> str:
        of = self.c.pick((("int",), ("string",)))
        left, right = self.select([], depth - 1, of)[0], self.select([], depth - 1, of)[0]
        return f"({left}) {self.c.pick(('union', 'intersect', 'except'))} ({right})"

    def flatten(self, depth: int) -> str:
        name = self.c.pick(list(self.model.extents))
        variable = self.fresh()
        scope: Scope = [(variable, ("class", self.model.extents[name].name))]
        many = [(n, t) for n, t in self.paths(scope) if t[0] in ("set", "bag", "list")]
        if many and self.c.chance(70):
            return f"flatten(select {self.c.pick(many)[0]} from {variable} in {name})"
        return f"flatten(select ({self.select(scope, depth - 1)[0]}) from {variable} in {name})"

    # Collections

    def collection(self, scope: Scope, depth: int) -> tuple[str, Any]:
        """Something to iterate over, and the type of its elements."""
        many = [(n, t[1]) for n, t in self.paths(scope) if t[0] in ("set", "bag", "list")]
        many += [(f"keys({n})", t[1]) for n, t in self.paths(scope) if t[0] == "dictionary"]
        if many and self.c.chance(60):
            return self.c.pick(many)
        if depth > 0 and self.c.chance(15):
            text, t = self.select(scope, depth - 1)
            return f"({text})", t
        name = self.c.pick(list(self.model.extents))
        return name, ("class", self.model.extents[name].name)

    # Scalars

    def paths(self, scope: Scope, steps: int = 2) -> list[tuple[str, Any]]:
        """Variables and what is reached from them, with its type."""
        found: list[tuple[str, Any]] = []
        waiting = [(n, t, steps) for n, t in scope]
        while waiting:
            text, t, left = waiting.pop()
            found.append((text, t))
            if left and t[0] == "class":
                waiting += [(f"{text}.{p}", pt, left - 1) for p, pt in self.model.properties(t[1]).items()]
            elif left and t[0] == "struct":
                waiting += [(f"{text}.{p}", pt, left) for p, pt in t[1]]
        return found

    def scalar(
        self, scope: Scope, depth: int, of: tuple[str, ...] = ("int", "string", "float")
    ) -> tuple[str, Any]:
        """An expression of one of some types."""
        t = self.c.pick(of)
        if t in NUMBERS:
            return self.number(scope, depth, t), t
        if t == "string":
            return self.string(scope), t
        return self.path(scope, t) or ("nil" if t != "boolean" else "true"), t

    def path(self, scope: Scope, t: str) -> str | None:
        found = [n for n, pt in self.paths(scope) if pt == t]
        return self.c.pick(found) if found else None

    def number(self, scope: Scope, depth: int, t: str = "int") -> str:
        path = self.path(scope, t)
        choice = self.c.number(1, 12)
        if path and choice <= 6:
            return path
        if path and choice == 11:
            return f"{self.c.pick(('nvl', 'ifnull'))}({path}, {self.number(scope, 0, t)})"
        if choice <= 8 and depth > 0:
            function = self.c.pick(("count", "sum", "max", "min"))
            return f"{function}({self.select(scope, depth - 1, (t if function != 'count' else 'int',))[0]})"
        if choice <= 10 and depth > 0:
            a, b = self.number(scope, depth - 1, t), self.number(scope, 0, t)
            return f"({a} {self.c.pick('+-*')} {b})"
        return path or {"int": str(self.c.number(0, 6)), "float": "0.5", "decimal": "2"}[t]

    def string(self, scope: Scope) -> str:
        path = self.path(scope, "string") or self.c.pick(WORDS)
        choice = self.c.number(1, 10)
        if choice == 1:
            return f"({path} || {self.c.pick(WORDS)})"
        if choice == 2:
            return f"{path}[0:1]"
        if choice == 3:
            return f"{path}[0]"
        if choice == 4:
            return f"nvl({path}, {self.c.pick(WORDS)})"
        return path

    def boolean(self, scope: Scope, depth: int) -> str:
        choice = self.c.number(1, 20)
        if choice <= 5:
            return self.comparison(scope, depth)
        if choice <= 7 and depth > 0:
            a, b = self.boolean(scope, depth - 1), self.boolean(scope, depth - 1)
            return f"(({a}) {self.c.pick(('and', 'or', 'andthen', 'orelse'))} ({b}))"
        if choice == 8 and depth > 0:
            return f"not ({self.boolean(scope, depth - 1)})"
        if choice <= 11 and depth > 0:
            text, t = self.collection(scope, depth - 1)
            name = self.fresh()
            word = self.c.pick(("exists", "for all"))
            return f"({word} {name} in {text}: ({self.boolean([*scope, (name, t)], depth - 1)}))"
        if choice == 12 and depth > 0:
            return f"{self.c.pick(('exists', 'unique'))}({self.select(scope, depth - 1)[0]})"
        if choice == 13 and depth > 0:
            return f"({self.number(scope, 0)} in ({self.select(scope, depth - 1, ('int',))[0]}))"
        if choice == 14 and depth > 0:
            sign = self.c.pick((">", "<=", "=", "!="))
            word = self.c.pick(("some", "all"))
            return f"({self.number(scope, 0)} {sign} {word} ({self.select(scope, depth - 1, ('int',))[0]}))"
        if choice == 15 and self.path(scope, "string"):
            return f'({self.string(scope)} like "{self.c.pick(("A%", "*n", "?a*", "_"))}")'
        objects = [(n, t) for n, t in self.paths(scope) if t[0] == "class"]
        if choice <= 17 and objects:
            name, t = self.c.pick(objects)
            others = [n for n, o in objects if self.model.is_a(o[1], t[1]) or self.model.is_a(t[1], o[1])]
            return f"({name} {self.c.pick(('=', '!='))} {self.c.pick([*others, 'nil'])})"
        if choice == 18 and objects:
            return f"{self.c.pick(('is_defined', 'is_undefined'))}({self.scalar(scope, 0)[0]})"
        if choice == 19 and objects:
            name, t = self.c.pick(objects)
            many = [
                n for n, m in self.paths(scope) if m[0] in ("set", "bag", "list") and m[1] == ("class", t[1])
            ]
            if many:
                return f"({name} in {self.c.pick(many)})"
        return self.comparison(scope, 0)

    def comparison(self, scope: Scope, depth: int) -> str:
        sign = self.c.pick(("=", "!=", "<", "<=", ">", ">="))
        if self.c.chance(25):
            return f"({self.string(scope)} {sign} {self.string(scope)})"
        if self.path(scope, "date") and self.c.chance(20):
            return f"({self.path(scope, 'date')} {sign} date '2001-02-02')"
        if self.path(scope, "boolean") and self.c.chance(15):
            return str(self.path(scope, "boolean"))
        t = self.c.pick(("int", "int", "float", "decimal")) if self.path(scope, "decimal") else "int"
        return f"({self.number(scope, depth, t)} {sign} {self.number(scope, 0, t)})"
