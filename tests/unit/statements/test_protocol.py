"""`Database` and `Warehouse` have the methods of one protocol, with the same signatures."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.session.tables import SessionTable
from evercurrent.session.views import SessionView
from evercurrent.statements.handles import Table, View
from evercurrent.statements.protocol import AnyDatabase
from evercurrent.warehouse.database import Warehouse
from evercurrent.warehouse.handles import StoredTable, StoredView


def public(cls: type) -> set[str]:
    return {name for name in dir(cls) if not name.startswith("_")}


MEMBERS = sorted(name for name in vars(AnyDatabase) if not name.startswith("_"))


def signature(cls: type, name: str) -> tuple[str, Any]:
    """The kind of a member, and the names, kinds and defaults of its parameters."""
    found = inspect.getattr_static(cls, name)
    if isinstance(found, property):
        return "property", None
    parameters = inspect.signature(found).parameters.values()
    return "method", [(p.name, p.kind, p.default) for p in parameters]


@pytest.mark.parametrize("name", MEMBERS)
def test_both_databases_have_each_member_with_the_same_signature(name: str) -> None:
    wanted = signature(AnyDatabase, name)
    assert signature(ec.Database, name) == wanted
    assert signature(Warehouse, name) == wanted


def test_neither_database_has_other_public_members() -> None:
    assert public(ec.Database) == set(MEMBERS)
    assert public(Warehouse) == set(MEMBERS)


@pytest.mark.parametrize(
    ("base", "classes"), [(Table, (SessionTable, StoredTable)), (View, (SessionView, StoredView))]
)
def test_handles_have_the_methods_of_their_base(base: type, classes: tuple[type, ...]) -> None:
    for cls in classes:
        assert issubclass(cls, base)
        assert public(cls) == public(base)
        for name in public(base):
            assert signature(cls, name) == signature(base, name)
