"""Where class files come from: a file, a folder, or an archive (a jar, or a module of a Java runtime).

`scan(path)` says of each class file what tells one version of it from another, without reading it; `load(place)` reads
it. In an archive that is the checksum of the entry, in a folder the size and the time of the last change.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ARCHIVES = (".jar", ".zip", ".war", ".jmod")


class Place(NamedTuple):
    """A class file: the file or archive, and the entry in the archive (the empty text for a file)."""

    path: Path
    entry: str


Stamp = tuple[int, int]


def scan(path: Path) -> dict[Place, Stamp]:
    """All class files under a path, each with its stamp. What vanishes while it is looked at is not there."""
    found: dict[Place, Stamp] = {}
    for file in files(path):
        try:
            if file.suffix in ARCHIVES:
                with zipfile.ZipFile(file) as archive:
                    for entry in archive.infolist():
                        if wanted(entry.filename):
                            found[Place(file, entry.filename)] = (entry.CRC, entry.file_size)
            else:
                status = file.stat()
                found[Place(file, "")] = (status.st_mtime_ns, status.st_size)
        except (FileNotFoundError, zipfile.BadZipFile):
            continue  # deleted, or an archive that is being written: the next scan will see
    return found


def files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for file in sorted(path.rglob("*")):
        if file.is_file() and (file.suffix in ARCHIVES or wanted(file.name)):
            yield file


def wanted(name: str) -> bool:
    """Classes, but no module or package descriptions, and no variants of a class for other versions of Java."""
    last = name.rsplit("/", 1)[-1]
    return (
        name.endswith(".class")
        and last not in ("module-info.class", "package-info.class")
        and not name.startswith("META-INF/")
    )


def load(places: list[Place]) -> Iterator[tuple[Place, bytes]]:
    """The bytes of class files; an archive is opened once."""
    by_file: dict[Path, list[Place]] = {}
    for place in places:
        by_file.setdefault(place.path, []).append(place)
    for file, inside in by_file.items():
        if not inside[0].entry:
            yield inside[0], file.read_bytes()
            continue
        with zipfile.ZipFile(file) as archive:
            for place in inside:
                yield place, archive.read(place.entry)
