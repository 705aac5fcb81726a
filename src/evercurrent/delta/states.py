"""The states that rules look up: a group of sources, reduced to what its feed needs of it.

    Delta            rules of their own: a state is a sum like any other
    State            only rows that pass the group's own conditions, only columns that are mentioned outside the group; a
                     column that matters only in sums is kept as a sum
    Cost             an entry for each distinct value of the kept columns
    Correct because  conditions within the group commute with the join, and projection and sums are linear

Columns that the others determine (through declared keys) are dependents: they are kept beside, not in, the key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from evercurrent.catalog.catalog import Knowledge
from evercurrent.data.types import BIGINT, Type
from evercurrent.delta.aggregates import Part, sum_type
from evercurrent.delta.analysis import NOTHING, Analysis, Share, is_inner
from evercurrent.delta.blocks import Block, Dependencies, Source, dependencies, names_of
from evercurrent.delta.definitions import Feed, Keys, StateOf, field_names, state_name
from evercurrent.delta.keyed import is_unique
from evercurrent.delta.memory import Question, Recording, leads_to
from evercurrent.delta.program import Accumulator, Assumption, Index, MapChoice
from evercurrent.delta.upkeep import Statistics
from evercurrent.term.build import call, lit
from evercurrent.term.nodes import Column, Literal, Term


@dataclass(frozen=True, slots=True)
class Kept:
    """A state as one feed sees it: which of the block's columns it shows, under which names."""

    name: str
    columns: dict[str, str]  # the block's column -> the state's
    alike: dict[str, str]  # any column of a class in the group -> the one that stands for the class
    measures: dict[str, Type]
    meanings: dict[Share, str]  # which sum stands for which factors
    unique: bool
    keys: tuple[frozenset[str], ...]  # sets of the state's columns that identify an entry

    def column(self, name: str) -> str:
        return self.columns[self.alike[name]]

    def is_single(self, matched: Iterable[str]) -> bool:
        """Whether matching these columns of the state leaves at most one entry."""
        there = set(matched)
        return any(key <= there for key in self.keys)


@dataclass(slots=True)
class States:
    """All states asked for so far, the indexes they need, and the assumptions that were used."""

    knowledge: Knowledge
    keys: Mapping[str, Keys]
    tables: set[str]
    assume: bool = True
    refused: frozenset[tuple[str, str]] = frozenset()
    least_fan_out: int = 3
    changing: frozenset[tuple[str, str]] = frozenset()
    lent: frozenset[str] = (
        frozenset()
    )  # tables whose rows are read where they are, if no part of them is wanted
    ordered: bool = False  # whether sums over ranges can be kept, see `ranges`
    statistics: Statistics | None = None
    kept_maps: frozenset[str] = frozenset()  # the maps that were chosen before
    choices: dict[str, MapChoice] = field(default_factory=dict)
    kept: dict[str, StateOf] = field(default_factory=dict)
    indexes: dict[str, dict[tuple[str, ...], bool]] = field(default_factory=dict)
    assumptions: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    waiting: list[tuple[StateOf, int]] = field(default_factory=list)  # with the level of maps of their reader
    recording: Recording = field(default_factory=Recording)  # what is asked for now

    def add(self, state: StateOf) -> None:
        self.recording.states.append(state)
        if state.name not in self.kept:
            self.kept[state.name] = state
            self.waiting.append((state, self.least_fan_out))

    def index(self, state: str, columns: tuple[str, ...], single: bool) -> None:
        self.recording.indexes.append((state, columns, single))
        known = self.indexes.setdefault(state, {})
        known[columns] = known.get(columns, False) or single

    def indexes_of(self, state: str) -> tuple[Index, ...]:
        return tuple(Index(c, single) for c, single in sorted(self.indexes.get(state, {}).items()))

    # --- assumptions ---------------------------------------------------------------------------------------

    def is_parent(self, a: Analysis, child: int, parent: int) -> bool:
        """Whether a source refers to another by a declared reference that we may rely on."""
        if (child, parent) not in a.parents:
            a.parents[child, parent] = self.refers(a, child, parent)
        return a.parents[child, parent]

    def refers(self, a: Analysis, child: int, parent: int) -> bool:
        c, p = a.sources[child], a.sources[parent]
        if not self.assume or p.mode == "anti" or (c.relation, p.relation) in self.refused:
            return False
        if c.mode == "anti" or (c.mode == "outer" and p.mode == "inner"):
            return False
        if (
            a.count_of(c.relation) > 1
            or a.count_of(p.relation) > 1
            or not {c.relation, p.relation} <= self.tables
        ):
            return False
        cyclic = leads_to(self.assumptions, p.relation, c.relation)
        self.recording.orders.append(((c.relation, p.relation), cyclic))
        if cyclic:
            return False  # tables that refer to each other cannot all come first
        child_column = dict(zip(c.fields, c.columns, strict=True))
        parent_column = dict(zip(p.fields, p.columns, strict=True))
        for reference in self.knowledge.references_of(c.relation):
            if reference.parent.lower() == p.relation.lower() and all(
                f in child_column
                and g in parent_column
                and are_matched(a, child_column[f].name, p, parent_column[g].name)
                for f, g in zip(reference.columns, reference.parent_columns, strict=True)
            ):
                used = frozenset(f for f, col in parent_column.items() if is_mentioned(a, col.name))
                self.assumptions.setdefault((c.relation, p.relation), set()).update(used)
                self.recording.orders.append(((c.relation, p.relation), used))
                return True
        return False

    def is_inner_parent(self, a: Analysis, child: int, parent: int) -> bool:
        """A parent that can be kept in one map with its child."""
        inner = a.sources[child].mode == a.sources[parent].mode == "inner"
        return inner and self.is_parent(a, child, parent)

    def ask(self, question: Question) -> bool:
        """Whether a state that saves lookups is to be kept; the choice is listed."""
        found, choice = question.answer(self)
        assert found is not None
        self.recording.questions.append((question, found))
        if choice is not None:
            self.choices[choice.name] = choice
        return found

    def skips(self, a: Analysis, parent: int) -> bool:
        """Whether the delta of a source joins with nothing: children of new and dying parents are not there."""
        return any(self.is_parent(a, child, parent) for child in range(len(a.sources)) if child != parent)

    def list_assumptions(self) -> tuple[Assumption, ...]:
        return tuple(
            Assumption(c, p, tuple(sorted(used))) for (c, p), used in sorted(self.assumptions.items())
        )

    # --- what a group must show ----------------------------------------------------------------------------

    def find_exposed(self, a: Analysis, group: frozenset[int]) -> list[str]:
        """The group's columns that are mentioned outside it, one for each class."""
        if group not in a.shown:
            a.shown[group] = self.find_mentioned_outside(a, group)
        return list(a.shown[group])

    def find_mentioned_outside(
        self, a: Analysis, group: frozenset[int], ignored: Sequence[Term] = ()
    ) -> list[str]:
        """The same, apart from what these conditions mention."""
        wanted: set[str] = set(names_of(*a.feed.columns, *a.feed.dependents))
        wanted |= names_of(*(e.collection for e in a.block.explodes))
        for c in a.conditions:
            homes = a.homes(c)
            if any(c is i for i in ignored):
                continue
            if not homes <= group or not is_inner(
                a, homes
            ):  # what may be NULLs instead is tested after the lookup
                wanted |= names_of(c)
        for j, s in enumerate(a.sources):
            if j not in group:
                wanted |= names_of(*(t for _, t in s.on))
        for part, polynomial in zip(a.feed.parts, a.polynomials, strict=True):
            if polynomial is None:
                wanted |= names_of(*part.args, part.where)
        roots = {a.classes.find(n) for n in wanted}
        shown: dict[str, str] = {}
        for n, home in a.home.items():
            if home in group:
                joins = any(a.home[m] not in group for m in a.classes.members(n, a.home))
                if joins or a.classes.find(n) in roots:
                    shown.setdefault(a.classes.find(n), n)
        return list(shown.values())

    def keep(self, a: Analysis, group: frozenset[int], matched: frozenset[str]) -> Kept:
        """The state of a group of inner sources, with the matched columns among those it shows."""
        names = {a.classes.find(n): n for n in self.find_exposed(a, group)}
        for n in sorted(matched):
            names.setdefault(a.classes.find(n), n)
        block = self.block_of(a, group)
        measures = self.measures(a, group)
        unique = is_unique(Feed(block, tuple(a.expansion(a.columns[n]) for n in names.values())), self.keys)
        if unique and measures:  # each entry is one row: its columns serve as well as sums of them
            terms = [t for p in measures.values() for t in (*p.args, p.where)]
            for n in sorted(names_of(*terms)):
                names.setdefault(a.classes.find(n), n)
            measures = {}
        alike = {
            n: names[root] for n in a.home if (root := a.classes.find(n)) in names and a.home[n] in group
        }
        order = [n for n in a.home if n in set(names.values())]
        return self.build(a, block, order, alike, measures, unique, self.rank(a, group))

    def keep_guard(self, a: Analysis, j: int) -> Kept:
        """The state of an anti or outer source: the columns it is matched by, and those that a match must show."""
        source = a.sources[j]
        needed = {source.columns[i].name for i, _ in source.on}
        if source.mode == "outer":
            needed |= set(self.find_exposed(a, frozenset((j,))))
        names = [c.name for c in source.columns if c.name in needed]
        block = Block((replace(source, mode="inner", on=(), null_safe=False),), (), ())
        unique = is_unique(Feed(block, tuple(a.columns[n] for n in names)), self.keys)
        return self.build(a, block, names, {n: n for n in names}, {}, unique, self.rank(a, frozenset((j,))))

    def rank(self, a: Analysis, group: frozenset[int]) -> int:
        """A relation that stands three times or more in a block has a state of its own for each occurrence.

        The rule of the second must see the first updated and the third not yet, which one state cannot be (law L9).
        """
        first = min(group)
        relation = a.sources[first].relation
        if a.count_of(relation) < 3:
            return 0
        return 1 + sum(s.relation == relation for s in a.sources[:first])

    def block_of(self, a: Analysis, group: frozenset[int]) -> Block:
        own = [c for c in a.conditions if a.is_within(c, group)]
        conditions = tuple(a.expansion(c) for c in (*a.equalities(group), *own))
        return Block(tuple(a.sources[j] for j in sorted(group)), conditions, ())

    def measures(self, a: Analysis, group: frozenset[int]) -> dict[Share, Part]:
        """The sums that a group stands for in the amounts, where amounts are polynomials."""
        found: dict[Share, Part] = {}
        for i, polynomial in enumerate(a.polynomials):
            for m in polynomial or ():
                share = a.share(i, m, group)
                if share != NOTHING and share not in found:
                    factors, where = share
                    term = product(factors)
                    found[share] = Part(
                        Accumulator(f"+{len(found)}", sum_type(term.type), "sum"), (term,), where
                    )
        return found

    def build(
        self,
        a: Analysis,
        block: Block,
        names: list[str],
        alike: dict[str, str],
        measures: dict[Share, Part],
        unique: bool,
        rank: int,
    ) -> Kept:
        terms = tuple(a.expansion(a.columns[n]) for n in names)
        own_names = field_names(terms, block)
        own = [
            Column(n, a.columns[b].type, a.columns[b].nullable) for n, b in zip(own_names, names, strict=True)
        ]
        key = least_key(terms, dependencies(block.sources, block.conditions, self.keys))
        rest = [i for i in range(len(names)) if i not in key]
        feed = Feed(
            block, tuple(terms[i] for i in key), tuple(terms[i] for i in rest), tuple(measures.values())
        )
        columns = tuple(own[i] for i in key)
        dependents = tuple(own[i] for i in rest)
        accumulators = tuple(p.accumulator for p in measures.values())
        name = state_name([feed], columns, dependents, accumulators, rank)
        why = reason(block, bool(measures), unique)
        self.add(StateOf(name, columns, dependents, accumulators, unique, (feed,), why))
        keys = [frozenset(own_names[i] for i in k) for k in (key, *source_keys(terms, block, self.keys))]
        return Kept(
            name,
            dict(zip(names, own_names, strict=True)),
            alike,
            {x.name: x.type for x in accumulators},
            {share: p.accumulator.name for share, p in measures.items()},
            unique,
            tuple(keys),
        )


def product(factors: Sequence[Term]) -> Term:
    """The ring product, without ones."""
    real = [f for f in factors if not (isinstance(f, Literal) and f.value == 1 and f.type == BIGINT)]
    if not real:
        return lit(1, BIGINT)
    return real[0] if len(real) == 1 else call("ring_mul", *real)


def reason(block: Block, summed: bool, unique: bool) -> str:
    """Why a looked-up state is there, in words: which choice of the cost rule (see `lookups`) asked for it."""
    names = " and ".join(s.relation.split("~")[0] for s in block.sources)
    if len(block.sources) == 1:
        return f"{'sums of' if summed else 'the part of'} {names} that a join looks up"
    if summed or not unique:
        return f"map of numbers over {names}: one lookup instead of a fan-out"
    return f"map over {names}: free to keep, parents do not change while referenced"


def least_key(terms: tuple[Term, ...], known: Dependencies) -> list[int]:
    """Positions of columns that determine all the others; the last ones are left out first."""
    kept = list(range(len(terms)))
    for i in reversed(range(len(terms))):
        others = names_of(*(terms[j] for j in kept if j != i if isinstance(terms[j], Column)))
        if names_of(terms[i]) <= known.closure(others):
            kept.remove(i)
    return kept


def source_keys(terms: tuple[Term, ...], block: Block, keys: Mapping[str, Keys]) -> list[list[int]]:
    """Positions of shown columns that are a declared key, where the group is a single source."""
    if len(block.sources) != 1:
        return []
    (source,) = block.sources
    by_field = dict(zip(source.fields, (c.name for c in source.columns), strict=True))
    at = {t.name: i for i, t in enumerate(terms) if isinstance(t, Column)}
    return [
        [at[by_field[f]] for f in key]
        for key in keys.get(source.relation, ())
        if all(by_field[f] in at for f in key)
    ]


def are_matched(a: Analysis, column: str, parent: Source, key: str) -> bool:
    """Whether a column of a child is what the key of its parent is matched with."""
    if parent.mode == "inner":
        return a.classes.same(column, key)
    return any(
        parent.columns[i].name == key and isinstance(term, Column) and a.classes.same(term.name, column)
        for i, term in parent.on
    )


def is_mentioned(a: Analysis, name: str) -> bool:
    """Whether the feed depends on a column at all."""
    if a.mentioned is None:
        terms = [*a.feed.columns, *a.feed.dependents, *(a.expansion(c) for c in a.conditions)]
        terms += [t for p in a.feed.parts for t in (*p.args, p.where) if t is not None]
        terms += [t for _, t in a.computed.values()]
        terms += [e.collection for e in a.block.explodes]
        terms += [t for s in a.sources for _, t in s.on]
        a.mentioned = names_of(*terms)
    return name in a.mentioned or len(a.classes.members(name, a.home)) > 1
