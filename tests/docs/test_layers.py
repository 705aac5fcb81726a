"""The layers are written in three places: `pyproject.toml`, which import-linter reads, and two pages for people."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = re.compile(r"[a-z_]+(?:\.[a-z_]+)?")


def layers() -> list[list[str]]:
    """From the top: the packages of each layer, as import-linter checks them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = settings["tool"]["importlinter"]["contracts"][0]
    return [NAME.findall(layer) for layer in contract["layers"]]


def test_the_list_for_contributors_is_that_of_the_linter() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    lines = re.findall(r"^ {4}([a-z].*?)(?: {2,}.*)?$", text.split("import each other.")[1], re.MULTILINE)
    written = [NAME.findall(line.replace(" | .", " | frontend.")) for line in lines]
    assert written == layers()


def test_the_table_of_the_architecture_has_every_package_once_from_below() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = text.split("## Layers")[1].split("\n## ")[0]
    cells = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    written = [
        name.replace("/", ".") for cell in cells for name in re.findall(r"`([a-z_/]+?)(?:\.py|/)?`", cell)
    ]
    places = {name: i for i, layer in enumerate(reversed(layers())) for name in layer}
    assert sorted(written) == sorted(places)
    assert [places[name] for name in written] == sorted(places[name] for name in written)
