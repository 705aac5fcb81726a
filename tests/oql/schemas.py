"""The schemas of the papers, as ODL and as classes of the plain model.

COMPANY is the schema of Ali, Fernandes, Paton (2000), figure 1, with two operations. SHOP is that of Nakamura (2001),
figure 6, as far as its three queries show it. ZOO has an attribute of every kind and a relationship of every cardinality. FIRM has chains
of references and attributes that views do not read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tests.oql.oracle.model import Class

PERSON, EMPLOYEE, DEPARTMENT = ("class", "person"), ("class", "employee"), ("class", "department")


@dataclass(frozen=True)
class Schema:
    """One schema, said twice."""

    odl: str
    classes: tuple[Class, ...]
    operations: dict[str, Callable[..., Any]] = field(default_factory=dict)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "person.describe": lambda o: f"person {o.name}",
    "employee.describe": lambda o: f"employee {o.name}",
    "employee.yearlyPay": lambda o: None if o.salary is None else o.salary * 12,
    "employee.raised": lambda o, by: None if o.salary is None else o.salary + by,
}


COMPANY = Schema(
    """
class person
  ( extent Persons ){
    attribute string name;
    attribute unsigned short age;
    attribute string address;
    string describe();};
class department
  ( extent Departments ){
    attribute string name;
    attribute string address;
    relationship set<employee> employees
      inverse employee::dept;};
class employee extends person
  ( extent Employees ) {
    attribute unsigned long salary;
    attribute set<person> dependents;
    relationship department dept
      inverse department::employees;
    attribute employee manager;
    string describe();
    long yearlyPay();
    long raised(in long by);};
""",
    (
        Class(
            "person",
            "Persons",
            {"name": "string", "age": "int", "address": "string"},
            operations={"describe": ("string", OPERATIONS["person.describe"])},
        ),
        Class(
            "department",
            "Departments",
            {"name": "string", "address": "string", "employees": ("set", EMPLOYEE)},
            inverses={"employees": ("employee", "dept")},
        ),
        Class(
            "employee",
            "Employees",
            {"salary": "int", "dependents": ("set", PERSON), "dept": DEPARTMENT, "manager": EMPLOYEE},
            parent="person",
            inverses={"dept": ("department", "employees")},
            operations={
                "describe": ("string", OPERATIONS["employee.describe"]),
                "yearlyPay": ("int", OPERATIONS["employee.yearlyPay"]),
                "raised": ("int", OPERATIONS["employee.raised"]),
            },
        ),
    ),
    OPERATIONS,
)

SHOP = Schema(
    """
class Customer (extent customers) { attribute string name; };
class Product (extent products) { attribute string name; attribute long cost; };
class OrderLineItem (extent orderLineItems) {
  attribute Product product; attribute long quantity; attribute long price; };
class Order (extent orders) {
  attribute long no; attribute struct Day { long monthIndex; long year; } date;
  attribute Customer customer; attribute list<OrderLineItem> orderLineItems; };
class SaleLineItem (extent saleLineItems) {
  attribute Product product; attribute long price; attribute long quantity; };
class Payment (extent payments) { attribute long amount; };
class Sale (extent sales) {
  attribute long no; attribute Order order;
  attribute set<SaleLineItem> saleLineItems; attribute bag<Payment> payments; };
class CashReceipt (extent cashReceipts) { attribute long checkAmount; };
""",
    (
        Class("Customer", "customers", {"name": "string"}),
        Class("Product", "products", {"name": "string", "cost": "int"}),
        Class(
            "OrderLineItem",
            "orderLineItems",
            {"product": ("class", "Product"), "quantity": "int", "price": "int"},
        ),
        Class(
            "Order",
            "orders",
            {
                "no": "int",
                "date": ("struct", (("monthIndex", "int"), ("year", "int"))),
                "customer": ("class", "Customer"),
                "orderLineItems": ("list", ("class", "OrderLineItem")),
            },
        ),
        Class(
            "SaleLineItem",
            "saleLineItems",
            {"product": ("class", "Product"), "price": "int", "quantity": "int"},
        ),
        Class("Payment", "payments", {"amount": "int"}),
        Class(
            "Sale",
            "sales",
            {
                "no": "int",
                "order": ("class", "Order"),
                "saleLineItems": ("set", ("class", "SaleLineItem")),
                "payments": ("bag", ("class", "Payment")),
            },
        ),
        Class("CashReceipt", "cashReceipts", {"checkAmount": "int"}),
    ),
)

ZOO = Schema(
    """
class keeper (extent Keepers) {
  attribute string name;
  relationship set<animal> wards inverse animal::keepers;
  relationship badge badge inverse badge::holder; };
class badge (extent Badges) {
  attribute long number;
  relationship keeper holder inverse keeper::badge; };
class cage (extent Cages) {
  attribute string label;
  relationship list<animal> row inverse animal::cage; };
class animal (extent Animals) {
  attribute string name;
  attribute boolean tame;
  attribute long legs;
  attribute double weight;
  attribute decimal(10,2) price;
  attribute date born;
  attribute timestamp seen;
  attribute enum mood {calm, cross, asleep} mood;
  attribute struct Place { long row; string hall; } home;
  attribute set<string> tags;
  attribute bag<long> meals;
  attribute list<long> scores;
  attribute dictionary<string, long> notes;
  attribute list<animal> friends;
  attribute animal rival;
  relationship set<keeper> keepers inverse keeper::wards;
  relationship cage cage inverse cage::row; };
class bird extends animal (extent Birds) { attribute double span; };
""",
    (
        Class(
            "keeper",
            "Keepers",
            {"name": "string", "wards": ("set", ("class", "animal")), "badge": ("class", "badge")},
            inverses={"wards": ("animal", "keepers"), "badge": ("badge", "holder")},
        ),
        Class(
            "badge",
            "Badges",
            {"number": "int", "holder": ("class", "keeper")},
            inverses={"holder": ("keeper", "badge")},
        ),
        Class(
            "cage",
            "Cages",
            {"label": "string", "row": ("list", ("class", "animal"))},
            inverses={"row": ("animal", "cage")},
        ),
        Class(
            "animal",
            "Animals",
            {
                "name": "string",
                "tame": "boolean",
                "legs": "int",
                "weight": "float",
                "price": "decimal",
                "born": "date",
                "seen": "timestamp",
                "mood": "string",
                "home": ("struct", (("row", "int"), ("hall", "string"))),
                "tags": ("set", "string"),
                "meals": ("bag", "int"),
                "scores": ("list", "int"),
                "notes": ("dictionary", "string", "int"),
                "friends": ("list", ("class", "animal")),
                "rival": ("class", "animal"),
                "keepers": ("set", ("class", "keeper")),
                "cage": ("class", "cage"),
            },
            inverses={"keepers": ("keeper", "wards"), "cage": ("cage", "row")},
        ),
        Class("bird", "Birds", {"span": "float"}, parent="animal"),
    ),
)

ZOO_OF_ARRAYS = replace(
    ZOO,
    odl=re.sub(r"(attribute (?:set|bag|list|dictionary)<[^>]*> \w+);", r"\1 kept as array;", ZOO.odl),
)
"""The same, its collections kept in the rows of their owners."""

FIRM = Schema(
    """
class site (extent Sites) {
  attribute string name; attribute long area; attribute long spare; attribute set<dept> depts; };
class dept (extent Depts) {
  attribute string name; attribute long size; attribute long spare;
  attribute site site; attribute emp head; attribute set<emp> picks;
  relationship set<emp> staff inverse emp::home; };
class emp (extent Emps) {
  attribute string name; attribute long pay; attribute long spare;
  attribute emp boss; relationship dept home inverse dept::staff; };
""",
    (
        Class(
            "site",
            "Sites",
            {"name": "string", "area": "int", "spare": "int", "depts": ("set", ("class", "dept"))},
        ),
        Class(
            "dept",
            "Depts",
            {
                "name": "string",
                "size": "int",
                "spare": "int",
                "site": ("class", "site"),
                "head": ("class", "emp"),
                "picks": ("set", ("class", "emp")),
                "staff": ("set", ("class", "emp")),
            },
            inverses={"staff": ("emp", "home")},
        ),
        Class(
            "emp",
            "Emps",
            {
                "name": "string",
                "pay": "int",
                "spare": "int",
                "boss": ("class", "emp"),
                "home": ("class", "dept"),
            },
            inverses={"home": ("dept", "staff")},
        ),
    ),
)
"""References along which views look, and attributes that they do not read."""
