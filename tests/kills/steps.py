"""The steps of a writer, each a function of its number, and what a database must hold after so many of them.

A step is one transaction over tables and objects, or one definition. The model is plain Python and shares nothing with the database.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import evercurrent as ec

ACCOUNTS = 8
DEFINES = 6
"""Every so many steps define a view again."""

SCHEMA = """
CREATE TABLE progress (id INT PRIMARY KEY, step BIGINT NOT NULL);
CREATE TABLE accounts (id INT PRIMARY KEY, balance DECIMAL(18,2) NOT NULL);
CREATE TABLE transfers (step BIGINT PRIMARY KEY, source INT REFERENCES accounts (id), target INT REFERENCES accounts (id), amount DECIMAL(18,2));
CREATE TABLE words (word STRING, weight DOUBLE);
CREATE VIEW total AS SELECT SUM(balance) AS total, COUNT(*) AS n FROM accounts;
CREATE VIEW sent AS SELECT source, SUM(amount) AS amount, MAX(step) AS last FROM transfers GROUP BY source;
CREATE VIEW counted AS SELECT word, COUNT(*) AS n FROM words GROUP BY word;
CREATE VIEW defined AS SELECT 0 AS step, COUNT(*) AS n FROM transfers;
"""
ODL = "class thing (extent things) { attribute string name; attribute short size; attribute list<string> tags; };"


def create(path: Path, durability: str) -> None:
    """Makes the database at step 0."""
    with ec.connect(path, durability=durability) as db:  # type: ignore[call-overload]
        db.execute(SCHEMA)
        db.odl(ODL)
        with db.transaction():
            db.table("progress").insert((1, 0))
            db.table("accounts").insert([(i, 100) for i in range(ACCOUNTS)])
            db.new("thing", name="first", size=0)


def is_definition(step: int) -> bool:
    return step % DEFINES == 0


def run(db: ec.Database, step: int) -> None:
    """Runs one step."""
    if is_definition(step):
        db.execute(f"CREATE OR REPLACE VIEW defined AS SELECT {step} AS step, COUNT(*) AS n FROM transfers")
        return
    draw = random.Random(step)
    source, target = draw.sample(range(ACCOUNTS), 2)
    amount = draw.randrange(1, 50)
    with db.transaction():
        db.execute("UPDATE accounts SET balance = balance - ? WHERE id = ?", (amount, source))
        db.execute("UPDATE accounts SET balance = balance + ? WHERE id = ?", (amount, target))
        db.table("transfers").insert((step, source, target, amount))
        if step > 20:
            db.execute("DELETE FROM transfers WHERE step = ?", (step - 20,))
        words = [(f"word {draw.randrange(5)}", float(draw.randrange(3))) for _ in range(draw.randrange(4))]
        db.table("words").insert(words)
        if draw.random() < 0.5 and words:
            db.table("words").delete(words[0])
        db.table("progress").update(1, step=step)
        thing: Any = next(iter(db.extent("things")))
        thing.size = step % 1000
        thing.tags.append(f"tag {step}")
        if len(thing.tags) > 5:
            del thing.tags[0]
        made = db.new("thing", name=f"thing {step}", size=1)
        if draw.random() < 0.7:
            db.delete(made)


@dataclass
class Model:
    """What a database holds after some steps."""

    step: int = 0
    accounts: dict[int, int] = field(default_factory=lambda: dict.fromkeys(range(ACCOUNTS), 100))
    transfers: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    words: list[tuple[str, float]] = field(default_factory=list)
    things: list[str] = field(default_factory=lambda: ["first"])
    tags: list[str] = field(default_factory=list)
    defined: int = 0
    changed: int = 0

    def go_to(self, step: int) -> None:
        while self.step < step:
            self.step += 1
            self._take(self.step)

    def _take(self, step: int) -> None:
        if is_definition(step):
            self.defined = step
            return
        draw = random.Random(step)
        source, target = draw.sample(range(ACCOUNTS), 2)
        amount = draw.randrange(1, 50)
        self.accounts[source] -= amount
        self.accounts[target] += amount
        self.transfers[step] = source, target, amount
        self.transfers.pop(step - 20, None)
        words = [(f"word {draw.randrange(5)}", float(draw.randrange(3))) for _ in range(draw.randrange(4))]
        self.words += words
        if draw.random() < 0.5 and words:
            self.words.remove(words[0])
        self.tags = [*self.tags, f"tag {step}"][-5:]
        if draw.random() >= 0.7:
            self.things.append(f"thing {step}")
        self.changed = step


def last_step(db: ec.Database) -> int:
    """Returns the last step that the database holds."""
    (_, changed) = db.table("progress").rows()[0]
    (defined, _) = db.view("defined").rows()[0]
    return max(changed, defined)


def check(db: ec.Database, model: Model) -> None:
    """Compares everything with the model, and every view with its query."""
    assert db.table("progress").rows() == [(1, model.changed)]
    assert {i: int(b) for i, b in db.table("accounts").rows()} == model.accounts
    assert {s: (a, b, int(c)) for s, a, b, c in db.table("transfers").rows()} == model.transfers
    assert sorted(db.table("words").rows()) == sorted(model.words)
    assert db.view("total").rows() == [(ACCOUNTS * 100, ACCOUNTS)]
    assert db.view("defined").rows() == [(model.defined, len(model.transfers))]
    assert sorted(t.name for t in db.extent("things")) == sorted(model.things)
    first: Any = db.object(1)
    assert (first.size, list(first.tags)) == (model.changed % 1000, model.tags)
    assert db.verify()
