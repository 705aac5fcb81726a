"""Definitions of classes and in OQL on Spark: operations, named objects, macros, parts, and what depends on what."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import pytest

import evercurrent as ec
from evercurrent import UNDEFINED, Bag, Record

pytestmark = pytest.mark.spark

ODL = """
class person (extent Persons) { attribute string name; attribute person friend; string hello(); };
class employee extends person (extent Employees) {
  attribute long salary; relationship department dept inverse department::employees;
  long yearly(); long score(in long by); long local(); };
class department (extent Departments) {
  attribute string name; relationship set<employee> employees inverse employee::dept; };
class lone (extent Lones) { attribute long n; attribute set<long> many; };
"""
STAFF = "select struct(d: d.name, people: (select e.name from e in d.employees)) from d in Departments"
CALLS = "select struct(n: e.name, s: e.score(7), y: e.yearly(), h: e.hello) from e in Employees"


def yearly(self: Any) -> Any:
    return self.salary * 12


@ec.opaque
def score(self: Any, by: int) -> int:
    return zlib.crc32(self.name.encode()) % by


OPERATIONS = {
    "person.hello": lambda p: "hi " + p.name,
    "employee.yearly": yearly,
    "employee.score": score,
    "employee.local": ec.opaque(lambda e: e.salary),
}


def record(**members: Any) -> Record:
    return Record(tuple(members), tuple(members.values()))


def opened(spark: Any, path: Path, **options: Any) -> Any:
    return ec.connect(spark=spark, path=path / "w", **options)


@pytest.fixture
def db(spark: Any, tmp_path: Path) -> Any:
    made = opened(spark, tmp_path)
    made.odl(ODL, operations=OPERATIONS)
    return made


def test_operations_are_kept(db: Any, spark: Any, tmp_path: Path) -> None:
    db.oql(f"define calls as {CALLS};")
    with pytest.raises(ec.QueryError, match=r"cannot call employee.local: .* cannot be found again"):
        db.oql("define bad as select e.local() from e in Employees")
    ann = db.new("employee", name="Ann", salary=10)
    expected = [record(n="Ann", s=score(ann, 7), y=120, h="hi Ann")]
    assert db.view("calls").value() == Bag(expected)
    assert db.query("select e.local() from e in Employees", language="oql") == Bag([10])

    with pytest.warns(ec.MissingFunctionWarning, match=":score"):
        a = opened(spark, tmp_path).object(ann.oid)
    with pytest.raises(ec.QueryError, match=r":yearly of employee.yearly has not been handed over"):
        a.yearly()
    again = opened(spark, tmp_path, functions=[yearly, score])
    a = again.object(ann.oid)
    assert (a.yearly(), a.score(7)) == (120, score(ann, 7))
    for lost in ("hello", "local"):
        with pytest.raises(ec.QueryError, match="is not stored"):
            getattr(a, lost)()
    a.salary = 20
    assert [r.y for r in again.view("calls").value()] == [240]
    version = again.version
    again.bind_operations({"person.hello": lambda p: "hi " + p.name})
    assert (again.version, a.hello()) == (version, "hi Ann")
    again.bind_operations({"person.hello": lambda p: "hey " + p.name})
    assert (again.version, a.hello()) == (version + 1, "hey Ann")
    assert [r.h for r in again.view("calls").value()] == ["hey Ann"]
    # A class that defines the operation anew changes what views make of its objects.
    again.odl("class boss extends employee { string hello(); };", operations={"boss.hello": lambda p: "yo"})
    again.new("boss", name="Zed", salary=1)
    assert sorted(r.h for r in again.view("calls").value()) == ["hey Ann", "yo"]
    assert opened(spark, tmp_path, functions=[score]).view("calls").value() == again.view("calls").value()
    assert again.verify(["calls"])


def test_classes_written_in_python(spark: Any, tmp_path: Path) -> None:
    db = opened(spark, tmp_path)
    db.declare(parts("part"))
    db.oql("define doubled as select p.double() from p in Parts")
    part = db.new("part", cost=5)
    assert (part.double(), db.view("doubled").value()) == (10, Bag([10]))
    again = opened(spark, tmp_path)
    again.declare(parts("part"))
    assert (again.object(part.oid).double(), again.version) == (10, db.version)
    again.declare(parts("part", 3))
    assert (again.object(part.oid).double(), again.view("doubled").value()) == (15, Bag([15]))


def parts(name: str, times: int = 2) -> Any:
    """A class that no other process could find."""

    class Part(ec.Entity, name=name, extent="Parts"):
        cost: int

        @ec.operation
        def double(self) -> int:
            return self.cost * times

    return Part


def test_what_has_changed_inside(db: Any, spark: Any, tmp_path: Path) -> None:
    db.oql(f"define staff as {STAFF}; define flat as select e.name from e in Employees")
    told: list[Any] = []

    def tell(change: Any) -> None:
        inside = [(i.path, i.key, i.inserted, i.deleted) for i in change.inside]
        told.append((change.transaction, change.inserted, change.deleted, inside))

    db.view("staff").subscribe(tell)
    with db.transaction():
        dev = db.new("department", name="dev")
        ann = db.new("employee", name="Ann", dept=dev)
    first = db.version
    ann.name = "Anne"
    expected = [
        (first, [record(d="dev")], [], [(("people",), (dev,), ["Ann"], [])]),
        (first + 1, [], [], [(("people",), (dev,), ["Anne"], ["Ann"])]),
    ]
    assert told == expected
    told.clear()
    db.view("staff").subscribe(tell, since=first - 1).cancel()
    assert told == expected
    flat: list[Any] = []
    db.view("flat").subscribe(lambda change: flat.append((change.inserted, change.deleted)))
    ann.name = "Ann"
    assert flat == [(["Ann"], ["Anne"])]
    text = str(db.explain("staff"))
    assert text.startswith(
        "staff: bag<struct(d: string, people: bag<string>)>\n  kept in staff.rows, staff.people;"
    )
    assert "view staff.people (" in text and "view staff (d STRING, people ARRAY<STRING>)" in text
    assert "onModifyAttr person.name" in db.view("staff").explain("events")


def test_names_of_objects(db: Any, spark: Any, tmp_path: Path) -> None:
    ann = db.new("employee", name="Ann", salary=1)
    db.bind("Boss", ann)
    db.oql("define boss as struct(n: Boss.name, same: (select e.name from e in Employees where e = Boss))")
    assert db.view("boss").value() == record(n="Ann", same=Bag(["Ann"]))
    again = opened(spark, tmp_path)
    with again.transaction():
        ben = again.new("employee", name="Ben")
        again.bind("Boss", ben)
    assert again.view("boss").value() == record(n="Ben", same=Bag(["Ben"]))
    with pytest.raises(ec.QueryError, match="bound to objects of employee"):
        again.bind("Boss", again.new("department", name="dev"))
    again.delete(ben)
    assert again.view("boss").value() == record(n=UNDEFINED, same=Bag())
    with pytest.raises(ec.QueryError, match=r"cannot be dropped: .*view boss"):
        again.drop_class("employee")


def test_macros_and_their_users(db: Any, spark: Any, tmp_path: Path) -> None:
    db.oql(
        "define above(long x) as select e from e in Employees where e.salary > x; define rich as select o.name from o in above(5)"
    )
    db.execute("CREATE VIEW counted AS SELECT COUNT(*) AS n FROM rich")
    db.publish("rich", tmp_path / "rich")
    db.oql("define rich as select o.name from o in above(5)")  # where it is published stays
    assert (tmp_path / "rich" / "_delta_log").is_dir() and not (tmp_path / "w" / "views" / "rich").exists()
    db.new("employee", name="Ann", salary=10)
    assert db.view("rich").value() == Bag(["Ann"])
    db.oql("define above(long x) as select e from e in Employees where e.salary > x + 100")
    assert (db.view("rich").value(), db.view("counted").rows()) == (Bag(), [(0,)])
    with pytest.raises(ec.QueryError, match="view rich depends on it"):
        db.oql("undefine above")
    again = opened(spark, tmp_path)
    again.oql("define above(long x) as select e from e in Employees where e.salary = x + 5")
    assert (again.view("rich").value(), again.view("counted").rows()) == (Bag(["Ann"]), [(1,)])
    again.execute("DROP VIEW counted")
    again.oql("undefine rich; undefine above")
    assert again.views == []


def test_classes_are_dropped_and_replaced(db: Any, spark: Any, tmp_path: Path) -> None:
    db.oql(
        "define hellos as select p.hello from p in Persons; define rich as select e.name from e in Employees"
    )
    with db.transaction():
        kim, ann = db.new("person", name="Kim"), db.new("employee", name="Ann")
        kim.friend = ann
        old = db.new("lone", n=1, many=[1, 2])
    db.bind("One", old)
    with pytest.raises(ec.QueryError, match=r"person cannot be dropped: class employee, .*view hellos"):
        db.drop_class("person")
    with pytest.raises(ec.QueryError, match=r"employee cannot be dropped: .*department"):
        db.drop_class("employee")
    version = db.version
    with pytest.raises(ec.QueryError, match="needs a table"):
        db.odl("class lone (extent hellos) { attribute long n; };", replacing=True)
    assert (db.version, old.n) == (version, 1)
    db.odl("class lone (extent Lones) { attribute string s; attribute list<long> many; };", replacing=True)
    with pytest.raises(ec.QueryError, match="was deleted"):
        old.n
    new = db.new("lone", s="x", many=[3, 3])
    assert (new.many, db.query("SELECT element FROM Lones_many").rows()) == ([3, 3], [(3,), (3,)])

    again = opened(spark, tmp_path)
    assert again.schema_odl() == db.schema_odl()
    again.oql("undefine rich")
    again.odl(
        "class employee extends person (extent Employees) { attribute long pay; }; class department { attribute string name; };",
        replacing=True,
    )
    assert (len(again.extent("Persons")), again.object(kim.oid).friend) == (1, None)
    again.drop_class("employee")
    again.drop_class("lone")
    assert again.tables == ["Persons", "named_objects", "department"]
    assert (again.table("named_objects").rows(), again.view("hellos").value()) == ([], Bag(["hi Kim"]))
    assert sorted(opened(spark, tmp_path).tables) == sorted(again.tables)


def test_definitions_of_a_text_are_one_version(db: Any, spark: Any, tmp_path: Path) -> None:
    version = db.version
    db.execute(
        """CREATE TABLE t (a INT PRIMARY KEY, b INT); CREATE VIEW v AS SELECT b, COUNT(*) AS n FROM t GROUP BY b;
        CREATE VIEW w AS SELECT MAX(n) AS m FROM v; CREATE ASSERTION few CHECK (NOT EXISTS (SELECT * FROM v WHERE n > 2))"""
    )
    assert db.version == version + 1
    result = db.execute("INSERT INTO t VALUES (1, 1); CREATE VIEW x AS SELECT a FROM t; SELECT * FROM x")
    assert (result.rows(), db.version) == ([(1,)], version + 3)
    for wrong in (
        "CREATE VIEW y AS SELECT a FROM t; CREATE VIEW z AS SELECT nothing FROM t",
        "DROP VIEW w; DROP TABLE t",
    ):
        with pytest.raises(ec.QueryError):
            db.execute(wrong)
    with pytest.raises(ec.QueryError):
        db.oql("define p as count(Persons); define q as count(Nowhere)")
    with pytest.raises(ec.ConstraintError, match="full"):
        db.execute(
            "CREATE VIEW y AS SELECT a FROM t; CREATE ASSERTION full CHECK (NOT EXISTS (SELECT * FROM t))"
        )
    assert (db.version, db.views) == (version + 3, ["v", "w", "x"])
    db.execute(
        "DROP VIEW x; DROP ASSERTION few; DROP VIEW w; DROP VIEW v; DROP TABLE t; CREATE TABLE t (a INT)"
    )
    assert (db.version, db.views, db.table("t").rows()) == (version + 4, [], [])
    assert opened(spark, tmp_path).tables == db.tables


def test_what_is_published_nowhere_is_kept_in_its_parts_only(db: Any, spark: Any, tmp_path: Path) -> None:
    place = tmp_path / "w" / "views" / "staff"
    db.oql(f"define staff as {STAFF}", publish=False)
    db.execute("CREATE VIEW sizes AS SELECT d, size(people) AS n FROM staff")
    told: list[Any] = []
    db.view("staff").subscribe(lambda change: told.append([i.inserted for i in change.inside]))
    with db.transaction():
        dev = db.new("department", name="dev")
        db.new("employee", name="Ann", dept=dev)
    view = db.view("staff")
    assert view.value() == Bag([record(d="dev", people=Bag(["Ann"]))])
    assert (view.rows(), len(view), db.view("sizes").rows(), told) == (
        [("dev", ["Ann"])],
        1,
        [("dev", 1)],
        [[["Ann"]]],
    )
    assert [tuple(r) for r in view.dataframe().collect()] == [("dev", ["Ann"])]
    assert db.query("SELECT people FROM staff").rows() == [(["Ann"],)]
    with pytest.raises(ec.QueryError, match="kept in its parts only"):
        view.changes(since=1)
    assert "made when they are read" in db.explain("staff") and "view staff (" not in db.explain("staff")
    assert not place.exists() and db.verify() and view.why(record(d="dev", people=Bag(["Ann"]))).objects
    again = opened(spark, tmp_path)
    again.new("employee", name="Ben", dept=again.object(dev.oid))
    assert (again.view("sizes").rows(), again.explain() != "") == ([("dev", 2)], True)
    again.publish("staff")
    assert place.is_dir() and again.view("staff").changes(since=0).count() == 0
    again.new("employee", name="Cid", dept=again.object(dev.oid))
    assert (again.view("staff").changes(since=0).count(), again.view("sizes").rows()) == (2, [("dev", 3)])
    again.oql(f"define staff as {STAFF}", publish=False)
    assert not place.exists() and again.view("sizes").rows() == [("dev", 3)] and again.verify()
    assert sorted(opened(spark, tmp_path).view("staff").rows()[0][1]) == ["Ann", "Ben", "Cid"]
