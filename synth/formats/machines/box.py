"""One box as its dump says it: GPUs, direct links, the way through the host, NICs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from topoloom.synth.formats.topology_draft import join
from topoloom.synth.topology.assumptions import Assumption
from topoloom.synth.topology.topology import Capacity, NodeId

Cable = tuple[NodeId, NodeId, Capacity, str]
"""Two nodes, GB/s per direction between them, and the place in the text."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates that the user states; the dump decides where a rate is None.

    ``link`` is GB/s per direction of one NVLink or xGMI link, ``nvlink`` a specification of
    `nvlinks.NVLINKS`, ``pcie`` GB/s per direction of every PCIe link, ``cpu`` between CPUs.
    """

    link: Capacity | None = None
    nvlink: str | None = None
    pcie: Capacity | None = None
    cpu: Capacity | None = None


ACROSS_CPUS = 1000
"""The least distance between a GPU and a NIC of different CPUs."""


@dataclass(frozen=True, slots=True)
class Nic:
    """A network card.

    ``bandwidth`` is GB/s per direction of its ports, None if the dump does not say it;
    ``head`` the switch of the host it hangs from, ``path`` GB/s of PCIe to there;
    ``distance`` from each GPU, in steps of no unit: only which GPU is nearer counts, and that
    `ACROSS_CPUS` is the least between CPUs;
    ``staged`` GB/s of PCIe to those GPUs that it reaches through a CPU, without GPUDirect.
    """

    id: str
    bandwidth: Capacity | None
    head: NodeId
    path: Capacity
    distance: Mapping[NodeId, int]
    place: str
    staged: Mapping[NodeId, Capacity] = field(default_factory=dict)


@dataclass(slots=True)
class Box:
    """The devices and links of one machine, and the assumptions of its reader.

    ``direct`` joins GPUs by NVLink or xGMI, maybe through the switches of ``hubs``; ``host``
    joins them through the switches of ``bridges``: PCIe and sockets.  ``assumed`` always
    counts, ``assumed_of_host`` where the host's links carry data, ``assumed_of_nics`` where
    boxes are joined.
    """

    gpus: dict[NodeId, str]
    hubs: dict[NodeId, str] = field(default_factory=dict)
    direct: list[Cable] = field(default_factory=list)
    bridges: dict[NodeId, str] = field(default_factory=dict)
    host: list[Cable] = field(default_factory=list)
    nics: list[Nic] = field(default_factory=list)
    hosts: int = 1
    assumed: list[Assumption] = field(default_factory=list)
    assumed_of_host: list[Assumption] = field(default_factory=list)
    assumed_of_nics: list[Assumption] = field(default_factory=list)

    @property
    def needs_host(self) -> bool:
        """Whether direct links alone do not join all GPUs."""
        return len(join(self.gpus, [cable[:2] for cable in self.direct])) > 1


def gpus_of_nics(gpus: Iterable[NodeId], nics: list[Nic]) -> dict[str, list[NodeId]]:
    """Return the GPUs that each NIC serves, by the NIC's id.

    Every GPU uses the NICs nearest to it; GPUs that are nearest to the same NICs share
    these evenly (`dealt`).  A NIC that no GPU is left for serves those nearest to it.

    >>> far = {"a": 0, "b": 2}
    >>> gpus_of_nics(["a", "b"], [Nic("n", 25, "", 24, far, ""), Nic("m", 25, "", 24, far, "")])
    {'n': ['a'], 'm': ['b']}
    """
    groups: dict[tuple[int, ...], list[NodeId]] = {}
    for gpu in gpus:
        least = min(nic.distance[gpu] for nic in nics)
        nearest = tuple(i for i, nic in enumerate(nics) if nic.distance[gpu] == least)
        groups.setdefault(nearest, []).append(gpu)
    found: dict[str, list[NodeId]] = {nic.id: [] for nic in nics}
    for nearest, members in groups.items():
        for one, other in dealt(len(members), len(nearest)):
            found[nics[nearest[other]].id].append(members[one])
    for nic in nics:
        if not found[nic.id]:
            least = min(nic.distance.values())
            found[nic.id] = [gpu for gpu, steps in nic.distance.items() if steps == least]
    return found


def dealt(gpus: int, nics: int) -> list[tuple[int, int]]:
    """Return pairs of GPU and NIC, each one's shares as even as can be, in order.

    >>> dealt(4, 2), dealt(2, 4)
    ([(0, 0), (1, 0), (2, 1), (3, 1)], [(0, 0), (0, 1), (1, 2), (1, 3)])
    """
    if gpus >= nics:
        return [(gpu, gpu * nics // gpus) for gpu in range(gpus)]
    return [(nic * gpus // nics, nic) for nic in range(nics)]
