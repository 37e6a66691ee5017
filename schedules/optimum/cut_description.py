"""A readable description of a cut: its boxes, and the links across it.

Ids are read as fabrics write them: ``"<box>.<name>"`` with a number for the box, and a number at
the end of names of a series.  Other ids are outside all boxes.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from topoloom.synth.topology.topology import Capacity, NodeId, Topology

_ID = re.compile(r"(?:([0-9]{1,9})\.)?(.*?)([0-9]{0,9})", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Crossing:
    """Equivalent links across a cut: ``count`` links of ``capacity`` each.

    Their sources are in one box and their targets in one box; the names of either end differ in
    their last number only.
    """

    sources: "tuple[NodeId, ...]"
    targets: "tuple[NodeId, ...]"
    count: int
    capacity: "Capacity"


@dataclass(frozen=True, slots=True)
class BoxPart:
    """The nodes of a cut in one box, or outside all boxes if ``box`` is empty.

    ``missing`` are the compute nodes of the box that are not in the cut.
    """

    box: str
    compute: "tuple[NodeId, ...]"
    switches: "tuple[NodeId, ...]"
    missing: "tuple[NodeId, ...]" = ()


def crossings(
    topology: "Topology", inside: "Collection[NodeId]", *, inward: bool = False
) -> tuple[Crossing, ...]:
    """Return the links that leave a set of nodes, or enter it, grouped by equivalence.

    O(links).

    >>> from topoloom.synth.topology.topology import Topology
    >>> star = Topology(
    ...     ["0.gpu0", "0.gpu1", "hub"],
    ...     [("0.gpu0", "hub", 25), ("0.gpu1", "hub", 25), ("hub", "0.gpu0", 25)],
    ...     switches=["hub"],
    ... )
    >>> crossings(star, ["0.gpu0", "0.gpu1"])
    (Crossing(sources=('0.gpu0', '0.gpu1'), targets=('hub',), count=2, capacity=25),)
    """
    held = set(inside)
    found: dict[tuple[object, ...], list[tuple[NodeId, NodeId]]] = {}
    for source, target, capacity in topology.links:
        if (source in held) is not inward and (target in held) is inward:
            key = (*_kind(source), *_kind(target), capacity)
            found.setdefault(key, []).append((source, target))
    order = topology.position.__getitem__
    return tuple(
        Crossing(
            tuple(sorted({source for source, _ in ends}, key=order)),
            tuple(sorted({target for _, target in ends}, key=order)),
            len(ends),
            key[-1],  # pyright: ignore[reportArgumentType]
        )
        for key, ends in found.items()
    )


def box_parts(topology: "Topology", inside: "Collection[NodeId]") -> tuple[BoxPart, ...]:
    """Return the nodes of a set by box, in topology order.

    >>> from topoloom.synth.topology.topology import Topology
    >>> pair = Topology(["0.gpu0", "1.gpu0", "hub"], [], switches=["hub"])
    >>> box_parts(pair, ["1.gpu0", "hub"])[0]
    BoxPart(box='1', compute=('1.gpu0',), switches=(), missing=())
    """
    held = set(inside)
    found: dict[str, tuple[list[NodeId], list[NodeId], list[NodeId]]] = {}
    for node in topology.nodes:
        box = found.setdefault(_kind(node)[0], ([], [], []))
        if node in held:
            box[node in topology.switches].append(node)
        elif node not in topology.switches:
            box[2].append(node)
    return tuple(
        BoxPart(box, tuple(compute), tuple(rest), tuple(missing))
        for box, (compute, rest, missing) in found.items()
        if compute or rest
    )


def id_ranges(nodes: "Iterable[NodeId]") -> str:
    """Return a short list of ids: runs of numbers as ranges, except numbers with leading zeros.

    >>> id_ranges(["1.gpu0", "1.gpu1", "1.gpu2", "1.gpu5", "1.nvswitch", 7, 8, "009", 10])
    '1.gpu0..2, 1.gpu5, 1.nvswitch, 7..8, 009, 10'
    """
    runs: list[tuple[str, str, str]] = []
    for node in nodes:
        match = _ID.fullmatch(str(node))
        number = match[3] if match else ""
        stem = str(node)[: len(str(node)) - len(number)]
        follows = bool(runs and number) and runs[-1][0] == stem and _next(runs[-1][2]) == number
        if follows:
            runs[-1] = (stem, runs[-1][1], number)
        else:
            runs.append((stem, number, number))
    return ", ".join(
        stem + (first if first == last else f"{first}..{last}") for stem, first, last in runs
    )


def _next(number: str) -> str:
    """Return the next number, or "" after a number with leading zeros."""
    return str(int(number) + 1) if number == "0" or number[:1] not in ("", "0") else ""


def _kind(node: "NodeId") -> tuple[str, str]:
    """Return the box of a node and its name without the last number."""
    match = _ID.fullmatch(str(node))
    return (match[1] or "", match[2]) if match else ("", str(node))
