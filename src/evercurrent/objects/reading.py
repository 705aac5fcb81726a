"""Who reads the tables of classes: which columns the program uses, and who must be told of a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import base_tables
from evercurrent.delta.program import Explode, Input, Let, Lookup, Program, Rule, Where
from evercurrent.session.feed import Trigger
from evercurrent.term.failing import can_fail
from evercurrent.term.nodes import Term
from evercurrent.term.walk import columns_of

if TYPE_CHECKING:
    from evercurrent.session.session import Session


class Readers:
    """What the views and subscriptions of now ask of a write. Tables are by lower-cased names."""

    def __init__(self, session: Session) -> None:
        program = session.maintenance.design.program
        self.session = session
        self.names = {r.name.lower(): r.name for r in program.relations if isinstance(r, Input)}
        self.columns = {
            table: used for table, name in self.names.items() if (used := used_columns(program, name))
        }
        """For each table that views read, the positions of the columns that they use."""
        self.told = frozenset(told_of(session)) | {
            table for table, name in self.names.items() if table in self.columns and may_fail(program)
        }
        """The tables of which a change must be told to someone, or can fail: it takes a transaction."""
        self.tables = frozenset(self.columns) | frozenset(told_of(session))
        self.assumed: dict[str, frozenset[str]] = {}
        for a in program.assumptions:
            key = a.parent.lower()
            self.assumed[key] = self.assumed.get(key, frozenset()) | frozenset(a.columns)

    def trigger(self, table: str, sign: int) -> Trigger:
        return self.session.maintenance.engine.trigger(self.names[table], sign)


def told_of(session: Session) -> frozenset[str]:
    """The tables under what is subscribed to, asserted or recomputed in full."""
    catalog: Catalog = session.catalog
    watched = {n.lower() for n in session.subscribers.watched} | {
        n.lower() for n in session.maintenance.design.recomputed
    }
    for assertion in catalog.assertions.values():
        watched |= {n.lower() for n in assertion.uses}
    return base_tables(catalog, frozenset(watched))


def used_columns(program: Program, name: str) -> frozenset[int]:
    """The positions of the columns of an input that its rules use; with 0, so that a table that is only counted is read."""
    rules = program.triggers.get(name, ())
    if not rules:
        return frozenset()
    found = {0}
    for rule in rules:
        names = {c.name for t in terms_of(rule) for c in columns_of(t)}
        found |= {i for i, c in enumerate(rule.binds) if c.name in names}
    return frozenset(found)


def terms_of(rule: Rule) -> list[Term]:
    found: list[Term] = [*rule.columns, rule.count, *rule.dependents]
    for step in rule.steps:
        match step:
            case Where(condition):
                found.append(condition)
            case Let(_, term):
                found.append(term)
            case Lookup(match=pairs):
                found += [t for _, t in pairs]
            case Explode(collection):
                found.append(collection)
    for amount in rule.amounts:
        found += [*amount.args, *(t for t in (amount.weight, amount.where) if t is not None)]
    return found


def may_fail(program: Program) -> bool:
    """Whether some rule of the program can fail on some data."""
    return any(can_fail(t) for rules in program.triggers.values() for r in rules for t in terms_of(r))
