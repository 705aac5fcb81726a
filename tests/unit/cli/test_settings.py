"""What stands beside the definitions of a pipeline."""

from __future__ import annotations

from pathlib import Path

import pytest

from evercurrent.cli.settings import Settings, ViewSettings, read_settings
from evercurrent.errors import QueryError
from evercurrent.warehouse.definitions.sources import Declaration

TOML = """
warehouse = "w"
master = "local[2]"
keep = 7

[spark]
"spark.executor.memory" = "1g"

[sources.orders]
format = "delta"
path = "lake/orders"
key = ["id"]

[sources.crm]
table = "spark_catalog.crm.customers"

[sources.far]
format = "parquet"
path = "s3a://bucket/far"

[views.Spend]
policy = "auto"
publish = "out/spend"

[views.idle]
publish = false
"""


def settings(folder: Path, sql: str = "", toml: str = "") -> Settings:
    (folder / "p.sql").write_text(sql)
    (folder / "p.toml").write_text(toml)
    return read_settings(folder / "p.sql")


def test_a_toml_file(tmp_path: Path) -> None:
    found = settings(tmp_path, "-- source: more parquet lake/more\n-- source: t table a.b key=x,y", TOML)
    assert (found.warehouse, found.master, found.keep) == (str(tmp_path / "w"), "local[2]", 7)
    assert found.spark == {"spark.executor.memory": "1g"}
    assert found.sources == (
        Declaration("orders", "delta", str(tmp_path / "lake/orders"), None, ("id",)),
        Declaration("crm", table="spark_catalog.crm.customers"),
        Declaration("far", "parquet", "s3a://bucket/far"),
        Declaration("more", "parquet", str(tmp_path / "lake/more")),
        Declaration("t", table="a.b", key=("x", "y")),
    )
    assert found.views == {
        "spend": ViewSettings("auto", str(tmp_path / "out/spend")),
        "idle": ViewSettings(None, False),
    }


@pytest.mark.parametrize(
    ("sql", "toml", "said"),
    [
        ("", "wharehouse = 'w'", "p.toml: the file has 'wharehouse', which is not known"),
        ("", "[sources.t]\nfromat = 'delta'", r"\[sources.t\] has 'fromat'"),
        ("", "[sources.t]\nkey = 'id'", "'key' in .* must be a list, not 'id'"),
        ("", "[views.v]\npublish = 3", "must be true or false or a string"),
        ("", "[views]\nv = 3", "views.v must be a table"),
        ("", "[sources", "p.toml"),
        ("\n-- source: t delta", "", "p.sql, line 2 is no source"),
        ("-- source: t delta 'lake", "", "p.sql, line 1: No closing quotation"),
        ("-- source: t delta a", "[sources.T]\npath = 'b'\nformat = 'delta'", "declared in both"),
    ],
)
def test_what_is_not_understood_is_refused(tmp_path: Path, sql: str, toml: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        settings(tmp_path, sql, toml)


@pytest.mark.parametrize(
    ("declaration", "said"),
    [
        (Declaration("t"), "needs a path or a table"),
        (Declaration("t", "delta", "x", "y"), "needs a path or a table"),
        (Declaration("t", "csv", "x"), "no format 'csv'"),
        (Declaration("t", None, "x"), "no format None"),
        (Declaration("t", "delta", table="x"), "no format 'delta' for a table"),
        (Declaration("t", "table", "x"), "no format 'table' for a path"),
        (Declaration("t", "delta", "x", options={"a": "b"}), "takes no options"),
        (Declaration("t", "iceberg", table="x", options={"s3.secret-key": "b"}), "own configuration"),
    ],
)
def test_a_source_is_a_path_or_a_table(declaration: Declaration, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        declaration.source()
