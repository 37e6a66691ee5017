"""The plan of a cluster: how many boxes there are, and what joins them."""

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
class Plan:
    """How many copies of a box there are, and what joins them.

    Parameters
    ----------
    boxes : int
        1 to 1024 copies.  One box has no NICs: they lead nowhere.
    network : str, optional
        Left out, or ``one``: all NICs meet in one switch.  ``rails``: the i-th NICs of all
        boxes meet in rail i, and the rails in a spine.  ``rail-only``: the same without a
        spine.  ``planes:K``: the i-th NICs meet in plane i mod K, and the planes nowhere.
    oversubscription : int or Fraction, optional
        At least 1: how many times as much goes from a box into its leaf switch (from a rail's
        boxes into the rail) as from there to the switches above.  1 has no leaves.
    nics : str, optional
        Names of those NICs of the dump that lead there, with commas; or their number, where
        the dump lists none: they are dealt evenly to the GPUs, in order.  Left out: those that
        are nearest to some GPU.
    nic_bandwidth : int or Fraction, optional
        GB/s per direction of every NIC, in place of what the dump says.
    pcie : str
        ``auto``: PCIe and sockets are taken in only where direct links do not join all GPUs
        of the box; otherwise each NIC is linked to the GPUs it serves.  ``always``: they are
        taken in, and a NIC is where it is on PCIe.  A rate such as ``gen4x16`` is that of
        every PCIe link, and otherwise ``auto``.
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
