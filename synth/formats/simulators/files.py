"""The files of simulators: one writer for each, by the name of the format."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from topoloom.synth.formats.cables import USUAL, LinkModel
from topoloom.synth.formats.infragraph.write import infragraph, infragraph_text
from topoloom.synth.formats.simulators.astra_sim import astra_sim
from topoloom.synth.formats.simulators.fat_trees import htsim, phantora
from topoloom.synth.formats.simulators.ns3 import ns3, simai
from topoloom.synth.topology.topology import Topology

SIMULATOR_FILES: Mapping[str, Callable[[Topology, LinkModel], str]] = MappingProxyType(
    {
        "astra-sim": astra_sim,
        "ns3": ns3,
        "simai": simai,
        "htsim": htsim,
        "phantora": phantora,
        "infragraph": infragraph,
        "infragraph-text": infragraph_text,
    }
)
"""Name of the format -> writer of a topology with its link model."""


def simulator_file(form: str, topology: Topology, model: LinkModel = USUAL) -> str:
    """Return a file for a simulator.

    >>> from topoloom.synth.fabrics import fabric
    >>> print(simulator_file("ns3", fabric("mac-studio-mesh-3")), end="")
    3 0 3
    <BLANKLINE>
    0 1 80Gbps 0.01ms 0
    0 2 80Gbps 0.01ms 0
    1 2 80Gbps 0.01ms 0
    # Every link has a latency of 10 us (alpha_us).

    Raises:
        InvalidTopology: The format cannot express the topology.
    """
    return SIMULATOR_FILES[form](topology, model)
