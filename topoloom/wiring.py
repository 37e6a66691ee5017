"""Patch plans, and plots of frontiers and schedules."""

from pathlib import Path
from typing import TYPE_CHECKING

from topoloom.arguments import require_type, topology_of, whole

if TYPE_CHECKING:
    from topoloom.arguments import Source
    from topoloom.schedules.model.schedule import Schedule
    from topoloom.synth.search.frontier import Frontier
    from topoloom.synth.topology.topology import NodeId
    from topoloom.synth.wiring import PatchPlan, Plant, Present


def plan_moves(
    source: "Source",
    *,
    panels: str = "per-port",
    hosts: int | None = None,
    ports: int | None = None,
    plant: "Plant | None" = None,
    present: "Present | PatchPlan | None" = None,
) -> "PatchPlan":
    """Return a patch plan, port by port, with few moves from today's wiring.

    ``panels`` is ``"per-port"`` (one for each port of the hosts) or ``"single"``; ``hosts`` and
    ``ports`` are the cabled hosts and their ports, by default those that the topology needs.
    ``plant`` replaces these by your own plant, from `synth.wiring.plant.read_plant_text`.
    ``present`` is the wiring of today, or the plan that led to it; by default nothing is plugged.

    Raises:
        DoesNotFit: The topology has switches, or too many nodes or ports.

    >>> first = plan_moves("UniRing(4)")
    >>> first.moves, plan_moves("UniRing(4)", present=first).moves
    (4, 0)
    """
    from topoloom.synth.wiring import Layout, PatchPlan, uniform
    from topoloom.synth.wiring import plan_moves as plan

    topology = topology_of(source)
    if isinstance(present, PatchPlan):
        present = present.final
    if plant is not None:
        return plan(topology, plant, present)
    if panels not in list(Layout):
        raise ValueError(f"panels: must be one of {', '.join(Layout)}; not {panels!r}")
    cabled = uniform(
        panels,
        topology.node_count if hosts is None else whole(hosts, "hosts"),
        max(1, topology.degree) if ports is None else whole(ports, "ports"),
    )
    return plan(topology, cabled, present)


def plot(
    what: "Frontier | Schedule",
    out: str | Path,
    source: "Source | None" = None,
    *,
    root: "NodeId | None" = None,
) -> Path:
    """Draw a frontier, or a schedule on its topology, to a ``.png`` or ``.svg`` file.

    The plot of a schedule shows the load of every link, or with ``root`` the heaviest tree of this
    rank.  Needs matplotlib: ``pip install 'topoloom[plots]'``.  Returns the path.

    Raises:
        MissingExtra: matplotlib is not installed.
        ValueError: The suffix is another, or a schedule is given without its topology.

    >>> from tempfile import mkdtemp
    >>> plot(frontier(12, 4), f"{mkdtemp()}/frontier.svg").name  # doctest: +SKIP
    'frontier.svg'
    """
    from topoloom.app.plots import in_memory
    from topoloom.schedules.model.schedule import Schedule
    from topoloom.synth.search.frontier import Frontier

    require_type(out, "out", "a path", str, Path)
    require_type(what, "what", "a frontier or a schedule", Frontier, Schedule)
    path = Path(out)
    if isinstance(what, Frontier):
        in_memory.draw_frontier(what, path)
    elif source is None:
        raise ValueError("source: must be given to draw a schedule, which is on a topology")
    else:
        in_memory.draw_schedule(what, topology_of(source), path, root)
    return path
