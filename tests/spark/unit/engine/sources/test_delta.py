"""What is read of a Delta table's log, and which tables are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from deltalake import DeltaTable, write_deltalake

from evercurrent.engine.spark.sources.delta import DeltaState, open_on
from evercurrent.engine.spark.sources.delta_log import absolute
from evercurrent.engine.spark.storage.disk import DISK
from evercurrent.errors import StorageError, UnsupportedError


def open_table(path: str, version: int | None = None) -> DeltaState:
    return open_on(DISK, path, version)


def crafted(path: Path, protocol: dict[str, Any], configuration: dict[str, str] | None = None) -> str:
    """A table whose second commit says what a writer that we do not have would say."""
    write_deltalake(str(path), pyarrow.table({"id": [1]}))
    log = path / "_delta_log"
    first = [json.loads(line) for line in (log / f"{0:020}.json").read_text().splitlines()]
    metadata = next(a["metaData"] for a in first if "metaData" in a)
    actions = [
        {"protocol": protocol},
        {"metaData": {**metadata, "configuration": configuration or {}}},
        {"commitInfo": {"timestamp": 0, "operation": "UPGRADE PROTOCOL"}},
    ]
    (log / f"{1:020}.json").write_text("\n".join(map(json.dumps, actions)))
    return str(path)


def features(*names: str) -> dict[str, Any]:
    return {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": list(names),
        "writerFeatures": list(names),
    }


@pytest.mark.parametrize(
    ("protocol", "configuration", "said"),
    [
        (features("columnMapping"), {"delta.columnMapping.mode": "name"}, "no name in files"),
        (features("columnMapping"), {"delta.columnMapping.mode": "taste"}, "maps columns by 'taste'"),
        (features("variantType"), None, "reader feature variantType"),
        (features("notYetInvented"), None, "notYetInvented"),
        ({"minReaderVersion": 2, "minWriterVersion": 5}, {"delta.columnMapping.mode": "name"}, "olumn"),
        ({"minReaderVersion": 9, "minWriterVersion": 9}, None, "version 9"),
    ],
)
def test_what_cannot_be_read_rightly_is_refused(
    tmp_path: Path, protocol: dict[str, Any], configuration: dict[str, str] | None, said: str
) -> None:
    with pytest.raises(UnsupportedError, match=said) as caught:
        open_table(crafted(tmp_path / "t", protocol, configuration))
    assert "Delta's own engine" in str(caught.value), "the error says what to do"


@pytest.mark.parametrize(
    "feature", ["timestampNtz", "v2Checkpoint", "deletionVectors", "columnMapping", "typeWidening"]
)
def test_features_that_leave_files_as_they_are_are_read(tmp_path: Path, feature: str) -> None:
    found = open_table(crafted(tmp_path / "t", features(feature)))
    assert (found.version, found.rows, [c.name for c in found.columns]) == (1, 1, ["id"])


def test_paths_of_the_log_are_those_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "a b"
    values = ["01", "a b", "x/y%z", "{q}[*]?", None]
    write_deltalake(str(path), pyarrow.table({"id": range(5), "k": values}), partition_by=["k"])
    found = open_table(str(path))
    assert all(Path(f).is_file() for f in found.files) and len(found.files) == 5
    assert {f.partition["k"] for f in found.files.values()} == set(values)
    assert absolute("/t", "file:///elsewhere/x%20y.parquet") == "/elsewhere/x y.parquet"


def test_versions(tmp_path: Path) -> None:
    write_deltalake(
        str(tmp_path), pyarrow.table({"id": [1, 2]}), configuration={"delta.enableChangeDataFeed": "true"}
    )
    write_deltalake(str(tmp_path), pyarrow.table({"id": [3]}), mode="append")
    DeltaTable(str(tmp_path)).delete("id = 1")
    assert [open_table(str(tmp_path), v).rows for v in range(3)] == [2, 3, 2]
    assert open_table(str(tmp_path)).identity == open_table(str(tmp_path), 0).identity
    with pytest.raises(StorageError, match="version 7"):
        open_table(str(tmp_path), 7)
    with pytest.raises(StorageError, match="not a Delta table"):
        open_table(str(tmp_path / "nothing"))
