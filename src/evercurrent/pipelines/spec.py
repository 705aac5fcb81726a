"""The file that describes a pipeline, found and read as `spark-pipelines` does.

name: sales
storage: file:///data/sales/storage     # checkpoints of streams, and the warehouse unless --warehouse names another
catalog: spark_catalog                  # of names that do not say theirs
database: sales
configuration: {spark.sql.catalogImplementation: hive}
libraries:
  - glob: {include: transformations/**}
"""

from __future__ import annotations

import glob
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from evercurrent.errors import QueryError, UnsupportedError

NAMES = ("spark-pipeline.yaml", "spark-pipeline.yml")
FIELDS = ("name", "storage", "catalog", "database", "schema", "configuration", "libraries")


@dataclass(frozen=True)
class Spec:
    """What the file says; `root` is its folder."""

    file: Path
    name: str
    storage: str
    catalog: str | None = None
    database: str | None = None
    configuration: Mapping[str, str] = field(default_factory=dict)
    libraries: tuple[str, ...] = ()

    @property
    def root(self) -> Path:
        return self.file.parent.resolve()

    @property
    def files(self) -> list[Path]:
        """The files of the libraries, in the order of the globs."""
        return [
            p
            for pattern in self.libraries
            for p in sorted(self.root.glob(pattern))
            if p.is_file() and "__pycache__" not in p.parts
        ]

    @property
    def warehouse(self) -> str:
        """Where the warehouse is unless the command line says otherwise: under the storage."""
        parsed = urlparse(self.storage)
        if parsed.scheme not in ("", "file"):
            raise QueryError(
                f"{self.file.name}: the storage {self.storage} is not on a file system that the driver shares with its executors",
                hint="--warehouse DIR names a folder for the warehouse; checkpoints stay in the storage",
            )
        folder = Path(unquote(parsed.path)) if parsed.scheme else Path(self.storage)
        return str((folder if folder.is_absolute() else self.root / folder) / "evercurrent")


def is_spec(file: Path) -> bool:
    """Whether a file that `run` is called with describes a pipeline of Spark."""
    return file.suffix in (".yml", ".yaml")


def find_spec(folder: Path) -> Path:
    """The spec file of a folder or of the nearest folder above it."""
    for place in (folder.resolve(), *folder.resolve().parents):
        found = [place / name for name in NAMES if (place / name).is_file()]
        if len(found) > 1:
            raise QueryError(f"{place} has two spec files: {', '.join(NAMES)}", hint="name one of them")
        if found:
            return found[0]
    raise QueryError(
        f"there is no {' or '.join(NAMES)} in {folder} or above it",
        hint="evercurrent run PATH/spark-pipeline.yml",
    )


def read_spec(file: Path) -> Spec:
    try:
        import yaml
    except ImportError as problem:
        raise UnsupportedError(
            "pipelines of Spark need the package PyYAML", hint="pip install 'evercurrent[pipelines]'"
        ) from problem
    try:
        value = yaml.safe_load(file.read_text(encoding="utf-8"))
    except yaml.YAMLError as problem:
        raise QueryError(f"{file.name}: {problem}") from problem
    if not isinstance(value, Mapping):
        raise QueryError(f"{file.name} must be a mapping", hint=f"with {', '.join(FIELDS)}")
    for key in value:
        if key not in FIELDS:
            raise QueryError(
                f"{file.name} has {key!r}, which is not known", hint=f"known are {', '.join(FIELDS)}"
            )
    for key in ("name", "storage"):
        if key not in value:
            raise QueryError(f"{file.name} needs {key!r}")
    return Spec(
        file,
        str(value["name"]),
        str(value["storage"]),
        value.get("catalog"),
        value.get("database", value.get("schema")),
        settings(file, value.get("configuration", {})),
        tuple(pattern(file, entry) for entry in value.get("libraries", ())),
    )


def settings(file: Path, value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise QueryError(f"{file.name}: configuration must be a mapping of names to strings")
    for name, text in value.items():
        if not isinstance(name, str) or not isinstance(text, str):
            raise QueryError(
                f"{file.name}: configuration has {name!r}: {text!r}; names and values must be strings",
                hint="put the value in quotes",
            )
    return dict(value)


def pattern(file: Path, entry: Any) -> str:
    """A library's glob: a file, or a folder that ends in /**, for all that is in it."""
    try:
        include = entry["glob"]["include"]
    except (KeyError, TypeError):
        include = None
    if not isinstance(include, str):
        raise QueryError(f"{file.name}: a library is glob: {{include: PATTERN}}, not {entry!r}")
    if not glob.has_magic(include):
        return include
    if include.endswith("/**") and not glob.has_magic(include[:-3]):
        return include + "/*"
    raise QueryError(
        f"{file.name}: the pattern {include!r} is not allowed",
        hint="name a file, or a folder with /** after it",
    )
