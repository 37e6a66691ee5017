"""Structured launch files: launch/1, Kubernetes pods, and MLX's hostfile."""

import json
from collections.abc import Mapping
from typing import Any

import yaml

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.launch.addresses import HostAddresses, addresses
from topoloom.synth.launch.launch import Launch, LaunchHost
from topoloom.synth.launch.ring_load import RingLoad
from topoloom.synth.launch.shell_scripts import PORT

SERVICE = "launch"
IMAGE = "IMAGE"
"""The image in the pods: the user replaces it."""


def launch_document(launch: Launch) -> str:
    """Return launch/1: hosts in rank order with their cables, and the ring's bottleneck by order.

    Hosts that cables join in both directions have an address on each cable, and routes to the
    loopback addresses of all others.
    """
    found = addresses(launch)
    document = {
        "schema": "launch/1",
        "name": launch.name,
        "bandwidth_unit": launch.unit,
        "needs_relays": launch.needs_relays,
        "orders": {order: _load(load) for order, load in launch.loads.items()},
        "hosts": [_host(host, found) for host in launch.hosts],
    }
    return json.dumps(document, indent=1) + "\n"


def _load(load: RingLoad) -> dict[str, Any]:
    value = load.bottleneck
    return {
        "bottleneck": None if value is None else str(value),
        "links": load.links,
        "longest": load.longest,
    }


def _host(host: LaunchHost, found: Mapping[str, HostAddresses]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": host.name,
        "first_rank": host.first_rank,
        "nodes": list(host.nodes),
        "ports": [{"devices": list(port.names), "peer": port.peer} for port in host.ports],
    }
    if host.name not in found:
        return row
    own = found[host.name]
    for port in row["ports"]:
        port["address"] = f"{own.ports[port['peer']]}/31"
        port["peer_address"] = found[port["peer"]].ports[host.name]
    row["loopback"] = f"{own.loopback}/32"
    row["routes"] = [
        {"to": f"{found[other].loopback}/32", "via": found[gate].ports[host.name]}
        for other, gate in own.gates.items()
    ]
    return row


def kubernetes_pods(launch: Launch) -> str:
    """Return a headless service and one pod for each host, each bound to its node.

    Pods have ``NODE_RANK``, ``NNODES``, ``MASTER_ADDR`` and ``MASTER_PORT``; the image is a word
    to replace.  A pod is bound by the label ``kubernetes.io/hostname``.
    """
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": SERVICE},
        "spec": {"clusterIP": "None", "selector": {"app": SERVICE}, "ports": [{"port": PORT}]},
    }
    pods = [_pod(launch, rank, host) for rank, host in enumerate(launch.hosts)]
    comments = "".join(f"# {reason}\n" for reason in launch.reasons)
    return comments + yaml.safe_dump_all([service, *pods], sort_keys=False)


def _pod(launch: Launch, rank: int, host: LaunchHost) -> dict[str, Any]:
    environment = {
        "NODE_RANK": rank,
        "NNODES": len(launch.hosts),
        "MASTER_ADDR": f"{SERVICE}-0.{SERVICE}",
        "MASTER_PORT": PORT,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{SERVICE}-{rank}", "labels": {"app": SERVICE}},
        "spec": {
            "hostname": f"{SERVICE}-{rank}",
            "subdomain": SERVICE,
            "restartPolicy": "Never",
            "nodeSelector": {"kubernetes.io/hostname": host.name},
            "containers": [
                {
                    "name": "main",
                    "image": IMAGE,
                    "env": [
                        {"name": key, "value": str(value)} for key, value in environment.items()
                    ],
                }
            ],
        },
    }


def mlx_hostfile(launch: Launch) -> str:
    """Return the hostfile of ``mlx.launch --backend jaccl``: by rank the device to each peer.

    A host without a cable to a peer has null there; ``ips`` holds the host name.  Source: MLX,
    "Launching Distributed Programs".

    Raises:
        InvalidTopology: The names of the ports are unknown, or a host has several compute nodes.
    """
    if not all(port.names for host in launch.hosts for port in host.ports):
        raise InvalidTopology(
            "/format",
            "mlx-hostfile names the ports of hosts: give a mac-studio fabric, or a patch plan",
        )
    if launch.ranks > len(launch.hosts):
        raise InvalidTopology("/nodes", "must be one on each host in mlx-hostfile")
    rows = []
    for host in launch.hosts:
        towards = {port.peer: port.names[0] for port in host.ports}
        devices = [towards.get(other.name) for other in launch.hosts]
        rows.append({"ssh": host.name, "ips": [host.name], "rdma": devices})
    lines = ",\n ".join(json.dumps(row) for row in rows)
    return f"[{lines}]\n"
