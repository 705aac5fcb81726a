"""How the rows of a query look in Python.

A relation has flat, named fields; a function over it sees an object: an instance of a class, a tuple, a single value, or
several of them side by side (after a join). A shape says which, and makes objects from rows.

>>> pair = Shape.product((Shape.single(), Shape.record(None, 2)))
>>> pair.width, pair.object((1, "a", "b"))
(3, (1, ('a', 'b')))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Shape:
    """`kind` is "record" (`make` is its class, None a tuple), "single", "product" or "reference" (to an object).

    `inner` are, of a record, the shapes of its members (None: a plain value); of a single, that of its value, if any; of a
    product, those that stand side by side. `optional`: the row may be missing, after an outer join; then its `certain`
    members are None, which they are not otherwise.
    """

    kind: str
    width: int
    make: Callable[..., Any] | None = None
    inner: tuple[Shape | None, ...] = ()
    names: tuple[str, ...] = ()
    optional: bool = False
    certain: frozenset[str] = frozenset()
    home: Any = field(
        default=None, compare=False, repr=False
    )  # of a reference: whose schema says where it leads

    @staticmethod
    def record(
        make: Callable[..., Any] | None,
        width: int,
        inner: Sequence[Shape | None] = (),
        names: Sequence[str] = (),
    ) -> Shape:
        return Shape("record", width, make, tuple(inner) or (None,) * width, tuple(names))

    @staticmethod
    def single(inner: Shape | None = None) -> Shape:
        return Shape("single", 1, None, (inner,))

    @staticmethod
    def product(parts: Sequence[Shape]) -> Shape:
        return (
            parts[0] if len(parts) == 1 else Shape("product", sum(p.width for p in parts), None, tuple(parts))
        )

    @staticmethod
    def reference(home: Any) -> Shape:
        return Shape("reference", 1, home=home)

    def object(self, row: Sequence[Any]) -> Any:
        """The object that a row, as users see it, stands for."""
        match self.kind:
            case "single":
                return _value(self.inner[0], row[0])
            case "product":
                found, at = [], 0
                for part in self.inner:
                    assert part is not None
                    found.append(part.object(row[at : at + part.width]))
                    at += part.width
                return tuple(found)
            case _:
                if self.optional and self._is_missing(row):
                    return None
                values = [_value(s, v) for s, v in zip(self.inner, row, strict=True)]
                return make(self.make, self.names, values)

    def _is_missing(self, row: Sequence[Any]) -> bool:
        certain = [v for n, v in zip(self.names, row, strict=True) if n in self.certain] if self.names else []
        return certain[0] is None if certain else all(v is None for v in row)


def _value(shape: Shape | None, value: Any) -> Any:
    if shape is None or value is None or shape.kind == "reference":
        return value
    if isinstance(value, list):
        return [_value(shape, v) for v in value]
    return shape.object(tuple(value.values()) if isinstance(value, Mapping) else value)


def make(cls: Callable[..., Any] | None, names: Sequence[str], values: Sequence[Any]) -> Any:
    """An instance of a row class; a tuple without one."""
    if cls is None:
        return tuple(values)
    if is_named_tuple(cls):
        return cls(*values)
    return cls(**dict(zip(names, values, strict=True)))  # also a class that is known by its path alone


def is_named_tuple(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_typed_dict(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, dict) and hasattr(cls, "__total__")
