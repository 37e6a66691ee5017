"""The launch files: one writer for each launcher or library, by the name of the format."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from topoloom.synth.launch.documents import kubernetes_pods, launch_document, mlx_hostfile
from topoloom.synth.launch.host_lists import mpi_hostfile, mpi_rankfile, slurm_hostfile
from topoloom.synth.launch.launch import Launch, PortNames, launch_of
from topoloom.synth.launch.shell_scripts import nccl_environment, torchrun_script
from topoloom.synth.topology.topology import Topology


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
