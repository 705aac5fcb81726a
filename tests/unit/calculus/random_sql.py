"""Random SQL that Spark and DuckDB read alike: no ties in orders, no errors, NULLS FIRST or LAST said."""

from __future__ import annotations

import datetime
from decimal import Decimal
from random import Random
from typing import Any

TABLES = {
    "t": {"id": "INT", "a": "INT", "b": "INT", "s": "STRING", "d": "DOUBLE"},
    "u": {"id": "INT", "a": "INT", "c": "INT", "day": "DATE"},
    "w": {"id": "INT", "b": "INT", "s": "STRING", "p": "DECIMAL(8,2)"},
}

TYPES = ["INT", "INT", "INT", "STRING", "DATE", "DECIMAL(8,2)"]

Columns = list[tuple[str, str]]  # (reference, type)


def random_rows(rng: Random, most: int = 8) -> dict[str, list[tuple[Any, ...]]]:
    def value(column: str, kind: str, i: int) -> Any:
        if column == "id":
            return i
        if rng.random() < 0.2:
            return None
        match kind:
            case "STRING":
                return rng.choice(["x", "y", "z", ""])
            case "DOUBLE":  # sums of these are exact in any order
                return rng.choice([-1.5, 0.0, 0.25, 2.0])
            case "DATE":
                return datetime.date(2024, 2, rng.randint(26, 29))
            case "DECIMAL(8,2)":
                return Decimal(rng.randint(-200, 400)) / 100
            case _:
                return rng.randint(0, 4)

    return {
        table: [tuple(value(c, k, i) for c, k in columns.items()) for i in range(rng.randint(0, most))]
        for table, columns in TABLES.items()
    }


class SqlWriter:
    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.aliases = 0

    def alias(self, stem: str = "q") -> str:
        self.aliases += 1
        return f"{stem}{self.aliases}"

    # --- queries -------------------------------------------------------------------------------------------

    def statement(self, depth: int) -> str:
        rng = self.rng
        kind = rng.random()
        if kind < 0.06:
            return self.recursive()
        if kind < 0.1:
            key, left, right = rng.choice(
                [("id", "t", "u"), ("a", "t", "u"), ("b", "t", "w"), ("s", "w", "t")]
            )
            join = rng.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"])
            return f"SELECT {key} AS c0, x.id AS c1, y.* FROM {left} AS x {join} {right} AS y USING ({key})"
        if kind < 0.2 and depth > 0:
            name = self.alias("cte")
            body = self.query(depth - 1, [], ["INT", "INT"])
            columns = [(f"{name}x.c0", "INT"), (f"{name}x.c1", "INT"), (f"{name}y.c0", "INT")]
            return (
                f"WITH {name} AS ({body}) SELECT {name}x.c0 AS c0, {self.number(0, columns)} AS c1 "
                f"FROM {name} AS {name}x JOIN {name} AS {name}y ON {self.condition(0, columns)}"
            )
        return self.query(depth, [], [rng.choice([*TYPES, "DOUBLE"]) for _ in range(rng.randint(1, 3))])

    def query(self, depth: int, scope: Columns, types: list[str]) -> str:
        """A query whose columns are c0, c1, ... of these types."""
        rng = self.rng
        kind = rng.random()
        if depth <= 0:
            return self.block(0, scope, types)
        if kind < 0.12 and "DOUBLE" not in types:  # averages may differ in their last bit
            operation = rng.choice(
                ["UNION", "UNION ALL", "INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"]
            )
            left, right = self.query(depth - 1, [], types), self.query(depth - 1, [], types)
            return f"({left}) {operation} ({right})"
        if kind < 0.3:
            return self.grouped(depth, scope, types)
        if kind < 0.4:
            return self.windowed(depth, scope, types)
        if kind < 0.48:
            return self.limited(depth, scope, types)
        return self.block(depth, scope, types)

    def block(self, depth: int, scope: Columns, types: list[str]) -> str:
        source, columns = self.source(depth, scope)
        seen = columns + scope
        heads = ", ".join(f"{self.expression(depth, seen, t)} AS c{i}" for i, t in enumerate(types))
        distinct = "DISTINCT " if self.rng.random() < 0.15 else ""
        return f"SELECT {distinct}{heads} FROM {source}{self.where(depth, seen)}"

    def where(self, depth: int, columns: Columns) -> str:
        return f" WHERE {self.condition(depth, columns)}" if self.rng.random() < 0.6 else ""

    def grouped(self, depth: int, scope: Columns, types: list[str]) -> str:
        rng = self.rng
        source, columns = self.source(depth, scope)
        where = self.where(depth, columns + scope)
        if rng.random() < 0.2:
            return f"SELECT {self.aggregates(columns, types, [])} FROM {source}{where}"
        keys = [rng.choice(columns) for _ in range(rng.randint(1, 2))]
        keys = list(dict.fromkeys(keys))
        names = [k for k, _ in keys]
        by = ", ".join(names)
        if rng.random() < 0.3:
            sets = ", ".join(["()", f"({names[0]})", f"({by})"])
            by = rng.choice([f"ROLLUP ({by})", f"CUBE ({by})", f"GROUPING SETS ({sets})"])
        having = ""
        if rng.random() < 0.3:
            having = f" HAVING {self.aggregate(columns, 'INT')} {rng.choice(['>', '<=', '<>'])} {rng.randint(0, 3)}"
        heads = self.aggregates(columns, types, keys)
        return f"SELECT {heads} FROM {source}{where} GROUP BY {by}{having}"

    def aggregates(self, columns: Columns, types: list[str], keys: Columns) -> str:
        heads = []
        for i, t in enumerate(types):
            own = [k for k, kind in keys if kind == t]
            term = self.rng.choice(own) if own and self.rng.random() < 0.5 else self.aggregate(columns, t)
            heads.append(f"{term} AS c{i}")
        return ", ".join(heads)

    def aggregate(self, columns: Columns, kind: str) -> str:
        rng = self.rng
        arg = self.column(columns, kind)
        if kind == "DOUBLE":
            number = self.column(columns, rng.choice(["INT", "DOUBLE"]))
            text = f"{rng.choice(['AVG', 'STDDEV', 'VAR_POP', 'MEDIAN', 'SUM', 'MIN'])}({number})"
        elif kind == "DECIMAL(8,2)":
            text = f"{rng.choice(['MIN', 'MAX', 'SUM', 'SUM'])}({arg})"
        elif kind != "INT":
            text = f"{rng.choice(['MIN', 'MAX'])}({arg})"
        elif rng.random() < 0.3:
            text = "COUNT(*)"
        else:
            name = rng.choice(["SUM", "COUNT", "MIN", "MAX"])
            distinct = "DISTINCT " if name in ("SUM", "COUNT") and rng.random() < 0.3 else ""
            text = f"{name}({distinct}{arg})"
        where = f" FILTER (WHERE {self.condition(0, columns)})" if rng.random() < 0.15 else ""
        return f"CAST({text}{where} AS {kind})"

    def windowed(self, depth: int, scope: Columns, types: list[str]) -> str:
        rng = self.rng
        table = rng.choice(list(TABLES))
        name = self.alias()
        columns = [(f"{name}.{c}", k) for c, k in TABLES[table].items()]
        heads = []
        for i, t in enumerate(types):
            heads.append(f"CAST({self.window(name, columns, t)} AS {t}) AS c{i}")
        qualify = ""
        if rng.random() < 0.3:
            qualify = f" QUALIFY ROW_NUMBER() OVER (PARTITION BY {self.column(columns, 'INT')} ORDER BY {name}.id) <= 2"
        where = self.where(depth, columns + scope)
        return f"SELECT {', '.join(heads)} FROM {table} AS {name}{where}{qualify}"

    def window(self, name: str, columns: Columns, kind: str) -> str:
        rng = self.rng
        partition = f"PARTITION BY {self.column(columns, 'INT')} " if rng.random() < 0.6 else ""
        first = f"{self.column(columns, 'INT')} {rng.choice(['ASC', 'DESC'])} NULLS {rng.choice(['FIRST', 'LAST'])}"
        total = f"{first}, {name}.id"
        arg = self.column(columns, kind)
        choice = rng.random()
        if kind not in ("INT", "DOUBLE") or choice < 0.3:
            call = rng.choice(
                [
                    f"LAG({arg})",
                    f"LEAD({arg}, 2)",
                    f"FIRST_VALUE({arg})",
                    f"LAST_VALUE({arg})",
                    f"NTH_VALUE({arg}, 2)",
                ]
            )
            return f"{call} OVER ({partition}ORDER BY {total})"
        if choice < 0.5:
            call = rng.choice(["RANK()", "DENSE_RANK()", "NTILE(3)", "ROW_NUMBER()"])
            order = total if call in ("NTILE(3)", "ROW_NUMBER()") else first
            return f"{call} OVER ({partition}ORDER BY {order})"
        call = rng.choice([f"SUM({arg})", f"COUNT({arg})", "COUNT(*)", f"MIN({arg})", f"MAX({arg})"])
        frame = rng.choice(
            [
                "",
                "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
                "ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
                "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
            ]
        )
        if choice < 0.7:
            return f"{call} OVER ({partition}ORDER BY {total} {frame})"
        if days := [c for c, k in columns if k == "DATE"]:
            bounds = rng.choice(["INTERVAL '1' DAY PRECEDING", "INTERVAL '1' MONTH PRECEDING"])
            return f"{call} OVER ({partition}ORDER BY {days[0]} NULLS FIRST RANGE BETWEEN {bounds} AND CURRENT ROW)"
        bounds = rng.choice(
            ["RANGE BETWEEN 1 PRECEDING AND CURRENT ROW", "RANGE BETWEEN 1 PRECEDING AND 2 FOLLOWING", ""]
        )
        return f"{call} OVER ({partition}ORDER BY {first} {bounds})"

    def limited(self, depth: int, scope: Columns, types: list[str]) -> str:
        rng = self.rng
        inner = self.block(depth - 1, scope, types)
        order = ", ".join(
            f"c{i} {rng.choice(['ASC', 'DESC'])} NULLS {rng.choice(['FIRST', 'LAST'])}"
            for i in range(len(types))
        )
        offset = f" OFFSET {rng.randint(0, 2)}" if rng.random() < 0.3 else ""
        name = self.alias()
        return f"SELECT * FROM ({inner}) AS {name} ORDER BY {order} LIMIT {rng.randint(0, 4)}{offset}"

    def recursive(self) -> str:
        rng = self.rng
        if rng.random() < 0.4:
            most = rng.randint(1, 9)
            return (
                f"WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n WHERE x < {most}) "
                "SELECT n.x AS c0, u.c AS c1 FROM n LEFT JOIN u ON u.a = n.x"
            )
        return (
            "WITH RECURSIVE p AS (SELECT a, c FROM u UNION "
            "SELECT p.a, e.c FROM p JOIN u AS e ON p.c = e.a) SELECT a AS c0, c AS c1 FROM p"
        )

    # --- FROM ----------------------------------------------------------------------------------------------

    def source(self, depth: int, scope: Columns) -> tuple[str, Columns]:
        rng = self.rng
        text, columns = self.item(depth, scope)
        for _ in range(rng.choice([0, 0, 1, 1, 2])):
            kind = rng.choice(
                ["JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN", "LATERAL"]
            )
            if kind == "LATERAL":
                name = self.alias()
                inner = self.block(0, columns, ["INT"])
                text, columns = (
                    f"{text} CROSS JOIN LATERAL ({inner}) AS {name}",
                    [*columns, (f"{name}.c0", "INT")],
                )
                continue
            right, more = self.item(depth - 1, [])
            if kind in ("JOIN", "LEFT JOIN", "FULL JOIN") and rng.random() < 0.15 and " JOIN " not in text:
                key = self.shared(columns, more)
                if key is not None:
                    text = f"{text} {kind} {right} USING ({key})"
                    columns = [c for c in columns + more if not c[0].endswith(f".{key}")]
                    continue
            if kind == "CROSS JOIN":
                text = f"{text} CROSS JOIN {right}"
            else:
                left_key, right_key = self.column(columns, "INT"), self.column(more, "INT")
                extra = ""
                if rng.random() < 0.3 and kind != "FULL JOIN":
                    extra = f" AND {self.condition(0, columns + more)}"
                text = f"{text} {kind} {right} ON {left_key} = {right_key}{extra}"
            columns = columns + more
        return text, columns

    def shared(self, left: Columns, right: Columns) -> str | None:
        """A column of numbers that both sides have exactly one of."""
        names = [[c.split(".")[-1] for c, k in side if k == "INT"] for side in (left, right)]
        both = [n for n in names[0] if names[0].count(n) == 1 and names[1].count(n) == 1]
        return self.rng.choice(both) if both else None

    def item(self, depth: int, scope: Columns) -> tuple[str, Columns]:
        rng = self.rng
        name = self.alias()
        if depth > 0 and rng.random() < 0.25:
            types = ["INT", rng.choice(TYPES)]
            return f"({self.query(depth - 1, [], types)}) AS {name}", [
                (f"{name}.c{i}", t) for i, t in enumerate(types)
            ]
        table = rng.choice(list(TABLES))
        return f"{table} AS {name}", [(f"{name}.{c}", k) for c, k in TABLES[table].items()]

    # --- expressions ---------------------------------------------------------------------------------------

    def column(self, columns: Columns, kind: str) -> str:
        found = [c for c, k in columns if k == kind]
        return self.rng.choice(found) if found else f"CAST(NULL AS {kind})"

    def expression(self, depth: int, columns: Columns, kind: str) -> str:
        match kind:
            case "INT":
                return self.number(depth, columns)
            case "STRING":
                return self.text(depth, columns)
            case _ if self.rng.random() < 0.2:
                own = self.column(columns, kind)
                return f"CASE WHEN {self.condition(depth - 1, columns)} THEN {own} END"
            case _:
                return self.column(columns, kind)

    def number(self, depth: int, columns: Columns) -> str:
        rng = self.rng
        kind = rng.random()
        if depth > 0 and kind < 0.12:
            name = self.alias()
            table = rng.choice(list(TABLES))
            own = [(f"{name}.{c}", k) for c, k in TABLES[table].items()]
            where = f"{self.column(own, 'INT')} = {self.column(columns, 'INT')}"
            return f"(SELECT {self.aggregate(own, 'INT')} FROM {table} AS {name} WHERE {where})"
        if kind < 0.2:
            return f"COALESCE({self.column(columns, 'INT')}, {rng.randint(0, 5)})"
        if kind < 0.3:
            condition = self.condition(depth - 1, columns)
            return f"CASE WHEN {condition} THEN {self.column(columns, 'INT')} ELSE {rng.randint(0, 5)} END"
        if kind < 0.4:
            return f"({self.column(columns, 'INT')} + {self.column(columns, 'INT')})"
        if kind < 0.45:
            return f"NULLIF({self.column(columns, 'INT')}, {rng.randint(0, 3)})"
        return self.column(columns, "INT")

    def text(self, depth: int, columns: Columns) -> str:
        rng = self.rng
        kind = rng.random()
        if kind < 0.15:
            return f"COALESCE({self.column(columns, 'STRING')}, 'none')"
        if kind < 0.25:
            return f"UPPER({self.column(columns, 'STRING')})"
        if kind < 0.3:
            return "'lit'"
        return self.column(columns, "STRING")

    def condition(self, depth: int, columns: Columns) -> str:
        rng = self.rng
        kind = rng.random()
        if depth > 0 and kind < 0.45:
            return self.nested(depth, columns)
        if depth > 0 and kind < 0.55:
            parts = f" {rng.choice(['AND', 'OR'])} ".join(
                self.condition(depth - 1, columns) for _ in range(2)
            )
            return f"({parts})"
        if depth > 0 and kind < 0.62:
            return f"NOT ({self.condition(depth - 1, columns)})"
        if kind < 0.7:
            return f"{self.column(columns, 'INT')} IS {rng.choice(['', 'NOT '])}NULL"
        if kind < 0.76:
            return f"{self.column(columns, 'INT')} {rng.choice(['', 'NOT '])}IN (1, 2{rng.choice(['', ', NULL'])})"
        if kind < 0.82:
            return f"{self.column(columns, 'STRING')} {rng.choice(['=', '<>', '<', '>='])} 'y'"
        if kind < 0.86:
            return f"{self.column(columns, 'INT')} BETWEEN 1 AND 3"
        if kind < 0.89:
            return f"{self.column(columns, 'DATE')} {rng.choice(['=', '<', '>='])} DATE '2024-02-28'"
        if kind < 0.92:
            return f"{self.column(columns, 'DECIMAL(8,2)')} {rng.choice(['<', '>='])} {rng.choice(['0.5', '1', '1.25'])}"
        left, right = self.column(columns, "INT"), self.column(columns, "INT")
        right = right if rng.random() < 0.5 else str(rng.randint(0, 4))
        return f"{left} {rng.choice(['=', '=', '<>', '<', '<=', '>', '>='])} {right}"

    def nested(self, depth: int, columns: Columns) -> str:
        rng = self.rng
        kind = rng.random()
        scope = columns if rng.random() < 0.5 else []
        if kind < 0.35:
            inner = self.block(depth - 1, columns, ["INT"])
            return f"{rng.choice(['', 'NOT '])}EXISTS ({inner})"
        inner = self.query(depth - 1, scope, ["INT"])
        probe = self.column(columns, "INT")
        if kind < 0.45:
            pair = f"({probe}, {self.column(columns, 'INT')})"
            inner = self.block(depth - 1, [], ["INT", "INT"])
            return f"{pair} {rng.choice(['', 'NOT '])}IN ({inner})"
        if kind < 0.7:
            return f"{probe} {rng.choice(['', 'NOT '])}IN ({inner})"
        if kind < 0.85:
            comparison = rng.choice(["=", "<>", "<", "<=", ">", ">="])
            return f"{probe} {comparison} {rng.choice(['ANY', 'ALL'])} ({inner})"
        return f"{probe} {rng.choice(['=', '<', '>='])} ({self.grouped_scalar(scope)})"

    def grouped_scalar(self, scope: Columns) -> str:
        source, columns = self.source(0, scope)
        return f"SELECT {self.aggregate(columns, 'INT')} AS c0 FROM {source}{self.where(0, columns + scope)}"


def random_sql(rng: Random, depth: int = 2) -> str:
    return SqlWriter(rng).statement(depth)
