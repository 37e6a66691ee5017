"""Writing any of the formats that other programs read."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.formats.adjacency_list import to_adjlist
from topoloom.synth.formats.dot import dot
from topoloom.synth.formats.edge_list import to_edgelist
from topoloom.synth.formats.gexf import to_gexf
from topoloom.synth.formats.gml import to_gml
from topoloom.synth.formats.graph6 import to_digraph6, to_graph6, to_sparse6
from topoloom.synth.formats.graphml import to_graphml
from topoloom.synth.formats.matrix_market import to_matrix_market
from topoloom.synth.formats.node_link import to_node_link
from topoloom.synth.formats.simulators.files import SIMULATOR_FILES, simulator_file
from topoloom.synth.formats.topology_json import to_json
from topoloom.synth.launch import LAUNCH_FILES, launch_file
from topoloom.synth.scheduling.files import SCHEDULER_FILES, scheduler_file
from topoloom.synth.topology.topology import Topology


def _unlimited(form: str, written: Callable[[Topology], str]) -> Callable[[Topology], str]:
    """Return a writer that refuses a topology whose links share limits."""

    def write(topology: Topology) -> str:
        if topology.shared:
            raise InvalidTopology(
                "/shared", f"must be empty: {form} has no limits of several links"
            )
        return written(topology)

    return write


_OF_LINKS: Mapping[str, Callable[[Topology], str]] = {
    "graphml": to_graphml,
    "dot": dot,
    "edgelist": to_edgelist,
    "gml": to_gml,
    "gexf": to_gexf,
    "node-link": to_node_link,
    "adjlist": to_adjlist,
    "matrix-market": to_matrix_market,
    "graph6": to_graph6,
    "sparse6": to_sparse6,
    "digraph6": to_digraph6,
}

WRITERS: Mapping[str, Callable[[Topology], str]] = MappingProxyType(
    {
        "json": to_json,
        **{form: _unlimited(form, written) for form, written in _OF_LINKS.items()},
        **{form: partial(launch_file, form) for form in LAUNCH_FILES},
        **{form: partial(scheduler_file, form) for form in SCHEDULER_FILES},
        **{form: partial(simulator_file, form) for form in SIMULATOR_FILES},
    }
)
"""The writers by the name of their format.  The graphs, all but edge list, adjacency list, Matrix
Market and the three of graph6, keep every node, kind, link and capacity.  The excepted writers
raise one error that names the unsupported parts of a topology.  Launch files hold the order of
ranks instead of the links, files for schedulers the groups of hosts, files for simulators the rate
and the latency of each cable."""
