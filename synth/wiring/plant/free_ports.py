"""Usable resources of a plant: host ports, trunks, and removable pairs."""

from collections.abc import Iterable
from fractions import Fraction

from topoloom.synth.wiring.plant import HostPort, Pair, Plant, Port, State, Trunk


def ours(plant: Plant, hosts: Iterable[int]) -> tuple[Pair, ...]:
    """Return the pairs of today that may be taken away: those that touch one of the hosts.

    With them those between two trunks that light of one of the hosts is led over.  Pairs of
    others and pairs on reserved ports are not among them.
    """
    used = frozenset(hosts)
    ends = {pair: plant.ends(pair) for pair in plant.present.pairs}
    free = {
        pair: not used.isdisjoint(plant.hosts_of(pair))
        for pair, ports in ends.items()
        if pair not in plant.present.foreign and not any(is_reserved(plant, port) for port in ports)
    }
    if plant.trunk_ends:
        _follow(plant, free)
    return tuple(pair for pair, mine in free.items() if mine)


def _follow(plant: Plant, free: dict[Pair, bool]) -> None:
    """Add the pairs between trunks that light comes to from pairs that are among them."""
    at = {port: pair for pair in free for port in plant.ends(pair)}
    waiting = [pair for pair, mine in free.items() if mine]
    while waiting:
        for port in plant.ends(waiting.pop()):
            beyond = plant.trunk_ends.get(port)
            pair = None if beyond is None else at.get(beyond)
            if pair is not None and not free[pair] and plant.hosts_of(pair) == (-1, -1):
                free[pair] = True
                waiting.append(pair)


def is_reserved(plant: Plant, port: Port) -> bool:
    """Whether the pair of a port stays: the port, or its host's port, is reserved."""
    if plant.states.get(port) is State.RESERVED:
        return True
    at = plant.at.get(port)
    return at is not None and plant.hosts[at[0]].ports[at[1]].state is State.RESERVED


class Usable:
    """The usable ports and trunks; spare ones only on request.

    The loss of a path, in its panels, trunks and passive panels, must stay within the plant's
    budget.  The loss between a host and a panel is counted twice, so that any two usable ports of
    a panel can be joined.
    """

    def __init__(self, plant: Plant, spares: bool) -> None:
        self.plant = plant
        self.taken = {State.DEAD, State.RESERVED} | (set() if spares else {State.SPARE})
        self._kept: set[Port] = set()
        for pair in plant.present.pairs:
            ends = plant.ends(pair)
            if pair in plant.present.foreign or any(is_reserved(plant, port) for port in ends):
                self._kept.update(ends)

    def ports(self, host: int) -> list[HostPort]:
        """Return the ports of a host that can be plugged; fibers that cannot are left out."""
        row = self.plant.folded.hosts[host]
        if row.state in self.taken:
            return []
        found = []
        for port in row.ports:
            if port.state in self.taken:
                continue
            tx = port.tx if all(map(self._free, port.tx)) else ()
            rx = port.rx if all(map(self._free, port.rx)) else ()
            if (tx and rx) or ((tx or rx) and not port.duplex):
                found.append(HostPort(port.id, tx, rx, port.duplex))
        return found

    def trunks(self) -> list[Trunk]:
        """Return the trunks over which links can be led."""
        return [trunk for trunk in self.plant.folded.trunks if self._open(trunk)]

    def _free(self, port: Port) -> bool:
        return port not in self.plant.trunk_ends and self._pluggable(port) and self._bright(port)

    def _pluggable(self, port: Port) -> bool:
        return port not in self._kept and self.plant.state(port) not in self.taken

    def _bright(self, port: Port) -> bool:
        budget, lost = self.plant.budget_db, self.plant.folded.lost_db.get(port, 0)
        return budget is None or self.plant.panels[port.panel].loss_db + 2 * lost <= budget

    def _open(self, trunk: Trunk) -> bool:
        ends = trunk.source, trunk.target
        if not all(map(self._pluggable, ends)):
            return False
        if self.plant.budget_db is None:
            return True
        passed = sum(
            self.plant.panels[port.panel].loss_db + self.way_in(port.panel) for port in ends
        )
        return passed + trunk.loss_db <= self.plant.budget_db

    def way_in(self, panel: int) -> Fraction:
        """Return the most that light loses between a host and a panel."""
        lost = self.plant.folded.lost_db
        used = (db for port, db in lost.items() if port.panel == panel and self._bright(port))
        return max(used, default=Fraction(0))
