"""Statements of SQL files to definitions. Spark's own parser reads what stands around a query; the query's text is kept.

CREATE MATERIALIZED VIEW best AS SELECT ...          an output and its flow
CREATE STREAMING TABLE raw AS SELECT ... STREAM x    the same
CREATE STREAMING TABLE raw                           an output alone
CREATE FLOW f AS INSERT INTO raw BY NAME SELECT ...  a flow alone
CREATE [TEMPORARY] VIEW v AS SELECT ...              a view
SET name = value                                     a setting of the flows that follow in the file
USE [catalog.]database                               where the names that follow belong
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pyspark.errors import ParseException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType, _parse_datatype_json_string

from evercurrent.engine.spark.declarative.definitions import Definitions, Flow, Kind, Name, Output, show
from evercurrent.engine.spark.doors.plans import parser_of
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.frontend.sql.parse import parse_script

QUERY_OF_FLOW = re.compile(r"\bBY\s+NAME\b\s*", re.IGNORECASE)


class SqlFile:
    """Reads one file; USE and SET hold until its end."""

    def __init__(
        self, spark: SparkSession, definitions: Definitions, home: tuple[str, str], file: str
    ) -> None:
        self.spark = spark
        self.parser = parser_of(spark)
        self.definitions = definitions
        self.home = home
        self.file = file
        self.settings: dict[str, str] = {}

    def read(self, text: str) -> None:
        at = 0
        for statement in parse_script(text):
            at = max(text.find(statement, at), at)
            place = f"{self.file}, line {text.count(chr(10), 0, at) + 1}"
            at += len(statement)
            try:
                plan = self.parser.parsePlan(statement)
            except ParseException as problem:
                raise QueryError(f"{place}: {str(problem).strip()}") from problem
            self.define(plan, statement, place)

    def define(self, plan: Any, statement: str, place: str) -> None:
        kind = plan.getClass().getSimpleName()
        match kind:
            case "CreateMaterializedViewAsSelect":
                self.add(self.table_of("materialized view", plan, place), plan.originalText())
            case "CreateStreamingTableAsSelect":
                self.add(self.table_of("streaming table", plan, place), plan.originalText())
            case "CreateStreamingTable":
                self.add(self.table_of("streaming table", plan, place), None)
            case "CreateView":
                self.add(self.view_of("view", strings(plan.child().nameParts()), plan, place), text_of(plan))
            case "CreateViewCommand":
                identifier = plan.name()
                self.add(self.view_of("temporary view", [identifier.table()], plan, place), text_of(plan))
            case "CreateFlowCommand":
                self.add_flow(plan, statement, place)
            case "SetCommand":
                self.set(plan, place)
            case "SetCatalogAndNamespace":
                parts = strings(plan.child().nameParts())
                self.home = (parts[0], parts[1]) if len(parts) > 1 else (self.home[0], parts[0])
            case _:
                raise UnsupportedError(
                    f"{place}: a pipeline cannot contain this statement: {statement.splitlines()[0][:80]}",
                    hint="CREATE MATERIALIZED VIEW, CREATE STREAMING TABLE, CREATE [TEMPORARY] VIEW, CREATE FLOW, SET and USE",
                )

    def set(self, plan: Any, place: str) -> None:
        pair = option(plan.kv())
        value = None if pair is None else option(pair._2())
        if pair is None or value is None:
            raise QueryError(f"{place}: SET needs a name and a value")
        self.settings[pair._1()] = value

    def name_of(self, parts: list[str]) -> Name:
        return full_name(parts, self.home)

    def table_of(self, kind: Kind, plan: Any, place: str) -> Output:
        spec = plan.tableSpec()
        partition, cluster = columns_of(plan.partitioning())
        columns = [column_of(c) for c in elements(plan.columns())]
        return Output(
            kind,
            self.name_of(strings(plan.name().nameParts())),
            place,
            option(spec.comment()),
            option(spec.provider()),
            pairs(spec.properties()),
            partition=partition,
            cluster=cluster,
            schema=StructType(columns) if columns else None,
        )

    def view_of(self, kind: Kind, parts: list[str], plan: Any, place: str) -> Output:
        return Output(kind, self.name_of(parts), place, option(plan.comment()))

    def add(self, output: Output, query: str | None) -> None:
        define_output(self.definitions, output)
        if query is not None:
            flow = Flow(output.name[-1], output.name, output.place, text=query, settings=dict(self.settings))
            self.definitions.flows.append(self.with_home(flow))

    def add_flow(self, plan: Any, statement: str, place: str) -> None:
        name = strings(plan.name().nameParts())[-1]
        operation = plan.flowOperation()
        if operation.getClass().getSimpleName() == "AutoCdcInto":
            raise UnsupportedError(f"{place}: the flow {name} is AUTO CDC, which is not supported yet")
        begin = QUERY_OF_FLOW.search(statement)
        if begin is None:
            raise QueryError(f"{place}: the flow {name} must be INSERT INTO ... BY NAME SELECT ...")
        target = self.name_of(strings(operation.table().multipartIdentifier()))
        flow = Flow(name, target, place, text=statement[begin.end() :], settings=dict(self.settings))
        self.definitions.flows.append(self.with_home(flow))

    def with_home(self, flow: Flow) -> Flow:
        """Remembers the database in which a query's names are looked up, if it is not that of the pipeline."""
        return replace(flow, home=self.home)


def define_output(definitions: Definitions, output: Output) -> None:
    known = definitions.outputs.get(output.name)
    if known is not None:
        raise QueryError(
            f"{output.place}: {show(output.name)} is defined twice; the first time in {known.place}"
        )
    definitions.outputs[output.name] = output


def full_name(parts: list[str], home: tuple[str, str]) -> Name:
    """A name with its catalog and database.

    >>> full_name(["t"], ("spark_catalog", "default")), full_name(["raw", "t"], ("spark_catalog", "default"))
    (('spark_catalog', 'default', 't'), ('spark_catalog', 'raw', 't'))
    """
    whole = [*home[: max(0, 3 - len(parts))], *parts]
    return tuple(p.lower() for p in whole)


# --- values of the JVM ---------------------------------------------------------------------------------------


def elements(seq: Any) -> Iterator[Any]:
    for i in range(seq.size()):
        yield seq.apply(i)


def strings(seq: Any) -> list[str]:
    return [str(s) for s in elements(seq)]


def subqueries(expression: Any) -> Iterator[Any]:
    """The plans of subqueries in an expression."""
    if expression.getClass().getSimpleName() in ("ScalarSubquery", "Exists", "ListQuery"):
        yield expression.plan()
    for child in elements(expression.children()):
        yield from subqueries(child)


def option(value: Any) -> Any:
    """The value in an Option, or None."""
    return value.get() if value.isDefined() else None


def pairs(mapping: Any) -> dict[str, str]:
    return {str(pair._1()): str(pair._2()) for pair in elements(mapping.toSeq())}


def text_of(plan: Any) -> str:
    return str(option(plan.originalText()))


def column_of(column: Any) -> StructField:
    kind = _parse_datatype_json_string(column.dataType().json())
    comment = option(column.comment())
    return StructField(column.name(), kind, column.nullable(), {"comment": comment} if comment else None)


def columns_of(transforms: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Columns by which a table is partitioned, and those by which it is clustered."""
    partition: list[str] = []
    cluster: list[str] = []
    for transform in elements(transforms):
        named = [".".join(reference.fieldNames()) for reference in transform.references()]
        (cluster if transform.name() == "cluster_by" else partition).extend(named)
    return tuple(partition), tuple(cluster)
