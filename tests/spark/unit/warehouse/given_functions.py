"""Functions and classes that the views of the tests call; a module that a program hands over."""

from __future__ import annotations

import math
from typing import NamedTuple

import evercurrent as ec


class Item(NamedTuple):
    id: int
    name: str


@ec.opaque
def shout(name: str) -> str:
    return name.upper()


@ec.opaque
def is_long(item: Item) -> bool:
    return len(item.name) > 2


@ec.opaque
def larger(a: int, b: int) -> int:
    return max(a, b)


LARGEST = ec.monoid(0, larger)
LCM = ec.monoid(1, math.lcm)
