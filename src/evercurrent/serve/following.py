"""Follows the versions that others write: a warehouse that other drivers write, a file that another process writes.

A thread looks once a second, as long as the server runs. Subscribers of the database are notified of what is new, and so are
the clients. If a look fails, the thread tries again later; until then the version that was read last is served.

    following = Following(db.refresh)        once a second: db.refresh()
    following.stop()                         the thread has ended
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

log = logging.getLogger("evercurrent")

PAUSE = 1.0
"""Seconds between two looks."""


class Following:
    """The thread that looks."""

    def __init__(self, look: Callable[[], object], pause: float = PAUSE) -> None:
        self.look, self.pause = look, pause
        self.problem = ""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="evercurrent-following", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(self.pause):
            try:
                self.look()
                self.problem = ""
            except Exception as problem:
                if str(problem) != self.problem:  # once, not every second
                    log.warning("new versions could not be read: %s", problem)
                self.problem = str(problem)

    def stop(self) -> None:
        """Ends the thread. Idempotent."""
        self._stop.set()
        self._thread.join(5)
