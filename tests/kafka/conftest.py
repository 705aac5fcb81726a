"""The broker and the session that the tests of this folder share; without the programs of Kafka they are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.kafka import jars
from tests.kafka.broker import Broker

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = reason_to_skip()
    for item in items:
        if "tests/kafka" in item.path.as_posix() and "broker" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
            item.add_marker(pytest.mark.slow)
            if reason is not None:
                item.add_marker(pytest.mark.skip(reason=reason))


def reason_to_skip() -> str | None:
    import pyspark

    try:
        import confluent_kafka  # noqa: F401
    except ImportError:
        return "confluent-kafka is not installed: pip install 'evercurrent[kafka]'"
    if pyspark.__version__ != jars.SPARK:
        return f"the connector is of Spark {jars.SPARK}, and Spark is {pyspark.__version__}: make test-kafka has both"
    return jars.missing()


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    made = Broker(tmp_path_factory.mktemp("broker"))
    yield made
    made.stop()


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    from tests.kafka.session import session

    made = session()
    yield made
    made.stop()
