"""From which columns of tables and views the columns of a view are computed."""

from __future__ import annotations

import pytest

import evercurrent as ec
from evercurrent.pipelines.lineage import is_configured, view_lineage

CASES = {
    "SELECT id, upper(name) AS who FROM t": {"id": {"t.id"}, "who": {"t.name"}},
    "SELECT t.name, sum(u.v + t.id) AS s, count(*) AS n FROM t JOIN u ON t.id = u.id GROUP BY t.name": {
        "name": {"t.name"},
        "s": {"t.id", "u.v"},
        "n": set(),
    },
    "SELECT name FROM t WHERE id > 3 UNION ALL SELECT w FROM u": {"name": {"t.name", "u.w"}},
    "SELECT id, lag(v) OVER (PARTITION BY w ORDER BY id) AS p FROM u": {
        "id": {"u.id"},
        "p": {"u.v", "u.w", "u.id"},
    },
    "SELECT id, 1 AS one FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id)": {
        "id": {"t.id"},
        "one": set(),
    },
    "SELECT id, (SELECT max(v) FROM u WHERE u.id = t.id) AS m FROM t": {"id": {"t.id"}, "m": {"u.v"}},
    "WITH RECURSIVE r AS (SELECT id, w FROM u UNION SELECT u.id, r.w FROM r JOIN u ON u.v = r.id) SELECT * FROM r": {
        "id": {"u.id"},
        "w": {"u.w"},
    },
    "SELECT name FROM t INTERSECT SELECT w FROM u": {"name": {"t.name", "u.w"}},
    "SELECT DISTINCT total FROM base": {"total": {"base.total"}},
}


@pytest.mark.parametrize("query", CASES)
def test_columns_come_from(query: str) -> None:
    db = ec.connect()
    db.execute("CREATE TABLE t (id INT, name STRING); CREATE TABLE u (id INT, v INT, w STRING)")
    db.execute("CREATE VIEW base AS SELECT sum(v) AS total FROM u")
    db.execute(f"CREATE VIEW q AS {query}")
    found = view_lineage(db._session.catalog, "q")
    assert {c: {f"{t}.{f}" for t, f in origins} for c, origins in found.items()} == CASES[query]


def test_events_are_off_unless_configured(tmp_path: object) -> None:
    from pathlib import Path

    folder = Path(str(tmp_path))
    nothing = {"HOME": str(folder / "home")}
    assert not is_configured(nothing, folder)
    assert is_configured({**nothing, "OPENLINEAGE_URL": "http://localhost:5000"}, folder)
    assert not is_configured(
        {**nothing, "OPENLINEAGE_URL": "http://x", "OPENLINEAGE_DISABLED": "true"}, folder
    )
    (folder / "openlineage.yml").write_text("transport:\n  type: console\n")
    assert is_configured(nothing, folder)
