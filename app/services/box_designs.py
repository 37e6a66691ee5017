"""Designs of boxes: the best topology between boxes of accelerators."""

from dataclasses import replace
from fractions import Fraction

from topoloom.app.documents import box_design as documents
from topoloom.app.documents.base import Presented
from topoloom.app.requests.box_designs import BoxDesignRequest
from topoloom.app.requests.topology_source import TopologySource
from topoloom.app.services import topologies
from topoloom.app.services.context import Context


def create(context: Context, request: BoxDesignRequest) -> Presented:
    """Return the box-design/1 document of a request; store the best topology.

    Raises
    ------
    InvalidRecipe, OutOfDomain
        The box is unknown, or misses a fact.
    ImpossibleRequest
        No topology of these boxes exists or is known.
    TooLarge
        The accelerators exceed the limit of forests here.
    """
    from topoloom.app.services.design_inputs import CachedSources
    from topoloom.schedules.design.box_designs import MAX_SCHEDULED, box_design

    settings = context.settings
    graphs = topologies.load_graphs(context, request.graphs)
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
    context.note(*documents.notes_of(request, found))
    return documents.of(request, found, best.id)
