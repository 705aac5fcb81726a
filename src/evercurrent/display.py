"""Rows and plans for people: in a terminal through rich, in a notebook as HTML.

Names and values are data in both: neither rich nor a browser reads markup in them.

>>> value_text({"paid": True, "note": None})
'{paid: true, note: NULL}'
"""

from __future__ import annotations

import html
import io
from collections.abc import Mapping, Sequence
from typing import Any

from evercurrent.data.types import Decimal, Float, Integer, Member
from evercurrent.data.zset import Row

Fields = Sequence[Member]


def value_text(value: Any) -> str:
    """One value, for a cell."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return "0x" + value.hex()
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{value_text(k)}: {value_text(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(value_text, value)) + "]"
    return str(value)


def is_right(field: Member) -> bool:
    """Whether the column is set to the right: numbers."""
    return isinstance(field.type, Integer | Float | Decimal)


def count_text(count: int) -> str:
    """How many rows, in words.

    >>> count_text(1), count_text(1200)
    ('1 row', '1,200 rows')
    """
    return "1 row" if count == 1 else f"{count:,} rows"


def footer(shown: int, total: int) -> str:
    rows = count_text(total)
    return rows if shown >= total else f"{rows}, the first {shown} shown"


def rich_table(title: str, fields: Fields, rows: Sequence[Row], total: int) -> Any:
    """Something that rich can print to any console."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for field in fields:
        table.add_column(Text(field.name), justify="right" if is_right(field) else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(value_text(v), style="dim" if v is None else "") for v in row))
    head = [Text(title, style="bold")] if title else []
    return Group(*head, table, Text(footer(len(rows), total), style="dim"))


def table_text(title: str, fields: Fields, rows: Sequence[Row], total: int, width: int = 120) -> str:
    """The rows as plain text."""
    return rich_text(rich_table(title, fields, rows, total), width)


def rich_text(renderable: Any, width: int = 120) -> str:
    """Anything that rich can print, as plain text."""
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=width, color_system=None, force_terminal=False).print(renderable)
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n"))


def table_html(title: str, fields: Fields, rows: Sequence[Row], total: int) -> str:
    """The rows as an HTML table."""
    cell = html.escape
    head = "".join(f'<th title="{cell(str(f.type))}">{cell(f.name)}</th>' for f in fields)
    lines = []
    for row in rows:
        cells = (
            f'<td style="text-align:{"right" if is_right(f) else "left"}">{cell(value_text(v))}</td>'
            for f, v in zip(fields, row, strict=True)
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    caption = f"<caption>{cell(title)}</caption>" if title else ""
    return (
        f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
        f"<p>{footer(len(rows), total)}</p>"
    )


def text_html(text: str) -> str:
    """Preformatted text as HTML."""
    return f"<pre>{html.escape(text)}</pre>"


def bytes_text(size: int) -> str:
    """A size for people.

    >>> bytes_text(12), bytes_text(34_567), bytes_text(5_000_000_000)
    ('12 bytes', '33.8 KB', '4.7 GB')
    """
    amount = float(size)
    for unit in ("bytes", "KB", "MB"):
        if amount < 1024:
            return f"{amount:,.0f} {unit}" if unit == "bytes" else f"{amount:,.1f} {unit}"
        amount /= 1024
    return f"{amount:,.1f} GB"
