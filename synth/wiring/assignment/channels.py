"""Channels: the usable sites of hosts, grouped by the sites that they can be joined to.

A *channel* is a set of sites that send and a set of sites that receive, any of the first joinable
to any of the second; links of one channel never stand in the way of links of another.  On directed
panels with transmit and receive fibres patched apart there is a channel for every (sequence of)
panels.  Duplex ports, which lead both ways to one other port, have *mates*: light that one sends
must come out where the other receives.  Sites that are their own mates make a *shared* channel, in
which every site may be at either end.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topoloom.synth.wiring.routes.resources import Resources, Site, SiteClass

Rows = tuple[tuple[Site, ...], ...]
"""Sites by node position."""


@dataclass(frozen=True, slots=True)
class Channel:
    """Sites of a class that send and of a class that receive; both the same if ``shared``."""

    kinds: tuple[SiteClass, SiteClass]
    senders: Rows
    receivers: Rows

    @property
    def shared(self) -> bool:
        """Whether every site may be at either end."""
        return self.kinds[0] == self.kinds[1]


@dataclass(frozen=True, slots=True)
class Supply:
    """All channels of the hosts that nodes sit on."""

    resources: Resources
    channels: tuple[Channel, ...]

    @property
    def sending(self) -> NDArray[np.int64]:
        """Number of sites that can send, by channel (row) and node (column)."""
        return self._counts([channel.senders for channel in self.channels])

    @property
    def receiving(self) -> NDArray[np.int64]:
        """The same of sites that can receive."""
        return self._counts([channel.receivers for channel in self.channels])

    def _counts(self, rows: list[Rows]) -> NDArray[np.int64]:
        counts = [[len(sites) for sites in row] for row in rows]
        return np.array(counts, np.int64).reshape(-1, len(self.resources.hosts))


def supply(found: Resources) -> Supply:
    """Return the channels of the sites of hosts.

    >>> from topoloom.synth.wiring.plant import cross_wired, duplex
    >>> from topoloom.synth.wiring.routes.resources import resources_of
    >>> [channel.shared for channel in supply(resources_of(duplex(3, 2), range(3))).channels]
    [True, True]
    >>> crossed = supply(resources_of(cross_wired(3, 4), range(3)))
    >>> crossed.sending.tolist(), crossed.channels[0].shared
    ([[1, 1, 1], [1, 1, 1]], False)
    """
    nodes = range(len(found.hosts))
    joinable = {(kind, found.mate(kind)) for _, kind in found.senders}
    joinable |= {(found.mate(kind), kind) for _, kind in found.receivers}
    channels = tuple(
        Channel(kinds, *(
            tuple(tuple(sites.get((node, kind), ())) for node in nodes)
            for kind, sites in zip(kinds, (found.senders, found.receivers), strict=True)
        ))
        for kinds in sorted(joinable)
        if not found.duplex or kinds[0] <= kinds[1]
    )  # fmt: skip
    return Supply(found, channels)
