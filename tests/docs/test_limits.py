"""The guide lists every limit, with its number."""

from __future__ import annotations

import re
from pathlib import Path

from evercurrent import limits

GUIDE = Path(__file__).parents[2] / "docs" / "guide.md"


def test_the_guide_lists_every_limit() -> None:
    section = GUIDE.read_text().partition("## Limits\n")[2].partition("\n## ")[0]
    listed = [int(n.replace(",", "")) for n in re.findall(r"\| ([0-9,]+) \|", section)]
    stated = [value for name, value in vars(limits).items() if name.isupper() and isinstance(value, int)]
    assert listed == stated
