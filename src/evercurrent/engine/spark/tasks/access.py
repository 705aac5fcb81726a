"""What a task is sent so that it opens and writes the files of a warehouse.

A task is sent the root of the warehouse, what is known of the files that it may open, and how the files of stores are
arranged. It reads them as the driver does: checked by their digests, by way of mapped copies, only the pages that can hold its
keys. A worker that runs several tasks keeps one reader, and with it footers and copies: files never change.

    Access.to(folder, [segment], [store])       the root, the digests of the segment's files, the sort order of the store
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow

from evercurrent.data.types import Type
from evercurrent.engine.spark.storage.disk import Reach
from evercurrent.engine.spark.storage.entry_reader import EntryReader
from evercurrent.engine.spark.storage.files import Expected, Folder, Segment
from evercurrent.engine.spark.storage.store_names import StoreName

READERS = 4
"""The most warehouses of which a worker keeps readers."""


@dataclass(frozen=True)
class Access:
    """The root of a warehouse, how to reach it, and what is known of files and stores."""

    root: str
    reach: Reach
    expected: Mapping[str, Expected]
    orders: Mapping[StoreName, tuple[str, ...]]
    digested: Mapping[StoreName, tuple[Type, ...]]
    looked_at: Mapping[StoreName, tuple[str, ...]]

    @staticmethod
    def to(folder: Folder, segments: Iterable[Segment], stores: Iterable[StoreName]) -> Access:
        """What tasks need that read these segments and write into these stores."""
        files = dict.fromkeys(f for s in segments for f in s.files)
        known = {f: folder.expected[f] for f in files if f in folder.expected}
        names = list(stores)
        return Access(
            str(folder.root),
            folder.disk.reach(),
            known,
            {s: folder.orders[s] for s in names if s in folder.orders},
            {s: folder.digested[s] for s in names if s in folder.digested},
            {s: folder.looked_at[s] for s in names if s in folder.looked_at},
        )


_readers: OrderedDict[str, EntryReader] = OrderedDict()


def task_reader(access: Access) -> EntryReader:
    """The reader of this worker for a warehouse; it knows what the task was sent, and nothing of what others were."""
    reader = _readers.get(access.root)
    if reader is None:
        pyarrow.set_cpu_count(1)  # a task has one core; others beside it have theirs
        for name, value in access.reach.environment.items():
            os.environ.setdefault(name, value)
        reader = _readers[access.root] = EntryReader(Folder(access.root, access.reach.options))
        while len(_readers) > READERS:
            _readers.popitem(last=False)
    folder = reader.folder
    folder.expected = dict(access.expected)
    folder.orders = dict(access.orders)
    folder.digested = dict(access.digested)
    folder.looked_at = dict(access.looked_at)
    folder.made = []
    return reader
