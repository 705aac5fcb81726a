"""Every rule says the same over rows and over Arrow columns; the rows path is the definition. No Spark runs here."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow
import pytest

from evercurrent.catalog.catalog import Catalog
from evercurrent.catalog.rules import name_of, rules_of
from evercurrent.data.types import Type
from evercurrent.data.zset import Row, ZSet
from evercurrent.definitions.reading import add_definition
from evercurrent.engine.spark.kernel.constraint_precheck import ColumnValidation, can_validate
from evercurrent.engine.spark.storage.digests import H, digests
from evercurrent.engine.spark.translate.arrow_columns import rows_to_arrow
from evercurrent.errors import ConstraintError
from evercurrent.frontend.sql.parse import parse_script
from evercurrent.rows.constraints import children_of, validate
from evercurrent.rows.row_rules import RowRules
from evercurrent.rows.store import Store
from evercurrent.rows.violations import constraint_error, find_violations
from tests.rule_changes import (
    BASE,
    SCHEMA,
    Verdict,
    deletes_missing_rows,
    key_of,
    random_changes,
    read_rows,
    violations_by_rows,
)

CATALOG = Catalog()
for text in parse_script(SCHEMA):
    CATALOG = add_definition(CATALOG, {"kind": "table", "name": "", "text": text})
TABLES = dict(CATALOG.tables)
RULES = {key: RowRules(t) for key, t in TABLES.items()}
STORES = {key: Store(t, CATALOG.table) for key, t in TABLES.items()}
for patch in validate(
    STORES,
    RULES,
    {key: ZSet.of(read_rows(TABLES[key], rows)) for key, rows in BASE.items()},
    children_of(STORES),
):
    patch.apply()


def arrow(name: str, entries: Sequence[tuple[Row, int]]) -> pyarrow.Table:
    types = [c.type for c in TABLES[name].columns]
    rows = rows_to_arrow(types, [f"c{i}" for i in range(len(types))], entries, "w")
    return rows.append_column(H, digests(types, rows))


class ArrowPool:
    """What `Pool.columns` returns, out of tables in memory: all stored rows, whatever the keys."""

    def columns(
        self, store: Any, types: Sequence[Type], key: Sequence[str], keys: pyarrow.Table, names: Sequence[str]
    ) -> pyarrow.Table:
        return STORED[store].select(names)


STORED = {key: arrow(key, list(store.contents().items())) for key, store in STORES.items()}


def by_columns(deltas: Mapping[str, ZSet]) -> ColumnValidation:
    changes = {key: arrow(key, list(delta.items())) for key, delta in deltas.items()}
    pool: Any = ArrowPool()
    stored: Any = str
    return ColumnValidation(pool, TABLES, stored, changes)


@pytest.mark.parametrize("seed", range(4))
def test_rows_and_columns_agree_on_every_rule(seed: int) -> None:
    r = random.Random(seed)
    violated: Counter[str] = Counter()
    satisfied = 0
    for _ in range(150):
        deltas = random_changes(r, TABLES)
        verdict = violations_by_rows(STORES, RULES, deltas)
        violated.update(name for _, name, _ in verdict)
        satisfied += not verdict
        usable = {key: d for key, d in deltas.items() if can_validate(TABLES, key)}
        if len(usable) == len(deltas):
            compare(deltas, verdict)
        compare_quick(deltas)
    assert satisfied >= 10
    missing = {name_of(rule) for rule in rules_of(TABLES, TABLES)} - set(violated)
    assert missing <= {"note VARCHAR(3)", "id NOT NULL"}, "the reader refuses long texts; no row lacks an id"


def compare(deltas: Mapping[str, ZSet], verdict: Verdict) -> None:
    columns = by_columns(deltas)
    assert columns.all_satisfied() == (not verdict), deltas
    if not deletes_missing_rows(verdict):
        for rule in rules_of(TABLES, deltas):
            assert columns.is_satisfied(rule) == (key_of(rule) not in verdict), (key_of(rule), deltas)


def compare_quick(deltas: Mapping[str, ZSet]) -> None:
    """The quick validation raises what the definition finds first."""
    found = next(find_violations(STORES, RULES, deltas), None)
    if found is None:
        validate(STORES, RULES, deltas, children_of(STORES))
    elif not deletes_missing_rows(violations_by_rows(STORES, RULES, deltas)):
        with pytest.raises(ConstraintError) as refused:
            validate(STORES, RULES, deltas, children_of(STORES))
        assert str(refused.value) == str(constraint_error(found.rule, found.rows))


def test_lengths_and_nulls_that_readers_do_not_let_pass() -> None:
    long = (7, None, None, None, "four", 1.0, None)
    nameless = (None, None, None, None, "é" * 3, 1.0, None)
    for row, name in ((long, "note VARCHAR(3)"), (nameless, "id NOT NULL")):
        deltas = {"child": ZSet([(row, 1)])}
        verdict = violations_by_rows(STORES, RULES, deltas)
        assert [key[1] for key in verdict] == [name]
        compare(deltas, verdict)


def test_floats_and_rows_without_a_key_are_left_to_rows() -> None:
    assert [key for key in TABLES if can_validate(TABLES, key)] == ["parent", "child"]
    assert [key for key in TABLES if can_validate(TABLES, key, trusted=True)] == ["parent", "child"]
