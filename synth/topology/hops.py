"""The latency of a hop: stated by an option, by the topology for each link, or the default."""

from fractions import Fraction

from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.rates import rate_assumptions
from topoloom.synth.topology.topology import Topology

DEFAULT_ALPHA_US = Fraction(10)
"""Latency of a hop where neither an option nor the topology states one, microseconds."""


def hop_seconds(topology: Topology, alpha_us: Fraction | None) -> Fraction | None:
    """Return the latency of every hop in seconds, or None where each link has its own.

    A stated latency counts for all hops; else the latencies of the topology count, else
    `DEFAULT_ALPHA_US`.

    >>> from topoloom.synth.fabrics import fabric
    >>> box, sparks = fabric("mi300x"), fabric("dgx-spark-2")
    >>> hop_seconds(box, Fraction(1)), hop_seconds(box, None), hop_seconds(sparks, None)
    (Fraction(1, 1000000), None, Fraction(1, 100000))
    """
    if alpha_us is None and topology.latencies:
        return None
    return (DEFAULT_ALPHA_US if alpha_us is None else alpha_us) / 10**6


def latency_assumptions(topology: Topology, alpha_us: Fraction | None) -> tuple[Assumption, ...]:
    """Return which latencies count where no option states one; empty for the default of all hops.

    >>> from topoloom.synth.fabrics import fabric
    >>> print(latency_assumptions(fabric("dgx-a100-2"), None)[0].text)
    Every link has the latency that the topology states: 0.3 to 2.5 us.
    """
    if alpha_us is not None or not topology.latencies:
        return ()
    least, most = (
        f"{float(each * 10**6):g}"
        for each in (min(topology.latencies.values()), max(topology.latencies.values()))
    )
    stated = least if least == most else f"{least} to {most}"
    text = f"Every link has the latency that the topology states: {stated} us."
    return (Assumption(text, "alpha_us"),)


def speed_assumptions(
    topology: Topology, alpha_us: Fraction | None, *, rate_stated: bool
) -> tuple[Assumption, ...]:
    """Return which latencies and which rate of a host count where no option states them.

    >>> pair = Topology("ab", [("a", "b"), ("b", "a")])
    >>> [each.option for each in speed_assumptions(pair, None, rate_stated=False)]
    ['node_gbps', 'alpha_us']
    """
    latencies = latency_assumptions(topology, alpha_us)
    if alpha_us is None and not topology.latencies:
        text = f"The topology states no latencies: a hop takes {float(DEFAULT_ALPHA_US):g} us."
        latencies = (Assumption(text, "alpha_us"),)
    return (*rate_assumptions(topology, stated=rate_stated), *latencies)
