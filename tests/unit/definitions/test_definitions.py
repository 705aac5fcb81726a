"""A catalog is what its definitions say, read again in any order."""

from __future__ import annotations

import json
import random

import pytest

import evercurrent as ec
from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.nodes import Table
from evercurrent.definitions.listing import definitions_of
from evercurrent.definitions.reading import catalog_of
from evercurrent.definitions.tables import table_definition, table_of
from evercurrent.errors import StorageError
from evercurrent.term.handed_over import HandedOver

SCRIPT = """
CREATE TABLE dept (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL DEFAULT 'new', UNIQUE (name));
CREATE TABLE emp (
    id BIGINT PRIMARY KEY, `its dept` INT REFERENCES dept (id), pay DECIMAL(12,2) DEFAULT 1.50,
    born DATE DEFAULT DATE '2020-02-29', tags ARRAY<STRING>, more STRUCT<a: INT, b: MAP<STRING, DOUBLE>>,
    CONSTRAINT positive CHECK (pay > 0));
CREATE INDEX by_pay ON emp (pay, born);
CREATE VIEW pays AS SELECT `its dept` AS dept, SUM(pay) AS total FROM emp GROUP BY `its dept`;
CREATE VIEW rich AS SELECT d.name, p.total FROM pays p JOIN dept d ON d.id = p.dept WHERE p.total > 10;
CREATE ASSERTION no_ghosts CHECK (NOT EXISTS (SELECT 1 FROM emp WHERE id < 0));
"""
ODL = """
class person (extent people key name) {
    attribute string name;
    attribute set<string> tags;
    relationship person boss inverse person::staff;
    relationship set<person> staff inverse person::boss;
    string shout();
};
"""


def database() -> ec.Database:
    db = ec.connect()
    db.execute(SCRIPT)
    db.execute("CREATE VIEW late AS SELECT COUNT(*) AS n FROM emp", mode="lazy", policy="auto")
    db.odl(ODL, operations={"person.shout": lambda self: self.name.upper()})
    db.oql("define named(x) as select p from p in people where p.name = x")
    db.oql("define loud as select struct(n: p.name, s: (select t from t in p.tags)) from p in people")
    db.oql("import person as human")
    db.bind("Boss", db.new("person", name="Ann"))
    db.view("by_python", db.relation("emp").where(lambda e: e.pay > 2))
    return db


def shown(catalog: Catalog) -> dict[str, object]:
    views = {
        v.name: (v.fields, str(v.query), v.order, v.policy, v.mode, v.language)
        for v in catalog.views.values()
    }
    asserted = {a.name: str(a.query) for a in catalog.assertions.values()}
    return {
        **{"tables": catalog.tables, "views": views, "assertions": asserted, "macros": catalog.macros},
        **{
            "aliases": catalog.aliases,
            "objects": catalog.objects,
            "indexes": catalog.indexes,
            "classes": list(catalog.schema.classes),
        },
    }


def test_a_catalog_is_what_its_definitions_say_in_any_order() -> None:
    catalog = database()._session.catalog
    listed = json.loads(json.dumps(list(definitions_of(catalog, HandedOver()))))
    for seed in range(5):
        random.Random(seed).shuffle(listed)
        again = catalog_of(listed, HandedOver())
        a, b = shown(again), shown(catalog)
        for part in ("tables", "macros", "aliases", "objects", "indexes", "classes", "assertions"):
            assert a[part] == b[part], part
        assert a["views"].keys() == b["views"].keys()  # type: ignore[attr-defined]
        assert all(x[0] == b["views"][n][0] and x[2:] == b["views"][n][2:] for n, x in a["views"].items())  # type: ignore


def test_a_table_is_kept_exactly() -> None:
    for table in database()._session.catalog.tables.values():
        assert table_of(json.loads(json.dumps(table_definition(table)))) == table


@pytest.mark.parametrize(
    "damage",
    [
        {"columns": [["a", {"node": "Lambda"}, True, None]]},
        {"columns": [[1, None, True, None]]},
        {"unique": 3},
    ],
)
def test_a_damaged_definition_is_refused(damage: dict[str, object]) -> None:
    table = Table("t", ())
    with pytest.raises(StorageError):
        table_of({**table_definition(table), **damage})
