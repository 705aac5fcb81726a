"""Objects that refer to each other under transactions that aim at what is assumed of them, compared with the OQL oracle.

The schema is FIRM: emps, depts and sites with references and collections. Every class has an attribute `spare` that few views read.
The objects that a transaction changes are connected: an emp, its boss, its dept, the depts that pick it, their site. As with tables
(`random_family_changes`), what views read of a class changes in some histories all the time, in some after a while, in some never.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.object_histories import Step, event_as_data, follow, script
from tests.fuzz.shortening import fails_like, shortened
from tests.laws.chooser import Seeded
from tests.oql.events import Event, apply
from tests.oql.oracle.model import Model, Object
from tests.oql.schemas import FIRM

NUMBERS = {"emp": "pay", "dept": "size", "site": "area"}
NEVER = 1000
FEW, MANY = 3, 8


class Queries:
    """Draws queries over FIRM that read some of the attributes."""

    def __init__(self, c: Seeded) -> None:
        self.c = c

    def query(self) -> str:
        kinds = (
            self.flat,
            self.nested,
            self.flat,
            self.deep,
            self.paths,
            self.summed,
            self.grouped,
            self.chosen,
        )
        return self.c.pick(kinds)()

    def members(self, dept: str) -> str:
        return f"{dept}.{self.c.pick(('picks', 'picks', 'staff'))}"

    def shown(self, *terms: str) -> str:
        """A struct of some of the terms, one at least."""
        kept = [t for t in terms if self.c.chance(60)] or [self.c.pick(terms)]
        return f"struct({', '.join(f'f{i}: {t}' for i, t in enumerate(kept))})"

    def emp(self, e: str) -> str:
        return self.shown(f"{e}.name", f"{e}.pay", f"{e}.boss.name", f"{e}.home.name", f"{e}.home.site.name")

    def where(self, e: str) -> str:
        return f" where {e}.pay > {self.c.number(0, 3)}" if self.c.chance(25) else ""

    def flat(self) -> str:
        shown = self.shown("d.name", "e.name", "e.pay", "d.site.name", "e.boss.name", "d.head.name")
        distinct = "distinct " if self.c.chance(15) else ""
        return f"select {distinct}{shown} from d in Depts, e in {self.members('d')}{self.where('e')}"

    def paths(self) -> str:
        return f"select {self.emp('e')} from e in Emps{self.where('e')}"

    def nested(self) -> str:
        inner = f"select {self.emp('e')} from e in {self.members('d')}{self.where('e')}"
        return f"select struct(d: d.name, s: d.site.name, all: ({inner})) from d in Depts"

    def deep(self) -> str:
        inner = f"select {self.emp('e')} from e in {self.members('d')}"
        middle = f"select struct(d: d.name, all: ({inner})) from d in s.depts"
        return f"select struct(s: s.name, all: ({middle})) from s in Sites"

    def summed(self) -> str:
        amount = self.c.pick(("sum", "max", "count"))
        inner = f"{amount}(select e.pay from e in {self.members('d')}{self.where('e')})"
        return f"select struct(d: {self.c.pick(('d.name', 'd.site.name'))}, n: {inner}) from d in Depts"

    def grouped(self) -> str:
        by = self.c.pick(("e.home.name", "e.boss.name", "e.home.site.name"))
        return f"select struct(n: n, c: count(partition)) from e in Emps group by n: {by}"

    def chosen(self) -> str:
        quantified = f"{self.c.pick(('exists', 'for all'))} e in {self.members('d')}: e.pay > 1"
        return f"select struct(d: d.name, s: d.site.name) from d in Depts where {quantified}"


class Changes:
    """Draws transactions over a graph of FIRM, and makes them happen in the plain model."""

    def __init__(self, c: Seeded) -> None:
        self.c = c
        self.model = Model(list(FIRM.classes))
        self.turn, self.count = 0, 0
        self.frozen = {name: c.pick((0, 3, NEVER, NEVER)) for name in NUMBERS}
        self.events: list[tuple[Any, ...]] = []

    def happen(self, event: Event) -> None:
        made = apply(self.model, event)
        self.events.append(event_as_data(event, 0 if made is None else made.number))

    def of(self, name: str) -> list[Object]:
        return [o for o in self.model.objects if o.of.name == name]

    def some(self, name: str) -> Object | None:
        found = self.of(name)
        return self.c.pick(found) if found and not self.c.chance(10) else None

    def new(self, name: str) -> None:
        values: dict[str, Any] = {"name": self.c.pick("abcd"), NUMBERS[name]: self.c.number(0, 4), "spare": 0}
        match name:
            case "emp":
                values |= {"boss": self.some("emp"), "home": self.some("dept")}
            case "dept":
                emps = self.of("emp")
                values |= {"site": self.some("site"), "head": self.some("emp")}
                values["picks"] = [e for e in emps if self.c.chance(50)]
            case "site":
                values["depts"] = [d for d in self.of("dept") if self.c.chance(40)]
        self.happen(Event("new", name, value=values))

    def change_unread(self, thing: Object) -> None:
        self.count += 1
        self.happen(Event("set", thing, "spare", self.count))

    def change(self, thing: Object) -> None:
        """Changes what views may read, or where that is not to be what they do not."""
        name = thing.of.name
        if self.turn <= self.frozen[name]:
            return self.change_unread(thing)
        if self.c.chance(75):
            return self.happen(Event("set", thing, "name", self.c.pick("abcd")))
        return self.happen(Event("set", thing, NUMBERS[name], self.c.number(0, 4)))

    def refer(self, thing: Object) -> None:
        """Changes a reference or a collection."""
        match thing.of.name:
            case "emp":
                prop = self.c.pick(("boss", "home"))
                self.happen(Event("set", thing, prop, self.some("emp" if prop == "boss" else "dept")))
            case "dept" if self.c.chance(30):
                prop = self.c.pick(("site", "head"))
                self.happen(Event("set", thing, prop, self.some("emp" if prop == "head" else "site")))
            case "dept":
                self.element(thing, "picks", "emp")
            case "site":
                self.element(thing, "depts", "dept")

    def element(self, thing: Object, prop: str, of: str) -> None:
        held = thing.values[prop]
        others = [o for o in self.of(of) if o not in held]
        if held and (not others or self.c.chance(50)):
            self.happen(Event("remove", thing, prop, self.c.pick(held)))
        elif others:
            self.happen(Event("add", thing, prop, self.c.pick(others)))

    def connected(self, emp: Object) -> list[Object]:
        depts = [d for d in self.of("dept") if emp in d.values["picks"] or d is emp.values["home"]]
        sites = [
            s for s in self.of("site") if any(d in s.values["depts"] or d.values["site"] is s for d in depts)
        ]
        bosses = [emp.values["boss"]] if emp.values["boss"] is not None else []
        return [emp, *bosses, *depts, *sites]

    def transaction(self) -> Step:
        self.turn += 1
        self.events = []
        for name in NUMBERS:
            if len(self.of(name)) < FEW:
                self.new(name)
        emp = self.c.pick(self.of("emp"))
        things = self.connected(emp)
        if self.c.chance(25):  # all of them
            for thing in things:
                (self.change_unread if self.c.chance(70) else self.change)(thing)
        else:
            for _ in range(self.c.number(1, 5)):
                kinds = (self.change_unread, self.change_unread, self.change, self.change, self.refer)
                self.c.pick(kinds)(self.c.pick(things))
        if self.c.chance(10):
            if len(self.model.objects) < 3 * MANY:
                self.new(self.c.pick(tuple(NUMBERS)))
            self.happen(Event("delete", self.c.pick(self.model.objects)))
        single = len(self.events) == 1 and self.c.chance(70)
        return ("change", "single" if single else "commit", self.events)

    def fill(self) -> Step:
        self.events = []
        for name in ("site", "dept", "emp", "dept", "emp", "emp"):
            self.new(name)
        return ("change", "commit", self.events)


def history(seed: int, transactions: int) -> list[Step]:
    """Returns the history of a seed: views before the objects, after them and in the middle."""
    c = Seeded(seed)
    changes, queries = Changes(c), Queries(c)
    steps: list[Step] = []

    def view() -> None:
        name = f"v{sum(s[0] == 'view' for s in steps)}"
        mode = "strict" if c.chance(75) else c.pick(("hybrid", "lazy"))
        steps.append(("view", name, queries.query(), mode))

    first = c.number(0, 1)
    for _ in range(first):
        view()
    steps.append(changes.fill())
    for _ in range(c.number(1, 2)):
        view()
    for i in range(transactions):
        steps.append(changes.transaction())
        if i == transactions // 2 and c.chance(25):
            view()
    return steps


@dataclass(frozen=True)
class ObjectAssumptions:
    name: str = "object_assumptions"
    needs_spark: bool = False
    transactions: int = 40

    def run(self, seed: int, tally: Tally) -> None:
        steps = history(seed, self.transactions)
        following = partial(follow, "FIRM")
        try:
            following(steps, tally)
        except Exception as error:
            short = shortened(steps, fails_like(error, following))
            raise Difference(str(error), script("FIRM", short, str(error))) from error


CAMPAIGN = ObjectAssumptions()
