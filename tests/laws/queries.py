"""Random queries over all operators.

A recursive grammar: every production gives valid, typed Spark SQL with a result that the data determines (orders are
total where the order shows). Names of tables, derived tables and columns are unique, so that no reference is ambiguous.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.laws.chooser import Chooser
from tests.laws.expressions import ORDERED, Scope, Visible, condition, expression
from tests.laws.schemas import Table

Output = list[tuple[str, str]]
"""Names and kinds of a query's columns."""

KEY, REFERENCE = ".k", ".p"
"""How columns end that are keys, and that refer to keys: joins along references are drawn more often."""


@dataclass
class Grammar:
    c: Chooser
    tables: list[Table]
    names: int = 0
    ctes: list[tuple[str, Output]] = field(default_factory=list)

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    # --- queries -------------------------------------------------------------------------------------------

    def query(self, depth: int) -> tuple[str, Output]:
        if depth <= 0:
            return self.plain(0, ())
        kinds = (
            "plain",
            "grouped",
            "plain",
            "grouped",
            "sets",
            "distinct",
            "window",
            "top",
            "shared",
            "recursive",
        )
        match self.c.pick(kinds):
            case "plain":
                return self.plain(depth, ())
            case "grouped":
                return self.grouped(depth, ())
            case "distinct":
                text, output = self.plain(depth, ())
                return text.replace("SELECT", "SELECT DISTINCT", 1), output
            case "sets":
                return self.sets(depth)
            case "window":
                return self.window(depth)
            case "top":
                return self.top(depth)
            case "shared":
                return self.shared(depth)
            case _:
                return self.recursive()

    def plain(self, depth: int, outer: Scope, kinds: list[str] | None = None) -> tuple[str, Output]:
        """SELECT expressions FROM ... WHERE ...; `kinds`: those of the columns."""
        source, scope = self.source(depth, outer)
        if self.c.chance(6):
            source, scope = self.exploded(source, scope)
        wanted = kinds or [self.c.pick(scope).kind for _ in range(self.c.number(1, 3))]
        items, output = [], []
        for kind in wanted:
            name = self.fresh("x")
            term = expression(self.c, scope, kind, 1)
            if depth > 0 and kind == "INT" and self.c.chance(15):
                term = self.scalar(depth - 1, scope)
            items.append(f"{term} AS {name}")
            output.append((name, kind))
        return f"SELECT {', '.join(items)} FROM {source}{self.where(depth, scope, outer)}", output

    def where(self, depth: int, scope: Scope, outer: Scope) -> str:
        conditions = []
        links = [(a, b) for a in scope for b in outer if a.kind == b.kind]
        if links:
            inner, other = self.c.pick(links)
            operator = "=" if not self.c.chance(20) or inner.kind not in ORDERED else self.c.pick(("<", ">="))
            conditions.append(f"{inner.text} {operator} {other.text}")
        if self.c.chance(50):
            conditions.append(condition(self.c, scope, 2))
        if depth > 0 and self.c.chance(35):
            conditions.append(self.nested(depth - 1, scope))
        return f" WHERE {' AND '.join(conditions)}" if conditions else ""

    def grouped(self, depth: int, outer: Scope) -> tuple[str, Output]:
        source, scope = self.source(depth, outer)
        keys = [v for v in (self.c.pick(scope) for _ in range(self.c.number(0, 2)))]
        keys = list(dict.fromkeys(keys))
        items, output = [], []
        for key in keys:
            name = self.fresh("k")
            items.append(f"{key.text} AS {name}")
            output.append((name, key.kind))
        for _ in range(self.c.number(1, 3)):
            name = self.fresh("g")
            text, kind = self.aggregate(scope)
            items.append(f"{text} AS {name}")
            output.append((name, kind))
        where = self.where(depth, scope, outer)
        group = having = ""
        if keys:
            listed = ", ".join(k.text for k in keys)
            shape = self.c.pick(("", "", "", "ROLLUP", "CUBE"))
            group = f" GROUP BY {shape} ({listed})" if shape else f" GROUP BY {listed}"
            if self.c.chance(10):
                each = ", ".join(f"({k.text})" for k in keys)
                group = f" GROUP BY GROUPING SETS ({each}, ({listed}){self.c.pick(('', ', ()'))})"
        if self.c.chance(30):
            having = f" HAVING {self.aggregate(scope, 'INT')[0]} {self.c.pick(('>', '<=', '='))} {self.c.number(0, 3)}"
        return f"SELECT {', '.join(items)} FROM {source}{where}{group}{having}", output

    def aggregate(self, scope: Scope, kind: str | None = None) -> tuple[str, str]:
        """An aggregate call and its kind."""
        term = self.c.pick(scope)
        numeric = [v for v in scope if v.kind in ("INT", "DECIMAL", "DOUBLE")]
        counts = ["COUNT(*)", f"COUNT({term.text})", f"COUNT(DISTINCT {term.text})"]
        options: list[tuple[str, str]] = [(text, "INT") for text in counts]
        if kind is None:
            options.append((f"MIN({term.text})", term.kind))
            options.append((f"MAX({term.text})", term.kind))
            if numeric:
                number = self.c.pick(numeric)
                options.append((f"SUM({number.text})", number.kind))
                options.append((f"SUM(DISTINCT {number.text})", number.kind))
            integers = [v for v in scope if v.kind == "INT"]
            if integers:
                options.append((f"AVG({self.c.pick(integers).text})", "DOUBLE"))
            options.append((f"bool_and({condition(self.c, scope, 0)})", "BOOLEAN"))
            options.append((f"bool_or({condition(self.c, scope, 0)})", "BOOLEAN"))
        text, found = self.c.pick(options)
        if self.c.chance(15):
            text += f" FILTER (WHERE {condition(self.c, scope, 1)})"
        return text, found

    def sets(self, depth: int) -> tuple[str, Output]:
        left, output = self.plain(depth - 1, ())
        right, _ = self.plain(depth - 1, (), [kind for _, kind in output])
        operators = ("UNION ALL", "UNION", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL")
        return f"{left} {self.c.pick(operators)} {right}", output

    def window(self, depth: int) -> tuple[str, Output]:
        inner, output = self.query(depth - 1)
        alias = self.fresh("w")
        columns = [f"{alias}.{name}" for name, _ in output]
        total = ", ".join(f"{text}{self.c.pick(('', ' DESC'))}" for text in columns)
        some = self.c.pick(columns)
        partition = f"PARTITION BY {self.c.pick(columns)} " if self.c.chance(60) else ""
        integers = [f"{alias}.{n}" for n, k in output if k == "INT"]
        whole = f"({partition}ORDER BY {total})"
        options = [
            (f"row_number() OVER {whole}", "INT"),
            (f"rank() OVER ({partition}ORDER BY {some})", "INT"),
            (f"dense_rank() OVER ({partition}ORDER BY {some} DESC)", "INT"),
            (f"COUNT(*) OVER ({partition or ''})", "INT"),
            (f"COUNT({some}) OVER ({partition}ORDER BY {some})", "INT"),
            (f"ntile(2) OVER {whole}", "INT"),
            (f"lag({columns[0]}) OVER {whole}", output[0][1]),
            (f"lead({columns[-1]}, 2) OVER {whole}", output[-1][1]),
            (f"first_value({columns[0]}) OVER {whole}", output[0][1]),
        ]
        if integers:
            number = self.c.pick(integers)
            options.append((f"SUM({number}) OVER ({partition}ORDER BY {some})", "INT"))
            rows = "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING"
            options.append((f"SUM({number}) OVER ({partition}ORDER BY {total} {rows})", "INT"))
            reach = "RANGE BETWEEN 1 PRECEDING AND CURRENT ROW"
            options.append((f"COUNT(*) OVER ({partition}ORDER BY {number} {reach})", "INT"))
            options.append((f"MAX({number}) OVER ({partition}ORDER BY {total})", "INT"))
        items = [f"{text} AS {name}" for text, name in zip(columns, [n for n, _ in output], strict=True)]
        extra: Output = []
        for _ in range(self.c.number(1, 2)):
            text, kind = self.c.pick(options)
            name = self.fresh("f")
            items.append(f"{text} AS {name}")
            extra.append((name, kind))
        return f"SELECT {', '.join(items)} FROM ({inner}) {alias}", output + extra

    def top(self, depth: int) -> tuple[str, Output]:
        inner, output = self.query(depth - 1)
        alias = self.fresh("o")
        order = ", ".join(
            f"{name}{self.c.pick(('', ' DESC', ' DESC NULLS FIRST', ' NULLS LAST'))}" for name, _ in output
        )
        offset = f" OFFSET {self.c.number(1, 2)}" if self.c.chance(30) else ""
        return f"SELECT * FROM ({inner}) {alias} ORDER BY {order} LIMIT {self.c.number(1, 3)}{offset}", output

    def shared(self, depth: int) -> tuple[str, Output]:
        """WITH, its query used in two places."""
        name = self.fresh("cte")
        inner, output = self.query(depth - 1)
        self.ctes.append((name, output))
        text, result = self.plain(depth - 1, ())
        self.ctes.pop()
        return (
            f"WITH {name} AS ({inner}) {text}" if "WITH" not in text else f"SELECT * FROM ({inner}) {name}",
            (result if "WITH" not in text else output),
        )

    def recursive(self) -> tuple[str, Output]:
        """Reachability over two INT columns of a table, UNION or bounded UNION ALL."""
        candidates = [t for t in self.tables if sum(k == "INT" for _, k in t.columns) >= 2]
        if not candidates:
            return self.plain(1, ())
        table = self.c.pick(candidates)
        a, b = [n for n, k in table.columns if k == "INT"][:2]
        name, e = self.fresh("rec"), self.fresh("e")
        x, y = self.fresh("x"), self.fresh("y")
        if self.c.chance(70):
            text = (
                f"WITH RECURSIVE {name}({x}, {y}) AS (SELECT {a}, {b} FROM {table.name} UNION "
                f"SELECT {name}.{x}, {e}.{b} FROM {name} JOIN {table.name} {e} ON {name}.{y} = {e}.{a}) "
                f"SELECT {x}, {y} FROM {name}"
            )
        else:
            n = self.fresh("n")
            text = (
                f"WITH RECURSIVE {name}({x}, {y}, {n}) AS (SELECT {a}, {b}, 1 FROM {table.name} UNION ALL "
                f"SELECT {name}.{x}, {e}.{b}, {name}.{n} + 1 FROM {name} JOIN {table.name} {e} "
                f"ON {name}.{y} = {e}.{a} WHERE {name}.{n} < 3) SELECT {x}, {y} FROM {name}"
            )
        return text, [(x, "INT"), (y, "INT")]

    # --- sources -------------------------------------------------------------------------------------------

    def source(self, depth: int, outer: Scope) -> tuple[str, Scope]:
        """A FROM clause and what it makes visible."""
        if depth <= 0 or self.c.chance(40):
            return self.leaf(depth)
        left, left_scope = self.source(depth - 1, outer)
        if self.c.chance(8):
            return self.lateral(left, left_scope)
        right, right_scope = self.leaf(depth)
        kinds = (
            "JOIN",
            "LEFT JOIN",
            "RIGHT JOIN",
            "FULL JOIN",
            "CROSS JOIN",
            "LEFT SEMI JOIN",
            "LEFT ANTI JOIN",
            "JOIN",
        )
        kind = self.c.pick(kinds)
        if kind == "CROSS JOIN":
            return f"{left} CROSS JOIN {right}", left_scope + right_scope
        pairs = [(a, b) for a in left_scope for b in right_scope if a.kind == b.kind]
        along = [(a, b) for a, b in pairs if {a.text[-2:], b.text[-2:]} == {REFERENCE, KEY}]
        pairs = along if along and self.c.chance(60) else pairs
        a, b = self.c.pick(pairs) if pairs else (left_scope[0], right_scope[0])
        on = f"{a.text} = {b.text}" if pairs else "TRUE"
        if self.c.chance(10) and pairs and a.kind in ORDERED:
            on = f"{a.text} < {b.text}"
        if self.c.chance(25):
            on += f" AND {condition(self.c, left_scope + right_scope, 1)}"
        scope = left_scope if "SEMI" in kind or "ANTI" in kind else left_scope + right_scope
        return f"{left} {kind} {right} ON {on}", scope

    def lateral(self, left: str, scope: Scope) -> tuple[str, Scope]:
        """A subquery for each row of what stands before."""
        alias, name = self.fresh("l"), self.fresh("z")
        source, inner = self.leaf(0)
        text, kind = self.aggregate(inner)
        body = f"SELECT {text} AS {name} FROM {source}{self.where(0, inner, scope)}"
        return f"{left} CROSS JOIN LATERAL ({body}) {alias}", (*scope, Visible(f"{alias}.{name}", kind))

    def exploded(self, source: str, scope: Scope) -> tuple[str, Scope]:
        """LATERAL VIEW stands after all joins."""
        numbers = [v for v in scope if v.kind == "INT"]
        if not numbers:
            return source, scope
        alias, name = self.fresh("l"), self.fresh("z")
        items = ", ".join(self.c.pick(numbers).text for _ in range(2))
        text = f"{source} LATERAL VIEW explode(array({items})) {alias} AS {name}"
        return text, (*scope, Visible(f"{alias}.{name}", "INT"))

    def leaf(self, depth: int) -> tuple[str, Scope]:
        alias = self.fresh("a")
        if self.ctes and self.c.chance(70):
            name, output = self.c.pick(self.ctes)
            return f"{name} {alias}", tuple(Visible(f"{alias}.{n}", k) for n, k in output)
        if depth > 0 and self.c.chance(25):
            text, output = self.query(depth - 1)
            return f"({text}) {alias}", tuple(Visible(f"{alias}.{n}", k) for n, k in output)
        table = self.c.pick(self.tables)
        return f"{table.name} {alias}", tuple(Visible(f"{alias}.{n}", k) for n, k in table.columns)

    # --- subqueries ----------------------------------------------------------------------------------------

    def scalar(self, depth: int, outer: Scope) -> str:
        source, scope = self.source(depth, ())
        linked = outer if self.c.chance(70) else ()
        text, _ = self.aggregate(scope, "INT")
        return f"(SELECT {text} FROM {source}{self.where(0, scope, linked)})"

    def nested(self, depth: int, outer: Scope) -> str:
        """A condition with a subquery."""
        linked = outer if self.c.chance(60) else ()
        match self.c.number(0, 4):
            case 0:
                text, _ = self.plain(depth, linked)
                return f"{self.c.pick(('', 'NOT '))}EXISTS ({text})"
            case 1 | 2:
                probe = self.c.pick(outer)
                text, _ = self.plain(depth, linked, [probe.kind])
                return f"{probe.text} {self.c.pick(('', 'NOT '))}IN ({text})"
            case 3:
                probe = self.c.pick([v for v in outer if v.kind in ORDERED] or [Visible("1", "INT")])
                text, _ = self.plain(depth, (), [probe.kind])
                return f"{probe.text} {self.c.pick(('<', '>=', '='))} {self.c.pick(('ANY', 'ALL'))} ({text})"
            case _:
                return f"{expression(self.c, outer, 'INT', 0)} {self.c.pick(('<', '>=', '='))} {self.scalar(depth, outer)}"


def query(c: Chooser, tables: list[Table], depth: int = 2) -> str:
    return Grammar(c, tables).query(depth)[0]


def view(c: Chooser, tables: list[Table], name: str) -> tuple[str, Table]:
    """A query, and a table that stands for the view of this name over it."""
    text, output = Grammar(c, tables, names=100).query(1)
    return text, Table(name, output)
