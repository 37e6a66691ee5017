"""Gauges of the database, read when Prometheus scrapes, by a thread that may be late.

A locked or unreachable database must neither delay nor fail a scrape: the scrape then leaves the
gauges out, and reports ``topoloom_database_up 0``.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import Event, Lock, Thread
from typing import NamedTuple, TypeAlias

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

log = logging.getLogger(__name__)

KEEP_SECONDS = 5.0
"""Seconds for which a reading serves further scrapes."""

WAIT_SECONDS = 1.0
"""Longest wait of a scrape for a reading."""


class Family(NamedTuple):
    """A family of metrics: its name, its documentation, its labels, and its type."""

    name: str
    text: str
    labels: tuple[str, ...] = ()
    type: str = "gauge"


class Sample(NamedTuple):
    """A value of a family, with the values of its labels."""

    name: str
    value: float
    labels: tuple[str, ...] = ()


Read: TypeAlias = Callable[[], Iterable[Sample]]

UP = Family("topoloom_database_up", "1 if the database answered within a second, else 0")


class Reading:
    """A reading under way in its own thread; ``samples`` is None until the reading succeeds."""

    def __init__(self, reads: Iterable[Read]) -> None:
        self._reads = reads
        self.samples: list[Sample] | None = None
        self.ended_at = 0.0
        self.ended = Event()
        Thread(target=self._run, name="database-gauges", daemon=True).start()

    def _run(self) -> None:
        try:
            self.samples = [sample for read in self._reads for sample in read()]
        except Exception as error:
            log.warning("the database gauges cannot be read: %s", str(error).splitlines()[0])
        self.ended_at = time.monotonic()
        self.ended.set()

    @property
    def is_stale(self) -> bool:
        """Whether a new reading may begin; at most one reading is under way."""
        return self.ended.is_set() and time.monotonic() - self.ended_at > KEEP_SECONDS


class DatabaseGauges(Collector):
    """Collector of gauges; each function in ``reads`` runs one query for some families.

    >>> families = [Family("jobs", "Unfinished jobs", ("state",))]
    >>> gauges = DatabaseGauges(families, [lambda: [Sample("jobs", 3, ("queued",))]])
    >>> [sample.value for family in gauges.collect() for sample in family.samples]
    [1, 3]
    """

    def __init__(self, families: Iterable[Family], reads: Iterable[Read]) -> None:
        self.families = (UP, *families)
        self._reads = tuple(reads)
        self._lock = Lock()
        self._reading: Reading | None = None

    def describe(self) -> Iterator[GaugeMetricFamily]:
        """Yield the families without samples, so that their registration reads nothing."""
        yield from self._empty().values()

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield the families with the samples of the latest reading."""
        with self._lock:
            if self._reading is None or self._reading.is_stale:
                self._reading = Reading(self._reads)
            reading = self._reading
        reading.ended.wait(WAIT_SECONDS)
        samples = reading.samples
        found = self._empty()
        found[UP.name].add_metric([], int(samples is not None))
        for sample in samples or ():
            found[sample.name].add_metric(sample.labels, sample.value)
        yield from (family for family in found.values() if family.samples)

    def _empty(self) -> Mapping[str, GaugeMetricFamily]:
        return {
            family.name: GaugeMetricFamily(family.name, family.text, labels=family.labels)
            for family in self.families
        }
