"""The launch files: one writer for each launcher or library, by the name of the format."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from topoloom.synth.launch.documents import kubernetes_pods, launch_document, mlx_hostfile
from topoloom.synth.launch.launch import Launch, PortNames, launch_of
from topoloom.synth.launch.shell_scripts import nccl_environment, torchrun_script
from topoloom.synth.topology.topology import Topology


def mpi_hostfile(launch: Launch) -> str:
    """Return a hostfile of Open MPI: a host and its slots in each line, in rank order.

    Source: Open MPI manual, mpirun, "Specifying hosts".
    """
    lines = [f"{host.name} slots={len(host.nodes)}" for host in launch.hosts]
    return _text([*_comments(launch), *lines])


def mpi_rankfile(launch: Launch) -> str:
    """Return a rankfile of Open MPI: the host and the slot of each rank.

    The slot is the local rank.  Source: Open MPI manual, mpirun, "Rankfiles".
    """
    lines = [
        f"rank {host.first_rank + local}={host.name} slot={local}"
        for host in launch.hosts
        for local in range(len(host.nodes))
    ]
    return _text([*_comments(launch), *lines])


def slurm_hostfile(launch: Launch) -> str:
    """Return the file of ``SLURM_HOSTFILE``: the host of each rank, for arbitrary distribution.

    Source: Slurm, srun(1), ``--distribution=arbitrary``.
    """
    return _text([host.name for host in launch.hosts for _ in host.nodes])


def _comments(launch: Launch) -> list[str]:
    return [f"# {reason}" for reason in launch.reasons]


def _text(lines: list[str]) -> str:
    return "\n".join([*lines, ""])


class LaunchFile(NamedTuple):
    """A format: its media type, its file name extension, and its writer."""

    media_type: str
    suffix: str
    write: Callable[[Launch], str]


LAUNCH_FILES: Mapping[str, LaunchFile] = MappingProxyType(
    {
        "launch": LaunchFile(
            "application/vnd.topoloom.launch+json", "launch.json", launch_document
        ),
        "mpi-hostfile": LaunchFile("text/x-mpi-hostfile", "hostfile", mpi_hostfile),
        "mpi-rankfile": LaunchFile("text/x-mpi-rankfile", "rankfile", mpi_rankfile),
        "slurm-hostfile": LaunchFile("text/x-slurm-hostfile", "hosts", slurm_hostfile),
        "torchrun": LaunchFile("text/x-torchrun", "torchrun.sh", torchrun_script),
        "kubernetes-pods": LaunchFile("application/x-kubernetes-pods", "yaml", kubernetes_pods),
        "mlx-hostfile": LaunchFile("application/x-mlx-hostfile", "mlx.json", mlx_hostfile),
        "nccl-env": LaunchFile("text/x-nccl-env", "nccl.sh", nccl_environment),
    }
)
"""The launch files by the name of their format."""


def launch_file(form: str, topology: Topology, ports: PortNames | None = None) -> str:
    """Return a launch file of a topology; parameters as of `launch.launch_of`.

    >>> from topoloom.synth.topology.topology import Topology
    >>> pair = Topology(["a", "b"], [("a", "b"), ("b", "a")])
    >>> print(launch_file("slurm-hostfile", pair), end="")
    a
    b
    """
    return LAUNCH_FILES[form].write(launch_of(topology, ports))
