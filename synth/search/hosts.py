"""The input of a frontier search: hosts, ports and constraints."""

from dataclasses import dataclass, fields
from typing import Literal

from topoloom.synth.evaluation.cost import Links
from topoloom.synth.recipes.recipe import Recipe
from topoloom.synth.search.frontier import Frontier, frontier


@dataclass(frozen=True, slots=True)
class Hosts:
    """Number of hosts, ports of each host, and constraints on topologies.

    The members are the parameters of `synth.search.frontier.frontier`.
    """

    nodes: int
    degree: int
    links: Links = Links.UNIDIRECTIONAL
    parallel_links: bool = False
    vertex_transitive: bool = False
    families: tuple[str, ...] | None = None
    max_steps: int | None = None
    schedule: Literal["bfb", "best"] = "best"
    bases: tuple[Recipe, ...] = ()


def frontier_of_hosts(hosts: Hosts) -> Frontier:
    """Return the Pareto frontier for some hosts; see `synth.search.frontier.frontier`.

    >>> [str(point.recipe) for point in frontier_of_hosts(Hosts(12, 4)).points]
    ['Circulant(12, 2, 3)']
    """
    return frontier(**{field.name: getattr(hosts, field.name) for field in fields(hosts)})
