"""Which keys are among others, against sets; tables of many chunks."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy
import pyarrow
import pytest

from evercurrent.data.types import BIGINT, DOUBLE, STRING
from evercurrent.engine.columnar.arrow import check_column
from evercurrent.engine.columnar.cancelling import common_places, split_changes
from evercurrent.engine.columnar.given import GivenRows
from evercurrent.engine.columnar.table import MOST_ALIKE, ColumnTable
from evercurrent.engine.columnar.vectors import Pools, Unfit


@pytest.mark.parametrize("seed", range(60))
def test_common_places_are_those_of_sets(seed: int) -> None:
    draw = Random(seed)
    width, span = draw.choice((1, 2, 3)), draw.choice((3, 50, 10**6, 2**62))

    def keys() -> list[tuple[int, ...]]:
        return [
            tuple(draw.randint(-span, span) for _ in range(width)) for _ in range(draw.choice((0, 1, 40)))
        ]

    mine, others = keys(), keys()
    others += draw.sample(mine, len(mine) // 3)

    def words(rows: list[tuple[int, ...]]) -> list[numpy.ndarray]:
        return [numpy.array([r[i] for r in rows], numpy.int64) for i in range(width)]

    found = common_places(words(mine), words(others)).tolist()
    assert found == [i for i, key in enumerate(mine) if key in set(others)]


def rows(ids: list[int], texts: list[str] | None = None) -> GivenRows:
    texts = [f"t{i}" for i in ids] if texts is None else texts
    return GivenRows([BIGINT, STRING], [pyarrow.array(ids, pyarrow.int64()), pyarrow.array(texts)], len(ids))


@pytest.mark.parametrize("key", [(0,), (0, 1), (0, 1, 2)])
@pytest.mark.parametrize("seed", range(20))
def test_rows_that_are_inserted_and_deleted_cancel(seed: int, key: tuple[int, ...]) -> None:
    draw = Random(seed)
    drawn = [
        (draw.choice((None, 1, 2, 3)), draw.choice((None, "a", "b")), draw.choice((None, 0.5, 7.0)))
        for _ in range(draw.choice((1, 5, 60)))
    ]
    signs = [draw.random() < 0.6 for _ in drawn]
    arrays = [
        pyarrow.array([r[i] for r in drawn], t)
        for i, t in enumerate((pyarrow.int64(), pyarrow.string(), pyarrow.float64()))
    ]
    given = GivenRows([BIGINT, STRING, DOUBLE], arrays, len(drawn))

    def count(part: GivenRows) -> Counter[tuple[object, ...]]:
        return Counter(zip(*(column.to_pylist() for column in part.table().columns), strict=True))

    inserted, deleted = split_changes(given, key, numpy.array(signs))
    new, gone = (Counter(r for r, s in zip(drawn, signs, strict=True) if s is sign) for sign in (True, False))
    assert (count(inserted), count(deleted)) == (new - gone, gone - new)
    assert [inserted.has_nulls(i) for i in range(3)] == [
        any(r[i] is None for r in new - gone) for i in range(3)
    ]


@pytest.mark.parametrize("seed", range(10))
def test_updated_rows_cancel_where_they_are_equal(seed: int) -> None:
    draw = Random(seed)
    ids = draw.sample(range(1000), 300)

    def value(values: tuple[object, ...]) -> list[object]:
        return [draw.choice(values) for _ in range(600)]

    texts, floats = value((None, "a", "b")), value((None, 0.5, float("nan")))
    signs = [True] * 300 + [False] * 300
    places = list(range(600))
    draw.shuffle(places)
    drawn = [((ids + ids[::-1])[i], texts[i], floats[i], signs[i]) for i in places]
    types = (pyarrow.int64(), pyarrow.string(), pyarrow.float64())
    arrays = [pyarrow.array([r[i] for r in drawn], t) for i, t in enumerate(types)]
    inserted, deleted = split_changes(
        GivenRows([BIGINT, STRING, DOUBLE], arrays, 600), (0,), numpy.array([r[3] for r in drawn])
    )

    def say(rows: list[tuple[object, ...]]) -> Counter[str]:
        return Counter(repr(row[:3]) for row in rows)

    def count(part: GivenRows) -> Counter[str]:
        return say(list(zip(*(column.to_pylist() for column in part.table().columns), strict=True)))

    new, gone = say([r for r in drawn if r[3]]), say([r for r in drawn if not r[3]])
    assert sum((new & gone).values()) > 20
    assert (count(inserted), count(deleted)) == (new - gone, gone - new)


def test_a_column_is_the_same_before_and_after_it_was_an_arrow_table() -> None:
    pools = Pools()
    whole = rows([5, 6, 7, 8])
    some, others = whole.choose(numpy.array([3, 1])), whole.choose(numpy.array([3, 1]))
    assert others.table().column("c1").to_pylist() == ["t8", "t6"]
    for part in (some, others):
        assert part.vector(0, pools).values.tolist() == [8, 6]
        assert part.vector(1, pools).values.tolist() == [0, 1]
    assert some.array(1).to_pylist() == some.table().column("c1").to_pylist() == ["t8", "t6"]


def test_rows_are_found_whatever_the_number_of_batches() -> None:
    table = ColumnTable([BIGINT, STRING], [(0,)], [], Pools())
    none = numpy.empty(0, numpy.int64)
    for batch in range(40):
        change = table.change(rows(list(range(10 * batch, 10 * batch + 10))), none)
        assert change is not None
        change.apply()
        if batch % 5 == 4:  # what is undone leaves no row
            change.undo()
            change.apply()
    assert len(table.chunks) < 2 * MOST_ALIKE
    wanted = [399, 0, 17, 250, 3]
    assert table.find_rows(rows(wanted)).tolist() == wanted
    other = rows(wanted, ["t399", "t0", "t17", "t250", "other"])
    with pytest.raises(Unfit):
        table.find_rows(other)
    with pytest.raises(Unfit):
        table.find_rows(rows([3, 3]))


def test_rows_that_are_long_gone_are_dropped() -> None:
    table = ColumnTable([BIGINT, STRING], [(0,), None, (1,)], [(0,)], Pools())
    for batch in range(8):
        ids = list(range(5000 * batch, 5000 * batch + 5000))
        whole = rows([*ids, *(i - 5000 for i in ids)] if batch else ids)
        inserted, gone = whole.choose(numpy.arange(5000)), whole.choose(numpy.arange(5000, whole.num_rows))
        table = table.without_dead()
        change = table.change(inserted, table.find_rows(gone) if batch else numpy.arange(0), gone)
        assert change is not None
        change.apply()
        change.undo()
        change.apply()
        assert len(table) == 5000
        assert [row for row, _ in table.rows().items()] == [(i, f"t{i}") for i in ids]
    assert table.size <= 30_000
    assert table.find_rows(rows([35_001, 39_999])).tolist() == sorted(table.find_rows(rows([35_001, 39_999])))
    with pytest.raises(Unfit):
        table.find_rows(rows([29_999]))


TEXTS = {
    "ascii": (["ab", None, "", "c"], True),
    "letters": (["ä", "b"], True),
    "no text": ([b"a", b"\xff"], False),
    "half a letter": ([b"\xc3", b"\xa4"], False),
}


@pytest.mark.parametrize(("texts", "sound"), TEXTS.values(), ids=TEXTS)
def test_only_texts_are_taken_as_texts(texts: list[object], sound: bool) -> None:
    column = pyarrow.array(texts) if sound else pyarrow.array(texts, pyarrow.binary()).view(pyarrow.string())
    for part in (column, column.slice(1)):
        if sound:
            assert check_column(STRING, part).equals(part)
        else:
            with pytest.raises(Unfit):
                check_column(STRING, part)
