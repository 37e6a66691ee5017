"""The way through the host, for accelerators that their direct links do not all join.

Direct links and PCIe are not used side by side: where NVLink or xGMI alone joins all
accelerators of a file, PCIe and sockets are left out of the topology.
"""

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from synth.formats.draft import join
from synth.formats.dumps.box import Box, Nic
from synth.topology import NodeId

__all__ = ["PCIE", "SOCKETS", "hang", "merge", "pcie"]

PCIE = 12
"""GB/s per direction of PCIe whose speed is not said: 16 lanes of generation 3, in
practice.  Source: what NCCL takes then (src/graph/topo.h)."""

SOCKETS = {"GenuineIntel": 10, "AuthenticAMD": 16, "ppc64": 32, "arm64": 6}
"""GB/s per direction between the sockets of one host, by vendor or architecture; 6 for
any other.  Source: NCCL's figures for the oldest of each kind (src/graph/topo.h)."""

_CODES = {"2.5": 15, "5": 30, "8": 60, "16": 120, "32": 240, "64": 480}


def pcie(speed: str, lanes: int) -> Fraction | None:
    """Return GB/s per direction of a PCIe link, in practice; None for no such speed.

    The speed is as in ``"16.0 GT/s PCIe"``; ``""`` and ``"Unknown..."`` are generation 3,
    0 lanes are 16.  Source: NCCL's lanes * code / 80, its code being 15, 30, 60, 120, 240,
    480 for generations 1 to 6.

    >>> pcie("16.0 GT/s PCIe", 16), pcie("", 0)
    (Fraction(24, 1), Fraction(12, 1))
    """
    number = speed.partition(" ")[0].removesuffix(".0").removesuffix("GT/s")
    code = 60 if not speed or speed.startswith("Unknown") else _CODES.get(number)
    return None if code is None else Fraction((lanes or 16) * code, 80)


def merge(
    box: Box, heads: dict[NodeId, NodeId], pairs: Iterable[tuple[NodeId, NodeId]], name: str
) -> None:
    """Put a switch over each group of nodes that these pairs join, and make it their head.

    ``heads`` maps each GPU and NIC to the top of what is above it so far; a group that has
    one head already needs no switch.  Switches go into the bridges of the box, and cables
    of 12 GB/s into its way through the host.
    """
    place = next(iter(box.gpus.values()))
    number = 0
    for group in join(heads, pairs):
        tops = list(dict.fromkeys(heads[node] for node in heads if node in group))
        if len(tops) < 2:
            continue
        switch = f"{name}{number}"
        number += 1
        box.bridges[switch] = place
        box.host += [(top, switch, PCIE, place) for top in tops]
        heads |= dict.fromkeys(group, switch)


def hang(box: Box, nics: Iterable[Nic]) -> None:
    """Let NICs hang from the switches that `merge` put over them, no longer cables of the host."""
    found = {nic.id: nic for nic in nics}
    above = {one: other for one, other, _, _ in box.host if one in found}
    box.host = [cable for cable in box.host if cable[0] not in found]
    box.nics += [replace(nic, head=above[nic.id], path=PCIE) for nic in found.values()]
