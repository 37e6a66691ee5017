"""Training iterations: the time of a job with parallel groups, and its best topology."""

from typing import TYPE_CHECKING, Any

from topoloom.arguments import Rate, links_of, number

if TYPE_CHECKING:
    from topoloom.schedules.iterations.iteration_design import IterationDesign
    from topoloom.synth.recipes.recipe import Recipe
    from topoloom.synth.topology.topology import Topology


def iteration(
    job: str | dict[str, Any],
    nodes: int,
    degree: int,
    *,
    parallel: str | None = None,
    topology: "Topology | Recipe | str | None" = None,
    links: str = "unidirectional",
    accelerator: str | None = None,
    efficiency: Rate = "1/2",
    accelerators_per_host: int | None = None,
    inside_gbps: Rate | None = None,
    node_gbps: Rate | None = None,
    alpha_us: Rate | None = None,
    microbatches: int | None = None,
) -> "IterationDesign":
    """Return the topology and placement of least time for one training iteration of a job.

    Args:
        job: The name of a preset, such as ``"llama3-405b"``; a model as in a model file; or the
            text of an AICB workload file.
        nodes, degree: Hosts, and ports of each host.
        parallel: Sizes such as ``"tensor=8,pipeline=4"``; ``data`` takes the ranks that they leave.
        topology: The topology, instead of the best.
        links: ``"unidirectional"`` or ``"bidirectional"``.
        accelerator, efficiency: Accelerator that computes the layers, and the share of its peak
            rate that it reaches.
        accelerators_per_host: Default: those of the preset, or 1.
        inside_gbps, node_gbps: Gbit/s of an accelerator inside its host, and of a host over all
            ports.  Default: those of the accelerator.
        alpha_us: Latency of a hop, microseconds.  Default: the latencies that the topology states,
            else 10.
        microbatches: Microbatches of each replica, instead of those of the job.

    Raises:
        UnknownPreset, NoSchedule, TooLarge: The job breaks a rule, or has too many passes.

    >>> layer = {"count": 4, "parameters": 10**8, "forward_seconds": 0.01}
    >>> model = {"layers": [layer], "parallel": {"pipeline": 2}, "microbatches": 4}
    >>> found = iteration(model, nodes=8, degree=2, node_gbps=400)
    >>> str(found.best.placement.processes), found.limit.resource
    ('pipeline=2,data=4', 'computation')
    """
    from topoloom.schedules.formats.aicb_workload import aicb_model, is_workload
    from topoloom.schedules.formats.model_file import read_model
    from topoloom.schedules.iterations.iteration_design import iteration_design
    from topoloom.schedules.iterations.job_request import HostRates, planned_job
    from topoloom.schedules.iterations.presets import job_preset

    def exact(value: Rate | None, name: str) -> Any:
        return None if value is None else number(value, name)

    if isinstance(job, str) and is_workload(job):
        job = aicb_model(job, "")
    if number(efficiency, "efficiency") > 1:
        raise ValueError(f"efficiency: must be at most 1, not {efficiency!r}")
    planned = planned_job(
        nodes,
        HostRates(
            None if alpha_us is None else number(alpha_us, "alpha_us") / 10**6,
            number(efficiency, "efficiency"),
            accelerator,
            accelerators_per_host,
            exact(inside_gbps, "inside_gbps"),
            exact(node_gbps, "node_gbps"),
        ),
        job_preset(job) if isinstance(job, str) else None,
        lambda ranks, sizes: read_model(job, ranks, sizes),
        parallel=parallel,
        microbatches=microbatches,
    )
    return iteration_design(
        planned.job,
        degree,
        planned.speeds,
        planned.flops_per_second,
        links=links_of(links),
        topology=topology,
    )
