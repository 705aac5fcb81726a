"""Quantifiers, membership, aggregates, sets, lists: section 6."""

from __future__ import annotations

from tests.oql.cases.case import Case, bag, set_, struct
from tests.oql.oracle.values import UNDEFINED

COMPANY = (
    (
        "for_all",
        "select d from d in Departments where for all e in d.employees: e.salary > 50",
        lambda g: bag(g.hr),
    ),
    (
        "exists_in",
        "select e from e in Employees where exists c in e.dependents: c.age < 18",
        lambda g: bag(g.ann, g.ben),
    ),
    (
        "not_exists_in",
        "select d.name from d in Departments where not (exists e in d.employees: e.age > 40)",
        lambda g: bag("ops", "hr"),
    ),
    ("exists_collection", 'exists(select e from e in Employees where e.name = "Pat")', lambda g: True),
    (
        "exists_correlated",
        "select d.name from d in Departments where exists(select e from e in d.employees where e.age > 40)",
        lambda g: bag("dev"),
    ),
    ("unique", 'unique(select e from e in Employees where e.name = "Pat")', lambda g: True),
    ("unique_of_many", "unique(Employees)", lambda g: False),
    ("member_value", '"Pat" in (select e.name from e in Employees)', lambda g: True),
    (
        "member_object",
        "select d.name from e in Employees, d in Departments where e in d.employees and e.age < 40",
        lambda g: bag("dev", "ops"),
    ),
    ("not_member", "select p.name from p in Persons where not (p in Employees)", lambda g: bag("Bob", "Cat")),
    (
        "at_least_all",
        "select e.name from e in Employees where e.age >= all (select x.age from x in Employees)",
        lambda g: bag("Pat"),
    ),
    (
        "greater_than_some",
        "select e.name from e in Employees where e.age > some (select x.age from x in Employees)",
        lambda g: bag("Ann", "Cid", "Pat"),
    ),
    (
        "equal_any",
        "select e.name from e in Employees where e.age = any (list(30, 39))",
        lambda g: bag("Ben", "Cid"),
    ),
    (
        "nil_equals_no_scalar",
        "select e.name from e in Employees where e.salary = some (select x.salary from x in Employees)",
        lambda g: bag("Ann", "Ben", "Cid"),
    ),
    ("avg", "avg(select e.age from e in Employees)", lambda g: 41.5),
    ("sum_of_bag", "sum(select e.salary from e in Employees)", lambda g: 200),
    ("sum_of_set", "sum(select distinct e.salary from e in Employees)", lambda g: 150),
    ("sum_shorthand", "select sum(e.salary) from e in Employees", lambda g: 200),
    ("count_star", "select count(*) from e in Employees where e.age > 40", lambda g: 2),
    ("sum_of_nothing", "sum(select e.salary from e in Employees where e.age > 99)", lambda g: 0),
    ("max_of_nothing", "max(select e.salary from e in Employees where e.age > 99)", lambda g: UNDEFINED),
    ("count_of_nils", "count(select e.salary from e in Employees)", lambda g: 4),
    ("min_of_names", "min(select e.name from e in Employees)", lambda g: "Ann"),
    ("avg_skips_nil", "avg(select e.salary from e in Employees where e.age > 40)", lambda g: 100.0),
    ("except_sets", "Persons except Employees", lambda g: set_(g.bob, g.cat)),
    ("intersect_sets", "Persons intersect Employees", lambda g: set_(g.ann, g.ben, g.cid, g.pat)),
    (
        "union_bags",
        "(select e.salary from e in Employees) union (select e.salary from e in Employees where e.age < 40)",
        lambda g: bag(100, 50, 50, None, 50, 50),
    ),
    ("union_set_bag", "set(1,2) union bag(2)", lambda g: bag(1, 2, 2)),
    (
        "except_bags",
        "(select e.salary from e in Employees) except bag(50)",
        lambda g: bag(100, 50, None),
    ),
    (
        "intersect_bags",
        "(select e.salary from e in Employees) intersect bag(50, 50, 50)",
        lambda g: bag(50, 50),
    ),
    (
        "inclusion",
        "select struct(e: e.name, f: f.name) from e in Employees, f in Employees "
        "where e.dependents < f.dependents and e.age < 35",
        lambda g: bag(struct(e="Ben", f="Ann")),
    ),
    (
        "inclusion_or_equal",
        "select f.name from e in Employees, f in Employees where e.dependents <= f.dependents and e.age < 35",
        lambda g: bag("Ann", "Ben"),
    ),
    ("element", 'element(select d from d in Departments where d.name = "dev").address', lambda g: "North 1"),
    ("element_of_object", 'element(select d from d in Departments where d.name = "ops")', lambda g: g.ops),
    ("flatten_sets", "flatten(select e.dependents from e in Employees)", lambda g: set_(g.bob, g.cat)),
    ("flatten_lists", "flatten(list(list(1,2), list(2)))", lambda g: [1, 2, 2]),
    (
        "flatten_bags",
        "flatten(select (select c.name from c in e.dependents) from e in Employees)",
        lambda g: bag("Bob", "Cat", "Bob"),
    ),
    (
        "listtoset",
        "listtoset(select e.salary from e in Employees order by e.name)",
        lambda g: set_(100, 50, None),
    ),
    ("distinct_bag", "distinct(bag(1,1))", lambda g: set_(1)),
    ("distinct_list", "distinct(list(2,1,2))", lambda g: [2, 1]),
    ("index", "list(10, 20, 30)[1]", lambda g: 20),
    ("index_of_select", "(select e.name from e in Employees order by e.name)[2]", lambda g: "Cid"),
    ("slice", "(select e.name from e in Employees order by e.name)[1:2]", lambda g: ["Ben", "Cid"]),
    ("slice_beyond", "(select e.name from e in Employees order by e.name)[2:9]", lambda g: ["Cid", "Pat"]),
    ("first", "first(select e from e in Employees order by e.age desc).name", lambda g: "Pat"),
    ("last", "last(select e.name from e in Employees order by e.age desc)", lambda g: "Ben"),
    (
        "first_of_nothing",
        "first(select e.name from e in Employees where e.age > 99 order by e.age)",
        lambda g: UNDEFINED,
    ),
    ("list_concatenation", "list(1) + list(2, 1)", lambda g: [1, 2, 1]),
)

SHOP = (
    ("exists_sale", "exists(select s from s in sales where s.no = 7)", lambda g: True),
    (
        "sum_of_products",
        "sum(select i.price * i.quantity from s in sales, i in s.saleLineItems)",
        lambda g: 29,
    ),
    (
        "list_element",
        "select o.orderLineItems[0].quantity from o in orders",
        lambda g: bag(3, 2),
    ),
    (
        "bag_of_references",
        "select struct_sum from struct_sum in (select sum(select p.amount from p in s.payments) from s in sales)",
        lambda g: bag(21, 5, 0),
    ),
)

CASES = (
    *(Case(name, "company", query, value) for name, query, value in COMPANY),
    *(Case(name, "shop", query, value) for name, query, value in SHOP),
)
