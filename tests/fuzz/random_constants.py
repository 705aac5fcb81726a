"""Random constants of SQL, in random spellings, and views that show them.

>>> from tests.laws.chooser import Seeded
>>> spelled(Seeded(3))
("'0{env:HOME}}\\\\\\\\'", '0{env:HOME}}\\\\')

Every string can be written in several ways, and no setting, no quoting and no variable may change what it stands for.
"""

from __future__ import annotations

from typing import Any

from tests.hostile_constants import OTHERS, STRINGS
from tests.laws.chooser import Seeded

LETTERS = ("'", '"', "\\", "$", "{", "}", "%", "_", "\n", "é", "😀", "a", "-", ";", "`", "0", "${env:HOME}")
KNOWN = {text: value for text, value in {**STRINGS, **OTHERS}.items() if "INTERVAL" not in text}


def spelled(c: Seeded) -> tuple[str, str]:
    """Draws a string, and one of the ways to write it."""
    value = "".join(c.pick(LETTERS) for _ in range(c.number(0, 6)))
    match c.pick(("doubled", "escaped", "quoted", "unicode", "raw")):
        case "doubled":
            return "'" + value.replace("\\", "\\\\").replace("'", "''") + "'", value
        case "quoted":
            return '"' + value.replace("\\", "\\\\").replace('"', '""') + '"', value
        case "unicode":
            return "'" + "".join(f"\\U{ord(x):08x}" for x in value) + "'", value
        case "raw" if "'" not in value:
            return f"r'{value}'", value
        case _:
            return "'" + "".join("\\" + x if x in "'\"\\" else x for x in value) + "'", value


def constants_view(
    c: Seeded, table: str, column: str, most: tuple[int, int] = (4, 3)
) -> tuple[str, dict[int, Any]]:
    """Draws a view that shows constants beside a column, and compares with one; returns the values by their positions."""
    drawn = [spelled(c) for _ in range(c.number(1, most[0]))]
    drawn += [c.pick(tuple(KNOWN.items())) for _ in range(c.number(1, most[1]))]
    shown = ", ".join(f"{text} AS c{i}" for i, (text, _) in enumerate(drawn))
    text, value = spelled(c)
    other, same = spelled(c)
    condition = f"{text} = {other}" if value == same else f"{text} <> {other} OR {column} IS NULL"
    ending = f" ORDER BY {column} LIMIT 7" if c.chance(40) else ""
    query = f"SELECT {column} AS k, {shown} FROM {table} WHERE {condition}{ending}"
    return query, {i + 1: value for i, (_, value) in enumerate(drawn)}
