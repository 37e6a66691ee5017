"""Lists of hosts in rank order: Open MPI's hostfile and rankfile, and Slurm's hostfile."""

from topoloom.synth.launch.launch import Launch


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
