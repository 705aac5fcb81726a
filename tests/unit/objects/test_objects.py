"""Objects by hand: creating, changing, deleting, collections, relationships, transactions, checks."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

import evercurrent as ec

ODL = """
class person (extent Persons) {
    attribute string name; attribute unsigned short age; attribute struct {string street; string city;} address;
};
class employee extends person (extent Employees key badge) {
    attribute long badge; attribute unsigned long salary; attribute set<person> dependents; attribute employee manager;
    attribute enum {junior, senior} level; attribute decimal(10,2) bonus; attribute time shift; attribute timestamp since;
    readonly attribute string code; attribute long class; attribute list<string> notes; attribute bag<long> marks;
    attribute dictionary<string, long> scores; attribute list<list<long>> grid;
    relationship department dept inverse department::employees;
    long long yearly(); double with_rate(in double rate);
};
class department (extent Departments) {
    attribute string name; relationship set<employee> employees inverse employee::dept;
};
"""


@pytest.fixture
def db() -> ec.Database:
    db = ec.connect()
    functions = {
        "employee.yearly": lambda self: self.salary * 12,
        "employee.with_rate": lambda self, rate: self.salary * rate,
    }
    db.odl(ODL, operations=functions)
    return db


# --- single values -----------------------------------------------------------------------------------------


def test_new_objects_have_identities_and_values(db: ec.Database) -> None:
    ann = db.new("employee", name="Ann", age=40, salary=100)
    bob = db.classes.person(name="Bob")
    assert (ann.name, ann.age, ann.salary, ann.manager, ann.oid, bob.oid) == ("Ann", 40, 100, None, 1, 2)
    assert ann == ann and ann != bob and len({ann, bob, ann}) == 2
    assert db.object(1) is ann and db.object(9) is None
    assert "Ann" in repr(ann) and "employee 1" in repr(ann)
    assert ann.yearly() == 1200 and ann.with_rate(0.5) == 50.0


def test_an_extent_has_the_objects_of_subclasses(db: ec.Database) -> None:
    ann, bob = db.new("employee"), db.new("person")
    assert set(db.extent("Persons")) == {ann, bob} and list(db.extent("Employees")) == [ann]
    assert ann in db.extent("Persons") and bob not in db.extent("Employees")
    assert len(db.extent("person")) == 2


@pytest.mark.parametrize(
    ("name", "given", "held"),
    [
        ("bonus", "12.5", Decimal("12.50")),
        ("bonus", 3, Decimal("3.00")),
        ("shift", datetime.time(10, 30), datetime.time(10, 30)),
        ("since", "2020-01-01 10:00:00", datetime.datetime(2020, 1, 1, 10, tzinfo=datetime.UTC)),
        ("level", "senior", "senior"),
        ("age", 65535, 65535),
        ("name", None, None),
    ],
)
def test_values_are_taken_in(db: ec.Database, name: str, given: Any, held: Any) -> None:
    ann = db.new("employee")
    ann[name] = given
    assert ann[name] == held and getattr(ann, name) == held
    assert db.new("employee", **{name: given})[name] == held


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        (
            "age",
            -1,
            r"employee\.age: -1 is out of range: 0 to 65535|person\.age: -1 is out of range: 0 to 65535",
        ),
        ("age", "x", "is not a value of type"),
        ("salary", 2**32, "out of range"),
        ("salary", True, "is not a value of type"),
        ("level", "chief", "none of junior, senior"),
        ("bonus", "123456789.00", "out of range"),
        ("manager", 3, "is not an object"),
        ("shift", datetime.timedelta(days=2), "is not a value of type TIME"),
        ("shift", "24:00", "is not a value of type TIME"),
        ("address", {"town": "x"}, "no member 'town'"),
        ("name", 3, "is not a value of type"),
    ],
)
def test_wrong_values_are_refused_and_change_nothing(
    db: ec.Database, name: str, given: Any, message: str
) -> None:
    ann = db.new("employee", name="Ann", age=1)
    with pytest.raises(ec.EvercurrentError, match=message):
        ann[name] = given
    with pytest.raises(ec.EvercurrentError, match=message):
        db.new("employee", **{name: given})
    assert (ann.name, ann.age, len(db.extent("Employees"))) == ("Ann", 1, 1)


def test_a_reference_needs_the_right_class(db: ec.Database) -> None:
    ann, bob = db.new("employee"), db.new("person")
    with pytest.raises(ec.QueryError, match="person 2 is not an object of class employee"):
        ann.manager = bob
    other = ec.connect()
    other.odl("class employee {};")
    with pytest.raises(ec.QueryError, match="belongs to another database"):
        ann.manager = other.new("employee")


def test_names(db: ec.Database) -> None:
    ann = db.new("employee", **{"class": 3})
    assert ann["class"] == 3 and getattr(ann, "class") == 3
    ann["class"] = 4
    setattr(ann, "class", 5)
    assert ann["class"] == 5
    with pytest.raises(ec.QueryError, match="did you mean 'salary'"):
        ann["salry"]
    with pytest.raises(ec.QueryError, match="no property 'salry'"):
        db.new("employee", salry=3)
    with pytest.raises(ec.QueryError, match="did you mean 'person'"):
        db.new("persn")
    with pytest.raises(AttributeError):
        ann.nothing = 3
    with pytest.raises(ec.QueryError, match="readonly"):
        ann.code = "x"
    assert db.new("employee", code="c").code == "c"


def test_structs_are_written_member_by_member(db: ec.Database) -> None:
    db.execute("CREATE VIEW cities AS SELECT name, address.city AS city FROM Persons")
    ann = db.new("person", name="Ann", address={"street": "High", "city": "Bern"})
    ann.address.city = "Basel"
    assert ann.address == {"street": "High", "city": "Basel"}
    assert db.view("cities").rows() == [("Ann", "Basel")]
    with pytest.raises(AttributeError, match="no member 'town'"):
        ann.address.town = "x"
    with pytest.raises(ec.EvercurrentError, match="is not a value of type"):
        ann.address.city = 3
    ann.address = None
    assert ann.address is None


# --- collections -------------------------------------------------------------------------------------------


def test_sets(db: ec.Database) -> None:
    ann, b, c = db.new("employee"), db.new("person"), db.new("person")
    ann.dependents.add(b)
    ann.dependents.insert_element(b)
    ann.dependents |= {c}
    assert ann.dependents == {b, c} and b in ann.dependents and len(ann.dependents) == 2
    assert sorted(db.table("Employees_dependents").rows()) == [(1, 2), (1, 3)]
    ann.dependents.remove_element(b)
    ann.dependents.discard(b)
    with pytest.raises(KeyError):
        ann.dependents.remove(b)
    ann.dependents ^= {b, c}
    assert ann.dependents == {b}
    assert ann.dependents.pop() is b and not ann.dependents
    ann.dependents = [b, c]
    ann.dependents -= {c}
    ann.dependents &= {c}
    assert ann.dependents == set() and db.table("Employees_dependents").rows() == []
    with pytest.raises(ec.QueryError, match="is not an object"):
        ann.dependents.update([b, 3])
    assert ann.dependents == set()


def test_lists(db: ec.Database) -> None:
    ann = db.new("employee", notes=["a", "b"])
    ann.notes.append("c")
    ann.notes.insert(1, "x")
    ann.notes[0] = "z"
    ann.notes += ["q"]
    assert ann.notes == ["z", "x", "b", "c", "q"]
    ann.notes[1:3] = ["1", "2", "3"]
    del ann.notes[0]
    assert ann.notes.pop(0) == "1" and ann.notes.pop() == "q"
    assert ann.notes == ["2", "3", "c"]
    ann.notes.sort(reverse=True)
    ann.notes.remove("c")
    assert ann.notes == ["3", "2"]
    assert sorted(db.table("Employees_notes").rows()) == [(1, 0, "3"), (1, 1, "2")]
    ann.notes[::2] = ["w"]
    ann.notes.reverse()
    ann.notes *= 2
    assert ann.notes == ["2", "w", "2", "w"]
    ann.notes.clear()
    assert db.table("Employees_notes").rows() == []
    with pytest.raises(IndexError):
        ann.notes[3] = "x"
    with pytest.raises(ec.EvercurrentError, match="is not a value"):
        ann.notes.extend(["a", 3])
    assert ann.notes == []
    ann.grid = [[1, 2], []]
    assert ann.grid == [(1, 2), ()] and db.table("Employees_grid").rows() == [(1, 0, [1, 2]), (1, 1, [])]


def test_bags_and_dictionaries(db: ec.Database) -> None:
    ann = db.new("employee", marks=[1, 1, 2], scores={"a": 1})
    ann.marks.add(2)
    ann.marks.remove(1)
    assert ann.marks == [1, 2, 2] and ann.marks.count(2) == 2 and len(ann.marks) == 3
    assert sorted(db.table("Employees_marks").rows()) == [(1, 1), (1, 2), (1, 2)]
    ann.scores["b"] = 2
    ann.scores["a"] = 5
    ann.scores.update(c=3)
    assert ann.scores.pop("b") == 2 and ann.scores.setdefault("d", 4) == 4
    assert ann.scores == {"a": 5, "c": 3, "d": 4}
    assert sorted(db.table("Employees_scores").rows()) == [(1, "a", 5), (1, "c", 3), (1, "d", 4)]
    with pytest.raises(KeyError):
        del ann.scores["zz"]
    ann.scores = {}
    ann.marks.clear()
    assert len(db.table("Employees_scores")) == 0 and len(db.table("Employees_marks")) == 0


# --- relationships and deleting ----------------------------------------------------------------------------


def test_both_ends_of_a_relationship(db: ec.Database) -> None:
    d, e = db.new("department", name="d"), db.new("department", name="e")
    ann = db.new("employee", dept=d)
    bob = db.new("employee")
    d.employees.add(bob)
    assert d.employees == {ann, bob} and bob.dept is d
    e.employees = [ann]
    assert ann.dept is e and d.employees == {bob} and e.employees == {ann}
    d.employees.remove(bob)
    assert bob.dept is None
    new = db.new("department", employees=[ann, bob])
    assert new.employees == {ann, bob} and e.employees == set() and ann.dept is new


def test_deleting_clears_everything_that_refers(db: ec.Database) -> None:
    d = db.new("department", name="d")
    ann, bob = db.new("employee", name="Ann", dept=d), db.new("employee", name="Bob", dept=d)
    bob.manager = ann
    bob.dependents.add(ann)
    d2 = db.new("employee", dependents=[ann, bob])
    db.delete(ann)
    assert bob.manager is None and bob.dependents == set() and d2.dependents == {bob} and d.employees == {bob}
    with pytest.raises(ec.QueryError, match="employee 2 was deleted"):
        ann.name
    with pytest.raises(ec.QueryError, match="was deleted"):
        ann.name = "x"
    with pytest.raises(ec.QueryError, match="was deleted"):
        bob.manager = ann
    with pytest.raises(ec.QueryError, match="was deleted"):
        db.delete(ann)
    assert "which was deleted" in repr(ann)
    db.delete(d)
    assert bob.dept is None
    new = db.new("person")
    assert new.oid > d2.oid, "identities are never used again"


def test_collections_of_a_deleted_object_refuse(db: ec.Database) -> None:
    ann, bob = db.new("employee"), db.new("person")
    dependents, notes = ann.dependents, ann.notes
    db.delete(ann)
    with pytest.raises(ec.QueryError, match="was deleted"):
        dependents.add(bob)
    with pytest.raises(ec.QueryError, match="was deleted"):
        notes.append("x")


# --- transactions ------------------------------------------------------------------------------------------


def test_undo_restores_everything(db: ec.Database) -> None:
    d = db.new("department", name="d")
    ann = db.new("employee", name="Ann", dept=d, notes=["a"], scores={"k": 1}, marks=[1])
    bob = db.new("employee", name="Bob", manager=ann)
    with pytest.raises(ZeroDivisionError), db.transaction():
        ann.name, ann.dept = "x", None
        ann.notes.insert(0, "z")
        ann.scores["q"] = 2
        ann.marks.add(1)
        ann.dependents.add(bob)
        db.delete(d)
        db.delete(ann)
        new = db.new("employee", name="new", manager=bob)
        assert bob.manager is None and [x.name for x in db.extent("Employees")] == ["Bob", "new"]
        1 / 0
    assert (ann.name, ann.dept, ann.notes, ann.scores, ann.marks) == ("Ann", d, ["a"], {"k": 1}, [1])
    assert bob.manager is ann and d.employees == {ann} and ann.dependents == set()
    with pytest.raises(ec.QueryError, match="was never made"):
        new.name
    ann.notes.append("b")
    assert ann.notes == ["a", "b"]


def test_a_call_that_fails_leaves_the_transaction_open(db: ec.Database) -> None:
    ann = db.new("employee", name="Ann")
    with db.transaction():
        ann.name = "Anna"
        with pytest.raises(ec.QueryError):
            ann.age = -1
        with pytest.raises(ec.QueryError):
            db.new("employee", dependents=[3])
        ann.age = 7
    assert (ann.name, ann.age, len(db.extent("Employees"))) == ("Anna", 7, 1)


def test_after_a_rollback_nothing_can_be_written(db: ec.Database) -> None:
    ann = db.new("employee", name="Ann")
    with db.transaction() as tx:
        ann.name = "x"
        tx.rollback()
        assert ann.name == "Ann"
        with pytest.raises(ec.TransactionError):
            ann.name = "y"
        with pytest.raises(ec.TransactionError):
            db.new("person")
    assert ann.name == "Ann" and len(db.extent("Persons")) == 1


def test_keys(db: ec.Database) -> None:
    ann, bob = db.new("employee", badge=1), db.new("employee", badge=2)
    with pytest.raises(ec.ConstraintError, match="badge = 1"):
        db.new("employee", badge=1)
    with pytest.raises(ec.ConstraintError, match=r"key \(badge\)"):
        bob.badge = 1
    assert bob.badge == 2 and len(db.extent("Employees")) == 2
    with db.transaction():
        ann.badge, bob.badge = 2, 1
    assert (ann.badge, bob.badge) == (2, 1)
    db.new("employee")
    db.new("employee")
    db.delete(ann)
    assert db.new("employee", badge=2).badge == 2
    with pytest.raises(ec.ConstraintError), db.transaction():
        db.new("employee", badge=7)
        db.new("employee", badge=7)
    assert db.new("employee", badge=7).badge == 7


def test_undoing_frees_keys(db: ec.Database) -> None:
    with db.transaction() as tx:
        db.new("employee", badge=1)
        tx.rollback()
    assert db.new("employee", badge=1).badge == 1


# --- SQL and subscriptions ---------------------------------------------------------------------------------


def test_sql_sees_and_changes_objects(db: ec.Database) -> None:
    d = db.new("department", name="d")
    ann = db.new("employee", name="Ann", salary=10, dept=d)
    db.execute(
        "CREATE VIEW pay AS SELECT e.dept.name AS d, SUM(salary) AS s FROM Employees e GROUP BY e.dept.name"
    )
    assert db.view("pay").rows() == [("d", 10)]
    db.execute("UPDATE Employees SET salary = salary + 5, name = 'Anna' WHERE oid = ?", [ann.oid])
    assert (ann.salary, ann.name) == (15, "Anna") and db.view("pay").rows() == [("d", 15)]
    db.execute("INSERT INTO Departments (oid, name) VALUES (0, 'new')")
    (new,) = [x for x in db.extent("Departments") if x.name == "new"]
    db.execute("UPDATE Employees SET dept = ? WHERE name = 'Anna'", [new.oid])
    assert ann.dept is new and new.employees == {ann} and d.employees == set()
    db.execute("DELETE FROM Departments WHERE name = 'new'")
    assert ann.dept is None and db.verify()
    ann.dependents.add(ann)
    with pytest.raises(ec.UnsupportedError, match="collection of objects"):
        db.execute("DELETE FROM Employees_dependents")


def test_the_tables_of_classes_cannot_be_dropped(db: ec.Database) -> None:
    for statement in ("DROP TABLE Employees", "CREATE OR REPLACE TABLE Employees_notes (a INT)"):
        with pytest.raises(ec.QueryError, match="class employee"):
            db.execute(statement)
    db.execute("CREATE TABLE plain (a INT)")
    with pytest.raises(ec.QueryError, match="already a table"):
        db.odl("class other (extent Plain) {};")


def test_truncating_deletes_objects(db: ec.Database) -> None:
    ann = db.new("person")
    db.execute("TRUNCATE TABLE Persons")
    assert ann not in db.extent("Persons") and len(db.table("Persons")) == 0


def test_dropping_a_class(db: ec.Database) -> None:
    with pytest.raises(ec.QueryError, match="cannot be dropped: class employee"):
        db.drop_class("person")
    db.execute("CREATE VIEW v AS SELECT name FROM Departments")
    with pytest.raises(ec.QueryError, match="cannot be dropped"):
        db.drop_class("department")
    db.odl("class lone (extent Lones) { attribute set<long> xs; };")
    thing = db.new("lone", xs=[1])
    db.drop_class("lone")
    assert "Lones" not in db.tables and "Lones_xs" not in db.tables and "lone" not in db.schema.classes
    with pytest.raises(ec.QueryError, match="was deleted"):
        thing.xs
    db.odl("class lone (extent Lones) { attribute string name; };")
    assert db.new("lone", name="x").name == "x"


def test_subscriptions_give_objects(db: ec.Database) -> None:
    heard: list[Any] = []
    db.extent("Persons").subscribe(heard.append)
    ann = db.new("employee", name="Ann")
    ann.age = 3
    with db.transaction():
        ann.name = "Anna"
        bob = db.new("person")
    db.delete(bob)
    assert [(c.inserted, c.updated, c.deleted) for c in heard] == [
        ([ann], [], []),
        ([], [ann], []),
        ([bob], [ann], []),
        ([], [], [bob]),
    ]


def test_pending_reads(db: ec.Database) -> None:
    db.execute("CREATE VIEW names AS SELECT name FROM Persons")
    ann = db.new("person", name="Ann")
    with db.transaction():
        ann.name = "Anna"
        db.new("person", name="Bob")
        assert db.view("names").rows() == [("Ann",)]
        assert sorted(db.view("names").rows(pending=True)) == [("Anna",), ("Bob",)]
        assert len(db.table("Persons")) == 1 and len(db.table("Persons").rows(pending=True)) == 2
        assert db.query("SELECT COUNT(*) FROM Persons", pending=True).rows() == [(2,)]
        assert db.query("SELECT COUNT(*) FROM Persons").rows() == [(1,)]
    assert sorted(db.view("names").rows()) == [("Anna",), ("Bob",)]


def test_a_failing_view_undoes_the_write(db: ec.Database) -> None:
    db.execute("CREATE VIEW big AS SELECT name, CAST(salary * 1000000000000 AS BIGINT) AS x FROM Employees")
    ann = db.new("employee", name="Ann", salary=1)
    with pytest.raises(ec.EvaluationError):
        ann.salary = 4_000_000_000
    assert ann.salary == 1 and db.view("big").rows() == [("Ann", 1000000000000)]
    with pytest.raises(ec.EvaluationError):
        db.new("employee", salary=4_000_000_000)
    assert len(db.extent("Employees")) == 1 and db.verify()
    ann.salary = 2
    assert db.view("big").rows() == [("Ann", 2000000000000)]


def test_threads(db: ec.Database) -> None:
    import threading

    db.execute("CREATE VIEW total AS SELECT SUM(salary) AS s, COUNT(*) AS n FROM Employees")
    ann = db.new("employee", salary=0)

    threads = [threading.Thread(target=_loop, args=(db, ann)) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert ann.salary == 200 and db.view("total").rows() == [(400, 201)]


def _loop(db: ec.Database, ann: Any) -> None:
    for _ in range(50):
        with db.transaction():
            ann.salary = ann.salary + 1
        db.new("employee", salary=1)


def test_a_maker_stays_right_when_views_change(db: ec.Database) -> None:
    make = db.classes.maker("person")
    make(name="a")
    db.execute("CREATE VIEW names AS SELECT name, age FROM Persons")
    b = make(name="b", age=3)
    db.execute("CREATE VIEW ages AS SELECT SUM(age) AS s FROM Persons")
    b.age = 4
    make("c", 5)
    assert sorted(db.view("names").rows()) == [("a", None), ("b", 4), ("c", 5)]
    assert db.view("ages").rows() == [(9,)] and db.verify()
    with pytest.raises(ec.QueryError, match="person has no property 'nothing'"):
        make(nothing=3)


def test_a_constructor_says_what_is_wrong_with_a_call(db: ec.Database) -> None:
    """By the class and by its maker, in a transaction and outside; nothing is made."""
    calls: list[tuple[str, str, Callable[[Any], Any]]] = [
        ("person has no property 'nothing'", "it has name, age, address", lambda c: c(nothing=1)),
        ("person has no property 'nam'", "did you mean 'name'?", lambda c: c("Ann", nam=1)),
        (
            "person takes at most 3 values, one for each property, not 4",
            "it has name, age, address",
            lambda c: c("Ann", 1, None, 2),
        ),
        (
            "person.age is given twice: by its place, and by its name",
            "leave one out",
            lambda c: c("Ann", 1, age=2),
        ),
        ("person.age: 'x' is not a value of type", "", lambda c: c("Ann", "x")),
    ]
    for message, hint, call in calls:
        for constructor in (db.classes.person, db.classes.maker("person")):
            for block in (contextlib.nullcontext, db.transaction):
                with pytest.raises(ec.QueryError) as caught, block():
                    call(constructor)
                assert message in str(caught.value) and hint in str(caught.value)
    assert len(db.extent("Persons")) == 0
    ann = db.classes.person("Ann", age=1)
    assert (ann.name, ann.age) == ("Ann", 1)
