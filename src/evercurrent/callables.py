"""Refuses what cannot be called, and what would be called in vain.

A function that is handed over is called later, far away from whoever handed it over. Calling a coroutine function only makes a
coroutine, which nobody here awaits: the call would be lost in silence.

    require_callable(print, "subscribe")            # fine
    require_callable(asyncio.sleep, "subscribe")    # QueryError: ... is a coroutine function
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from evercurrent.errors import QueryError


def require_callable(function: Any, where: str, hint: str = "give a function") -> None:
    """Refuses what cannot be called, coroutine functions, and objects whose `__call__` is one."""
    if not callable(function):
        raise QueryError(
            f"{where}: {type(function).__name__} {describe_function(function)} cannot be called", hint=hint
        )
    if is_coroutine_function(function):
        raise QueryError(
            f"{where}: {describe_function(function)} is a coroutine function; calls of it would not be awaited",
            hint="give a plain function, which may hand work over: asyncio.run_coroutine_threadsafe(work(), loop)",
        )


def is_awaitable_function(function: Any) -> bool:
    """Whether what a call returns can be awaited: it is a coroutine."""
    return is_coroutine_function(function, (inspect.iscoroutinefunction,))


def is_coroutine_function(
    function: Any,
    kinds: tuple[Callable[[Any], bool], ...] = (inspect.iscoroutinefunction, inspect.isasyncgenfunction),
) -> bool:
    """Whether a call only makes a coroutine or an asynchronous generator. Looks through `functools.partial` and methods."""
    while isinstance(function, functools.partial | functools.partialmethod):
        function = function.func
    if any(kind(function) for kind in kinds):
        return True
    if inspect.isroutine(function) or inspect.isclass(function):
        return False
    call = inspect.getattr_static(type(function), "__call__", None)
    return any(kind(call) for kind in kinds)


def describe_function(function: Any) -> str:
    """How a function is named in a message; what cannot be printed is named by its class."""
    name = getattr(function, "__qualname__", None)
    if isinstance(name, str):
        return name
    try:
        return repr(function)
    except Exception:
        return f"<{type(function).__name__}>"
