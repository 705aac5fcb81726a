"""Analysed plans of DataFrames as SQL text, which our front end reads.

    Project [k#1, sum(v#2) AS s#5]        SELECT c0, sum(c1) AS c2 FROM (SELECT `k` AS c0, `v` AS c1 FROM orders) GROUP BY c0
    +- Aggregate ...

Each operator becomes one SELECT over its input. A leaf is what the plan reads: a dataset of the pipeline, a table of the
catalog, files, or rows that the function made. What has no counterpart raises `NotCaptured` with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.types import _parse_datatype_json_string

from evercurrent.data.types import Member
from evercurrent.engine.spark.declarative.expressions import Expressions, NotCaptured, has_method
from evercurrent.engine.spark.declarative.sql_statements import elements, option, subqueries
from evercurrent.engine.spark.doors.plans import plan_of
from evercurrent.engine.spark.translate.types import type_of
from evercurrent.errors import EvercurrentError
from evercurrent.frontend.sql.spark_text import quote_name

PASSED = {
    "SubqueryAlias",
    "View",
    "ResolvedHint",
    "Repartition",
    "RepartitionByExpression",
    "RebalancePartitions",
}
"""Operators that change no rows."""

JOINS = {
    "Inner": "JOIN",
    "Cross": "CROSS JOIN",
    "LeftOuter": "LEFT JOIN",
    "RightOuter": "RIGHT JOIN",
    "FullOuter": "FULL JOIN",
    "LeftSemi": "LEFT SEMI JOIN",
    "LeftAnti": "LEFT ANTI JOIN",
}


@dataclass(frozen=True)
class Leaf:
    """Something that a plan reads, by the operator of Spark that reads it."""

    plan: Any
    columns: tuple[Member, ...]
    view: str | None = None
    key: tuple[int, ...] = ()


LeafName = Callable[[Leaf], str]
"""The name under which the warehouse knows a leaf; raises NotCaptured if it cannot."""


def capture(frame: DataFrame, leaf_name: LeafName, placeholders: Callable[[str], bool]) -> str:
    """A DataFrame as a query: SELECT with the frame's own names of columns."""
    plan = plan_of(frame)
    writer = Plans(frame.sparkSession, leaf_name, placeholders)
    inner = writer.select(plan)
    columns = [
        f"{writer.expressions.column(a)} AS {quote_name(n)}"
        for a, n in zip(elements(plan.output()), frame.columns, strict=True)
    ]
    return f"SELECT {', '.join(columns)} FROM ({inner})"


def leaves(frame: DataFrame, placeholders: Callable[[str], bool]) -> list[Leaf]:
    """All that a DataFrame reads, in the order of its plan."""
    return [
        leaf_of(p, placeholders) for p in operators(plan_of(frame), placeholders) if is_leaf(p, placeholders)
    ]


def operators(plan: Any, placeholders: Callable[[str], bool]) -> Iterator[Any]:
    """The operators of a plan and of the subqueries in it; what a placeholder stands for is not looked into."""
    yield plan
    if is_leaf(plan, placeholders):
        return
    for child in elements(plan.children()):
        yield from operators(child, placeholders)
    for expression in elements(plan.expressions()):
        for inner in subqueries(expression):
            yield from operators(inner, placeholders)


def is_leaf(plan: Any, placeholders: Callable[[str], bool]) -> bool:
    kind = plan.getClass().getSimpleName()
    if kind == "View":
        return bool(plan.isTempView()) and placeholders(plan.desc().identifier().table())
    return kind not in ("OneRowRelation", "CTERelationRef") and not plan.children().size()


def leaf_of(plan: Any, placeholders: Callable[[str], bool]) -> Leaf:
    columns = tuple(str(a.name()) for a in elements(plan.output()))
    if len({c.lower() for c in columns}) != len(columns):
        raise NotCaptured("a relation with two columns of one name")
    try:
        types = [type_of(_parse_datatype_json_string(a.dataType().json())) for a in elements(plan.output())]
    except EvercurrentError as problem:
        raise NotCaptured(problem.message) from problem
    view = plan.desc().identifier().table() if plan.getClass().getSimpleName() == "View" else None
    key = tuple(int(a.exprId().id()) for a in elements(plan.output()))
    return Leaf(plan, tuple(map(Member, columns, types)), view, key)


def zone_dependent(frame: DataFrame, placeholders: Callable[[str], bool]) -> str | None:
    """The first expression of a plan whose value depends on the session's time zone; None if there is none."""
    for plan in operators(plan_of(frame), placeholders):
        for expression in elements(plan.expressions()):
            for e in parts_of(expression):
                if has_method(e, "timeZoneId") and (
                    e.getClass().getSimpleName() != "Cast" or is_zone_cast(e)
                ):
                    return str(e.sql())
    return None


def parts_of(expression: Any) -> Iterator[Any]:
    yield expression
    for child in elements(expression.children()):
        yield from parts_of(child)


def is_zone_cast(e: Any) -> bool:
    """Whether a cast reads or writes a moment as the clock of a time zone shows it."""
    kinds = {e.child().dataType().sql(), e.dataType().sql()}
    return ("TIMESTAMP" in kinds and len(kinds) > 1) or any("TIMESTAMP" in k and "<" in k for k in kinds)


class Plans:
    def __init__(self, spark: Any, leaf_name: LeafName, placeholders: Callable[[str], bool]) -> None:
        self.expressions = Expressions(spark, self.subquery)
        self.leaf_name = leaf_name
        self.placeholders = placeholders
        self.shared: dict[int, Any] = {}

    def subquery(self, plan: Any) -> str:
        return f"SELECT {self.outputs(plan)} FROM ({self.select(plan)})"

    def outputs(self, plan: Any) -> str:
        """The columns of an operator, each once."""
        names = dict.fromkeys(self.expressions.column(a) for a in elements(plan.output()))
        return ", ".join(names) or "1 AS nothing"

    def write_list(self, expressions: Any) -> str:
        """A select list; an expression that stands in it twice is written once."""
        found: dict[str, str] = {}
        for e in elements(expressions):
            name = self.expressions.column(
                e.toAttribute() if e.getClass().getSimpleName() != "AttributeReference" else e
            )
            text = self.expressions.write(e)
            found[name] = name if text == name else f"{text} AS {name}"
        return ", ".join(found.values()) or "1 AS nothing"

    def select(self, plan: Any) -> str:
        kind = plan.getClass().getSimpleName()
        if is_leaf(plan, self.placeholders):
            return self.leaf(plan)
        if kind in PASSED:
            return self.select(plan.child())
        write = self.expressions
        match kind:
            case "Project" if all(
                e.getClass().getSimpleName() == "AttributeReference" for e in elements(plan.projectList())
            ):
                return self.select(plan.child())  # whoever reads it names the columns
            case "Project":
                return f"SELECT {self.write_list(plan.projectList())} FROM ({self.select(plan.child())})"
            case "Filter":
                return f"SELECT {self.outputs(plan)} FROM ({self.select(plan.child())}) WHERE {write.write(plan.condition())}"
            case "Join":
                return self.join(plan)
            case "Aggregate":
                return self.aggregate(plan)
            case "Distinct":
                return f"SELECT DISTINCT {self.outputs(plan)} FROM ({self.select(plan.child())})"
            case "Deduplicate":
                return self.deduplicate(plan)
            case "Union":
                return self.union(plan)
            case "Intersect" | "Except":
                return self.difference(plan, kind)
            case "Sort":
                # Rows of a table have no order; under a limit it is read by `limit`.
                return self.select(plan.child())
            case "GlobalLimit" | "LocalLimit" | "Offset":
                return self.limit(plan)
            case "Window":
                return self.window(plan)
            case "Expand":
                return self.expand(plan)
            case "Generate":
                return self.generate(plan)
            case "WithCTE":
                for definition in elements(plan.cteDefs()):
                    self.shared[definition.id()] = definition.child()
                return self.select(plan.plan())
            case "CTERelationRef":
                return self.share_query(plan)
            case "OneRowRelation":
                return "SELECT 1 AS nothing"
            case _:
                raise NotCaptured(f"the operator {plan.nodeName()}")

    def leaf(self, plan: Any) -> str:
        leaf = leaf_of(plan, self.placeholders)
        name = self.leaf_name(leaf)
        parts = [
            f"{quote_name(c.name)} AS {self.expressions.column(a)}"
            for c, a in zip(leaf.columns, elements(plan.output()), strict=True)
        ]
        return f"SELECT {', '.join(parts)} FROM {quote_name(name)}"

    def join(self, plan: Any) -> str:
        kind = plan.joinType().toString()
        if kind not in JOINS:
            raise NotCaptured(f"a join of the type {kind}")
        left, right = self.select(plan.left()), self.select(plan.right())
        condition = option(plan.condition())
        word = JOINS[kind]
        if condition is None and kind not in ("Inner", "Cross"):
            on = " ON TRUE"
        elif condition is None:
            word, on = "CROSS JOIN", ""
        else:
            word, on = ("JOIN" if kind == "Cross" else word), f" ON {self.expressions.write(condition)}"
        return f"SELECT {self.outputs(plan)} FROM ({left}) AS l {word} ({right}) AS r{on}"

    def aggregate(self, plan: Any) -> str:
        child = self.select(plan.child())
        keys = self.expressions.all(plan.groupingExpressions())
        columns = self.write_list(plan.aggregateExpressions())
        if not keys:
            return f"SELECT {columns} FROM ({child})"
        return f"SELECT {columns} FROM ({child}) GROUP BY {', '.join(dict.fromkeys(keys))}"

    def deduplicate(self, plan: Any) -> str:
        """One row for each key: Spark takes any, we take the first in the order of all columns."""
        child, outputs = self.select(plan.child()), self.outputs(plan)
        keys = self.expressions.all(plan.keys())
        others = [c for c in outputs.split(", ") if c not in keys]
        if not others:
            return f"SELECT DISTINCT {outputs} FROM ({child})"
        number = f"row_number() OVER (PARTITION BY {', '.join(keys)} ORDER BY {', '.join(others)})"
        return f"SELECT {outputs} FROM (SELECT {outputs}, {number} AS place FROM ({child})) WHERE place = 1"

    def rename(self, child: Any, outputs: Any) -> str:
        """A query with its columns under other names, by position."""
        inner = self.select(child)
        own = [self.expressions.column(a) for a in elements(child.output())]
        new = [self.expressions.column(a) for a in elements(outputs)]
        parts = [o if o == n else f"{o} AS {n}" for o, n in zip(own, new, strict=True)]
        return f"SELECT {', '.join(parts)} FROM ({inner})"

    def union(self, plan: Any) -> str:
        if plan.byName():
            raise NotCaptured("a union by names that is not resolved")
        return " UNION ALL ".join(self.rename(child, plan.output()) for child in elements(plan.children()))

    def difference(self, plan: Any, kind: str) -> str:
        word = kind.upper() + (" ALL" if plan.isAll() else "")
        left, right = self.rename(plan.left(), plan.output()), self.rename(plan.right(), plan.output())
        return f"SELECT {self.outputs(plan)} FROM ({left} {word} {right})"

    def limit(self, plan: Any) -> str:
        """LIMIT and OFFSET with the ORDER BY below them."""
        count = offset = None
        while (kind := plan.getClass().getSimpleName()) in ("GlobalLimit", "LocalLimit", "Offset"):
            if kind == "Offset":
                if offset is not None:
                    break
                offset = self.expressions.write(plan.offsetExpr())
            else:
                written = self.expressions.write(plan.limitExpr())
                if (count is not None and written != count) or offset is not None:
                    break
                count = written
            plan = plan.child()
        order = ""
        if plan.getClass().getSimpleName() == "Sort":
            order = f" ORDER BY {', '.join(self.expressions.all(plan.order()))}"
            plan = plan.child()
        text = f"SELECT {self.outputs(plan)} FROM ({self.select(plan)}){order}"
        text += "" if count is None else f" LIMIT {count}"
        return text + ("" if offset is None else f" OFFSET {offset}")

    def window(self, plan: Any) -> str:
        child = self.select(plan.child())
        return (
            f"SELECT {self.outputs(plan.child())}, {self.write_list(plan.windowExpressions())} FROM ({child})"
        )

    def expand(self, plan: Any) -> str:
        child = self.select(plan.child())
        names = [self.expressions.column(a) for a in elements(plan.output())]
        parts = []
        for projection in elements(plan.projections()):
            values = self.expressions.all(projection)
            listed = ", ".join(f"{v} AS {n}" for v, n in zip(values, names, strict=True))
            parts.append(f"SELECT {listed} FROM ({child})")
        return " UNION ALL ".join(parts)

    def generate(self, plan: Any) -> str:
        generator = plan.generator()
        kind = generator.getClass().getSimpleName()
        if kind not in ("Explode", "PosExplode"):
            raise NotCaptured(f"the generator {generator.prettyName()}")
        child = self.select(plan.child())
        names = ", ".join(self.expressions.column(a) for a in elements(plan.generatorOutput()))
        outer = "OUTER " if plan.outer() else ""
        call = f"{generator.prettyName()}({self.expressions.write(generator.child())})"
        return f"SELECT {self.outputs(plan)} FROM ({child}) AS t LATERAL VIEW {outer}{call} g AS {names}"

    def share_query(self, plan: Any) -> str:
        if plan.recursive():
            raise NotCaptured("a recursive query, read from its plan")
        return self.rename(self.shared[plan.cteId()], plan.output())
