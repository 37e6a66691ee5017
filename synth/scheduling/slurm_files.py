"""Slurm's topology.conf and topology.yaml.

Sources: Slurm, topology.conf(5) and topology.yaml(5); torus3d: the parsers of Slurm 26.05.
"""

from itertools import pairwise
from typing import Any

import yaml

from topoloom.synth.scheduling.cluster import Cluster


def topology_conf(cluster: Cluster) -> str:
    """Return topology.conf: for topology/tree if there are switches, else for topology/block."""
    if cluster.levels:
        lines = [f"SwitchName={name} {key}={value}" for name, key, value in _switches(cluster)]
        return "\n".join(["# TopologyPlugin=topology/tree", *lines, ""])
    lines = [f"BlockName={name} Nodes={hosts}" for name, hosts in _blocks(cluster)]
    sizes = f"BlockSizes={_base_size(cluster)}"
    return "\n".join(["# TopologyPlugin=topology/block", f"# {cluster.comment}", *lines, sizes, ""])


def topology_yaml(cluster: Cluster) -> str:
    """Return topology.yaml, for Slurm 25.05 and later: every kind that the cluster has.

    Kinds are tree, torus3d (Slurm 26.05) and block; the first is the default of the cluster.
    """
    kinds: list[tuple[str, Any]] = []
    if cluster.levels:
        rows = [
            {"switch": name, {"Nodes": "nodes", "Switches": "children"}[key]: value}
            for name, key, value in _switches(cluster)
        ]
        kinds.append(("tree", {"switches": rows}))
    if cluster.torus is not None:
        torus = {
            "name": "torus",
            "dims": dict(zip("xyz", cluster.torus, strict=True)),
            "nodes": ",".join(cluster.names),
        }
        kinds.append(("torus3d", {"toruses": [torus]}))
    rows = [{"block": name, "nodes": hosts} for name, hosts in _blocks(cluster)]
    kinds.append(("block", {"block_sizes": [_base_size(cluster)], "blocks": rows}))
    document = [
        {"topology": kind, "cluster_default": index == 0, kind: value}
        for index, (kind, value) in enumerate(kinds)
    ]
    text = yaml.safe_dump(document, sort_keys=False, width=2**31)
    return f"# {cluster.comment}\n---\n{text}"


def _base_size(cluster: Cluster) -> int:
    """Return the planning base block size: each block has at least as many hosts."""
    return min(map(len, cluster.parts))


def _blocks(cluster: Cluster) -> list[tuple[str, str]]:
    return [(f"block{index}", cluster.hosts(part)) for index, part in enumerate(cluster.parts)]


def _switches(cluster: Cluster) -> list[tuple[str, str, str]]:
    """Return the rows of switches: name, ``Nodes`` or ``Switches``, and what is below."""
    found = [(group.name, "Nodes", cluster.hosts(group.hosts)) for group in cluster.levels[0]]
    for lower, upper in pairwise(cluster.levels):
        for index, group in enumerate(upper):
            below = ",".join(one.name for one in lower if one.parent == index)
            found.append((group.name, "Switches", below))
    return found
