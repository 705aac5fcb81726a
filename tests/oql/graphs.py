"""Two small graphs made by hand, with names for their objects, so that answers can be worked out on paper.

Ann  45 "Hill 1" 100 dev  -    {Bob, Cat}        sale 1: pen 3 x 4, ink 1 x 9 = 21, paid 10 + 11; order 1, July
Ben  30 "Hill 2"  50 dev  Ann  {Bob}             sale 7: pen 2 x 4 = 8, paid 5; order 2, August
Cid  39 nil       50 ops  Ann  {}                sale 9: nothing, no order
Pat  52 "Lake 3" nil nil  Cid  {}                cash receipts 10, 11, 5; pen costs 2, ink costs 5
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Protocol


class Store(Protocol):
    """What makes objects: the plain model, or a database."""

    def new(self, name: str, /, **values: Any) -> Any: ...


def company(store: Store) -> SimpleNamespace:
    new = store.new
    g = SimpleNamespace()
    g.dev = new("department", name="dev", address="North 1")
    g.ops = new("department", name="ops", address="South 2")
    g.hr = new("department", name="hr")
    g.bob = new("person", name="Bob", age=8)
    g.cat = new("person", name="Cat", age=20, address="Hill 1")
    g.ann = new(
        "employee", name="Ann", age=45, address="Hill 1", salary=100, dept=g.dev, dependents=[g.bob, g.cat]
    )
    g.ben = new(
        "employee",
        name="Ben",
        age=30,
        address="Hill 2",
        salary=50,
        dept=g.dev,
        manager=g.ann,
        dependents=[g.bob],
    )
    g.cid = new("employee", name="Cid", age=39, salary=50, dept=g.ops, manager=g.ann)
    g.pat = new("employee", name="Pat", age=52, address="Lake 3", manager=g.cid)
    return g


def shop(store: Store) -> SimpleNamespace:
    new = store.new
    g = SimpleNamespace()
    g.pen, g.ink = new("Product", name="pen", cost=2), new("Product", name="ink", cost=5)
    g.kim = new("Customer", name="Kim")
    g.line1 = new("OrderLineItem", product=g.pen, quantity=3, price=4)
    g.line2 = new("OrderLineItem", product=g.ink, quantity=1, price=9)
    g.line3 = new("OrderLineItem", product=g.pen, quantity=2, price=4)
    july, august = {"monthIndex": 7, "year": 2001}, {"monthIndex": 8, "year": 2001}
    g.order1 = new("Order", no=1, date=july, customer=g.kim, orderLineItems=[g.line1, g.line2])
    g.order2 = new("Order", no=2, date=august, customer=g.kim, orderLineItems=[g.line3])
    g.item1 = new("SaleLineItem", product=g.pen, quantity=3, price=4)
    g.item2 = new("SaleLineItem", product=g.ink, quantity=1, price=9)
    g.item3 = new("SaleLineItem", product=g.pen, quantity=2, price=4)
    g.pay1, g.pay2, g.pay3 = (new("Payment", amount=a) for a in (10, 11, 5))
    g.sale1 = new("Sale", no=1, order=g.order1, saleLineItems=[g.item1, g.item2], payments=[g.pay1, g.pay2])
    g.sale7 = new("Sale", no=7, order=g.order2, saleLineItems=[g.item3], payments=[g.pay3])
    g.sale9 = new("Sale", no=9)
    g.receipts = [new("CashReceipt", checkAmount=a) for a in (10, 11, 5)]
    return g
