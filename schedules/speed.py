"""How fast a schedule is: its bandwidths, how far off the optimum, its time for a size."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from schedules.facts import Facts
from schedules.model import Collective, Schedule
from synth.topology import Topology

__all__ = ["On", "Speed", "speed"]


@dataclass(frozen=True, slots=True)
class On:
    """Of what speed hosts are, and how much data is asked about.

    ``unit_bytes_per_second`` is what one unit of capacity carries; ``size_bytes`` is None
    where no time is asked for.  Every message keeps its link busy for ``overhead_seconds`` beside
    its bytes, and every chunk of it for ``chunk_seconds``.
    """

    unit_bytes_per_second: Fraction
    alpha_seconds: Fraction
    size_bytes: int | None = None
    overhead_seconds: Fraction = Fraction(0)
    chunk_seconds: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Speed:
    """Rates of much data in bytes/s; ``gap`` is how much longer than the optimum it takes.

    ``busbw`` is algbw times what nccl-tests multiply it by: the rate at which hosts must
    send.  ``gap`` is None where the optimum was not looked for.  ``seconds`` is the time
    of the size asked about, by the alpha-beta model of the schedule alone; where messages or
    chunks cost time, that of a synchronous simulation.
    """

    algbw: Fraction
    busbw: Fraction
    gap: Fraction | None
    on: On
    seconds: float | None = None


def speed(
    facts: Facts,
    topology: Topology,
    on: On,
    *,
    schedule: Callable[[], Schedule],
    best: Fraction | None = None,
) -> Speed:
    """Return how fast a schedule is.

    Parameters
    ----------
    facts : Facts
        What the schedule costs on ``topology``.
    schedule : callable
        Gives the schedule itself, which is asked for only where a time is.
    best : Fraction, optional
        The algbw of the optimum, in the topology's units of capacity.

    Examples
    --------
    >>> from schedules.bfb import allgather
    >>> from schedules.verified import facts
    >>> pair = Topology(range(2), [(0, 1), (1, 0)])
    >>> sent = allgather(pair)
    >>> on = On(Fraction(10**9), Fraction(1, 10**6), 8000)
    >>> found = speed(facts(sent, pair), pair, on, schedule=lambda: sent, best=Fraction(2))
    >>> found.algbw, found.busbw, found.gap, round(found.seconds * 1e6, 3)
    (Fraction(2000000000, 1), Fraction(1000000000, 1), Fraction(0, 1), 5.0)
    """
    rate = _rate(facts, topology)
    seconds = None if on.size_bytes is None else _seconds(schedule(), topology, on, on.size_bytes)
    ranks = facts.ranks or len(topology.compute_nodes)
    return Speed(
        rate * on.unit_bytes_per_second,
        rate * on.unit_bytes_per_second * _bus_factor(facts.collective, ranks),
        None if best is None else best / rate - 1,
        on,
        seconds,
    )


def _seconds(schedule: Schedule, topology: Topology, on: On, size_bytes: int) -> float:
    """Return the time of a size."""
    # Compiled code, loaded only where a time is asked for.
    from schedules.simulate import Network, simulate
    from schedules.simulate.estimates import estimate

    if on.overhead_seconds or on.chunk_seconds:
        network = Network(
            on.alpha_seconds,
            on.unit_bytes_per_second,
            on.overhead_seconds,
            chunk_seconds=on.chunk_seconds,
        )
        found = simulate(schedule, topology, network, size_bytes=size_bytes, synchronous=True)
        return float(found.seconds)
    return estimate(
        schedule,
        topology,
        size_bytes=size_bytes,
        alpha_seconds=float(on.alpha_seconds),
        unit_bytes_per_second=float(on.unit_bytes_per_second),
    ).seconds


def _rate(facts: Facts, topology: Topology) -> Fraction:
    """Return algbw in units of capacity: M over its time on the wire."""
    if facts.data is not None and facts.inverse_rate is not None:
        return facts.data / facts.inverse_rate
    assert facts.bandwidth is not None
    from schedules.verify.costs import node_capacity

    return node_capacity(topology) / facts.bandwidth


def _bus_factor(collective: Collective, ranks: int) -> Fraction:
    """Return what nccl-tests multiply algbw by, to compare collectives and sizes."""
    if collective.has_root:
        return Fraction(1)
    passes = 2 if collective is Collective.ALLREDUCE else 1
    return Fraction(passes * (ranks - 1), ranks)
