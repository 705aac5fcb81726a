"""A history over objects, as data, followed by a database and by the OQL oracle side by side.

    follow("COMPANY", [
        ("change", "single", [("new", "department", "", {"name": "dev"}, None, 1)]),
        ("view", "v", "select d.name from d in Departments", "strict"),
        ("change", "commit", [("set", Ref(1), "name", "ops", None, 0)]),
    ])

An event is (kind, owner, property, value, place, number); a new object is known by its number, which `Ref` holds. After every
change one view is compared with the oracle, and at the end every view is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.fuzz.campaign import Tally
from tests.fuzz.histories import Wrong, imports
from tests.oql import schemas
from tests.oql.events import Event
from tests.oql.mirror import Mirror
from tests.oql.oracle.model import Object
from tests.oql.oracle.values import key

Step = tuple[Any, ...]


@dataclass(frozen=True)
class Ref:
    """An object by the number that its `new` has in the history."""

    number: int


def as_data(value: Any) -> Any:
    match value:
        case Object():
            return Ref(value.number)
        case list():
            return [as_data(v) for v in value]
        case dict():
            return {k: as_data(v) for k, v in value.items()}
    return value


def event_as_data(e: Event, number: int) -> tuple[Any, ...]:
    return (e.kind, as_data(e.owner), e.prop, as_data(e.value), e.at, number)


class Following:
    """One graph as plain objects and in a database, under one history."""

    def __init__(self, schema: str, tally: Tally) -> None:
        self.mirror = Mirror(getattr(schemas, schema))
        self.tally = tally
        self.objects: dict[int, Object] = {}
        self.views: dict[str, str] = {}
        self.turn = 0

    def inside(self, value: Any) -> Any:
        match value:
            case Ref():
                return self.objects[value.number]
            case list():
                return [self.inside(v) for v in value]
            case dict():
                return {k: self.inside(v) for k, v in value.items()}
        return value

    def step(self, step: Step) -> None:
        match step:
            case ("view", name, text, mode):
                self.mirror.db.oql(f"define {name} as {text};", mode=mode)
                self.views[name] = text
                self.tally.views += 1
            case ("change", "single", [event]):
                self.happen(event)
                self.compare_one()
            case ("change", _, events):
                with self.mirror.db.transaction():
                    for event in events:
                        self.happen(event)
                self.compare_one()
            case _:
                raise AssertionError(step)

    def happen(self, event: tuple[Any, ...]) -> None:
        kind, owner, prop, value, at, number = event
        made = self.mirror.happen(Event(kind, self.inside(owner), prop, self.inside(value), at))
        if made is not None:
            self.objects[number] = made

    def compare_one(self) -> None:
        if self.views:
            names = list(self.views)
            self.turn += 1
            self.compare(names[self.turn % len(names)])
            self.tally.transactions += 1

    def compare(self, name: str) -> None:
        text = self.views[name]
        expected, found = self.mirror.oracle.value(text), self.mirror.shown(name)
        if key(found) != key(expected):
            raise Wrong(f"{name}: {text}\nfound    {found!r}\nexpected {expected!r}")

    def compare_all(self) -> None:
        for name in self.views:
            self.compare(name)
        wrong = self.mirror.state()
        if wrong:
            raise Wrong(f"properties differ: {wrong}")


def follow(schema: str, steps: Sequence[Step], tally: Tally | None = None) -> None:
    """Follows a history; raises Wrong at the first difference."""
    following = Following(schema, tally or Tally())
    for step in steps:
        following.step(step)
    following.compare_all()


def script(schema: str, steps: Sequence[Step], message: str) -> str:
    """Returns a script that follows the history."""
    text = "\n".join(f"        {step!r}," for step in steps)
    return (
        imports(text)
        + "from tests.fuzz.object_histories import Ref, follow\n\n"
        + "".join(f"# {line}\n" for line in message.splitlines())
        + f"follow(\n    {schema!r},\n    [\n{text}\n    ],\n)\n"
    )
