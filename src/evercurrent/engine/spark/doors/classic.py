"""A session in this process: its context and its JVM answer.

Jobs are counted by a tag, so that those of other threads and programs on the same cluster are not counted. Spark reports a job
a little later than it begins, so the count waits for that.

    ClassicDoor(spark)       master local[4]: is_local() is True, cores is 4
"""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import unquote, urlparse

from pyspark.sql import DataFrame, SparkSession

from evercurrent.engine.spark.doors.door import DESCRIPTION

PATIENCE_MS = 500
"""The longest wait for Spark to say which jobs it has begun."""
PARQUET = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"
UNKNOWN_BYTES = 1 << 60
"""Spark says that a table of which it knows nothing is larger than this."""


def quieten(session: Any) -> None:
    """Have Spark log errors only."""
    session.sparkContext.setLogLevel("ERROR")


class ClassicDoor:
    """The door to a session with a context."""

    connect = False

    def __init__(self, session: Any) -> None:
        self.session = session
        self.tag = ""
        self.before = -1

    def new_session(self) -> Any:
        """Local tasks run this very Python, where evercurrent is installed; PySpark would take any `python3` on the path.

        On a cluster the executors' Python is the user's to name, as for any Python function: PYSPARK_PYTHON.
        """
        context = self.session.sparkContext
        if str(context.master).startswith("local") and "PYSPARK_PYTHON" not in os.environ:
            context.pythonExec = sys.executable
        return self.session.newSession()

    def close_session(self) -> None:
        """Nothing is held but memory: to stop a session would stop its context."""

    @property
    def cores(self) -> int:
        return int(self.session.sparkContext.defaultParallelism)

    def is_local(self) -> bool:
        master = str(self.session.sparkContext.master)
        return master == "local" or master.startswith("local[")

    # --- tasks ---------------------------------------------------------------------------------------------

    def on_executors(self, function: Callable[[str], Any], values: Sequence[str], kind: str) -> list[Any]:
        listed = self.session.sparkContext.parallelize(list(values), max(1, len(values)))
        return list(listed.map(function).collect())

    def one_task_each(self, rows: Sequence[tuple[Any, ...]], schema: str) -> DataFrame:
        listed = self.session.sparkContext.parallelize(list(rows), max(1, len(rows)))
        found: DataFrame = self.session.createDataFrame(listed, schema)
        return found

    # --- what others see -----------------------------------------------------------------------------------

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Restores the active session, which making frames changes, and the description of jobs."""
        context = self.session.sparkContext
        described, active = context.getLocalProperty(DESCRIPTION), SparkSession._activeSession
        try:
            yield
        finally:
            with suppress(Exception):  # the context may have been stopped
                context.setLocalProperty(DESCRIPTION, described)
            self.restore(active)

    def restore(self, active: Any) -> None:
        if active is None or SparkSession._activeSession is active:
            return
        with suppress(Exception):
            SparkSession._activeSession = active
            known = SparkSession._get_j_spark_session_class(active._jvm)
            known.setActiveSession(active._jsparkSession)

    def describe(self, text: str) -> None:
        with suppress(Exception):
            self.session.sparkContext.setLocalProperty(DESCRIPTION, f"evercurrent: {text}")

    # --- jobs ----------------------------------------------------------------------------------------------

    def begin_counting(self) -> None:
        with suppress(Exception):
            context = self.session.sparkContext
            self.tag = f"evercurrent-{uuid.uuid4().hex}"
            self.before = int(context._jsc.sc().dagScheduler().numTotalJobs())
            context.addJobTag(self.tag)

    def end_counting(self) -> None:
        if self.tag:
            with suppress(Exception):
                self.session.sparkContext.removeJobTag(self.tag)
        self.tag = ""

    def count_jobs(self) -> int:
        if not self.tag or self.before < 0:
            return 0
        with suppress(Exception):
            core = self.session.sparkContext._jsc.sc()
            if int(core.dagScheduler().numTotalJobs()) == self.before:
                return 0
            with suppress(Exception):
                core.listenerBus().waitUntilEmpty(PATIENCE_MS)
            return len(list(core.statusTracker().getJobIdsForTag(self.tag)))
        return 0

    def tasks(self) -> tuple[int, int] | None:
        try:
            tracker = self.session.sparkContext.statusTracker()
            found = [tracker.getStageInfo(i) for i in tracker.getActiveStageIds()]
        except Exception:
            return None  # a context that is being stopped
        known = [s for s in found if s is not None]
        if not known:
            return None
        return sum(s.numCompletedTasks for s in known), sum(s.numTasks for s in known)

    # --- plans and files -----------------------------------------------------------------------------------

    def is_scan(self, frame: DataFrame) -> bool:
        plan = frame._jdf.queryExecution().optimizedPlan()
        while plan.children().size() == 1:
            if plan.nodeName() not in ("Project", "Filter"):
                return False
            plan = plan.children().head()
        if not str(plan.nodeName()).startswith("LogicalRelation"):
            return False
        files = str(plan.relation().getClass().getName()).endswith(".HadoopFsRelation")
        return files and self.bytes_of(frame) < UNKNOWN_BYTES

    def parquet_columns(self, frame: DataFrame) -> tuple[list[str], dict[str, str], dict[str, str]] | None:
        """The local Parquet files that a frame reads as they are, and of its columns the names in them, or constant texts."""
        execution = frame._jdf.queryExecution()
        plan = execution.optimizedPlan()
        if "InMemoryRelation" in str(execution.withCachedData()):
            return None
        outputs = plan.projectList() if plan.nodeName() == "Project" else plan.output()
        relation = plan.child() if plan.nodeName() == "Project" else plan
        if not str(relation.nodeName()).startswith("LogicalRelation"):
            return None
        files, own = relation.relation(), relation.output()
        if not str(files.getClass().getName()).endswith(".HadoopFsRelation"):
            return None
        if str(files.fileFormat().getClass().getName()) != PARQUET or files.partitionSchema().length():
            return None
        known = {own.apply(i).exprId().id(): str(own.apply(i).name()) for i in range(own.length())}
        columns, constants = {}, {}
        for i in range(outputs.length()):
            output = outputs.apply(i)
            value = output.child() if str(output.nodeName()) == "Alias" else output
            if str(value.nodeName()) == "Literal" and str(value.dataType().typeName()) == "string":
                constants[str(output.name())] = str(value.toString())
            elif str(value.nodeName()) == "AttributeReference" and value.exprId().id() in known:
                columns[str(output.name())] = known[value.exprId().id()]
            else:
                return None
        found = [urlparse(str(f)) for f in frame._jdf.inputFiles()]
        if any(f.scheme != "file" or f.netloc for f in found):
            return None
        return [unquote(f.path) for f in found], columns, constants

    def bytes_of(self, frame: DataFrame) -> int:
        return int(str(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))

    def list_files(self, path: str) -> dict[str, list[int]]:
        session = self.session
        place = session._jvm.org.apache.hadoop.fs.Path(path)
        system = place.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())
        root = system.makeQualified(place).toString().rstrip("/") + "/"
        listed = system.listFiles(place, True)
        found = {}
        while listed.hasNext():
            status = listed.next()
            name = status.getPath().toString().removeprefix(root)
            found[name] = [int(status.getLen()), int(status.getModificationTime())]
        return found

    def stream_of(self, batch: DataFrame) -> str:
        return str(batch.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId"))

    def refuse(self, what: str, why: str) -> None:
        """Everything is possible."""
