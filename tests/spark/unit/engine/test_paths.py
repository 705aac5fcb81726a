"""Which paths a warehouse may have."""

from __future__ import annotations

from pathlib import Path

import pytest

import evercurrent as ec
from evercurrent.engine.spark.storage.files import Folder


def test_an_empty_path_is_refused() -> None:
    with pytest.raises(ec.QueryError, match="the path of a warehouse is empty"):
        Folder("")


@pytest.mark.parametrize(
    ("path", "root"),
    [
        ("s3a://b/w", "s3://b/w"),
        ("S3A://b/w/", "s3://b/w"),
        ("abfss://c@a.dfs.core.windows.net/w", "abfss://c@a.dfs.core.windows.net/w"),
    ],
)
def test_object_stores_are_never_taken_for_folders(path: str, root: str) -> None:
    folder = Folder(path)
    assert folder.disk.remote and str(folder.root) == root
    assert folder.path("data/x") == f"{root}/data/x"


def test_other_file_systems_are_refused() -> None:
    with pytest.raises(ec.UnsupportedError, match="a warehouse at ftp: is not built yet"):
        Folder("Ftp://n/w")
    with pytest.raises(ec.UnsupportedError, match="Hdfs://n/w is reached through a session of Spark"):
        Folder("Hdfs://n/w")


def test_options_are_for_object_stores(tmp_path: Path) -> None:
    with pytest.raises(ec.QueryError, match="storage_options are for object stores"):
        Folder(tmp_path, {"AWS_REGION": "x"})


def test_addresses_of_the_local_disk(tmp_path: Path) -> None:
    for path in (tmp_path, str(tmp_path), f"file://{tmp_path}", f"FILE:{tmp_path}"):
        assert Folder(path).root == tmp_path
