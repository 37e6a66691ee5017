"""Values and answers: a value is handed on as it is, and read back equal to what was kept."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.schedule_documents import to_document
from topoloom.app.documents.all_to_all import ALL_TO_ALL
from topoloom.app.documents.cost import COST
from topoloom.app.documents.frontier import FRONTIER, frontier_key
from topoloom.app.documents.optimum import OPTIMUM
from topoloom.app.documents.schedule import SCHEDULE
from topoloom.app.documents.topology import TOPOLOGY
from topoloom.app.requests.designs import DesignRequest, FrontierRequest
from topoloom.app.requests.schedules import OptimumRequest, ScheduleRequest
from topoloom.app.requests.topology_source import TopologySource
from topoloom.app.services import all_to_all, costs, designs, frontiers, schedules, topologies
from topoloom.app.store.artifacts import Answer, Artefact, Computed, Kind
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.options import Options

RECIPES = ["GeneralizedKautz(3, 11)", "BiRing(6)", "UniRing(4)"]
WORKLOAD = [
    {"collective": "allreduce", "bytes": 1000, "count": 50},
    {"collective": "allreduce", "bytes": "100MB"},
    {"collective": "reduce-scatter", "bytes": "10MB"},
    {"collective": "all-to-all", "bytes": "4MB"},
]


@pytest.mark.parametrize(
    "asked",
    [
        {"collective": "allreduce", "bytes": "1MB"},
        {"collective": "all-to-all", "bytes": "1MB"},
        {"workload": WORKLOAD},
        {"preset": "mixtral-8x7b-ep"},
        # No point of these reaches the optimal bandwidth: forests are packed.
        {"workload": WORKLOAD, "families": ["GeneralizedKautz"]},
    ],
    ids=json.dumps,
)
def test_no_step_of_a_design_reads_what_another_has_written(context, monkeypatch, asked):
    def refused(self, *_):
        raise AssertionError("a value was read back from its document")

    with monkeypatch.context() as patched:
        for name in ("document", "text"):
            patched.setattr(Artefact, name, refused)
        patched.setattr("topoloom.schedules.formats.schedule.binary.unpack", refused)
        patched.setattr("topoloom.synth.recipes.topology_document.topology_from_document", refused)
        request = DesignRequest.model_validate({"nodes": 14, "degree": 3} | asked)
        made = designs.create(context, request)
    assert made.document()["id"] == made.id


def kinds():
    """Return every readable kind, with what asks for an answer of it."""

    def loaded(context, recipe):
        return topologies.load(context, TopologySource(recipe=recipe))

    def optimum(context, recipe):
        request = OptimumRequest(collective="allreduce")
        return costs._optimal(context, TopologySource(recipe=recipe), request, "")

    def schedule(context, recipe):
        options = Options(max_chunks=2)
        return schedules.made(
            context, loaded(context, recipe), Collective.ALLREDUCE, "bfb", options
        )

    def frontier(context, recipe):
        topology = loaded(context, recipe).topology
        request = FrontierRequest(nodes=topology.node_count, degree=topology.degree)
        return frontiers.answer(context, request.hosts, topologies.RecipeTopologies(context))

    return {
        TOPOLOGY: lambda c, recipe: topologies._answer(c, TopologySource(recipe=recipe)),
        COST: lambda c, recipe: costs._measured(c, TopologySource(recipe=recipe), ""),
        OPTIMUM: optimum,
        ALL_TO_ALL: lambda c, recipe: all_to_all.exchange_on(c, loaded(c, recipe)),
        SCHEDULE: schedule,
        FRONTIER: frontier,
    }


def comparable(value):
    """Return what of a value must be the same when it is read back."""
    if hasattr(value, "load"):
        kept = value.subject, value.algorithm, value.facts, value.losses
        return kept, to_document(value.load())
    if hasattr(value, "rate"):
        return value.rate, value.subject
    return value


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.name)
def test_a_stored_value_is_read_back_as_it_was(context, kind, recipe):
    ask = kinds()[kind]
    fresh, again = ask(context, recipe), ask(context, recipe)
    assert (fresh.id, again.artefact.fresh) == (again.id, False)
    assert comparable(again.value) == comparable(fresh.value)


@pytest.mark.parametrize("recipe", ["GeneralizedKautz(3, 11)", "dgx-a100-2"])
@pytest.mark.parametrize("algorithm", ["bfb", "forestcoll", "mcf"])
def test_what_a_schedule_costs_is_read_back_as_it_was(context, recipe, algorithm):
    if recipe == "dgx-a100-2":
        if algorithm == "bfb":
            pytest.skip("hosts behind switches have no BFB")
        source = TopologySource(fabric=recipe)
    else:
        source = TopologySource(recipe=recipe)
    loaded = topologies.load(context, source)
    collective = Collective.ALL_TO_ALL if algorithm == "mcf" else Collective.ALLREDUCE
    fresh, again = (
        schedules.made(context, loaded, collective, algorithm, Options()) for _ in range(2)
    )
    assert again.value.facts == fresh.value.facts


def test_a_value_is_decoded_once_and_only_when_it_is_asked_for():
    calls = []

    def decode(artefact):
        calls.append(artefact)
        return 7

    kind = Kind("cost", lambda value, identity: Computed(b"", "", {}), decode)
    artefact = Artefact("cost", "0" * 64, b"", "", "", {})
    answer = Answer(artefact, kind, [])
    assert not calls
    assert (answer.value, answer.value, len(calls)) == (7, 7, 1)
    assert Answer(artefact, kind, [8]).value == 8 and len(calls) == 1


def test_a_failed_computation_keeps_nothing_and_the_next_one_answers(context):
    asked = {"topology": "0" * 64}
    value = topologies._answer(context, TopologySource(recipe="UniRing(4)")).value

    def fails():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        context.answer(TOPOLOGY, asked, fails)
    answer = context.answer(TOPOLOGY, asked, lambda: value)
    assert answer.artefact.fresh and answer.value is value


REQUESTS = st.fixed_dictionaries(
    {"nodes": st.integers(2, 4096), "degree": st.integers(1, 64)},
    optional={
        "links": st.sampled_from(["unidirectional", "bidirectional"]),
        "parallel_links": st.booleans(),
        "vertex_transitive": st.booleans(),
        "families": st.lists(st.sampled_from(["Torus", "BiRing", "Kautz"]), min_size=1, max_size=8),
        "bases": st.lists(st.sampled_from(["UniRing(4)", "BiRing( 6 )"]), min_size=1, max_size=8),
        "max_steps": st.integers(1, 100),
        "schedule": st.sampled_from(["bfb", "best"]),
        "all_to_all": st.booleans(),
    },
)


@given(REQUESTS)
def test_a_request_and_the_hosts_it_names_are_one_question(asked):
    request = FrontierRequest.model_validate(asked)
    again = frontier_key(request.hosts, all_to_all=bool(request.all_to_all))
    assert list(again.items()) == list(request.canonical().items())


def test_ids_in_a_question_are_those_of_the_topology(context):
    topology = topologies.load(context, TopologySource(recipe="UniRing(4)")).topology
    request = ScheduleRequest(
        topology=TopologySource(recipe="UniRing(4)"),
        collective="allgather",
        participants=["2", "nobody"],
        shards=[{"rank": "1", "size": 3}],
    )
    options = request.options(topology.nodes)
    assert options.participants == (2, "nobody")
    assert options.shards == {1: 3}
