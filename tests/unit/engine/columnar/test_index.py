"""Indexes over arrays, beside dictionaries."""

from __future__ import annotations

from random import Random

import numpy
import pytest

from evercurrent.engine.columnar.index import Chains, Index
from evercurrent.engine.columnar.table_keys import KeyColumns

RANGES = {"narrow": (0, 3000), "negative": (-500, 500), "wide": (-(1 << 62), 1 << 62)}
RANGES |= {"least": (-(1 << 63), -(1 << 63) + 3000), "greatest": ((1 << 63) - 3000, (1 << 63) - 1)}


def drawn(random: Random, count: int, width: int, bounds: tuple[int, int]) -> list[numpy.ndarray]:
    return [numpy.array([random.randint(*bounds) for _ in range(count)], numpy.int64) for _ in range(width)]


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("bounds", RANGES.values(), ids=RANGES)
def test_index_numbers_keys_as_a_dictionary_does(width: int, bounds: tuple[int, int]) -> None:
    random = Random(width)
    index = Index(width)
    known: dict[tuple[int, ...], int] = {}
    for round_ in range(12):
        words = drawn(random, random.choice((1, 50, 1500)), width, bounds)
        if round_ % 3 == 2:  # a key far away ends the direct layout
            words = [numpy.append(w, 1 << (40 + round_)) for w in words]
        ids, places = index.insert(words)
        keys = list(zip(*(w.tolist() for w in words), strict=True))
        fresh = {keys[p] for p in places.tolist()}
        assert fresh == set(keys) - set(known)
        for key, entry in zip(keys, ids.tolist(), strict=True):
            assert known.setdefault(key, entry) == entry
        assert len(known) == index.size == len(set(known.values()))
        asked = drawn(random, 200, width, bounds)
        asked = [numpy.concatenate([a, w[:50]]) for a, w in zip(asked, words, strict=True)]
        found = index.find(asked).tolist()
        assert found == [known.get(k, -1) for k in zip(*(a.tolist() for a in asked), strict=True)]
        if round_ == 7:
            index.repair()


@pytest.mark.parametrize("keys", [5, 400, 5000])
def test_chains_find_every_entry_of_a_key(keys: int) -> None:
    random = Random(keys)
    chains = Chains(1)
    known: dict[int, list[int]] = {}
    for _ in range(6):
        (words,) = drawn(random, 700, 1, (0, keys))
        start = chains.size
        chains.extend([words])
        for i, key in enumerate(words.tolist()):
            known.setdefault(key, []).append(start + i)
        (asked,) = drawn(random, 40, 1, (0, 2 * keys))
        places, entries = chains.matches([asked])
        pairs = sorted(zip(places.tolist(), entries.tolist(), strict=True))
        assert pairs == [(i, e) for i, k in enumerate(asked.tolist()) for e in known.get(k, [])]


@pytest.mark.parametrize("scattered", [False, True])
def test_an_interrupted_insertion_leaves_no_entry(monkeypatch: pytest.MonkeyPatch, scattered: bool) -> None:
    index = Index(1)
    first = numpy.array([3, 5, 4]) * (10**12 if scattered else 1)
    second = numpy.array([8, 9, 3]) * (10**12 if scattered else 1)
    entries = index.insert([first])[0].tolist()
    claim = Index._claim

    def interrupt(self: Index, words: list[numpy.ndarray], slots: numpy.ndarray) -> None:
        claim(self, words, slots)
        monkeypatch.setattr(Index, "_claim", claim)
        raise KeyboardInterrupt

    monkeypatch.setattr(Index, "_claim", interrupt)
    with pytest.raises(KeyboardInterrupt):
        index.insert([second])
    assert index.find([second]).tolist() == [-1, -1, entries[0]]
    assert sorted(index.insert([second])[0].tolist()) == [entries[0], 3, 4]
    assert index.find([first]).tolist() == entries


def test_an_interrupt_before_the_numbers_have_grown_loses_no_key() -> None:
    key = KeyColumns((0,), -1)
    many = numpy.arange(5000)
    key.index.insert([many])  # as if it was stopped behind this
    assert key.find([many]).tolist() == [-1] * 5000
