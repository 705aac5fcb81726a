"""asyncio on both databases: streams of changes, coroutines as subscribers, transactions of tasks."""

from __future__ import annotations

import asyncio
import pickle
import threading
import warnings
from typing import Any

import pytest

import evercurrent as ec
from evercurrent.rows import awaiting
from evercurrent.statements.protocol import AnyDatabase


@pytest.fixture
def shop(db: AnyDatabase) -> AnyDatabase:
    db.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, customer STRING, total INT)")
    db.execute("CREATE VIEW spend AS SELECT customer, sum(total) AS total FROM orders GROUP BY customer")
    return db


def insert(db: AnyDatabase, key: int, customer: str = "Ann", total: int = 1) -> None:
    db.table("orders").insert((key, customer, total))


def test_async_for(shop: AnyDatabase) -> None:
    async def main() -> list[Any]:
        seen = []
        stream = shop["spend"].changes()
        writer = threading.Thread(target=lambda: [insert(shop, i) for i in range(3)])
        writer.start()
        async for change in stream:
            seen.append((change.inserted, change.deleted))
            if len(seen) == 3:
                break
        writer.join()
        stream.close()
        insert(shop, 9)
        return [*seen, *[c async for c in stream]]

    assert asyncio.run(main()) == [
        ([("Ann", 1)], []),
        ([("Ann", 2)], [("Ann", 1)]),
        ([("Ann", 3)], [("Ann", 2)]),
    ]


def test_a_slow_reader_is_left_behind_and_told(shop: AnyDatabase) -> None:
    async def main() -> list[int]:
        seen: list[int] = []
        stream = shop["orders"].changes(buffer=2)
        for i in range(4):
            insert(shop, i)  # no writer waits
        with pytest.raises(ec.LimitError, match="more than 2 changes of orders wait"):
            async for change in stream:
                seen.append(change.inserted[0][0])
        assert [c async for c in stream] == []
        return seen

    assert asyncio.run(main()) == [0, 1]
    assert len(shop["orders"]) == 4


def test_changes_need_a_loop(shop: AnyDatabase) -> None:
    with pytest.raises(ec.QueryError, match="needs a running event loop"):
        shop["spend"].changes()

    async def listen(change: Any) -> None:
        raise AssertionError

    with pytest.raises(ec.QueryError, match="needs a running event loop"):
        shop["spend"].subscribe(listen)
    with pytest.raises(ec.QueryError, match="is a coroutine function"):
        shop["spend"].subscribe(listen, when="before")


def test_coroutines_are_awaited_in_order_on_the_loop_of_who_subscribed(shop: AnyDatabase) -> None:
    async def main() -> tuple[list[Any], set[int]]:
        seen: list[Any] = []
        threads: set[int] = set()

        async def listen(change: Any) -> None:
            await asyncio.sleep(0.02 if not seen else 0)  # a later change does not overtake an earlier one
            threads.add(threading.get_ident())
            seen.append(change.inserted)

        subscription = shop["spend"].subscribe(listen)
        await asyncio.to_thread(lambda: [insert(shop, i) for i in range(3)])
        while len(seen) < 3:
            await asyncio.sleep(0.005)
        subscription.cancel()
        insert(shop, 9)
        await asyncio.sleep(0.01)
        return seen, threads - {threading.get_ident()}

    assert asyncio.run(main()) == ([[("Ann", 1)], [("Ann", 2)], [("Ann", 3)]], set())


def test_a_coroutine_that_raises_is_reported(shop: AnyDatabase) -> None:
    async def main() -> list[str]:
        async def listen(change: Any) -> None:
            raise ValueError("oh")

        shop["spend"].subscribe(listen)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            insert(shop, 1)
            await asyncio.sleep(0.02)
        return [str(w.message) for w in caught if w.category is ec.SubscriberWarning]

    (said,) = asyncio.run(main())
    assert said.startswith("a subscriber to spend raised ValueError: oh")
    assert len(shop["orders"]) == 1


def test_a_slow_coroutine_is_cut_off(shop: AnyDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awaiting, "BUFFER", 2)

    async def main() -> list[int]:
        seen: list[int] = []

        async def listen(change: Any) -> None:
            seen.append(change.transaction)

        shop["orders"].subscribe(listen)
        with pytest.warns(ec.SubscriberWarning, match="more than 2 changes"):
            for i in range(3):  # the loop has no turn meanwhile
                insert(shop, i)
        await asyncio.sleep(0.02)
        return seen

    assert len(asyncio.run(main())) == 2


def test_async_transaction(shop: AnyDatabase) -> None:
    async def main() -> None:
        async with shop.transaction():
            insert(shop, 1)
            await asyncio.sleep(0)
            insert(shop, 2)
            async with shop.transaction():  # of the same task: joins
                insert(shop, 3)
            assert len(shop["orders"]) == 0
        assert len(shop["orders"]) == 3
        with pytest.raises(ZeroDivisionError):
            async with shop.transaction():
                insert(shop, 4)
                1 / 0
        assert len(shop["orders"]) == 3

    asyncio.run(main())


def test_tasks_take_turns(shop: AnyDatabase) -> None:
    async def main() -> None:
        order: list[str] = []

        async def work(name: str, key: int) -> None:
            async with shop.transaction():
                order.append(f"{name} begins")
                insert(shop, key, name)
                await asyncio.sleep(0.01)
                insert(shop, key + 1, name)
                order.append(f"{name} ends")

        await asyncio.gather(work("a", 1), work("b", 10), work("c", 20))
        assert [o.split()[1] for o in order] == ["begins", "ends"] * 3
        assert len(shop["orders"]) == 6

    asyncio.run(main())


def test_another_task_cannot_slip_into_a_transaction(shop: AnyDatabase) -> None:
    async def main() -> None:
        entered = asyncio.Event()

        async def hold() -> None:
            async with shop.transaction() as tx:
                insert(shop, 1)
                entered.set()
                await asyncio.sleep(0.02)
                tx.rollback()

        holding = asyncio.create_task(hold())
        await entered.wait()
        with pytest.raises(ec.TransactionError, match="another task has a transaction open"):
            insert(shop, 2)
        with pytest.raises(ec.TransactionError, match="another task"), shop.transaction():
            pass
        await holding
        insert(shop, 3)
        assert [row[0] for row in shop["orders"].rows()] == [3]

    asyncio.run(main())


def test_a_task_waits_for_another_thread(shop: AnyDatabase) -> None:
    inside, go_on = threading.Event(), threading.Event()

    def other() -> None:
        with shop.transaction():
            insert(shop, 1)
            inside.set()
            go_on.wait()

    async def main() -> None:
        asyncio.get_running_loop().call_later(
            0.05, go_on.set
        )  # the loop must not be blocked for this to happen
        async with shop.transaction():
            insert(shop, 2)

    thread = threading.Thread(target=other)
    thread.start()
    inside.wait()
    asyncio.run(main())
    thread.join()
    assert sorted(row[0] for row in shop["orders"].rows()) == [1, 2]


# --- changes -----------------------------------------------------------------------------------------------


def test_updated_pairs_old_and_new_rows_by_key(shop: AnyDatabase) -> None:
    seen: list[Any] = []
    shop["orders"].subscribe(seen.append)
    shop["spend"].subscribe(seen.append)
    shop.table("orders").insert([(1, "Ann", 5), (2, "Bob", 1)])
    seen.clear()
    with shop.transaction():
        shop.table("orders").update(1, total=7)
        shop.table("orders").delete(2)
        shop.table("orders").insert((3, "Cid", 2))
    by_name = {c.name: c for c in seen}
    assert by_name["orders"].updated == [((1, "Ann", 5), (1, "Ann", 7))]
    assert by_name["spend"].updated == [(("Ann", 5), ("Ann", 7))]
    assert sorted(by_name["spend"].inserted) == [("Ann", 7), ("Cid", 2)]
    assert sorted(by_name["spend"].deleted) == [("Ann", 5), ("Bob", 1)]


def test_changes_can_be_pickled(shop: AnyDatabase) -> None:
    seen: list[Any] = []
    shop["spend"].subscribe(seen.append)
    insert(shop, 1)
    insert(shop, 2, total=4)
    again = pickle.loads(pickle.dumps(seen))
    assert [(c.name, c.transaction, c.inserted, c.deleted, c.updated, c.size, repr(c)) for c in again] == [
        (c.name, c.transaction, c.inserted, c.deleted, c.updated, c.size, repr(c)) for c in seen
    ]
    assert again[1].updated == [(("Ann", 1), ("Ann", 5))]
