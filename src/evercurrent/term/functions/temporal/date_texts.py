"""Dates, times of day and timestamps from text and to text, by pattern: to_date, to_timestamp, date_format and the epoch's seconds.

date_format(DATE '2024-05-01', 'yyyy/MM')      '2024/05'
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from evercurrent.data.types import (
    BIGINT,
    DATE,
    STRING,
    TIME,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    Date,
    String,
    Time,
    Timestamp,
    Type,
)
from evercurrent.errors import EvaluationError
from evercurrent.term.functions.calendar import micros_of, midnight, moment_of
from evercurrent.term.functions.function import Function, Signature, Types
from evercurrent.term.functions.signatures import count, expect, take_exactly
from evercurrent.term.functions.temporal.date_patterns import must_read, reader, time_only, write, writers
from evercurrent.term.functions.values.casts import conversion

DAY_ONE = datetime.date(1970, 1, 1)
STANDARD = "yyyy-MM-dd HH:mm:ss"


def _infer_parse(target: Type) -> Callable[[Types], Signature]:
    """Text and a pattern, or anything that casts."""

    def infer(types: Types) -> Signature:
        count(types, 1, 2)
        if isinstance(types[0], Date | Timestamp) and target != TIME:
            return Signature((types[0], *(expect(t, STRING, 1) for t in types[1:])), target)
        return Signature(tuple(expect(t, STRING, i) for i, t in enumerate(types)), target)

    return infer


def _parse(
    name: str, finish: Callable[[datetime.datetime], Any]
) -> Callable[[Types, Type], Callable[..., Any]]:
    def implement(types: Types, result: Type) -> Callable[..., Any]:
        convert = conversion(types[0], result)
        if len(types) == 1 or not isinstance(types[0], String):
            assert convert is not None
            return lambda value, pattern=None: convert(value)
        return lambda text, pattern: finish(must_read(name, text, pattern))

    return implement


def _attempt(
    implement: Callable[[Types, Type], Callable[..., Any]],
) -> Callable[[Types, Type], Callable[..., Any]]:
    def lenient(types: Types, result: Type) -> Callable[..., Any]:
        meaning = implement(types, result)

        def attempt(*args: Any) -> Any:
            try:
                return meaning(*args)
            except EvaluationError:
                return None

        return attempt

    return lenient


def _check_pattern(
    infer: Callable[[Types], Signature], check: Callable[[str], Any]
) -> Callable[[Types, tuple[Any, ...]], Signature]:
    """Look at a constant pattern when the call is built, so that what is refused is refused early."""

    def refine(types: Types, constants: tuple[Any, ...]) -> Signature:
        signature = infer(types)
        if len(constants) > 1 and isinstance(constants[1], str):
            check(constants[1])
        return signature

    return refine


def _infer_format(types: Types) -> Signature:
    count(types, 2)
    first = types[0] if isinstance(types[0], Time | Timestamp) else expect(types[0], TIMESTAMP, 0)
    return Signature((first, expect(types[1], STRING, 1)), STRING)


def _refine_format(types: Types, constants: tuple[Any, ...]) -> Signature:
    signature = _infer_format(types)
    if isinstance(constants[1], str):
        writers(constants[1])
        if isinstance(signature.args[0], Time):
            time_only(constants[1])
    return signature


def _implement_format(types: Types, result: Type) -> Callable[..., str]:
    if isinstance(types[0], Time):
        return lambda t, pattern: write(datetime.datetime.combine(DAY_ONE, t), time_only(pattern))
    return write


def _infer_unix(types: Types) -> Signature:
    count(types, 1, 2)
    t: Type = types[0] if isinstance(types[0], Date | Timestamp) else expect(types[0], STRING, 0)
    return Signature((t, *(expect(x, STRING, 1) for x in types[1:])), BIGINT)


def _implement_unix(types: Types, result: Type) -> Callable[..., int]:
    match types[0]:
        case Date():
            return lambda d, pattern=None: micros_of(midnight(d)) // 1_000_000
        case Timestamp():
            return lambda t, pattern=None: micros_of(t) // 1_000_000
        case _:
            return lambda s, pattern=STANDARD: micros_of(must_read("UNIX_TIMESTAMP", s, pattern)) // 1_000_000


def from_unixtime(seconds: int, pattern: str = STANDARD) -> str:
    return write(moment_of(seconds * 1_000_000), pattern)


def _parser(
    name: str, target: Type, finish: Callable[[datetime.datetime], Any], lenient: bool = False
) -> Function:
    infer, implement = _infer_parse(target), _parse(name.upper(), finish)
    return Function(
        name,
        infer,
        _attempt(implement) if lenient else implement,
        fails=not lenient,
        nullable=lenient,
        refine=_check_pattern(infer, reader),
    )


def _same(t: datetime.datetime) -> datetime.datetime:
    return t


_infer_from_unixtime = take_exactly((BIGINT, STRING), STRING, least=1)

FUNCTIONS = (
    _parser("to_date", DATE, datetime.datetime.date),
    _parser("try_to_date", DATE, datetime.datetime.date, lenient=True),
    _parser("to_time", TIME, datetime.datetime.time),
    _parser("try_to_time", TIME, datetime.datetime.time, lenient=True),
    _parser("to_timestamp", TIMESTAMP, _same),
    _parser("try_to_timestamp", TIMESTAMP, _same, lenient=True),
    _parser("to_timestamp_ltz", TIMESTAMP, _same),
    _parser("to_timestamp_ntz", TIMESTAMP_NTZ, _same),
    Function("date_format", _infer_format, _implement_format, refine=_refine_format, fails=True),
    Function(
        "unix_timestamp", _infer_unix, _implement_unix, refine=_check_pattern(_infer_unix, reader), fails=True
    ),
    Function(
        "from_unixtime",
        _infer_from_unixtime,
        lambda t, r: from_unixtime,
        refine=_check_pattern(_infer_from_unixtime, writers),
        fails=True,
    ),
)
