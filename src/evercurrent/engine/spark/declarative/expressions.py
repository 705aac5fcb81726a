"""Expressions of analysed plans as SQL text, which our front end reads.

    (price#3 * cast(2 as double))    ->    (c0 * CAST(2 AS DOUBLE))

A column is named by the order in which the plan's columns are first met, so equal plans have equal texts. What has no certain
counterpart raises `NotCaptured`: a function of the user, one whose parameters are not all written in SQL, one of another mode than ANSI.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from evercurrent.engine.spark.declarative.sql_statements import elements, option
from evercurrent.engine.spark.doors.plans import own_function
from evercurrent.frontend.sql.spark_text import quote_name


class NotCaptured(Exception):
    """Why a plan has no counterpart; the reason is shown in the record of a run."""


HARMLESS = {
    *(
        "timeZoneId",
        "ansiEnabled",
        "failOnError",
        "evalMode",
        "evalContext",
        "nullOnOverflow",
        "replacement",
        "context",
    ),
    *("nullOnDivideByZero", "mutableAggBufferOffset", "inputAggBufferOffset"),
}
"""Parameters of Spark's functions that only repeat what the session's settings say."""

BUILT = {
    **{
        "StringLPad": "lpad",
        "StringRPad": "rpad",
        "Floor": "floor",
        "Ceil": "ceil",
        "MaxBy": "max_by",
        "MinBy": "min_by",
    },
}
"""Functions whose name in SQL means a builder that chooses among classes: these are the plain choices."""


class Expressions:
    """Writes expressions; `query` writes the plan of a subquery."""

    def __init__(self, spark: Any, query: Callable[[Any], str]) -> None:
        self.spark = spark
        self.query = query
        self.names: dict[int, str] = {}
        self.known: dict[str, str | None] = {}

    def column(self, attribute: Any) -> str:
        """The name of a column, by its identity in the plan."""
        return self.names.setdefault(attribute.exprId().id(), f"c{len(self.names)}")

    def all(self, expressions: Any) -> list[str]:
        return [self.write(e) for e in elements(expressions)]

    def write(self, e: Any) -> str:
        kind = e.getClass().getSimpleName()
        match kind:
            case "AttributeReference":
                return self.column(e)
            case "OuterReference":
                return self.write(e.e())
            case "Alias":
                return self.write(e.child())
            case "Literal":
                return self.literal(e)
            case "Cast":
                return self.cast(e)
            case "Not":
                return f"(NOT {self.write(e.child())})"
            case "IsNull":
                return f"({self.write(e.child())} IS NULL)"
            case "IsNotNull":
                return f"({self.write(e.child())} IS NOT NULL)"
            case "UnaryMinus":
                return f"(- {self.write(e.child())})"
            case "In":
                return f"({self.write(e.value())} IN ({', '.join(self.all(e.list()))}))"
            case "Like":
                if str(e.escapeChar()) != "\\":
                    raise NotCaptured("LIKE with ESCAPE")
                return f"({self.write(e.left())} LIKE {self.write(e.right())})"
            case "CaseWhen":
                return self.case(e)
            case "AggregateExpression":
                return self.aggregate(e)
            case "WindowExpression":
                return self.window(e)
            case "SortOrder":
                return f"{self.write(e.child())} {e.direction().sql()} {e.nullOrdering().sql()}"
            case "ScalarSubquery":
                return f"({self.query(e.plan())})"
            case "Exists":
                return f"EXISTS ({self.query(e.plan())})"
            case "InSubquery":
                values = self.all(e.values())
                left = values[0] if len(values) == 1 else f"({', '.join(values)})"
                return f"({left} IN ({self.query(e.query().plan())}))"
            case "GetStructField":
                return f"{self.write(e.child())}.{quote_name(e.extractFieldName())}"
            case "GetArrayItem":
                return f"{self.write(e.child())}[{self.write(e.ordinal())}]"
            case "CreateNamedStruct":
                return f"named_struct({', '.join(self.all(e.children()))})"
            case "CreateArray":
                return f"array({', '.join(self.all(e.children()))})"
            case "NaNvl":
                value = self.write(e.left())
                return f"(CASE WHEN isnan({value}) THEN {self.write(e.right())} ELSE {value} END)"
            case "AtLeastNNonNulls":
                return self.at_least(e)
            case "KnownNotNull" | "KnownNullable" | "TempResolvedColumn" | "NormalizeNaNAndZero":
                return self.write(e.child())
            case _:
                return self.operator(e, kind) if is_operator(e) else self.call(e, kind)

    def literal(self, e: Any) -> str:
        kind = e.dataType().sql()
        if kind.startswith("INTERVAL") or kind in ("VARIANT", "BINARY"):
            raise NotCaptured(f"a constant of type {kind}")
        if e.value() is None:
            return f"CAST(NULL AS {kind})" if kind != "VOID" else "NULL"
        return str(e.sql())

    def cast(self, e: Any) -> str:
        mode = e.evalMode().toString()
        word = {"ANSI": "CAST", "TRY": "TRY_CAST"}.get(mode)
        if word is None:
            raise NotCaptured("a cast without ANSI mode")
        return f"{word}({self.write(e.child())} AS {e.dataType().sql()})"

    def case(self, e: Any) -> str:
        branches = [f"WHEN {self.write(b._1())} THEN {self.write(b._2())}" for b in elements(e.branches())]
        otherwise = option(e.elseValue())
        end = "" if otherwise is None else f" ELSE {self.write(otherwise)}"
        return f"(CASE {' '.join(branches)}{end} END)"

    def at_least(self, e: Any) -> str:
        """Whether at least n values are there: neither NULL nor NaN. `dropna` asks this."""
        missing = [
            f"{x} IS NULL" + (f" OR isnan({x})" if child.dataType().sql() in ("FLOAT", "DOUBLE") else "")
            for child in elements(e.children())
            for x in [self.write(child)]
        ]
        return f"({' + '.join(f'(CASE WHEN {m} THEN 0 ELSE 1 END)' for m in missing)} >= {e.n()})"

    def operator(self, e: Any, kind: str) -> str:
        require_ansi(e)
        left, right = self.write(e.left()), self.write(e.right())
        if kind == "Pmod":
            return f"pmod({left}, {right})"
        return f"({left} {e.symbol() if kind not in SYMBOLS else SYMBOLS[kind]} {right})"

    def aggregate(self, e: Any) -> str:
        distinct = "DISTINCT " if e.isDistinct() else ""
        where = option(e.filter())
        inner = self.call(e.aggregateFunction(), e.aggregateFunction().getClass().getSimpleName(), distinct)
        return inner + ("" if where is None else f" FILTER (WHERE {self.write(where)})")

    def window(self, e: Any) -> str:
        function, spec = e.windowFunction(), e.windowSpec()
        call = self.write(function)
        parts = []
        if spec.partitionSpec().size():
            parts.append(f"PARTITION BY {', '.join(self.all(spec.partitionSpec()))}")
        if spec.orderSpec().size():
            parts.append(f"ORDER BY {', '.join(self.all(spec.orderSpec()))}")
        aggregate = function.getClass().getSimpleName() == "AggregateExpression"
        if aggregate and spec.frameSpecification().getClass().getSimpleName() == "SpecifiedWindowFrame":
            parts.append(self.frame(spec.frameSpecification()))
        return f"{call} OVER ({' '.join(parts)})"

    def frame(self, frame: Any) -> str:
        return f"{frame.frameType().sql()} BETWEEN {self.write_bound(frame.lower())} AND {self.write_bound(frame.upper())}"

    def write_bound(self, e: Any) -> str:
        """A bound of a frame; Spark has those before the row as negative numbers."""
        kind = e.getClass().getSimpleName()
        if kind == "Literal" and isinstance(e.value(), int):
            return f"{abs(e.value())} {'PRECEDING' if e.value() < 0 else 'FOLLOWING'}"
        if kind in ("UnboundedPreceding$", "UnboundedFollowing$", "CurrentRow$"):
            return str(e.sql())
        raise NotCaptured(f"a frame with the bound {e.sql()}")

    def call(self, e: Any, kind: str, before: str = "") -> str:
        """A function by its name in SQL, if that name means this very function and all its parameters are arguments."""
        name = BUILT.get(kind, str(e.prettyName()))
        if kind not in BUILT and e.getClass().getName() != self.class_of(name):
            raise NotCaptured(f"{kind}, which is not a function that SQL names")
        require_ansi(e)
        replaced = has_method(e, "parameters")
        arguments = self.arguments_of(e, kind, replaced)
        extra = set() if replaced else {n for n, v in members(e) if not is_expression(v)} - HARMLESS
        if kind == "ParseToTimestamp":
            extra -= {"dataType"}
        if "ignoreNulls" in extra:
            if kind in ("First", "Last", "AnyValue"):
                arguments.append(str(e.ignoreNulls()).lower())
            # Lists and sets leave NULLs out unless the call says otherwise; lag and lead count them.
            if kind in ("First", "Last", "AnyValue") or e.ignoreNulls() == kind.startswith("Collect"):
                extra -= {"ignoreNulls"}
        if extra:
            raise NotCaptured(f"{name} with {', '.join(sorted(extra))}")
        return f"{name}({before}{', '.join(arguments)})"

    def arguments_of(self, e: Any, kind: str, replaced: bool) -> list[str]:
        if kind in ("Lag", "Lead"):
            return self.all_of([e.input(), e.offset() if kind == "Lead" else e.inputOffset(), e.default()])
        if kind in ("Rank", "DenseRank", "PercentRank"):
            return []  # their children are the order of the window
        return self.all(e.parameters() if replaced else e.children())

    def all_of(self, expressions: list[Any]) -> list[str]:
        return [self.write(e) for e in expressions]

    def class_of(self, name: str) -> str | None:
        """The class behind the name of one of Spark's own functions."""
        if name not in self.known:
            found = option(own_function(self.spark, name))
            self.known[name] = None if found is None else str(found.getClassName())
        return self.known[name]


SYMBOLS = {"IntegralDivide": "DIV", "And": "AND", "Or": "OR"}


def is_operator(e: Any) -> bool:
    return has_method(e, "symbol") and has_method(e, "left") and has_method(e, "right")


METHODS: dict[str, frozenset[str]] = {}


def has_method(e: Any, name: str) -> bool:
    """Whether an object of the JVM has a method."""
    kind = e.getClass().getName()
    if kind not in METHODS:
        METHODS[kind] = frozenset(dir(e))
    return name in METHODS[kind]


def require_ansi(e: Any) -> None:
    """Refuses an expression of another mode than ANSI: its answers differ where a value overflows or cannot be converted."""
    context = e.evalContext() if has_method(e, "evalContext") else e
    if has_method(context, "evalMode") and context.evalMode().toString() != "ANSI":
        raise NotCaptured(f"{e.sql()}, which is not in ANSI mode")


def members(e: Any) -> Iterator[tuple[str, Any]]:
    """The parameters of a case class: names and values."""
    for i in range(e.productArity()):
        yield str(e.productElementName(i)), e.productElement(i)


def is_expression(value: Any) -> bool:
    if not hasattr(value, "getClass"):
        return False
    if has_method(value, "isDefined"):
        return value.isEmpty() or is_expression(value.get())
    if has_method(value, "size") and has_method(value, "apply"):
        return all(is_expression(v) for v in elements(value))
    return has_method(value, "dataType") and has_method(value, "foldable")
