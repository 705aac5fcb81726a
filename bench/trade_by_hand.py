"""The three applications of Nakamura (2001), written by hand in the straightforward way: objects, and code that updates results."""

from __future__ import annotations

from bench.trade import CUSTOMERS, MONTHS, PRODUCTS, History


class Date:
    __slots__ = ("month", "monthIndex", "year")

    def __init__(self, year: int, month: int, monthIndex: int) -> None:
        self.year, self.month, self.monthIndex = year, month, monthIndex


class Product:
    def __init__(self, name: str, cost: int) -> None:
        self.name = name
        self.cost = cost


class Customer:
    def __init__(self, name: str) -> None:
        self.name = name


class LineItem:
    def __init__(self, product: Product, price: int, quantity: int) -> None:
        self.product = product
        self.price = price
        self.quantity = quantity


class Order:
    def __init__(self, no: int, date: Date, customer: Customer) -> None:
        self.no = no
        self.date = date
        self.customer = customer
        self.orderLineItems: set[LineItem] = set()


class Payment:
    def __init__(self, amount: int) -> None:
        self.amount = amount


class Sale:
    def __init__(self, no: int, order: Order) -> None:
        self.no = no
        self.order = order
        self.saleLineItems: set[LineItem] = set()
        self.payments: set[Payment] = set()


class CashReceipt:
    def __init__(self, checkAmount: int) -> None:
        self.checkAmount = checkAmount


class Company:
    """The data, and what keeps an application's result: nothing here, something in the subclasses."""

    def __init__(self) -> None:
        self.products = [Product(f"product {i}", 10 + i) for i in range(PRODUCTS)]
        self.customers = [Customer(f"customer {i}") for i in range(CUSTOMERS)]
        self.dates = [Date(2000 + i // 12, i % 12 + 1, i) for i in range(MONTHS)]
        self.orders: list[Order] = []
        self.sales: list[Sale] = []
        self.cashReceipts: list[CashReceipt] = []

    def run(self, history: History) -> None:
        for order, sale, receipt in zip(history.orders, history.sales, history.receipts, strict=True):
            month, customer, lines = order
            made = Order(len(self.orders), self.dates[month], self.customers[customer])
            self.orders.append(made)
            for product, price, quantity in lines:
                item = LineItem(self.products[product], price, quantity)
                made.orderLineItems.add(item)
                self.ordered(made, item)
            of, lines = sale
            sold = Sale(len(self.sales), self.orders[of])
            self.sales.append(sold)
            for product, price, quantity in lines:
                item = LineItem(self.products[product], price, quantity)
                sold.saleLineItems.add(item)
                self.sold(sold, item)
            got = CashReceipt(sum([amount for _, amount in receipt]))
            self.cashReceipts.append(got)
            self.received(got)
            for which, amount in receipt:
                paid = self.sales[which]
                payment = Payment(amount)
                paid.payments.add(payment)
                self.paid(paid, payment)

    def ordered(self, order: Order, item: LineItem) -> None: ...

    def sold(self, sale: Sale, item: LineItem) -> None: ...

    def received(self, receipt: CashReceipt) -> None: ...

    def paid(self, sale: Sale, payment: Payment) -> None: ...


class GeneralLedger(Company):
    def __init__(self) -> None:
        super().__init__()
        self.accountsReceivable = 0
        self.cash = 0
        self.costOfGoodsSold = 0

    def sold(self, sale: Sale, item: LineItem) -> None:
        self.accountsReceivable += item.price * item.quantity
        self.costOfGoodsSold += item.product.cost * item.quantity

    def received(self, receipt: CashReceipt) -> None:
        self.accountsReceivable -= receipt.checkAmount
        self.cash += receipt.checkAmount

    def result(self) -> object:
        return (self.accountsReceivable, self.cash, self.costOfGoodsSold)


class OrderStatistics(Company):
    def __init__(self) -> None:
        super().__init__()
        self.totals: dict[tuple[Product, int], int] = {}

    def ordered(self, order: Order, item: LineItem) -> None:
        key = (item.product, order.date.monthIndex)
        self.totals[key] = self.totals.get(key, 0) + item.quantity

    def result(self) -> object:
        return sorted((product.name, month, total) for (product, month), total in self.totals.items())


class UnpaidSales(Company):
    def __init__(self) -> None:
        super().__init__()
        self.open: dict[Sale, int] = {}
        self.unpaid: dict[Sale, tuple[str, int]] = {}

    def sold(self, sale: Sale, item: LineItem) -> None:
        self.moved(sale, item.price * item.quantity)

    def paid(self, sale: Sale, payment: Payment) -> None:
        self.moved(sale, -payment.amount)

    def moved(self, sale: Sale, amount: int) -> None:
        self.open[sale] = open_now = self.open.get(sale, 0) + amount
        if open_now > 0:
            if sale not in self.unpaid:
                self.unpaid[sale] = (sale.order.customer.name, sale.no)
        elif sale in self.unpaid:
            del self.unpaid[sale]

    def result(self) -> object:
        return sorted(self.unpaid.values())


APPLICATIONS = {
    "General Ledger": GeneralLedger,
    "Order Statistics": OrderStatistics,
    "Unpaid Sales": UnpaidSales,
}
