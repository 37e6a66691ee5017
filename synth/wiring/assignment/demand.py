"""The channel assignment problem as plain numbers: links, free sites, and plugged links."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Ends = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Demand:
    """Links that want channels.

    ``sources`` and ``targets`` are positions of nodes, one entry a link; where ``turnable``,
    a link may be plugged either way round.  ``sending[c, v]`` and ``receiving[c, v]`` are the
    sites of node v in channel c; in a channel that is ``shared`` both are the same sites.
    ``joined[c]`` counts the pairs of nodes (sender, receiver) that channel c joins today; of a
    shared channel the smaller node comes first.
    """

    size: int
    sources: Integers
    targets: Integers
    sending: Integers
    receiving: Integers
    shared: tuple[bool, ...]
    turnable: bool
    joined: tuple[Counter[Ends], ...]

    @property
    def channels(self) -> int:
        """Number of channels."""
        return len(self.shared)

    @property
    def has_several_sites(self) -> bool:
        """Whether a node has several sites in a channel."""
        return bool((self.sending > 1).any() or (self.receiving > 1).any())

    @property
    def links(self) -> list[Ends]:
        """The ends of all links."""
        return list(zip(self.sources.tolist(), self.targets.tolist(), strict=True))

    def most_kept(self) -> int:
        """Return how many links find their two nodes joined today, each pair used once.

        No choice keeps more.
        """
        today: Counter[Ends] = Counter()
        for joined in self.joined:
            for (u, v), count in joined.items():
                today[_unordered(u, v) if self.turnable else (u, v)] += count
        wanted = Counter(_unordered(*ends) if self.turnable else ends for ends in self.links)
        return (today & wanted).total()

    def kept(self, choice: "Choice") -> int:
        """Return how many links a choice leaves where they are."""
        return sum((used & self.joined[c]).total() for c, used in enumerate(self.used(choice)))

    def used(self, choice: "Choice") -> list[Counter[Ends]]:
        """Return for every channel how often it joins each pair of nodes under a choice."""
        found: list[Counter[Ends]] = [Counter() for _ in range(self.channels)]
        rows = zip(self.links, choice.channel.tolist(), choice.turned.tolist(), strict=True)
        for (u, v), channel, turned in rows:
            ends = (v, u) if turned else (u, v)
            found[channel][_unordered(*ends) if self.shared[channel] else ends] += 1
        return found

    def fits(self, choice: "Choice") -> bool:
        """Whether a choice finds room for every link."""
        for c, used in enumerate(self.used(choice)):
            out, into = np.zeros((2, self.size), np.int64)
            for (u, v), count in used.items():
                out[u] += count
                into[v] += count
            if self.shared[c]:
                if (out + into > self.sending[c]).any():
                    return False
            elif (out > self.sending[c]).any() or (into > self.receiving[c]).any():
                return False
        return True


def _unordered(u: int, v: int) -> Ends:
    return (u, v) if u < v else (v, u)


@dataclass(frozen=True, slots=True)
class Choice:
    """The channel of every link, and whether it is plugged the other way round."""

    channel: Integers
    turned: NDArray[np.bool_]

    @classmethod
    def straight(cls, channel: Integers) -> "Choice":
        """Return a choice in which no link is turned."""
        return cls(channel, np.zeros(len(channel), np.bool_))
