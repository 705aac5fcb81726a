"""Bulk loads of thousands of rows over views of every kind, among single changes, compared with DuckDB.

Thresholds are those of users: what is large here is large. Loads come as columns, lists, frames and change feeds; they are mixed
with single changes in one transaction, given up, refused by a constraint, a view that fails or a subscriber, and interrupted. Parents
are deleted after loads of their children. What is compared with what stands in `bulk_histories`.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.fuzz.bulk_histories import TRAP, Step, follow, script
from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.shortening import fails_like, shortened

VIEWS: tuple[tuple[str, ...], ...] = (
    (  # filters, terms
        "SELECT id, qty * 2 AS q, price + qty AS p, upper(note) AS n FROM o WHERE qty > 3 OR note LIKE 'a%'",
        "SELECT a, CASE WHEN v > 0 THEN x ELSE -x END AS y, coalesce(s, '-') AS s FROM l WHERE v % 3 <> 0",
        "SELECT region, credit * 2 AS d FROM c WHERE credit BETWEEN 1 AND 30",
    ),
    (  # inner joins
        "SELECT o.id, c.name, o.qty FROM o JOIN c ON c.id = o.cid WHERE o.qty > 1",
        "SELECT l.a, l.v, m.b, m.v AS w FROM l JOIN m ON m.a = l.a AND m.b = l.s WHERE l.v > 30",
        "SELECT x.a, x.v, y.v AS w FROM l x JOIN l y ON y.a = x.a AND y.b = x.b AND y.v > x.v",
        "SELECT o.id, c.region, l.v FROM o JOIN c ON c.id = o.cid JOIN l ON l.a = o.id WHERE l.b < 6",
    ),
    (  # outer joins
        "SELECT o.id, c.name FROM o LEFT JOIN c ON c.id = o.cid AND c.credit > 10",
        "SELECT l.a, l.b, m.v FROM l LEFT JOIN m ON m.a = l.a AND m.b = l.s",
        "SELECT o.id, c.id AS cid FROM o FULL JOIN c ON c.id = o.cid AND o.qty > 4",
        "SELECT c.id, count(o.id) AS n, sum(o.qty) AS q FROM c LEFT JOIN o ON o.cid = c.id GROUP BY c.id",
        "SELECT m.a, m.b, l.v FROM l RIGHT JOIN m ON l.a = m.a AND l.s = m.b AND l.v > 20",
    ),
    (  # groups
        "SELECT a, sum(v) AS s, count(*) AS n, avg(x) AS m, min(v) AS lo, max(x) AS hi FROM l GROUP BY a",
        "SELECT s, b, sum(x) AS t, count(x) AS n, max(s) AS z FROM l GROUP BY s, b",
        "SELECT day, sum(qty * price) AS t, avg(qty) AS q, count(DISTINCT cid) AS n FROM o GROUP BY day",
        "SELECT count(*) AS n, sum(v) AS s, sum(x) AS t, min(s) AS lo, max(v) AS hi FROM l",
        "SELECT c.region, sum(o.price) AS t, count(*) AS n FROM o JOIN c ON c.id = o.cid GROUP BY c.region",
        "SELECT b, sum(v) FILTER (WHERE x > 2) AS t, count(*) FILTER (WHERE s = 'a') AS n FROM l GROUP BY b",
        "SELECT a, sum(v) AS t FROM l GROUP BY a HAVING sum(v) > 20 AND count(*) > 2",
        "SELECT b, stddev(v) AS d, bool_or(v > 40) AS e, count(DISTINCT s) AS n FROM l GROUP BY b",
        "SELECT region, sum(credit) AS t, avg(credit) AS m, max(credit) AS hi FROM c GROUP BY region",
        "SELECT b, s, sum(v) AS t, count(*) AS n FROM l GROUP BY ROLLUP (b, s)",
        "SELECT a % 10 AS k, sum(w) AS t, max(w) AS hi FROM (SELECT a, sum(v) AS w FROM l GROUP BY a) q GROUP BY a % 10",
    ),
    (  # distinct and sets
        "SELECT DISTINCT a, s FROM l",
        "SELECT a FROM l EXCEPT SELECT id FROM o",
        "SELECT id FROM o WHERE qty > 2 INTERSECT SELECT a FROM m",
        "SELECT a, v FROM l EXCEPT ALL SELECT id, qty FROM o",
        "SELECT id AS k FROM o UNION SELECT a FROM l",
        "SELECT id AS k, note AS t FROM o UNION ALL SELECT a, s FROM l WHERE v > 0",
    ),
    (  # tops
        "SELECT id, price, qty FROM o ORDER BY price DESC, qty, id LIMIT 25",
        "SELECT a, v, s FROM l ORDER BY v, a, s LIMIT 40",
        "SELECT a, t FROM (SELECT a, sum(v) AS t FROM l GROUP BY a) q ORDER BY t DESC, a LIMIT 10",
        "SELECT id, cid, r FROM (SELECT id, cid, row_number() OVER (PARTITION BY cid ORDER BY qty DESC, id) AS r FROM o) q "
        "WHERE r <= 2",
    ),
    (  # windows
        "SELECT id, row_number() OVER (PARTITION BY day ORDER BY qty, id) AS r FROM o",
        "SELECT id, sum(qty) OVER (PARTITION BY day ORDER BY id) AS t FROM o",
        "SELECT id, avg(qty) OVER (PARTITION BY cid ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING) AS t FROM o",
        "SELECT id, lag(qty) OVER (PARTITION BY day ORDER BY id) AS p, lead(note, 2) OVER (ORDER BY id) AS n FROM o",
        "SELECT a, v, rank() OVER (PARTITION BY a ORDER BY v DESC) AS r, dense_rank() OVER (PARTITION BY a ORDER BY v) AS d FROM l",
        "SELECT a, b, max(v) OVER (PARTITION BY a ORDER BY b) AS t, count(*) OVER (PARTITION BY s) AS n FROM l",
        "SELECT id, sum(price) OVER (PARTITION BY cid) AS t, min(qty) OVER (ORDER BY day) AS q FROM o",
        "SELECT id, day, rank() OVER (PARTITION BY day ORDER BY qty) AS r FROM o",
        "SELECT a, v, s, rank() OVER (PARTITION BY a, b ORDER BY v) AS r FROM l",
        "SELECT cid, qty, rank() OVER (ORDER BY cid, qty DESC) AS r, ntile(4) OVER (ORDER BY id) AS n FROM o",
    ),
    (  # ranges
        "SELECT c.id, sum(l.v) AS t, count(*) AS n FROM c JOIN l ON l.a < c.id AND c.id < 90 GROUP BY c.id",
        "SELECT c.id, (SELECT sum(o.qty) FROM o WHERE o.id <= c.id) AS t FROM c WHERE c.credit > 40",
        "SELECT o.id, (SELECT sum(l.v) FROM l WHERE l.a <= o.id) AS t FROM o WHERE o.qty = 3",
        "SELECT x.day, sum(y.qty) AS t FROM (SELECT DISTINCT day FROM o) x JOIN o y ON y.day <= x.day GROUP BY x.day",
    ),
    (  # subqueries
        "SELECT id, qty FROM o WHERE EXISTS (SELECT 1 FROM l WHERE l.a = o.id AND l.v > 10)",
        "SELECT id FROM c WHERE NOT EXISTS (SELECT 1 FROM o WHERE o.cid = c.id AND o.qty > 2)",
        "SELECT a, v FROM l WHERE a IN (SELECT id FROM o WHERE qty > 5)",
        "SELECT id FROM o WHERE id NOT IN (SELECT a FROM m WHERE v > 0)",
        "SELECT id, (SELECT sum(v) FROM l WHERE l.a = o.id) AS t FROM o",
        "SELECT a, v FROM l WHERE v > (SELECT avg(v) FROM l) + 20",
        "SELECT id, qty FROM o WHERE qty = (SELECT max(p.qty) FROM o p WHERE p.cid = o.cid)",
    ),
)
"""Queries by kind; every order is total, so that there is one answer."""

FORMS = ("arrow", "arrow", "feed", "feed", "list", "pandas", "dicts")
STATEMENTS = (
    "UPDATE o SET qty = qty + 1 WHERE id % 2 = 0 AND qty < 900",
    "UPDATE l SET v = -v, x = x + 1 WHERE b < 7",
    "UPDATE m SET a = a + 5000 WHERE a < 400",
    "DELETE FROM l WHERE b > 4",
    "DELETE FROM o WHERE id % 3 = 0",
    "DELETE FROM m",
    "DELETE FROM o",
    "TRUNCATE TABLE l",
    "INSERT INTO l SELECT id, qty, qty * 2, price, note FROM o WHERE qty IS NOT NULL",
    "INSERT INTO l SELECT * FROM l WHERE b < 3",
)
KINDS = ("load", "load", "few", "few", "mixed", "mixed", "sql", "spoilt", "several", "parents")
PLAIN_KINDS = ("load", "load", "load", "parents", "parents", "spoilt", "spoilt", "few")
LATE = ("apply_columns", "_update_keyed", "apply", "settle", "commit", "undo")
"""Functions of a commit and its undo, from the first call of which the lines to a fault are counted."""
LARGE = (2000, 2300, 3100, 4200)
SMALL = (1, 2, 40, 700)


class Drawing:
    """Draws one history."""

    def __init__(self, seed: int) -> None:
        self.random = Random(f"bulk {seed}")
        self.names = 0
        self.views: dict[str, str] = {}
        # Nobody watches, and nearly all that comes is columns: so tables and states stay columns from load to load.
        self.plain = self.random.random() < 0.5
        self.modes = self.random.choice((("strict",), ("strict",), ("strict", "hybrid", "lazy")))
        if self.plain:
            self.modes = ("strict",)
        # A scenario of one kind stays columns; one that mixes kinds goes back and forth.
        self.kinds = self.random.choice((VIEWS, VIEWS, (self.random.choice(VIEWS),)))
        self.steps: list[Step] = [("table", name) for name in ("c", "o", "l", "m")]
        if not self.plain and self.random.random() < 0.2:
            self.steps.append(("guard", self.random.choice("olm")))
        self.trap = self.random.random() < (0.6 if self.plain else 0.3)
        if self.trap:
            self.steps.append(("view", "trap", TRAP, "strict"))

    def view(self) -> None:
        self.names += 1
        name, text = f"v{self.names}", self.random.choice(self.random.choice(self.kinds))
        self.steps.append(("view", name, text, self.random.choice(self.modes)))
        self.views[name] = text
        if not self.plain and self.random.random() < 0.15:
            self.steps.append(("subscribe", name))

    def seed(self) -> int:
        return self.random.randrange(10**6)

    def load(self, name: str) -> Step:
        if self.plain:
            return (
                "load",
                name,
                self.seed(),
                self.random.choice(LARGE),
                self.random.choice(("arrow", "feed")),
            )
        sizes = SMALL if self.random.random() < 0.2 else LARGE
        return ("load", name, self.seed(), self.random.choice(sizes), self.random.choice(FORMS))

    def few(self, name: str) -> Step:
        return ("few", name, self.seed(), self.random.choice((1, 1, 2, 5)))

    def change(self) -> None:
        random = self.random
        name = random.choice("coollm")
        kinds = PLAIN_KINDS if self.plain else KINDS
        kind = random.choice((*kinds, "trapped", "trapped") if self.trap else kinds)
        statements: list[Step]
        match kind:
            case "load":
                statements = [self.load(name)]
            case "few":
                statements = [self.few(name)]
            case "sql":
                statements = [("sql", random.choice(STATEMENTS))]
            case "several":
                statements = [self.load(n) for n in random.sample("colm", 2)]
            case "trapped":
                statements = [("load", "l", self.seed(), random.choice(LARGE), "trapped")]
            case "parents":
                children = [self.load("o")] if random.random() < 0.5 else []
                whose = random.choice(("without children", "with one child"))
                self.steps += [("change", "commit", [s]) for s in children]
                statements = [("load", "c", self.seed(), random.choice(LARGE), whose)]
            case "spoilt" if self.plain or random.random() < 0.5:
                statements = [("load", random.choice("com"), self.seed(), random.choice(LARGE), "bad")]
            case "spoilt":
                statements = [self.load(name), ("spoil", random.choice("com"), self.seed())]
            case _:
                statements = [
                    self.load(name),
                    self.few(random.choice("colm")),
                    ("sql", random.choice(STATEMENTS)),
                ]
                random.shuffle(statements)
        self.steps.append(("change", self.ending(), statements))

    def ending(self) -> object:
        chance = self.random.random()
        if chance < 0.1:
            return "undo"
        if chance < 0.2 and self.steps[4][0] == "guard":
            return "veto"
        if chance < 0.25:
            return ("fault", int(10 ** self.random.uniform(1, 5)))
        if chance < 0.32:
            return ("fault", int(10 ** self.random.uniform(0, 3)), self.random.choice(LATE))
        return "commit"

    def draw(self, changes: int) -> list[Step]:
        random = self.random
        for _ in range(random.randint(0, 4)):
            self.view()
        for name in "colm":
            if random.random() < 0.8:
                form = random.choice(("arrow", "arrow", "feed", "list"))
                self.steps.append(
                    ("change", "commit", [("load", name, self.seed(), random.choice(LARGE), form)])
                )
        for _ in range(random.randint(2, 4)):
            self.view()
        for _ in range(changes):
            self.change()
            if random.random() < 0.12:
                self.view()
            elif self.views and random.random() < 0.06:
                name = random.choice(sorted(self.views))
                del self.views[name]
                self.steps.append(("drop", name))
        return self.steps


@dataclass(frozen=True)
class Bulk:
    name: str = "bulk"
    needs_spark: bool = False
    changes: int = 8

    def run(self, seed: int, tally: Tally) -> None:
        steps = Drawing(seed).draw(self.changes)
        try:
            follow(steps, tally)
        except Exception as error:
            short = shortened(steps, fails_like(error, follow), fixed=("table",))
            raise Difference(str(error), script(short, str(error))) from error


CAMPAIGN = Bulk()
