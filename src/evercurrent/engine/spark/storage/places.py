"""Where a warehouse is: a path of the local disk, or an address in an object store.

>>> locate("/data/w", {})
(PosixPath('/data/w'), None)
>>> locate("memory:///w", {})[0] / "_log"
Address(text='memory:///w/_log')
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evercurrent.engine.spark.storage.disk import Disk
from evercurrent.errors import QueryError, StorageError, UnsupportedError

SCHEMES = {
    "s3": "s3",
    "s3a": "s3",
    "gs": "gs",
    "az": "az",
    "abfs": "abfs",
    "abfss": "abfss",
    "memory": "memory",
}
"""The schemes of object stores, and what the library calls them."""
HADOOP = ("hdfs", "viewfs", "ofs")
"""Schemes that only Hadoop's clients know."""


@dataclass(frozen=True)
class Address:
    """A place in an object store; like a path, as far as a warehouse needs one."""

    text: str

    def __truediv__(self, name: str) -> Address:
        return Address(f"{self.text}/{name}")

    def __fspath__(self) -> str:
        return self.text

    def __str__(self) -> str:
        return self.text

    @property
    def name(self) -> str:
        return self.text.rsplit("/", 1)[-1]


Place = Path | Address


def locate(
    path: str | os.PathLike[str], options: Mapping[str, str], session: Any = None
) -> tuple[Place, Disk | None]:
    """The root of a warehouse, and its disk if that is not the local one.

    File systems that only Hadoop knows are reached through the session, and others too with the option `access` = `session`.
    """
    text = os.fspath(path)
    if not text:
        raise QueryError("the path of a warehouse is empty", hint='ec.connect(spark=spark, path="warehouse")')
    found = re.match(r"^([A-Za-z][A-Za-z0-9+.-]+):", text)
    scheme = found.group(1).lower() if found else "file"
    access = options.get("access")
    if access not in (None, "session"):
        raise QueryError(
            f"there is no access {access!r}", hint='storage_options={"access": "session"}, or none'
        )
    if scheme in HADOOP or access == "session":
        return locate_by_session(text, options, session)
    if scheme == "file":
        if options:
            raise QueryError(
                "storage_options are for object stores", hint="leave them out for a path on a disk"
            )
        return Path(re.sub(r"^file:(//)?", "", text, flags=re.IGNORECASE)).absolute(), None
    if scheme not in SCHEMES:
        raise UnsupportedError(
            f"a warehouse at {scheme}: is not built yet",
            hint="give a path that the driver and all executors share, or one of "
            + ", ".join(f"{s}://" for s in (*SCHEMES, *HADOOP) if s != "memory"),
        )
    from evercurrent.engine.spark.storage.file_cache import FileCache, default_folder
    from evercurrent.engine.spark.storage.object_disk import ObjectDisk

    url = f"{SCHEMES[scheme]}:{text.split(':', 1)[1].rstrip('/')}"
    return Address(url), ObjectDisk(url, options, FileCache(default_folder(url)))


def locate_by_session(text: str, options: Mapping[str, str], session: Any) -> tuple[Place, Disk]:
    """The root of a warehouse that the session's own connector reaches, and its disk."""
    from evercurrent.engine.spark.storage.file_cache import FileCache, default_folder
    from evercurrent.engine.spark.storage.hadoop.disk import HadoopDisk

    if session is None:
        raise UnsupportedError(
            f"{text} is reached through a session of Spark", hint="ec.connect(spark=spark, path=...)"
        )
    unknown = sorted(set(options) - {"access", "commit"})
    if unknown:
        raise QueryError(
            f"the option {unknown[0]} is not for a warehouse that the session reaches",
            hint="credentials are those of the session: spark.hadoop.*",
        )
    url = text.rstrip("/")
    try:
        return Address(url), HadoopDisk(session, url, options, FileCache(default_folder(url)))
    except OSError as problem:
        raise StorageError(
            f"{url} cannot be reached: {problem.strerror}",
            hint="Spark's session must have a connector for it: spark.jars.packages, spark.hadoop.*",
        ) from problem
