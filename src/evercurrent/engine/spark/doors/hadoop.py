"""Files of Hadoop's file systems, through the JVM of a session: hdfs, viewfs, abfss, s3a, whatever the cluster is configured for.

Java's exceptions become Python's: a file that is missing is a FileNotFoundError, all else an OSError. Large files pass through
files on the driver's disk, small ones as arrays of bytes.

    files = HadoopFiles(spark, "hdfs://host:8020/w")
    files.status("hdfs://host:8020/w/none")               None
    files.read("hdfs://host:8020/w/none")                 FileNotFoundError
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from evercurrent.engine.spark.doors.door import door_of, not_over_connect


class Status(NamedTuple):
    """What a file system says of a file: its address, its size, when it was last changed in seconds, whether it is a folder."""

    path: str
    size: int
    changed: float
    folder: bool


class HadoopFiles:
    """The files under one address."""

    def __init__(self, session: Any, url: str) -> None:
        if door_of(session).connect:
            raise not_over_connect(f"a warehouse at {url}", "the file system is the server's")
        self.jvm = session._jvm
        self.configuration = session._jsparkSession.sessionState().newHadoopConf()
        self.url = url
        with translate(url):
            self.system = self.path(url).getFileSystem(self.configuration)
            self.context = self.jvm.org.apache.hadoop.fs.FileContext.getFileContext(
                self.system.getUri(), self.configuration
            )

    def path(self, text: str) -> Any:
        return self.jvm.org.apache.hadoop.fs.Path(text)

    @property
    def hadoop_version(self) -> tuple[int, ...]:
        said = str(self.jvm.org.apache.hadoop.util.VersionInfo.getVersion())
        return tuple(int(n) for n in said.split("-", maxsplit=1)[0].split(".")[:3] if n.isdigit())

    # --- reading -------------------------------------------------------------------------------------------

    def status(self, path: str) -> Status | None:
        try:
            with translate(path):
                return status_of(self.system.getFileStatus(self.path(path)))
        except FileNotFoundError:
            return None

    def read(self, path: str) -> bytes:
        return bytes(self.stream(path, self.jvm.org.apache.commons.io.IOUtils.toByteArray))

    def read_ranges(self, path: str, begins: Sequence[int], ends: Sequence[int]) -> list[bytes]:
        def ranges(stream: Any) -> list[bytes]:
            found = []
            for begin, end in zip(begins, ends, strict=True):
                stream.seek(begin)
                found.append(bytes(self.jvm.org.apache.commons.io.IOUtils.toByteArray(stream, end - begin)))
            return found

        found: list[bytes] = self.stream(path, ranges)
        return found

    def stream(self, path: str, function: Callable[[Any], Any]) -> Any:
        with translate(path):
            stream = self.system.open(self.path(path))
            try:
                return function(stream)
            finally:
                stream.close()

    def copy_to_local(self, path: str, local: str) -> None:
        with translate(path):
            self.system.copyToLocalFile(False, self.path(path), self.path(f"file://{local}"), True)

    def list(self, path: str, *, below: bool = False) -> list[Status]:
        """What is in a folder, or all files in it and below; nothing if it is missing."""
        try:
            with translate(path):
                if not below:
                    return [status_of(s) for s in self.system.listStatus(self.path(path))]
                found, listed = [], self.system.listFiles(self.path(path), True)
                while listed.hasNext():
                    found.append(status_of(listed.next()))
                return found
        except FileNotFoundError:
            return []

    # --- writing -------------------------------------------------------------------------------------------

    def write(self, path: str, data: bytes, *, overwrite: bool = True, conditional: bool = False) -> None:
        """Write a file; FileExistsError if there is one and it is not to be overwritten.

        `conditional`: the store itself refuses a second file, by a conditional put (S3A of Hadoop 3.4.2 and later).
        """
        with translate(path):
            if conditional:
                builder = self.system.createFile(self.path(path)).overwrite(overwrite)
                stream = builder.must("fs.option.create.conditional.overwrite", True).build()
            else:
                stream = self.system.create(self.path(path), overwrite)
            try:
                stream.write(data)
                if stream.hasCapability("hsync"):
                    stream.hsync()
            finally:
                stream.close()

    def copy_from_local(self, local: str, path: str) -> None:
        with translate(path):
            self.system.copyFromLocalFile(False, True, self.path(f"file://{local}"), self.path(path))

    def rename(self, source: str, target: str) -> None:
        """Move a file to a name that nobody has; FileExistsError if somebody does."""
        with translate(target):
            kinds = self.jvm.org.apache.hadoop.fs.Options.Rename
            none = self.jvm.java.lang.reflect.Array.newInstance(kinds.NONE.getClass(), 1)
            self.jvm.java.lang.reflect.Array.set(none, 0, kinds.NONE)
            self.context.rename(self.path(source), self.path(target), none)

    def delete(self, path: str, *, folder: bool = False) -> bool:
        with translate(path):
            return bool(self.system.delete(self.path(path), folder))

    def make_folder(self, path: str) -> None:
        with translate(path):
            self.system.mkdirs(self.path(path))

    def touch(self, path: str, moment: float) -> None:
        """Set the time of the last change, where the file system has one."""
        with translate(path):
            self.system.setTimes(self.path(path), int(moment * 1000), -1)


def status_of(found: Any) -> Status:
    changed = found.getModificationTime() / 1000
    return Status(str(found.getPath().toString()), int(found.getLen()), changed, bool(found.isDirectory()))


@contextmanager
def translate(path: str) -> Iterator[None]:
    """Java's exceptions as Python's."""
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except Py4JJavaError as problem:
        kind = str(problem.java_exception.getClass().getName())
        said = str(problem.java_exception.getMessage()).splitlines()[0]
        if kind.endswith(("FileNotFoundException", "NoSuchFileException")):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from problem
        if kind.endswith("FileAlreadyExistsException") or "already exists" in said:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from problem
        raise OSError(errno.EIO, f"{kind.rsplit('.', 1)[-1]}: {said}", path) from problem
    except (Py4JError, PySparkException) as problem:  # PySpark translates some of Java's exceptions itself
        raise OSError(errno.EIO, str(problem).splitlines()[0], path) from problem
