"""Functions over items, in this process or by tasks of Spark: the driver is the case of one partition.

Law. `run(function, items)` returns what `function(reader, item)` returns for each item, in their order, wherever it runs. A task
that is repeated, or runs twice, leaves nothing but files that no version mentions: only what it returns counts.

>>> from types import SimpleNamespace
>>> Runner(SimpleNamespace(read_bytes=0), None, cores=1).run_here(lambda reader, item: 10 * item, [1, 2])
[10, 20]

Errors that a function raises about the data are returned like results and raised here, so that they read the same from both places.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import pyarrow
from pyspark import cloudpickle
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

from evercurrent.engine.spark.kernel.garbage_collection import rare_collection
from evercurrent.engine.spark.storage.entry_reader import EntryReader, TooLarge
from evercurrent.engine.spark.storage.files import Expected
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.tasks.access import Access, task_reader
from evercurrent.errors import EvercurrentError

Item = TypeVar("Item")
Made = TypeVar("Made")
Task = Callable[[EntryReader, Item], Made]

dumps: Callable[[Any], bytes] = cloudpickle.dumps
"""Functions and items as bytes; functions of users travel by value."""

RESULT = "place bigint, made binary"
TASK_ENTRIES = 3_000_000
"""The most entries that one task may hold as Python values at a time."""


class Unserved(Exception):
    """Tasks cannot do this: jobs must."""


class Runner:
    """Runs functions. `session` None: in this process."""

    def __init__(self, reader: EntryReader, session: SparkSession | None, cores: int) -> None:
        self.reader = reader
        self.session = session
        self.cores = cores
        self.jobs = 0
        self.read_bytes = 0

    def run_here(self, function: Task[Item, Made], items: Iterable[Item]) -> list[Made]:
        """Runs a function in this process."""
        result = []
        with rare_collection():
            for item in items:
                before = self.reader.read_bytes
                result.append(function(self.reader, item))
                self.read_bytes += self.reader.read_bytes - before
        return result

    def run(self, function: Task[Item, Made], items: Sequence[Item], access: Access) -> list[Made]:
        """Runs a function by tasks, one for each item; of a single item in this process."""
        if self.session is None:
            return self.run_here(function, items)
        if not items:
            return []
        self.jobs += 1
        work = attempts(function, access, [dumps(item) for item in items])
        frame = self.session.range(0, len(items), 1, len(items)).mapInArrow(work, RESULT)
        try:
            found = frame.collect()
        except PythonException as problem:
            if "No module named 'evercurrent" in str(problem):
                self.reader.folder.shared_work = False
                raise Unserved("executors do not have this package") from problem
            raise
        made: dict[int, Made] = {}
        for row in found:
            value, files, read = pickle.loads(row["made"])
            if isinstance(value, Exception):
                raise value
            self.note(files)
            self.read_bytes += read
            made[row["place"]] = value
        return [made[i] for i in range(len(items))]

    def note(self, files: Iterable[tuple[str, StoreName, str]]) -> None:
        """Note files that tasks have written: nobody mentions them yet."""
        folder = self.reader.folder
        for file, store, digest in files:
            folder.made.append(file)
            folder.expected[file] = Expected(store, digest)


def attempts(
    function: Callable[[EntryReader, Any], Any], access: Access, items: Sequence[bytes]
) -> Callable[[Iterable[pyarrow.RecordBatch]], Iterator[pyarrow.RecordBatch]]:
    """A function as Spark's tasks run it: places of items in, results out."""

    def work(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                made = dumps(attempt(function, access, pickle.loads(items[place])))
                yield pyarrow.RecordBatch.from_pydict(
                    {"place": pyarrow.array([place], pyarrow.int64()), "made": pyarrow.array([made])}
                )

    return work


def attempt(
    function: Callable[[EntryReader, Any], Any], access: Access, item: Any
) -> tuple[Any, list[tuple[str, StoreName, str]], int]:
    """What a function returns or says of the data, the files that it wrote, and how many bytes it read."""
    reader = task_reader(access)
    before = reader.read_bytes
    reader.allow(TASK_ENTRIES)
    try:
        with rare_collection():
            value = function(reader, item)
    except (EvercurrentError, TooLarge, Unserved) as problem:
        return problem, [], 0
    written = [(f, reader.folder.expected[f]) for f in reader.folder.made]
    return value, [(f, e.store, e.digest or "") for f, e in written], reader.read_bytes - before
