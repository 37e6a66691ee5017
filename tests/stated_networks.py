"""Networks stated by hand from data sheets, and their allgather rate from every cut.

Nothing here calls Topoloom.  Compute nodes are numbers, and all else is a switch; a cable carries
its rate in both directions at once.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import lcm

import numpy as np

Cable = tuple[int | str, int | str, Fraction]
Network = list[Cable]


def star(gpus: int, rate: float | Fraction, *, hub: str = "hub", first: int = 0) -> Network:
    """GPUs with one cable each to one switch."""
    return [(first + gpu, hub, Fraction(rate)) for gpu in range(gpus)]


def mesh(gpus: int, rate: float | Fraction, *, first: int = 0) -> Network:
    """GPUs with a cable between any two."""
    found = range(first, first + gpus)
    return [(a, b, Fraction(rate)) for a in found for b in found if a < b]


def cables(text: str, rate: float | Fraction = 1) -> Network:
    """Cables as ``"0-1:2 0-hub:1"``, in units of the rate."""
    found: Network = []
    for word in text.split():
        ends, _, count = word.partition(":")
        one, other = (int(end) if end.isdigit() else end for end in ends.split("-"))
        found.append((one, other, Fraction(rate) * Fraction(count or 1)))
    return found


def sockets(*groups: Iterable[int], pcie: float, cpu: float) -> Network:
    """GPUs with one PCIe link each to their CPU, and CPUs with a link each to the middle."""
    found: Network = []
    for number, group in enumerate(groups):
        found += [(gpu, f"cpu{number}", Fraction(pcie)) for gpu in group]
        found.append((f"cpu{number}", "middle", Fraction(cpu)))
    return found


def boxes(count: int, gpus: int, inside: str, rate: float | Fraction, nic: float) -> Network:
    """Boxes whose GPUs form a ``star`` or ``mesh``, each with a NIC of its own."""
    found: Network = []
    for box in range(count):
        first = box * gpus
        if inside == "star":
            found += star(gpus, rate, hub=f"hub{box}", first=first)
        else:
            found += mesh(gpus, rate, first=first)
    return found + star(count * gpus, nic, hub="fabric")


def allgather(network: Network) -> Fraction:
    """Return the data gathered per unit of time: N / max over cuts of (GPUs inside / way out)."""
    nodes = list(dict.fromkeys(end for cable in network for end in cable[:2]))
    scale = lcm(*(rate.denominator for _, _, rate in network))
    masks = np.arange(1 << len(nodes), dtype=np.int64)
    inside = {node: masks >> place & 1 for place, node in enumerate(nodes)}
    out = np.zeros_like(masks)
    for one, other, rate in network:
        out += (inside[one] ^ inside[other]) * int(rate * scale)
    gpus = [node for node in nodes if isinstance(node, int)]
    held = sum(inside[gpu] for gpu in gpus)
    ratios = (
        Fraction(count * scale, int(out[held == count].min())) for count in range(1, len(gpus))
    )
    return len(gpus) / max(ratios)
