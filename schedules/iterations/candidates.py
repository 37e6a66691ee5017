"""Topologies for an iteration: candidates, and the baselines that a design is compared with."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from topoloom.schedules.baselines.torus_topology import nearest, torus
from topoloom.schedules.iterations.training_job import TrainingJob
from topoloom.synth.errors import SynthError
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.families import Torus
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.operators import Product
from topoloom.synth.search.hosts import Hosts, frontier_of_hosts
from topoloom.synth.topology.topology import Link, Topology

SWITCH = (
    "a non-blocking switch or fat tree of the same host bandwidth, whose paths have the latency "
    "of one hop"
)


MAX_TORI = 4
"""Tori of least sum of sides that are tried."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A topology of hosts, what it is, and the hardware beyond cables that it assumes."""

    name: str
    topology: Topology
    source: str
    assumption: str = ""


def candidates(
    job: TrainingJob, hosts: int, ports: int, accelerators: int, links: Links
) -> Iterator[Candidate]:
    """Yield topologies for a job, each once.

    These are the points of the frontier; tori; both with parallel cables on fewer ports; and
    products fitted to the groups of the job.  A product joins blocks of hosts: the best topology
    within a block takes some ports of a host, the best topology between blocks the others.
    Blocks have the hosts of a pipeline stage, of a pipeline, or of an expert group.

    >>> from topoloom.schedules.groups.process_groups import ProcessGroups
    >>> from topoloom.schedules.iterations.training_job import Layer
    >>> layers = (Layer("a"), Layer("b"))
    >>> job = TrainingJob("job", layers, ProcessGroups.parse("data=4,pipeline=2"))
    >>> [one.name for one in candidates(job, 8, 2, 1, Links.BIDIRECTIONAL)]
    ['BiRing(8)', 'Torus(8)']
    """
    seen = set[str]()
    offered = (
        _plain(hosts, ports, links),
        _parallel(job, hosts, ports, accelerators, links),
        _products(job, hosts, ports, accelerators, links, (1, 2, 3)),
    )
    for candidate in chain(*offered):
        if candidate.name not in seen:
            seen.add(candidate.name)
            yield candidate


def _plain(hosts: int, ports: int, links: Links) -> Iterator[Candidate]:
    for point in frontier_of_hosts(Hosts(hosts, ports, links)).points:
        yield Candidate(str(point.recipe), build(point.recipe), "frontier")
    yield from _tori(hosts, ports)


def _tori(hosts: int, ports: int) -> Iterator[Candidate]:
    for one in sorted(Torus.matching(hosts, ports), key=lambda one: sum(one.sides))[:MAX_TORI]:
        yield Candidate(str(one), build(one), "torus")


def _parallel(
    job: TrainingJob, hosts: int, ports: int, accelerators: int, links: Links
) -> Iterator[Candidate]:
    """Yield topologies of fewer ports with several cables for each of their links."""
    for cables in range(2, ports + 1):
        if ports % cables:
            continue
        fewer = ports // cables
        try:
            found = list(_plain(hosts, fewer, links))[-2:]
        except SynthError:
            # Too few ports for a connected topology.
            continue
        found += _products(job, hosts, fewer, accelerators, links, (2,))
        for one in found:
            name = f"{cables} x {one.name}"
            yield Candidate(name, several_cables(one.topology, cables), "parallel cables")


def _products(
    job: TrainingJob,
    hosts: int,
    ports: int,
    accelerators: int,
    links: Links,
    quarters: tuple[int, ...],
) -> Iterator[Candidate]:
    """Yield products whose blocks have some quarters of the ports."""
    for block in _blocks(job, hosts, accelerators):
        for inner in sorted({max(1, ports * part // 4) for part in quarters}):
            try:
                within = frontier_of_hosts(Hosts(block, inner, links)).points[-1].recipe
                between = (
                    frontier_of_hosts(Hosts(hosts // block, ports - inner, links)).points[-1].recipe
                )
                recipe = Product(between, within)
                yield Candidate(str(recipe), build(recipe), f"blocks of {block} hosts")
            except SynthError:
                # No such graph exists: the product has more ports than a block has neighbors.
                continue


def several_cables(topology: Topology, cables: int) -> Topology:
    """Return the topology with several parallel links for each link.

    >>> several_cables(Topology(range(2), [(0, 1), (1, 0)]), 3).degree
    3
    """
    links = [link for link in topology.links for _ in range(cables)]
    name = f"{cables} x {topology.recipe or topology.name}"
    return Topology(
        *(topology.nodes, links),
        switches=topology.switches,
        name=name,
        latencies=topology.latencies,
    )


def baselines(hosts: int, ports: int) -> Iterator[Candidate]:
    """Yield the torus of each number of dimensions, rings on all ports, and a switch.

    Tori of fewer dimensions have parallel cables.

    >>> [one.name for one in baselines(16, 4)]
    ['torus 4x4', '2 rings', 'switch']
    """
    for shape in nearest(hosts, ports // 2):
        cables, rest = divmod(ports, 2 * len(shape))
        if not rest:
            name = f"torus {'x'.join(map(str, shape))}"
            yield Candidate(name, torus(shape, cables), "baseline")
    if ports >= 2:
        yield Candidate(f"{ports // 2} rings", _rings(hosts, ports // 2), "baseline")
    yield Candidate("switch", star(hosts, ports), "baseline", SWITCH)


def star(hosts: int, capacity: int) -> Topology:
    """Return hosts at one switch, each by one link of a capacity.

    >>> star(3, 4).link_count
    6
    """
    links = [
        link
        for host in range(hosts)
        for link in (Link(host, "switch", capacity), Link("switch", host, capacity))
    ]
    return Topology([*range(hosts), "switch"], links, switches=["switch"], name="switch")


def _rings(hosts: int, copies: int) -> Topology:
    links = [
        Link(host, (host + step) % hosts)
        for host in range(hosts)
        for step in sorted({1, hosts - 1})
        for _ in range(copies)
    ]
    return Topology(range(hosts), links, name="rings")


def _blocks(job: TrainingJob, hosts: int, accelerators: int) -> list[int]:
    """Return the sizes in hosts of the blocks that products have."""
    stage = job.ranks // job.stages // accelerators
    expert = job.size("expert") * job.size("tensor", "context") // accelerators
    found = {stage, job.stages, expert}
    return sorted(one for one in found if 2 <= one <= hosts // 2 and hosts % one == 0)
