"""Choice of the ports and trunks of every link, given its ends and its paths."""

from collections.abc import Iterable, Sequence

from topoloom.synth.wiring.plant import Pair, Port, Trunk
from topoloom.synth.wiring.routes.paths import Led, Path
from topoloom.synth.wiring.routes.resources import Bundle, End, Resources, Site, strands


def pairs_by_strand(
    resources: Resources, links: Sequence[Led]
) -> list[tuple[tuple[Pair, ...], ...]]:
    """Return the pairs of every link by strand.

    Certain sites and trunks are set aside first.  Of the others, those without a plugged pair come
    first: their new pairs wait for no removal.
    """
    pool = _Pool(resources, links)
    found = []
    for link in links:
        first = pool.site(link.first, link.nodes[0], receives=False)
        second = pool.site(link.second, link.nodes[1], receives=True)
        tips = strands(End(link.first.kind, first), End(link.second.kind, second))
        found.append(
            tuple(
                pool.strand(start.port, end.port, path)
                for (start, end), path in zip(tips, link.paths, strict=True)
                if start.port and end.port
            )
        )
    return found


class _Pool:
    """Sites and trunks that no link has yet."""

    def __init__(self, resources: Resources, links: Sequence[Led]) -> None:
        self.resources = resources
        plant = resources.plant
        busy = {port for pair in plant.present.pairs for port in plant.ends(pair)}
        hops = [hop for link in links for path in link.paths for hop in path.hops]
        used = {hop.near for hop in hops} | {
            resources.passages[hop.near].far for hop in hops if hop.near is not None
        }
        certain = {end.site for link in links for end in (link.first, link.second)}

        def sites(rows: Iterable[Site]) -> list[Site]:
            left = [site for site in rows if site not in certain][::-1]
            return sorted(left, key=lambda site: busy.isdisjoint((*site.tx, *site.rx)))

        def trunks(rows: Iterable[Trunk]) -> list[Trunk]:
            left = [trunk for trunk in rows if used.isdisjoint((trunk.source, trunk.target))][::-1]
            return sorted(left, key=lambda trunk: busy.isdisjoint((trunk.source, trunk.target)))

        self.trunks = {key: trunks(row) for key, row in resources.trunks.items()}
        self.senders = {key: sites(row) for key, row in resources.senders.items()}
        self.receivers = (
            self.senders
            if resources.duplex
            else {key: sites(row) for key, row in resources.receivers.items()}
        )

    def site(self, end: End, node: int, receives: bool) -> Site:
        """Return the site of an end."""
        rows = self.receivers if receives else self.senders
        return end.site or rows[node, end.kind].pop()

    def strand(self, start: Port, end: Port, path: Path) -> tuple[Pair, ...]:
        """Return the pairs of a strand."""
        pairs, port = [], start
        for hop in path.hops:
            near = hop.near or self._trunk(hop.bundle)
            pairs.append(self._join(port, near))
            port = self.resources.passages[near].far
        return (*pairs, self._join(port, end))

    def _trunk(self, bundle: Bundle) -> Port:
        """Return where light enters the next free trunk of a bundle."""
        trunk = self.trunks[self.resources.key(bundle)].pop()
        ends = trunk.source, trunk.target
        return next(
            port for port in ends
            if port in self.resources.passages
            and self.resources.passages[port].bundle == bundle
        )  # fmt: skip

    def _join(self, one: Port, other: Port) -> Pair:
        return self.resources.plant.panels[one.panel].join(one, other)
