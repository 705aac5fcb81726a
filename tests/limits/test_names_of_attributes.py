"""Attributes of any name: names are data, so that none can clash with what a generated class uses."""

from __future__ import annotations

import builtins
import keyword
from typing import Any

import pytest

import evercurrent as ec

NAMES = sorted(
    {
        *keyword.kwlist,
        *(n for n in dir(builtins) if not n.startswith("_")),
        *(
            "self",
            "cls",
            "make",
            "r",
            "w",
            "old",
            "value",
            "s",
            "a1",
            "a2",
            "v1",
            "kind",
            "space",
            "snapshot",
        ),
        *("mro", "items", "keys", "values", "__eq__", "__hash__", "__new__", "__ec_x", "__ec_oid", "__doc__"),
    }
)
TAKEN = ("oid", "_kind", "_gone", "_1", "__init__", "__class__", "__slots__", "__dict__")


def use(db: ec.Database, name: str) -> None:
    """Make, read, change and delete objects, alone and in transactions, under a view."""
    db.oql("define all_of_them as select x from x in cs")
    thing = db.new("c", **{name: 1, "other": 2})
    assert (thing[name], thing["other"]) == (1, 2)
    thing[name] = 3
    assert thing[name] == 3
    with db.transaction():
        second = db.new("c", **{name: 5})
        second[name] = 6
    assert sorted(t[name] for t in db.extent("cs")) == [3, 6]
    assert db.query(f"SELECT `{name}` AS x FROM cs ORDER BY x").rows() == [(3,), (6,)]
    assert repr(thing)
    db.delete(thing)
    assert len(list(db.extent("cs"))) == 1
    assert db.verify()


@pytest.mark.parametrize("name", NAMES)
def test_any_name_will_do(name: str) -> None:
    db = ec.connect()
    db.odl(f"class c (extent cs) {{ attribute long {name}; attribute long other; }};")
    use(db, name)


def entity(**fields: Any) -> type:
    return type("c", (ec.Entity,), {"__annotations__": fields, "__module__": __name__})


@pytest.mark.parametrize("name", ["type", "len", "self", "cls", "int", "property", "class", "None", "args"])
def test_in_python_too(name: str) -> None:
    db = ec.connect()
    kind = entity(**{name: int, "other": int})
    db.declare(kind)  # type: ignore[arg-type]
    thing = kind(**{name: 1, "other": 2})
    setattr(thing, name, 3)
    assert getattr(thing, name) == 3


@pytest.mark.parametrize("name", TAKEN)
def test_names_that_every_object_has(name: str) -> None:
    db = ec.connect()
    with pytest.raises(ec.QueryError, match=name):
        db.odl(f"class c (extent cs) {{ attribute long {name}; attribute long other; }};")
    db.odl("class c (extent cs) { attribute long n; attribute long other; };")
    use(db, "n")


@pytest.mark.parametrize("text", ["attribute long ﬁ; attribute long fi;", "attribute long ﬁ;"])
def test_names_that_python_normalises(text: str) -> None:
    db = ec.connect()
    with pytest.raises(ec.QueryError, match="write fi"):
        db.odl(f"class c (extent cs) {{ {text} }};")
    assert not db.tables and not db.schema.classes
    db.odl("class c (extent cs) { attribute long fi; attribute long other; };")
    use(db, "fi")


def test_an_entity_that_is_refused_leaves_nothing() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE c (x INT)")
    with pytest.raises(ec.QueryError):
        db.declare(entity(n=int))  # type: ignore[arg-type]
    assert db.tables == ["c"] and not db.schema.classes
    db.execute("DROP TABLE c")
    db.declare(entity(n=int))  # type: ignore[arg-type]
    assert "c" in db.schema.classes


def test_no_name_of_a_user_is_source() -> None:
    db = ec.connect()
    db.odl("class c (extent cs) { attribute string zebra; attribute set<long> quagga; };")
    kind = db._session.space.kinds["c"]  # type: ignore[union-attr]
    from evercurrent.objects.classes.class_source import Traits, rows_source, source

    text = source(kind, Traits(), kind.fields) + rows_source(kind)
    assert "zebra" not in text and "quagga" not in text
    assert kind.cls(zebra="a").zebra == "a"  # type: ignore[call-arg,attr-defined]
