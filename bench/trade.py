"""The trading company of Nakamura (2001): orders, sales and cash receipts, each with five transactions that follow from it.

The data model follows the paper's description and what its three queries read. A history is plain data, so that the program
that is written by hand and the one with views do the same things.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

SCHEMA = """
class Date { attribute short year; attribute short month; attribute long monthIndex; };
class Product (extent products) { attribute string name; attribute long cost; };
class Customer (extent customers) { attribute string name; };
class OrderLineItem { attribute Product product; attribute long price; attribute long quantity; };
class Order (extent orders) {
    attribute long no; attribute Date date; attribute Customer customer; attribute set<OrderLineItem> orderLineItems; };
class SaleLineItem { attribute Product product; attribute long price; attribute long quantity; };
class Payment { attribute long amount; };
class Sale (extent sales) {
    attribute long no; attribute Order order;
    attribute set<SaleLineItem> saleLineItems; attribute set<Payment> payments; };
class CashReceipt (extent cashReceipts) { attribute long checkAmount; };
"""

GENERAL_LEDGER = """
struct(
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
        from s in sales, i in s.saleLineItems))
"""
ORDER_STATISTICS = """
select struct(
  product: product.name,
  month: month,
  total: sum(select p.i.quantity
             from p in partition))
from order in orders, i in order.orderLineItems
group by product: i.product,
          month: order.date.monthIndex
"""
UNPAID_SALES = """
select struct(
  name: s.order.customer.name,
  no: s.no)
from s in sales
where (sum(select i.price * i.quantity
           from i in s.saleLineItems)
 - sum(select p.amount
       from p in s.payments)) > 0
"""

PRODUCTS, CUSTOMERS, MONTHS, ITEMS = 100, 100, 24, 5


@dataclass(frozen=True)
class History:
    """Primary transactions in turn: an order, a sale of it, a cash receipt that pays five sales a little."""

    orders: list[tuple[int, int, list[tuple[int, int, int]]]]  # month, customer, (product, price, quantity)
    sales: list[tuple[int, list[tuple[int, int, int]]]]  # order, (product, price, quantity)
    receipts: list[list[tuple[int, int]]]  # (sale, amount)


def history(primary: int, seed: int = 7) -> History:
    chance = random.Random(seed)
    rounds = primary // 3

    def items() -> list[tuple[int, int, int]]:
        return [
            (chance.randrange(PRODUCTS), chance.randrange(1, 100), chance.randrange(1, 10))
            for _ in range(ITEMS)
        ]

    return History(
        [(chance.randrange(MONTHS), chance.randrange(CUSTOMERS), items()) for _ in range(rounds)],
        [(chance.randrange(i + 1), items()) for i in range(rounds)],
        [[(chance.randrange(i + 1), chance.randrange(1, 900)) for _ in range(ITEMS)] for i in range(rounds)],
    )
