"""Training iterations: the best topology and placement of a job."""

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

from topoloom.app.documents.iteration import ITERATION, IterationAnswer
from topoloom.app.requests.iterations import IterationRequest
from topoloom.app.services import topologies
from topoloom.app.services.context import Context
from topoloom.app.services.topologies import StoredTopology
from topoloom.app.store.artifacts import Artefact

if TYPE_CHECKING:
    from topoloom.schedules.iterations.iteration_design import IterationDesign


def create(context: Context, request: IterationRequest) -> Artefact:
    """Return the stored iteration/1 document of a request; errors as `design`."""
    stored = topologies.load_graphs(context, request.graphs)
    asked = topologies.with_graph_ids(request.canonical(), stored)

    def compute() -> IterationAnswer:
        return IterationAnswer(request, _designed(context, request, stored))

    return context.answer(ITERATION, asked, compute).artefact


def design(context: Context, request: IterationRequest) -> "IterationDesign":
    """Return the design of an iteration, with its operations.

    Raises:
        UnknownPreset, NoSchedule: The job breaks a rule.
        TooLarge: The job has too many passes through layers.
        InvalidRecipe, ImpossibleRequest: The topology is no recipe of these hosts, or none exists.
    """
    return _designed(context, request, topologies.load_graphs(context, request.graphs))


def _designed(
    context: Context, request: IterationRequest, graphs: Mapping[str, StoredTopology]
) -> "IterationDesign":
    from topoloom.schedules.formats.model_file import read_model
    from topoloom.schedules.iterations.iteration_design import iteration_design
    from topoloom.schedules.iterations.job_request import HostRates, planned_job
    from topoloom.schedules.iterations.presets import job_preset
    from topoloom.synth.evaluation.cost import Links

    def exact(name: str) -> Fraction | None:
        value = getattr(request, name)
        return None if value is None else Fraction(value)

    alpha_us = exact("alpha_us")
    rates = HostRates(
        None if alpha_us is None else alpha_us / 10**6,
        Fraction(request.efficiency),
        request.accelerator,
        request.accelerators_per_host,
        exact("inside_gbps"),
        exact("node_gbps"),
    )
    with context.watch():
        planned = planned_job(
            request.nodes,
            rates,
            None if request.preset is None else job_preset(request.preset),
            lambda ranks, sizes: read_model(request.model, ranks, sizes, "/model"),
            parallel=request.parallel,
            microbatches=request.microbatches,
        )
        return iteration_design(
            planned.job,
            request.degree,
            planned.speeds,
            planned.flops_per_second,
            links=Links(request.links),
            topology=request.topology,
            graphs={name: one.topology for name, one in graphs.items()},
        )
