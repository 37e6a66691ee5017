"""Commands that answer about topologies: designs, frontiers, costs, wiring."""

from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.answers import listed, opened, show, source_of, tasks_of, write
from app.cli.options import (
    Alike,
    AnyCollective,
    AsJson,
    Collective,
    Degree,
    Families,
    LinkKind,
    MaxGap,
    MaxSteps,
    Nodes,
    Out,
    Parallel,
    Participants,
    Reading,
    Root,
    Shards,
    Source,
    given,
    reads_topology,
)

__all__ = ["app"]

app = typer.Typer()


@app.command()
def design(
    nodes: Nodes,
    degree: Degree,
    collective: Collective = None,
    size: Annotated[
        str | None, typer.Option("--bytes", help="size of the data, such as 1MiB")
    ] = None,
    workload: Annotated[
        Path | None, typer.Option(help="instead: JSON list of collective, bytes and count")
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help="instead: a workload that `topoloom presets` lists")
    ] = None,
    links: LinkKind = "unidirectional",
    node_gbps: Annotated[str, typer.Option(help="bandwidth of one host, Gbit/s")] = "100",
    alpha_us: Annotated[str, typer.Option(help="latency of one hop, microseconds")] = "10",
    parallel_links: Parallel = False,
    vertex_transitive: Alike = False,
    family: Families = None,
    max_steps: MaxSteps = None,
    as_json: AsJson = False,
) -> None:
    """Find the best topology for a workload, with a verified schedule."""
    from app.schemas import DesignRequest
    from app.services import designs

    with opened() as context:
        run = {"collective": collective, "bytes": size, "preset": preset}
        run["workload"] = tasks_of(workload, context)
        request = DesignRequest.model_validate(
            {
                "nodes": nodes,
                "degree": degree,
                "links": links,
                "node_gbps": node_gbps,
                "alpha_us": alpha_us,
                "parallel_links": parallel_links,
                "vertex_transitive": vertex_transitive,
                **{name: value for name, value in run.items() if value is not None},
                **given(families=family, max_steps=max_steps),
            }
        )
        show(designs.create(context, request), as_json)


@app.command()
def frontier(
    nodes: Nodes,
    degree: Degree,
    links: LinkKind = "unidirectional",
    parallel_links: Parallel = False,
    vertex_transitive: Alike = False,
    family: Families = None,
    max_steps: MaxSteps = None,
    all_to_all: Annotated[
        bool, typer.Option("--all-to-all", help="measure all-to-all on every point, too")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find the Pareto frontier of latency and bandwidth."""
    from app.schemas import FrontierRequest
    from app.services import frontiers

    request = FrontierRequest.model_validate(
        {
            "nodes": nodes,
            "degree": degree,
            "links": links,
            "parallel_links": parallel_links,
            "vertex_transitive": vertex_transitive,
            **given(families=family, max_steps=max_steps, all_to_all=all_to_all or None),
        }
    )
    with opened() as context:
        show(frontiers.frontier(context, request), as_json)


@app.command()
@reads_topology
def topology(
    reading: Reading,
    source: Source,
    out: Out = None,
    form: Annotated[str, typer.Option("--format", help="json, graphml, dot or edgelist")] = "json",
) -> None:
    """Build a topology, or read one in any format, and write it."""
    from app.services import topologies

    topologies.require_available(form)
    with opened() as context:
        artefact = topologies.create(context, source_of(source, reading, context))
        write(topologies.export(artefact, form), out, artefact.summary["name"] or source)


@app.command()
@reads_topology
def measure(reading: Reading, source: Source, as_json: AsJson = False) -> None:
    """Measure the exact cost of a topology, and of its transpose."""
    from app.services import costs

    with opened() as context:
        show(costs.measure(context, source_of(source, reading, context)), as_json)


@app.command()
@reads_topology
def optimum(
    reading: Reading,
    source: Source,
    collective: AnyCollective = "allgather",
    root: Root = None,
    shards: Shards = None,
    participants: Participants = None,
    trees_per_root: Annotated[
        int | None, typer.Option(help="best rate of so many trees; left out, of any number")
    ] = None,
    max_gap: MaxGap = None,
    as_json: AsJson = False,
) -> None:
    """Find the best any collective could do, with the cut that proves it."""
    from app.schemas import OptimumRequest
    from app.services import costs

    with opened() as context:
        asked = given(
            collective=collective,
            trees_per_root=trees_per_root,
            max_gap=max_gap,
            root=root,
            shards=listed(shards, context),
            participants=listed(participants, context),
        )
        request = OptimumRequest.model_validate(asked)
        show(costs.optimum(context, source_of(source, reading, context), request), as_json)


@app.command()
@reads_topology
def patch(
    reading: Reading,
    source: Source,
    panels: Annotated[str, typer.Option(help="per-port or single")] = "per-port",
    present: Annotated[
        Path | None,
        typer.Option(help="today's wiring: JSON pairs, CSV, or an earlier patch-plan/1"),
    ] = None,
    hosts: Annotated[int | None, typer.Option(help="hosts cabled to the panels")] = None,
    lanes: Annotated[int | None, typer.Option(help="ports cabled of each host")] = None,
    form: Annotated[str, typer.Option("--format", help="json or csv")] = "json",
    out: Out = None,
) -> None:
    """Plan which port to plug where, with few moves from today's wiring."""
    from app.files import read_present_file
    from app.schemas import PatchPlanRequest
    from app.services import patch_plans

    patch_plans.require_available(form)
    with opened() as context:
        asked: dict[str, Any] = {"topology": source_of(source, reading, context), "panels": panels}
        asked |= given(hosts=hosts, lanes=lanes)
        if present is not None:
            asked["present"] = read_present_file(present, context.settings)
        artefact = patch_plans.create(context, PatchPlanRequest.model_validate(asked))
        write(patch_plans.export(artefact, form), out, "patch plan")
