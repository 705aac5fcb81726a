"""A value in a message, whatever the value is.

>>> class Rude:
...     def __repr__(self):
...         raise RuntimeError
>>> show_value("x" * 100)[:5], show_value(Rude()), show_value(10**5000)
("'xxxx", '<a Rude>', '<a int>')
"""

from __future__ import annotations

from typing import Any

LONGEST = 60


def show_value(value: Any) -> str:
    """The value as Python shows it, shortened; its type, if it cannot be shown."""
    try:
        text = repr(value)
    except Exception:
        return f"<a {type(value).__name__}>"
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def is_text(value: str) -> bool:
    """Whether a string can be stored and shown: it has no half of a surrogate pair."""
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
