"""Query units and select: sections 1 and 2."""

from __future__ import annotations

from tests.oql.cases.case import Case, bag, set_, struct
from tests.oql.oracle.values import UNDEFINED

LEDGER = """struct(
accountsReceivable:
  (sum(select i.price * i.quantity
        from s in sales, i in s.saleLineItems)
 - sum(select r.checkAmount
        from r in cashReceipts)),
cash:
  sum(select r.checkAmount
        from r in cashReceipts),
costOfGoodsSold:
  sum(select i.product.cost * i.quantity
        from s in sales, i in s.saleLineItems))"""
STATISTICS = """select struct(
  product: product.name,
  month: month,
  total: sum(select p.i.quantity
             from p in partition))
from order in orders, i in order.orderLineItems
group by product: i.product,
          month: order.date.monthIndex"""
UNPAID = """select struct(
  name: s.order.customer.name,
  no: s.no)
from s in sales
where (sum(select i.price * i.quantity
           from i in s.saleLineItems)
 - sum(select p.amount
       from p in s.payments)) > 0"""

COMPANY = (
    ("limit", "select e.name from e in Employees order by e.age limit 2", lambda g: ["Ben", "Cid"]),
    (
        "limit_descending",
        "select e.name from e in Employees order by e.salary desc, e.name limit 3",
        lambda g: ["Ann", "Ben", "Cid"],
    ),
    (
        "limit_of_ties",
        "select e.name from e in Employees order by e.salary limit 2",
        lambda g: ["Pat", "Ben"],
    ),
    (
        "limit_with_offset",
        "select e.name from e in Employees order by e.age desc limit 2 offset 1",
        lambda g: ["Ann", "Cid"],
    ),
    ("limit_of_a_bag", "select e.salary from e in Employees limit 2", lambda g: bag(None, 50)),
    ("limit_of_a_set", "select distinct e.salary from e in Employees limit 2", lambda g: set_(None, 50)),
    ("limit_nothing", "select e.name from e in Employees limit 0", lambda g: bag()),
    ("limit_more_than_there_is", "count(select e from e in Employees limit 99)", lambda g: 4),
    ("limit_objects", "select e from e in Employees limit 1", lambda g: bag(g.ann)),
    (
        "limit_of_undefined",
        "select e.dept.name from e in Employees limit 2",
        lambda g: bag(UNDEFINED, "dev"),
    ),
    (
        "limit_nested",
        "select struct(d: d.name, best: (select e.name from e in d.employees order by e.salary desc, e.name limit 1))"
        " from d in Departments",
        lambda g: bag(struct(d="dev", best=["Ann"]), struct(d="ops", best=["Cid"]), struct(d="hr", best=[])),
    ),
    (
        "limit_of_structs",
        "select struct(s: e.salary, n: e.name) from e in Employees limit 2",
        lambda g: bag(struct(s=None, n="Pat"), struct(s=50, n="Ben")),
    ),
    (
        "limit_of_groups",
        "select struct(s: s, n: count(partition)) from e in Employees group by s: e.salary order by s desc limit 1",
        lambda g: [struct(s=100, n=1)],
    ),
    (
        "distinct_in_both_directions",
        "select distinct e.salary from e in Employees order by e.salary desc, e.name asc",
        lambda g: [100, 50, None],
    ),
    (
        "distinct_by_keys_that_are_not_shown",
        "select distinct e.salary from e in Employees order by e.dept.name asc, e.age desc",
        lambda g: [None, 100, 50],
    ),
    (
        "distinct_in_both_directions_with_limit",
        "select distinct e.dept.name from e in Employees order by e.salary desc, e.name asc limit 2",
        lambda g: ["dev", "ops"],
    ),
    ("count_distinct", "select count(distinct e.salary) from e in Employees", lambda g: 3),
    ("count_distinct_in_brackets", "select count(distinct (e.dept)) from e in Employees", lambda g: 3),
    ("count_distinct_collection", "count(distinct (select e.salary from e in Employees))", lambda g: 3),
    ("sum_distinct", "select sum(distinct e.salary) from e in Employees", lambda g: 150),
    (
        "count_distinct_of_groups",
        "select struct(d: d, n: count(distinct e.salary), a: count(distinct e.age)) from e in Employees"
        " group by d: e.dept.name",
        lambda g: bag(struct(d="dev", n=2, a=2), struct(d="ops", n=1, a=1), struct(d=UNDEFINED, n=1, a=1)),
    ),
    (
        "count_distinct_objects",
        "select count(distinct p) from e in Employees, p in e.dependents",
        lambda g: 2,
    ),
    ("nvl_of_nil", "select nvl(e.salary, 0) from e in Employees", lambda g: bag(100, 50, 50, 0)),
    (
        "nvl_of_undefined",
        'select nvl(e.dept.name, "none") from e in Employees',
        lambda g: bag("dev", "dev", "ops", "none"),
    ),
    (
        "ifnull",
        "select ifnull(p.address, p.name) from p in Persons where p.age < 40",
        lambda g: bag("Bob", "Hill 1", "Hill 2", "Cid"),
    ),
    (
        "nvl_of_objects",
        "select nvl(e.manager, e).name from e in Employees",
        lambda g: bag("Ann", "Ann", "Ann", "Cid"),
    ),
    (
        "nvl_to_undefined",
        "select nvl(e.address, e.dept.address) from e in Employees where e.age > 38 and e.age < 46",
        lambda g: bag("Hill 1", "South 2"),
    ),
    ("extent", "Departments", lambda g: set_(g.dev, g.ops, g.hr)),
    ("arithmetic_only", "1 + 2", lambda g: 3),
    ("struct_only", "struct(a: 1)", lambda g: struct(a=1)),
    ("count_extent", "count(Employees)", lambda g: 4),
    (
        "works_for",
        "select struct(E:e.name, D:d.name) from e in Employees, d in Departments where e.dept = d",
        lambda g: bag(struct(E="Ann", D="dev"), struct(E="Ben", D="dev"), struct(E="Cid", D="ops")),
    ),
    (
        "older",
        "select struct(E:e.name, D:d.name) from e in Employees, d in Departments where e.dept = d and e.age >= 39",
        lambda g: bag(struct(E="Ann", D="dev"), struct(E="Cid", D="ops")),
    ),
    (
        "nest_unnest",
        "select struct(E:e.name, Dep:(select c.name from c in e.dependents)) from e in Employees",
        lambda g: bag(
            struct(E="Ann", Dep=bag("Bob", "Cat")),
            struct(E="Ben", Dep=bag("Bob")),
            struct(E="Cid", Dep=bag()),
            struct(E="Pat", Dep=bag()),
        ),
    ),
    ("names", "select e.name from e in Employees", lambda g: bag("Ann", "Ben", "Cid", "Pat")),
    ("salaries", "select e.salary from e in Employees", lambda g: bag(100, 50, 50, None)),
    ("distinct_objects", "select distinct e.dept from e in Employees", lambda g: set_(g.dev, g.ops, None)),
    ("iterator_as", "select e.name from Employees as e where e.age > 40", lambda g: bag("Ann", "Pat")),
    ("iterator_bare", "select c.name from Employees e, e.dependents c", lambda g: bag("Bob", "Cat", "Bob")),
    ("iterator_implicit", "select name from Employees where age > 40", lambda g: bag("Ann", "Pat")),
    (
        "several_projections",
        "select e.name, e.salary from e in Employees where e.age < 40",
        lambda g: bag(struct(name="Ben", salary=50), struct(name="Cid", salary=50)),
    ),
    (
        "named_projections",
        "select E: e.name, pay: e.salary * 12 from e in Employees where e.age < 40",
        lambda g: bag(struct(E="Ben", pay=600), struct(E="Cid", pay=600)),
    ),
    ("one_named", "select e.name as n from e in Employees where e.age < 35", lambda g: bag(struct(n="Ben"))),
    (
        "star",
        "select * from e in Employees, d in Departments where e.dept = d",
        lambda g: bag(struct(e=g.ann, d=g.dev), struct(e=g.ben, d=g.dev), struct(e=g.cid, d=g.ops)),
    ),
    (
        "nested_aggregate",
        "select struct(d: d.name, top: max(select x.salary from x in d.employees)) from d in Departments",
        lambda g: bag(struct(d="dev", top=100), struct(d="ops", top=50), struct(d="hr", top=UNDEFINED)),
    ),
    (
        "nested_twice",
        "select struct(d: d.name, staff: (select struct(n: e.name, kids: (select c.name from c in e.dependents)) "
        "from e in d.employees)) from d in Departments",
        lambda g: bag(
            struct(
                d="dev",
                staff=bag(struct(n="Ann", kids=bag("Bob", "Cat")), struct(n="Ben", kids=bag("Bob"))),
            ),
            struct(d="ops", staff=bag(struct(n="Cid", kids=bag()))),
            struct(d="hr", staff=bag()),
        ),
    ),
    (
        "family_income",
        "select e from e in Employees where sum(select m.age from m in e.dependents) + e.salary > 55",
        lambda g: bag(g.ann, g.ben),
    ),
    ("two_paths", "select e from e in Employees where e.manager.dept != e.dept", lambda g: bag(g.cid, g.pat)),
    (
        "group_objects",
        "select struct(dept: d, n: count(partition), pay: avg(select p.e.salary from p in partition)) "
        "from e in Employees group by d: e.dept",
        lambda g: bag(
            struct(dept=g.dev, n=2, pay=75.0),
            struct(dept=g.ops, n=1, pay=50.0),
            struct(dept=None, n=1, pay=UNDEFINED),
        ),
    ),
    (
        "group_conditions",
        "select struct(low: low, high: high, n: count(partition)) from e in Employees "
        "where e.salary > 0 group by low: e.salary < 60, high: e.salary >= 60",
        lambda g: bag(struct(low=True, high=False, n=2), struct(low=False, high=True, n=1)),
    ),
    (
        "group_star",
        "select * from e in Employees group by d: e.dept",
        lambda g: bag(
            struct(d=g.dev, partition=bag(struct(e=g.ann), struct(e=g.ben))),
            struct(d=g.ops, partition=bag(struct(e=g.cid))),
            struct(d=None, partition=bag(struct(e=g.pat))),
        ),
    ),
    (
        "group_undefined",
        "select struct(a: a, n: count(partition)) from e in Employees group by a: e.manager.address",
        lambda g: bag(struct(a=UNDEFINED, n=1), struct(a="Hill 1", n=2), struct(a=None, n=1)),
    ),
    (
        "group_struct",
        "select struct(k: k, n: count(partition)) from e in Employees group by k: struct(d: e.dept, s: e.salary)",
        lambda g: bag(
            struct(k=struct(d=g.dev, s=100), n=1),
            struct(k=struct(d=g.dev, s=50), n=1),
            struct(k=struct(d=g.ops, s=50), n=1),
            struct(k=struct(d=None, s=None), n=1),
        ),
    ),
    (
        "group_shorthand",
        "select dept, pay: avg(e.salary) from e in Employees group by dept: e.dept",
        lambda g: bag(
            struct(dept=g.dev, pay=75.0), struct(dept=g.ops, pay=50.0), struct(dept=None, pay=UNDEFINED)
        ),
    ),
    (
        "having",
        "select d.name from e in Employees group by d: e.dept "
        "having count(partition) > 1 and avg(select p.e.age from p in partition) > 30",
        lambda g: bag("dev"),
    ),
    (
        "partition_names",
        "select struct(d: d.name, staff: (select p.e.name from p in partition)) from e in Employees group by d: e.dept",
        lambda g: bag(
            struct(d="dev", staff=bag("Ann", "Ben")),
            struct(d="ops", staff=bag("Cid")),
            struct(d=UNDEFINED, staff=bag("Pat")),
        ),
    ),
    (
        "order_two_keys",
        "select e.name from e in Employees order by e.salary desc, e.name",
        lambda g: ["Ann", "Ben", "Cid", "Pat"],
    ),
    (
        "order_nil_first",
        "select e.name from e in Employees order by e.salary, e.name",
        lambda g: ["Pat", "Ben", "Cid", "Ann"],
    ),
    (
        "order_undefined",
        "select e.name from e in Employees order by e.manager.name, e.name",
        lambda g: ["Ann", "Ben", "Cid", "Pat"],
    ),
    (
        "order_groups",
        "select struct(a: a, n: count(partition)) from e in Employees group by a: e.age > 40 order by a desc",
        lambda g: [struct(a=True, n=2), struct(a=False, n=2)],
    ),
    (
        "order_distinct",
        "select distinct e.salary from e in Employees order by e.salary",
        lambda g: [None, 50, 100],
    ),
    (
        "self_join",
        "select struct(e: e.name, m: m.name) from e in Employees, m in Employees where e.manager = m",
        lambda g: bag(struct(e="Ben", m="Ann"), struct(e="Cid", m="Ann"), struct(e="Pat", m="Cid")),
    ),
)

SHOP = (
    ("ledger", LEDGER, lambda g: struct(accountsReceivable=3, cash=26, costOfGoodsSold=15)),
    (
        "statistics",
        STATISTICS,
        lambda g: bag(
            struct(product="pen", month=7, total=3),
            struct(product="ink", month=7, total=1),
            struct(product="pen", month=8, total=2),
        ),
    ),
    ("unpaid", UNPAID, lambda g: bag(struct(name="Kim", no=7))),
    (
        "struct_of_scalars",
        "struct(n: count(orders), cash: sum(select r.checkAmount from r in cashReceipts))",
        lambda g: struct(n=2, cash=26),
    ),
    (
        "distinct_values",
        "select distinct i.product.name from s in sales, i in s.saleLineItems",
        lambda g: set_("pen", "ink"),
    ),
    (
        "dependent_iterator",
        "select struct(s: s.no, p: i.product.name) from s in sales, i in s.saleLineItems",
        lambda g: bag(struct(s=1, p="pen"), struct(s=1, p="ink"), struct(s=7, p="pen")),
    ),
    (
        "list_iterator",
        "select i.quantity from o in orders, i in o.orderLineItems where o.no = 1",
        lambda g: bag(3, 1),
    ),
    (
        "top_by_slice",
        "(select p.no from p in (select s from s in sales) order by p.no)[0:1]",
        lambda g: [1, 7],
    ),
    (
        "having_sum",
        "select p.name from s in sales, i in s.saleLineItems group by p: i.product having sum(i.quantity) > 2",
        lambda g: bag("pen"),
    ),
)

CASES = (
    *(Case(name, "company", query, value) for name, query, value in COMPANY),
    *(Case(name, "shop", query, value) for name, query, value in SHOP),
    Case(
        "defined",
        "company",
        'select w.E from w in worksFor() where w.D = "dev"',
        lambda g: bag("Ann", "Ben"),
        "define worksFor() as select struct(E:e.name, D:d.name) from e in Employees, d in Departments "
        "where e.dept = d;",
    ),
    Case(
        "defined_without_parentheses",
        "company",
        "count(adults)",
        lambda g: 5,
        "define adults as select p from p in Persons where p.age >= 18;",
    ),
    Case(
        "defined_with_parameter",
        "company",
        "count(olderThan(39))",
        lambda g: 2,
        "define query olderThan(long a) as select e from e in Employees where e.age > a;",
    ),
    Case(
        "define_uses_define",
        "company",
        "count(old)",
        lambda g: 2,
        "define olderThan(long a) as select e from e in Employees where e.age > a; define old as olderThan(39);",
    ),
)
