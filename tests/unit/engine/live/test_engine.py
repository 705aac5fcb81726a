"""Transactions that fail, are interrupted or undone; installing over data; sizes and source."""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Iterable

import pytest

from evercurrent.data.types import BIGINT, DOUBLE, INT, STRING
from evercurrent.data.zset import Row, ZSet
from evercurrent.delta.program import (
    WEIGHT,
    Accumulator,
    Amount,
    Finalize,
    Index,
    Input,
    Keyed,
    Linear,
    Lookup,
    Program,
    Ranked,
    Rule,
    State,
    Where,
    Windowed,
)
from evercurrent.engine.live.engine import LiveEngine
from evercurrent.engine.live.runtime import best
from evercurrent.errors import EvaluationError, InternalError
from evercurrent.term.aggregates import aggregate
from evercurrent.term.build import call, lit
from evercurrent.term.nodes import RUNNING, Call, Column, SortKey, WindowFunction

HOSTILE = '\'); import os\n""" # \\ o\'orders \u2028 é'
G, X = Column(HOSTILE, STRING), Column("x\n", INT)
W = Column(WEIGHT, BIGINT, False)
TOTAL, LEAST, MEAN = (Column(n, t) for n, t in (("total", BIGINT), ("least", INT), ("mean", DOUBLE)))


def grouped(name: str = "view") -> Program:
    """g -> sum(x), min(x), and 100 / sum(x) if the weight is even: a group can fail."""
    known = call("is_not_null", X)
    state = State(
        "groups\n" + HOSTILE,
        (G,),
        accumulators=(
            Accumulator("total", BIGINT, "sum"),
            Accumulator("least", INT, "aggregate", aggregate("min", [X])),
            Accumulator("floats", DOUBLE, "sum"),
        ),
    )
    amounts = (
        Amount((call("ring_mul", W, X),), None, known),
        Amount((X,), W),
        Amount((Call("div", (lit(1.0, DOUBLE), lit(3.0, DOUBLE)), DOUBLE),), W),
    )
    rule = Rule(HOSTILE, (G, X), W, (), state.name, (G,), W, (), amounts)
    total = Column("total", BIGINT, False)
    outputs = (G, total, Column("least", INT), call("idiv", lit(100, BIGINT), total))
    keyed = Keyed(name, (G, TOTAL, LEAST, MEAN), state.name, (HOSTILE,), Finalize(outputs, lit(1, BIGINT)))
    return Program((Input(HOSTILE, (G, X)), keyed), (state,), {HOSTILE: (rule,)}, {name: name})


def rows(engine: LiveEngine, relation: str = "view") -> ZSet:
    return ZSet(engine.rows(relation))


def installed(program: Program, given: Iterable[tuple[Row, int]] = ()) -> LiveEngine:
    engine = LiveEngine()
    engine.install(program, lambda name: given)
    return engine


def test_names_and_values_are_data() -> None:
    engine = installed(grouped())
    engine.apply({HOSTILE: [((HOSTILE, 4), 1), ((None, 5), 1)]}, {"view"})
    assert rows(engine) == ZSet.of([(HOSTILE, 4, 4, 25), (None, 5, 5, 20)])
    assert all(
        "import os" not in line or line.lstrip().startswith("#") for line in engine.source().splitlines()
    )


def test_a_failing_output_undoes_the_transaction() -> None:
    engine = installed(grouped())
    engine.apply({HOSTILE: [(("a", 4), 1), (("b", 5), 1)]})
    before = rows(engine)
    with pytest.raises(EvaluationError):
        engine.apply({HOSTILE: [(("b", -1), 1), (("c", 7), 1), (("a", -4), 1)]}, {"view"})
    assert rows(engine) == before
    told = engine.apply({HOSTILE: [(("a", 4), -1)]}, {"view"})
    assert told["view"] == ZSet([(("a", 4, 4, 25), -1)])


def test_a_failing_output_is_found_though_nobody_looks() -> None:
    engine = installed(grouped())
    with pytest.raises(EvaluationError):
        engine.apply({HOSTILE: [(("a", 0), 1)]})
    assert rows(engine) == ZSet()


def test_an_interrupt_leaves_everything_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = installed(grouped())
    engine.apply({HOSTILE: [(("a", 4), 1), (("a", 2), 1)]})
    before = rows(engine)
    stop = {"at": 0}
    enter = best.Best._enter

    def interrupted(self: best.Best, args: Row) -> None:
        stop["at"] -= 1
        if stop["at"] == 0:
            raise KeyboardInterrupt
        enter(self, args)

    monkeypatch.setattr(best.Best, "_enter", interrupted)
    for at in (1, 2, 3):
        stop["at"] = at
        with pytest.raises(KeyboardInterrupt):
            engine.apply({HOSTILE: [(("b", 9), 1), (("a", 1), 1), (("a", 3), 1)]}, {"view"})
        stop["at"] = -1
        assert rows(engine) == before
    engine.apply({HOSTILE: [(("a", 2), -1)]})
    assert rows(engine) == ZSet.of([("a", 4, 4, 25)])


def test_undo_and_commit() -> None:
    engine = installed(grouped())
    engine.apply({HOSTILE: [(("a", 4), 2)]})
    engine.undo()
    assert rows(engine) == ZSet()
    engine.apply({HOSTILE: [(("a", 4), 2)]})
    engine.commit()
    engine.undo()
    assert rows(engine) == ZSet.of([("a", 8, 4, 12)])


def test_deltas_are_consolidated_and_watched_inputs_told() -> None:
    engine = installed(grouped())
    told = engine.apply({HOSTILE: [(("a", 4), 1), (("a", 4), -1), (("b", 1), 1)]}, {HOSTILE, "view"})
    assert told == {HOSTILE: ZSet.of([("b", 1)]), "view": ZSet.of([("b", 1, 1, 100)])}
    assert engine.apply({HOSTILE: []}, {"view"}) == {"view": ZSet()}
    assert engine.apply({}, {"view"}) == {"view": ZSet()}


def test_a_change_that_leaves_the_output_is_no_change() -> None:
    engine = installed(grouped())
    engine.apply({HOSTILE: [(("a", 2), 1)]})
    told = engine.apply({HOSTILE: [(("a", 5), 1), (("a", -5), 1), (("a", None), 1)]}, {"view"})
    assert told["view"] == ZSet([(("a", 2, 2, 50), -1), (("a", 2, -5, 50), 1)])
    told = engine.apply({HOSTILE: [(("a", None), 1)]}, {"view"})
    assert told["view"] == ZSet()


def test_float_sums_leave_no_trace() -> None:
    engine = installed(grouped())
    many = [(("a", i + 1), 1) for i in range(50)]
    engine.apply({HOSTILE: many})
    engine.apply({HOSTILE: [(row, -w) for row, w in many]})
    assert engine.sizes()["groups\n" + HOSTILE][0] == 0


# --- installing --------------------------------------------------------------------------------------------


def test_installing_fills_from_contents_and_keeps_what_stays() -> None:
    data = [(("a", 4), 1), (("b", 5), 2)]
    engine = installed(grouped(), data)
    assert rows(engine) == ZSet.of([("a", 4, 4, 25), ("b", 10, 5, 10)])
    storage = engine.core.storages["groups\n" + HOSTILE]
    engine.install(grouped("renamed"), lambda name: pytest.fail("nothing is new"))
    assert engine.core.storages["groups\n" + HOSTILE] is storage
    assert rows(engine, "renamed") == ZSet.of([("a", 4, 4, 25), ("b", 10, 5, 10)])
    engine.install(Program((), ()), lambda name: ())
    assert engine.sizes() == {}


def test_a_filling_that_fails_changes_nothing() -> None:
    engine = installed(grouped(), [(("a", 4), 1)])
    program = grouped()
    other = State("other", (X,))
    rule = Rule(
        HOSTILE,
        (G, X),
        W,
        (Where(call("gt", call("idiv", lit(1, BIGINT), X), lit(0, BIGINT))),),
        "other",
        (X,),
        W,
    )
    wider = Program(
        program.relations, (*program.states, other), {HOSTILE: (*program.triggers[HOSTILE], rule)}
    )
    with pytest.raises(EvaluationError):
        engine.install(wider, lambda name: [(("a", 0), 1)])
    assert engine.program.states == program.states
    assert rows(engine) == ZSet.of([("a", 4, 4, 25)])
    engine.apply({HOSTILE: [(("a", 1), 1)]})
    assert rows(engine) == ZSet.of([("a", 5, 1, 20)])


def test_a_new_index_is_built_from_the_entries() -> None:
    a, b = Column("a", INT), Column("b", INT)
    fill = Rule("t", (a, b), W, (), "rows", (a, b), W)
    first = Program((Input("t", (a, b)),), (State("rows", (a, b), indexes=(Index(("a",)),)),), {"t": (fill,)})
    engine = installed(first)
    engine.apply({"t": [((1, 2), 1), ((3, 2), 2), ((1, 5), 1)]})
    found = Lookup("rows", (("b", a),), (("a", Column("c", INT)), (WEIGHT, Column("v", BIGINT, False))))
    many = call("ring_mul", W, Column("v", BIGINT, False))
    probe = Rule("u", (a,), W, (found,), "out", (Column("c", INT),), many)
    out = Rule("out", (a,), W, (), "out.rows", (a,), W)
    second = Program(
        (Input("t", (a, b)), Input("u", (a,)), Linear("out", (a,), "out.rows")),
        (
            State("rows", (a, b), indexes=(Index(("a",)), Index(("b",)))),
            State("out.rows", (a,)),
        ),
        {"t": (fill,), "u": (probe,), "out": (out,)},
    )
    engine.install(second, lambda name: ())
    engine.apply({"u": [((2,), 1)]})
    assert rows(engine, "out") == ZSet([((1,), 1), ((3,), 2)])


def test_constants_are_there_from_the_start() -> None:
    a = Column("a", INT)
    rule = Rule("one", (a,), W, (), "out", (a,), W)
    kept = Rule("out", (a,), W, (), "out.rows", (a,), W)
    program = Program(
        (Input("one", (a,), rows=((1,), (2,), (2,))), Linear("out", (a,), "out.rows")),
        (State("out.rows", (a,)),),
        {"one": (rule,), "out": (kept,)},
    )
    assert rows(installed(program), "out") == ZSet([((1,), 1), ((2,), 2)])


# --- scalar aggregates, groups in order --------------------------------------------------------------------


def test_a_scalar_aggregate_always_has_its_row() -> None:
    a, n = Column("a", INT), Column("n", BIGINT, False)
    count = State("count", (), accumulators=())
    into = Rule("t", (a,), W, (), "count", (), W)
    keyed = Keyed(
        "n", (n,), "count", (), Finalize((Column(WEIGHT, BIGINT, False),), lit(1, BIGINT), scalar=True)
    )
    behind = Rule("n", (n,), W, (), "seen", (n,), W)
    program = Program((Input("t", (a,)), keyed), (count, State("seen", (n,))), {"t": (into,), "n": (behind,)})
    engine = installed(program)
    assert rows(engine, "n") == ZSet.of([(0,)])
    assert dict(engine.core.storages["seen"].entries()) == {(0,): 1}
    assert engine.apply({"t": [((5,), 2)]}, {"n"})["n"] == ZSet([((0,), -1), ((2,), 1)])
    assert engine.apply({"t": [((5,), -2)]}, {"n"})["n"] == ZSet([((2,), -1), ((0,), 1)])
    engine.undo()
    engine.trigger("t", 1)((6,))
    assert rows(engine, "n") == ZSet.of([(3,)])  # whoever reads makes its one row follow
    assert dict(engine.core.storages["seen"].entries()) == {(3,): 1}


def ordered(function: Ranked | Windowed, unique: bool) -> Program:
    g, x = Column("g", INT), Column("x", INT)
    state = State("rows", (g, x), unique=unique)
    rule = Rule("t", (g, x), W, (), "rows", (g, x), W)
    keyed = Keyed("top", function.outputs, "rows", ("g",), function)
    return Program((Input("t", (g, x)), keyed), (state,), {"t": (rule,)}, {"top": "top"})


def test_top_rows_follow_at_the_boundary() -> None:
    g, x = Column("g", INT), Column("x", INT)
    engine = installed(ordered(Ranked((SortKey(x, True, False),), 2, 1, (g, x)), unique=False))
    engine.apply({"t": [((1, i), 1) for i in (10, 20, 30, 40)] + [((2, None), 1), ((2, 7), 3)]})
    assert rows(engine, "top") == ZSet([((1, 30), 1), ((1, 20), 1), ((2, 7), 2)])
    told = engine.apply({"t": [((1, 40), -1), ((2, 7), -2)]}, {"top"})["top"]
    assert told == ZSet([((1, 30), -1), ((1, 10), 1), ((2, 7), -2), ((2, None), 1)])
    engine.undo()
    assert rows(engine, "top") == ZSet([((1, 30), 1), ((1, 20), 1), ((2, 7), 2)])


def test_windows_are_computed_for_touched_groups() -> None:
    g, x = Column("g", INT), Column("x", INT)
    running = WindowFunction("sum", (x,), BIGINT, (g,), (SortKey(x),), RUNNING)
    function = Windowed(((Column("s", BIGINT), running),), (g, x, Column("s", BIGINT)))
    engine = installed(ordered(function, unique=True))
    engine.apply({"t": [((1, 10), 1), ((1, 20), 1), ((2, 5), 1)]})
    assert rows(engine, "top") == ZSet.of([(1, 10, 10), (1, 20, 30), (2, 5, 5)])
    told = engine.apply({"t": [((1, 15), 1)]}, {"top"})["top"]
    assert told == ZSet([((1, 15, 25), 1), ((1, 20, 30), -1), ((1, 20, 45), 1)])


# --- reading -----------------------------------------------------------------------------------------------


def test_rows_that_are_not_kept_are_refused() -> None:
    with pytest.raises(InternalError):
        installed(grouped()).rows(HOSTILE)


def test_sizes_tell_entries_and_bytes() -> None:
    engine = installed(grouped())
    engine.apply({HOSTILE: [((str(i), i + 1), 1) for i in range(1000)]})
    ((entries, size),) = engine.sizes().values()
    assert entries == 1000
    assert 100_000 < size < 1_000_000


def test_source_is_in_tracebacks() -> None:
    engine = installed(grouped())
    with pytest.raises(EvaluationError) as caught:
        engine.apply({HOSTILE: [(("a", 0), 1)]}, {"view"})
    shown = "".join(traceback.format_tb(caught.tb))
    assert "output_2(key, p)" in shown
    files = [f for f in engine.core.files]
    assert all(linecache.getlines(f) for f in files)
    engine.install(Program((), ()), lambda name: ())
    assert not any(f in linecache.cache for f in files)


def test_source_of_one_relation() -> None:
    engine = installed(grouped())
    assert "def insert_1(r):" in engine.source(HOSTILE)
    assert "def output_2(k, p):" in engine.source("view")
    assert "def insert_1" not in engine.source("view")


def test_parents_come_first_and_go_last() -> None:
    k, v = Column("k", INT, False), Column("v", INT)
    parent = State("parents", (k,), (v,), unique=True, indexes=(Index(("k",), True),))
    keep = Rule("p", (k, v), W, (), "parents", (k,), W, (v,))
    join = Lookup("parents", (("k", k),), (("v", v),))
    out = Rule("c", (k,), W, (join,), "out", (k, v), W)
    kept = Rule("out", (k, v), W, (), "out.rows", (k, v), W)
    program = Program(
        (Input("p", (k, v)), Input("c", (k,)), Linear("out", (k, v), "out.rows")),
        (parent, State("out.rows", (k, v))),
        {"p": (keep,), "c": (out,), "out": (kept,)},
    )
    engine = installed(program)
    assert engine.apply({"c": [((1,), 1)], "p": [((1, 5), 1)]}, {"out"})["out"] == ZSet.of([(1, 5)])
    both = engine.apply({"p": [((1, 5), -1), ((1, 6), 1)], "c": [((1,), -1), ((1,), 1)]}, {"out"})
    assert both["out"] == ZSet()  # the child's changes cancel: this is what an assumption forbids
    engine.undo()
    gone = engine.apply({"p": [((1, 5), -1)], "c": [((1,), -1)]}, {"out"})["out"]
    assert gone == ZSet([((1, 5), -1)])
    assert [len(s) for s in engine.core.storages.values()] == [0, 0]


def test_inputs_that_nothing_depends_on_move_nothing() -> None:
    engine = installed(grouped())
    engine.trigger("elsewhere", 1)((1, 2))
    assert engine.apply({"elsewhere": [((1,), 1)]}, {"view"}) == {"view": ZSet()}
