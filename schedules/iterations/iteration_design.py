"""The design of an iteration: best topology, placement, baselines, what limits, notes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.iterations.best_topology import (
    PlacedIteration,
    Speeds,
    placed_iterations,
)
from topoloom.schedules.iterations.candidates import (
    Candidate,
    baselines,
    candidates,
    several_cables,
)
from topoloom.schedules.iterations.iteration import (
    free_iteration_seconds,
    layer_seconds,
)
from topoloom.schedules.iterations.job_operations import job_plan
from topoloom.schedules.iterations.sensitivity import Gain, sensitivity
from topoloom.schedules.iterations.traced_operations import traced_plan
from topoloom.schedules.iterations.training_job import Sharding, TrainingJob
from topoloom.synth.boxes.expression import is_boxes, topology_of_boxes
from topoloom.synth.errors import InvalidRecipe, SynthError
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build, size
from topoloom.synth.recipes.recipe import Recipe, parse
from topoloom.synth.topology.hops import DEFAULT_ALPHA_US, latency_assumptions
from topoloom.synth.topology.topology import Topology

PARALLEL = re.compile(r"([1-9][0-9]?) x (.+)", re.ASCII)
"""Text of a topology with several cables for each link, such as ``2 x Torus(4, 4)``."""


@dataclass(frozen=True)
class IterationDesign:
    """The answer: the best iteration, all others, and what limits the best.

    ``topologies`` are sorted by time; ``baselines`` as `candidates.baselines` yields them.
    """

    best: PlacedIteration
    topologies: tuple[PlacedIteration, ...]
    baselines: tuple[PlacedIteration, ...]
    gains: tuple[Gain, ...]
    notes: tuple[str, ...]

    @property
    def limit(self) -> Gain:
        """The resource of which 10 % more saves the most time."""
        return self.gains[0]


def iteration_design(
    job: TrainingJob,
    ports: int,
    speeds: Speeds,
    flops_per_second: Fraction | None = None,
    *,
    links: Links = Links.UNIDIRECTIONAL,
    topology: str | Recipe | Topology | None = None,
    graphs: Mapping[str, Topology] | None = None,
    compared: bool = True,
) -> IterationDesign:
    """Return the topology and placement of least iteration time, beside the baselines.

    Args:
        job: The job; its ranks are the accelerators of all hosts.
        ports: Ports of each host.
        speeds: Rates and latency.
        flops_per_second: Operations of one accelerator per second, for layers without seconds.
        links: Whether the two fibers of a port may lead to different hosts.
        topology: The topology, instead of the best of `candidates.candidates`.  A text is a recipe,
            boxes, or the name of a fabric; ``2 x Torus(4, 4)`` has several cables for each link.
        graphs: Topologies of the names after ``@`` in the text; ``@name`` alone is one of them.
        compared: Whether to simulate the baselines, too.

    Raises:
        InvalidRecipe, NoSchedule: The topology is no recipe, or has another number of hosts or more
            ports.

    >>> from topoloom.schedules.groups.process_groups import ProcessGroups
    >>> from topoloom.schedules.iterations.training_job import Layer
    >>> second = Fraction(1)
    >>> layer = Layer("a", 10**9, forward_seconds=second, backward_seconds=second)
    >>> job = TrainingJob("job", (layer,), ProcessGroups.parse("data=8"))
    >>> found = iteration_design(job, 2, Speeds(Fraction(10**9), Fraction(1, 10**5)))
    >>> found.best.candidate.name, found.limit.resource
    ('DirectedCirculant(8, 1, 3)', 'cables')
    """
    hosts = job.ranks // speeds.accelerators
    if job.operations:
        plan = traced_plan(job, flops_per_second)
    else:
        plan = job_plan(job, layer_seconds(job, flops_per_second))
    free = free_iteration_seconds(plan)
    if topology is None:
        offered = candidates(job, hosts, ports, speeds.accelerators, links)
    else:
        offered = [_given(topology, hosts, ports, graphs or {})]
    compared_with = baselines(hosts, ports) if compared else ()
    found, beside = (
        placed_iterations(plan, some, speeds, ports, free) for some in (offered, compared_with)
    )
    # Of equal times, the shorter name is first.
    found.sort(key=lambda one: (one.seconds, len(one.candidate.name), one.candidate.name))
    best = found[0]
    gains = sensitivity(best.iteration, best.network)
    return IterationDesign(
        best, tuple(found), tuple(beside), gains, (*job.notes, *_notes(job, speeds, best))
    )


def host_count(topology: str) -> int:
    """Return the number of hosts of the text of a topology, without its construction.

    Raises:
        InvalidRecipe: The text is no recipe.

    >>> host_count("2 x Torus(4, 4)")
    16
    """
    return size(_read(topology)[0])[0]


def _read(text: str, graphs: Mapping[str, Topology] | None = None) -> tuple[Recipe, int]:
    """Return the recipe of a text, and the cables of each link."""
    several = PARALLEL.fullmatch(text)
    try:
        recipe = parse(several[2] if several else text, graphs)
        size(recipe)
    except SynthError as error:
        raise InvalidRecipe("/topology", error.rule) from None
    return recipe, int(several[1]) if several else 1


def _topology(source: str | Recipe, graphs: Mapping[str, Topology]) -> Topology:
    """Return the topology of a recipe, of boxes, of a fabric's name, or of a graph's name."""
    cables = 1
    try:
        if isinstance(source, str):
            if is_boxes(source):
                return topology_of_boxes(source, graphs)
            if source.startswith("@") and source[1:] in graphs:
                return graphs[source[1:]]
            if "(" not in source and "@" not in source:
                return fabric(source)
            source, cables = _read(source, graphs)
        topology = build(source)
    except SynthError as error:
        raise InvalidRecipe("/topology", error.rule) from None
    return several_cables(topology, cables) if cables > 1 else topology


def _given(
    source: str | Recipe | Topology, hosts: int, ports: int, graphs: Mapping[str, Topology]
) -> Candidate:
    """Return the topology of a request."""
    topology = source if isinstance(source, Topology) else _topology(source, graphs)
    if (count := len(topology.compute_nodes)) != hosts:
        raise NoSchedule("/topology", f"must have the {hosts} hosts of the request; it has {count}")
    if topology.degree > ports and not topology.switches and topology.bandwidth_unit == "link":
        rule = f"must have at most the {ports} ports of a host; it has {topology.degree}"
        raise NoSchedule("/topology", rule)
    own = topology.name if topology.recipe is None else str(topology.recipe)
    name = source if isinstance(source, str) else own
    return Candidate(name or "topology", topology, "given")


def _latency_notes(best: PlacedIteration, speeds: Speeds) -> list[str]:
    """Return which latencies count where none is stated for all hops."""
    if speeds.alpha_seconds is not None:
        return []
    stated = latency_assumptions(best.candidate.topology, None)
    other = f"takes {float(DEFAULT_ALPHA_US):g} us; --alpha-us changes this."
    if not stated:
        return [f"A hop {other}"]
    return [*(fact.text for fact in stated), f"A hop of the baselines {other}"]


def _notes(job: TrainingJob, speeds: Speeds, best: PlacedIteration) -> list[str]:
    """Return what the simulation takes for granted, as sentences."""
    notes = [
        *_latency_notes(best, speeds),
        "Communications that share links get max-min fair speeds.",
        "All ranks of a pipeline stage run in step, and computations do not slow down beside "
        "communications.",
    ]
    if job.layers:
        notes.append("The optimizer's own computation takes no time.")
    if any(layer.forward_seconds is None for layer in job.layers):
        notes.append("A backward pass takes twice the time of a forward pass.")
    if any(layer.experts for layer in job.layers):
        notes.append("Tokens are spread evenly over the experts.")
    if speeds.accelerators > 1:
        notes.append("A collective inside a host has no latency.")
    if job.sharding is Sharding.OPTIMIZER:
        notes.append("Updated parameters are gathered at the start of the iteration.")
    return notes
