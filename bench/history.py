"""A history of Java classes: consecutive releases of one library, as changes of class files.

The releases are jars in one folder: `EVERCURRENT_JARS`, or the user's cache. Where it has none and `mvn` is installed, the
releases of commons-lang3 are fetched into it; by hand, for each version:

    mvn dependency:copy -Dartifact=org.apache.commons:commons-lang3:3.1 -DoutputDirectory=FOLDER
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from examples.analyser.sources import Place, load, scan

LIBRARY = "org.apache.commons:commons-lang3"
VERSIONS = [
    "3.0",
    "3.0.1",
    "3.1",
    "3.2",
    "3.2.1",
    "3.3",
    "3.3.1",
    "3.3.2",
    "3.4",
    "3.5",
    "3.6",
    "3.7",
    "3.8",
    "3.8.1",
    "3.9",
    "3.10",
    "3.11",
    "3.12.0",
    "3.13.0",
    "3.14.0",
    "3.15.0",
    "3.16.0",
    "3.17.0",
    "3.18.0",
]


class Missing(Exception):
    """What a benchmark needs and this machine has not; says how to get it."""


class Change(NamedTuple):
    """A class file that came, changed (`data`) or went (None) with a release."""

    release: str
    place: Place
    data: bytes | None


Classes = dict[Place, bytes]


def folder() -> Path:
    return Path(os.environ.get("EVERCURRENT_JARS", Path.home() / ".cache" / "evercurrent" / "jars"))


def jars() -> list[Path]:
    """The releases, oldest first."""
    found = sorted(folder().glob("*.jar"), key=version)
    if len(found) < 2:
        fetch()
        found = sorted(folder().glob("*.jar"), key=version)
    return found


def fetch() -> None:
    into = folder()
    mvn = shutil.which("mvn")
    if mvn is None:
        raise Missing(f"there are no jars in {into}, and no mvn to get them with; see bench/history.py")
    for each in VERSIONS:
        command = [
            mvn,
            "-q",
            "dependency:copy",
            f"-Dartifact={LIBRARY}:{each}",
            f"-DoutputDirectory={into}",
        ]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            raise Missing(f"mvn could not get {LIBRARY}:{each}; put jars of a library into {into}")


def version(jar: Path) -> tuple[int, ...]:
    """
    >>> version(Path("commons-lang3-3.12.0.jar"))
    (3, 12, 0)
    """
    return tuple(map(int, re.findall(r"\d+", jar.stem.rpartition("-")[2])))


def classes(jar: Path) -> Classes:
    """All classes of a release; the place is the same in all releases."""
    found = load(sorted(scan(jar)))
    return {Place(Path(), place.entry): data for place, data in found}


def history(releases: list[Path]) -> tuple[Classes, list[Change]]:
    """The classes of the first release, and all changes until the last, class by class."""
    first = classes(releases[0])
    changes: list[Change] = []
    before = first
    for jar in releases[1:]:
        now = classes(jar)
        name = jar.stem.rpartition("-")[2]
        changes += [Change(name, place, None) for place in sorted(before.keys() - now.keys())]
        changes += [
            Change(name, place, now[place]) for place in sorted(now) if now[place] != before.get(place)
        ]
        before = now
    return first, changes
