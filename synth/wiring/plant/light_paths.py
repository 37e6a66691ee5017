"""Paths of light: from hosts through pairs and trunks to hosts, and links of several pairs."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from topoloom.synth.wiring.plant import Mode, Pair, Plant, Port, Side


class Way(NamedTuple):
    """A path of light from one port that a host is cabled to, to another.

    On bidirectional panels it goes both ways, and stands for both.
    """

    start: Port
    end: Port
    pairs: tuple[Pair, ...]


def ways(plant: Plant, pairs: Iterable[Pair]) -> list[Way]:
    """Return all paths from host to host that some plugged pairs make, by where they start.

    O(pairs log pairs).  Each port must be in one pair at most.

    >>> from topoloom.synth.wiring.plant import read_plant
    >>> plant = read_plant({"schema": "plant/1",
    ...     "panels": [{"id": "p0", "ports": 2}, {"id": "p1", "ports": 2}],
    ...     "hosts": [{"id": "h0", "ports": [{"id": "e", "at": "p0/0"}]},
    ...               {"id": "h1", "ports": [{"id": "e", "at": "p1/0"}]}],
    ...     "trunks": [{"from": "p0/1", "to": "p1/1"}]})
    >>> [plant.at[port] for way in ways(plant, [Pair(0, 0, 1), Pair(1, 0, 1)]) for port in way[:2]]
    [(0, 0), (1, 0)]
    >>> ways(plant, [Pair(0, 0, 1)])
    []
    """
    joined: dict[Port, tuple[Port, Pair]] = {}
    for pair in pairs:
        one, other = plant.ends(pair)
        joined[one], joined[other] = (other, pair), (one, pair)
    found: list[Way] = []
    ended: set[Port] = set()
    for start in sorted(plant.at.keys() & joined.keys()):
        directed = plant.panels[start.panel].mode is Mode.DIRECTED
        if start in ended or (directed and start.side is Side.B):
            continue
        route: list[Pair] = []
        port: Port | None = start
        while port is not None and port in joined and len(route) <= len(joined):
            reached, pair = joined[port]
            route.append(pair)
            if reached in plant.at:
                ended.add(reached)
                found.append(Way(start, reached, tuple(route)))
                break
            port = plant.trunk_ends.get(reached)
    return found


def links_of(
    plant: Plant, pairs: Iterable[Pair], plugged: Iterable[Pair]
) -> list[tuple[Pair, ...]]:
    """Return some pairs by link, in the order of their first pairs.

    A link joins two ports of hosts: by a pair for each lane, and on duplex ports in both
    directions.  The ports lose the link with any of its pairs.

    Args:
        pairs: Pairs among ``plugged``.
        plugged: All plugged pairs, which lead light from port to port.

    O(plugged log plugged).  Pairs that lead to no host are a link each.

    >>> from topoloom.synth.wiring.plant import read_plant
    >>> hosts = [
    ...     {"id": h, "ports": [{"id": "e", "tx": f"p/{h}A", "rx": f"p/{h}B", "duplex": True}]}
    ...     for h in range(2)
    ... ]
    >>> panels = [{"id": "p", "a": 2, "b": 2}]
    >>> plant = read_plant({"schema": "plant/1", "panels": panels, "hosts": hosts})
    >>> both = [Pair(0, 0, 1), Pair(0, 1, 0)]
    >>> links_of(plant, both, both)
    [(Pair(panel=0, a=0, b=1), Pair(panel=0, a=1, b=0))]
    """
    joined = {pair: way[:2] for way in ways(plant, plugged) for pair in way.pairs}
    groups: dict[object, list[Pair]] = defaultdict(list)
    for pair in pairs:
        reached = joined.get(pair, plant.ends(pair))
        ends = tuple(plant.at.get(port, port) for port in reached)
        at = plant.at.get(reached[0])
        duplex = at is not None and plant.hosts[at[0]].ports[at[1]].duplex
        groups[frozenset(ends) if duplex else ends].append(pair)
    return [tuple(group) for group in groups.values()]
