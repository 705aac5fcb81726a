"""Pending changes lie over the committed rows."""

from __future__ import annotations

import pytest

from evercurrent.catalog.nodes import Table, TableColumn, Unique
from evercurrent.data.types import INT, STRING
from evercurrent.errors import ConstraintError
from evercurrent.rows.pending import Pending
from evercurrent.rows.store import Store

KEYED = Table("t", (TableColumn("id", INT), TableColumn("s", STRING)), primary_key=Unique("k", ("id",)))
BAG = Table("b", (TableColumn("x", INT),))


def keyed() -> Pending:
    store = Store(KEYED, lambda name: None)
    store.rows.update({1: (1, "a"), 2: (2, "b")})
    return Pending(store)


def test_deleting_what_is_not_there_is_an_error_and_changes_nothing() -> None:
    pending = keyed()
    with pytest.raises(ConstraintError, match=r"no row \(1, 'z'\)"):
        pending.change([((2, "b"), -1), ((1, "z"), -1)])
    assert not pending.delta


def test_a_row_can_be_deleted_as_often_as_it_is_there() -> None:
    store = Store(BAG, lambda name: None)
    store.rows[(5,)] = 2
    pending = Pending(store)
    pending.change([((5,), -1), ((5,), -1)])
    with pytest.raises(ConstraintError):
        pending.change([((5,), -1)])
    pending.change([((5,), 1), ((5,), -1)])
    assert pending.delta.weights == {(5,): -2}


def test_insert_and_delete_cancel() -> None:
    pending = keyed()
    pending.change([((3, "c"), 1)])
    pending.change([((3, "c"), -1)])
    assert not pending.delta


def test_a_key_finds_committed_and_pending_rows_as_they_change() -> None:
    pending = keyed()
    index = pending.store.primary
    assert index is not None
    assert pending.find(index, 1) == [(1, "a")]
    pending.change([((1, "z"), 1)])
    assert pending.find(index, 1) == [(1, "a"), (1, "z")]
    pending.change([((1, "a"), -1)])
    assert pending.find(index, 1) == [(1, "z")]
    pending.change([((1, "z"), -1), ((7, "n"), 1)])
    assert pending.find(index, 1) == []
    assert pending.find(index, 7) == [(7, "n")]


def test_rows_and_length_are_those_that_would_be_left() -> None:
    pending = keyed()
    pending.change([((1, "a"), -1), ((3, "c"), 1), ((4, "d"), 1)])
    assert sorted(pending) == [(2, "b"), (3, "c"), (4, "d")]
    assert len(pending) == 3
