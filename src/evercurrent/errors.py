"""The exception tree.

    EvercurrentError
    ├── QueryError            yours: syntax, names, types
    │   └── LimitError        larger or more deeply nested than is possible; names the limit
    ├── UnsupportedError      ours to build: names the construct and its place
    ├── EvaluationError       the data: overflow, division by zero, a bad cast, two rows in a scalar subquery
    │   └── SizeError         a text or an array would be larger than is possible; a LimitError too
    ├── ConstraintError       refused: a key, a reference, a check or an assertion; carries the violating rows
    ├── TransactionError      refused: not inside this transaction, or not any more
    ├── ConflictError         refused: another writer was first
    ├── StorageError          the disk, or what lies on it
    └── InternalError         our bug

Every message names the thing, shows the place where there is a text to point into, and says what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evercurrent.source import Place


class EvercurrentError(Exception):
    """The root of all errors that this package raises on purpose."""

    def __init__(self, message: str, *, place: Place | None = None, hint: str | None = None) -> None:
        self.message = message
        self.place = place
        self.hint = hint
        super().__init__(message)

    def __str__(self) -> str:
        parts = [self.message]
        if self.place is not None:
            parts.append(self.place.excerpt())
        if self.hint is not None:
            parts.append(f"hint: {self.hint}")
        return "\n".join(parts)


class QueryError(EvercurrentError):
    """The statement is wrong: its syntax, a name in it, or a type."""


class LimitError(QueryError):
    """The statement or a value in it is larger, or nested more deeply, than a limit allows (see `limits`)."""


class UnsupportedError(EvercurrentError):
    """The statement is right, but evercurrent cannot do it yet."""


class EvaluationError(EvercurrentError):
    """The data made an expression fail; the transaction is undone.

    `relations` are those that an engine was computing, by their names in its program; nothing that users see.
    """

    relations: frozenset[str] = frozenset()


class SizeError(LimitError, EvaluationError):
    """An expression would make a text or an array that is larger than a limit allows; the transaction is undone."""


class ConstraintError(EvercurrentError):
    """A constraint would be broken; the transaction is undone.

    `constraint` is its name, `rows` are the violating rows (at most a sample), `count` is how many there are.
    """

    def __init__(
        self,
        message: str,
        *,
        constraint: str = "",
        rows: Sequence[Any] = (),
        count: int | None = None,
        place: Place | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, place=place, hint=hint)
        self.constraint = constraint
        self.rows = list(rows)
        self.count = len(self.rows) if count is None else count


class TransactionError(EvercurrentError):
    """A call came where no transaction can take it: after a rollback, inside a callback before the commit."""


class ConflictError(EvercurrentError):
    """Another writer committed first; nothing was changed."""


class StorageError(EvercurrentError):
    """Durable storage is missing, damaged or not readable."""


class InternalError(EvercurrentError):
    """A bug in evercurrent: please report it with the statement that caused it."""


def stops_anywhere(error: BaseException) -> bool:
    """Whether what raised this may have stopped in the middle of a step: all but the errors of expressions that are known to fail.

    Any expression can raise a SizeError.
    """
    return not isinstance(error, EvercurrentError) or isinstance(error, SizeError)


class CostWarning(UserWarning):
    """A new view is expensive: a change of one row changes many of its rows. The text says what to write instead."""


class QuotedNameWarning(UserWarning):
    """A text in double quotes is called like a column: in Spark's SQL it is the text."""
