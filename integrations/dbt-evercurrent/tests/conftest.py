"""Every test project has a database of its own, in a file."""

from __future__ import annotations

import pytest

pytest_plugins = ["dbt.tests.fixtures.project"]


@pytest.fixture(scope="class")
def dbt_profile_target(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    return {
        "type": "evercurrent",
        "path": str(tmp_path_factory.mktemp("database") / "shop.db"),
        "threads": 2,
    }
