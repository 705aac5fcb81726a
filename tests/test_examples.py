"""The demo and the programs that benchmarks compare with do what they say."""

from __future__ import annotations

import pytest

from bench import handwritten, queries, sqlite_triggers, streams, tpch
from bench.stream_bench import database, dated, generated_calls
from examples import orders_demo
from tests.duck import difference


def test_demo_runs_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    orders_demo.main(transactions=350)
    shown = capsys.readouterr().out
    assert shown.count("as recomputed") == len(orders_demo.VIEWS)
    assert "350" in shown and "times as long" in shown


@pytest.mark.parametrize("known", [True, False], ids=["declared", "nothing declared"])
@pytest.mark.parametrize("name", queries.QUERIES)
def test_streams_and_programs_by_hand_agree(name: str, known: bool) -> None:
    stream = streams.of_tables(streams.events(tpch.internal(0.001)), set(queries.TABLES[name]))
    program = handwritten.PROGRAMS[name]()
    for table, sign, row in stream:
        program.handler(table, sign)(row)
    db = database(name, known=known, stored=False)
    for trigger, row in generated_calls(db, stream):
        trigger(row)
    assert not difference(db.view("v").rows(), program.answer())


def test_sqlite_triggers_agree() -> None:
    stream = streams.of_tables(streams.events(tpch.internal(0.001)), set(queries.TABLES["Q3"]))
    by_hand, triggers = handwritten.q3(), sqlite_triggers.Q3()
    for (table, sign, row), (text, values) in zip(stream, triggers.statements(stream), strict=True):
        by_hand.handler(table, sign)(row)
        triggers.connection.execute(text, values)
    expected = by_hand.answer()
    assert expected
    found = dated([(k, handwritten.money(v, 4), d, p) for k, v, d, p in triggers.answer()], expected)
    triggers.connection.close()
    assert not difference(found, expected)
