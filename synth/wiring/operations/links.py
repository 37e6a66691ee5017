"""Links of a wiring: the pairs that join two ports of hosts, in both directions and on all lanes.

A duplex link on directed panels has two pairs for each lane.  The ports lose the link with any of
these pairs.
"""

from collections import defaultdict
from collections.abc import Iterable

from topoloom.synth.wiring.plant import Pair, Plant
from topoloom.synth.wiring.plant.light_paths import ways


def links_of(
    plant: Plant, pairs: Iterable[Pair], plugged: Iterable[Pair]
) -> list[tuple[Pair, ...]]:
    """Return some pairs by link, in the order of their first pairs.

    Parameters
    ----------
    plant : Plant
    pairs : iterable of Pair
        Pairs among ``plugged``.
    plugged : iterable of Pair
        All plugged pairs, which lead light from port to port.

    Notes
    -----
    O(plugged log plugged).  Pairs that lead to no host are a link each.

    Examples
    --------
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
