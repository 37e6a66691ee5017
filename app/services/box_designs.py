"""Designs of boxes: the best topology between boxes of accelerators."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from topoloom.app.documents.box_design import BOX_DESIGN, BoxDesignAnswer
from topoloom.app.requests.box_designs import BoxDesignRequest
from topoloom.app.requests.topology_source import TopologySource
from topoloom.app.services import topologies
from topoloom.app.services.context import Context
from topoloom.app.store.artifacts import Artefact
from topoloom.synth.topology.topology import Topology


def create(context: Context, request: BoxDesignRequest) -> Artefact:
    """Return the stored box-design/1 document of a request; store the best topology.

    Raises:
        InvalidRecipe, OutOfDomain: The box is unknown, or misses a fact.
        ImpossibleRequest: No topology of these boxes exists or is known.
        TooLarge: The accelerators exceed the limit of forests here.
    """
    stored = topologies.load_graphs(context, request.graphs)
    asked = topologies.with_graph_ids(request.canonical(), stored)

    def compute() -> BoxDesignAnswer:
        return _designed(context, request, {name: one.topology for name, one in stored.items()})

    return context.answer(BOX_DESIGN, asked, compute).artefact


def _designed(
    context: Context, request: BoxDesignRequest, graphs: Mapping[str, Topology]
) -> BoxDesignAnswer:
    from topoloom.app.services.design_inputs import CachedSources
    from topoloom.schedules.design.box_designs import MAX_SCHEDULED, box_design

    settings = context.settings
    with context.watch():
        found = box_design(
            request.hosts(graphs),
            request.task,
            Fraction(request.alpha_us) / 10**6,
            frontier=CachedSources(context).frontier,
            max_scheduled=min(MAX_SCHEDULED, settings.max_forest_nodes),
            max_nodes=settings.max_optimum_nodes,
        )
    # The text of a large recipe may exceed the length that requests allow.
    source = TopologySource.model_construct(
        {"recipe", "graphs"}, recipe=found.best.text, graphs=request.graphs
    )
    best = topologies.load(replace(context, notes=[]), source)
    return BoxDesignAnswer(request, found, best.id)
