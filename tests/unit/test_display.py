"""Names and values are data wherever they are shown."""

from __future__ import annotations

from decimal import Decimal

from evercurrent.data.types import INT, STRING, Member
from evercurrent.data.values import Record
from evercurrent.display import bytes_text, table_html, table_text, value_text

FIELDS = (Member("id", INT), Member("[red]<b>name</b>", STRING))
ROWS = [(1, "<script>alert(1)</script>"), (22, "[bold]x[/bold]"), (None, None)]


def test_html_is_escaped() -> None:
    html = table_html("<i>t</i>", FIELDS, ROWS, 100)
    assert "<script>" not in html and "<b>" not in html and "<i>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "100 rows, the first 3 shown" in html


def test_text_reads_no_markup() -> None:
    text = table_text("[red]t", FIELDS, ROWS, 3)
    assert "[bold]x[/bold]" in text and "[red]<b>name</b>" in text and "[red]t" in text
    assert "NULL" in text and "3 rows" in text
    assert "\x1b" not in text


def test_values() -> None:
    assert value_text([1, None, Decimal("1.50")]) == "[1, NULL, 1.50]"
    assert value_text(Record(("a", "b"), (True, b"\x01"))) == "{a: true, b: 0x01}"
    assert value_text({"k": "v"}) == "{k: v}"


def test_sizes() -> None:
    assert bytes_text(2_000_000) == "1.9 MB"
