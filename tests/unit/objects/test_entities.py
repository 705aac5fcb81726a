"""Classes written in Python mean what ODL means: they print alike, and their objects are the database's."""

from __future__ import annotations

import datetime
import enum
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import pytest

import evercurrent as ec
from evercurrent.catalog.classes import Schema
from evercurrent.data.collections import Bag
from evercurrent.frontend.odl.resolve import classes_of


class Spot(NamedTuple):
    x: int
    y: Annotated[int, "octet"]


@dataclass
class Address:
    street: str
    spot: Spot


class Colour(enum.Enum):
    red = 1
    green = 2


class Person(ec.Entity, extent="Persons", key="name"):
    """Somebody."""

    limit: ClassVar[int] = 3
    name: str
    age: Annotated[int, "unsigned short"]
    address: Address
    colour: Colour
    mood: Literal["good", "bad"]
    born: Annotated[datetime.date, "readonly"]
    tags: Annotated[set[str], "kept as array"]
    marks: Bag[float]

    def greet(self) -> str:
        return f"I am {self.name}"


class Employee(Person, extent="Employees", keys=["badge", ("name", "badge")]):
    badge: int
    pay: Annotated[Decimal, "decimal(12, 2)"]
    dept: Annotated[Department | None, ec.Inverse("staff")]
    boss: Employee | None
    route: list[Person]
    scores: dict[str, list[int]]
    shift: datetime.time

    @ec.operation
    def yearly(self, rate: float) -> float:
        return float(self.pay) * rate

    @property
    def title(self) -> str:
        return f"{self.name} ({self.badge})"


class Department(ec.Entity, name="dept", extent="Depts"):
    name: str
    staff: Annotated[set[Employee], ec.Inverse("dept")]


ODL = """
class Person (extent Persons key name) {
    attribute string name; attribute unsigned short age;
    attribute struct {string street; struct {long long x; octet y;} spot;} address;
    attribute enum {red, green} colour; attribute enum {good, bad} mood; readonly attribute date born;
    attribute set<string> tags kept as array; attribute bag<double> marks;
};
class Employee extends Person (extent Employees keys badge, (name, badge)) {
    attribute long long badge; attribute decimal(12, 2) pay; relationship dept dept inverse dept::staff;
    attribute Employee boss; attribute list<Person> route; attribute dictionary<string, list<long long>> scores;
    attribute time shift; double yearly(in double rate);
};
class dept (extent Depts) { attribute string name; relationship set<Employee> staff inverse Employee::dept; };
"""


@pytest.fixture
def db() -> ec.Database:
    db = ec.connect()
    db.declare(Person, Employee, Department)
    return db


def test_both_ways_give_the_same_schema(db: ec.Database) -> None:
    assert db.schema == classes_of(ODL, Schema())
    again = ec.connect()
    again.odl(db.schema_odl())
    assert again.schema == db.schema and again.schema_odl() == db.schema_odl()


def test_calling_the_class_makes_an_object(db: ec.Database) -> None:
    sales = Department(name="Sales")
    ann = Employee(
        name="Ann", badge=7, pay="10.5", dept=sales, address=Address("High", Spot(1, 2)), colour=Colour.red
    )
    assert isinstance(ann, Employee) and isinstance(ann, Person) and not isinstance(ann, Department)
    assert (ann.pay, ann.dept, sales.staff, ann.colour) == (Decimal("10.50"), sales, {ann}, "red")
    assert ann.address.spot.y == 2
    ann.address.spot.y = 9
    assert ann.address == {"street": "High", "spot": {"x": 1, "y": 9}}
    assert ann.yearly(2.0) == 21.0 and ann.greet() == "I am Ann" and ann.title == "Ann (7)"
    assert list(db.extent("Persons")) == [ann]
    with pytest.raises(ec.QueryError, match="out of range"):
        ann.address.spot.y = 256
    with pytest.raises(ec.QueryError, match="readonly"):
        ann.born = datetime.date(2000, 1, 1)


def test_an_entity_without_a_database() -> None:
    class Lone(ec.Entity):
        x: int

    with pytest.raises(ec.QueryError, match=r"db\.declare\(Lone\)"):
        Lone(x=1)


def test_mistakes() -> None:
    class Bad(ec.Entity):
        x: object

    class Half(ec.Entity):
        other: Annotated[Half | None, ec.Inverse("nothing")]

    db = ec.connect()
    for entity, message in ((Bad, r"Bad\.x: .* is not a type"), (Half, "nothing is not there")):
        with pytest.raises(ec.QueryError, match=message):
            db.declare(entity)
    assert db.schema == Schema() and db.tables == []
    db.declare(Person, Employee, Department)
    with pytest.raises(ec.QueryError, match="already a class Person"):
        db.declare(Person)


def test_views_over_entities(db: ec.Database) -> None:
    db.execute("CREATE VIEW pay AS SELECT SUM(pay) AS s FROM Employees")
    people: list[Any] = [Employee(name=str(i), badge=i, pay=i) for i in range(3)]
    people[0].pay = 5
    assert db.view("pay").rows() == [(Decimal("8.00"),)]
