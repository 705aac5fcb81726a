"""States that are read off the objects: what is not kept, and that nobody can tell."""

from __future__ import annotations

import pytest

import evercurrent as ec

SHOP = """
class Product (extent products) { attribute string name; attribute long cost; };
class Line (extent lines) { attribute Product product; attribute long quantity; };
class Sale (extent sales) { attribute long no; attribute set<Line> items; };
"""
COST = "define cost as select struct(no: s.no, c: sum(select i.product.cost * i.quantity from i in s.items)) from s in sales"


def shop(mode: str = "strict") -> ec.Database:
    db = ec.connect()
    db.odl(SHOP)
    db.oql(COST, mode=mode)
    return db


def costs(db: ec.Database) -> list[tuple[int, int]]:
    return sorted((row.no, row.c) for row in db.view("cost").value())


def by_hand(db: ec.Database) -> list[tuple[int, int]]:
    return sorted(
        (s.no, sum(i.product.cost * i.quantity for i in s.items if i.product)) for s in db.extent("sales")
    )


def loans(db: ec.Database) -> set[str]:
    return {loan.table for loan in db._session.maintenance.engine.core.loans}


def test_columns_of_objects_are_not_kept_a_second_time() -> None:
    db = shop()
    assert loans(db) == {"products", "lines", "sales"}
    pen = db.new("Product", name="pen", cost=2)
    sale = db.new("Sale", no=1)
    for quantity in (1, 2, 3):
        sale.items.add(db.new("Line", product=pen, quantity=quantity))
    assert costs(db) == [(1, 12)]
    assert not any(len(loan) for loan in db._session.maintenance.engine.core.loans)


def test_the_source_reads_the_objects() -> None:
    source = str(shop().view("cost").explain(stage="source"))
    assert "._1" in source and "def insert" in source


@pytest.mark.parametrize("mode", ["strict", "hybrid", "lazy"])
def test_a_transaction_sees_what_was_there(mode: str) -> None:
    db = shop(mode)
    pens = [db.new("Product", name=f"pen {i}", cost=2 + i) for i in range(3)]
    sales = [db.new("Sale", no=i) for i in range(3)]
    for i in range(9):
        sales[i % 3].items.add(db.new("Line", product=pens[i // 3], quantity=i))
    assert costs(db) == by_hand(db)
    with db.transaction():  # a line, its product and its place move at once
        line = next(iter(sales[0].items))
        line.quantity = 50
        line.product = pens[2]
        pens[2].cost = 11
        sales[0].items.remove(line)
        sales[1].items.add(line)
        sales[1].items.add(db.new("Line", product=db.new("Product", name="new", cost=100), quantity=1))
    assert costs(db) == by_hand(db)
    with db.transaction():
        db.delete(line)
        db.delete(pens[0])
    assert costs(db) == by_hand(db)


@pytest.mark.parametrize("mode", ["strict", "hybrid", "lazy"])
def test_what_is_undone_leaves_no_trace(mode: str) -> None:
    db = shop(mode)
    pen = db.new("Product", name="pen", cost=2)
    sale = db.new("Sale", no=1)
    line = db.new("Line", product=pen, quantity=3)
    sale.items.add(line)
    with pytest.raises(RuntimeError), db.transaction():
        pen.cost = 5
        line.quantity = 7
        sale.items.remove(line)
        db.delete(line)
        raise RuntimeError
    assert costs(db) == by_hand(db) == [(1, 6)]
    sale.items.remove(line)
    assert costs(db) == by_hand(db)


@pytest.mark.parametrize("mode", ["strict", "hybrid"])
def test_a_view_that_is_read_in_a_transaction_shows_what_is_committed(mode: str) -> None:
    db = shop(mode)
    pen = db.new("Product", name="pen", cost=2)
    sale = db.new("Sale", no=1)
    line = db.new("Line", product=pen, quantity=3)
    sale.items.add(line)
    before = [tuple(r.values()) for r in db.view("cost").value()]
    sale.items.add(db.new("Line", product=pen, quantity=1))  # waits, if the view is hybrid
    with db.transaction():
        pen.cost = 100
        line.quantity = 1000
        seen = [tuple(r.values()) for r in db.view("cost").value()]
    assert before == [(1, 6)]
    assert seen in ([(1, 8)], [(1, 100_100)])  # as committed, or as the transaction would have it
    assert costs(db) == by_hand(db) == [(1, 100_100)]


def test_an_object_that_refers_to_its_own_kind_is_kept() -> None:
    db = ec.connect()
    db.odl("class person (extent persons) { attribute string name; attribute person boss; };")
    db.oql("define bosses as select struct(n: p.name, b: p.boss.name) from p in persons")
    ann = db.new("person", name="Ann")
    ann.boss = ann
    bob = db.new("person", name="Bob", boss=ann)
    ann.name = "Anna"
    bob.boss = bob
    assert not loans(db)
    assert sorted(tuple(r.values()) for r in db.view("bosses").value()) == [("Anna", "Anna"), ("Bob", "Bob")]


def test_a_general_class_and_a_special_one() -> None:
    db = ec.connect()
    db.odl(
        "class person (extent persons) { attribute string name; };"
        "class employee extends person (extent employees) { attribute person friend; attribute long pay; };"
    )
    db.oql("define friends as select struct(n: e.name, f: e.friend.name) from e in employees")
    ann = db.new("person", name="Ann")
    bob = db.new("employee", name="Bob", friend=ann, pay=1)
    cid = db.new("employee", name="Cid", friend=bob, pay=2)
    bob.name = "Rob"
    cid.friend = cid
    ann.name = "Anna"
    assert sorted(tuple(r.values()) for r in db.view("friends").value()) == [("Cid", "Cid"), ("Rob", "Anna")]


def test_triggers_of_columns_and_aggregates_that_are_no_sums() -> None:
    """The names of a trigger's columns are not those of what an engine keeps for aggregates."""
    db = shop()
    db.oql(
        "define most as select struct(q: i.quantity, m: max(select l.quantity from l in lines)) from i in lines"
    )
    db.oql(
        "define names as select struct(n: n, c: max(select p.p.cost from p in partition)) from p in products group by n: p.name"
    )
    pens = [db.new("Product", name=f"pen {i % 2}", cost=i) for i in range(6)]
    for i in range(4):
        db.new("Line", product=pens[i], quantity=i)
    pens[5].cost = 1
    assert sorted(tuple(r.values()) for r in db.view("names").value()) == [("pen 0", 4), ("pen 1", 3)]
    assert {r.m for r in db.view("most").value()} == {3}
