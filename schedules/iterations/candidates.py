"""Topologies for an iteration: candidates, and the baselines that a design is compared with."""

from collections.abc import Iterator
from dataclasses import dataclass

from topoloom.schedules.baselines.torus_topology import nearest, torus
from topoloom.schedules.iterations.training_job import TrainingJob
from topoloom.synth.errors import SynthError
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.families import Torus
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.operators import Product
from topoloom.synth.search.hosts import Hosts, searched
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
    """Yield the points of the frontier, tori, and products fitted to the groups of a job.

    A product joins blocks of hosts: the best topology within a block takes some ports of a host,
    the best topology between blocks the others.  Blocks have the hosts of a pipeline stage, of a
    pipeline, or of an expert group.

    >>> from topoloom.schedules.groups.process_groups import ProcessGroups
    >>> from topoloom.schedules.iterations.training_job import Layer
    >>> layers = (Layer("a"), Layer("b"))
    >>> job = TrainingJob("job", layers, ProcessGroups.parse("data=4,pipeline=2"))
    >>> [one.name for one in candidates(job, 8, 2, 1, Links.BIDIRECTIONAL)][:1]
    ['BiRing(8)']
    """
    seen = set[str]()
    for point in searched(Hosts(hosts, ports, links)).points:
        seen.add(str(point.recipe))
        yield Candidate(str(point.recipe), build(point.recipe), "frontier")
    tori = sorted(Torus.matching(hosts, ports), key=lambda one: sum(one.sides))[:MAX_TORI]
    for one in tori:
        if str(one) not in seen:
            seen.add(str(one))
            yield Candidate(str(one), build(one), "torus")
    for block in _blocks(job, hosts, accelerators):
        for inner in sorted({max(1, ports * part // 4) for part in (1, 2, 3)}):
            try:
                within = searched(Hosts(block, inner, links)).points[-1].recipe
                between = searched(Hosts(hosts // block, ports - inner, links)).points[-1].recipe
                recipe = Product(between, within)
                topology = build(recipe)
            except SynthError:
                # No such graph exists: the product has more ports than a block has neighbors.
                continue
            if str(recipe) not in seen:
                seen.add(str(recipe))
                yield Candidate(str(recipe), topology, f"blocks of {block} hosts")


def baselines(hosts: int, ports: int) -> Iterator[Candidate]:
    """Yield the torus of most dimensions, rings on all ports, and a switch.

    >>> [one.name for one in baselines(16, 4)]
    ['torus 4x4', '2 rings', 'switch']
    """
    shapes = [shape for shape in nearest(hosts, ports // 2) if len(shape) <= ports // 2]
    if shapes:
        shape = shapes[-1]
        copies = ports // (2 * len(shape))
        yield Candidate(f"torus {'x'.join(map(str, shape))}", torus(shape, copies), "baseline")
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
