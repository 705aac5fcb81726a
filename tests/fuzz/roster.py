"""The campaigns by name, in one list. A test compares it with the folder.

campaign("views").run(seed=17, tally=Tally())
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from tests.fuzz.campaign import Campaign

CAMPAIGNS = (
    "views",
    "objects",
    "plans",
    "windows",
    "bulk",
    "sums",
    "trees",
    "assumptions",
    "object_assumptions",
    "matrix",
    "faults",
    "interrupts",
    "durable",
    "definitions",
    "hostile",
    "damage",
    "disks",
    "matrix_spark",
    "constants",
    "sources",
    "warehouse",
)

SHARES = {"views": 3.0, "objects": 2.0, "faults": 2.0, "matrix": 2.0, "warehouse": 3.0}
"""How much of the time a campaign gets, where it is not 1."""


def is_written(name: str) -> bool:
    return find_spec(f"tests.fuzz.campaigns.{name}") is not None


def campaign(name: str) -> Campaign:
    """Returns the campaign of this name."""
    found: Campaign = import_module(f"tests.fuzz.campaigns.{name}").CAMPAIGN
    assert found.name == name, f"the campaign in {name}.py is called {found.name}"
    return found
