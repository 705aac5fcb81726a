"""Statements: what each is read as."""

from __future__ import annotations

from typing import Any

import pytest

from evercurrent.calculus.nodes import Comprehension, Fixpoint, Generator, Group, Query, Relation, Top, Window
from evercurrent.calculus.scope import free_variables
from evercurrent.calculus.walk import nodes
from evercurrent.catalog.nodes import ForeignKey, Unique
from evercurrent.data import types as t
from evercurrent.data.values import give_out
from evercurrent.errors import QueryError
from evercurrent.frontend.sql.parse import parse_query, parse_statement
from evercurrent.frontend.sql.statements import (
    CreateAssertion,
    CreateTable,
    CreateView,
    DropRelation,
    Modify,
    Select,
    Truncate,
)
from tests.unit.frontend.sql.reading import catalog, query_of, read, rows_of


def table(text: str) -> Any:
    statement = read(text)
    assert isinstance(statement, CreateTable)
    return statement.table


# --- definitions -------------------------------------------------------------------------------------------


def test_the_types_of_columns() -> None:
    made = table(
        "CREATE TABLE z (a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, h DECIMAL(9,2), i STRING,"
        " j VARCHAR(5), k BINARY, l DATE, m TIMESTAMP, n TIMESTAMP_NTZ, o ARRAY<INT>, p STRUCT<x: INT, y: STRING>,"
        " q MAP<STRING, ARRAY<DOUBLE>>, r DECIMAL, s INTERVAL DAY TO SECOND, u INTERVAL YEAR)"
    )
    assert [str(c.type) for c in made.columns] == [
        "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(9,2)", "STRING", "VARCHAR(5)",
        "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "ARRAY<INT>", "STRUCT<x: INT, y: STRING>",
        "MAP<STRING, ARRAY<DOUBLE>>", "DECIMAL(10,0)", "INTERVAL DAY TO SECOND", "INTERVAL YEAR TO MONTH",
    ]  # fmt: skip


def test_constraints() -> None:
    made = table(
        "CREATE TABLE z (id INT PRIMARY KEY, Boss INT REFERENCES emp, d INT NOT NULL DEFAULT 7, e INT UNIQUE"
        " CHECK (e > 0), f INT, CONSTRAINT mine FOREIGN KEY (D) REFERENCES dept (id),"
        " CONSTRAINT big CHECK (d + e < 100), UNIQUE (f, D))"
    )
    assert made.primary_key == Unique("z_pk", ("id",))
    assert [c.nullable for c in made.columns] == [False, True, False, True, True]
    assert made.unique == (Unique("z_unique_e", ("e",)), Unique("z_unique_f_D", ("f", "d")))
    assert made.foreign_keys == (
        ForeignKey("z_fk_1", ("Boss",), "emp", ("id",)),
        ForeignKey("mine", ("d",), "dept", ("id",)),
    )
    assert [(c.name, c.text) for c in made.checks] == [("z_check_1", "e > 0"), ("big", "d + e < 100")]
    assert made.columns[2].default.value == 7


def test_a_table_may_refer_to_itself() -> None:
    made = table("CREATE TABLE node (id INT PRIMARY KEY, parent INT REFERENCES node)")
    assert made.foreign_keys == (ForeignKey("node_fk_1", ("parent",), "node", ("id",)),)


@pytest.mark.parametrize(
    ("options", "stored"),
    [
        ("", True),
        ("WITH (stored = false)", False),
        ("TBLPROPERTIES ('stored' = 'false')", False),
        ("USING parquet TBLPROPERTIES ('stored' = 'true') COMMENT 'x'", True),
    ],
)
def test_the_option_stored(options: str, stored: bool) -> None:
    assert table(f"CREATE TABLE z (a INT) {options}").stored is stored


def test_create_or_replace_and_if_not_exists() -> None:
    assert read("CREATE OR REPLACE TABLE z (a INT)").replace is True  # type: ignore[union-attr]
    assert read("CREATE TABLE IF NOT EXISTS z (a INT)").if_not_exists is True  # type: ignore[union-attr]


def test_a_view() -> None:
    statement = read(
        "CREATE OR REPLACE VIEW v (k, n) AS SELECT dept, count(*) FROM emp GROUP BY dept ORDER BY 2 DESC"
    )
    assert isinstance(statement, CreateView) and statement.replace
    view = statement.view
    assert [f.name for f in view.fields] == ["k", "n"]
    assert [f.nullable for f in view.fields] == [True, False]
    assert view.order == ((1, True, False),)
    assert view.uses == {"emp"}
    assert view.policy == "incremental"


def test_the_policy_of_a_view() -> None:
    text = "CREATE VIEW v TBLPROPERTIES ('policy' = 'auto') AS SELECT 1 AS x"
    assert read(text).view.policy == "auto"  # type: ignore[union-attr]
    statement = parse_statement("CREATE MATERIALIZED VIEW v AS SELECT 1 AS x", catalog(), policy="full")
    assert isinstance(statement, CreateView) and statement.view.policy == "full"


def test_a_view_with_a_limit_forgets_hidden_sort_keys() -> None:
    statement = read("CREATE VIEW v AS SELECT name, id FROM emp ORDER BY id, salary DESC LIMIT 2")
    assert isinstance(statement, CreateView)
    assert [f.name for f in statement.view.fields] == ["name", "id"]
    assert statement.view.order == ((1, False, True),)


def test_views_are_relations() -> None:
    statement = read("CREATE VIEW v AS SELECT dept, sum(salary) AS s FROM emp GROUP BY dept")
    assert isinstance(statement, CreateView)
    ordered = parse_query("SELECT V.S FROM v", catalog().with_view(statement.view))
    match ordered.query:
        case Comprehension(qualifiers=(Generator(source=Relation("v")),)):
            pass
        case other:
            pytest.fail(str(other))


def test_an_assertion_keeps_the_violating_rows() -> None:
    statement = read(
        "CREATE ASSERTION positive CHECK (NOT EXISTS (SELECT id, salary FROM emp WHERE salary < 0))"
    )
    assert isinstance(statement, CreateAssertion)
    assert [f.name for f in statement.assertion.fields] == ["id", "salary"]
    assert statement.assertion.uses == {"emp"}


def test_an_assertion_of_any_condition() -> None:
    statement = read("CREATE ASSERTION small CHECK ((SELECT count(*) FROM t) < 6 AND 1 = 1)")
    assert isinstance(statement, CreateAssertion)
    assert rows_of(statement.assertion.query) == [(True,)]  # type: ignore[arg-type]


def test_drop_and_truncate() -> None:
    assert read("DROP TABLE IF EXISTS emp CASCADE") == DropRelation("table", "emp", True, True)
    assert read("DROP VIEW v") == DropRelation("view", "v")
    assert read("DROP MATERIALIZED VIEW v") == DropRelation("view", "v")
    assert read("DROP ASSERTION IF EXISTS `a b`") == DropRelation("assertion", "a b", True)
    assert read("TRUNCATE TABLE EMP") == Truncate("emp")


# --- changes -----------------------------------------------------------------------------------------------


def changes(text: str) -> list[tuple[Any, ...]]:
    statement = read(text)
    assert isinstance(statement, Modify) and statement.table == "t"
    names = [f.name for f in statement.query.fields]
    columns = ["a", "b", "c", "s"]
    assert names == ["action", *(f"old.{c}" for c in columns), *(f"new.{c}" for c in columns)]
    found = []
    for row in rows_of(statement.query):
        if row[0]:
            found.append((row[0], None if row[0] == 1 else row[1:5], None if row[0] == 2 else row[5:]))
    return sorted(found, key=repr)


def test_insert_values() -> None:
    assert changes("INSERT INTO t VALUES (1, 2, '3.5', 'x'), (7, NULL, DEFAULT, DEFAULT)") == [
        (1, None, (1, 2, 3.5, "x")),
        (1, None, (7, None, None, "q")),
    ]


def test_insert_with_columns() -> None:
    assert changes("INSERT INTO t (B, a) SELECT x, y FROM edge WHERE x = 5") == [(1, None, (6, 5, None, "q"))]
    assert changes("WITH c AS (SELECT 1 AS n) INSERT INTO t (a) SELECT n FROM c") == [
        (1, None, (1, None, None, "q"))
    ]


def test_update() -> None:
    assert changes("UPDATE t SET b = a * 2, s = DEFAULT WHERE t.a = 3") == [
        (3, (3, 30, -4.0, "q"), (3, 6, -4.0, "q"))
    ]
    assert changes("UPDATE t AS z SET z.b = (SELECT max(y) FROM edge WHERE x = z.a) WHERE z.a = 3") == [
        (3, (3, 30, -4.0, "q"), (3, 4, -4.0, "q"))
    ]


def test_delete() -> None:
    assert changes("DELETE FROM t WHERE a IN (SELECT x FROM edge WHERE x > 2)") == [
        (2, (3, 30, -4.0, "q"), None)
    ]
    assert len(changes("DELETE FROM t")) == 6


def test_merge() -> None:
    text = """
        MERGE INTO t USING (SELECT DISTINCT a, b, d AS s, 0.5 AS c FROM u WHERE a IS NOT NULL) v ON t.a = v.a
        WHEN MATCHED AND t.b IS NULL THEN DELETE
        WHEN MATCHED AND t.a = 2 THEN UPDATE SET b = v.b, s = DEFAULT
        WHEN MATCHED AND t.c > 100 THEN UPDATE SET *
        WHEN NOT MATCHED AND v.a > 100 THEN INSERT *
        WHEN NOT MATCHED BY TARGET THEN INSERT (a, s) VALUES (v.a + 1, 'new')
        WHEN NOT MATCHED BY SOURCE AND t.a = 3 THEN UPDATE SET c = 0
        WHEN NOT MATCHED BY SOURCE THEN DELETE
    """
    assert changes(text) == [
        (1, None, (5, None, None, "new")),
        (2, (2, None, None, "r"), None),
        (2, (None, 30, 2.5, None), None),
        (3, (2, 20, 1.5, "q"), (2, 21, 1.5, "q")),
        (3, (3, 30, -4.0, "q"), (3, 30, 0.0, "q")),
    ]


# --- queries -------------------------------------------------------------------------------------------------


def test_names_and_fields() -> None:
    statement = read("SELECT e.id, d.id, count(*) OVER () FROM emp e, dept d")
    assert isinstance(statement, Select)
    assert statement.names[:2] == ("id", "id")
    assert [f.name for f in statement.ordered.query.fields][:2] == ["id", "id_2"]


def test_hidden_sort_keys_come_after_the_columns() -> None:
    statement = read("SELECT name FROM emp ORDER BY salary DESC, name")
    assert isinstance(statement, Select)
    assert statement.names == ("name",)
    assert len(statement.ordered.query.fields) == 2
    assert statement.ordered.order == ((1, True, False), (0, False, True))


def test_order_inside_a_query_means_nothing() -> None:
    assert not any(
        isinstance(n, Top) for n in nodes(query_of("SELECT a FROM (SELECT a FROM t ORDER BY b) x"))
    )


def test_limit_is_top() -> None:
    match query_of("SELECT a FROM t ORDER BY a LIMIT 2 OFFSET 1"):
        case Top(limit=2, offset=1, order=(key,)):
            assert (key.descending, key.nulls_first) == (False, True)
        case other:
            pytest.fail(str(other))


def test_from_and_where_are_one_comprehension() -> None:
    query = query_of(
        "SELECT t.a FROM t JOIN u ON t.a = u.a LEFT JOIN edge ON x = u.b WHERE t.b > 1 AND t.c > 2"
    )
    assert isinstance(query, Comprehension)
    assert [type(q).__name__ for q in query.qualifiers] == [
        "Generator", "Generator", "Filter", "OuterGenerator", "Filter", "Filter",
    ]  # fmt: skip


def test_the_group_carries_what_it_needs() -> None:
    query = query_of("SELECT dept, sum(salary * 2) AS s FROM emp GROUP BY dept")
    assert isinstance(query, Comprehension)
    match query.qualifiers:
        case (Generator(source=Group(source=Comprehension(fields=fields))),):
            assert [f.name for f in fields] == ["dept", "x"]
        case other:
            pytest.fail(str(other))


def test_windows_of_one_order_share_a_node() -> None:
    query = query_of(
        "SELECT sum(a) OVER (ORDER BY b) AS x, max(a) OVER (ORDER BY b) AS y, min(a) OVER (ORDER BY a) AS z FROM t"
    )
    assert len([n for n in nodes(query) if isinstance(n, Window)]) == 2


def test_a_recursive_relation_has_a_name_of_its_own() -> None:
    query = query_of(
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r x, r y"
    )
    found = {n.result for n in nodes(query) if isinstance(n, Fixpoint)}
    assert found == {"r@1"}


def test_a_recursive_query_widens_its_types() -> None:
    query = query_of(
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n * 2L FROM r WHERE n < 9) SELECT n FROM r"
    )
    assert query.fields[0].type == t.BIGINT
    assert sorted(rows_of(query)) == [(1,), (2,), (4,), (8,), (16,)]


def test_statements_have_no_free_variables() -> None:
    from tests.unit.frontend.sql.test_meaning import SAME

    for text in SAME.strip().splitlines():
        assert free_variables(query_of(text)) == frozenset(), text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT 1, 3000000000, 1.50, 1e2, 10L, 'x'", "INT BIGINT DECIMAL(3,2) DOUBLE BIGINT STRING"),
        ("SELECT INTERVAL 3 DAYS, INTERVAL '2' HOUR, INTERVAL '1-2' YEAR TO MONTH",
         "INTERVAL DAY INTERVAL DAY TO SECOND INTERVAL YEAR TO MONTH"),
        ("SELECT count(*), sum(id), avg(salary), sum(salary), max(name) FROM emp",
         "BIGINT BIGINT DECIMAL(14,6) DECIMAL(20,2) STRING"),
        ("SELECT a / b, a DIV b, a + c, a = b FROM t", "DOUBLE BIGINT DOUBLE BOOLEAN"),
        ("SELECT salary * 2, salary + 1, salary / 3 FROM emp", "DECIMAL(12,2) DECIMAL(11,2) DECIMAL(14,6)"),
        ("SELECT row_number() OVER (ORDER BY a), rank() OVER (ORDER BY a), cume_dist() OVER (ORDER BY a) FROM t",
         "INT INT DOUBLE"),
        ("SELECT a FROM t UNION ALL SELECT c FROM t", "DOUBLE"),
        ("SELECT hired + INTERVAL 1 MONTH, hired + INTERVAL 1 DAY, hired - DATE '2020-01-01' FROM emp",
         "DATE DATE INTERVAL DAY"),
        ("SELECT grouping(a), grouping_id() FROM t GROUP BY CUBE (a, b)", "TINYINT BIGINT"),
        ("SELECT collect_list(a), struct(1 AS x, 'y'), map('k', 1.5) FROM t",
         "ARRAY<INT> STRUCT<x: INT, col2: STRING> MAP<STRING, DECIMAL(2,1)>"),
    ],
)  # fmt: skip
def test_types(text: str, expected: str) -> None:
    assert " ".join(str(f.type) for f in query_of(text).fields) == expected


def test_intervals() -> None:
    query = query_of(
        "SELECT INTERVAL '1 02:03:04.5' DAY TO SECOND, INTERVAL -2 MONTHS, INTERVAL '3 days 4 hours'"
    )
    assert isinstance(query, Comprehension)
    assert [give_out(t.MICROS, h.value).total_seconds() for h in query.head if h.type != t.MONTHS] == [  # type: ignore[union-attr]
        93784.5,
        273600.0,
    ]


def test_columns_of_a_name_in_any_case() -> None:
    assert query_of("SELECT EMP.NaMe FROM Emp").fields[0].name == "NaMe"
    with pytest.raises(QueryError):
        query_of("SELECT other.name FROM emp")


def test_nested_members() -> None:
    made = parse_statement(
        "CREATE TABLE n (s STRUCT<x: STRUCT<y: INT>>, m MAP<STRING, INT>, l ARRAY<STRUCT<z: INT>>)", catalog()
    )
    assert isinstance(made, CreateTable)
    known = catalog().with_table(made.table)
    ordered = parse_query("SELECT s.x.y, n.s.x.y + 1 AS b, m['k'], m.k AS c, l[0].z, l.z AS zs FROM n", known)
    assert " ".join(str(f.type) for f in ordered.query.fields) == "INT INT INT INT INT ARRAY<INT>"


def test_the_query_of_a_statement_is_a_query() -> None:
    found: Query = query_of("SELECT 1 AS x")
    assert rows_of(found) == [(1,)]
