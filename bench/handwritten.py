"""What a good programmer writes by hand to keep four TPC-H queries current.

Each program knows that keys are keys and that parents come before their children and go after them; it keeps what the
answer needs and nothing else. A program gives functions of a row, one for each table and sign, and a function that
reads the answer. Rows hold money and quantities in hundredths (`bench.tpch.internal`); amounts of price times
(1 - discount) are thus in units of 1/10,000.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from bench.tpch import Row

Handler = Callable[[Row], None]


def ignore(row: Row) -> None:
    """For rows of tables that move nothing in the streams."""


def money(amount: int, scale: int) -> Decimal:
    return Decimal(amount).scaleb(-scale)


@dataclass
class Handwritten:
    answer: Callable[[], list[tuple[Any, ...]]]
    inserts: dict[str, Handler]
    deletes: dict[str, Handler] = field(default_factory=dict)

    def handler(self, table: str, sign: int) -> Handler:
        return (self.inserts if sign > 0 else self.deletes).get(table, ignore)


def q3() -> Handwritten:
    """Revenue of unshipped orders of customers in one segment; each order's cell holds its own sum and count."""
    cut = datetime.date(1995, 3, 15)
    building: set[int] = set()
    orders: dict[int, list[Any]] = {}  # order -> [revenue, lines, date, priority]

    def insert_customer(row: Row) -> None:
        if row[6] == "BUILDING":
            building.add(row[0])

    def insert_order(row: Row) -> None:
        if row[4] < cut and row[1] in building:
            orders[row[0]] = [0, 0, row[4], row[7]]

    def delete_order(row: Row) -> None:
        orders.pop(row[0], None)

    def insert_line(row: Row) -> None:
        if row[10] > cut:
            cell = orders.get(row[0])
            if cell is not None:
                cell[0] += row[5] * (100 - row[6])
                cell[1] += 1

    def delete_line(row: Row) -> None:
        if row[10] > cut:
            cell = orders.get(row[0])
            if cell is not None:
                cell[0] -= row[5] * (100 - row[6])
                cell[1] -= 1

    def answer() -> list[tuple[Any, ...]]:
        return [(key, money(cell[0], 4), cell[2], cell[3]) for key, cell in orders.items() if cell[1]]

    return Handwritten(
        answer,
        {"customer": insert_customer, "orders": insert_order, "lineitem": insert_line},
        {"orders": delete_order, "lineitem": delete_line},
    )


def q5() -> Handwritten:
    """Revenue within each nation of one region, customer and supplier from the same nation."""
    first, last = datetime.date(1994, 1, 1), datetime.date(1995, 1, 1)
    asia: set[int] = set()
    nations: dict[int, list[Any]] = {}  # nation -> [revenue, lines, name]
    suppliers: dict[int, int] = {}  # supplier -> nation in the region
    customers: dict[int, int] = {}
    orders: dict[int, int] = {}  # order of the year -> nation of its customer

    def insert_region(row: Row) -> None:
        if row[1] == "ASIA":
            asia.add(row[0])

    def insert_nation(row: Row) -> None:
        if row[2] in asia:
            nations[row[0]] = [0, 0, row[1]]

    def insert_supplier(row: Row) -> None:
        if row[3] in nations:
            suppliers[row[0]] = row[3]

    def insert_customer(row: Row) -> None:
        if row[3] in nations:
            customers[row[0]] = row[3]

    def insert_order(row: Row) -> None:
        if first <= row[4] < last:
            nation = customers.get(row[1])
            if nation is not None:
                orders[row[0]] = nation

    def delete_order(row: Row) -> None:
        orders.pop(row[0], None)

    def insert_line(row: Row) -> None:
        nation = orders.get(row[0])
        if nation is not None and suppliers.get(row[2]) == nation:
            cell = nations[nation]
            cell[0] += row[5] * (100 - row[6])
            cell[1] += 1

    def delete_line(row: Row) -> None:
        nation = orders.get(row[0])
        if nation is not None and suppliers.get(row[2]) == nation:
            cell = nations[nation]
            cell[0] -= row[5] * (100 - row[6])
            cell[1] -= 1

    def answer() -> list[tuple[Any, ...]]:
        return [(cell[2], money(cell[0], 4)) for cell in nations.values() if cell[1]]

    return Handwritten(
        answer,
        {
            "region": insert_region,
            "nation": insert_nation,
            "supplier": insert_supplier,
            "customer": insert_customer,
            "orders": insert_order,
            "lineitem": insert_line,
        },
        {"orders": delete_order, "lineitem": delete_line},
    )


def q17() -> Handwritten:
    """Yearly revenue lost if small orders of certain parts were not taken.

    Per part of the brand: quantities in order, with the prices sold at each, so that a change re-adds at most fifty.
    """
    parts: dict[int, list[Any]] = {}  # part -> [quantity, lines, {quantity: price}, contribution]
    total = 0

    def insert_part(row: Row) -> None:
        if row[3] == "Brand#23" and row[6] == "MED BOX":
            parts[row[0]] = [0, 0, {}, 0]

    def settle(part: list[Any]) -> None:
        nonlocal total
        quantity, lines, prices, before = part
        # quantity of a line < 0.2 * average, without a division
        after = sum(price for q, price in prices.items() if 5 * q * lines < quantity)
        part[3] = after
        total += after - before

    def insert_line(row: Row) -> None:
        part = parts.get(row[1])
        if part is not None:
            part[0] += row[4]
            part[1] += 1
            part[2][row[4]] = part[2].get(row[4], 0) + row[5]
            settle(part)

    def delete_line(row: Row) -> None:
        part = parts.get(row[1])
        if part is not None:
            part[0] -= row[4]
            part[1] -= 1
            left = part[2][row[4]] - row[5]
            if left:
                part[2][row[4]] = left
            else:
                del part[2][row[4]]
            settle(part)

    def answer() -> list[tuple[Any, ...]]:
        return [(total / 700 if any(p[3] for p in parts.values()) else None,)]

    return Handwritten(answer, {"part": insert_part, "lineitem": insert_line}, {"lineitem": delete_line})


def q18() -> Handwritten:
    """Orders of more than 300 pieces, with their customers."""
    customers: dict[int, str] = {}
    orders: dict[int, list[Any]] = {}  # order -> [quantity, customer, date, price]
    large: dict[int, list[Any]] = {}

    def insert_customer(row: Row) -> None:
        customers[row[0]] = row[1]

    def insert_order(row: Row) -> None:
        orders[row[0]] = [0, row[1], row[4], row[3]]

    def delete_order(row: Row) -> None:
        del orders[row[0]]
        large.pop(row[0], None)

    def insert_line(row: Row) -> None:
        key = row[0]
        order = orders[key]
        order[0] += row[4]
        if order[0] > 30000:
            large[key] = order

    def delete_line(row: Row) -> None:
        key = row[0]
        order = orders[key]
        order[0] -= row[4]
        if order[0] <= 30000:
            large.pop(key, None)

    def answer() -> list[tuple[Any, ...]]:
        return [
            (customers[o[1]], o[1], key, o[2], money(o[3], 2), money(o[0], 2)) for key, o in large.items()
        ]

    return Handwritten(
        answer,
        {"customer": insert_customer, "orders": insert_order, "lineitem": insert_line},
        {"orders": delete_order, "lineitem": delete_line},
    )


PROGRAMS: dict[str, Callable[[], Handwritten]] = {"Q3": q3, "Q5": q5, "Q17": q17, "Q18": q18}
