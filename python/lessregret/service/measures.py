"""What is counted and timed, for Prometheus and for the live page."""

from __future__ import annotations

from collections import Counter as Counts
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

if TYPE_CHECKING:
    from lessregret.service.core import Service
    from lessregret.service.replica import Replica

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
LATENCIES = 2000
"""latencies of each endpoint that quantiles are taken of"""


class Measures:
    """The counters of one service, in a registry of their own."""

    def __init__(self, service: Service | Replica) -> None:
        self._service = service
        self.registry = CollectorRegistry()
        labels = ["path", "status"]
        self._requests = Counter(
            "lessregret_requests", "Requests answered.", labels, registry=self.registry
        )
        self._seconds = Histogram(
            "lessregret_request_seconds", "Time from request to answer.", ["path"],
            buckets=BUCKETS, registry=self.registry,
        )  # fmt: skip
        self.learned = 0
        self.outcomes: Counts[str] = Counts()
        self.requests = 0
        self.latencies: dict[str, deque[float]] = {}
        self._children: dict[tuple[str, int], Counter] = {}
        self._timers: dict[str, Histogram] = {}
        self.registry.register(self)

    def note(self, path: str, status: int, seconds: float) -> None:
        """A request was answered."""
        child = self._children.get((path, status))
        if child is None:
            child = self._children[path, status] = self._requests.labels(path, str(status))
            self._timers[path] = self._seconds.labels(path)
            self.latencies.setdefault(path, deque(maxlen=LATENCIES))
        child.inc()
        self._timers[path].observe(seconds)
        self.latencies[path].append(seconds)
        self.requests += 1

    def quantiles(self) -> dict[str, dict[str, float]]:
        """The median and the 99th percentile of the last requests of each path, in seconds."""
        found: dict[str, dict[str, float]] = {}
        for path, seconds in list(self.latencies.items()):
            p50, p99 = np.quantile(list(seconds), (0.5, 0.99))
            found[path] = {"p50": float(p50), "p99": float(p99)}
        return found

    def text(self) -> bytes:
        """All measures in the text format of Prometheus."""
        return generate_latest(self.registry)

    def collect(self) -> Iterator[Metric]:
        """What is read from the service when it is asked for."""
        sums = {"predicted": self._service.predicted, "learned": self.learned}
        for name, number in sums.items():
            told = f"Examples {name} since the start."
            yield CounterMetricFamily(f"lessregret_examples_{name}", told, value=number)
        outcomes = CounterMetricFamily(
            "lessregret_outcomes", "Labels that came later, by what was made of them.",
            labels=["result"],
        )  # fmt: skip
        for result, number in list(self.outcomes.items()):
            outcomes.add_metric([result], number)
        yield outcomes
        for name, (told, value) in self._service.gauges().items():
            yield GaugeMetricFamily(f"lessregret_{name}", told, value=value)
