"""Computing stored answers anew whose rows are damaged, from the questions beside them."""

import json
from collections.abc import Callable, Mapping
from types import MappingProxyType

from topoloom.app.config import KERNEL_VERSION
from topoloom.app.documents.frontier import FRONTIER
from topoloom.app.requests import from_cache_keys as again
from topoloom.app.requests.evaluations import LoadPlotRequest, SurveyPlotRequest, TreePlotRequest
from topoloom.app.requests.from_cache_keys import Asked
from topoloom.app.requests.message_sizes import SizesRequest
from topoloom.app.services import (
    comparisons,
    costs,
    designs,
    exports,
    frontiers,
    patch_plans,
    plots,
    schedules,
    simulations,
    sweeps,
    topologies,
    verifications,
)
from topoloom.app.services.context import Context
from topoloom.app.store.artifacts import Artefact, key_of
from topoloom.app.store.errors import Damaged

__all__ = ["asked_again"]


def asked_again(context: Context, kind: str, identity: str, question: str) -> Artefact:
    """Return the answer to the question of a damaged row, which is mended.

    Raises
    ------
    Damaged
        The question is not that of the id, is one of earlier kernels, or is a topology that
        came as it is, of which only the digest is kept.
    """
    # Of another question nothing is computed, least of all stored.
    if key_of(KERNEL_VERSION, kind, question) != identity:
        raise Damaged(kind, identity)
    found = _ASK[kind](context, json.loads(question))
    if found is None or found.id != identity:
        raise Damaged(kind, identity)
    return found


def _topology(context: Context, asked: Asked) -> Artefact | None:
    source = again.topology_again(asked)
    return None if source is None else topologies.create(context, source)


def _optimum(context: Context, asked: Asked) -> Artefact:
    return costs.optimum(context, again.subject_again(asked), again.optimum_again(asked))


def _verification(context: Context, asked: Asked) -> Artefact | None:
    request = again.verification_again(asked)
    return None if request is None else verifications.create(context, request)


def _simulation(context: Context, asked: Asked) -> Artefact | None:
    request = again.simulation_again(asked)
    return None if request is None else simulations.create(context, request)


def _plot(context: Context, asked: Asked) -> Artefact | None:
    frontier = again.plotted_frontier(asked)
    if frontier is None:
        request = again.plot_again(asked)
    else:
        stored = context.stored(FRONTIER, frontier).value.request
        request = again.frontier_plot_again(asked, stored)
    match request:
        case SizesRequest():
            return plots.draw_sizes(context, request)
        case SurveyPlotRequest():
            return plots.draw_survey(context, request)
        case TreePlotRequest():
            return plots.draw_tree(context, request)
        case LoadPlotRequest():
            return plots.draw_load(context, request)
        case _:
            return plots.draw_frontier(context, request)


_ASK: Mapping[str, Callable[[Context, Asked], Artefact | None]] = MappingProxyType(
    {
        "design": lambda context, asked: designs.create(context, again.design_again(asked)),
        "frontier": lambda context, asked: frontiers.frontier(context, again.frontier_again(asked)),
        "topology": _topology,
        "cost": lambda context, asked: costs.measure(context, again.subject_again(asked)),
        "optimum": _optimum,
        "schedule": lambda context, asked: schedules.create(context, again.schedule_again(asked)),
        "patch-plan": lambda context, asked: patch_plans.create(
            context, again.patch_plan_again(asked)
        ),
        "export": lambda context, asked: exports.export(context, again.export_again(asked)),
        "verification": _verification,
        "simulation": _simulation,
        "comparison": lambda context, asked: comparisons.create(
            context, again.comparison_again(asked)
        ),
        "plot": _plot,
        "sweep": lambda context, asked: sweeps.create(context, again.sweep_again(asked)),
    }
)
