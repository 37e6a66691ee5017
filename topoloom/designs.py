"""Designs: the best topology for a collective, with its schedules and programs."""

from typing import TYPE_CHECKING

from topoloom.arguments import (
    Rate,
    bytes_of,
    links_of,
    number,
    optional_whole,
    require_type,
    whole,
)

if TYPE_CHECKING:
    from topoloom.schedules.design import Design
    from topoloom.schedules.design.box_designs import BoxDesign
    from topoloom.schedules.design.export_files import FileSet
    from topoloom.schedules.execute.runner import Served
    from topoloom.synth.topology.topology import Topology


def design(
    nodes: int,
    degree: int,
    collective: str = "allreduce",
    size: int | str = "1MiB",
    *,
    links: str = "unidirectional",
    node_gbps: Rate = 100,
    alpha_us: Rate = 10,
    overhead_us: Rate = 0,
    chunk_us: Rate = 0,
    max_scheduled_nodes: int = 2048,
    max_routed_nodes: int = 256,
) -> "Design":
    """Return the best topology for a collective, with its schedule, frontier and baselines.

    Args:
        nodes, degree: N hosts of d ports each.
        collective, size: The collective, and its size in bytes.
        node_gbps, alpha_us: Most Gbit/s that a host sends, all ports together; latency of a hop,
            microseconds.
        overhead_us, chunk_us: Microseconds that a message, and every chunk of it, occupies its link
            beside its bytes.
        max_scheduled_nodes, max_routed_nodes: With more hosts than these the best point has no
            schedule, and the design states why.

    Raises:
        ImpossibleRequest: No such graph exists or is known.
        UnknownCollective, TooLarge: As `schedules.design.design`.

    >>> found = design(nodes=12, degree=4, collective="allreduce", size="1MB")
    >>> str(found.best.measured.recipe), float(found.best_seconds)
    ('Circulant(12, 2, 3)', 0.00018666666666666666)
    """
    from topoloom.schedules.design import Generators, Hosts, Limits, Speed, Task, Workload
    from topoloom.schedules.design import design as made
    from topoloom.schedules.model.schedule import Collective

    task = Task(Collective.of(collective), bytes_of(size))
    return made(
        Hosts(whole(nodes, "nodes"), whole(degree, "degree"), links_of(links)),
        Speed(
            number(node_gbps, "node_gbps") * 10**9 / 8,
            number(alpha_us, "alpha_us") / 10**6,
            number(overhead_us, "overhead_us") / 10**6,
            number(chunk_us, "chunk_us") / 10**6,
        ),
        Workload((task,), single=True),
        Generators(),
        Limits(
            whole(max_scheduled_nodes, "max_scheduled_nodes"),
            whole(max_routed_nodes, "max_routed_nodes"),
        ),
    )


def design_boxes(
    box: "str | Topology",
    boxes: int,
    cables: int,
    collective: str = "allreduce",
    size: int | str = "1GiB",
    *,
    links: str = "bidirectional",
    cable: Rate | None = None,
    ports: str = "even",
    boxes_per_rack: int = 1,
    alpha_us: Rate = 10,
) -> "BoxDesign":
    """Return the best topology between boxes of accelerators, for a collective over all of them.

    Args:
        box: One box, such as ``"dgx-h100"``.
        boxes, cables: Number of boxes, and of the cables of each.
        collective, size: An allgather, reduce-scatter or allreduce, and its size in bytes.
        links: ``"bidirectional"``, or ``"unidirectional"`` if the fibers of a port may lead to two
            boxes.
        cable: GB/s of a cable; default: the NIC of the box in the catalogue.
        ports: Accelerators that the cables are on, ``"even"`` or ``"round-robin"``.
        boxes_per_rack: Most boxes of a rack, whose cables to each other are copper.
        alpha_us: Latency of a hop, microseconds.

    Raises:
        ImpossibleRequest, InvalidRecipe, OutOfDomain, TooLarge, UnknownCollective: As
            `schedules.design.box_designs.box_design`.

    >>> found = design_boxes("mi300x", boxes=5, cables=4)
    >>> found.best.text, found.best.algbw, [one.cables for one in found.more]
    ('Boxes(mi300x, Complete(5))', Fraction(125, 1), [5, 12])
    """
    from topoloom.schedules.design.box_candidates import BoxHosts
    from topoloom.schedules.design.box_designs import box_design
    from topoloom.schedules.model.schedule import Collective
    from topoloom.schedules.workloads.tasks import Task
    from topoloom.synth.boxes.box_fabric import Ports
    from topoloom.synth.topology.topology import Topology

    require_type(box, "box", "a text or a topology", str, Topology)
    if ports not in list(Ports):
        raise ValueError(f"ports: must be one of {', '.join(Ports)}; not {ports!r}")
    rate = None if cable is None else number(cable, "cable")
    text, graphs = (box, {}) if isinstance(box, str) else ("@box", {"box": box})
    wires = links_of(links)
    hosts = BoxHosts(
        text,
        whole(boxes, "boxes"),
        whole(cables, "cables"),
        wires,
        rate,
        Ports(ports),
        whole(boxes_per_rack, "boxes_per_rack"),
        graphs,
    )
    task = Task(Collective.of(collective), bytes_of(size))
    return box_design(hosts, task, number(alpha_us, "alpha_us") / 10**6)


def runnable(design: "Design") -> "tuple[Served, ...]":
    """Return the schedules of a design for a `Runner`, each with the sizes at which it is fastest.

    The schedules of the topology in ``design.co_design``, for every collective of its workload.

    Raises:
        TooLarge: The topology exceeds the limits of schedule generation.

    >>> for one in runnable(design(8, 2, "allreduce", "1MiB", links="bidirectional")):
    ...     print(one.schedule.collective, one.first_bytes)
    allreduce 0
    allreduce 95239
    """
    from topoloom.schedules.design import Design
    from topoloom.schedules.design.runnable_schedules import served_schedules

    require_type(design, "design", "a design", Design)
    return served_schedules(design)


def files(
    design: "Design",
    format: str = "msccl-xml",
    *,
    runtime: str | None = None,
    min_bytes: int | str | None = None,
    max_bytes: int | str | None = None,
    scratch_budget: int | str | None = None,
    inplace: bool = False,
    ranks_per_node: int | None = None,
    instances: int | None = None,
    channels: int | None = None,
) -> "FileSet":
    """Return the programs of a design, each with the sizes at which it is fastest.

    Together the programs cover every size from ``min_bytes`` to ``max_bytes`` without overlap, for
    the topology in ``design.co_design`` and every collective of its workload.  ``format`` is
    msccl-xml or mscclpp-json.  ``left_out`` lists the algorithms that the format cannot express,
    with reasons.  ``tuner`` is a table for NCCL's tuner, of ``channels`` channels, for calls that
    no program covers.  For other options see `schedules.formats.Options`.

    Raises:
        NotExportable: No algorithm of a collective can be written for this runtime.
        TooLarge: The topology exceeds the limits of schedule generation.

    >>> found = files(design(8, 2, "allgather", "1MiB", links="bidirectional"), runtime="azure")
    >>> [(one.algorithm, one.first_bytes, one.last_bytes) for one in found.files]
    [('bfb', 0, None)]
    """
    from topoloom.schedules.design import Design
    from topoloom.schedules.design.export_files import file_set
    from topoloom.schedules.formats import Options

    require_type(design, "design", "a design", Design)
    said = Options(
        runtime=runtime,
        inplace=inplace or None,
        ranks_per_node=optional_whole(ranks_per_node, "ranks_per_node"),
        instances=optional_whole(instances, "instances"),
        channels=optional_whole(channels, "channels"),
        min_bytes=None if min_bytes is None else bytes_of(min_bytes),
        max_bytes=None if max_bytes is None else bytes_of(max_bytes),
        scratch_budget=None if scratch_budget is None else bytes_of(scratch_budget),
    )
    return file_set(design, format, said)
