"""Objects: the measurements of the two papers about views over object databases, done again.

Nakamura, *Incremental Computation of Complex Object Queries* (2001), section 8: three applications against the same written by
hand. Ali, Fernandes, Paton, *Incremental Maintenance of Materialized OQL Views* (2000), section 4: reading a materialized view
against evaluating it, and moving it by one change against both.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import evercurrent as ec
from bench.measure import machine, quiet
from bench.report import Result, Table
from bench.trade import (
    CUSTOMERS,
    GENERAL_LEDGER,
    MONTHS,
    ORDER_STATISTICS,
    PRODUCTS,
    SCHEMA,
    UNPAID_SALES,
    History,
    history,
)
from bench.trade_by_hand import APPLICATIONS, Company

ABOUT = (
    "Programs over objects. *By hand* is straightforward Python: plain classes, and code that updates the result where the data "
    "changes. *Strict* and *hybrid* are the same program over declared classes with the paper's OQL query as a view; nothing in "
    "the program mentions the result. Times are of the processor, the best of several runs, results compared after each."
)

QUERIES = {
    "General Ledger": GENERAL_LEDGER,
    "Order Statistics": ORDER_STATISTICS,
    "Unpaid Sales": UNPAID_SALES,
}
PAPER = {"General Ledger": (7.9, 7.6), "Order Statistics": (2.2, 2.2), "Unpaid Sales": (1.6, 1.3)}


# --- the trading company -----------------------------------------------------------------------------------


class Tracked:
    """The company as declared classes; with a query, that query is kept as a view."""

    def __init__(self, query: str | None, mode: str = "strict", schema: str = SCHEMA) -> None:
        self.db = ec.connect()
        self.db.odl(schema)
        if query is not None:
            self.db.oql(f"define result as {query}", mode=mode)
        classes = self.db.classes
        self.products = [classes.Product(name=f"product {i}", cost=10 + i) for i in range(PRODUCTS)]
        self.customers = [classes.Customer(name=f"customer {i}") for i in range(CUSTOMERS)]
        self.dates = [
            classes.Date(year=2000 + i // 12, month=i % 12 + 1, monthIndex=i) for i in range(MONTHS)
        ]
        self.orders: list[Any] = []
        self.sales: list[Any] = []

    def run(self, history: History) -> None:
        maker = self.db.classes.maker
        new_order, new_order_item = maker("Order"), maker("OrderLineItem")
        new_sale, new_sale_item = maker("Sale"), maker("SaleLineItem")
        new_receipt, new_payment = maker("CashReceipt"), maker("Payment")
        for order, sale, receipt in zip(history.orders, history.sales, history.receipts, strict=True):
            month, customer, lines = order
            made = new_order(no=len(self.orders), date=self.dates[month], customer=self.customers[customer])
            self.orders.append(made)
            for product, price, quantity in lines:
                item = new_order_item(product=self.products[product], price=price, quantity=quantity)
                made.orderLineItems.add(item)
            of, lines = sale
            sold = new_sale(no=len(self.sales), order=self.orders[of])
            self.sales.append(sold)
            for product, price, quantity in lines:
                item = new_sale_item(product=self.products[product], price=price, quantity=quantity)
                sold.saleLineItems.add(item)
            new_receipt(checkAmount=sum([amount for _, amount in receipt]))
            for which, amount in receipt:
                self.sales[which].payments.add(new_payment(amount=amount))

    def result(self) -> object:
        value = self.db.view("result").value()
        if hasattr(value, "accountsReceivable"):
            return (value.accountsReceivable, value.cash, value.costOfGoodsSold)
        return sorted(tuple(row.values()) for row in value)


def processor(run: Callable[[], Any]) -> float:
    with quiet():
        start = time.process_time()
        run()
        return time.process_time() - start


def trade(primary: int, repeats: int) -> dict[str, tuple[float, float, float, float, float]]:
    """For each application: by hand, strict, hybrid, each with one read at the end; and the program without a view, both ways."""
    past = history(primary)
    found = {}
    plain = min(processor(lambda: Company().run(past)) for _ in range(repeats))
    tracked = min(processor(_prepared(lambda: Tracked(None), past)) for _ in range(repeats))
    for name, by_hand in APPLICATIONS.items():
        hand_times, strict_times, hybrid_times = [], [], []
        for _ in range(repeats):
            hand = by_hand()
            hand_times.append(processor(lambda hand=hand: (hand.run(past), hand.result())))  # type: ignore[misc]
            expected = hand.result()
            for mode, times in (("strict", strict_times), ("hybrid", hybrid_times)):
                ours = Tracked(QUERIES[name], mode)
                times.append(
                    processor(lambda ours=ours: (ours.run(past), ours.db.view("result").value()))  # type: ignore[misc]
                )
                if ours.result() != expected:
                    raise AssertionError(f"{name}, {mode}: the view is not what was computed by hand")
                del ours
            del hand
            gc.collect()
        found[name] = (min(hand_times), min(strict_times), min(hybrid_times), plain, tracked)
    return found


def _prepared(make: Callable[[], Tracked], past: History) -> Callable[[], None]:
    ours = make()
    return lambda: ours.run(past)


def trade_tables(quick: bool) -> list[Table]:
    main = Table(
        "Nakamura 2001, table 2: against hand-written programs, 8,000 primary transactions",
        [
            "application",
            "by hand, s",
            "strict, s",
            "ratio",
            "paper's ratio",
            "hybrid, s",
            "ratio",
            "paper's ratio",
        ],
        notes=[
            "Each primary transaction has five that follow from it. Every change updates the view at once; nothing is batched. "
            "Each program ends with reading its result once."
        ],
    )
    growth = Table(
        "Nakamura 2001, figures 8 to 10: the ratio as data grows (strict / hybrid)",
        ["primary transactions", *QUERIES, "no view at all"],
    )
    for thousands in (1, 8) if quick else (1, 2, 4, 8, 16, 32, 64):
        found = trade(thousands * 1000, max(2, (16 if quick else 48) // (thousands + 4)))
        ratios = [f"{s / h:.2f} / {y / h:.2f}" for h, s, y, _, _ in found.values()]
        plain, tracked = next((p, t) for _, _, _, p, t in found.values())
        growth.rows.append([f"{thousands}K", *ratios, f"{tracked / plain:.2f}"])
        if thousands == 8:
            for name, (hand, strict, hybrid, _, _) in found.items():
                main.rows.append(
                    [name, hand, strict, strict / hand, PAPER[name][0], hybrid, hybrid / hand, PAPER[name][1]]
                )
    return [main, growth]


# --- employees and departments -----------------------------------------------------------------------------

STAFF = """
class person (extent Persons) { attribute string name; attribute unsigned short age; attribute string address; };
class department (extent Departments) {
    attribute string name; attribute string address;
    relationship set<employee> employees inverse employee::dept; };
class employee extends person (extent Employees) {
    attribute unsigned long salary; attribute set<person> dependents;
    relationship department dept inverse department::employees; attribute employee manager; };
"""
OLDER = """
define olderEmpThatWorksFor() as
select struct(E:e.name, D:d.name)
from e in Employees, d in Departments
where e.dept = d and e.age >= 39;
"""


def staff(employees: int, per_department: int = 20) -> tuple[ec.Database, list[Any], list[Any]]:
    db = ec.connect()
    db.odl(STAFF)
    classes = db.classes
    departments = [
        classes.department(name=f"department {i}", address="")
        for i in range(employees // per_department or 1)
    ]
    people = [
        classes.employee(
            name=f"employee {i}", age=20 + i % 40, salary=i % 100, dept=departments[i % len(departments)]
        )
        for i in range(employees)
    ]
    return db, departments, people


def each(run: Callable[[int], Any], times: int) -> float:
    """Seconds for one call."""
    with quiet():
        start = time.process_time()
        for i in range(times):
            run(i)
        return (time.process_time() - start) / times


def staff_table(quick: bool) -> Table:
    table = Table(
        "Ali, Fernandes, Paton 2000, figure 12: the view of figure 13, in process",
        [
            "employees",
            "read, ms",
            "evaluate, ms",
            "rematerialize, ms",
            "insert, µs",
            "evaluations saved",
            "insert / remat.",
            "rename, µs",
            "rename / remat.",
        ],
        notes=[
            "*Read* gives all rows of the materialized view, *evaluate* runs its query from scratch, *rematerialize* drops the "
            "view and creates it again. *Evaluations saved* is how many inserts cost as much as one evaluation (the paper: 31, 54 "
            "and 76); the paper's insert is 55 to 132 times cheaper than rematerializing."
        ],
    )
    for employees in (1_000, 10_000) if quick else (1_000, 10_000, 100_000):
        table.rows.append(staff_row(employees))
    return table


def require_older(db: ec.Database) -> None:
    """Hold the view against a plain loop over the objects."""
    expected = sorted((e.name, e.dept.name) for e in db.extent("Employees") if e.dept and e.age >= 39)
    found = sorted((row.E, row.D) for row in db.view("olderEmpThatWorksFor").value())
    if found != expected:
        raise AssertionError("the view differs from a plain loop")


def staff_row(employees: int) -> list[Any]:
    db, departments, people = staff(employees)
    db.oql(OLDER)
    view = db.view("olderEmpThatWorksFor")
    read = min(each(lambda i: view.value(), 1) for _ in range(3))
    query = OLDER.split(" as\n", 1)[1].rstrip().rstrip(";")
    evaluate = min(each(lambda i: db.query(query, language="oql"), 1) for _ in range(3))

    def again(i: int) -> None:
        db.oql("undefine olderEmpThatWorksFor;")
        db.oql(OLDER)

    rematerialize = min(each(again, 1) for _ in range(3))
    make = db.classes.employee

    def add(i: int) -> None:
        make(name=f"new {i}", age=45, salary=1, dept=departments[i % len(departments)])

    def rename(i: int) -> None:
        people[i * 7 % employees].name = f"renamed {i}"

    insert, changed = each(add, 2000), each(rename, 2000)
    require_older(db)
    times = [read * 1e3, evaluate * 1e3, rematerialize * 1e3, insert * 1e6]
    ratios = [evaluate / insert, rematerialize / insert]
    return [employees, *times, *ratios, changed * 1e6, rematerialize / changed]


# --- shared attributes -------------------------------------------------------------------------------------


def fan_out_table(quick: bool) -> Table:
    table = Table(
        "A change of a shared attribute, by how much refers to it",
        [
            "fan-out",
            "product cost in the ledger, µs",
            "department name in the view of figure 13, µs",
            "µs a row",
        ],
        notes=[
            "A second-order map (the quantity sold of each product) makes the cost of a product constant work; the cost is a "
            "decimal here, since a product of integers can overflow and so cannot be taken apart. The name of a "
            "department is shown in every row of its employees, and each of these rows is a change."
        ],
    )
    for fan in (10, 1_000) if quick else (10, 1_000, 100_000):
        table.rows.append(fan_out_row(fan))
    return table


def fan_out_row(fan: int) -> list[Any]:
    company = Tracked(GENERAL_LEDGER, schema=SCHEMA.replace("long cost", "decimal(10,2) cost"))
    classes, product = company.db.classes, company.products[0]
    sold = classes.Sale(no=0)
    for i in range(fan):
        sold.saleLineItems.add(classes.SaleLineItem(product=product, price=3, quantity=1 + i % 3))
    product.cost = 1  # the first change of a product gives up what was assumed of it

    def reprice(i: int) -> None:
        product.cost = 2 + i

    cost = each(reprice, 200)
    db, departments, _ = staff(2 * fan, 2 * fan)
    db.oql(OLDER)
    departments[0].name = "first"

    def rename(i: int) -> None:
        departments[0].name = f"name {i}"

    renamed = each(rename, 5)
    require_older(db)
    sold_cost = sum(i.product.cost * i.quantity for i in sold.saleLineItems)
    if company.db.view("result").value().costOfGoodsSold != sold_cost:
        raise AssertionError("the ledger differs from a plain loop")
    moved = len(db.view("olderEmpThatWorksFor").value())
    return [fan, cost * 1e6, renamed * 1e6, renamed * 1e6 / moved]


def rename_table(quick: bool) -> Table:
    table = Table(
        "Thirty renames of a department, then one read (Nakamura 2001, figure 5)",
        [
            "employees of it",
            "strict: renames, ms",
            "read, ms",
            "hybrid: renames, ms",
            "read, ms",
            "hybrid, with 30 new employees in between: all 60, ms",
            "read, ms",
        ],
        notes=[
            "A hybrid view defers the change of an attribute that many rows show until somebody reads it, and then applies the "
            "last value. Objects that come and go are joined at once, so the read has no more to do than one rename."
        ],
    )
    for fan in (20, 2_000) if quick else (20, 2_000, 20_000):
        table.rows.append(
            [fan, *rename_times(fan, "strict"), *rename_times(fan, "hybrid"), *rename_times(fan, "hybrid", 1)]
        )
    return table


def rename_times(fan: int, mode: Any, hired: int = 0) -> tuple[float, float]:
    """Milliseconds for thirty renames, after each of which some are hired, and for the read behind them; the best of three."""
    db, departments, _ = staff(2 * fan, 2 * fan)  # half of them are shown
    db.oql(OLDER, mode=mode)
    view = db.view("olderEmpThatWorksFor")
    make = db.classes.employee

    def rename(i: int) -> None:
        departments[0].name = f"name {i}"
        for _ in range(hired):
            make(name="new", age=50, salary=1, dept=departments[0])

    times = []
    for _ in range(3):
        view.value()
        times.append((each(rename, 30) * 30e3, each(lambda i: view.value(), 1) * 1e3))
    require_older(db)
    return min(t for t, _ in times), min(t for _, t in times)


def run(quick: bool) -> Result:
    tables = [*trade_tables(quick), staff_table(quick), fan_out_table(quick), rename_table(quick)]
    return Result("objects", ABOUT, tables, machine(), quick)
