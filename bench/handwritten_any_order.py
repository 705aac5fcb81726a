"""Two of the programs by hand once more, for rows that come in any order and any number of times.

A programmer who may not trust keys and the order of arrival stores every line before it is known whether its order or part counts,
and looks for what came earlier from every side: that is what a view with nothing declared has to do, too. Small tables at the
edge (nation, region) are joined when the answer is read.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from bench.handwritten import Handler, Handwritten, money
from bench.tpch import Row

Bag = dict[Any, int]


def count(bags: dict[Any, Bag], key: Any, value: Any, sign: int) -> None:
    """Adds a value to the bag of a key, or takes it away."""
    bag = bags.get(key)
    if bag is None:
        bags[key] = {value: sign}
        return
    left = bag.get(value, 0) + sign
    if left:
        bag[value] = left
    else:
        del bag[value]
        if not bag:
            del bags[key]


def q5() -> Handwritten:
    first, last = datetime.date(1994, 1, 1), datetime.date(1995, 1, 1)
    regions: Bag = {}  # those of the name
    nations: Bag = {}  # (nation, name, region)
    suppliers: dict[int, Bag] = {}  # supplier -> nations
    supplied: dict[int, dict[int, Bag]] = {}  # supplier -> order -> amounts
    customers: dict[int, Bag] = {}  # customer -> nations
    placed: dict[int, Bag] = {}  # customer -> orders of the year
    orders: dict[int, Bag] = {}  # order of the year -> customers
    lines: dict[int, Bag] = {}  # order -> (supplier, amount)
    revenue: dict[int, list[int]] = {}  # nation -> [revenue, lines]

    def add(nation: int, amount: int, times: int) -> None:
        cell = revenue.get(nation)
        if cell is None:
            cell = revenue[nation] = [0, 0]
        cell[0] += amount * times
        cell[1] += times

    def line(sign: int) -> Handler:
        def change(row: Row) -> None:
            order, supplier, amount = row[0], row[2], row[5] * (100 - row[6])
            count(lines, order, (supplier, amount), sign)
            count(supplied.setdefault(supplier, {}), order, amount, sign)
            for customer, n in orders.get(order, {}).items():
                for nation, m in customers.get(customer, {}).items():
                    times = suppliers.get(supplier, {}).get(nation, 0)
                    if times:
                        add(nation, amount, sign * n * m * times)

        return change

    def order(sign: int) -> Handler:
        def change(row: Row) -> None:
            if first <= row[4] < last:
                count(orders, row[0], row[1], sign)
                count(placed, row[1], row[0], sign)
                for nation, m in customers.get(row[1], {}).items():
                    for (supplier, amount), k in lines.get(row[0], {}).items():
                        add(nation, amount, sign * m * k * suppliers.get(supplier, {}).get(nation, 0))

        return change

    def insert_customer(row: Row) -> None:
        count(customers, row[0], row[3], 1)
        for number, n in placed.get(row[0], {}).items():
            for (supplier, amount), k in lines.get(number, {}).items():
                add(row[3], amount, n * k * suppliers.get(supplier, {}).get(row[3], 0))

    def insert_supplier(row: Row) -> None:
        count(suppliers, row[0], row[3], 1)
        for number, amounts in supplied.get(row[0], {}).items():
            for customer, n in orders.get(number, {}).items():
                m = customers.get(customer, {}).get(row[3], 0)
                for amount, k in amounts.items():
                    add(row[3], amount, n * m * k)

    def insert_region(row: Row) -> None:
        if row[1] == "ASIA":
            regions[row[0]] = regions.get(row[0], 0) + 1

    def insert_nation(row: Row) -> None:
        nations[row[:3]] = nations.get(row[:3], 0) + 1

    def answer() -> list[tuple[Any, ...]]:
        found: dict[str, list[int]] = {}
        for (nation, name, region), n in nations.items():
            times = n * regions.get(region, 0)
            cell = revenue.get(nation, [0, 0])
            if times and cell[1]:
                total = found.setdefault(name, [0, 0])
                total[0] += times * cell[0]
                total[1] += times * cell[1]
        return [(name, money(cell[0], 4)) for name, cell in found.items() if cell[1]]

    inserts = {"region": insert_region, "nation": insert_nation, "supplier": insert_supplier}
    inserts |= {"customer": insert_customer, "orders": order(1), "lineitem": line(1)}
    return Handwritten(answer, inserts, {"orders": order(-1), "lineitem": line(-1)})


def q17() -> Handwritten:
    parts: Bag = {}  # those of the brand
    lines: dict[int, dict[int, list[int]]] = {}  # part -> quantity -> [price, lines]
    contributions: dict[int, list[int]] = {}  # part of the brand -> [price, lines] of its small orders

    def settle(part: int) -> None:
        cells = lines.get(part, {})
        number = sum(cell[1] for cell in cells.values())
        quantity = sum(q * cell[1] for q, cell in cells.items())
        small = [cell for q, cell in cells.items() if 5 * q * number < quantity]
        contributions[part] = [sum(cell[0] for cell in small), sum(cell[1] for cell in small)]

    def insert_part(row: Row) -> None:
        if row[3] == "Brand#23" and row[6] == "MED BOX":
            parts[row[0]] = parts.get(row[0], 0) + 1
            settle(row[0])

    def line(sign: int) -> Handler:
        def change(row: Row) -> None:
            part = row[1]
            cells = lines.get(part)
            if cells is None:
                cells = lines[part] = {}
            cell = cells.get(row[4])
            if cell is None:
                cells[row[4]] = [sign * row[5], sign]
            elif cell[1] + sign:
                cell[0] += sign * row[5]
                cell[1] += sign
            else:
                del cells[row[4]]
            if part in parts:
                settle(part)

        return change

    def answer() -> list[tuple[Any, ...]]:
        price = sum(n * contributions[part][0] for part, n in parts.items())
        number = sum(n * contributions[part][1] for part, n in parts.items())
        return [(price / 700 if number else None,)]

    return Handwritten(answer, {"part": insert_part, "lineitem": line(1)}, {"lineitem": line(-1)})


PROGRAMS: dict[str, Callable[[], Handwritten]] = {"Q5": q5, "Q17": q17}
