"""Rows of data files by Arrow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow
from deltalake import write_deltalake
from pyroaring import BitMap64

from evercurrent.engine.spark.sources.arrow_pieces import arrow_rows
from evercurrent.engine.spark.sources.delta import open_on
from evercurrent.engine.spark.storage.disk import Disk


def test_rows_are_chosen_in_files_whose_texts_are_views(tmp_path: Path) -> None:
    """Arrow has no kernel that chooses among such texts: the driver left these files to Spark."""
    notes = pyarrow.array([f"note {i}" for i in range(50)], pyarrow.string_view())
    rows = pyarrow.table({"id": list(range(50)), "note": notes})
    write_deltalake(str(tmp_path), pyarrow.RecordBatchReader.from_batches(rows.schema, rows.to_batches()))
    state = open_on(Disk(), str(tmp_path))
    (piece,) = [state.piece(p) for p in state.files]
    few = BitMap64([3, 8])
    chosen = arrow_rows(Disk(), state.layout, [replace(piece, only=few)], state.columns)
    assert chosen.column(1).to_pylist() == ["note 3", "note 8"]
    rest = arrow_rows(Disk(), state.layout, [replace(piece, skipped=few)], state.columns)
    assert rest.num_rows == 48 and not {"note 3", "note 8"} & set(rest.column(1).to_pylist())
