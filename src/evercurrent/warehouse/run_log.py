"""Runs in the log of the program: the logger `evercurrent`, with what happened as fields of the records.

    logging.getLogger("evercurrent").setLevel(logging.INFO)

    INFO   version 7: 12 rows in, 0.21 s           event=run   warehouse version batch rows bytes seconds jobs
    INFO   spend: keyed, 3 rows changed, 0.04 s    event=view  the same, and view strategy way code reason
    DEBUG  a view that did not change              event=view
    WARNING what failed after the commit           event=warning

Formatters for JSON show fields that `extra` gives to a record; here each has a name of its own.
"""

from __future__ import annotations

import logging
from typing import Any

from evercurrent.statements.run_record import RunRecord

logger = logging.getLogger("evercurrent")
logger.addHandler(logging.NullHandler())


def log_run(warehouse: str, record: RunRecord) -> None:
    """Logs a run and what it did for each view."""
    if record.warnings:
        for said in record.warnings:
            logger.warning("version %d: %s", record.version, said, extra=fields("warning", warehouse, record))
    if not logger.isEnabledFor(logging.INFO):
        return
    whole = fields("run", warehouse, record)
    whole |= {
        "rows": record.count,
        "bytes": record.bytes_read,
        "seconds": record.seconds,
        "jobs": record.jobs,
    }
    logger.info("version %d: %d rows in, %.2f s", record.version, record.count, record.seconds, extra=whole)
    for view in record.views:
        level = logging.DEBUG if view.strategy == "none" else logging.INFO
        own = fields("view", warehouse, record) | {
            "view": view.view,
            "strategy": view.strategy,
            "way": view.way,
            "code": view.code,
            "reason": view.reason,
            "rows": view.rows_changed,
            "bytes": view.bytes_read,
            "seconds": view.seconds,
        }
        said = "%s: %s, %d rows changed, %.2f s"
        logger.log(level, said, view.view, view.strategy, view.rows_changed, view.seconds, extra=own)


def log_definitions(warehouse: str, version: int, kind: str, filled: list[str], seconds: float) -> None:
    """Logs a version of definitions."""
    own = {
        "event": "definitions",
        "warehouse": warehouse,
        "version": version,
        "kind": kind,
        "seconds": seconds,
    }
    logger.info("version %d: %s, %.2f s", version, kind, seconds, extra={**own, "views": filled})


def fields(event: str, warehouse: str, record: RunRecord) -> dict[str, Any]:
    return {"event": event, "warehouse": warehouse, "version": record.version, "batch": record.batch}
