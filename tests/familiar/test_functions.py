"""Functions as views keep them: windows over event time, JSON, aggregates that do not fail."""

from __future__ import annotations

import datetime

import pytest

import evercurrent as ec
from evercurrent.statements.protocol import AnyDatabase

UTC = datetime.UTC


def at(minute: int, hour: int = 0) -> datetime.datetime:
    return datetime.datetime(2024, 1, 1, hour, minute, tzinfo=UTC)


def test_windows(db: AnyDatabase) -> None:
    db.execute("CREATE TABLE clicks (id INT PRIMARY KEY, at TIMESTAMP, n INT)")
    db.execute(
        "CREATE VIEW tumbling AS SELECT window.start, window.end, sum(n) AS n FROM clicks GROUP BY window(at, '10 minutes')"
    )
    db.execute(
        "CREATE VIEW sliding AS SELECT window(at, '10 minutes', '5 minutes').start AS s, count(*) AS c "
        "FROM clicks GROUP BY window(at, '10 minutes', '5 minutes')"
    )
    db.table("clicks").insert([(1, at(3), 1), (2, at(7), 2), (3, at(12), 4), (4, None, 8)])
    assert sorted(db["tumbling"].rows()) == [(at(0), at(10), 3), (at(10), at(20), 4)]
    day_before = datetime.datetime(2023, 12, 31, 23, 55, tzinfo=UTC)
    assert sorted(db["sliding"].rows()) == [(day_before, 1), (at(0), 2), (at(5), 2), (at(10), 1)]
    db.table("clicks").delete(1)
    assert sorted(db["tumbling"].rows()) == [(at(0), at(10), 2), (at(10), at(20), 4)]
    assert sorted(db["sliding"].rows()) == [(at(0), 1), (at(5), 2), (at(10), 1)]


def test_json_and_aggregates(db: AnyDatabase) -> None:
    db.execute("CREATE TABLE docs (id INT PRIMARY KEY, doc STRING, n BIGINT)")
    db.execute("CREATE VIEW names AS SELECT id, get_json_object(doc, '$.user.name') AS name FROM docs")
    db.execute(
        "CREATE VIEW totals AS SELECT try_sum(n) AS s, try_avg(n) AS a, percentile_approx(n, 0.5) AS p FROM docs"
    )
    db.table("docs").insert([(1, '{"user": {"name": "Ann"}}', 2**63 - 1), (2, "no json", 1)])
    assert sorted(db["names"].rows()) == [(1, "Ann"), (2, None)]
    assert db["totals"].rows() == [(None, 2.0**62, 1)]
    db.table("docs").delete(1)
    assert db["totals"].rows() == [(1, 1.0, 1)]
    assert db.query(
        "SELECT to_json(named_struct('a', 1, 'b', NULL)), json_array_length('[1, 2]')"
    ).rows() == [('{"a":1}', 2)]
    assert db.query('SELECT json_object_keys(\'{"x": 1, "y": 2}\')').scalar() == ["x", "y"]
    moved = db.query("SELECT from_utc_timestamp(TIMESTAMP'2024-01-01 12:00:00', 'Asia/Seoul')").scalar()
    assert moved == at(0, 21)


def test_json_as_values(db: AnyDatabase) -> None:
    db.execute("CREATE TABLE docs (id INT PRIMARY KEY, doc STRING)")
    db.execute(
        "CREATE VIEW read AS SELECT id, d.a, d.tags, size(d.tags) AS n FROM "
        "(SELECT id, from_json(doc, 'a INT, tags ARRAY<STRING>') AS d FROM docs)"
    )
    rows = [(1, '{"a": 1, "tags": ["x", 2]}'), (2, '{"a": "no"}'), (3, "bad"), (4, None), (5, "{'a': 7}")]
    db.table("docs").insert(rows)
    assert sorted(db["read"].rows()) == [
        (1, 1, ["x", "2"], 2),
        (2, None, None, None),
        (3, None, None, None),
        (4, None, None, None),
        (5, 7, None, None),
    ]
    db.execute('UPDATE docs SET doc = \'{"a": 2, "tags": []}\' WHERE id = 1; DELETE FROM docs WHERE id > 3')
    assert sorted(db["read"].rows())[0] == (1, 2, [], 0)


def test_schemas_of_json() -> None:
    db = ec.connect()
    db.execute("CREATE TABLE docs (id INT PRIMARY KEY, doc STRING)")
    found = db.query('SELECT schema_of_json(\'{"a": [1, 2.5], "b c": null}\')').scalar()
    assert found == "STRUCT<a: ARRAY<DOUBLE>, `b c`: STRING>"
    assert db.query("SELECT from_json('{\"a\": 1}', schema_of_json('{\"a\": 0}')).a").scalar() == 1
    with pytest.raises(ec.QueryError, match="must be a constant text"):
        db.query("SELECT from_json(doc, doc) FROM docs")
