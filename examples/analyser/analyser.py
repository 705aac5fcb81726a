"""The analyser: classes come, change and go, each time as one transaction, and the bugs are at all times those of now.

The change of a class is the difference between its old and its new rows; what stayed as it was costs nothing. Where two
files hold the same class, the first counts, as on a class path; the others wait until it is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import evercurrent as ec
from examples.analyser.bugs import CODES, Bug
from examples.analyser.classfile import read
from examples.analyser.facts import TABLES, Facts, facts
from examples.analyser.patterns import define
from examples.analyser.sources import Place


class Analyser:
    """Fifteen live views, or some of them, over the classes that it is told of."""

    def __init__(self, codes: Sequence[str] = CODES) -> None:
        self.db = ec.connect()
        self.codes = tuple(codes)
        define(self.db, self.codes)
        self.tables = [self.db.table(table.__name__) for table in TABLES]
        self.classes: dict[str, dict[Place, Facts]] = {}
        """By its name, a class as each place has it."""
        self.names: dict[Place, str] = {}

    def change(self, versions: Iterable[tuple[Place, bytes | None]]) -> int:
        """Take in new versions of class files (None: the file is gone) as one transaction; gives the rows that changed."""
        return self.replace((place, None if data is None else facts(read(data))) for place, data in versions)

    def replace(self, versions: Iterable[tuple[Place, Facts | None]]) -> int:
        """The same for classes that are already read."""
        before: dict[str, Facts | None] = {}
        for place, new in versions:
            for name in {self.names.get(place), new.name if new else None} - {None}:
                before.setdefault(str(name), self.first(str(name)))
            self._keep(place, new)
        gone: list[list[Any]] = [[] for _ in TABLES]
        come: list[list[Any]] = [[] for _ in TABLES]
        for name, old in before.items():
            now = self.first(name)
            for n in range(len(TABLES)):
                was = old.rows[n] if old else frozenset()
                is_now = now.rows[n] if now else frozenset()
                gone[n].extend(was - is_now)
                come[n].extend(is_now - was)
        with self.db.transaction():
            for table, out, into in zip(self.tables, gone, come, strict=True):
                if out:
                    table.delete(out)
                if into:
                    table.insert(into)
        return sum(map(len, gone)) + sum(map(len, come))

    def first(self, name: str) -> Facts | None:
        """The class of this name that counts."""
        places = self.classes.get(name)
        return places[min(places)] if places else None

    def _keep(self, place: Place, new: Facts | None) -> None:
        known = self.names.pop(place, None)
        if known is not None:
            places = self.classes[known]
            del places[place]
            if not places:
                del self.classes[known]
        if new is not None:
            self.names[place] = new.name
            self.classes.setdefault(new.name, {})[place] = new

    def bugs(self) -> list[Bug]:
        """All bugs of now, in order."""
        return sorted(bug(code, row) for code in self.codes for row in self.db.view(code).rows())

    def subscribe(self, hear: Callable[[bool, Bug], None]) -> None:
        """Call `hear(True, bug)` for each bug that comes and `hear(False, bug)` for each that goes."""

        def tell(change: Any) -> None:
            for row in change.deleted:
                hear(False, bug(change.name, row))
            for row in change.inserted:
                hear(True, bug(change.name, row))

        for code in self.codes:
            self.db.view(code).subscribe(tell)

    def line(self, found: Bug) -> int | None:
        """The source line of a bug, or of the method in which it is."""
        declared = self.first(found.owner)
        code = declared.code.get(f"{found.owner}.{found.member}") if declared else None
        return code.line(max(found.pc, 0)) if code else None


def bug(code: str, row: tuple[Any, ...]) -> Bug:
    """A row of a view as a bug: views say of a method its whole name."""
    owner, member, pc = row
    return Bug(code, owner, member.removeprefix(owner + "."), pc)
