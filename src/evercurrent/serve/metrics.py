"""Counters in the text format of Prometheus.

>>> for line in metric_lines("evercurrent_rows", "gauge", "rows of a view", [({"view": "spend"}, 12)]):
...     print(line)
# HELP evercurrent_rows rows of a view
# TYPE evercurrent_rows gauge
evercurrent_rows{view="spend"} 12
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass
class Metrics:
    """The server's own counters."""

    streams: int = 0
    requests: dict[int, int] = field(default_factory=dict)

    def count_request(self, status: int) -> None:
        self.requests[status] = self.requests.get(status, 0) + 1


Sample = tuple[dict[str, str], float]


def metric_lines(name: str, kind: str, what: str, samples: Iterable[Sample]) -> Iterable[str]:
    """One metric with its samples.

    >>> print("\\n".join(metric_lines("evercurrent_version", "gauge", "the version", [({}, 7)])))
    # HELP evercurrent_version the version
    # TYPE evercurrent_version gauge
    evercurrent_version 7
    """
    yield f"# HELP {name} {what}"
    yield f"# TYPE {name} {kind}"
    for labels, value in samples:
        inside = ",".join(f'{k}="{_escape(v)}"' for k, v in labels.items())
        yield f"{name}{{{inside}}} {value:g}" if inside else f"{name} {value:.17g}"


def _escape(text: str) -> str:
    return re.sub(r'[\\"]', r"\\\g<0>", text).replace("\n", "\\n")
