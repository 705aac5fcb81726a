"""Many rows at once: loaded from files by one sort, judged by what the files say, and views filled over them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet
import pytest

import evercurrent as ec
from evercurrent.engine.spark import engine
from evercurrent.engine.spark.intake import scanned_files
from evercurrent.engine.spark.jobs import fill
from evercurrent.engine.spark.jobs.fill import mostly_distinct
from evercurrent.engine.spark.kernel.outcome import Outcome
from evercurrent.engine.spark.storage import segments
from evercurrent.engine.spark.tasks import sorted_frames
from evercurrent.warehouse.database import Warehouse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("small_driver")]

ROWS = 13_000


@pytest.fixture
def db(spark: SparkSession, tmp_path: Path) -> Warehouse:
    db = Warehouse(spark, tmp_path / "warehouse")
    db.execute(
        "CREATE TABLE line (o BIGINT, n INT, price DECIMAL(12,2) NOT NULL, kind STRING, PRIMARY KEY (o, n))"
    )
    return db


def parquet(spark: SparkSession, place: Path, **other: str) -> Any:
    """Changes in a file, out of order; `other` replaces expressions of columns."""
    columns = {
        "o": f"({ROWS} - id) div 4",
        "n": f"CAST(({ROWS} - id) % 4 AS INT)",
        "price": "CAST(id % 1000 AS DECIMAL(12,2))",
        "kind": "CAST(id % 7 AS STRING)",
        "_change_type": "'insert'",
        **other,
    }
    frame = spark.range(ROWS).selectExpr(*(f"{e} AS {n}" for n, e in columns.items()))
    frame.write.parquet(str(place))
    return spark.read.parquet(str(place))


def staged(db: Warehouse) -> list[Path]:
    return list(Path(db._core.engine.folder.root).glob("data/*staging*"))


def test_files_are_sorted_and_views_are_filled_over_them(
    spark: SparkSession, db: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = db.apply({"line": parquet(spark, tmp_path / "lines")})
    assert run.rows_in == {"line": ROWS} and not staged(db)
    (segment,) = db._core.table_segments("line").segments
    assert segment.rows == ROWS and segment.order[:2] == ("c0", "c1")
    keys: list[Any] = []
    for file in segment.files:
        read = pyarrow.parquet.read_table(db._core.engine.folder.path(file), columns=["c0", "c1"])
        keys += zip(*(c.to_pylist() for c in read.columns), strict=True)
    assert keys == sorted(keys) and len(set(keys)) == ROWS
    names = pyarrow.parquet.read_schema(db._core.engine.folder.path(segment.files[0])).names
    assert names == ["c0", "c1", "c2", "c3", "w", "h"]
    # A recent segment that takes rows of the base away: views are filled from both as they are.
    db.execute("UPDATE line SET price = 5000, kind = NULL WHERE o < 3")
    for module in (engine, segments):
        monkeypatch.setattr(module, "LARGE_ROWS", 1000)
    monkeypatch.setattr(engine, "DRIVER_ENTRIES", 1000)
    db.execute(
        """
        CREATE VIEW heads AS SELECT o, price FROM line WHERE n = 0;
        CREATE VIEW pairs AS SELECT a.o, a.price, b.kind FROM line a JOIN line b ON a.o = b.o WHERE a.n = 1 AND b.n = 2;
        CREATE VIEW kinds AS SELECT kind, count(*) AS n, sum(price) AS total, max(price) AS most FROM line GROUP BY kind;
        CREATE VIEW best AS SELECT o, n, price FROM line ORDER BY price DESC, o, n LIMIT 5;
        CREATE VIEW late AS SELECT o FROM line WHERE n = 3 AND NOT EXISTS (SELECT 1 FROM heads h WHERE h.o = line.o AND h.price > 900)
        """
    )
    assert db.verify(), str(db.verify())
    assert len(db._core.table_segments("line").segments) == 2  # nothing was written again
    db.execute("DELETE FROM line WHERE o = 7")
    assert db.verify(), str(db.verify())


@pytest.mark.parametrize("sample", [500, fill.SAMPLE])
def test_rows_are_added_up_before_or_after_they_travel(
    spark: SparkSession, db: Warehouse, tmp_path: Path, sample: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sample tells which is better, and both give the same. Where tasks fill states from scans, nobody asks."""
    db.apply({"line": parquet(spark, tmp_path / "lines")})
    for module in (engine, segments):
        monkeypatch.setattr(module, "LARGE_ROWS", 1000)
    monkeypatch.setattr(segments, "SORTED_ROWS", 1000)
    monkeypatch.setattr(fill, "SAMPLE", sample)
    monkeypatch.setattr(engine, "DRIVER_ENTRIES", 1000)
    answers: dict[tuple[str, ...], bool] = {}

    def told(frame: Any, keys: Any, rows: float) -> bool:
        answers[tuple(keys)] = mostly_distinct(frame, keys, rows)
        return answers[tuple(keys)]

    monkeypatch.setattr(fill, "mostly_distinct", told)
    monkeypatch.setattr(engine, "fill_states", lambda *_: Outcome())
    db.execute("CREATE VIEW kinds AS SELECT kind, sum(price) AS total FROM line GROUP BY kind")
    assert answers == {("c0",): False}, "seven kinds are left of all rows"
    answers.clear()
    db.execute("CREATE VIEW pairs AS SELECT a.o, a.price, b.kind FROM line a JOIN line b ON a.o = b.o")
    assert answers and all(answers.values()), "of four rows of an order hardly two are alike"
    assert db.verify(), str(db.verify())
    db.execute("DELETE FROM line WHERE o < 70; UPDATE line SET kind = NULL WHERE o BETWEEN 100 AND 150")
    assert db.verify(), str(db.verify())


def test_the_driver_writes_copies_where_executors_cannot(
    spark: SparkSession, db: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where this package is installed on the driver alone."""

    def missing(*_: Any) -> Any:
        raise ModuleNotFoundError("No module named 'evercurrent'")

    monkeypatch.setattr(scanned_files, "write_part", missing)
    monkeypatch.setattr(sorted_frames, "write_rows", missing)
    folder = db._core.engine.folder
    assert folder.shared_work
    db.apply({"line": parquet(spark, tmp_path / "lines")})
    assert not folder.shared_work
    (segment,) = db._core.table_segments("line").segments
    assert all(folder.copy(file) is not None for file in segment.files)
    db.execute("DELETE FROM line WHERE o = 7")
    assert len(db.table("line")) == ROWS - 4


def test_what_breaks_a_key_is_found(spark: SparkSession, db: Warehouse, tmp_path: Path) -> None:
    twice = parquet(
        spark, tmp_path / "twice", o="IF(id = 77, 1, (13000 - id) div 4)", n="CAST(id % 4 AS INT)"
    )
    with pytest.raises(ec.ConstraintError) as caught:
        db.apply({"line": twice})
    assert caught.value.constraint == "line_pk" and caught.value.count == 2
    missing = parquet(spark, tmp_path / "missing", price="IF(id = 9, NULL, CAST(id AS DECIMAL(12,2)))")
    with pytest.raises(ec.ConstraintError) as caught:
        db.apply({"line": missing})
    assert caught.value.constraint == "price NOT NULL" and caught.value.count == 1
    assert len(db.table("line")) == 0


def test_what_comes_and_goes_in_one_file_is_not_there(
    spark: SparkSession, db: Warehouse, tmp_path: Path
) -> None:
    """Of even orders the one line comes and goes, odd ones have two lines."""
    both = parquet(
        spark,
        tmp_path / "both",
        o="id div 2",
        n="CAST(IF((id div 2) % 2 = 0, 0, id % 2) AS INT)",
        price="CAST(1 AS DECIMAL(12,2))",
        kind="'x'",
        _change_type="IF((id div 2) % 2 = 0 AND id % 2 = 1, 'delete', 'insert')",
    )
    db.apply({"line": both})
    assert not staged(db)
    assert db.query("SELECT count(*), min(o % 2), max(n) FROM line").rows() == [(ROWS // 2, 1, 1)]
