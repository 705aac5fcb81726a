"""Python and SQL files of a project to definitions.

Python files are imported with `spark` as a global name, in the project's folder. The decorators of `pyspark.pipelines` call the active registry; ours
stores what they define. No query function is called here: `resolution` calls them when all definitions are known, in the same folder.

    @dp.materialized_view         an output of kind "materialized view", named spark_catalog.default.spend,
    def spend(): ...              and a flow into it, with the function, which is not called
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.pipelines.flow import AutoCdcFlow
from pyspark.pipelines.flow import Flow as SparkFlow
from pyspark.pipelines.graph_element_registry import GraphElementRegistry, graph_element_registration_context
from pyspark.pipelines.output import MaterializedView, Sink, StreamingTable, Table, TemporaryView
from pyspark.pipelines.output import Output as SparkOutput
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.catalog import Catalog
from pyspark.sql.conf import RuntimeConfig
from pyspark.sql.udf import UDFRegistration

from evercurrent.engine.spark.declarative.definitions import Definitions, Flow, Kind, Output, show
from evercurrent.engine.spark.declarative.sql_statements import SqlFile, define_output, full_name
from evercurrent.errors import EvercurrentError, QueryError, UnsupportedError


class Registry(GraphElementRegistry):
    """Keeps what the decorators of `pyspark.pipelines` define."""

    def __init__(self, spark: SparkSession, home: tuple[str, str], root: Path) -> None:
        self.spark = spark
        self.home = home
        self.root = root
        self.definitions = Definitions()

    def register_output(self, output: SparkOutput) -> None:
        define_output(self.definitions, self.output_of(output))

    def output_of(self, output: SparkOutput) -> Output:
        name = full_name(output.name.split("."), self.home)
        place = place_of(output)
        if isinstance(output, Sink):
            return Output("sink", name, place, output.comment, output.format, options=dict(output.options))
        if isinstance(output, TemporaryView):
            return Output("temporary view", name, place, output.comment)
        if not isinstance(output, Table):
            raise UnsupportedError(f"{place}: {type(output).__name__} is not supported yet")
        kinds: dict[type, Kind] = {MaterializedView: "materialized view", StreamingTable: "streaming table"}
        return Output(
            kinds[type(output)],
            name,
            place,
            output.comment,
            output.format,
            dict(output.table_properties),
            partition=tuple(output.partition_cols or ()),
            cluster=tuple(output.cluster_by or ()),
            schema=output.schema,
        )

    def register_flow(self, flow: SparkFlow) -> None:
        target = full_name(flow.target.split("."), self.home)
        self.definitions.flows.append(
            Flow(
                flow.name,
                target,
                place_of(flow),
                call_in(self.root, flow.func),
                settings=dict(flow.spark_conf),
            )
        )

    def register_auto_cdc_flow(self, flow: AutoCdcFlow) -> None:
        raise UnsupportedError(
            f"{place_of(flow)}: the flow {flow.name} is AUTO CDC, which is not supported yet"
        )

    def register_sql(self, sql_text: str, file_path: Path) -> None:
        SqlFile(self.spark, self.definitions, self.home, str(file_path)).read(sql_text)


def call_in(folder: Path, function: Callable[[], Any]) -> Callable[[], Any]:
    """The function, called with this folder as the current one, as Spark's runner does."""

    def call() -> Any:
        with chdir(folder):
            return function()

    return call


def place_of(element: Any) -> str:
    at = element.source_code_location
    return f"{Path(at.filename or '?').name}, line {at.line_number}"


def load(spark: SparkSession, files: Iterable[Path], root: Path, home: tuple[str, str]) -> Definitions:
    """What the files define; `home` is the catalog and database of names that do not say theirs."""
    registry = Registry(spark, home, root)
    with graph_element_registration_context(registry), block_mutations(), chdir(root):
        for file in files:
            if file.suffix == ".sql":
                registry.register_sql(file.read_text(encoding="utf-8"), file.relative_to(root))
            elif file.suffix == ".py":
                import_file(spark, file)
            else:
                raise QueryError(
                    f"{file} is neither Python nor SQL",
                    hint="libraries of a pipeline are files that end in .py or .sql",
                )
    check_flows(registry.definitions)
    return registry.definitions


def import_file(spark: SparkSession, file: Path) -> None:
    spec = importlib.util.spec_from_file_location(file.stem, str(file))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    module.__dict__["spark"] = spark
    try:
        spec.loader.exec_module(module)
    except (EvercurrentError, KeyboardInterrupt):
        raise
    except Exception as problem:
        raise QueryError(f"{file.name} cannot be imported: {type(problem).__name__}: {problem}") from problem


def check_flows(definitions: Definitions) -> None:
    for flow in definitions.flows:
        if flow.target not in definitions.outputs:
            raise QueryError(
                f"{flow.place}: the flow {flow.name} writes to {show(flow.target)}, which is not defined"
            )
    for output in definitions.outputs.values():
        flows = definitions.flows_of(output.name)
        if output.kind != "sink" and not flows:
            raise QueryError(f"{output.place}: no flow writes to {show(output.name)}")
        if output.kind in ("materialized view", "temporary view", "view") and len(flows) > 1:
            raise QueryError(
                f"{output.place}: the {output.kind} {show(output.name)} has {len(flows)} flows, not one"
            )


BLOCKED: tuple[tuple[type, str], ...] = (
    (RuntimeConfig, "set"),
    (Catalog, "setCurrentCatalog"),
    (Catalog, "setCurrentDatabase"),
    (Catalog, "dropTempView"),
    (Catalog, "dropGlobalTempView"),
    (DataFrame, "createTempView"),
    (DataFrame, "createOrReplaceTempView"),
    (DataFrame, "createGlobalTempView"),
    (DataFrame, "createOrReplaceGlobalTempView"),
    (UDFRegistration, "register"),
    (UDFRegistration, "registerJavaFunction"),
    (UDFRegistration, "registerJavaUDAF"),
)
"""What changes a session: refused in a pipeline's files, as Spark refuses it."""


@contextmanager
def block_mutations() -> Iterator[None]:
    """While a project's code runs, refuses what would change the session."""
    before = [
        (owner, name, owner.__dict__.get(name))
        for kind, name in BLOCKED
        for owner in find_defining(kind, name)
    ]

    def block(what: str) -> Any:
        def refuse(*_: Any, **__: Any) -> None:
            raise PySparkException(
                errorClass=f"SESSION_MUTATION_IN_DECLARATIVE_PIPELINE.{what}",
                messageParameters={"method": what},
            )

        return refuse

    try:
        for owner, name, _ in before:
            setattr(owner, name, block(name))
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


def find_defining(kind: type, name: str) -> list[type]:
    """The classes that define a method: a class of the API, and the one behind a classic session."""
    classes = [kind, *kind.__subclasses__()]
    return [c for c in classes if name in c.__dict__ and "connect" not in c.__module__]
