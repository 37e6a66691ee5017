"""The way through the host, for accelerators that their direct links do not all join.

Direct links and PCIe are not used side by side: where NVLink or xGMI alone joins all
accelerators of a file, PCIe and sockets are left out of the topology.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from topoloom.synth.formats.machines.box import Box, Nic, Rates
from topoloom.synth.formats.machines.gpu_models import Model
from topoloom.synth.formats.topology_draft import join
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.topology import Capacity, NodeId

PCIE = 12
"""GB/s per direction of PCIe of unknown speed: 16 lanes of generation 3, in practice.
Source: the default of NCCL (src/graph/topo.h)."""

SOCKETS = {"GenuineIntel": 10, "AuthenticAMD": 16, "ppc64": 32, "arm64": 6}
"""GB/s per direction between the sockets of one host, by vendor or architecture; 6 for
any other.  Source: NCCL's figures for the oldest of each kind (src/graph/topo.h)."""

_CODES = {"2.5": 15, "5": 30, "8": 60, "16": 120, "32": 240, "64": 480}
_GENERATION = re.compile("gen([1-6])x(1|2|4|8|16)")


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


def pcie_rate(text: str) -> Fraction | None:
    """Return GB/s per direction of PCIe as a user writes it; None for no such text.

    >>> pcie_rate("gen4x16"), pcie_rate("12.5"), pcie_rate("fast")
    (Fraction(24, 1), Fraction(25, 2), None)
    """
    if match := _GENERATION.fullmatch(text):
        return Fraction(int(match[2]) * list(_CODES.values())[int(match[1]) - 1], 80)
    number = re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?|[0-9]{1,6}/[1-9][0-9]{0,5}", text)
    return (Fraction(text) or None) if number else None


class HostRates(NamedTuple):
    """GB/s per direction of the links of a host that a table of distances does not state."""

    pcie: Capacity
    cpu: Capacity


def host_rates(box: Box, rates: Rates, model: Model | None) -> HostRates:
    """Return the rates of PCIe and between CPUs, and report assumptions to the box."""
    lanes = PCIE if model is None else pcie_rate(f"gen{model.pcie}x16") or PCIE
    value = lanes if rates.pcie is None else rates.pcie
    if rates.pcie is None:
        why = "generation 3" if model is None else f"generation {model.pcie}, of {model.name}"
        text = f"PCIe is taken to carry {float(value):g} GB/s per direction: 16 lanes of {why}."
        box.assumed_of_host.append(Assumption(text, "pcie_bandwidth"))
    return HostRates(value, value if rates.cpu is None else rates.cpu)


def merge(
    box: Box,
    heads: dict[NodeId, NodeId],
    pairs: Iterable[tuple[NodeId, NodeId]],
    name: str,
    rates: HostRates,
    *,
    between_cpus: bool = False,
) -> None:
    """Put a switch over each group of nodes that these pairs join, and make it their head.

    ``heads`` maps each GPU and NIC to its topmost switch so far; a group with one head already
    needs no switch.  Switches are added to the bridges of the box, and cables to its path through
    the host; between CPUs a cable of a device includes its PCIe.
    """
    place = next(iter(box.gpus.values()))
    number = 0
    for group in join(heads, pairs):
        tops = list(dict.fromkeys(heads[node] for node in heads if node in group))
        if len(tops) < 2:
            continue
        switch = f"{name}{number}"
        number += 1
        for top in tops:
            above = min(rates) if top not in box.bridges else rates.cpu
            box.host.append((top, switch, above if between_cpus else rates.pcie, place))
        box.bridges[switch] = place
        heads |= dict.fromkeys(group, switch)


def hang(box: Box, nics: Iterable[Nic], path: Capacity) -> None:
    """Let NICs hang from the switches that `merge` put over them, no longer cables of the host."""
    found = {nic.id: nic for nic in nics}
    above = {one: other for one, other, _, _ in box.host if one in found}
    box.host = [cable for cable in box.host if cable[0] not in found]
    box.nics += [replace(nic, head=above[nic.id], path=path) for nic in found.values()]
