"""Transactions of two steps over objects: an attribute that views read beside one that they do not, or beside another change.

Every view under every transaction shows what the oracle shows, then and after further changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.oql.events import Event
from tests.oql.mirror import Mirror
from tests.oql.oracle.model import Class
from tests.oql.oracle.values import key
from tests.oql.schemas import Schema

EMP, DEPT = ("class", "emp"), ("class", "dept")
FIRM = Schema(
    """
class emp (extent Emps) { attribute string name; attribute long pay; attribute emp boss; attribute dept home; };
class dept (extent Depts) { attribute string name; attribute long size; attribute set<emp> picks; attribute emp head; };
""",
    (
        Class("emp", "Emps", {"name": "string", "pay": "int", "boss": EMP, "home": DEPT}),
        Class("dept", "Depts", {"name": "string", "size": "int", "picks": ("set", EMP), "head": EMP}),
    ),
)
VIEWS = {
    "flat": "select struct(d: d.name, e: e.name) from d in Depts, e in d.picks",
    "nested": "select struct(d: d.name, all: (select struct(e: e.name, b: e.boss.name) from e in d.picks)) from d in Depts",
    "sums": "select struct(d: d.name, pay: sum(select e.pay from e in d.picks)) from d in Depts",
    "paths": "select struct(e: e.name, h: e.home.name, b: e.home.head.name) from e in Emps",
}


class Firm(Mirror):
    def __init__(self) -> None:
        super().__init__(FIRM)
        self.a, self.b, self.c = (self.new("emp", name=n, pay=i) for i, n in enumerate("abc"))
        self.d = self.new("dept", name="d", size=1, picks=[self.a, self.b], head=self.b)
        self.f = self.new("dept", name="f", size=2, picks=[self.b], head=self.a)
        for e in self.a, self.b:
            self.happen(Event("set", e, "home", self.d))
            self.happen(Event("set", e, "boss", self.b))


TRANSACTIONS: dict[str, Callable[[Firm], list[Event]]] = {
    "read and unread": lambda m: [Event("set", m.a, "name", "z"), Event("set", m.d, "size", 9)],
    "unread and read": lambda m: [Event("set", m.d, "size", 9), Event("set", m.a, "name", "z")],
    "unread alone": lambda m: [Event("set", m.d, "size", 9), Event("set", m.f, "size", 9)],
    "both read": lambda m: [Event("set", m.d, "name", "y"), Event("set", m.b, "name", "z")],
    "two attributes of one": lambda m: [Event("set", m.a, "name", "z"), Event("set", m.a, "pay", 9)],
    "an element more, and unread": lambda m: [Event("add", m.d, "picks", m.c), Event("set", m.d, "size", 9)],
    "an element less, and read": lambda m: [
        Event("remove", m.d, "picks", m.a),
        Event("set", m.a, "name", "z"),
    ],
    "a reference and its target": lambda m: [Event("set", m.a, "boss", m.c), Event("set", m.c, "name", "z")],
    "a path in two places": lambda m: [Event("set", m.d, "head", m.c), Event("set", m.a, "home", m.f)],
    "deleted, and unread": lambda m: [Event("delete", m.b), Event("set", m.d, "size", 9)],
    "new, and unread": lambda m: [
        Event("new", "emp", value={"name": "n", "home": m.d, "boss": m.a}),
        Event("set", m.d, "size", 9),
    ],
}


def later(m: Firm) -> Iterator[Event]:
    """Further changes, one by one: what was left behind wrongly shows by them."""
    yield Event("set", m.a, "name", "p")
    yield Event("set", m.d, "size", 5)
    yield Event("set", m.d, "name", "q")
    yield Event("add", m.f, "picks", m.c)
    yield Event("remove", m.f, "picks", m.c)
    yield Event("set", m.a, "pay", 7)
    yield Event("delete", m.d)


@pytest.mark.parametrize("steps", TRANSACTIONS.values(), ids=TRANSACTIONS.keys())
@pytest.mark.parametrize(
    ("views", "mode"),
    [*(([name], "strict") for name in VIEWS), *((list(VIEWS), m) for m in ("strict", "hybrid", "lazy"))],
    ids=[*VIEWS, "all", "all, hybrid", "all, lazy"],
)
def test_two_steps_in_one_transaction(
    views: list[str], steps: Callable[[Firm], list[Event]], mode: str
) -> None:
    firm = Firm()
    for name in views:
        firm.db.oql(f"define {name}_ as {VIEWS[name]}", mode=mode)
    firm.transaction(steps(firm))
    check(firm, views)
    for event in later(firm):
        firm.happen(event)
        check(firm, views)


def check(firm: Firm, names: list[str]) -> None:
    for name in names:
        found, expected = firm.shown(f"{name}_"), firm.oracle.value(VIEWS[name])
        assert key(found) == key(expected), f"{name}: {found} and not {expected} after {firm.story}"
