"""Names of fields that are made up: no two of a record may be equal, whatever their case.

>>> unique(["sum", "sum", "Sum"])
('sum', 'sum_2', 'Sum_3')
"""

from __future__ import annotations

from collections.abc import Iterable


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """The same names, later duplicates numbered.

    >>> unique(["id", "x", "ID"])
    ('id', 'x', 'ID_2')
    """
    taken: set[str] = set()
    result: list[str] = []
    for name in names:
        candidate, number = name, 1
        while candidate.lower() in taken:
            number += 1
            candidate = f"{name}_{number}"
        taken.add(candidate.lower())
        result.append(candidate)
    return tuple(result)
