"""Paths of light: from hosts through pairs and trunks to hosts."""

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

    Examples
    --------
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
