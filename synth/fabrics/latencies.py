"""Latencies of the catalogue's fabrics: published constants for one hop from rank to rank.

The collective libraries of the vendors predict times from such constants.  `HOPS` has those of the
low-latency protocol (LL) for trees, which small messages use.  In that model a hop between boxes
has the same latency however many switches it passes, so the first and the last link of a hop
through switches have half of its latency each, and links between switches have none.

Sources, read in June 2026:

- NCCL 2.30.7, ``src/graph/tuning.cc``, default tuner constants ``hwLatencies``: NVLINK 0.6 us,
  NET 5.0 us (with one GPU a box, where latencies are "fully exposed").
- RCCL, commit 0cbce2a of October 2024, ``src/graph/tuning.cc``, ``hwLat``: model 5, which boxes of
  eight fully joined GPUs take, 0.9 and 10.5 us; model 4, which boxes of 16 chips take, 0.8 and
  32.2 us.  RCCL has no model of its own for MI325X and MI355X, which are joined alike.

Other fabrics have no published constants here, and state no latencies.
"""

from fractions import Fraction
from typing import NamedTuple

from topoloom.synth.topology.latencies import Pair
from topoloom.synth.topology.topology import NodeId, Topology


class HopLatencies(NamedTuple):
    """The latency of one hop inside a box and between boxes, microseconds."""

    inside: Fraction
    between: Fraction


NCCL = HopLatencies(Fraction("0.6"), Fraction(5))
RCCL_EIGHT = HopLatencies(Fraction("0.9"), Fraction("10.5"))
RCCL_SIXTEEN = HopLatencies(Fraction("0.8"), Fraction("32.2"))

HOPS: dict[str, HopLatencies] = {
    "dgx-1v": NCCL,
    "dgx-2": NCCL,
    "dgx-a100": NCCL,
    "dgx-h100": NCCL,
    "dgx-h200": NCCL,
    "dgx-b200": NCCL,
    "dgx-b300": NCCL,
    "gh200-nvl32": NCCL,
    "gb200-nvl72": NCCL,
    "gb300-nvl72": NCCL,
    "ndv2": NCCL,
    "rail": NCCL,
    "mi250": RCCL_SIXTEEN,
    "mi300x": RCCL_EIGHT,
    "mi325x": RCCL_EIGHT,
    "mi355x": RCCL_EIGHT,
}
"""Latencies by the beginning of a fabric's name."""


def published_hops(family: str) -> HopLatencies | None:
    """Return the latencies of the hops of a fabric, by the beginning of its name.

    >>> str(published_hops("dgx-h100-N").between), published_hops("tpu-v4")
    ('5', None)
    """
    return next((HOPS[name] for name in HOPS if f"{family}-".startswith(f"{name}-")), None)


def with_published_latencies(topology: Topology, family: str) -> Topology:
    """Return a fabric of the catalogue with the published latencies of its family, if any.

    >>> from topoloom.synth.fabrics.switched import dgx_a100
    >>> found = with_published_latencies(dgx_a100(2), "dgx-a100-N").latencies
    >>> found["0.gpu0", "0.nvswitch"] * 10**6, found["plane1", "1.gpu3"] * 10**6
    (Fraction(3, 10), Fraction(5, 2))
    """
    hops = published_hops(family)
    if hops is None:
        return topology
    pairs = dict.fromkeys(link[:2] for link in topology.links)
    return topology.with_latencies(
        {pair: _microseconds(pair, topology.switches, hops) / 10**6 for pair in pairs}
    )


def _microseconds(pair: Pair, switches: frozenset[NodeId], hops: HopLatencies) -> Fraction:
    passed = [str(node) for node in pair if node in switches]
    if not passed:
        return hops.inside
    if len(passed) == len(pair):
        return Fraction(0)
    return (hops.inside if passed[0].endswith(".nvswitch") else hops.between) / 2
