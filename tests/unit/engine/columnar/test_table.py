"""Tables that are columns: what they keep of rows that are no longer there."""

from __future__ import annotations

import numpy
import pyarrow
import pytest

import evercurrent as ec
from evercurrent.engine.columnar import table
from evercurrent.engine.columnar.table_keys import KeyColumns

SCHEMA = """
    CREATE TABLE p (code STRING PRIMARY KEY);
    CREATE TABLE c (id BIGINT PRIMARY KEY, p STRING REFERENCES p (code), rank INT UNIQUE);
    CREATE VIEW v AS SELECT p, count(*) AS n FROM c GROUP BY p;
"""


def test_keys_of_rows_that_are_gone_are_dropped() -> None:
    key = KeyColumns((0, 1), -1)
    ids = key.insert([numpy.arange(5000), numpy.arange(5000) % 7])
    key.numbers[ids[::10]] = numpy.arange(500)
    made = key.drop_unused()
    assert made.index.size == 500
    found = made.find([numpy.arange(5000), numpy.arange(5000) % 7])
    assert found[::10].tolist() == list(range(500))
    assert (found >= 0).sum() == 500


def test_key_indexes_stay_as_small_as_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every batch replaces all rows by others, whose keys, references and unique values are new."""
    monkeypatch.setattr(table, "MOST_DEAD", 1000)
    db = ec.connect()
    db.execute(SCHEMA)
    size = 2000

    def rows(start: int) -> tuple[pyarrow.Table, pyarrow.Table]:
        ids = numpy.arange(start, start + size)
        codes = pyarrow.array([f"k{i}" for i in ids])
        ranks = pyarrow.array(ids.astype(numpy.int32))
        return pyarrow.table({"code": codes}), pyarrow.table({"id": ids, "p": codes, "rank": ranks})

    def feed(new: pyarrow.Table, old: pyarrow.Table | None) -> pyarrow.Table:
        parts = [new.append_column("_change_type", pyarrow.array(["insert"] * size))]
        if old is not None:
            parts.append(old.append_column("_change_type", pyarrow.array(["delete"] * size)))
        return pyarrow.concat_tables(parts).combine_chunks()

    before: tuple[pyarrow.Table | None, pyarrow.Table | None] = (None, None)
    largest = 0
    for batch in range(12):
        now = rows(batch * 50 * size)
        db.apply({name: feed(new, old) for name, new, old in zip("pc", now, before, strict=True)})
        before = now
        stores = [db._session.stores[name].columns for name in "pc"]
        for store in stores:
            assert store is not None
            for key in (*store.keys, *store.references):
                assert key is not None
                largest = max(largest, key.index.size)
    assert largest <= 2 * size + 1000 + 2 * size  # the rows, as many that are gone, and one batch
    assert db.query("SELECT count(*) AS n FROM c").rows() == [(size,)]
    assert db.verify()
