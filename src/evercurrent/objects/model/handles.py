"""The class of all objects, and what becomes of deleted ones.

    ann.oid, ann.name, ann["class"]      identity, a property, a property with a name that Python reserves

An object compares by identity, and there is one of it. Its public names are its properties and operations, and `oid`. An object
that is deleted, or that was new in a transaction that was undone, changes its class: reading it says what happened. So no other
object pays for that question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from evercurrent.errors import QueryError

if TYPE_CHECKING:
    from evercurrent.objects.model.kinds import Kind


class Object:
    """An object of a class of the schema; `oid` is its identity, a BIGINT that is never used again."""

    __slots__ = ("__weakref__", "oid")
    _kind: ClassVar[Kind]
    _gone: ClassVar[str] = ""
    oid: int

    def __getitem__(self, name: str) -> Any:
        return self._kind.field(name).get(self)

    def __setitem__(self, name: str, value: Any) -> None:
        self._kind.field(name).set(self, value)

    def __repr__(self) -> str:
        shown = []
        for f in self._kind.fields:
            if f.many:
                continue
            value = f.get(self)
            shown.append(
                f"{f.name}={value!r}"
                if not isinstance(value, Object)
                else f"{f.name}=<{value._kind.name} {value.oid}>"
            )
        return f"<{self._kind.name} {self.oid}{': ' if shown else ''}{', '.join(shown)}>"

    def __reduce__(self) -> Any:
        raise TypeError(
            f"{self._kind.name} {self.oid} belongs to its database and cannot be copied or pickled"
        )


class Gone(QueryError):
    """The object is not there any more."""


def unavailable_error(self: Object) -> Gone:
    why = self._gone
    return Gone(
        f"{self._kind.name} {self.oid} {why}",
        hint="references to a deleted object read as nil"
        if why == "was deleted"
        else "its transaction was undone",
    )
