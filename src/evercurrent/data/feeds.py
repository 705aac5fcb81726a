"""What columns of a change feed say beside the row: the words of Delta's change feeds.

>>> SIGNS["insert"], SIGNS["update_preimage"]
(1, -1)
"""

from __future__ import annotations

CHANGE_TYPE = "_change_type"
SIGNS = {"insert": 1, "update_postimage": 1, "delete": -1, "update_preimage": -1}
PASSED_OVER = ("_commit_version", "_commit_timestamp")
"""Columns that a feed may have and that say nothing of the row."""
