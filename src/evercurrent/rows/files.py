"""Files of rows: read as Arrow tables, and written from rows.

    read_file("orders.parquet")      the rows of one file, of a folder, or of several files (`day=*.parquet`)

The name of a file says its format, unless it is given: Parquet, CSV, or JSON with one object on each line.
"""

from __future__ import annotations

import glob
import os
from pathlib import Path
from typing import Any, Literal

from evercurrent.errors import QueryError, StorageError

Kind = Literal["parquet", "csv", "json"]
KINDS: dict[str, Kind] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
}


def kind_of(path: str | os.PathLike[str]) -> Kind:
    """Returns the kind of a file, by its name."""
    found = KINDS.get(Path(path).suffix.lower())
    if found is None:
        raise QueryError(
            f"the name {os.fspath(path)} does not say what kind of file it is",
            hint="name it .parquet, .csv or .json, or give FORMAT parquet, csv or json",
        )
    return found


def read_file(
    path: str | os.PathLike[str],
    kind: Kind | None = None,
    *,
    header: bool = True,
    delimiter: str | None = None,
) -> Any:
    """Returns the rows of files as an Arrow table; `path` may have `*` and `?`, or be a folder."""
    import pyarrow

    text = os.fspath(path)
    found = sorted(glob.glob(text)) if glob.has_magic(text) else [text]
    paths = [p for one in found for p in _files(one)]
    if not paths:
        raise QueryError(
            f"there is no file {text}", hint="the path is relative to the folder of this process"
        )
    try:
        tables = [_read(p, kind or kind_of(p), header, delimiter) for p in paths]
        return pyarrow.concat_tables(tables, promote_options="permissive") if len(tables) > 1 else tables[0]
    except FileNotFoundError:
        raise QueryError(
            f"there is no file {text}", hint="the path is relative to the folder of this process"
        ) from None
    except (pyarrow.ArrowException, OSError) as problem:
        raise StorageError(f"{text} cannot be read: {problem}") from problem


def _files(path: str) -> list[str]:
    """Returns the path, or the data files of the folder that it is."""
    if not os.path.isdir(path):
        return [path]
    return sorted(str(p) for p in Path(path).rglob("*") if p.suffix.lower() in KINDS)


def _read(path: str, kind: Kind, header: bool, delimiter: str | None) -> Any:
    if kind == "parquet":
        from pyarrow import parquet

        return parquet.read_table(path)
    if kind == "json":
        from pyarrow import json

        return json.read_json(path)
    from pyarrow import csv

    between = delimiter or ("\t" if path.lower().endswith(".tsv") else ",")
    return csv.read_csv(
        path,
        read_options=csv.ReadOptions(autogenerate_column_names=not header),
        parse_options=csv.ParseOptions(delimiter=between, newlines_in_values=True),
        convert_options=csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False),
    )


def write_file(
    table: Any,
    path: str | os.PathLike[str],
    kind: Kind | None = None,
    *,
    header: bool = True,
    delimiter: str | None = None,
) -> None:
    """Writes an Arrow table to a file, which is replaced as a whole."""
    import pyarrow

    text = os.fspath(path)
    kind = kind or kind_of(text)
    beside = f"{text}.{os.getpid()}.part"
    try:
        _write(table, beside, kind, header, delimiter or ("\t" if text.lower().endswith(".tsv") else ","))
        os.replace(beside, text)
    except (pyarrow.ArrowException, OSError) as problem:
        Path(beside).unlink(missing_ok=True)
        raise StorageError(f"{text} cannot be written: {problem}") from problem


def _write(table: Any, path: str, kind: Kind, header: bool, delimiter: str) -> None:
    if kind == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, path)
    elif kind == "csv":
        from pyarrow import csv

        csv.write_csv(table, path, csv.WriteOptions(include_header=header, delimiter=delimiter))
    else:
        import json

        with open(path, "w", encoding="utf-8") as file:
            for row in table.to_pylist():
                file.write(json.dumps(row, default=str, ensure_ascii=False) + "\n")
