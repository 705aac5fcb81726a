"""Law. A random pipeline of the fluent interface gives, after every change, what the same computation on lists gives."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

import evercurrent as ec


class Row(NamedTuple):
    a: int | None
    b: int
    s: str


class Other(NamedTuple):
    k: int
    t: str | None


Rows = list[Row]
Step = tuple[str, Callable[[Any, Any], Any], Callable[[Rows, list[Other]], Rows]]

TABLE = {1: "one", 2: "two"}


def shift(n: int) -> int:
    return n + 1 if n % 2 == 0 else n - 1


def digits(n: int) -> int:
    """A loop: an opaque function."""
    total = 0
    for c in str(abs(n)):
        total += int(c)
    return total


def order(row: Row) -> Any:
    return (row.a is not None, row.a or 0, row.b, row.s)


def grouped(rows: Rows, key: Callable[[Row], Any]) -> dict[Any, Rows]:
    found: dict[Any, Rows] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def running(rows: Rows) -> Rows:
    found = []
    for peers in grouped(rows, lambda r: r.s).values():
        for row in peers:
            upto = [p for p in peers if p.b <= row.b]
            found.append(Row(row.a, sum(p.b for p in upto), row.s))
    return found


STEPS: list[Step] = [
    ("where b", lambda q, o: q.where(lambda r: r.b > 1), lambda rs, os: [r for r in rs if r.b > 1]),
    (
        "where a is none or small",
        lambda q, o: q.where(lambda r: r.a is None or -2 < r.a < 3),
        lambda rs, os: [r for r in rs if r.a is None or -2 < r.a < 3],
    ),
    (
        "where not in",
        lambda q, o: q.where(lambda r: r.a not in (1, None)),
        lambda rs, os: [r for r in rs if r.a not in (1, None)],
    ),
    (
        "where opaque",
        lambda q, o: q.where(lambda r: digits(r.b) != 2),
        lambda rs, os: [r for r in rs if digits(r.b) != 2],
    ),
    (
        "select",
        lambda q, o: q.select(lambda r: Row(r.b, shift(r.b) * 2, r.s + "!")),
        lambda rs, os: [Row(r.b, shift(r.b) * 2, r.s + "!") for r in rs],
    ),
    (
        "choose",
        lambda q, o: q.select(lambda r: Row(r.a or r.b, r.b % 3, "x" if r.a == r.b else r.s)),
        lambda rs, os: [Row(r.a or r.b, r.b % 3, "x" if r.a == r.b else r.s) for r in rs],
    ),
    (
        "opaque select",
        lambda q, o: q.select(lambda r: Row(r.a, digits(r.b * 7), r.s)),
        lambda rs, os: [Row(r.a, digits(r.b * 7), r.s) for r in rs],
    ),
    (
        "join other",
        lambda q, o: q.join(o, lambda r, x: r.b == x.k).select(lambda r, x: Row(r.a, r.b, x.t or r.s)),
        lambda rs, os: [Row(r.a, r.b, x.t or r.s) for r in rs for x in os if r.b == x.k],
    ),
    (
        "join with none",
        lambda q, o: q.join(o, lambda r, x: r.a == x.k and r.b < 4).select(lambda r, x: Row(x.k, r.b, r.s)),
        lambda rs, os: [Row(x.k, r.b, r.s) for r in rs for x in os if r.a == x.k and r.b < 4],
    ),
    (
        "self join",
        lambda q, o: q.join(q, lambda x, y: x.a == y.a and x.s == y.s).select(
            lambda x, y: Row(x.a, y.b, x.s)
        ),
        lambda rs, os: [Row(x.a, y.b, x.s) for x in rs for y in rs if x.a == y.a and x.s == y.s],
    ),
    (
        "left join",
        lambda q, o: q.left_join(o, lambda r, x: r.b == x.k).select(
            lambda r, x: Row(None if x is None else x.k, r.b, r.s)
        ),
        lambda rs, os: (
            [Row(x.k, r.b, r.s) for r in rs for x in os if r.b == x.k]
            + [Row(None, r.b, r.s) for r in rs if all(x.k != r.b for x in os)]
        ),
    ),
    (
        "semi join",
        lambda q, o: q.semi_join(o, lambda r, x: r.b == x.k),
        lambda rs, os: [r for r in rs if any(x.k == r.b for x in os)],
    ),
    (
        "anti join",
        lambda q, o: q.anti_join(o, lambda r, x: r.b == x.k),
        lambda rs, os: [r for r in rs if all(x.k != r.b for x in os)],
    ),
    (
        "exists",
        lambda q, o: q.where(lambda r: any(x.k == r.b for x in o)),
        lambda rs, os: [r for r in rs if any(x.k == r.b for x in os)],
    ),
    ("distinct", lambda q, o: q.distinct(), lambda rs, os: list(dict.fromkeys(rs))),
    ("double", lambda q, o: q + q, lambda rs, os: rs + rs),
    (
        "union",
        lambda q, o: q | q.where(lambda r: r.b > 2).select(lambda r: Row(r.a, 0, r.s)),
        lambda rs, os: list(dict.fromkeys(rs + [Row(r.a, 0, r.s) for r in rs if r.b > 2])),
    ),
    (
        "intersect all",
        lambda q, o: (q + q).intersect_all(q.where(lambda r: r.b > 0)),
        lambda rs, os: list((Counter(rs + rs) & Counter(r for r in rs if r.b > 0)).elements()),
    ),
    (
        "difference",
        lambda q, o: q - q.where(lambda r: r.a == 1),
        lambda rs, os: list(set(rs) - {r for r in rs if r.a == 1}),
    ),
    (
        "difference all",
        lambda q, o: (q + q).difference_all(q.where(lambda r: r.b != 1)),
        lambda rs, os: list((Counter(rs + rs) - Counter(r for r in rs if r.b != 1)).elements()),
    ),
    (
        "group",
        lambda q, o: q.group_by(lambda r: r.a).select(
            lambda k, g: Row(k, g.sum(lambda r: r.b), g.min(lambda r: r.s))
        ),
        lambda rs, os: [
            Row(k, sum(r.b for r in g), min(r.s for r in g)) for k, g in grouped(rs, lambda r: r.a).items()
        ],
    ),
    (
        "group by two",
        lambda q, o: (
            q.group_by(lambda r: (r.s, r.b % 2 == 0))
            .where(lambda k, g: g.count() > 1)
            .select(lambda k, g: Row(max(r.b for r in g), len(g), k.s))
        ),
        lambda rs, os: [
            Row(max(r.b for r in g), len(g), k[0])
            for k, g in grouped(rs, lambda r: (r.s, r.b % 2 == 0)).items()
            if len(g) > 1
        ],
    ),
    (
        "everything",
        lambda q, o: q.aggregate(lambda g: Row(g.max(lambda r: r.b), g.count(), "all")),
        lambda rs, os: [Row(max((r.b for r in rs), default=None), len(rs), "all")],
    ),
    (
        "top",
        lambda q, o: q.distinct().order_by(lambda r: (r.a, r.b, r.s)).limit(3),
        lambda rs, os: sorted(set(rs), key=order)[:3],
    ),
    (
        "window",
        lambda q, o: q.window(lambda r: r.s, lambda r: r.b).select(
            lambda r, w: Row(r.a, w.sum(lambda r: r.b), r.s)
        ),
        lambda rs, os: running(rs),
    ),
    (
        "count of others",
        lambda q, o: q.select(lambda r: Row(r.a, len([x for x in o if x.k == r.b]), r.s)),
        lambda rs, os: [Row(r.a, len([x for x in os if x.k == r.b]), r.s) for r in rs],
    ),
    (
        "lookup",
        lambda q, o: q.where(lambda r: r.b in TABLE).select(lambda r: Row(r.a, r.b, TABLE[r.b])),
        lambda rs, os: [Row(r.a, r.b, TABLE[r.b]) for r in rs if r.b in TABLE],
    ),
]


def pipeline(chooser: random.Random) -> list[Step]:
    return [chooser.choice(STEPS) for _ in range(chooser.randint(1, 4))]


def random_row(chooser: random.Random) -> Row:
    return Row(chooser.choice((None, -1, 0, 1, 2, 5)), chooser.randrange(0, 5), chooser.choice("xyz"))


def random_other(chooser: random.Random) -> Other:
    return Other(chooser.randrange(0, 5), chooser.choice((None, "p", "q")))


@pytest.mark.parametrize("seed", range(40))
def test_pipelines_equal_lists(seed: int) -> None:
    chooser = random.Random(seed)
    db = ec.connect()
    rows, others = db.table_of(Row), db.table_of(Other)
    chosen = [pipeline(chooser) for _ in range(4)]
    views = []
    for i, steps in enumerate(chosen):
        query: Any = rows
        for _, fluent, _ in steps:
            query = fluent(query, others)
        views.append(db.view(f"v{i}", query))
    held, also = list[Row](), list[Other]()
    for _ in range(14):
        with db.transaction():
            for _ in range(chooser.randint(1, 4)):
                change(chooser, rows, held, random_row)
                if chooser.random() < 0.4:
                    change(chooser, others, also, random_other)
        for view, steps in zip(views, chosen, strict=True):
            expected = held
            for _, _, plain in steps:
                expected = plain(expected, also)
            assert Counter(view.objects()) == Counter(expected), [name for name, _, _ in steps]
    assert db.verify()


def change(chooser: random.Random, table: Any, held: list[Any], make: Callable[[random.Random], Any]) -> None:
    match chooser.randrange(3):
        case 0 if held:
            gone = held.pop(chooser.randrange(len(held)))
            table.delete(gone)
        case 1 if held:
            at = chooser.randrange(len(held))
            new = make(chooser)
            table.replace(held[at], new)
            held[at] = new
        case _:
            new = make(chooser)
            held.append(new)
            table.insert(new)
