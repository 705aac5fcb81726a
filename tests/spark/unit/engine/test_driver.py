"""Small transactions by the driver alone: no Spark is started."""

from __future__ import annotations

from pathlib import Path

import pytest

from evercurrent.engine.spark.kernel.batch import DriverTransaction
from evercurrent.engine.spark.kernel.outcome import Outcome
from evercurrent.engine.spark.storage.entry_reader import EntryReader, TooLarge
from evercurrent.engine.spark.storage.stored_state import Store
from tests.spark.unit.engine.following import follow


@pytest.mark.parametrize("seed", range(60))
def test_durable_states_follow_random_plans(tmp_path: Path, seed: int) -> None:
    def execute(program, folder, stores, segments, beginning) -> Outcome:  # type: ignore[no-untyped-def]
        reader = EntryReader(folder)
        reader.budget = 100_000
        return DriverTransaction(program, folder, reader, stores, beginning=beginning).execute(segments)

    follow(tmp_path, seed, 6, execute)


def test_more_than_the_driver_should_hold_is_given_up(tmp_path: Path) -> None:
    from evercurrent.data.types import INT
    from evercurrent.engine.spark.storage.file_schema import row_schema
    from evercurrent.engine.spark.storage.files import Folder
    from evercurrent.engine.spark.translate.arrow_columns import rows_to_arrow

    folder = Folder(tmp_path)
    folder.make()
    segment = folder.write("t", rows_to_arrow([INT], ["c0"], [((i,), 1) for i in range(100)], "w"))
    reader = EntryReader(folder)
    reader.budget = 50
    with pytest.raises(TooLarge):
        reader.rows(Store((segment,)), row_schema([INT]), [INT])
    reader.budget = 50
    assert len(reader.rows(Store((segment,)), row_schema([INT]), [INT], [0], {(3,), (7,)})) == 2
