"""A warehouse in an object store: S3, GCS, Azure, or memory, through the package `obstore`.

The same operations as on a disk, by addresses. Two things differ.

- A file is there as a whole or not at all, and durable once its put has returned: nothing is synced, and nothing has a draft.
- An answer may be lost. A put can be repeated. A put of a file that must not be there yet (a commit) may have succeeded all
  the same, or meet itself when it is repeated. So whatever it returns, the file is read back: what is there is ours exactly if
  its bytes are ours, since every entry of a log names a snapshot of its own.

    put if absent -> written             ours
                  -> it is there         ours, if its bytes are
                  -> 409, 503, no answer look; repeat while it is not there
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, TypeVar

import pyarrow

from evercurrent.engine.spark.storage.checksums import Checked, read_sums
from evercurrent.engine.spark.storage.disk import Disk, Found, MissingFileError, Path, Reach
from evercurrent.engine.spark.storage.file_cache import BYTES_VARIABLE, FetchedFile, FileCache, default_folder
from evercurrent.errors import StorageError, UnsupportedError

ATTEMPTS = 6
"""How often a put that must not meet another one is tried."""
PAUSE = 0.1
"""Seconds before it is tried again, the first time; then twice as many."""
RETRIES = 6
"""How often the library repeats any other request."""
PREFIXES = ("AWS_", "AZURE_", "GOOGLE_", BYTES_VARIABLE)
"""Variables of the environment that say how stores are reached, and how much is cached."""
IMMUTABLE = ("data/",)
"""Files under these names never change: they are cached."""

T = TypeVar("T")


def open_store(url: str, options: Mapping[str, str]) -> Any:
    """The store at an address. Credentials are those of the environment, or of `options`, and are kept nowhere."""
    try:
        from obstore.exceptions import BaseError
        from obstore.store import from_url
    except ImportError as problem:
        raise UnsupportedError(
            f"a warehouse at {url} needs the package obstore", hint="pip install 'evercurrent[stores]'"
        ) from problem
    allowed = {"allow_http", "aws_allow_http", "azure_allow_http", "google_allow_http"}
    config = {k: v for k, v in options.items() if k.lower() not in allowed}
    http = [v for k, v in options.items() if k.lower() in allowed]
    given: dict[str, Any] = {"config": config} if config else {}
    if http:
        given["client_options"] = {"allow_http": str(http[-1]).lower() in ("true", "1", "yes")}
    if not url.startswith("memory:"):
        backoff = {"init_backoff": timedelta(seconds=PAUSE), "max_backoff": timedelta(seconds=5), "base": 2}
        given["retry_config"] = {
            "max_retries": RETRIES,
            "retry_timeout": timedelta(seconds=60),
            "backoff": backoff,
        }
    try:
        return from_url(url, **given)
    except (BaseError, ValueError, TypeError) as problem:
        raise StorageError(
            f"the store {url} cannot be opened: {first_line(problem)}",
            hint="is the address right, and are the credentials in the environment or in storage_options?",
        ) from problem


def first_line(problem: BaseException) -> str:
    return next((line.strip() for line in str(problem).splitlines() if line.strip()), type(problem).__name__)


def disk_of_task(reach: Reach) -> ObjectDisk:
    """The disk of a task, whose environment says of the store what that of the driver says, unless it says something else.

    It has a cache on the executor's own disk, which all tasks there share.
    """
    for name, value in reach.environment.items():
        os.environ.setdefault(name, value)
    return ObjectDisk(reach.url, reach.options, FileCache(default_folder(reach.url)))


class ObjectDisk(Disk):
    """Files by address, in an object store. `requests`, `bytes_in` and `bytes_out` count requests and transferred bytes."""

    remote = True

    def __init__(self, url: str, options: Mapping[str, str], cache: FileCache | None = None) -> None:
        self.url = url
        self.options = dict(options)
        self.delta_options = self.options or None
        self.store = open_store(url, options)
        self.cache = cache
        self.requests = 0
        self.bytes_in = 0
        self.bytes_out = 0

    def key(self, path: Path) -> str:
        return os.fspath(path).removeprefix(self.url).lstrip("/")

    def ask(self, operation: str, path: Path, request: Callable[[], T]) -> T:
        """One request; whatever fails is a StorageError that names the file."""
        with self.name_errors(operation, path):
            self.requests += 1
            return request()

    @contextmanager
    def name_errors(self, operation: str, path: Path) -> Iterator[None]:
        from obstore.exceptions import BaseError

        with super().name_errors(operation, path):
            try:
                yield
            except BaseError as problem:
                raise StorageError(
                    f"{os.fspath(path)} cannot be {operation}: {first_line(problem)}"
                ) from problem

    def reach(self) -> Reach:
        """What a task needs: the options, and what the environment says, which executors need not have."""
        return Reach(self.url, self.options, {k: v for k, v in os.environ.items() if k.startswith(PREFIXES)})

    # --- reading -------------------------------------------------------------------------------------------

    def read(self, path: Path) -> bytes:
        key = self.key(path)
        cached = self.cache is not None and key.startswith(IMMUTABLE)
        if cached and self.cache is not None and (known := self.cache.read(key)) is not None:
            return known
        data: bytes = self.ask("read", path, lambda: bytes(self.store.get(key).bytes()))
        self.bytes_in += len(data)
        if cached and self.cache is not None:
            self.cache.write(key, data)
        return data

    def map(self, path: Path) -> pyarrow.Buffer:
        return pyarrow.py_buffer(self.read(path))

    def read_ranges(self, path: Path, begins: list[int], ends: list[int]) -> list[bytes]:
        """Several ranges of a file; those that are near to each other come by one request."""
        key = self.key(path)
        parts = self.ask("read", path, lambda: self.store.get_ranges(key, starts=begins, ends=ends))
        self.bytes_in += sum(map(len, parts))
        return [bytes(p) for p in parts]

    def fetch(self, path: str, size: int, wanted: str, way_out: str | None) -> Checked | None:
        """A large file whose blocks are fetched when they are read; None if its sums are missing, or nothing is cached."""
        cached = None if self.cache is None else self.cache.place(self.key(path), size)
        sums = read_sums(path, size, wanted, self) if cached is not None else None
        if cached is None or sums is None:
            return None
        return FetchedFile(self, path, cached, sums, size, way_out)

    def forget(self, path: Path) -> bool:
        if self.cache is None:
            return False
        self.cache.remove(self.key(path))
        return True

    def names(self, folder: Path) -> list[str]:
        key = self.key(folder)
        found = self.ask("listed", folder, lambda: self.store.list_with_delimiter(key))
        paths = [o["path"] for o in found["objects"]] + list(found["common_prefixes"])
        return [p.rstrip("/").rsplit("/", 1)[-1] for p in paths]

    def names_after(self, folder: Path, name: str) -> list[str]:
        """A request for each thousand names; digits come before letters, so the first name with a letter ends it.

        Not every server that speaks Azure's protocol knows where to start: what comes before is left out here too.
        """
        key = self.key(folder)
        found: list[str] = []
        with self.name_errors("listed", folder):
            for page in self.store.list(key, offset=f"{key}/{name}", chunk_size=1000):
                self.requests += 1
                for o in page:
                    rest = o["path"].removeprefix(key).lstrip("/")
                    if not rest[:1].isdigit():
                        return found
                    if rest > name:
                        found.append(rest)
        return found

    def tree(self, folder: Path) -> Iterator[Found]:
        key = self.key(folder)
        pages = self.ask("listed", folder, lambda: list(self.store.list(key, chunk_size=1000)))
        for page in pages:
            for o in page:
                yield Found(
                    o["path"].removeprefix(key).lstrip("/"), o["size"], o["last_modified"].timestamp()
                )

    def marks(self, path: Path) -> tuple[int, int] | None:
        try:
            found = self.ask("read", path, lambda: self.store.head(self.key(path)))
        except MissingFileError:
            return None
        return found["size"], int(found["last_modified"].timestamp() * 1e9)

    def renew(self, path: Path, seconds: float) -> bool:
        return self.exists(path)  # its age cannot be changed

    # --- writing -------------------------------------------------------------------------------------------

    def put(self, path: Path, *parts: Any, durable: bool = False) -> None:
        data = b"".join(bytes(p) for p in parts)
        key = self.key(path)
        self.ask("written", path, lambda: self.store.put(key, data))
        self.bytes_out += len(data)
        self.call("written", path)
        if self.cache is not None and key.startswith(IMMUTABLE):
            self.cache.write(key, data)

    def replace(self, path: Path, *parts: Any) -> None:
        self.put(path, *parts)

    def put_if_absent(self, path: Path, content: bytes) -> bool:
        """Write a file unless one of this name is there; returns whether what is there now is ours."""
        key = self.key(path)
        for attempt in range(ATTEMPTS):
            try:
                self.call("written", path)
                self.requests += 1
                self.store.put(key, content, mode="create", use_multipart=False)
                self.bytes_out += len(content)
                return True
            except Exception as problem:
                # It is there, or the answer was an error, or was lost: what stands there decides.
                with suppress(MissingFileError):
                    return self.read(path) == content
                if attempt + 1 == ATTEMPTS:
                    raise StorageError(
                        f"{os.fspath(path)} cannot be written: {first_line(problem)}"
                    ) from problem
                time.sleep(PAUSE * 2**attempt)
        raise AssertionError

    def make_folder(self, path: Path) -> None:
        """There are no folders."""

    def delete(self, path: Path) -> int:
        marks = self.marks(path)
        if marks is None:
            return 0
        key = self.key(path)
        self.ask("removed", path, lambda: self.store.delete(key))
        if self.cache is not None:
            self.cache.remove(key)
        return marks[0]

    def sync(self, path: Path) -> None:
        """What was put is durable."""

    def prune(self, folder: Path, since: float) -> None:
        """There are no folders."""
