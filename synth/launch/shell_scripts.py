"""Shell scripts that each host runs with its own values: torchrun, and variables for NCCL."""

from topoloom.synth.errors import InvalidTopology
from topoloom.synth.launch.launch import Launch, LaunchHost

PORT = 29500
"""The port of torch's store on the first host: torchrun's own default."""


def torchrun_script(launch: Launch) -> str:
    """Return a script that starts torchrun on this host with its node rank.

    The static rendezvous of torchrun keeps ``--node-rank``; its c10d rendezvous sorts hosts by
    name.  ``HOST`` replaces the name of this host, ``MASTER_PORT`` the port.  Source: PyTorch,
    torchrun (Elastic Launch).

    Raises:
        InvalidTopology: Hosts have different numbers of compute nodes: torchrun has one number for
            all.
    """
    sizes = {len(host.nodes) for host in launch.hosts}
    if len(sizes) > 1:
        raise InvalidTopology(
            "/nodes", "must be as many on each host: torchrun has one --nproc-per-node for all"
        )
    cases = [f"  {host.name}) rank={rank} ;;" for rank, host in enumerate(launch.hosts)]
    start = [
        f"exec torchrun --rdzv-backend=static --nnodes={len(launch.hosts)} \\",
        f'  --node-rank="$rank" --nproc-per-node={sizes.pop()} \\',
        f'  --master-addr={launch.hosts[0].name} --master-port="${{MASTER_PORT:-{PORT}}}" "$@"',
    ]
    return _script(launch, "exit", cases, start)


def nccl_environment(launch: Launch) -> str:
    """Return a script to source on each host before a program that uses NCCL.

    The devices of cabled ports are ``NCCL_IB_HCA``.  Where two hosts have neither a cable nor a
    switch between them, ``NCCL_ALGO=Ring`` selects rings, whose neighbors are those of the rank
    order.  Source: NVIDIA, NCCL user guide, environment variables.
    """
    cases = [
        f"  {host.name}) NODE_RANK={rank}{_devices(host)} ;;"
        for rank, host in enumerate(launch.hosts)
    ]
    shared = ["export NODE_RANK"]
    if any(port.names for host in launch.hosts for port in host.ports):
        shared += [
            "export NCCL_IB_HCA",
            "export NCCL_IB_SUBNET_AWARE_ROUTING=1 NCCL_CROSS_NIC=1",
        ]
    if launch.needs_relays:
        shared.append("export NCCL_ALGO=Ring")
    return _script(launch, "return", cases, shared)


def _devices(host: LaunchHost) -> str:
    names = dict.fromkeys(name for port in host.ports for name in port.names)
    return f" NCCL_IB_HCA='={','.join(names)}'" if names else ""


def _script(launch: Launch, leave: str, cases: list[str], rest: list[str]) -> str:
    lines = [
        "#!/bin/sh",
        *(f"# {reason}" for reason in launch.reasons),
        'host="${HOST:-$(hostname -s)}"',
        'case "$host" in',
        *cases,
        f'  *) echo "$host is no host of this launch: set HOST" >&2; {leave} 2 ;;',
        "esac",
        *rest,
    ]
    return "\n".join([*lines, ""])
