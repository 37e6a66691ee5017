"""The plan of a cluster: the number of boxes, and the network that joins them."""

import re
from dataclasses import dataclass

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats.machines.host_path import pcie_rate
from topoloom.synth.topology.topology import Capacity

MOST_BOXES = 1024
MOST_NICS = 1024

NETWORKS = ("one", "rails", "rail-only", "planes:K")
PCIE_TAKEN = ("auto", "always")

_PLANES = re.compile("planes:([1-9][0-9]{0,3})")


@dataclass(frozen=True, slots=True)
class ClusterPlan:
    """Number of copies of a box, and the network that joins them.

    Args:
        boxes: 1 to 1024 copies.  One box has no NICs: they lead nowhere.
        network: ``one``, the default: all NICs meet in one switch.  ``rails``: the i-th NICs of all
            boxes meet in rail i, and the rails in a spine.  ``rail-only``: the same without a
            spine.  ``planes:K``: the i-th NICs meet in plane i mod K; the planes are not joined.
        oversubscription: At least 1: ratio of the bandwidth from a box into its leaf switch (from a
            rail's boxes into the rail) to the bandwidth from there to the switches above.  1 has no
            leaves.
        nics: Names of the NICs of the dump that lead to the network, separated by commas.  If the
            dump lists none, their number: they are dealt evenly to the GPUs, in order.  By default
            the NICs nearest to some GPU.
        nic_bandwidth: GB/s per direction of every NIC, in place of the values in the dump.
        pcie: ``auto``: PCIe and sockets are included only where direct links do not join all GPUs
            of the box; otherwise each NIC is linked to the GPUs it serves.  ``always``: they are
            included, and NICs keep their place on PCIe.  A rate such as ``gen4x16`` applies to
            every PCIe link, with ``auto`` for the rest.
    """

    boxes: int = 1
    network: str | None = None
    oversubscription: Capacity | None = None
    nics: str | None = None
    nic_bandwidth: Capacity | None = None
    pcie: str = "auto"

    def __post_init__(self) -> None:
        if isinstance(self.boxes, bool) or not 1 <= self.boxes <= MOST_BOXES:
            raise InvalidTopology("/boxes", f"must be from 1 to {MOST_BOXES}")
        if self.joined not in NETWORKS[:3] and not _PLANES.fullmatch(self.joined):
            raise InvalidTopology("/network", f"must be {', '.join(NETWORKS)}")
        if self.ratio < 1:
            raise InvalidTopology("/oversubscription", "must be at least 1")
        if self.ratio > 1 and self.joined == "rail-only":
            raise InvalidTopology("/oversubscription", "must be left out: rail-only has no spine")
        if self.nic_bandwidth is not None and self.nic_bandwidth <= 0:
            raise InvalidTopology("/nic_bandwidth", "must be positive")
        if self.pcie not in PCIE_TAKEN and pcie_rate(self.pcie) is None:
            raise InvalidTopology("/pcie", "must be auto, always, or a generation such as gen4x16")

    @property
    def joined(self) -> str:
        """The network, as stated or else one switch."""
        return self.network or NETWORKS[0]

    @property
    def ratio(self) -> Capacity:
        """The oversubscription, as stated or else 1."""
        return 1 if self.oversubscription is None else self.oversubscription

    @property
    def planes(self) -> int:
        """The number of planes; 1 for one network."""
        match = _PLANES.fullmatch(self.joined)
        return int(match[1]) if match else 1
