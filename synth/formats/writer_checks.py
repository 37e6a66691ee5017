"""Checks shared by writers: names and graphs that their format can express."""

import re

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.topology.topology import Topology

# Control characters, halves of surrogate pairs, and further characters that XML 1.0 excludes.
_UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_BREAKS_COLUMNS = re.compile(r"\s|#|^$")


def require_writable(topology: Topology) -> None:
    """Raise unless a text can hold every label and every id."""
    named = [(f"/{label}", text) for label, text in topology.labels().items()]
    named += [(f"/nodes/{index}/id", str(node)) for index, node in enumerate(topology.nodes)]
    for field, text in named:
        if _UNWRITABLE.search(text):
            raise InvalidTopology(field, "must not hold control characters in this format")


def require_words(topology: Topology, form: str) -> None:
    """Raise unless every id is one word, as cells of lines must be."""
    require_writable(topology)
    for index, node in enumerate(topology.nodes):
        if _BREAKS_COLUMNS.search(str(node)):
            raise InvalidTopology(
                f"/nodes/{index}/id", f"must not be empty or hold blanks or # in {form}"
            )


def require_hosts_only(topology: Topology, form: str) -> None:
    """Raise if there are switches."""
    if topology.switches:
        raise InvalidTopology("/nodes", f"must have no switch: {form} cannot say which nodes are")


def require_numbered(topology: Topology, form: str) -> None:
    """Raise unless the nodes are 0, 1, 2, ...; no switch among them."""
    require_hosts_only(topology, form)
    if topology.nodes != tuple(range(topology.node_count)):
        raise InvalidTopology("/nodes", f"must be numbered 0, 1, ... in order: {form} has no ids")


def require_unit_links(topology: Topology, form: str) -> None:
    """Raise unless every capacity is 1."""
    if any(capacity != 1 for capacity in topology.capacities):
        raise InvalidTopology("/links", f"must all have capacity 1: {form} has no capacities")


def require_counted(topology: Topology, form: str) -> None:
    """Raise if two nodes are joined by several links one way."""
    if topology.has_parallel_links:
        raise InvalidTopology("/links", f"must have no parallel links in {form}")


def require_undirected(topology: Topology, form: str) -> None:
    """Raise unless every link has a partner the other way."""
    if not topology.is_bidirectional:
        raise InvalidTopology("/links", f"must run both ways alike: {form} is undirected")
