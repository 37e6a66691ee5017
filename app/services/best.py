"""The best known topology, from the atlas and the stored documents, without a search."""

from collections.abc import Iterator
from dataclasses import replace

from topoloom.app.documents.best import BestAnswer
from topoloom.app.requests.listing import BestRequest
from topoloom.app.requests.topology_source import TopologySource
from topoloom.app.services import designs, frontiers, topologies
from topoloom.app.services.context import CacheMiss, Context
from topoloom.app.store.errors import Damaged, NotStored
from topoloom.app.store.known_costs import Stored, documents_of, stored_points
from topoloom.schedules.design.known_topologies import KnownTopology, best_topologies, require_timed
from topoloom.synth.evaluation.cost import Links

ATLAS = ("atlas", "")
"""Source of a topology from the packaged atlas."""

MAX_READ = 100
"""Most topologies that are read to detect parallel links, if no document states them."""


def find(context: Context, request: BestRequest) -> BestAnswer:
    """Return the best known topologies for some hosts.

    The candidates come from the atlas and from stored designs, frontiers and costs.  With
    ``search``, the design of these hosts is computed and stored first; without a workload, their
    frontier.

    Raises:
        ScheduleError: The workload contains an all-to-all.
    """
    speed = workload = None
    if request.timed:
        asked = request.design()
        speed, workload = asked.speed, asked.merged_workload
        require_timed(workload)
    searched = _searched(context, request) if request.search else None
    links = Links(request.links)
    unread = MAX_READ
    known = _known(context, request)
    while True:
        rated = best_topologies([one.known for one in known.values()], links, speed, workload)
        rated = rated[: request.limit]
        asking = [one for one in rated if not known[_key(one.known)].simple]
        if not asking or unread <= 0:
            break
        for one in asking:
            _read(context, known, one.known)
            unread -= 1
    told = [one for one in rated if known[_key(one.known)].simple]
    ids = [one.known.topology_id for one in told if one.known.topology_id is not None]
    store = context.whole_store
    documents = documents_of(store.keeping.engine, ids, store.owner)
    named = [
        replace(one, known=_named(one.known, documents.get(_cost_of(one.known), ())))
        for one in told
    ]
    return BestAnswer(request, named, searched)


def _searched(context: Context, request: BestRequest) -> tuple[str, str]:
    """Compute the design or the frontier of a request; return its kind and id."""
    if request.timed:
        return "design", designs.create(context, request.design()).id
    return "frontier", frontiers.frontier(context, request.frontier()).id


_Key = tuple[str | None, str | None, int | None]


def _key(one: KnownTopology) -> _Key:
    # The recipe identifies a topology; without a recipe, the id does.  A topology has one cost by
    # breadth-first broadcast, and one per step limit of a slack schedule.
    if one.recipe is not None:
        return one.recipe, None, one.within
    return None, one.topology_id, one.within


def _cost_of(one: KnownTopology) -> tuple[str, int | None]:
    return one.topology_id or "", one.within


def _known(context: Context, request: BestRequest) -> dict[_Key, Stored]:
    """Return the known topologies within the limits, of the atlas and the store, each once."""
    found = {_key(one): Stored(one, True) for one in _of_atlas(request)}
    two_way = request.links == Links.BIDIRECTIONAL
    store = context.whole_store
    stored = stored_points(
        store.keeping.engine,
        request.sizes,
        request.degree,
        owner=store.owner,
        two_way=two_way,
        max_steps=request.max_steps,
        max_bandwidth=request.max_bandwidth,
    )
    for one in stored:
        key = _key(one.known)
        before = found.get(key)
        if before is None:
            found[key] = one
        else:
            # Costs are exact: both are equal.
            both = replace(one.known, sources=before.known.sources)
            found[key] = Stored(both, before.simple or one.simple)
    return found


def _of_atlas(request: BestRequest) -> Iterator[KnownTopology]:
    from topoloom.synth.atlas.bundled import bundled_of

    least, most = request.sizes
    degree = request.degree
    for nodes in range(least, most + 1):
        atlas = bundled_of(nodes, degree)
        by_broadcast = atlas.of_size(nodes, degree)
        for entry in (*by_broadcast, *atlas.of_size(nodes, degree, by_slack=True)):
            costs, within = (entry.cost, entry.transpose), entry.within
            one = KnownTopology(nodes, degree, *costs, entry.recipe, "", None, (ATLAS,), within)
            worse = one.worse()
            if request.links == Links.BIDIRECTIONAL and entry.links is not Links.BIDIRECTIONAL:
                continue
            if request.max_steps is not None and worse.steps > request.max_steps:
                continue
            if request.max_bandwidth is not None and worse.bandwidth > request.max_bandwidth:
                continue
            yield one


def _read(context: Context, known: dict[_Key, Stored], one: KnownTopology) -> None:
    """Read a topology known only from a cost; drop it if it is missing or not simple."""
    key = _key(one)
    assert one.topology_id is not None
    try:
        topology = topologies.load(context, TopologySource(id=one.topology_id)).topology
    except (NotStored, Damaged, CacheMiss):
        del known[key]
        return
    pairs = {(link.source, link.target) for link in topology.links}
    if len(pairs) < topology.link_count:
        del known[key]
        return
    text = None if topology.recipe is None else str(topology.recipe)
    found = Stored(replace(one, recipe=text), True)
    del known[key]
    known.setdefault(_key(found.known), found)


def _named(one: KnownTopology, documents: tuple[tuple[str, str], ...]) -> KnownTopology:
    """Return a topology with its short name and its sources."""
    from topoloom.synth.naming.short_names import short_name
    from topoloom.synth.recipes.recipe import parse

    name = one.name
    if not name and one.recipe is not None:
        name = short_name(parse(one.recipe), one.nodes, one.degree)
    return replace(one, name=name, sources=one.sources + documents)
