"""Objects on Spark: section 4 of Ali, Fernandes, Paton, *Incremental Maintenance of Materialized OQL Views* (2000), done again.

The view of their figure 13 at three sizes of the database, in a warehouse of Spark's: what reading it costs beside evaluating
its query, and what a change costs beside evaluating and beside materializing the view again.
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import evercurrent as ec
from bench.measure import machine
from bench.objects_bench import OLDER, STAFF, require_older
from bench.report import Result, Table
from bench.spark_data import session

ABOUT = (
    "A program over objects whose classes are tables of a warehouse on Spark in local mode. Times are by the clock, since the "
    "work is done by the driver and by Spark's own process. Every insert and every change of an attribute is a transaction of "
    "its own: constraints, program, commit and publishing. The view was compared with a plain loop over the objects at the end."
)
PER_DEPARTMENT = 20
AT_ONCE = 20_000
VIEW = "olderEmpThatWorksFor"


def seconds(run: Callable[[], Any], times: int) -> float:
    """The median of so many calls."""
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        run()
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


def staff(spark: Any, place: Path, employees: int) -> tuple[Any, list[Any], list[Any]]:
    db = ec.connect(spark=spark, path=place)
    db.odl(STAFF)
    classes = db.classes
    with db.transaction():
        departments = [
            classes.department(name=f"department {i}", address="")
            for i in range(employees // PER_DEPARTMENT or 1)
        ]
    people: list[Any] = []
    while len(people) < employees:
        with db.transaction():
            for i in range(len(people), min(len(people) + AT_ONCE, employees)):
                dept = departments[i % len(departments)]
                people.append(
                    classes.employee(name=f"employee {i}", age=20 + i % 40, salary=i % 100, dept=dept)
                )
    return db, departments, people


def row(spark: Any, place: Path, employees: int, times: int) -> list[Any]:
    db, departments, people = staff(spark, place, employees)
    db.oql(OLDER)
    view = db.view(VIEW)
    view.value()
    read = seconds(view.value, times)
    query = OLDER.split(" as\n", 1)[1].rstrip().rstrip(";")
    db.query(query, language="oql")
    evaluate = seconds(lambda: db.query(query, language="oql"), times)

    def again() -> None:
        db.oql(f"undefine {VIEW};")
        db.oql(OLDER)

    again()
    rematerialize = seconds(again, times)
    made = iter(range(employees))

    def add() -> None:
        i = next(made)
        db.new("employee", name=f"new {i}", age=45, salary=1, dept=departments[i % len(departments)])

    def rename() -> None:
        i = next(made)
        people[i * 7 % employees].name = f"renamed {i}"

    for _ in range(3):  # the first batches open files and are compiled for
        add()
        rename()
    insert, changed = seconds(add, 4 * times), seconds(rename, 4 * times)
    require_older(db)
    costs = [1e3 * t for t in (read, evaluate, rematerialize, insert)]
    return [
        employees,
        *costs,
        evaluate / insert,
        rematerialize / insert,
        1e3 * changed,
        evaluate / changed,
        rematerialize / changed,
    ]


def run(quick: bool) -> Result:
    table = Table(
        "Ali, Fernandes, Paton 2000, figure 12: the view of figure 13, on Spark",
        [
            "employees",
            "read, ms",
            "evaluate, ms",
            "rematerialize, ms",
            "insert, ms",
            "evaluations saved",
            "insert / remat.",
            "rename, ms",
            "rename / eval.",
            "rename / remat.",
        ],
        notes=[
            "*Read* gives all rows of the materialized view, *evaluate* runs its query from scratch, *rematerialize* drops the "
            "view and creates it again; an insert and a rename are committed and published one by one. Medians of a few calls "
            "after a first one."
        ],
    )
    spark = session("2g")
    for employees in (1_000, 10_000) if quick else (1_000, 10_000, 100_000):
        place = Path(tempfile.mkdtemp(prefix="evercurrent-bench-"))
        try:
            table.rows.append(row(spark, place / "w", employees, 3 if quick else 5))
            print(*table.rows[-1], flush=True)
        finally:
            shutil.rmtree(place, ignore_errors=True)
    return Result("spark-objects", ABOUT, [table], machine(), quick)
