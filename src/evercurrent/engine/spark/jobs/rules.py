"""Rules to DataFrames.

Law. For a delta and states as they are, `run_rule` returns the rows that the rule adds: the steps from left to right, each
a filter, a projection, a join with the entries of a state, or an explosion. Law L10 (deletions first) needs no order here:
a delta is added as a whole, so what a key determines is determined before it and after it.

    delta of orders                 (id 4, customer 7, total 2.00, w +1)
    look up customers by id         customer 7 is Ann
    adds to `spend by name`         (Ann), sum 2.00, w +1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from pyspark.sql import Column as SparkColumn
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DecimalType

from evercurrent.data.types import Integer, Interval, Map, Struct, Type
from evercurrent.delta.program import Amount, Explode, Let, Lookup, Rule, State, Step, Where
from evercurrent.engine.spark.jobs.aggregates import read_bags
from evercurrent.engine.spark.storage.file_schema import Shape, W
from evercurrent.engine.spark.storage.segments import BROADCAST_ROWS
from evercurrent.engine.spark.storage.store_names import StoreName
from evercurrent.engine.spark.storage.stored_state import Contents
from evercurrent.engine.spark.translate.expressions import column, translate_into, translate_typed
from evercurrent.engine.spark.translate.intervals import units_of
from evercurrent.engine.spark.translate.types import WEIGHT_TYPE, find_sum_type, spark_type
from evercurrent.term.nodes import Column, Term

Names = dict[str, str]
"""What the program calls a column -> what it is called in the frame at hand."""


@dataclass
class States:
    """The states of a run, by name; bags by the name of their store."""

    shapes: Mapping[str, Shape]
    contents: Mapping[StoreName, Contents]
    fresh: Callable[[], str]
    bulk: bool = False  # many rows run through the states: how they are joined is for Spark to say


@dataclass
class Flow:
    """A frame on its way through the steps of a rule."""

    frame: DataFrame
    names: Names
    states: States
    broadcast: bool
    nothing: bool = False
    used: list[str] = field(default_factory=list)

    def scope(self) -> dict[str, SparkColumn]:
        return {name: F.col(own) for name, own in self.names.items()}

    def bind(self, c: Column) -> str:
        own = self.states.fresh()
        self.names = {**self.names, c.name: own}
        return own


def run_rule(rule: Rule, delta: DataFrame, states: States, broadcast: bool) -> Flow | None:
    """The rows after the last step, or None if there can be none."""
    names: Names = {}
    selected = []
    for i, c in enumerate(rule.binds):
        names[c.name] = states.fresh()
        selected.append(F.col(f"c{i}").alias(names[c.name]))
    names[rule.weight.name] = states.fresh()
    selected.append(F.col(W).alias(names[rule.weight.name]))
    flow = Flow(delta.select(*selected), names, states, broadcast)
    for step in rule.steps:
        take(flow, step)
        if flow.nothing:
            return None
    return flow


def take(flow: Flow, step: Step) -> None:
    match step:
        case Where(condition):
            flow.frame = flow.frame.where(column(condition, flow.scope()))
        case Let(c, term):
            value = translate_typed(term, flow.scope())
            own = flow.bind(c)
            flow.frame = flow.frame.withColumn(own, value)
        case Explode():
            explode(flow, step)
        case Lookup():
            look_up(flow, step)
        case _:
            assert_never(step)


def explode(flow: Flow, step: Explode) -> None:
    collection = column(step.collection, flow.scope())
    position, item, value = (flow.states.fresh() for _ in range(3))
    generate = F.posexplode_outer if step.outer else F.posexplode
    a_map = isinstance(step.collection.type, Map)
    made = generate(collection).alias(position, item, *([value] if a_map else []))
    flow.frame = flow.frame.select("*", made)
    elements = list(step.elements)
    if step.ordinal:
        own = flow.bind(elements.pop(0))
        flow.frame = flow.frame.withColumnRenamed(position, own)
    if a_map:
        for c, source in zip(elements, (item, value), strict=True):
            flow.names = {**flow.names, c.name: source}
    elif step.inline:
        struct = step.collection.type.element  # type: ignore[union-attr]
        assert isinstance(struct, Struct)
        parts = []
        for c, member in zip(elements, struct.members, strict=True):
            parts.append(F.col(item).getField(member.name).alias(flow.bind(c)))
        flow.frame = flow.frame.select("*", *parts)
    else:
        flow.names = {**flow.names, elements[0].name: item}


def look_up(flow: Flow, step: Lookup) -> None:
    shape = flow.states.shapes[step.state]
    contents = flow.states.contents[shape.store]
    if contents.empty:
        miss(flow, step)
        return
    stored = shape.list_stored_names()
    wanted = {name for name, _ in step.binds}
    entries = contents.entries()
    aggregates = [i for i in shape.bags if shape.state.accumulators[i].name in wanted]
    if aggregates:
        entries = read_bags(entries, shape, flow.states.contents, aggregates)
        stored |= {shape.state.accumulators[i].name: f"b{i}" for i in aggregates}
    scope = flow.scope()
    keys = []
    selected = []
    for name, term in step.match:
        own = flow.states.fresh()
        selected.append(F.col(stored[name]).alias(own))
        probe = probe_of(term, state_type(shape.state, name), scope)
        keys.append(probe.eqNullSafe(F.col(own)) if name in step.null_safe else probe == F.col(own))
    if not (step.absent or step.present):
        for name, c in step.binds:
            selected.append(F.col(stored[name]).alias(flow.bind(c)))
    if not selected:
        selected.append(F.lit(1).alias(flow.states.fresh()))
    right = entries.select(*selected)
    if keys and not flow.broadcast and contents.most_rows > BROADCAST_ROWS:
        # Spark would go by the bytes of the files: in a few megabytes lie millions of keys, too many for one process.
        right = right.hint("merge")
    left = F.broadcast(flow.frame) if flow.broadcast else flow.frame
    on: SparkColumn | None = None
    for k in keys:
        on = k if on is None else on & k
    match step.absent, step.present, step.outer:
        case True, _, _:
            flow.frame = flow.frame.join(right, F.lit(True) if on is None else on, "left_anti")
        case _, True, _:
            flow.frame = flow.frame.join(right, F.lit(True) if on is None else on, "left_semi")
        case _, _, True:
            flow.frame = flow.frame.join(right, F.lit(True) if on is None else on, "left")
        case _ if on is None:
            flow.frame = left.crossJoin(right)
        case _:
            flow.frame = left.join(right, on, "inner")
    if flow.states.bulk or fans_out(step, shape.state):
        flow.broadcast = False  # a few rows that have found others may be many


def fans_out(step: Lookup, state: State) -> bool:
    """Whether a row that is looked up may become several."""
    if step.absent or step.present or step.outer:
        return False
    by = {name for name, _ in step.match}
    return not any(i.single and set(i.columns) <= by for i in state.indexes)


def probe_of(term: Term, wanted: Type, scope: Mapping[str, SparkColumn]) -> SparkColumn:
    """What is looked for in a column of a state. A wider integer stays one: it may not fit, and then nothing is found."""
    found = column(term, scope)
    if isinstance(wanted, Integer) and isinstance(term.type, Integer) and term.type.bits > wanted.bits:
        return found
    return found.cast(spark_type(wanted))


def state_type(state: State, name: str) -> Type:
    return next(c.type for c in (*state.columns, *state.dependents) if c.name == name)


def miss(flow: Flow, step: Lookup) -> None:
    """A lookup in a state that is empty."""
    if step.absent:
        return
    if step.present or not step.outer:
        flow.nothing = True
        return
    for _, c in step.binds:
        own = flow.bind(c)
        flow.frame = flow.frame.withColumn(own, F.lit(None).cast(spark_type(c.type)))


# --- what a rule adds --------------------------------------------------------------------------------------


def rows_of(rule: Rule, flow: Flow, into: Sequence[Column]) -> DataFrame:
    """What it adds to a linear relation, whose columns are `into`."""
    scope = flow.scope()
    pairs = zip(rule.columns, into, strict=True)
    columns = [translate_into(t, c.type, scope).alias(f"c{i}") for i, (t, c) in enumerate(pairs)]
    return flow.frame.select(*columns, column(rule.count, scope).cast("bigint").alias(W))


def entries_of(rule: Rule, flow: Flow, shape: Shape) -> DataFrame:
    """What it adds to the entries of a state."""
    scope = flow.scope()
    parts = key_parts(rule, scope, shape)
    own = zip(rule.dependents, shape.state.dependents, shape.dependents, strict=True)
    parts += [translate_into(t, c.type, scope).alias(n) for t, c, n in own]
    parts.append(column(rule.count, scope).cast("bigint").alias(W))
    for i, name in shape.sums.items():
        a, target = rule.amounts[i], find_sum_type(shape.state.accumulators[i].type)
        # Weights count rows: their sums stay in the range of BIGINT, in which they are quicker to add up.
        counts = a.args[0] == rule.weight and isinstance(target, DecimalType) and target.scale == 0
        parts.append(amount(a, scope, WEIGHT_TYPE if counts else target).alias(name))
    return flow.frame.select(*parts)


def key_parts(rule: Rule, scope: Mapping[str, SparkColumn], shape: Shape) -> list[SparkColumn]:
    """The columns of a state by which its entries are told apart."""
    own = zip(rule.columns, shape.state.columns, shape.columns, strict=True)
    return [translate_into(t, c.type, scope).alias(n) for t, c, n in own]


def amount(a: Amount, scope: Mapping[str, SparkColumn], target: object) -> SparkColumn:
    taken, kind = column(a.args[0], scope), a.args[0].type
    value = (units_of(kind, taken) if isinstance(kind, Interval) else taken).cast(target)  # type: ignore[arg-type]
    if a.where is None:
        return value
    return F.when(column(a.where, scope), value).otherwise(F.lit(0).cast(target))  # type: ignore[arg-type]


def bag_of(rule: Rule, flow: Flow, shape: Shape, i: int) -> DataFrame:
    """What it adds to the bag of an accumulator."""
    scope = flow.scope()
    a = rule.amounts[i]
    frame = flow.frame if a.where is None else flow.frame.where(column(a.where, scope))
    parts = key_parts(rule, scope, shape)
    types = shape.bag_types(i)
    parts += [column(t, scope).cast(spark_type(types[j])).alias(f"a{j}") for j, t in enumerate(a.args)]
    assert a.weight is not None
    parts.append(column(a.weight, scope).cast("bigint").alias(W))
    return frame.select(*parts)
