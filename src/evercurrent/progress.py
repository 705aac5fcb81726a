"""What a long run is at, while it runs.

A run goes from stage to stage (`Progress.stage`); listeners are notified. On a terminal, where nobody else does, a line
shows the stage and the time, but only once a run has taken a second: most are over before.

>>> seen = []
>>> progress = Progress(seen.append)
>>> with progress.run():
...     progress.stage("reading")
...     progress.stage("writing")
>>> seen
['reading', 'writing']
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Listener = Callable[[str], object]
"""Is called with the name of each stage as it begins."""

PATIENCE = 1.0
"""Seconds before a line is shown."""
PERIOD = 0.25


class Progress:
    """The present stage of a run. `listener`: None shows a line on a terminal, False shows nothing."""

    def __init__(self, listener: Listener | bool | None = None) -> None:
        self.listener = listener
        self.text = ""
        self.running = False

    def stage(self, text: str) -> None:
        """Say what is done from here on."""
        self.text = text
        if callable(self.listener) and self.running:
            self.listener(text)

    @contextmanager
    def run(self) -> Iterator[None]:
        """A run; one inside another is part of it."""
        if self.running:
            yield
            return
        self.running = True
        self.text = ""
        over = threading.Event()
        shown = self.listener is True or (self.listener is None and sys.stderr.isatty())
        thread = threading.Thread(target=self.show, args=(over,), daemon=True) if shown else None
        try:
            if thread is not None:
                thread.start()
            yield
        finally:
            self.running = False
            over.set()
            if thread is not None:
                thread.join()

    def show(self, over: threading.Event) -> None:
        begin = time.perf_counter()
        if over.wait(PATIENCE):
            return
        from rich.console import Console
        from rich.text import Text

        console = Console(stderr=True)
        with console.status(Text(self.line(begin))) as status:
            while not over.wait(PERIOD):
                status.update(Text(self.line(begin)))

    def line(self, begin: float) -> str:
        """The line that is shown."""
        return f"{self.text or 'running'}{self.detail()}, {time.perf_counter() - begin:.0f} s"

    def detail(self) -> str:
        """What else the line says of the stage."""
        return ""
