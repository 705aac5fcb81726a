"""Runs an idempotent action to its end, though it is interrupted.

>>> runs = []
>>> def undo():
...     runs.append("run")
...     if len(runs) < 3:
...         raise OSError
>>> insist(undo)
>>> runs
['run', 'run', 'run']
"""

from __future__ import annotations

from collections.abc import Callable

ATTEMPTS = 4


def insist(action: Callable[[], object]) -> None:
    """Repeats an idempotent action until it has come to its end, a few times at most.

    An interrupt that came meanwhile is raised afterwards. What fails every time is raised too.
    """
    problem: BaseException | None = None
    for _ in range(ATTEMPTS):
        try:
            action()
            break
        except BaseException as error:
            problem = error
    else:
        assert problem is not None
        raise problem
    if problem is not None and not isinstance(problem, Exception):
        raise problem
