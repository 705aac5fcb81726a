"""A block of cells as one scenario: a table, a view for every few cells, and transactions.

After each transaction every view is compared with the reference evaluator, which computes the query from scratch and shares
neither the rules of maintenance nor generated code with the engine. Rows hold one NaN and one zero, and keys stand once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, cast

import evercurrent as ec
from evercurrent.calculus.nodes import Query
from evercurrent.data.types import Float, Type
from evercurrent.data.values import give_out, take_in
from evercurrent.design.evaluation import reference
from evercurrent.errors import ConstraintError, EvercurrentError
from evercurrent.rows.conversion import give_rows
from evercurrent.term.evaluate import Environment, evaluate
from tests.duck import canonical_rows
from tests.fuzz.campaign import Tally
from tests.fuzz.matrix.cells import Cell, refusal
from tests.fuzz.matrix.items import Item, Values, items
from tests.fuzz.matrix.positions import ONE_ROW_EACH, POSITIONS, Source
from tests.unit.term.asking_spark import spark_type

FLOATS = [float("nan"), -0.0, 0.0, math.inf, -1.5]
TOGETHER = 3
"""Items that stand in one view."""
STEPS = 5

Step = tuple[Any, ...]
"""('insert', rows) | ('delete', ids) | ('update', id, {column: value}), values as users give them."""


class Wrong(AssertionError):
    """The engine and the evaluator disagree, or the engine raised what it must not."""


@dataclass(frozen=True)
class Drawn:
    """An item with the columns that it reads: `names`, and how each operand is written over an alias."""

    item: Item
    names: tuple[str, ...]
    forms: tuple[str, ...]
    required: bool

    def text(self, alias: str) -> str:
        return self.item.write(
            [f.format(x=alias, c=f"{alias}.{n}") for f, n in zip(self.forms, self.names, strict=True)]
        )

    @property
    def small(self) -> bool:
        """Whether sums and products of the results stay in range."""
        if self.item.meaning is None:
            return False
        for row in self.item.rows:
            value = evaluate(self.item.meaning, Environment({f"c{i}": v for i, v in enumerate(row)}))
            if (
                isinstance(value, int | float)
                and not isinstance(self.item.result, Float)
                and abs(value) > 10**4
            ):
                return False
        return True

    def source(self) -> Source:
        if self.item.kind == "scalar":
            return Source("t", self.text, self.item.result, self.small)
        if self.item.kind == "aggregate":
            relation = f"(SELECT x.g, MIN(x.id) AS id, {self.text('x')} AS e FROM t x GROUP BY x.g)"
        else:
            relation = f"(SELECT x.g, x.id, {self.text('x')} AS e FROM t x)"
        return Source(relation, lambda alias: f"{alias}.e", self.item.result, False)


COLUMN, COMPOUND, KNOWN = "{c}", "CASE WHEN {x}.id % 5 <> 0 THEN {c} END", "COALESCE({c}, {c})"


@dataclass
class Scenario:
    """Statements and changes of a seed, as data."""

    columns: list[str] = field(default_factory=list)
    views: list[tuple[str, str, tuple[Cell, ...]]] = field(default_factory=list)
    assertions: list[tuple[str, str, tuple[Cell, ...]]] = field(default_factory=list)
    refused: list[tuple[str, Cell, str]] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    @property
    def table(self) -> str:
        return f"CREATE TABLE t (id BIGINT PRIMARY KEY, g STRING{''.join(', ' + c for c in self.columns)})"


def draw(seed: int, cells: Sequence[Cell]) -> Scenario:
    """The scenario of a seed over these cells."""
    rng = Random(seed)
    made = Scenario()
    drawn: list[tuple[Drawn, str]] = []
    for n, (name, position) in enumerate(cells):
        item = rng.choice(items()[name])
        if refusal(item, position) is not None:
            supported = [i for i in items()[name] if refusal(i, position) is None]
            if supported and rng.random() < 0.8:
                item = rng.choice(supported)
        one = _with_columns(rng, n, item)
        null = "" if not one.required else " NOT NULL"
        made.columns += [f"{c} {spark_type(t)}{null}" for c, t in zip(one.names, item.types, strict=True)]
        drawn.append((one, position))
    for some, position in _together(rng, drawn):
        text = POSITIONS[position]([d.source() for d in some])
        own = tuple((d.item.name, position) for d in some)
        why = next((w for d in some if (w := refusal(d.item, position)) is not None), None)
        if why is not None:
            made.refused.append((text, own[0], why))
        elif position == "assertion":
            made.assertions.append((f"a{len(made.assertions)}", text, own))
        else:
            made.views.append((f"v{len(made.views)}", text, own))
    made.steps = list(_steps(rng, [d for d, _ in drawn]))
    return made


def _with_columns(rng: Random, n: int, item: Item) -> Drawn:
    names = tuple(f"c{n}_{i}" for i in range(len(item.types)))
    forms = tuple(rng.choice((COLUMN, COLUMN, COMPOUND, KNOWN)) for _ in names)
    if COMPOUND in forms:
        nulls = [
            tuple(None if f == COMPOUND else v for f, v in zip(forms, row, strict=True)) for row in item.rows
        ]
        if not all(map(item.holds, nulls)):
            forms = tuple(COLUMN for _ in names)
    known = all(v is not None for row in item.rows for v in row)
    return Drawn(item, names, forms, known and rng.random() < 0.4)


def _together(rng: Random, drawn: list[tuple[Drawn, str]]) -> Iterator[tuple[list[Drawn], str]]:
    """Scalars of one position stand in one view, a few at a time; whatever is refused stands alone."""
    by_position: dict[str, list[Drawn]] = {}
    for one, position in drawn:
        if one.item.kind != "scalar" or refusal(one.item, position) is not None:
            yield [one], position
        else:
            by_position.setdefault(position, []).append(one)
    for position, some in by_position.items():
        for i in range(0, len(some), TOGETHER):
            yield some[i : i + TOGETHER], position


# --- changes -----------------------------------------------------------------------------------------------


def _values(rng: Random, d: Drawn) -> dict[str, Any]:
    """Values of the columns of an item for which the call does not fail, as users give them."""
    row = rng.choice(d.item.rows)
    for i, t in enumerate(d.item.types):
        other: Values = row
        if isinstance(t, Float) and rng.random() < 0.4:
            other = (*row[:i], take_in(t, rng.choice(FLOATS)), *row[i + 1 :])
        elif not d.required and rng.random() < 0.2:
            other = (*row[:i], None, *row[i + 1 :])
        if d.item.holds(other):
            row = other
    return {n: _outside(t, v) for n, t, v in zip(d.names, d.item.types, row, strict=True)}


def _outside(t: Type, value: Any) -> Any:
    return None if value is None else give_out(t, value)


def _steps(rng: Random, drawn: Sequence[Drawn]) -> Iterator[Step]:
    there: list[int] = []
    following = 1

    def row(number: int) -> dict[str, Any]:
        values = {"id": number, "g": rng.choice(("a", "b", None))}
        for d in drawn:
            values.update(_values(rng, d))
        return values

    for n in range(STEPS):
        kind = "insert" if n < 2 or not there else rng.choice(("insert", "delete", "update", "update"))
        if kind == "insert":
            rows = [row(following + i) for i in range(rng.randint(1, 4))]
            following += len(rows)
            there += [r["id"] for r in rows]
            yield ("insert", rows)
        elif kind == "delete":
            gone = rng.sample(there, min(len(there), 2))
            there = [i for i in there if i not in gone]
            yield ("delete", gone)
        else:
            changed: dict[str, Any] = {"g": rng.choice(("a", "b", None))}
            for d in rng.sample(list(drawn), max(1, len(drawn) // 2)):
                changed.update(_values(rng, d))
            yield ("update", rng.choice(there), changed)
    yield ("probe", row(-1))
    yield ("delete", list(there))


# --- following ---------------------------------------------------------------------------------------------


def follow(scenario: Scenario, tally: Tally, also: Callable[[ec.Database], None] | None = None) -> None:
    """Runs a scenario; raises Wrong at the first difference."""
    db = ec.connect()
    _run(f"the table\n{scenario.table}", lambda: db.execute(scenario.table))
    for text, cell, why in scenario.refused:
        _refused(db, text, cell, why)
        tally.cells[cell] += 1
    for name, text, cells in scenario.views:
        _run(
            f"the view {cells}\n{text}",
            lambda name=name, text=text: db.execute(f"CREATE VIEW {name} AS {text}"),
        )
        tally.views += 1
        tally.cells.update(cells)
    for name, text, cells in scenario.assertions:
        statement = f"CREATE ASSERTION {name} CHECK (NOT EXISTS ({text}))"
        _run(f"the assertion {cells}\n{text}", lambda statement=statement: db.execute(statement))
        tally.cells.update(cells)
    for step in scenario.steps:
        if step[0] == "probe":
            _probe(db, scenario, step[1])
        else:
            _run(f"{step}", lambda step=step: _apply(db, step))
        tally.transactions += 1
        _compare(db, scenario)
        if also is not None:
            also(db)


def _apply(db: ec.Database, step: Step) -> None:
    table = db.table("t")
    with db.transaction():
        match step:
            case ("insert", rows):
                table.insert(rows)
            case ("delete", gone):
                for i in gone:
                    table.delete({"id": i})
            case ("update", i, changed):
                table.update({"id": i}, **changed)


def _run(what: str, action: Callable[[], Any]) -> None:
    try:
        action()
    except Exception as error:
        raise Wrong(f"{type(error).__name__}: {error}\nfor {what}") from error


def _refused(db: ec.Database, text: str, cell: Cell, why: str) -> None:
    try:
        db.execute(f"CREATE VIEW refused AS {text}")
    except EvercurrentError:
        return
    except Exception as error:
        raise Wrong(f"{cell} is not supported ({why}), and raises a raw error\n{text}") from error
    raise Wrong(f"{cell} is supported now, but listed as not supported ({why})\n{text}")


def _probe(db: ec.Database, scenario: Scenario, row: dict[str, Any]) -> None:
    """A row that assertions may refuse: refused exactly if one of their queries finds it, and then nothing changed."""
    free = ec.connect()
    free.execute(scenario.table)
    free.table("t").insert([*(dict(zip(row, r, strict=True)) for r in db.table("t").rows()), row])
    broken = [text for name, text, _ in scenario.assertions if any(r for r in _from_scratch(free, text))]
    before = db.table("t").rows()
    try:
        db.table("t").insert([row])
    except ConstraintError as error:
        if not broken:
            raise Wrong(f"refused without a reason: {error}\n{row}") from error
        if Counter(map(repr, db.table("t").rows())) != Counter(map(repr, before)):
            raise Wrong(f"a refused row changed the table\n{row}") from error
        return
    except Exception as error:
        raise Wrong(f"{type(error).__name__}: {error}\nfor {row}") from error
    if broken:
        raise Wrong(f"not refused\n{row}\n{broken[0]}")
    db.table("t").delete({"id": -1})


def _from_scratch(db: ec.Database, text: str) -> list[Any]:
    return list(db.query(text))


def _compare(db: ec.Database, scenario: Scenario) -> None:
    session = db._session
    for name, text, cells in scenario.views:
        view = session.view(name)
        expected = give_rows(
            view.fields, reference(cast(Query, view.query), session.catalog, session.table_rows).insertions()
        )
        found = db.view(name).rows()
        ours, theirs = Counter(canonical_rows(found)), Counter(canonical_rows(expected))
        if ours != theirs:
            raise Wrong(
                f"{cells}\n{text}\nonly kept:     {list((ours - theirs).elements())[:5]}\n"
                f"only computed: {list((theirs - ours).elements())[:5]}"
            )
        if any(signed(v) for row in found for v in row):
            raise Wrong(f"{cells}\n{text}\na zero has a sign: {found}")
        if cells[0][1] in ONE_ROW_EACH and max(ours.values(), default=1) > 1:
            raise Wrong(f"{cells}\n{text}\na row stands twice: {ours}")


def signed(value: Any) -> bool:
    match value:
        case float():
            return value == 0 and math.copysign(1, value) < 0
        case list() | tuple():
            return any(map(signed, value))
        case dict():
            return any(signed(k) or signed(v) for k, v in value.items())
        case _:
            return False
