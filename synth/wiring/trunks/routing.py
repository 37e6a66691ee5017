"""Choice of the ports and trunks of every link, given its kind of path."""

from dataclasses import dataclass

from topoloom.synth.wiring.assignment.channels import Site
from topoloom.synth.wiring.plant import Pair, Plant, Port
from topoloom.synth.wiring.trunks.trunk_paths import Ends, Kind, Path, class_of, strands


@dataclass(frozen=True, slots=True)
class Plugged:
    """A plugged path of a link: its two sites, and the pairs of every strand."""

    first: Site
    second: Site
    strands: tuple[tuple[Pair, ...], ...]

    @property
    def pairs(self) -> frozenset[Pair]:
        """All pairs."""
        return frozenset(pair for strand in self.strands for pair in strand)


Today = dict[tuple[int, int], dict[Kind, list[Plugged]]]


def lanes_of(first: Site, second: Site) -> list[tuple[Port, Port]]:
    """Return where every strand of a link between two sites starts and ends."""
    if not strands(class_of(first), class_of(second)):
        return []
    ahead = list(zip(first.tx, second.rx, strict=True))
    if first.tx == first.rx or not first.rx:
        return ahead
    return ahead + list(zip(second.tx, first.rx, strict=True))


class _Cables:
    """Trunks that are not taken yet, by bundle; those where nothing is plugged last."""

    def __init__(self, ends: Ends, used: set[Port], busy: set[Port]) -> None:
        self.ends = ends
        self.left = {
            key: sorted(
                (t for t in reversed(row) if used.isdisjoint((t.source, t.target))),
                key=lambda t: busy.isdisjoint((t.source, t.target)),
            )
            for key, row in ends.trunks.items()
        }

    def strand(self, start: Port, end: Port, path: Path) -> tuple[Pair, ...]:
        """Return the pairs of a strand over the next free trunks of its path."""
        pairs, port = [], start
        for bundle in path:
            trunk = self.left[self.ends.key(bundle)].pop()
            near, far = trunk.source, trunk.target
            if self.ends.facing(near) != bundle[0]:
                near, far = far, near
            pairs.append(_join(self.ends.plant, port, near))
            port = far
        return (*pairs, _join(self.ends.plant, port, end))


def routed(
    ends: Ends, today: Today, chosen: list[tuple[tuple[int, int], Kind]]
) -> list[tuple[tuple[Pair, ...], ...]]:
    """Return the pairs of every link by strand: plugged paths first, then free sites."""
    left = {pair: {k: list(v) for k, v in kinds.items()} for pair, kinds in today.items()}
    kept = [row.pop(0) if (row := left.get(pair, {}).get(kind)) else None for pair, kind in chosen]
    busy = {port for pair in ends.plant.present.pairs for port in ends.plant.ends(pair)}
    used = {port for way in kept if way for pair in way.pairs for port in ends.plant.ends(pair)}

    def free(sites: list[Site]) -> list[Site]:
        # Sites without a plugged pair come first: their new pairs wait for no removal.
        ports = {site: {*site.tx, *site.rx} for site in sites}
        left = [site for site in reversed(sites) if used.isdisjoint(ports[site])]
        return sorted(left, key=lambda site: busy.isdisjoint(ports[site]))

    senders = {key: free(row) for key, row in ends.senders.items()}
    receivers = senders if ends.duplex else {k: free(row) for k, row in ends.receivers.items()}
    cables = _Cables(ends, used, busy)
    routes = []
    for ((u, v), kind), way in zip(chosen, kept, strict=True):
        if way is not None:
            routes.append(way.strands)
            continue
        first, second = senders[u, kind.first].pop(), receivers[v, kind.second].pop()
        lanes = zip(lanes_of(first, second), kind.paths, strict=True)
        routes.append(tuple(cables.strand(*lane, path) for lane, path in lanes))
    return routes


def _join(plant: Plant, one: Port, other: Port) -> Pair:
    return plant.panels[one.panel].join(one, other)
