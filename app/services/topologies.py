"""Topologies: a stored topology/1 document from a recipe, a fabric or a document."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from topoloom.app.documents.base import Subject
from topoloom.app.documents.topology import TOPOLOGY, Registered, assumed_of, digest_of
from topoloom.app.requests.options.topology_source import changeable
from topoloom.app.requests.topology_source import (
    TEXT_ONLY,
    GraphSource,
    TopologyChanges,
    TopologySource,
)
from topoloom.app.services.context import Context
from topoloom.app.store.artifacts import Answer, Artefact, Asked
from topoloom.app.store.errors import Ambiguous, Gone, NotStored
from topoloom.schedules.errors import ScheduleError
from topoloom.synth.errors import SynthError, Unreachable
from topoloom.synth.recipes.recipe import Recipe
from topoloom.synth.topology.assumptions import Assumption, assumed_members
from topoloom.synth.topology.hops import speed_assumptions
from topoloom.synth.topology.latencies import latencies_digest
from topoloom.synth.topology.rates import rate_assumptions
from topoloom.synth.topology.topology import Topology

if TYPE_CHECKING:
    from topoloom.app.requests.schedules import ForestRequest
    from topoloom.schedules.options import Options

HELD_LINKS = 1 << 20
"""Most links, in total, of the topologies that one answer holds in memory."""

MAX_ALIKE = 100
"""Most stored topologies of one name that are read: a graph may be stored several times."""


class StoredTopology:
    """A stored topology and its id; the topology is decoded on first use."""

    def __init__(self, answer: Answer[Registered]) -> None:
        self._answer = answer

    @property
    def id(self) -> str:
        """The id of the stored topology."""
        return self._answer.id

    @property
    def topology(self) -> Topology:
        """The decoded topology."""
        return self._answer.value.topology

    @property
    def node_count(self) -> int:
        """The number of nodes, including switches."""
        return self._answer.artefact.summary.get("nodes", 0)

    @property
    def healthy(self) -> str | None:
        """The id of the topology before the loss or slowdown of parts."""
        return self._answer.artefact.summary.get("healthy")


class RecipeTopologies:
    """The stored topologies of recipes.

    Topologies of up to `HELD_LINKS` links in all stay in memory, so that no answer reads a
    topology twice.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._held: dict[Recipe, StoredTopology] = {}
        self._links = 0

    def load(self, recipe: Recipe) -> StoredTopology:
        """Return the stored topology of a recipe."""
        held = self._held.get(recipe)
        if held is not None:
            return held
        loaded = StoredTopology(_built(self._context, recipe))
        self._links += loaded.topology.link_count
        if self._links <= HELD_LINKS:
            self._held[recipe] = loaded
        return loaded


def create(context: Context, source: GraphSource) -> Artefact:
    """Return the stored topology/1 document of a source; build it if it is missing."""
    return _answer(context, source).artefact


def _answer(context: Context, source: GraphSource) -> Answer[Registered]:
    named = _named(context, source)
    found = named if source.changes is None else _changed(context, named, source.changes)
    context.note(*map(changeable, assumed_of(found.artefact)))
    return found


def _named(context: Context, source: GraphSource) -> Answer[Registered]:
    if "id" in source.model_fields_set:
        return context.stored(TOPOLOGY, source.id)
    if "name" in source.model_fields_set:
        return _from_name(context, source.name)
    if "recipe" in source.model_fields_set:
        return _from_recipe(context, source)
    if "fabric" in source.model_fields_set:
        return _from_fabric(context, source.fabric)
    if "text" in source.model_fields_set:
        return _from_text(context, source)
    return _from_document(context, source.document)


def load(context: Context, source: GraphSource, *, field: str = "") -> StoredTopology:
    """Return the stored topology of a source.

    ``field`` is the JSON pointer of the source in the request; errors name it.
    """
    try:
        answer = _answer(context, source)
    except (SynthError, ScheduleError) as error:
        raise type(error)(field + error.field, error.rule) from None
    return StoredTopology(answer)


def note_speeds(
    context: Context,
    topology: Topology,
    alpha_us: Decimal | None,
    *rates: Decimal | None,
    timed: bool = True,
) -> None:
    """Tell the user which rate counts where no option states it; of a time also the latencies."""
    known = any(rate is not None for rate in rates)
    if timed:
        stated = None if alpha_us is None else Fraction(alpha_us)
        found = speed_assumptions(topology, stated, rate_stated=known)
    else:
        found = rate_assumptions(topology, stated=known)
    context.note(*map(changeable, found))


def load_graphs(
    context: Context, given: Mapping[str, GraphSource] | None
) -> dict[str, StoredTopology]:
    """Return the stored topologies of named graphs; errors point into ``/graphs``."""
    return {
        name: load(context, graph, field=f"/graphs/{_escaped(name)}")
        for name, graph in (given or {}).items()
    }


def with_graph_ids(asked: Asked, graphs: Mapping[str, StoredTopology]) -> Asked:
    """Return a request with the ids of its named graphs in place of the graphs."""
    if not graphs:
        return asked
    return {**asked, "graphs": {name: {"id": one.id} for name, one in graphs.items()}}


def asked_options(request: "ForestRequest", loaded: StoredTopology) -> "Options":
    """Return the options that a request gives to an algorithm on a topology."""
    return request.options(loaded.topology.nodes if request.names_nodes else ())


def load_subject(context: Context, subject: Subject) -> StoredTopology:
    """Return the stored topology of an answer; raise `Gone` if it was deleted."""
    try:
        return load(context, TopologySource(id=subject.id))
    except NotStored:
        raise Gone(subject.id, subject.name) from None


def _store(
    context: Context,
    asked: Asked,
    made: Callable[[], Topology],
    healthy: str | None = None,
) -> Answer[Registered]:
    """Return the stored document of the topology of a request."""
    return context.answer(TOPOLOGY, asked, lambda: Registered(made(), healthy))


def source_of_name(context: Context, word: str) -> TopologySource:
    """Return the source of a name: a fabric, else a stored topology.

    The name of a fabric always means the fabric, also if a stored topology has this name.
    """
    found = context.store.named(word, 1)
    if found and found[0].request != {"fabric": word}:
        from topoloom.synth.fabrics import is_fabric

        if not is_fabric(word):
            return TopologySource(name=word)
    return TopologySource(fabric=word)


def _from_name(context: Context, name: str) -> Answer[Registered]:
    """Return the stored topology of a name; the newest if one graph is stored several times."""
    found = context.store.named(name, MAX_ALIKE)
    graphs = {digest_of(entry): entry.id for entry in reversed(found)}
    if len(graphs) > 1:
        candidates = [(identity, name) for identity in graphs.values()]
        raise Ambiguous("topology", name, candidates, "name")
    if not found:
        raise NotStored("topology", name, "name")
    return context.stored(TOPOLOGY, found[0].id)


def _from_recipe(context: Context, source: GraphSource) -> Answer[Registered]:
    from topoloom.synth.boxes.expression import is_boxes
    from topoloom.synth.recipes.recipe import parse

    given = source.graphs if isinstance(source, TopologySource) else None
    graphs = {name: one.topology for name, one in load_graphs(context, given).items()}
    try:
        if is_boxes(source.recipe):
            return _from_boxes(context, source.recipe, graphs)
        recipe = parse(source.recipe, graphs)
        assumed = [one for graph in graphs.values() for one in graph.assumed]
        return _built(context, recipe, assumed)
    except SynthError as error:
        # The parameter name of the construction is not a field of the request.
        name = error.field.strip("/")
        rule = error.rule if name in ("", "recipe") else f"{name} {error.rule}"
        raise type(error)("/recipe", rule) from None


def _built(
    context: Context, recipe: Recipe, assumed: Sequence[Assumption] = ()
) -> Answer[Registered]:
    """Return the stored topology of a recipe; ``assumed`` are assumptions about its graphs."""
    from topoloom.synth.recipes.build import build, size

    nodes, degree = size(recipe)
    _require_size(context, "/recipe", nodes, nodes * degree)
    asked = {"recipe": str(recipe), **assumed_members(assumed)}
    return _store(context, asked, lambda: build(recipe).with_assumed(assumed))


def _from_boxes(context: Context, text: str, graphs: Mapping[str, Topology]) -> Answer[Registered]:
    """Return the stored topology of boxes; with named graphs, under its content."""
    from topoloom.synth.boxes.expression import parse_boxes, topology_of_boxes

    if graphs:
        return _register(context, "/recipe", topology_of_boxes(text, graphs))
    canonical = str(parse_boxes(text))

    def made() -> Topology:
        topology = topology_of_boxes(canonical)
        _require_size(context, "/recipe", topology.node_count, topology.link_count)
        return topology

    return _store(context, {"recipe": canonical}, made)


def _escaped(name: str) -> str:
    """Return a name as an escaped token of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def _from_fabric(context: Context, name: str) -> Answer[Registered]:
    from topoloom.synth.fabrics import fabric

    def made() -> Topology:
        try:
            topology = fabric(name)
        except SynthError as error:
            raise type(error)("/fabric", error.rule) from None
        _require_size(context, "/fabric", topology.node_count, topology.link_count)
        return topology

    return _store(context, {"fabric": name}, made)


def _from_document(context: Context, document: Any) -> Answer[Registered]:
    from topoloom.synth.recipes.topology_document import topology_from_document

    try:
        topology = topology_from_document(document)
        topology.require_connected()
    except SynthError as error:
        raise type(error)("/document" + error.field, error.rule) from None
    return _register(context, "/document", topology)


def _from_text(context: Context, source: GraphSource) -> Answer[Registered]:
    from topoloom.synth.formats import read

    try:
        topology = read(source.text, source.format, **source.reading())
        _require_connected(topology)
    except SynthError as error:
        place = "" if error.field.removeprefix("/") in TEXT_ONLY else "/text"
        raise type(error)(place + error.field, error.rule) from None
    return _register(context, "/text", topology)


def _require_connected(topology: Topology) -> None:
    """Raise unless all compute nodes reach each other; add a hint on an assumed direction."""
    try:
        topology.require_connected()
    except Unreachable as error:
        if any(assumption.option == "directed" for assumption in topology.assumed):
            hint = 'the file states no direction: --undirected, or "directed": false, reads both'
            raise Unreachable(error.field, f"{error.rule}; {hint} ways") from None
        raise


def _register(context: Context, field: str, topology: Topology) -> Answer[Registered]:
    """Return the stored topology of a file or a document, keyed by its content."""
    _require_size(context, field, topology.node_count, topology.link_count)
    labels = topology.labels()
    del labels["bandwidth_unit"]
    asked = {"document": topology.digest, **labels, **assumed_members(topology.assumed)}
    if topology.latencies:
        asked["latencies"] = latencies_digest(topology.latencies)
    return _store(context, asked, lambda: topology)


def _changed(
    context: Context, healthy: Answer[Registered], changes: TopologyChanges
) -> Answer[Registered]:
    """Return the stored topology without its lost parts and with its slow links."""
    from topoloom.synth.topology.degrade import degraded, resolve

    before = healthy.value.topology
    try:
        found = resolve(before, **changes.given())
        after = degraded(before, **found._asdict())
        after.require_connected()
    except SynthError as error:
        raise type(error)("/changes" + error.field, error.rule) from None
    slow = [[one, other, str(factor)] for one, other, factor in found.slow_links]
    asked = {**found._asdict(), "slow_links": slow}
    key = {"topology_id": healthy.id, "changes": asked}
    return _store(context, key, lambda: after, healthy=healthy.id)


def _require_size(context: Context, field: str, nodes: int, links: int) -> None:
    context.require_at_most(field, nodes, context.settings.max_nodes, "nodes")
    context.require_at_most(field, links, context.settings.max_links, "links")
