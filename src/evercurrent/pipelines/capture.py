"""Which datasets the warehouse maintains, and why the others are recomputed.

A materialized view is captured if its query can be a view of the warehouse: first by its SQL text, if it has one, otherwise by
the plan that Spark's analyser makes of its DataFrame. Law: a captured dataset has the columns that Spark gives it, in order, with
their types.

    spend   SELECT customer, sum(total) AS total FROM orders GROUP BY customer      captured by its SQL text
    scored  orders.withColumn("score", a_python_udf("total"))                       PythonUDF, which is not a function that SQL names
"""

from __future__ import annotations

from dataclasses import dataclass, field

from evercurrent.catalog.catalog import Catalog
from evercurrent.data.types import Member
from evercurrent.engine.spark.declarative.definitions import Name, Output, quote_path
from evercurrent.engine.spark.declarative.expressions import NotCaptured
from evercurrent.engine.spark.declarative.leaves import Input, input_of, source_name
from evercurrent.engine.spark.declarative.plans import Leaf, capture, leaves, zone_dependent
from evercurrent.engine.spark.declarative.resolution import Query, Resolver
from evercurrent.engine.spark.declarative.session import is_utc, unusual_settings
from evercurrent.engine.spark.translate.types import spark_type
from evercurrent.errors import EvercurrentError
from evercurrent.frontend.sql.parse import parse_statement
from evercurrent.frontend.sql.spark_text import quote_name
from evercurrent.frontend.sql.statements import CreateTable, CreateView
from evercurrent.warehouse.definitions.sources import table_text


@dataclass
class Captured:
    """A dataset as a view of the warehouse: its statement, the sources that it reads, and from what it was captured."""

    output: Output
    view: str
    text: str
    inputs: list[Input]
    by: str


@dataclass
class Capturing:
    """The captured datasets, and for each other one the reason."""

    captured: dict[Name, Captured] = field(default_factory=dict)
    reasons: dict[Name, str] = field(default_factory=dict)
    catalog: Catalog = field(default_factory=Catalog)


def capture_all(resolver: Resolver) -> Capturing:
    """Decides for every materialized view, in the order of their dependencies."""
    result = Capturing()
    for name in resolver.order:
        output = resolver.definitions.outputs[name]
        if output.kind != "materialized view":
            continue
        query = resolver.queries[name][0]
        attempt = Attempt(resolver, result, output, query)
        try:
            result.captured[name] = attempt.capture()
        except NotCaptured as problem:
            result.reasons[name] = str(problem)
    return result


class Attempt:
    """The capture of one dataset; the catalog of `result` knows the datasets and sources before it."""

    def __init__(self, resolver: Resolver, result: Capturing, output: Output, query: Query) -> None:
        self.resolver = resolver
        self.result = result
        self.output = output
        self.query = query
        self.inputs: dict[str, Input] = {}
        self.columns: dict[str, tuple[Member, ...]] = {}
        self.named: dict[tuple[int, ...], str] = {}
        self.rows = 0

    def capture(self) -> Captured:
        unusual = unusual_settings(self.resolver.spark, self.query.flow.settings)
        if unusual:
            raise NotCaptured(unusual)
        if self.query.is_streaming:
            raise NotCaptured("its query is a stream")
        if self.output.schema is not None and not self.same_schema():
            raise NotCaptured("its declared schema differs from that of its query")
        frame = self.query.frame
        if not is_utc(self.resolver.spark):
            dependent = zone_dependent(frame, self.is_dataset)
            if dependent is not None:
                raise NotCaptured(f"the session's time zone is not UTC, and {dependent} depends on it")
        for leaf in leaves(frame, self.is_dataset):
            self.leaf_name(leaf)
        catalog = self.catalog_with_inputs()
        said = None
        for write, by in ((self.own_text, "SQL"), (self.plan_text, "plan")):
            try:
                text = write()
                if text is not None:
                    return self.define(catalog, text, by)
            except NotCaptured as problem:
                said = said or str(problem)
            except EvercurrentError as problem:
                said = said or problem.message.splitlines()[0]
        raise NotCaptured(said or "its query cannot be a view")

    def plan_text(self) -> str:
        return capture(self.query.frame, self.leaf_name, self.is_dataset)

    def define(self, catalog: Catalog, query: str, by: str) -> Captured:
        name = source_name(self.output.name, self.resolver.home)
        text = f"CREATE VIEW {quote_name(name)} AS {query}"
        statement = parse_statement(text, catalog, "auto")
        assert isinstance(statement, CreateView)
        view = statement.view
        wanted = self.query.frame.schema
        have = [(f.name, spark_type(f.type).simpleString()) for f in view.fields]
        want = [(f.name, f.dataType.simpleString()) for f in wanted.fields]
        if have != want:
            different = next(
                (f"{h} here, {w} in Spark" for h, w in zip(have, want, strict=False) if h != w),
                "their number",
            )
            raise EvercurrentError(f"its columns differ: {different}")
        self.result.catalog = catalog.with_view(view)
        return Captured(self.output, name, text, list(self.inputs.values()), by)

    def same_schema(self) -> bool:
        declared = self.resolver.schema_of(self.output)
        own = self.query.frame.schema
        return [(f.name, f.dataType) for f in declared.fields] == [(f.name, f.dataType) for f in own.fields]

    # --- leaves --------------------------------------------------------------------------------------------

    def is_dataset(self, view: str) -> bool:
        """Whether a temporary view stands for a dataset that is stored; others are read as their queries."""
        name = self.resolver.temporary.get(view)
        return name is not None and self.resolver.definitions.outputs[name].is_stored

    def leaf_name(self, leaf: Leaf) -> str:
        """The warehouse's name of a leaf, the same however often it is asked for."""
        if leaf.key not in self.named:
            self.named[leaf.key] = self.new_name(leaf)
        return self.named[leaf.key]

    def new_name(self, leaf: Leaf) -> str:
        if leaf.view is not None:
            name = self.resolver.temporary[leaf.view]
            own = source_name(name, self.resolver.home)
            if name not in self.result.captured:
                # Spark writes it; the warehouse reads its table.
                self.add(Input(own, quote_path(name), columns=leaf.columns), leaf)
            return own
        self.rows += 1
        dataset = source_name(self.output.name, self.resolver.home)
        found = input_of(leaf, dataset, self.rows, self.resolver.home)
        self.add(found, leaf)
        return found.name

    def add(self, found: Input, leaf: Leaf) -> None:
        self.inputs[found.name] = found
        self.columns[found.name] = leaf.columns

    def catalog_with_inputs(self) -> Catalog:
        """The catalog with tables for what this query reads besides captured datasets."""
        catalog = self.result.catalog
        for own in self.inputs:
            if own not in catalog.tables:
                statement = parse_statement(table_text(own, self.columns[own], ()), catalog)
                assert isinstance(statement, CreateTable)
                catalog = catalog.with_table(statement.table)
        return catalog

    # --- the text itself -----------------------------------------------------------------------------------

    def own_text(self) -> str | None:
        """The query's text with the warehouse's names; None if it reads something by another name than a table's."""
        text = self.query.text
        if text is None:
            return None
        for reference in sorted(self.query.references, key=lambda r: -r.begin):
            output = self.resolver.definitions.outputs.get(reference.name)
            if output is not None and not output.is_stored:
                return None
            own = source_name(reference.name, self.resolver.home)
            if output is None and own not in self.inputs:
                return None
            if own != reference.parts[-1].lower() or len(reference.parts) > 1:
                text = text[: reference.begin] + quote_name(own) + text[reference.end :]
        return text
