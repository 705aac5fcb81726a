"""Following a folder or archive: what has changed since one last looked.

Polling compares stamps, so nothing is read that did not change. A class that cannot be read yet, because a compiler is
just writing it, keeps its old version and is tried again the next time.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from examples.analyser.classfile import read
from examples.analyser.constants import ClassFormatError
from examples.analyser.facts import Facts, facts
from examples.analyser.sources import Place, Stamp, load, scan


class Seen(NamedTuple):
    """A class file that came or changed (`facts`), went (neither), or could not be read (`problem`)."""

    place: Place
    facts: Facts | None
    problem: str = ""


class Watch:
    """A path and the stamps of all its class files, when one last looked."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stamps: dict[Place, Stamp] = {}
        self.bad: dict[Place, Stamp] = {}

    def look(self) -> Iterator[Seen]:
        """What has changed, in order: first what went, then what came or changed."""
        now = scan(self.path)
        for place in sorted(self.stamps.keys() - now.keys()):
            del self.stamps[place]
            yield Seen(place, None)
        changed = sorted(place for place, stamp in now.items() if self.stamps.get(place) != stamp)
        for place, data in load(changed):
            try:
                found = facts(read(data))
            except ClassFormatError as problem:
                if self.bad.get(place) != now[place]:  # said once for each version
                    self.bad[place] = now[place]
                    yield Seen(place, None, str(problem))
                continue
            self.stamps[place] = now[place]
            yield Seen(place, found)
