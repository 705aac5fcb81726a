"""What searches have found, made small."""

from __future__ import annotations

import pytest

import evercurrent as ec
from tests.oql.events import Event
from tests.oql.mirror import Mirror
from tests.oql.oracle.scalars import OqlError
from tests.oql.oracle.values import key
from tests.oql.schemas import COMPANY


def test_rows_that_wait_are_netted_whether_written_in_a_transaction_or_not() -> None:
    """A write outside a transaction tells only the columns that are read; one inside tells whole rows."""
    mirror = Mirror(COMPANY)
    ann, dev, ops = mirror.new("employee"), mirror.new("department", name="dev"), mirror.new("department")
    text = (
        "select struct(s: e.salary, d: max(select x.salary from x in e.dept.employees)) from e in Employees"
    )
    mirror.db.oql(f"define v as {text};", mode="lazy")
    mirror.happen(Event("set", ann, "salary", 1))
    mirror.transaction([Event("set", ann, "name", "Ann"), Event("set", ann, "dept", dev)])
    mirror.happen(Event("set", ann, "dept", ops))
    waiting = mirror.db._session.maintenance.lazy._net()
    assert [sorted(delta.weights.values()) for delta in waiting.values()] == [[-1, 1]]
    assert key(mirror.shown("v")) == key(mirror.oracle.value(text))
    mirror.happen(Event("set", ann, "name", "Bob"))
    assert mirror.db._session.maintenance.lazy._net() == {}


@pytest.mark.parametrize(
    ("text", "fails"),
    [
        ("select (select p.e.name[1] from p in partition) from e in Employees group by d: e.dept", True),
        (
            "select (select p.e.name[1] from p in partition) from e in Employees group by d: e.dept "
            "having count(partition) > 1",
            False,
        ),
        ("select d.name[1] from e in Employees group by d: e.dept having d != nil", False),
        (
            "select d from e in Employees group by d: e.dept having max(select p.e.name[1] from p in partition) = 'n'",
            True,
        ),
    ],
)
def test_an_index_inside_of_groups(text: str, fails: bool) -> None:
    """What may be out of range is asked of the groups that are shown."""
    mirror = Mirror(COMPANY)
    dev = mirror.new("department", name="dev")
    mirror.new("employee", name="Ann", dept=dev)
    mirror.new("employee", name="Ben", dept=dev)
    mirror.new("employee", name="X")
    if fails:
        with pytest.raises(OqlError):
            mirror.strict.value(text)
        with pytest.raises(ec.EvaluationError, match="out of range"):
            mirror.asked(text)
    else:
        assert key(mirror.asked(text)) == key(mirror.strict.value(text))
    mirror.db.oql(f"define v as {text};")
    assert key(mirror.shown("v")) == key(mirror.oracle.value(text))


def test_a_count_of_nothing_beside_a_product() -> None:
    """Both views keep one state; the second needs its entry even while it counts nothing."""
    mirror = Mirror(COMPANY)
    texts = {
        "v": "select distinct x.manager.dept from x in Employees, y in Departments",
        "w": "select count(select 6 from y in Departments where 5 != 0) from x in Departments",
    }
    for name, text in texts.items():
        mirror.db.oql(f"define {name} as {text};", mode="hybrid")
    mirror.new("employee")
    mirror.new("department")
    for name, text in texts.items():
        assert key(mirror.shown(name)) == key(mirror.oracle.value(text))
