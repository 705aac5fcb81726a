"""Queries of flows, analysed before any table of the pipeline exists.

A query function may read other datasets of its pipeline: `spark.read.table("orders")`. While it runs, such a name means a
temporary view without rows that has the columns of the dataset; if the dataset is not resolved yet, it is resolved first. So
the order of definitions does not matter, a cycle is noticed, and a dry run creates nothing.

    spend:  spark.table("clean").groupBy("customer").sum("total")      calls the function of clean first
    clean:  spark.table("orders").where("total > 0")                   orders is in the catalog
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.readwriter import DataFrameReader
from pyspark.sql.streaming.readwriter import DataStreamReader
from pyspark.sql.types import StructType

from evercurrent.engine.spark.declarative.definitions import Definitions, Flow, Name, Output, show
from evercurrent.engine.spark.declarative.loading import block_mutations
from evercurrent.engine.spark.declarative.sql_statements import elements, full_name, strings, subqueries
from evercurrent.engine.spark.doors.plans import create_view, drop_view, parser_of, settings_in_jvm
from evercurrent.errors import EvercurrentError, QueryError

PATCHED: tuple[tuple[Any, str], ...] = (
    (SparkSession, "sql"),
    (SparkSession, "table"),
    (DataFrameReader, "table"),
    (DataStreamReader, "table"),
)
OWN_METHODS = tuple(getattr(owner, name) for owner, name in PATCHED)


@dataclass
class Reference:
    """A relation that a text names: its parts, whether it is read as a stream, and where it stands."""

    name: Name
    parts: list[str]
    streaming: bool
    begin: int
    end: int


@dataclass
class Query:
    """An analysed flow: its DataFrame over empty placeholders, the datasets that it reads, and its text if it is one."""

    flow: Flow
    frame: Any
    inputs: set[Name] = field(default_factory=set)
    streamed: set[Name] = field(default_factory=set)
    text: str | None = None
    references: list[Reference] = field(default_factory=list)

    @property
    def is_streaming(self) -> bool:
        return bool(self.frame.isStreaming)


class Resolver:
    """Analyses the flows of a pipeline; `real` reads the tables of the catalog instead of placeholders."""

    def __init__(
        self, spark: SparkSession, definitions: Definitions, home: tuple[str, str], real: bool = False
    ) -> None:
        self.spark = spark
        self.definitions = definitions
        self.home = home
        self.real = real
        self.queries: dict[Name, list[Query]] = {}
        self.order: list[Name] = []
        self.open: list[Name] = []
        self.reading: list[Query] = []
        self.temporary: dict[str, Name] = {}

    def resolve_all(self) -> None:
        for name in self.definitions.outputs:
            self.resolve(name)

    def resolve(self, name: Name) -> list[Query]:
        """The queries of a dataset, with those that it reads before it in `order`."""
        if name in self.queries:
            return self.queries[name]
        if name in self.open:
            circle = " reads ".join(show(n) for n in [*self.open[self.open.index(name) :], name])
            raise QueryError(f"datasets read each other in a circle: {circle}")
        self.open.append(name)
        try:
            found = [self.analyse(flow) for flow in self.definitions.flows_of(name)]
        finally:
            self.open.pop()
        self.queries[name] = found
        self.order.append(name)
        return found

    def analyse(self, flow: Flow) -> Query:
        query = Query(flow, None)
        self.reading.append(query)
        try:
            with self.patch(), block_mutations(), settings_of(self.spark, flow):
                frame = flow.function() if flow.function else self.spark.sql(flow.text or "")
                if not isinstance(frame, DataFrame):
                    raise QueryError(
                        f"{flow.place}: the query function {flow.name} must return a DataFrame, not {type(frame).__name__}"
                    )
                frame.schema  # noqa: B018 analyses it
        except (EvercurrentError, KeyboardInterrupt):
            raise
        except Exception as problem:
            raise QueryError(f"{flow.place}: the flow {flow.name} cannot be analysed: {problem}") from problem
        finally:
            self.reading.pop()
        query.frame = frame
        said = getattr(frame, "_pipeline_text", None)
        if said is not None:
            query.text, query.references = said
        return query

    def schema_of(self, output: Output) -> StructType:
        """The columns of a dataset: as the project declares them, or those of its queries."""
        declared = output.schema
        if isinstance(declared, StructType):
            return declared
        if isinstance(declared, str):
            return self.spark.createDataFrame([], declared).schema
        queries = self.resolve(output.name)
        found: StructType = queries[0].frame.schema
        return found

    # --- names ---------------------------------------------------------------------------------------------

    def home_now(self) -> tuple[str, str]:
        flow = self.reading[-1].flow if self.reading else None
        return flow.home if flow is not None and flow.home is not None else self.home

    def dataset(self, parts: list[str]) -> Name | None:
        name = full_name(parts, self.home_now())
        output = self.definitions.outputs.get(name)
        return name if output is not None and output.kind != "sink" else None

    def use(self, name: Name, streaming: bool) -> None:
        """Makes the last part of a dataset's name mean the dataset, for the next analysis."""
        query = self.reading[-1]
        query.inputs.add(name)
        if streaming:
            query.streamed.add(name)
        output = self.definitions.outputs[name]
        queries = self.resolve(name)
        if output.is_stored and self.real:
            drop_view(self.spark, name[-1])
            return
        if output.is_stored:
            schema = self.schema_of(output)
            frame = self.stream_placeholder(schema) if streaming else self.spark.createDataFrame([], schema)
        else:
            frame = queries[0].frame
        create_view(frame, name[-1])
        self.temporary[name[-1]] = name

    def stream_placeholder(self, schema: StructType) -> DataFrame:
        rate = self.spark.readStream.format("rate").load()
        return rate.select(*(F.lit(None).cast(f.dataType).alias(f.name) for f in schema.fields))

    def clear(self) -> None:
        """Drops the placeholders."""
        for view in self.temporary:
            drop_view(self.spark, view)
        self.temporary.clear()

    def references(self, text: str) -> list[Reference]:
        """The relations that a query names, in the order of the text; names of WITH are not among them."""
        plan = parser_of(self.spark).parsePlan(text)
        found = [r for r in relations(plan, text, frozenset(), self.home_now())]
        return sorted(found, key=lambda r: r.begin)

    # --- what a query function calls -------------------------------------------------------------------------

    @contextmanager
    def patch(self) -> Iterator[None]:
        """While a query function runs, names of datasets are found in the pipeline."""
        before = [getattr(owner, name) for owner, name in PATCHED]
        own_sql, own_table, own_read, own_stream = OWN_METHODS

        def sql(session: SparkSession, sqlQuery: str, args: Any = None, **kwargs: Any) -> DataFrame:
            found = self.references(sqlQuery) if not kwargs else []
            text = sqlQuery
            for reference in reversed(found):
                name = self.dataset(reference.parts)
                if name is not None:
                    self.use(name, reference.streaming)
                    if len(reference.parts) > 1 and not (
                        self.real and self.definitions.outputs[name].is_stored
                    ):
                        text = text[: reference.begin] + f"`{name[-1]}`" + text[reference.end :]
            frame: Any = own_sql(session, text, args, **kwargs)
            if args is None and not kwargs:
                frame._pipeline_text = (sqlQuery, found)
            result: DataFrame = frame
            return result

        def reading(own: Callable[..., DataFrame], streaming: bool) -> Callable[..., DataFrame]:
            def table(reader: Any, tableName: str) -> DataFrame:
                name = self.dataset(parts_of(self.spark, tableName))
                if name is None:
                    return own(reader, tableName)
                self.use(name, streaming)
                stored = self.real and self.definitions.outputs[name].is_stored
                return own(reader, tableName if stored else f"`{name[-1]}`")

            return table

        methods = (sql, reading(own_table, False), reading(own_read, False), reading(own_stream, True))
        try:
            for (owner, name), method in zip(PATCHED, methods, strict=True):
                setattr(owner, name, method)
            yield
        finally:
            # A dataset that is resolved inside another one's function leaves that function's methods in place.
            for (owner, name), method in zip(PATCHED, before, strict=True):
                setattr(owner, name, method)


@contextmanager
def settings_of(spark: SparkSession, flow: Flow) -> Iterator[None]:
    """While a flow is analysed or runs, the session has the settings of the flow."""
    own = settings_in_jvm(spark)
    before = {name: own.getOption(name) for name in flow.settings}
    try:
        for name, value in flow.settings.items():
            own.set(name, value)
        yield
    finally:
        for name, old in before.items():
            if old.isDefined():
                own.set(name, old.get())
            else:
                own.unset(name)


def parts_of(spark: SparkSession, name: str) -> list[str]:
    return strings(parser_of(spark).parseMultipartIdentifier(name))


def relations(plan: Any, text: str, hidden: frozenset[str], home: tuple[str, str]) -> Iterator[Reference]:
    """The relations of an unresolved plan, in subqueries too."""
    kind = plan.getClass().getSimpleName()
    if kind == "UnresolvedRelation":
        parts = strings(plan.multipartIdentifier())
        if len(parts) > 1 or parts[0].lower() not in hidden:
            origin = plan.origin()
            begin, end = place_of_name(text, parts, origin.startIndex().get(), origin.stopIndex().get() + 1)
            yield Reference(full_name(parts, home), parts, plan.isStreaming(), begin, end)
        return
    if kind == "UnresolvedWith":
        for relation in elements(plan.cteRelations()):
            yield from relations(relation._2(), text, hidden, home)
            hidden |= {relation._1().lower()}
    for child in elements(plan.children()):
        yield from relations(child, text, hidden, home)
    for expression in elements(plan.expressions()):
        for inner in subqueries(expression):
            yield from relations(inner, text, hidden, home)


def place_of_name(text: str, parts: list[str], begin: int, end: int) -> tuple[int, int]:
    """Where the name itself stands in the text of a relation, which may begin with STREAM and end with an alias."""
    pattern = r"\s*\.\s*".join(f"(?:`{re.escape(p.replace('`', '``'))}`|{re.escape(p)})" for p in parts)
    found = re.compile(r"(?<![\w`.])" + pattern, re.IGNORECASE).search(text, begin, end)
    return (begin, end) if found is None else (found.start(), found.end())
