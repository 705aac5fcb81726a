"""Processes that do not outlive the one that started them, however that one ends.

    subprocess.Popen(command, preexec_fn=die_with_parent)

Linux sends the signal when the parent is gone, also if it was killed and could clean up nothing; a program that the process
becomes by `exec` inherits that. Elsewhere it does nothing.
"""

from __future__ import annotations

import ctypes
import signal
import sys

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def die_with_parent() -> None:
    """Has the kernel end this process when its parent ends; called between fork and exec."""
    if LIBC is not None:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
