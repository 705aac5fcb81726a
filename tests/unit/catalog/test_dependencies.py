"""Who depends on whom."""

from __future__ import annotations

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.dependencies import all_dependants, base_tables, dependants, view_order
from evercurrent.catalog.nodes import Assertion, ForeignKey, Table, TableColumn, Unique, View
from evercurrent.data.types import INT


def view(name: str, *uses: str) -> View:
    return View(name, (), None, uses=frozenset(uses))


CATALOG = (
    Catalog()
    .with_table(Table("T", (TableColumn("a", INT),), Unique("k", ("a",))))
    .with_table(
        Table(
            "child",
            (TableColumn("a", INT),),
            foreign_keys=(ForeignKey("f", ("a",), "t", ("a",)), ForeignKey("g", ("a",), "child", ("a",))),
        )
    )
    .with_view(view("last", "Middle", "t"))
    .with_view(view("middle", "First"))
    .with_view(view("first", "T"))
    .with_view(view("other", "child"))
    .with_assertion(Assertion("rule", (), None, uses=frozenset({"middle"})))
)


def test_direct_dependants_are_found_whatever_the_case() -> None:
    assert list(map(str, dependants(CATALOG, "t"))) == ["table child", "view last", "view first"]
    assert list(map(str, dependants(CATALOG, "MIDDLE"))) == ["view last", "assertion rule"]
    assert dependants(CATALOG, "last") == []


def test_a_reference_of_a_table_to_itself_is_no_dependence() -> None:
    assert list(map(str, dependants(CATALOG, "child"))) == ["view other"]


def test_all_dependants_come_in_the_order_of_dropping() -> None:
    names = [d.name for d in all_dependants(CATALOG, "T")]
    assert sorted(names) == ["child", "first", "last", "middle", "rule"]
    assert names.index("last") < names.index("middle") < names.index("first")
    assert names.index("rule") < names.index("middle")
    assert "other" not in names  # the child loses its foreign key, not its views


def test_views_are_put_after_what_they_read() -> None:
    names = [v.name for v in view_order(CATALOG)]
    assert names.index("first") < names.index("middle") < names.index("last")


def test_base_tables() -> None:
    assert base_tables(CATALOG, frozenset({"LAST"})) == {"t"}
    assert base_tables(CATALOG, frozenset({"last", "other"})) == {"t", "child"}
