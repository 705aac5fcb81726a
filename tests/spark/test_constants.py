"""Constants that settings, quoting and time zones could change: the same rows by every way, and no false alarm of `verify`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evercurrent.warehouse.database import Warehouse
from tests.hostile_constants import OTHERS, STRINGS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

MATCHES: dict[str, bool] = {
    r"s LIKE 'a\\_b%'": True,
    r"s LIKE 'ab\\_%'": False,
    r"s LIKE 'a\_b%'": True,
    r"s LIKE r'a\_b%'": True,
    "s LIKE 'a!_b%' ESCAPE '!'": True,
    r"s RLIKE '\\d$'": True,
    r"s RLIKE r'\d$'": True,
    "s RLIKE '\\d$'": False,
    "regexp_replace(s, '(_)', '<$1>') = 'a<_>b${x}1'": True,
    r"regexp_like(s, '\\$\\{x\\}')": True,
    "contains(s, '${x}')": True,
    "s IN ('', 'a_b${x}1')": True,
}
TEXT = "a_b${x}1"
NAMES = ["`a b`", "`a``b`", "`${env:HOME}`", "`é😀`", "`'; --`", "`select`"]
HOSTILE = {
    "spark.sql.parser.escapedStringLiterals": "true",
    "spark.sql.variable.substitute": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.legacy.exponentLiteralAsDecimal.enabled": "true",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
    "spark.sql.session.timeZone": "Asia/Kolkata",
}


@pytest.fixture
def settings(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[None]:
    """The settings with which new sessions begin, as spark-defaults.conf would give them."""
    if request.param == "plain":
        yield
        return
    conf = spark.sparkContext._jsc.sc().conf()
    before = {name: conf.get(name, None) for name in HOSTILE}
    for name, value in HOSTILE.items():
        conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            _ = conf.remove(name) if value is None else conf.set(name, value)


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, float):  # rows that differ in the sign of a zero alone are one row
        return repr(abs(found)) == repr(abs(wanted)) if wanted == 0 else repr(found) == repr(wanted)
    return type(found) is type(wanted) and found == wanted


@pytest.mark.parametrize(
    ("settings", "strategy"),
    [("plain", "driver"), ("plain", "spark"), ("hostile", "spark")],
    indirect=["settings"],
)
@pytest.mark.usefixtures("settings")
def test_constants_are_what_the_definition_says(
    spark: SparkSession, tmp_path: Path, strategy: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "leaked")
    db = Warehouse(spark, tmp_path / "w", strategy=strategy)
    everything = {**STRINGS, **OTHERS, **MATCHES}
    columns = ", ".join(f"{c} AS c{i}" for i, c in enumerate(everything))
    named = ", ".join(f"id AS {name}" for name in NAMES)
    policies: list[Any] = ["full", "auto", "incremental"]
    for policy in policies:  # views over a table of their own share nothing with the others
        db.execute(f"CREATE TABLE t_{policy} (id INT PRIMARY KEY, s STRING)")
        db.execute(f"CREATE VIEW v_{policy} AS SELECT id, {columns} FROM t_{policy}", policy=policy)
        db.execute(
            f"CREATE VIEW n_{policy} AS SELECT {named} FROM t_{policy} ORDER BY id LIMIT 5", policy=policy
        )
        db.execute(f"CREATE VIEW o_{policy} AS SELECT {', '.join(NAMES)} FROM n_{policy}", policy=policy)
    ways = set()
    for i in (1, 2):
        run = db.apply({f"t_{p}": [{"_change_type": "insert", "id": i, "s": TEXT}] for p in policies})
        ways |= {v.way for v in run.views if v.view == "v_full"}
    assert ways == {"sql" if strategy == "spark" else "fill"}, "on Spark, its own SQL has computed it"
    for policy in policies:
        rows = db.view(f"v_{policy}").rows()
        assert [r[0] for r in sorted(rows)] == [1, 2]
        for row in rows:
            for (text, wanted), found in zip(everything.items(), row[1:], strict=True):
                assert same(found, wanted), f"{policy}: {text} became {found!r}"
        assert sorted(db.view(f"o_{policy}").rows()) == [(i,) * len(NAMES) for i in (1, 2)]
    report = db.verify()
    assert report, report
    assert not any(v.skipped for v in report.views)
