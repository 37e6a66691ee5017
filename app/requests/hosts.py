"""Hosts that want a topology: from requests to the value that the search takes, and back."""

from typing import TYPE_CHECKING

from topoloom.app.requests.designs import FrontierRequest
from topoloom.synth.evaluation.cost import Links
from topoloom.synth.recipes.recipe import parse

if TYPE_CHECKING:
    from topoloom.synth.search.hosts import Hosts

__all__ = ["frontier_request", "hosts_of"]


def hosts_of(request: FrontierRequest) -> "Hosts":
    """Return which hosts a request speaks of.

    >>> hosts_of(FrontierRequest(nodes=12, degree=4)).links
    <Links.UNIDIRECTIONAL: 'unidirectional'>
    """
    from topoloom.synth.search.hosts import Hosts

    return Hosts(
        request.nodes,
        request.degree,
        Links(request.links),
        request.parallel_links,
        request.vertex_transitive,
        None if request.families is None else tuple(request.families),
        request.max_steps,
        request.schedule,
        tuple(map(parse, request.bases or ())),
    )


def frontier_request(hosts: "Hosts") -> FrontierRequest:
    """Return the request that asks for the frontier of some hosts.

    >>> from topoloom.synth.search.hosts import Hosts
    >>> hosts = Hosts(12, 4, max_steps=3)
    >>> hosts_of(frontier_request(hosts)) == hosts
    True
    """
    return FrontierRequest(
        nodes=hosts.nodes,
        degree=hosts.degree,
        links=hosts.links.value,
        parallel_links=hosts.parallel_links,
        vertex_transitive=hosts.vertex_transitive,
        families=None if hosts.families is None else list(hosts.families),
        max_steps=hosts.max_steps,
        schedule=hosts.schedule,
        bases=[str(base) for base in hosts.bases] or None,
    )
