"""Looking up the other sources of a block: in which order, by which columns, in which states.

A rule starts from the delta of one source; conditions are tested as soon as their columns are bound. What is looked up is
a state (see `states`): a source reduced to the rows and columns that the feed needs, or a *map*, a join of several sources
stored as one. The cost rule for maps:

  free   Under an assumption that parents do not change while referenced, a child with its parents is a map that only
         the child's own changes update. It costs nothing to keep and saves a lookup for each parent: always used, except
         that a child that fans out takes only parents that make it smaller, and one whose rows are borrowed (`lent`)
         takes none.
  number Sources that matter only through the column they are matched by and through sums are a map from that column to
         numbers, no larger than the driving source. Looked up one by one they would fan out n times, at an expected F**n
         entries visited for each change of the driving source; the map costs one more addition for each change of its own,
         of which, where sizes go with fan-outs, there may be F**(n - 1) as many. Used where
         that is estimated to pay (`upkeep`); as long as nothing is known of the tables, where n >= 3, and for any n
         where the driving source is a parent that has been seen to change while it was referred to.
  else   Sources are looked up one by one.

    orders o * customers c, o.customer = c.id, city read      on orders: look up customers by id where id = o.customer
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from evercurrent.data.types import BIGINT
from evercurrent.delta.analysis import Analysis
from evercurrent.delta.blocks import find_equality, names_of, replace_columns, replace_in_explode
from evercurrent.delta.definitions import canonical, digest
from evercurrent.delta.program import WEIGHT, Explode, Lookup, MapChoice, Step, Where
from evercurrent.delta.ranges import find_order, look_up_range, range_of, span_of
from evercurrent.delta.states import Kept, States
from evercurrent.delta.upkeep import ALL, DEFAULT, Upkeep
from evercurrent.term.build import TRUE
from evercurrent.term.nodes import Call, Column, Term


@dataclass(frozen=True, slots=True)
class Match:
    """A column equals a term over what is bound; `condition` is the one that says so, if it is not a class."""

    name: str
    term: Term
    null_safe: bool = False
    condition: Term | None = None


@dataclass(frozen=True, slots=True)
class IsWorthMap:
    """Whether a map of numbers over a group of sources is to be kept for changes of the driver.

    `by_rule` is the answer while nothing is known of the tables, if it was found, and always at other levels than the default.
    """

    name: str
    a: Analysis
    driver: int
    group: frozenset[int]
    into: str
    by: tuple[str, ...]
    level: int
    by_rule: bool | None

    def answer(self, states: States) -> tuple[bool | None, MapChoice | None]:
        if self.level != DEFAULT or states.statistics is None:
            return self.by_rule, None
        balance = Upkeep(self.a, states.statistics, states.tables).balance(self.driver, self.group)
        relations = tuple(self.a.sources[j].relation for j in sorted(self.group))
        driver = self.a.sources[self.driver].relation
        kept = balance.pays(self.name in states.kept_maps)
        choice = MapChoice(
            self.name, self.into, driver, relations, self.by, kept, balance.without, balance.upkeep
        )
        return kept, choice


@dataclass(slots=True)
class Derivation:
    """One rule being written: what is bound, what has still to be looked up and tested."""

    a: Analysis
    states: States
    driver: int
    remaining: set[int]
    pending: list[Term]
    explodes: list[Explode]
    bound: dict[str, Term] = field(default_factory=dict)
    by_class: dict[str, Term] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    weights: list[Term] = field(default_factory=list)
    summed: list[tuple[frozenset[int], Kept, dict[str, Column]]] = field(default_factory=list)
    old: set[str] = field(default_factory=set)
    new: set[str] = field(default_factory=set)
    fresh: int = 0
    into: str = ""

    # --- what is at hand -----------------------------------------------------------------------------------

    def available(self, name: str) -> bool:
        return name in self.bound or self.a.classes.find(name) in self.by_class

    def all_available(self, *terms: Term | None) -> bool:
        return all(self.available(n) for n in names_of(*terms))

    def local(self, term: Term) -> Term:
        """The term over what is bound in the rule."""
        names: dict[str, Term] = {}
        for n in names_of(term):
            names[n] = self.bound[n] if n in self.bound else self.by_class[self.a.classes.find(n)]
        return replace_columns(term, names)

    def bind(self, name: str, term: Term) -> None:
        self.bound[name] = term
        self.by_class.setdefault(self.a.classes.find(name), term)

    def test(self) -> None:
        """Test every condition whose columns are all there; those that can fail after those that cannot."""
        ready = [c for c in self.pending if self.all_available(c)]
        if ready:
            self.pending = [c for c in self.pending if not self.all_available(c)]
            for c in ready:
                local = self.local(c)
                if local != TRUE:
                    self.steps.append(Where(local))

    # --- looking up ----------------------------------------------------------------------------------------

    def run(self) -> None:
        self.test()
        while self.remaining or self.explodes:
            self.advance()
            self.test()

    def advance(self) -> None:
        """The next step: what filters, then what cannot fan out, then what must."""
        sources = self.a.sources
        ready = [j for j in sorted(self.remaining) if self.all_available(*(t for _, t in sources[j].on))]
        for j in ready:
            if sources[j].mode == "anti":
                return self.look_up_guard(j)
        inner = [j for j in sorted(self.remaining) if sources[j].mode == "inner"]
        matched = {j: self.matches(frozenset((j,))) for j in inner}
        fans = [j for j in inner if matched[j] and not self.leaves_one(j, matched[j])]
        # a parent that only filters a child still to be looked up is left to it: their map is the smaller state
        left = {k for j in fans for k in self.absorb(j, False)}
        singles = [j for j in inner if self.leaves_one(j, matched[j]) and j not in left]
        if singles:
            return self.look_up(self.absorb(singles[0], self.is_single(singles[0], matched[singles[0]])))
        for j in inner if self.states.ordered else ():
            found = range_of(self, j, matched[j])
            if found is not None:
                return look_up_range(self, j, matched[j], found)
        for j in ready:
            if sources[j].mode == "outer":
                return self.look_up_guard(j)
        if fans:
            best = max(fans, key=lambda j: len(matched[j]))
            return self.look_up(self.number_map(best) or self.absorb(best, False))
        for e in self.explodes:
            if self.all_available(e.collection):
                return self.explode(e)
        return self.look_up(self.absorb(inner[0], False))

    def explode(self, e: Explode) -> None:
        self.explodes.remove(e)
        names = {
            n: self.bound.get(n) or self.by_class[self.a.classes.find(n)] for n in names_of(e.collection)
        }
        self.steps.append(replace_in_explode(e, names))
        for c in e.elements:
            self.bind(c.name, c)

    def matches(self, group: frozenset[int]) -> list[Match]:
        """Columns of the group that equal something bound, one for each class."""
        found: dict[str, Match] = {}
        for name, home in self.a.home.items():
            root = self.a.classes.find(name)
            if home in group and root in self.by_class and root not in found:
                found[root] = Match(name, self.by_class[root])
        for c in self.pending:
            for column, other, null_safe in split_equality(c):
                # an equality with a constant is no match: the state holds only what satisfies it
                outside = names_of(other)
                if self.a.home.get(column.name) in group and outside and not outside & self.names(group):
                    root = self.a.classes.find(column.name)
                    if self.all_available(other) and root not in found:
                        found[root] = Match(column.name, self.local(other), null_safe, c)
        return list(found.values())

    def names(self, group: Iterable[int]) -> set[str]:
        inside = set(group)
        return {n for n, home in self.a.home.items() if home in inside}

    def is_single(self, j: int, matches: list[Match]) -> bool:
        """Whether at most one row of the source can match."""
        source = self.a.sources[j]
        matched = {m.name for m in matches}
        by_field = dict(zip(source.fields, (c.name for c in source.columns), strict=True))
        same = {n for n in by_field.values() if any(self.a.classes.same(n, m) for m in matched)}
        return any(all(by_field[f] in same for f in key) for key in self.a.keys.get(source.relation, ()))

    def leaves_one(self, j: int, matches: list[Match]) -> bool:
        """Whether at most one entry of the source's state can match: one row, or all matching rows as one sum."""
        roots = {self.a.classes.find(m.name) for m in matches}
        return self.is_single(j, matches) or (bool(matches) and self.find_shown(frozenset((j,))) <= roots)

    def absorb(self, j: int, single: bool) -> frozenset[int]:
        """The source with the parents that it refers to, where assumptions make that map free to keep.

        A source of which at most one row matches takes all of them along. One that fans out takes only parents that
        merely filter it: the map has then no more columns than the source alone, and fewer rows. A source whose rows are read
        where they are takes none: nothing is kept of it at all.
        """
        group = frozenset((j,))
        if single and self.is_lent(j):
            return group
        grown = True
        while grown:
            grown = False
            for k in sorted(self.remaining - group):
                if any(self.states.is_inner_parent(self.a, child, k) for child in group):
                    wider = group | {k}
                    if single or self.find_shown(wider) <= self.find_shown(group):
                        group = wider
                        grown = True
        return group

    def is_lent(self, j: int) -> bool:
        """Whether the whole source is wanted, and its rows are read where they are."""
        own = frozenset((j,))
        return self.a.sources[j].relation in self.states.lent and not any(
            self.a.is_within(c, own) for c in self.a.conditions
        )

    def find_shown(self, group: frozenset[int]) -> set[str]:
        return {self.a.classes.find(n) for n in self.states.find_exposed(self.a, group)}

    def number_map(self, j: int) -> frozenset[int] | None:
        """The connected sources around j, if together they are but numbers under the matched columns."""
        if any(p is None for p in self.a.polynomials):
            return None
        if any(self.a.count_of(s.relation) > 1 for s in self.a.sources):
            return None
        group = self.component(j)
        if any(self.a.sources[k].mode != "inner" for k in group) or len(group) < 2:
            return None
        matched = {self.a.classes.find(m.name) for m in self.matches(group)}
        if not matched or not self.find_shown(group) <= matched:
            return None
        return group if self.is_worth(group, matched) else None

    def is_worth(self, group: frozenset[int], matched: set[str]) -> bool:
        """Whether a map of numbers is to be kept: by what is known of the tables, or by how many lookups it saves."""
        states, level = self.states, self.states.least_fan_out
        by_rule = None
        if level != DEFAULT or states.statistics is None:
            by_rule = (len(matched) == 1 or level == ALL) and self.fan_out(group) >= self.least_fan_out(group)
        by = tuple(sorted(m.name.partition("~")[0] for m in self.matches(group)))
        name = digest(canonical(self.a.feed), str(self.driver), repr(sorted(group)))
        return states.ask(IsWorthMap(name, self.a, self.driver, group, self.into, by, level, by_rule))

    def least_fan_out(self, group: frozenset[int]) -> int:
        """A parent that is seen to change while it is referred to is worth a map of numbers of its own."""
        driver = self.a.sources[self.driver].relation
        changing = any((self.a.sources[k].relation, driver) in self.states.changing for k in group)
        return 1 if changing else max(1, self.states.least_fan_out)

    def component(self, j: int) -> frozenset[int]:
        """The sources that hang together with j through columns that are not bound yet."""
        group = {j}
        links = [self.a.homes(c) for c in self.pending if not self.all_available(c)]
        roots: dict[str, set[int]] = {}
        for name, home in self.a.home.items():
            root = self.a.classes.find(name)
            if root not in self.by_class:
                roots.setdefault(root, set()).add(home)
        linked = [*links, *roots.values()]
        grown = True
        while grown:
            grown = False
            for link in linked:
                inside = {k for k in link if k is not None} & self.remaining
                if inside & group and not inside <= group:
                    group |= inside
                    grown = True
        return frozenset(group)

    def fan_out(self, group: frozenset[int]) -> int:
        """How many lookups would fan out, were the group's sources looked up one by one."""
        trial = replace(self, bound=dict(self.bound), by_class=dict(self.by_class), remaining=set(group))
        count = 0
        while trial.remaining:
            matched = {j: trial.matches(frozenset((j,))) for j in sorted(trial.remaining)}
            single = [j for j in matched if trial.leaves_one(j, matched[j])]
            fans = [j for j in matched if matched[j]]
            j = (single or fans or sorted(trial.remaining))[0]
            count += not single
            trial.remaining.discard(j)
            for n in trial.names((j,)):
                trial.bind(n, self.a.columns[n])
        return count

    def look_up(self, group: frozenset[int]) -> None:
        """Join with the state of a group of inner sources."""
        matches = self.matches(group)
        kept = self.states.keep(self.a, group, frozenset(m.name for m in matches))
        self.constrain(group, kept)
        order = find_order(self, group, kept, matches)
        match = tuple((kept.column(m.name), m.term) for m in matches)
        null_safe = frozenset(kept.column(m.name) for m in matches if m.null_safe)
        tested = [m.condition for m in matches]
        self.pending = [
            c for c in self.pending if not any(c is t for t in tested) and not self.a.is_within(c, group)
        ]
        matched = {column: term for column, term in match}
        binds: list[tuple[str, Column]] = []
        for name, column in kept.columns.items():
            if column in matched:
                self.bind(name, matched[column])
            else:
                bound = Column(name, self.a.columns[name].type, self.is_nullable(name))
                binds.append((column, bound))
                self.bind(name, bound)
        measures: dict[str, Column] = {}
        for name, type in kept.measures.items():
            self.fresh += 1
            measures[name] = Column(f"m~{self.fresh}", type, False)
            binds.append((name, measures[name]))
        if not kept.unique:
            self.fresh += 1
            weight = Column(f"w~{self.fresh}", BIGINT, False)
            binds.append((WEIGHT, weight))
            self.weights.append(weight)
            self.summed.append((group, kept, measures | {WEIGHT: weight}))
        single = kept.is_single(matched)
        span = None if order is None else span_of(self, kept, order)
        if span is None or not matched:
            self.states.index(kept.name, tuple(matched), single)
        present = not binds and kept.unique and single
        self.steps.append(Lookup(kept.name, match, tuple(binds), null_safe, present=present, span=span))
        self.remaining -= group

    def is_nullable(self, name: str) -> bool:
        return self.a.columns[name].nullable

    def look_up_guard(self, j: int) -> None:
        """An anti source: rows without a match stay. An outer source: its match, or NULLs."""
        source = self.a.sources[j]
        kept = self.states.keep_guard(self.a, j)
        self.constrain(frozenset((j,)), kept)
        names = [kept.columns[source.columns[i].name] for i, _ in source.on]
        match = tuple((n, self.local(t)) for n, (_, t) in zip(names, source.on, strict=True))
        null_safe = frozenset(names) if source.null_safe else frozenset()
        binds: list[tuple[str, Column]] = []
        if source.mode == "outer":
            for name, column in kept.columns.items():
                bound = Column(name, self.a.columns[name].type, True)
                binds.append((column, bound))
                self.bind(name, bound)
        self.states.index(kept.name, tuple(names), True)
        self.steps.append(
            Lookup(
                kept.name,
                match,
                tuple(binds),
                null_safe,
                absent=not binds and source.mode == "anti",
                outer=source.mode == "outer",
            )
        )
        self.remaining.discard(j)

    def constrain(self, group: frozenset[int], kept: Kept) -> None:
        """Law L9 for a relation that stands in the block more than once: earlier occurrences new, later ones old."""
        driver = self.a.sources[self.driver].relation
        for k in group:
            if self.a.sources[k].relation == driver:
                (self.old if k > self.driver else self.new).add(kept.name)


def split_equality(condition: Term) -> list[tuple[Column, Term, bool]]:
    """An equality read as `column = term`, both ways where both sides are columns."""
    sides, safe = find_equality(condition), False
    if sides is None:
        match condition:
            case Call("eqns", (a, b)):
                sides, safe = (a, b), True
            case _:
                return []
    a, b = sides
    return [(x, y, safe) for x, y in ((a, b), (b, a)) if isinstance(x, Column)]
