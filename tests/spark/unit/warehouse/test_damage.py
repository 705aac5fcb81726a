"""A warehouse notices when its files are damaged. No Spark runs here."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evercurrent.engine.spark.storage.disk import DamageError
from evercurrent.engine.spark.storage.files import DamageWarning, Folder
from evercurrent.engine.spark.storage.log import Log
from evercurrent.errors import StorageError
from evercurrent.warehouse.database import Warehouse
from evercurrent.warehouse.integrity.check import check
from evercurrent.warehouse.integrity.repair import repair_log
from tests.fuzz.campaign import Difference, Tally
from tests.fuzz.campaigns import damage
from tests.fuzz.warehouses import build, built, change, driver_alone, observe, read_all


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    with driver_alone():
        yield


@pytest.fixture
def place(tmp_path: Path) -> Path:
    build(tmp_path / "w", 0)
    return tmp_path / "w"


def contents(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = {}
    read_all(Warehouse(None, place, progress=False), found, "")
    return found


def flip(file: Path, at: int | None = None) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2 if at is None else at] ^= 4
    file.write_bytes(bytes(content))


def files_of(place: Path, table: bool) -> list[Path]:
    """Segments of the newest version: of tables, or of states and views."""
    db = Warehouse(None, place, progress=False)
    snapshot = db._core.snapshot
    of_tables = {
        f for n, s in snapshot.stores.items() if n.startswith("table\0") for x in s.segments for f in x.files
    }
    chosen = of_tables if table else snapshot.files() - of_tables
    return sorted(place / f for f in chosen)


@pytest.mark.parametrize("seed", range(2))
def test_random_faults_are_noticed_or_harmless(seed: int) -> None:
    tally = Tally()
    damage.Damage(faults=6).run(seed, tally)
    assert tally.faults == 6


def test_unchecked_reads_would_be_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The campaign can fail: without the checks it finds wrong rows or raw errors within a few faults."""
    built(0)  # as it is made with checks, and kept for other tests
    monkeypatch.setattr("evercurrent.engine.spark.storage.files.Folder.digest_of", lambda self, file: None)
    with pytest.raises(Difference):
        for seed in range(0, 10 * damage.WAREHOUSES, damage.WAREHOUSES):
            damage.Damage(faults=6).run(seed, Tally())


# --- the log -----------------------------------------------------------------------------------------------


def test_a_lost_newest_entry_is_noticed_and_written_again(place: Path) -> None:
    expected = contents(place)
    newest = max(place.glob("_log/*.json"))
    newest.unlink()
    with pytest.raises(StorageError, match=rf"{newest.name} is missing.*\n.*--repair"):
        Warehouse(None, place, progress=False)
    (finding,) = check(Folder(place)).findings
    assert (finding.kind, finding.problem) == ("entry", "missing")
    report = repair_log(Folder(place))
    assert report and report.repaired == [f"_log/{newest.name}"]
    assert contents(place) == expected


def test_a_crash_before_the_head_is_no_damage(place: Path) -> None:
    expected = contents(place)
    (head,) = place.glob("_log/heads/*")
    head.rename(head.with_name(f"{int(head.stem) - 1:020}.json"))  # the head is one version behind
    assert contents(place) == expected and check(Folder(place))
    shutil.rmtree(place / "_log" / "heads")
    assert contents(place) == expected and check(Folder(place))
    change(Warehouse(None, place, progress=False))
    assert len(list(place.glob("_log/heads/*"))) == 1


def test_a_slow_writer_does_not_take_the_head_back(place: Path) -> None:
    log = Warehouse(None, place, progress=False)._core.engine.log
    newest = log.latest()
    log.write_head(newest - 1, log.entry_path(newest - 1).read_bytes())
    assert newest in log.heads()
    max(place.glob("_log/*.json")).unlink()
    with pytest.raises(DamageError):
        log.latest()


@pytest.mark.parametrize("which", [0, 2])
def test_a_lost_entry_in_the_middle_is_noticed_where_it_matters(place: Path, which: int) -> None:
    """Rows do not depend on it. Whether a batch was applied already does."""
    expected = contents(place)
    lost = sorted(place.glob("_log/*.json"))[which]
    lost.unlink()
    assert contents(place) == expected
    db = Warehouse(None, place, progress=False)
    for ask in (db.history, lambda: db.apply({"o": []}, batch="b1"), lambda: db.vacuum(keep=1, hours=0)):
        with pytest.raises(StorageError, match=f"{lost.name} is missing"):
            ask()
    report = repair_log(Folder(place))
    assert [f.problem for f in report.findings] == ["missing"] and "copy of the warehouse" in str(report)


def test_an_entry_of_another_history_is_noticed(place: Path, tmp_path: Path) -> None:
    """Each entry is whole, but the newest does not follow on the one before it."""
    build(tmp_path / "other", 1)
    entry = sorted(place.glob("_log/*.json"))[-2]
    entry.write_bytes((tmp_path / "other" / "_log" / entry.name).read_bytes())
    with pytest.raises(StorageError, match="another history"):
        Warehouse(None, place, progress=False)


def test_every_bit_of_an_entry_and_a_snapshot_counts(place: Path) -> None:
    for pattern in ("_log/*.json", "_log/snapshots/*.json"):
        file = max(place.glob(pattern))
        whole = file.read_bytes()
        for at in range(0, len(whole), max(1, len(whole) // 40)):
            flip(file, at)
            with pytest.raises(StorageError):
                read = Log(Folder(place))
                read.snapshot(read.latest())
            file.write_bytes(whole)


# --- segments and copies -----------------------------------------------------------------------------------


def test_a_damaged_state_names_the_file_and_is_rebuilt(place: Path) -> None:
    expected = contents(place)
    for file in files_of(place, table=False):
        flip(file)
    db = Warehouse(None, place, progress=False)
    with pytest.raises(
        StorageError, match=r"data/.*is damaged.*\nhint: it can be rebuilt from the tables.*--repair"
    ):
        db.view("spend").rows()
    report = db.check()
    assert not report and all(f.derived for f in report.findings if f.kind == "segment")
    version = db.version
    report = db.check(repair=True)
    assert db.version == version + 1 and db.history()[-1].version == db.version
    assert report.repaired and not any(f.current for f in report.findings), str(report)
    assert contents(place) == expected
    db.vacuum(keep=1, hours=0)
    assert db.check(), str(db.check())
    other = build(place.with_name("other"), 0)
    change(db)
    change(other)
    assert contents(place) == contents(place.with_name("other"))


def test_a_damaged_table_cannot_be_rebuilt_and_says_what_can_be_done(place: Path) -> None:
    file = max(files_of(place, table=True), key=lambda f: f.stat().st_size)
    flip(file)
    state = next(f for f in files_of(place, table=False) if "rows" not in f.parent.name)
    flip(state)
    db = Warehouse(None, place, progress=False)
    with pytest.raises(
        StorageError, match=r"earlier version .*dataframe\(version.*load it again from its source"
    ):
        db.table("o").rows()
    before = db.version
    report = db.check(repair=True)
    assert db.version == before and not report
    assert file.name in report.failure
    assert any(f.file.endswith(file.name) and f.what == "segment of table o" for f in report.findings)


def test_a_damaged_copy_is_not_believed_and_is_rebuilt(place: Path) -> None:
    copies = list(place.glob("data/*/*.map"))
    assert copies
    for copy in copies:
        content = bytearray(copy.read_bytes())
        for at in range(16, len(content), 128):
            content[at] ^= 1
        copy.write_bytes(bytes(content))
    other = place.with_name("other")
    build(other, 0)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", DamageWarning)
        assert observe(place) == observe(other)
    assert any(issubclass(w.category, DamageWarning) and ".map is damaged" in str(w.message) for w in said)
    db = Warehouse(None, place, progress=False)
    found = {f.kind for f in db.check().findings}
    assert found == {"copy"}
    assert db.check(repair=True) and db.check()


def test_a_lost_sidecar_is_computed_from_its_file(place: Path) -> None:
    expected = contents(place)
    for file in place.glob("data/*/*.sums"):
        file.write_bytes(b"nonsense")
    assert contents(place) == expected
    report = check(Folder(place))
    assert {f.kind for f in report.findings} == {"sums"}
    assert repair_log(Folder(place))


def test_two_segments_that_change_places_are_noticed(place: Path) -> None:
    sizes = sorted(files_of(place, table=True), key=lambda f: f.stat().st_size)
    a, b = sizes[-1], sizes[-2]
    first, second = a.read_bytes(), b.read_bytes()
    a.write_bytes(second)
    b.write_bytes(first)
    with pytest.raises(StorageError):
        Warehouse(None, place, progress=False).table("o").rows()


# --- before there were checksums ---------------------------------------------------------------------------


def without_checksums(place: Path) -> None:
    """The warehouse as an earlier version of this package would have written it."""

    def old(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                k: old(v)
                for k, v in value.items()
                if k not in ("digest", "before", "snapshot_digest", "sums")
            }
        return [old(v) for v in value] if isinstance(value, list) else value

    for file in [*place.glob("_log/*.json"), *place.glob("_log/snapshots/*.json")]:
        file.write_text(json.dumps({**old(json.loads(file.read_text())), "format": 1}))
    shutil.rmtree(place / "_log" / "heads")
    for file in place.glob("data/*/*.sums"):
        file.unlink()
    for file in place.glob("data/*/*.map"):
        content = file.read_bytes()
        file.write_bytes(content[: content.index(b"ARROW1", 8) + 6])


def test_an_old_warehouse_opens_and_goes_on_with_checksums(place: Path) -> None:
    other = place.with_name("other")
    build(other, 0)
    without_checksums(place)
    report = check(Folder(place))
    assert report and report.unchecked > 20 and "have no checksum" in str(report)
    assert observe(place) == observe(other)
    after = check(Folder(place))
    assert after and after.unchecked < after.files
    newest = max(place.glob("_log/*.json"))
    flip(newest)
    with pytest.raises(StorageError):
        Warehouse(None, place, progress=False)
