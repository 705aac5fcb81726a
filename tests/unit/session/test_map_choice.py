"""Maps are chosen by the sizes, fan-outs and changes of tables; whatever is chosen, views equal their queries."""

from __future__ import annotations

import pytest

import evercurrent as ec
from evercurrent.delta.program import MapChoice

CHAIN = "SELECT count(*) AS n, sum(r.a * t.d) AS x FROM r, s, t WHERE r.b = s.b AND s.c = t.c"
TRIANGLE = "SELECT count(*) AS n FROM r, s, t WHERE r.b = s.b AND s.c = t.c AND t.d = r.a"


def tables() -> ec.Database:
    db = ec.connect()
    for name, columns in {"r": "ab", "s": "bc", "t": "cd"}.items():
        db.execute(f"CREATE TABLE {name} ({', '.join(f'{c} INT NOT NULL' for c in columns)})")
    return db


def load(db: ec.Database, rows: int = 900) -> None:
    db.table("s").insert([(i % 3, i) for i in range(rows)])
    db.table("t").insert([(i, i % 7) for i in range(rows)])


def choices(db: ec.Database) -> dict[str, MapChoice]:
    return {c.driver: c for c in db._session.maintenance.design.program.choices}


def changes(db: ec.Database) -> None:
    """Changes of every table, checked one by one."""
    for i in range(6):
        db.table("r").insert([(i, i % 4)])
        db.table("t").insert([(i, i), (5000, 1)])
        db.table("s").insert([(i % 4, 5000)])
        assert db.verify(), db.verify()
    db.table("r").delete([(1, 1)])
    db.table("s").delete([(0, 0), (1, 5000)])
    db.table("t").delete([(1, 1)])
    assert db.verify(), db.verify()


@pytest.mark.parametrize("query", [CHAIN, TRIANGLE])
def test_map_is_kept_where_many_rows_match(query: str) -> None:
    db = tables()
    load(db)
    db.execute(f"CREATE VIEW v AS {query}")
    found = choices(db)
    if query == CHAIN:
        assert found["r"].kept and not found["t"].kept
        assert found["r"].sources == ("s", "t") and 500 < found["r"].without < 700
        assert (
            "map     over s and t by s.b: kept; a change of r would visit about 6" in db.view("v").explain()
        )
    changes(db)


def test_choice_is_made_again_when_tables_have_grown() -> None:
    db = tables()
    db.execute(f"CREATE VIEW v AS {CHAIN}")
    seen = []
    db.view("v").subscribe(seen.append)
    insert = db.feed("t").insert
    assert not choices(db)
    load(db)
    db.table("r").insert([(1, 1)])
    assert choices(db)["r"].kept and len(seen) == 1
    insert((1, 3))  # taken before the program was compiled again
    assert db.verify(), db.verify()
    changes(db)


def test_choice_follows_what_changes() -> None:
    """A map that is seldom read and often updated is given up, and taken again."""
    db = tables()
    db.table("s").insert([(i, i % 3) for i in range(600)])  # a change of t moves 200 entries of the map by b
    db.table("t").insert([(i % 3, i) for i in range(30)])
    db.execute(f"CREATE VIEW v AS {CHAIN}")
    kept = []
    for table in "tr":
        for i in range(300):
            db.table(table).insert([(i % 3, i)])
        kept.append(choices(db)["r"].kept)
    assert not kept[0]
    assert db.verify(), db.verify()


@pytest.mark.parametrize("maps", ["all", "none", "auto"])
@pytest.mark.parametrize("query", [CHAIN, TRIANGLE])
def test_user_chooses_maps(query: str, maps: str) -> None:
    db = tables()
    load(db, 300)
    db.execute(f"CREATE VIEW v WITH (maps = '{maps}') AS {query}")
    several = [s for s in db._session.maintenance.design.program.states if "map of numbers" in s.why]
    assert bool(several) == (maps != "none")
    changes(db)


def test_unknown_choice_is_refused() -> None:
    db = tables()
    with pytest.raises(ec.QueryError, match="there is no maps some"):
        db.execute(f"CREATE VIEW v WITH (maps = 'some') AS {CHAIN}")
