"""The server that the tests of this folder share; without the programs of PostgreSQL they are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'evercurrent[postgres]'")

from tests.postgres.cluster import Cluster, programs


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    if programs() is None:
        pytest.skip("the server of PostgreSQL is not installed: make test-postgres installs it")
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory(prefix="evercurrent_pg", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        made = Cluster(Path(folder) / "server")
        yield made
        made.stop()


@pytest.fixture
def server(cluster: Cluster) -> Iterator[Cluster]:
    """The server, with nothing of an earlier test in it."""
    clear(cluster)
    yield cluster
    clear(cluster)


def clear(cluster: Cluster) -> None:
    cluster.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active")
    for (name,) in cluster.execute("SELECT pubname FROM pg_publication"):
        cluster.execute(f'DROP PUBLICATION "{name}"')
    cluster.execute("DROP SCHEMA public CASCADE")
    cluster.execute("CREATE SCHEMA public")


def rows_of(cluster: Cluster, text: str) -> list[Any]:
    return sorted(cluster.execute(text), key=repr)
