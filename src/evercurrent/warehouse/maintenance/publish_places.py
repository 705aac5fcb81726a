"""Where views may be published outside of the warehouse: folders of a disk, and addresses in object stores.

    read_place("exports/spend")               PosixPath('/home/me/exports/spend')
    read_place("S3A://bucket/exports/spend/") Address('s3://bucket/exports/spend')

A place outside the warehouse is written only if the program has named it, or a folder above it. An object store is reached with the
credentials of the environment, or with those that the warehouse was connected with; none is stored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

from evercurrent.engine.spark.sources.places import source_disk
from evercurrent.engine.spark.storage import delta_tables as delta
from evercurrent.engine.spark.storage.disk import DISK
from evercurrent.engine.spark.storage.places import SCHEMES, Address, Place
from evercurrent.errors import QueryError, UnsupportedError
from evercurrent.warehouse.core import Core

OWN = ("_log", "data", "quarantine")
"""Folders of a warehouse that hold what it is made of."""
REACHED = tuple(s for s in SCHEMES if s != "memory")
"""Schemes of the stores that the library for Delta reaches."""


def read_place(to: str | os.PathLike[str]) -> Place:
    """Returns the place that a program or a definition names; refuses what cannot be written to."""
    text = os.fspath(to)
    found = re.match(r"^([A-Za-z][A-Za-z0-9+.-]+):", text)
    scheme = found.group(1).lower() if found else "file"
    if scheme == "file":
        return Path(os.path.abspath(re.sub(r"^file:(//)?", "", text, flags=re.IGNORECASE)))
    if scheme not in REACHED:
        raise UnsupportedError(
            f"a view cannot be published at {text}: the library for Delta does not reach {scheme}:",
            hint="name a folder of a disk, or an address that begins with "
            + ", ".join(f"{s}://" for s in REACHED),
        )
    rest = text.split(":", 1)[1].rstrip("/")
    names = rest.removeprefix("//").split("/")
    if not rest.startswith("//") or len(names) < 2 or any(n in ("", ".", "..") for n in names):
        raise QueryError(
            f"a view cannot be published at {text}",
            hint=f"name a folder in a bucket: {scheme}://bucket/folder, without . and ..",
        )
    return Address(f"{SCHEMES[scheme]}:{rest}")


def read_places(publish_to: Iterable[str | os.PathLike[str]]) -> tuple[Place, ...]:
    """Returns the places that a program names when it opens a warehouse."""
    if isinstance(publish_to, str | bytes | os.PathLike) or not isinstance(publish_to, Iterable):
        raise QueryError(
            "publish_to must be a list of folders", hint="ec.connect(..., publish_to=['exports'])"
        )
    return tuple(resolve(read_place(folder)) for folder in publish_to)


def resolve(place: Place) -> Place:
    """Returns a place without links."""
    return place.resolve() if isinstance(place, Path) else place


def parts_below(place: Place, folder: Place) -> tuple[str, ...] | None:
    """Returns the names that lead from a folder to a place in it; None if it is not in it.

    >>> parts_below(Address("s3://b/w/out/v"), Address("s3://b/w"))
    ('out', 'v')
    >>> parts_below(Address("s3://b/warehouse"), Address("s3://b/w")) is None
    True
    """
    if isinstance(place, Path) and isinstance(folder, Path):
        return place.relative_to(folder).parts if place.is_relative_to(folder) else None
    if isinstance(place, Address) and isinstance(folder, Address):
        rest = f"{place}/".removeprefix(f"{folder}/")
        return None if rest == f"{place}/" else tuple(n for n in rest.split("/") if n)
    return None


def is_confirmed(core: Core, place: Place) -> bool:
    """Whether views may be written at a place: somewhere in the warehouse, or in a folder that the program has named."""
    found = resolve(place)
    inside = parts_below(found, resolve(core.engine.folder.root))
    if inside is not None:
        return bool(inside) and inside[0] not in OWN
    return any(parts_below(found, folder) is not None for folder in core.publish_to)


def target_at(core: Core, place: Place) -> delta.Target:
    """Returns a place with the disk that it is on: the local one, that of the warehouse, or another store."""
    if isinstance(place, Path):
        return delta.Target(place, DISK)
    folder = core.engine.folder
    inside = parts_below(place, folder.root) is not None
    return delta.Target(
        place, folder.disk if inside else source_disk(core.engine.session, folder, str(place))
    )
