"""Classes of objects and both databases, as pyright sees them: each line that ends in a mark has a mistake."""

from __future__ import annotations

import evercurrent as ec


class Part(ec.Entity, extent="Parts", key="name"):
    name: str
    cost: int = 0
    made_of: set[Part] = ec.empty()


db = ec.connect()
db.declare(Part)
bolt = Part(name="bolt")
car = Part(name="car", cost=3, made_of={bolt})
print(car.name.upper(), [p.cost + 1 for p in car.made_of])
Part(nam="bolt")  # wrong
Part(name=3)  # wrong
bolt.price  # wrong


def count(which: ec.AnyDatabase) -> int:
    return which.execute("DELETE FROM t").count


def both(spark: object) -> int:
    return count(ec.connect()) + count(ec.connect(spark=spark, path="warehouse"))
