"""The files for schedulers: one writer for each, by the name of the format."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from topoloom.synth.scheduling.cluster import Cluster, cluster_of
from topoloom.synth.scheduling.kubernetes_objects import kai_topology, kueue_topology, node_labels
from topoloom.synth.scheduling.slurm_files import topology_conf, topology_yaml
from topoloom.synth.topology.topology import Topology

SCHEDULER_FILES: Mapping[str, Callable[[Cluster], str]] = MappingProxyType(
    {
        "slurm": topology_conf,
        "slurm-yaml": topology_yaml,
        "node-labels": node_labels,
        "kueue": kueue_topology,
        "kai": kai_topology,
    }
)
"""Name of the format -> writer of a cluster."""


def scheduler_file(form: str, topology: Topology) -> str:
    """Return a file for a scheduler.

    >>> from topoloom.synth.fabrics import fabric
    >>> print(scheduler_file("slurm", fabric("mac-studio-ring-4")), end="")
    # TopologyPlugin=topology/block
    # 2 blocks of 2 hosts; links that leave blocks have 40 GB/s in total.
    BlockName=block0 Nodes=mac0,mac1
    BlockName=block1 Nodes=mac2,mac3
    BlockSizes=2

    Raises:
        InvalidTopology: A node has no id that can be a host name, or hosts cannot reach each other.
    """
    return SCHEDULER_FILES[form](cluster_of(topology))
