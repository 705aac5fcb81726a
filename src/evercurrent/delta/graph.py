"""From plans to definitions: where addition ends, a plan is cut.

Select, Map, Join, Unnest and Union of blocks are blocks again. Three operators become blocks with the help of a set D of
the keys that are there (a keyed relation, unique):

    A semi B on k    = A * D[k]                   D = distinct keys of B
    A anti B on k    = A * (1 - D[k])
    A left B on k    = A * B  +  A * (1 - D[k]) * NULLs
                     = A * (B[k] + (1 - B[k]) * NULLs)    where B is unique on k

with a condition that is more than equality of keys: D = distinct { the columns of A that the condition mentions | A, B,
condition }, matched NULL-safely. Everything else (Aggregate, Distinct, SetOperation, Window, Top, Fixpoint) is a relation
of its own, and stands in blocks as a source.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import assert_never

from evercurrent.algebra.borders import is_border
from evercurrent.algebra.canonical import number_names
from evercurrent.algebra.nodes import (
    Aggregate,
    Constant,
    Distinct,
    Fixpoint,
    Join,
    Map,
    Outer,
    Plan,
    Scan,
    Select,
    Semi,
    SetOperation,
    Top,
    Union,
    Unnest,
    Window,
    columns,
)
from evercurrent.catalog.catalog import Knowledge
from evercurrent.delta.blocks import Block, Source, names_of, replace_columns
from evercurrent.delta.combine import (
    bind_columns,
    environment,
    explode,
    guard,
    is_bare,
    nulls,
    product,
    relations,
    restrict,
    split_equalities,
    sum_of,
    whole,
)
from evercurrent.delta.definitions import (
    Definition,
    Feed,
    FixpointOf,
    Keys,
    LoopOf,
    TableOf,
    digest,
)
from evercurrent.delta.keyed import (
    aggregate_relation,
    distinct_relation,
    keys_of_sum,
    setop_relation,
    top_relation,
    window_relation,
)
from evercurrent.errors import UnsupportedError
from evercurrent.term.build import call, conjunction, conjuncts
from evercurrent.term.nodes import Column, Term
from evercurrent.term.nullable import nullable
from evercurrent.term.walk import grows

MOST_BLOCKS = 4
"""A product of sums is multiplied out up to so many blocks; beyond that a side becomes a relation of its own."""

MOST_SOURCES = 16
"""Each source of a block is looked up from each other one; a join of more is cut into relations of their own."""


@dataclass(slots=True)
class Graph:
    """Definitions so far, each after what it is made of; what is known of them; what scans stand for."""

    knowledge: Knowledge
    views: dict[str, str] = field(default_factory=dict)
    definitions: dict[str, Definition] = field(default_factory=dict)
    keys: dict[str, Keys] = field(default_factory=dict)
    loops: dict[str, tuple[str, tuple[Column, ...], bool]] = field(default_factory=dict)
    fresh: int = 0
    known: dict[int, tuple[Plan, list[Block]]] = field(default_factory=dict)  # of outer joins
    touched: dict[str, None] = field(default_factory=dict)  # the definitions that the last view needs
    under: dict[str, str] = field(default_factory=dict)  # the views that it scans, as relations

    # --- relations as sources --------------------------------------------------------------------------

    def define(self, definition: Definition, keys: Keys = ()) -> None:
        self.touched[definition.name] = None
        if definition.name not in self.definitions:
            self.definitions[definition.name] = definition
            self.keys[definition.name] = keys

    def fresh_columns(self, like: tuple[Column, ...]) -> tuple[Column, ...]:
        self.fresh += 1
        return tuple(Column(f"{c.name}~{self.fresh}", c.type, c.nullable) for c in like)

    def columns_of(self, relation: str) -> tuple[Column, ...]:
        definition = self.definitions[relation]
        if isinstance(definition, FixpointOf):
            return next(loop.columns for loop in definition.loops if loop.name == relation)
        return definition.columns

    def source(self, relation: str, names: tuple[Column, ...]) -> Source:
        own = self.columns_of(relation)
        self.touched[relation] = None
        return Source(relation, tuple(c.name for c in own), bind_columns(names, own))

    def cut(self, plan: Plan) -> Source:
        """The plan as one relation, under the plan's column names."""
        blocks = self.blocks(plan)
        if len(blocks) == 1 and is_bare(blocks[0]):
            (only,) = blocks
            order = {c.name: i for i, c in enumerate(only.sources[0].columns)}
            picked = [order[t.name] for t in only.outputs if isinstance(t, Column)]
            if picked == list(range(len(order))):
                return self.source(only.sources[0].relation, columns(plan))
        return self.source(self.sum(blocks, columns(plan)), columns(plan))

    def sum(self, blocks: list[Block], like: tuple[Column, ...], kept: bool = False) -> str:
        """The relation that adds these blocks up."""
        definition = sum_of(blocks, like, kept)
        self.define(definition, keys_of_sum(blocks, definition.columns, self.keys))
        return definition.name

    # --- plans as sums of blocks ---------------------------------------------------------------------------

    def blocks(self, plan: Plan) -> list[Block]:
        """The sum of blocks that the plan is; outputs are in the order of its columns."""
        fused = self.fuse(plan)
        if fused is not None:
            return [whole(self.source(fused, columns(plan)))]
        match plan:
            case Scan():
                return [whole(self.scan(plan))]
            case Constant():
                return [whole(self.constant(plan))] if plan.rows else []
            case Select(source, condition):
                return [restrict(b, environment(source, b), condition) for b in self.blocks(source)]
            case Map(source, outputs) if is_border(outputs):
                # A relation of its own: what it computes is computed once, for all that read it.
                made = [
                    replace(b, outputs=tuple(replace_columns(t, environment(source, b)) for _, t in outputs))
                    for b in self.blocks(source)
                ]
                return [whole(self.source(self.sum(made, columns(plan)), columns(plan)))] if made else []
            case Map(source, outputs):
                made = self.blocks(source)
                terms = [t for _, t in outputs]
                if not self.is_recursive(source) and any(grows(terms, environment(source, b)) for b in made):
                    made = [whole(self.cut(source))]
                return [
                    replace(b, outputs=tuple(replace_columns(t, environment(source, b)) for t in terms))
                    for b in made
                ]
            case Join(left, right, condition):
                return self.join(plan, left, right, condition)
            case Semi(left, right, condition, anti):
                return self.semi(left, right, condition, anti)
            case Outer():
                found = self.known.get(id(plan))
                if found is None:
                    found = self.known[id(plan)] = (plan, self.outer(plan))
                return found[1]
            case Unnest(source, collection, elements, outer, ordinal, inline):
                return [
                    explode(b, environment(source, b), collection, elements, outer, ordinal, inline)
                    for b in self.blocks(source)
                ]
            case Union(inputs):
                return [b for p in inputs for b in self.blocks(p)]
            case Fixpoint():
                return [whole(self.fixpoint(plan))]
            case Distinct(source):
                return self.blocks(source)  # transparent, see is_transparent
            case Aggregate() | SetOperation() | Window() | Top():
                raise AssertionError("keyed operators are fused")
            case _:
                assert_never(plan)

    def scan(self, plan: Scan) -> Source:
        if plan.relation in self.loops:
            inner, own, _ = self.loops[plan.relation]
            return Source(inner, tuple(c.name for c in own), bind_columns(plan.outputs, own))
        if plan.relation in self.views:
            self.under[plan.relation] = self.views[plan.relation]
            return self.source(self.views[plan.relation], plan.outputs)
        if plan.relation not in self.definitions:
            members = self.knowledge.fields_of(plan.relation)
            own = tuple(Column(m.name, m.type, m.nullable) for m in members)
            self.define(TableOf(plan.relation, own), self.knowledge.keys_of(plan.relation))
        return self.source(plan.relation, plan.outputs)

    def constant(self, plan: Constant) -> Source:
        own = tuple(Column(f"c{i}", c.type, c.nullable) for i, c in enumerate(plan.outputs))
        name = f"constant~{digest(repr(plan.rows), repr(own))}"
        keys: Keys = ((),) if len(plan.rows) == 1 else ()
        self.define(TableOf(name, own, plan.rows), keys)
        return self.source(name, plan.outputs)

    def join(self, plan: Join, left: Plan, right: Plan, condition: Term) -> list[Block]:
        lefts, rights = self.blocks(left), self.blocks(right)
        if not self.is_recursive(plan):
            if any(len(b.sources) >= MOST_SOURCES for b in lefts):
                lefts = [whole(self.cut(left))]
            if any(len(b.sources) >= MOST_SOURCES for b in rights):
                rights = [whole(self.cut(right))]
        if len(lefts) * len(rights) > MOST_BLOCKS and min(len(lefts), len(rights)) > 1:
            rights = [whole(self.source(self.sum(rights, columns(right)), columns(right)))]
        products = [product(a, b) for a in lefts for b in rights]
        return [restrict(b, environment(plan, b), condition) for b in products]

    def semi(self, left: Plan, right: Plan, condition: Term, anti: bool) -> list[Block]:
        """`A * D[k]`, or `A * (1 - D[k])`."""
        if self.is_recursive(right):
            return self.recursive_semi(left, right, condition, anti)
        lefts = self.blocks(left)
        if not lefts:
            return []
        keys, right, rest = split_equalities(left, right, condition)
        if not rest:
            present = self.cut_distinct(right, tuple(r for _, r in keys), strict=True)
            matches = tuple((i, probe) for i, (probe, _) in enumerate(keys))
        else:
            mentioned = names_of(condition) & {c.name for c in columns(left)}
            used = tuple(c for c in columns(left) if c.name in mentioned)
            present = self.cut_distinct(Join(left, right, condition), used, strict=False)
            matches = tuple(enumerate(used))
        return [guard(b, environment(left, b), present, matches, bool(rest), anti) for b in lefts]

    def cut_distinct(self, plan: Plan, terms: tuple[Term, ...], strict: bool) -> Source:
        """The distinct values of the terms; `strict`: without those that have a NULL, which match nothing."""
        outputs = tuple((Column(f"k{i}", t.type, nullable(t)), t) for i, t in enumerate(terms))
        narrowed = Map(plan, outputs)
        conditions = [call("is_not_null", c) for c, t in outputs if nullable(t)]
        kept = Select(narrowed, conjunction(conditions)) if conditions and strict else narrowed
        relation = self.fuse(Distinct(kept))
        assert relation is not None
        return self.source(relation, self.fresh_columns(columns(narrowed)))

    def outer(self, plan: Outer) -> list[Block]:
        left, right, condition = plan.left, plan.right, plan.condition
        if plan.kind == "left":
            single = self.single_outer(left, right, condition)
            if single is not None:
                return single
        if len(self.blocks(left)) > 1:
            left = self.as_scan(left)
        if plan.kind == "full" and len(self.blocks(right)) > 1:
            right = self.as_scan(right)
        matched = self.blocks(Join(left, right, condition))
        lonely = [
            replace(b, outputs=b.outputs + nulls(columns(right)))
            for b in self.semi(left, right, condition, True)
        ]
        if plan.kind == "full":
            lonely += [
                replace(b, outputs=nulls(columns(left)) + b.outputs)
                for b in self.semi(right, left, condition, True)
            ]
        return matched + lonely

    def as_scan(self, plan: Plan) -> Plan:
        """The plan as a scan of a relation of its own, under the same column names."""
        source = self.cut(plan)
        self.views[source.relation] = source.relation
        return Scan(source.relation, columns(plan), source.fields)

    def single_outer(self, left: Plan, right: Plan, condition: Term) -> list[Block] | None:
        """`A * (B[k] + (1 - B[k]) * NULLs)`, if B is unique on k and nothing but equality is asked."""
        keys, narrowed, rest = split_equalities(left, right, condition)
        if rest or not all(isinstance(r, Column) for _, r in keys) or self.is_recursive(right):
            return None
        probe = self.cut(narrowed)
        where = {c.name: i for i, c in enumerate(columns(narrowed))}
        matched = {probe.fields[where[r.name]] for _, r in keys if isinstance(r, Column)}
        if not any(set(key) <= matched for key in self.keys.get(probe.relation, ())):
            return None
        padded = tuple(Column(c.name, c.type, True) for c in probe.columns)
        result = []
        for b in self.blocks(left):
            names = environment(left, b)
            on = tuple((where[r.name], replace_columns(t, names)) for t, r in keys if isinstance(r, Column))
            source = replace(probe, columns=padded, mode="outer", on=on)
            result.append(replace(b, sources=(*b.sources, source), outputs=(*b.outputs, *padded)))
        return result

    # --- keyed relations -----------------------------------------------------------------------------------

    def fuse(self, plan: Plan) -> str | None:
        """The keyed relation that the plan is, with what is selected and mapped right above it; or None."""
        outputs: tuple[Term, ...] = columns(plan)
        conditions: list[Term] = []
        base = plan
        while True:
            match base:
                case Map(source, mapped):
                    names = {c.name: t for c, t in mapped}
                    if grows([*outputs, *conditions], names):
                        return None
                    outputs = tuple(replace_columns(t, names) for t in outputs)
                    conditions = [replace_columns(t, names) for t in conditions]
                    base = source
                case Select(source, condition):
                    conditions = [*conjuncts(condition), *conditions]
                    base = source
                case Distinct() if self.is_transparent(base):
                    return None
                case Aggregate() | Distinct() | SetOperation():
                    break
                case Window() | Top() if not conditions:
                    break
                case _:
                    return None
        definition, keys = self.define_keyed(base, outputs, conditions)
        self.define(definition, keys)
        return definition.name

    def define_keyed(
        self, base: Plan, outputs: tuple[Term, ...], conditions: list[Term]
    ) -> tuple[Definition, Keys]:
        self.refuse_recursion(base)
        match base:
            case Aggregate(source):
                return aggregate_relation(base, self.blocks(source), outputs, conditions, self.keys)
            case Distinct(source):
                return distinct_relation(base, self.blocks(source), outputs, conditions, self.keys)
            case SetOperation(_, _, left, right):
                return setop_relation(base, self.blocks(left), self.blocks(right), outputs, conditions)
            case Window(source):
                return window_relation(base, self.blocks(source), outputs, self.keys)
            case Top(source):
                return top_relation(base, self.blocks(source), outputs, self.keys)
            case _:
                raise AssertionError(base)

    # --- recursion -----------------------------------------------------------------------------------------

    def fixpoint(self, plan: Fixpoint) -> Source:
        """One definition for all relations of the fixpoint, whichever is read; its text stands in every name."""
        same = number_names(plan)
        assert isinstance(same, Fixpoint)
        mark = digest(repr((same.rules, same.limit)))
        outer_loops = dict(self.loops)
        for i, rule in enumerate(plan.rules):
            own = tuple(Column(f"c{j}", c.type, True) for j, c in enumerate(columns(rule.body)))
            self.loops[rule.name] = (f"loop{i}~inner{mark}", own, rule.distinct)
        loops = []
        for i, rule in enumerate(plan.rules):
            inner, own, _ = self.loops[rule.name]
            feeds = tuple(Feed(b, b.outputs) for b in self.blocks(rule.body))
            loops.append(LoopOf(f"loop{i}~{mark}", own, inner, f"loop{i}~body{mark}", feeds, rule.distinct))
        self.loops = outer_loops
        definition = FixpointOf(f"fixpoint~{mark}", tuple(loops), plan.limit)
        for loop, rule in zip(loops, plan.rules, strict=True):
            keys: Keys = (tuple(c.name for c in loop.columns),) if rule.distinct else ()
            self.touched[loop.name] = None
            if loop.name not in self.definitions:
                self.definitions[loop.name] = definition
                self.keys[loop.name] = keys
        return self.source(loops[[r.name for r in plan.rules].index(plan.result)].name, plan.outputs)

    def is_recursive(self, plan: Plan) -> bool:
        return bool(self.loops) and any(r in self.loops for r in relations(plan))

    def is_transparent(self, plan: Distinct) -> bool:
        """In a recursion on sets, DISTINCT says nothing new."""
        return self.is_recursive(plan) and all(distinct for _, _, distinct in self.loops.values())

    def refuse_recursion(self, base: Plan) -> None:
        if self.is_recursive(base):
            raise UnsupportedError(
                f"{type(base).__name__.lower()} over the recursive relation inside its own definition is not supported",
                hint="recursion must grow by joins, filters, projections and unions; aggregate its result instead",
            )

    def recursive_semi(self, left: Plan, right: Plan, condition: Term, anti: bool) -> list[Block]:
        """In a recursion on sets a semi join is a join: how often a row is derived does not matter."""
        if anti or not all(distinct for _, _, distinct in self.loops.values()):
            raise UnsupportedError(
                "a negated or counted subquery over the recursive relation inside its own definition is not supported",
                hint="use UNION instead of UNION ALL, and negate only relations that are complete",
            )
        return self.blocks(Map(Join(left, right, condition), tuple((c, c) for c in columns(left))))
