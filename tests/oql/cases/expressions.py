"""Constructors, paths, methods, atoms: sections 3, 4 and 5."""

from __future__ import annotations

from tests.oql.cases.case import Case, bag, set_, struct
from tests.oql.oracle.values import UNDEFINED

COMPANY = (
    ("set_constructor", "set(1, 1, 2)", lambda g: set_(1, 2)),
    ("bag_constructor", "bag(1, 1, 2)", lambda g: bag(1, 1, 2)),
    ("list_constructor", "list(2, 1, 2)", lambda g: [2, 1, 2]),
    ("array_constructor", "array(2, 1)", lambda g: [2, 1]),
    ("range", "list(1..5)", lambda g: [1, 2, 3, 4, 5]),
    (
        "list_of_list",
        "list(select e.name from e in Employees order by e.name)",
        lambda g: [["Ann", "Ben", "Cid", "Pat"]],
    ),
    (
        "struct_of_collections",
        "struct(names: (select d.name from d in Departments), n: count(Departments))",
        lambda g: struct(names=bag("dev", "ops", "hr"), n=3),
    ),
    (
        "path",
        "select e.dept.address from e in Employees",
        lambda g: bag("North 1", "North 1", "South 2", UNDEFINED),
    ),
    ("arrow", "select e->dept->name from e in Employees where e.age < 40", lambda g: bag("dev", "ops")),
    (
        "long_path",
        "select e.manager.manager.name from e in Employees",
        lambda g: bag(UNDEFINED, UNDEFINED, UNDEFINED, "Ann"),
    ),
    ("method", "select e.yearlyPay() from e in Employees", lambda g: bag(1200, 600, 600, None)),
    ("method_argument", "select e.raised(5) from e in Employees where e.age < 40", lambda g: bag(55, 55)),
    (
        "late_binding",
        "select p.describe from p in Persons where p.age < 45",
        lambda g: bag("person Bob", "person Cat", "employee Ben", "employee Cid"),
    ),
    (
        "subclasses_in_extent",
        "select p.name from p in Persons",
        lambda g: bag("Bob", "Cat", "Ann", "Ben", "Cid", "Pat"),
    ),
    (
        "cast",
        "select ((employee) p).salary from p in Persons where p in Employees",
        lambda g: bag(100, 50, 50, None),
    ),
    ("negation", "-(1 + 2)", lambda g: -3),
    ("division", "select e.age / 2 from e in Employees where e.age < 40", lambda g: bag(15.0, 19.5)),
    ("mod_abs", "select abs(e.salary - 101) mod 7 from e in Employees", lambda g: bag(1, 2, 2, None)),
    ("div", "7 div 2", lambda g: 3),
    (
        "andthen",
        "select e.name from e in Employees where e.manager != nil andthen e.manager.age > 40",
        lambda g: bag("Ben", "Cid"),
    ),
    (
        "orelse",
        "select e.name from e in Employees where e.manager = nil orelse e.manager.age < 40",
        lambda g: bag("Ann", "Pat"),
    ),
    ("concatenation", 'select e.name || "." from e in Employees where e.age < 35', lambda g: bag("Ben.")),
    ("concatenation_plus", 'select e.name + "!" from e in Employees where e.age < 35', lambda g: bag("Ben!")),
    ("character", "select e.name[0] from e in Employees", lambda g: bag("A", "B", "C", "P")),
    (
        "substring",
        'select e.name[0:1] || "." from e in Employees',
        lambda g: bag("An.", "Be.", "Ci.", "Pa."),
    ),
    (
        "like_star",
        'select e.name from e in Employees where e.name like "A*"',
        lambda g: bag("Ann"),
    ),
    ("like_percent", 'select e.name from e in Employees where e.name like "%n"', lambda g: bag("Ann", "Ben")),
    ("like_one", 'select e.name from e in Employees where e.name like "?a_"', lambda g: bag("Pat")),
    (
        "character_in_string",
        'select e.name from e in Employees where "n" in e.name',
        lambda g: bag("Ann", "Ben"),
    ),
    (
        "identity",
        'select e.name from e in Employees, d in Departments where e.dept = d and d.name = "ops"',
        lambda g: bag("Cid"),
    ),
    ("struct_equality", "struct(a: 1, b: set(1, 2)) = struct(a: 1, b: set(2, 1))", lambda g: True),
    ("set_equality", "set(1, 2) = set(2, 1)", lambda g: True),
    ("bag_equality", "bag(1, 1) = bag(1)", lambda g: False),
    ("list_equality", "list(1, 2) = list(2, 1)", lambda g: False),
    ("nil_equals_nil", "select e.name from e in Employees where e.manager = nil", lambda g: bag("Ann")),
    (
        "nil_unequal",
        "select e.name from e in Employees where e.dept != nil",
        lambda g: bag("Ann", "Ben", "Cid"),
    ),
    (
        "is_defined",
        "select e.name from e in Employees where is_defined(e.manager.name)",
        lambda g: bag("Ben", "Cid", "Pat"),
    ),
    (
        "is_undefined",
        "select e.name from e in Employees where is_undefined(e.manager.name)",
        lambda g: bag("Ann"),
    ),
    (
        "nil_arithmetic",
        "select e.salary + 1 from e in Employees where e.age > 40",
        lambda g: bag(101, None),
    ),
    (
        "undefined_or_true",
        "select e.name from e in Employees where e.manager.age > 90 or e.age = 45",
        lambda g: bag("Ann"),
    ),
    (
        "undefined_and_false",
        "select e.name from e in Employees where not (e.manager.age > 0 and e.age < 40)",
        lambda g: bag("Ann", "Pat"),
    ),
)

SHOP = (
    ("path_of_three", "select s.order.customer.name from s in sales", lambda g: bag("Kim", "Kim", UNDEFINED)),
    ("struct_attribute", "select o.date.monthIndex from o in orders", lambda g: bag(7, 8)),
    (
        "struct_whole",
        "select o.date from o in orders where o.no = 1",
        lambda g: bag(struct(monthIndex=7, year=2001)),
    ),
)

CASES = (
    *(Case(name, "company", query, value) for name, query, value in COMPANY),
    *(Case(name, "shop", query, value) for name, query, value in SHOP),
)
