"""Timing: best of several, the garbage collector kept off what is not measured."""

from __future__ import annotations

import gc
import os
import platform
import time
from collections.abc import Callable, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

Handler = Callable[[Any], Any]


@contextmanager
def quiet() -> Any:
    """What exists now (a million rows of a stream) is not the collector's business while we measure."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def per_event(calls: list[tuple[Handler, Any]]) -> float:
    """Microseconds per call."""
    with quiet():
        start = time.perf_counter()
        for handler, row in calls:
            handler(row)
        return (time.perf_counter() - start) / len(calls) * 1e6


def best(run: Callable[[], float], repeats: int) -> float:
    return min(run() for _ in range(repeats))


def seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def machine() -> dict[str, Any]:
    """What the figures depend on."""
    model = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo") as lines:
            model = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {"cpu": model, "cores": os.cpu_count(), "python": platform.python_version()}


def rounded(values: Iterable[Any]) -> list[Any]:
    return [round(v, 3) if isinstance(v, float) else v for v in values]


SEEN: dict[tuple[int, bytes], float] = {}
"""Seconds of every process that this one has started, by its number and its beginning, as they were last seen."""


def processor_time() -> float:
    """Seconds of processor time of this process and of all that it has started, also of those that have ended since the last call."""
    parents, seconds = {}, {}
    ticks = os.sysconf("SC_CLK_TCK")
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                with open(f"/proc/{entry.name}/stat", "rb") as file:
                    words = file.read().rpartition(b")")[2].split()
            except OSError:
                continue  # it has just ended
            parents[int(entry.name)] = int(words[1])
            seconds[int(entry.name)] = words[19], sum(map(int, words[11:13])) / ticks
    own, started = {os.getpid()}, {os.getpid()}
    while started:
        started = {pid for pid, parent in parents.items() if parent in own} - own
        own |= started
    SEEN.update({(pid, seconds[pid][0]): seconds[pid][1] for pid in own})
    return sum(SEEN.values())


def workers() -> list[Path]:
    """The processes of Spark's workers in Python, as folders of /proc."""
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                if b"pyspark.daemon" in Path(entry.path, "cmdline").read_bytes():
                    found.append(Path(entry.path))
            except OSError:
                continue  # it has just ended
    return found


def peak(process: Path) -> float:
    """The most that a process has had in memory since its peak was reset, mapped pages of files included, in MB."""
    try:
        status = (process / "status").read_text()
    except OSError:
        return 0.0  # it has just ended
    return int(status.split("VmHWM:")[1].split()[0]) / 1024 if "VmHWM:" in status else 0.0


def reset_peaks() -> None:
    """Lets the peaks of this process and of Spark's workers in Python begin anew."""
    for process in (Path("/proc/self"), *workers()):
        with suppress(OSError):
            (process / "clear_refs").write_text("5")


def peak_memory() -> tuple[float, float]:
    """The peak of this process, and the greatest of Spark's workers in Python, in MB."""
    return peak(Path("/proc/self")), max(map(peak, workers()), default=0.0)
