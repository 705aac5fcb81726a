"""The options of statements, and the choices that each has. The same on every database.

>>> "lazy" in MODES, "eager" in MODES
(True, False)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

Parameters = Sequence[Any] | Mapping[str, Any] | None
"""Values for `?` (a sequence) or `:name` (a mapping)."""

Language = Literal["sql", "oql"]
Policy = Literal["incremental", "auto", "full"]
OnViolation = Literal["refuse", "quarantine"]
SourceFormat = Literal["delta", "parquet", "iceberg", "files"]
Strategy = Literal["auto", "driver", "tasks", "spark"]
MessageFormat = Literal["json", "avro", "debezium"]

LANGUAGES = ("sql", "oql")
POLICIES = ("incremental", "auto", "full")
MODES = ("strict", "lazy", "hybrid")
ON_VIOLATION = ("refuse", "quarantine")
STRATEGIES = ("auto", "driver", "tasks", "spark")
