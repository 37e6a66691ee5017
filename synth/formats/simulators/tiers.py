"""Tiers of switches, where a few numbers describe a fabric: fat trees of two or three tiers."""

from collections import Counter, defaultdict
from fractions import Fraction
from itertools import groupby
from typing import NamedTuple

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats.cables import LinkModel, cables_of
from topoloom.synth.formats.topology_draft import join
from topoloom.synth.topology.topology import Topology


class Tier(NamedTuple):
    """A tier of equal switches.

    ``down`` counts the neighbors below a switch and ``up`` those above; ``bundle`` are the cables
    to each neighbor below, ``gbps`` Gbit/s of each of these cables.
    """

    down: int
    up: int
    bundle: int
    gbps: Fraction


class Tiers(NamedTuple):
    """A fat tree: its hosts, the hosts of a pod, and the tiers from the leaves on."""

    hosts: int
    pod: int
    tiers: tuple[Tier, ...]


def tiers_of(topology: Topology, form: str, model: LinkModel) -> Tiers:
    """Return the tiers of a fat tree whose hosts are numbered pod by pod and leaf by leaf.

    In a pod, each leaf is joined alike to all switches of the second tier.  A core is joined alike
    to one switch of each pod, and all pods group the cores alike.  One tier below the cores, two
    tiers are one pod.  O(L) for L links.

    Raises:
        InvalidTopology: The fabric is no such tree.
    """
    graph = _Levels(topology, form, model)
    pods = graph.pods()
    levels = len(graph.nodes)
    if not (
        levels in (3, 4)
        and graph.is_regular()
        and graph.has_hosts_in_order(pods)
        and all(graph.is_full(pod) for pod in pods)
        and (levels == 3 or graph.has_cores_alike(pods))
    ):
        raise InvalidTopology(
            "/links",
            f"must be a fat tree for {form}: leaves of equally many hosts, equal pods, cores alike",
        )
    hosts = len(graph.nodes[0])
    return Tiers(hosts, hosts // len(pods), tuple(graph.tier(at) for at in range(1, levels)))


class _Levels:
    """Nodes by their distance from the hosts, and the cables between neighboring levels."""

    def __init__(self, topology: Topology, form: str, model: LinkModel) -> None:
        cables = cables_of(topology, form, model)
        self.cables: Counter[tuple[int, int]] = Counter()
        self.near: dict[int, set[int]] = defaultdict(set)
        for one, other, _ in cables:
            self.near[one].add(other)
            self.near[other].add(one)
        self.nodes = [[topology.position[node] for node in topology.compute_nodes]]
        self.level = dict.fromkeys(self.nodes[0], 0)
        while found := sorted({*_above(self.nodes[-1], self.near)} - self.level.keys()):
            self.level |= dict.fromkeys(found, len(self.nodes))
            self.nodes.append(found)
        self.rates: dict[int, set[Fraction]] = defaultdict(set)
        self.is_layered = len(self.level) == topology.node_count
        for one, other, gbps in cables:
            low, high = sorted((one, other), key=lambda at: self.level.get(at, -1))
            self.is_layered &= self.level.get(high, -1) == self.level.get(low, -2) + 1
            self.cables[low, high] += 1
            self.rates[self.level.get(high, -1)].add(gbps)

    def tier(self, level: int) -> Tier:
        """Return the numbers of a level of equal switches."""
        first = self.nodes[level][0]
        below = self.below(first)
        return Tier(
            len(below),
            len(self.near[first]) - len(below),
            self.cables[below[0], first],
            min(self.rates[level]),
        )

    def below(self, node: int) -> list[int]:
        """Return the neighbors of a switch one level below."""
        return sorted(at for at in self.near[node] if self.level[at] < self.level[node])

    def is_regular(self) -> bool:
        """Whether cables join neighboring levels, one for each host, and levels are equal."""
        single = all(
            [self.cables[host, leaf] for leaf in self.near[host]] == [1] for host in self.nodes[0]
        )
        return self.is_layered and single and all(map(self._is_equal, self.nodes[1:]))

    def _is_equal(self, switches: list[int]) -> bool:
        """Whether switches of a level have equally many neighbors and equal cables below."""
        degrees = {(len(self.near[at]), len(self.below(at))) for at in switches}
        bundles = {self.cables[low, at] for at in switches for low in self.below(at)}
        return len(degrees) == len(bundles) == len(self.rates[self.level[switches[0]]]) == 1

    def pods(self) -> list[set[int]]:
        """Return the switches of the first two tiers in their connected parts."""
        switches = [at for level in self.nodes[1:3] for at in level]
        pairs = [(one, other) for one, other in self.cables if self.level.get(one, 0) == 1]
        return join(switches, pairs)

    def has_hosts_in_order(self, pods: list[set[int]]) -> bool:
        """Whether the hosts of a leaf, and of a pod, are neighbors in the order of ranks."""
        leaves = [min(self.near[host]) for host in self.nodes[0]]
        runs = [leaf for leaf, _ in groupby(leaves)]
        pod_of = {at: number for number, pod in enumerate(pods) for at in pod}
        of_pods = [number for number, _ in groupby(pod_of[leaf] for leaf in runs)]
        return len(runs) == len(self.nodes[1]) and len(of_pods) == len(pods)

    def is_full(self, pod: set[int]) -> bool:
        """Whether each leaf of a pod is joined to all other switches of the pod."""
        leaves = [at for at in pod if self.level[at] == 1]
        return all({*self.below(at)} == {*leaves} for at in pod if self.level[at] == 2)

    def has_cores_alike(self, pods: list[set[int]]) -> bool:
        """Whether each core has one neighbor in each pod, and pods group the cores alike."""
        groups = {
            frozenset(
                frozenset(core for core in self.near[at] if self.level[core] == 3)
                for at in pod
                if self.level[at] == 2
            )
            for pod in pods
        }
        return len(groups) == 1 and all(
            len(self.below(core)) == len(pods) for core in self.nodes[3]
        )


def _above(nodes: list[int], near: dict[int, set[int]]) -> set[int]:
    return {other for at in nodes for other in near[at]}
