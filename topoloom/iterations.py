"""Training iterations: jobs with parallel groups, and traced programs over networks."""

from typing import TYPE_CHECKING, Any

from topoloom.arguments import Rate, links_of, number, optional_whole, require_type, whole

if TYPE_CHECKING:
    from topoloom.schedules.iterations.iteration_design import IterationDesign
    from topoloom.schedules.network_curves.curves import Curve
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
        job: The name of a preset, such as ``"llama3-405b"``; a model as in a model file; the text
            of an AICB workload file; or ``{"traces": {...}}``, from names to the bytes, text or
            parsed JSON of traces.
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
    from topoloom.schedules.formats.job_traces.trace_files import trace_model
    from topoloom.schedules.formats.model_file import read_model
    from topoloom.schedules.iterations.iteration_design import iteration_design
    from topoloom.schedules.iterations.job_request import HostRates, planned_job
    from topoloom.schedules.iterations.presets import job_preset

    require_type(job, "job", "a text or a dict", str, dict)

    def exact(value: Rate | None, name: str) -> Any:
        return None if value is None else number(value, name)

    if isinstance(job, str) and is_workload(job):
        job = aicb_model(job, "")
    elif isinstance(job, dict) and "traces" in job:
        job = trace_model(job["traces"], "/traces", job.get("name", "trace"))
    if number(efficiency, "efficiency") > 1:
        raise ValueError(f"efficiency: must be at most 1, not {efficiency!r}")
    planned = planned_job(
        whole(nodes, "nodes", 2),
        HostRates(
            None if alpha_us is None else number(alpha_us, "alpha_us") / 10**6,
            number(efficiency, "efficiency"),
            accelerator,
            optional_whole(accelerators_per_host, "accelerators_per_host"),
            exact(inside_gbps, "inside_gbps"),
            exact(node_gbps, "node_gbps"),
        ),
        job_preset(job) if isinstance(job, str) else None,
        lambda ranks, sizes: read_model(job, ranks, sizes),
        parallel=parallel,
        microbatches=optional_whole(microbatches, "microbatches"),
    )
    return iteration_design(
        planned.job,
        whole(degree, "degree", 1),
        planned.speeds,
        planned.flops_per_second,
        links=links_of(links),
        topology=topology,
    )


def network_curves(
    instances: str,
    rings: str | None = None,
    *,
    kernel_times: dict[str, Any] | None = None,
    rank: int = 0,
    latency_us: Rate = 4,
    gbps: Rate = 200,
    max_latency_us: Rate = 1000,
    min_gbps: Rate = 10,
    max_gbps: Rate = 1600,
    inside_us: Rate = "0.35",
    inside_gbps: Rate = 2400,
    message_us: Rate = "0.2",
    accelerators_per_host: int = 4,
    separate_channels: bool = False,
) -> "tuple[Curve, Curve]":
    r"""Return the time of a traced program over latency, and over bandwidth, as exact pieces.

    Args:
        instances, rings: Texts of the tables of collectives and of rings, CSV.
        kernel_times: NPKit's events.  Default: reductions and copies take no time.
        rank: Rank whose collectives count.
        latency_us, gbps: Latency of the curve over bandwidth, and bandwidth of the other.
        max_latency_us, min_gbps, max_gbps: Ends of the curves.
        inside_us, inside_gbps: Latency and rate of a hop inside a host.
        message_us: Time to send or to receive a message beside its bytes.
        accelerators_per_host: Ranks of a host, of communicators that the rings do not list.
        separate_channels: Each channel has the whole bandwidth of an interface.

    Raises:
        NoSchedule, TooLarge: A table breaks a rule, or a collective has too many messages.

    >>> head = "goal_rank,stream,start,end,collective,algo,proto,nranks,data_size,channels"
    >>> row = "0,s,0,9000,AllGather,ring,simple,2,25000,1,4,2,524288"
    >>> trace = f"{head},chunkSteps,sliceSteps,stepSize\n{row}"
    >>> over_latency, _ = network_curves(trace, accelerators_per_host=1)
    >>> [(int(one.value), int(one.slope)) for one in over_latency.pieces]
    [(1400, 1)]
    """
    from topoloom.schedules.formats.collective_trace import (
        TraceOptions,
        read_kernel_times,
        read_rings,
        read_trace,
    )
    from topoloom.schedules.network_curves import curves
    from topoloom.schedules.network_curves.network import KernelTimes, Network, per_byte

    require_type(instances, "instances", "a text", str)
    require_type(rings, "rings", "a text", str, type(None))
    kernels = KernelTimes() if kernel_times is None else read_kernel_times(kernel_times)
    network = Network(
        1000 * number(inside_us, "inside_us"),
        per_byte(number(inside_gbps, "inside_gbps")),
        1000 * number(message_us, "message_us"),
        kernels,
    )
    axes = curves.Axes(
        [1000 * number(latency_us, "latency_us")],
        [per_byte(number(gbps, "gbps"))],
        1000 * number(max_latency_us, "max_latency_us"),
        per_byte(number(max_gbps, "max_gbps")),
        per_byte(number(min_gbps, "min_gbps")),
    )
    options = TraceOptions(rank, accelerators_per_host, separate_channels)
    trace = read_trace(instances, read_rings(rings) if rings else {}, options)
    over_latency, over_bandwidth = curves.network_curves(trace.program, network, axes)
    return over_latency, over_bandwidth
