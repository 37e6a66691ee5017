"""Labels of Kubernetes nodes and Topology objects of Kueue and KAI.

Labels are those of topograph 1.0 and later: ``domain`` is the block, ``tier-0`` the leaf switch,
``tier-1`` the switch above, and so on.  Sources: docs.nvidia.com/topograph/v1.1.0, "Node Labels and
Annotations"; kubernetes-sigs/kueue, apis/kueue/v1beta2/topology_types.go, which is the stored
version; NVIDIA/KAI-Scheduler, deployments/kai-scheduler/crds/kai.scheduler_topologies.yaml.
"""

import re

import yaml

from topoloom.synth.scheduling.cluster import Cluster

BLOCK = "accelerator.topograph.run/domain"
TIER = "fabric.topograph.run/tier-{}"
HOSTNAME = "kubernetes.io/hostname"
MAX_LEVELS = 16
"""Levels of a Topology of Kueue or KAI, at most."""

NAME = "topoloom"


def node_labels(cluster: Cluster) -> str:
    """Return one Node for each host with its labels, for ``kubectl apply --server-side``."""
    nodes = [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}
        for name, labels in zip(cluster.names, _labels(cluster), strict=True)
    ]
    return f"# {cluster.comment}\n" + yaml.safe_dump_all(nodes, sort_keys=False)


def kueue_topology(cluster: Cluster) -> str:
    """Return the Topology of Kueue: its levels are the labels of `node_labels`, widest first."""
    return _topology(cluster, "kueue.x-k8s.io/v1beta2")


def kai_topology(cluster: Cluster) -> str:
    """Return the Topology of the KAI scheduler, with the same levels."""
    return _topology(cluster, "kai.scheduler/v1alpha1")


def _topology(cluster: Cluster, version: str) -> str:
    levels = [*reversed(_keys(cluster)), HOSTNAME]
    document = {
        "apiVersion": version,
        "kind": "Topology",
        "metadata": {"name": NAME},
        "spec": {"levels": [{"nodeLabel": key} for key in levels]},
    }
    return yaml.safe_dump(document, sort_keys=False)


def _keys(cluster: Cluster) -> list[str]:
    """Return the keys of the labels, from the block to the widest tier."""
    # The host is a level, too.
    tiers = range(min(len(cluster.levels), MAX_LEVELS - 2))
    return [BLOCK, *map(TIER.format, tiers)]


def _labels(cluster: Cluster) -> list[dict[str, str]]:
    found: list[dict[str, str]] = [{} for _ in cluster.names]
    keys = _keys(cluster)
    for index, part in enumerate(cluster.parts):
        for host in part:
            found[host][keys[0]] = f"block{index}"
    for key, groups in zip(keys[1:], cluster.levels, strict=False):
        for group in groups:
            for host in group.hosts:
                found[host][key] = _value(group.name)
    return found


def _value(name: str) -> str:
    """Return a name as the value of a label: at most 63 letters, digits and ``. _ -``."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", name)[:63].strip("._-") or "switch"
