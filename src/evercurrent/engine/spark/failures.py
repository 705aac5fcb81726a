"""Errors of Spark and of the file system as errors of this package: what failed, in one line, and that nothing was changed.

with told_as_ours():            Py4JJavaError: An error occurred while calling o123.parquet.
    frame.write.parquet(...)    : org.apache.spark.SparkException: Job aborted. ...
                             -> EvaluationError: Spark failed: Job aborted. ...
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.errors import (
    ArithmeticException,
    ArrayIndexOutOfBoundsException,
    DateTimeException,
    NumberFormatException,
    PySparkException,
    PythonException,
    SparkRuntimeException,
)

from evercurrent.errors import EvaluationError, EvercurrentError, StorageError

try:
    from py4j.protocol import Py4JError, Py4JJavaError
except ImportError:  # a client of Spark Connect needs no Java
    Py4JError = Py4JJavaError = type("Py4JError", (Exception,), {})

MISSING = ("FileNotFoundException", "FILE_NOT_EXIST", "PATH_NOT_FOUND", "NoSuchFileException")
"""What Spark says where a file is not there."""


FAILED = (Py4JError, PySparkException)
"""What Spark raises, whatever it fails at."""

FAILURES = (
    ArithmeticException,
    ArrayIndexOutOfBoundsException,
    DateTimeException,
    NumberFormatException,
    PythonException,
    SparkRuntimeException,
)
"""What Spark raises where the data makes an expression fail."""


def spark_failure(problem: BaseException) -> str | None:
    """What Spark says of a failure, in one line; None if it is not one of Spark's."""
    if isinstance(problem, Py4JJavaError):
        return f"Spark failed: {first_cause(str(problem.java_exception))}"
    if isinstance(problem, Py4JError):
        return f"Spark failed: {first_line(str(problem))}"
    if isinstance(problem, PythonException):
        return f"Spark failed: {last_error(str(problem))}"
    if isinstance(problem, PySparkException):
        return f"Spark failed: {first_line(str(problem))}"
    return None


def first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "it does not say why")


def last_error(text: str) -> str:
    """What a task of Python says at the end of its traceback.

    >>> last_error("An exception was thrown:\\n  File x\\nValueError: no\\n")
    'ValueError: no'
    """
    found = [line.strip() for line in text.splitlines() if re.match(r"^\s*[\w.]+(Error|Exception): ", line)]
    return found[-1] if found else first_line(text)


def first_cause(text: str) -> str:
    """The message of a Java exception, without the name of its class.

    >>> first_cause("org.apache.spark.SparkException: Job aborted.\\n at x")
    'Job aborted.'
    """
    return re.sub(r"^[\w.$]+(Exception|Error): ", "", first_line(text))


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turns errors of Spark and of the file system into ours."""
    try:
        yield
    except EvercurrentError:
        raise
    except OSError as problem:
        place = f"{problem.filename}: " if problem.filename else ""
        raise StorageError(f"{place}{problem.strerror or problem}", hint="nothing was changed") from problem
    except FAILED as problem:
        said = spark_failure(problem) or ""
        kind = StorageError if any(m in str(problem) for m in MISSING) else EvaluationError
        raise kind(said, hint="nothing was changed; the cause above tells more") from problem
