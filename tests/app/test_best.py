"""The best that is known: from the atlas and from what is stored, without a search."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from topoloom.app.config import Settings
from topoloom.app.requests.designs import DesignRequest, FrontierRequest
from topoloom.app.requests.listing import BestRequest
from topoloom.app.services import best as best_known
from topoloom.app.services import designs, frontiers
from topoloom.app.services.context import Context
from topoloom.app.store.database import migrate, open_engine
from topoloom.app.store.document_store import Store
from topoloom.schedules.design.known_topologies import KnownTopology, best_topologies
from topoloom.synth.atlas.bundled import bundled_atlas
from topoloom.synth.evaluation.cost import Cost, Links

HOSTS = {"nodes": 12, "degree": 4}
RUN = {"collective": "allreduce", "bytes": "1MB"}


def asked(client, **query):
    answer = client.get("/v1/best", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def kinds(candidate):
    return {source["kind"] for source in candidate["known_from"]}


COSTS = st.builds(
    Cost, st.integers(2, 5), st.fractions(Fraction(3, 4), Fraction(3, 2), max_denominator=8)
)
KNOWN = st.lists(
    st.builds(
        KnownTopology,
        st.integers(4, 6),
        st.just(2),
        COSTS,
        COSTS,
        st.text("AB", min_size=1),
        st.just(""),
    ),
    max_size=12,
)


@pytest.mark.slow
@given(KNOWN)
def test_nothing_that_is_named_is_dominated_and_all_else_is(known):
    named = [one.known for one in best_topologies(known, Links.UNIDIRECTIONAL)]
    for one in named:
        assert not any(other.dominates(one) for other in named if other is not one)
    for one in known:
        assert any(other.dominates(one) for other in named)


@pytest.mark.slow
@given(KNOWN)
def test_without_a_workload_they_are_in_the_order_of_their_gaps(known):
    gaps = [one.gap for one in best_topologies(known, Links.UNIDIRECTIONAL)]
    assert gaps == sorted(gaps)


def test_the_atlas_is_known_without_any_document(client):
    entry = next(entry for entry in bundled_atlas() if entry.nodes > 20 and entry.degree == 4)
    found = asked(client, nodes=entry.nodes, degree=entry.degree)
    size = entry.nodes, entry.degree
    entries = (*bundled_atlas().of_size(*size), *bundled_atlas().of_size(*size, by_slack=True))
    of_size = {(one.recipe, one.within): one for one in entries}
    assert found["candidates"]
    for candidate in found["candidates"]:
        told = of_size[candidate["recipe"], candidate.get("within_steps")]
        assert candidate["known_from"] == [{"kind": "atlas"}]
        assert (candidate["steps"], Fraction(candidate["bandwidth"])) == (
            told.cost.steps,
            told.cost.bandwidth,
        )
        assert "topology_id" not in candidate


def test_labels_of_the_atlas_are_known_with_the_steps_within_which_they_cost_so_much(client):
    entry = next(entry for entry in bundled_atlas() if entry.within is not None)
    hosts = {"nodes": entry.nodes, "degree": entry.degree, "links": entry.links.value}
    found = asked(client, **hosts, **RUN, limit=100)["candidates"]
    (told,) = (
        one
        for one in found
        if (one["recipe"], one.get("within_steps")) == (entry.recipe, entry.within)
    )
    assert (told["algorithm"], Fraction(told["bandwidth"])) == ("slack", entry.cost.bandwidth)
    asked_for = {"topology": {"recipe": entry.recipe}, "collective": "allgather"}
    made = client.post(
        "/v1/schedules", json=asked_for | {"algorithm": "slack", "steps": told["within_steps"]}
    ).json()
    assert (made["steps"], made["bandwidth"]) == (told["steps"], told["bandwidth"])


def test_one_graph_is_known_by_broadcast_and_by_labels_each_with_its_own_cost(client):
    hosts = {"nodes": 62, "degree": 3}
    frontier = client.post("/v1/frontiers", json=hosts).json()
    points = {
        (one["recipe"], one.get("within_steps")): (one["steps"], one["bandwidth"])
        for one in frontier["frontier"]
    }
    assert {within is None for _, within in points} == {True, False}
    found = asked(client, **hosts, limit=100)["candidates"]
    known = {
        (one["recipe"], one.get("within_steps")): (one["steps"], one["bandwidth"]) for one in found
    }
    assert points.items() <= known.items()
    assert {one["algorithm"] for one in found} == {"bfb", "slack"}
    for one in found:
        assert ("within_steps" in one) == (one["algorithm"] == "slack")


@pytest.mark.slow
def test_points_stored_before_labels_were_told_apart_are_read_again(database_url):
    engine = open_engine(database_url)
    migrate(engine)
    context = Context(Store(engine), Settings(database_url=database_url))
    frontiers.frontier(context, FrontierRequest(nodes=62, degree=3))
    query = text("SELECT recipe, within_steps FROM points ORDER BY position")
    with engine.connect() as connection:
        before = connection.execute(query).all()
    migrate(engine, "0008")
    migrate(engine)
    with engine.connect() as connection:
        assert connection.execute(query).all() == before
    assert {within is None for _, within in before} == {True, False}
    engine.dispose()


def test_what_a_design_found_is_known_ever_after(client):
    assert asked(client, **HOSTS)["candidates"] == []
    design = client.post("/v1/designs", json=HOSTS | RUN).json()
    found = asked(client, **HOSTS)["candidates"]
    assert [one["recipe"] for one in found] == [one["recipe"] for one in design["frontier"]]
    assert kinds(found[0]) == {"design", "frontier"}
    assert {"kind": "design", "id": design["id"]} in found[0]["known_from"]
    timed = asked(client, **HOSTS, **RUN)["candidates"][0]
    assert timed["seconds"] == design["best"]["seconds"]
    assert timed["seconds"] == float(Fraction(timed["exact_seconds"]))
    assert timed["bound_seconds"] == design["bounds"]["seconds"]
    assert timed["gap"] == {"steps": 0, "bandwidth": "0"}
    assert timed["topology_id"] == design["best"]["topology_id"]


def test_it_is_told_alike_on_either_database(engine, ready_url):
    context = Context(Store(engine), Settings(database_url=ready_url))
    request = BestRequest.model_validate(
        HOSTS | RUN | {"max_steps": 2, "max_bandwidth": "11/12", "links": "bidirectional"}
    )
    assert best_known.find(context, request).rated == []
    two_way = HOSTS | {"links": "bidirectional"}
    stored = designs.create(context, DesignRequest.model_validate(two_way | RUN))
    (found,) = best_known.find(context, request).rated
    assert ("design", stored.id) in found.known.sources
    assert found.known.cost == found.bounds
    engine.dispose()


def test_what_was_measured_is_known_unless_it_has_parallel_links(client):
    links = [{"source": a, "target": b} for a, b in ((0, 1), (1, 2), (2, 0)) for _ in range(2)]
    double = {"schema": "topology/1", "nodes": [{"id": n} for n in range(3)], "links": links}
    assert client.post("/v1/costs", json={"topology": double}).status_code == 201
    assert asked(client, nodes=3, degree=2)["candidates"] == []
    both = [{"source": a, "target": b} for a in range(3) for b in range(3) if a != b]
    mine = {"schema": "topology/1", "name": "mine", "links": both}
    mine["nodes"] = double["nodes"]
    cost = client.post("/v1/costs", json={"topology": mine}).json()
    (found,) = asked(client, nodes=3, degree=2)["candidates"]
    assert (found["name"], "recipe" in found) == ("mine", False)
    assert found["known_from"] == [{"kind": "cost", "id": cost["id"]}]
    assert asked(client, nodes=3, degree=2, links="bidirectional")["candidates"] == [found]
    client.delete(f"/v1/topologies/{cost['topology_id']}")
    assert asked(client, nodes=3, degree=2)["candidates"] == []


def test_limits_hold_for_both_directions_exactly(client):
    client.post("/v1/designs", json=HOSTS | RUN)
    assert asked(client, **HOSTS, max_steps=2, max_bandwidth="11/12")["candidates"]
    assert not asked(client, **HOSTS, max_steps=1)["candidates"]
    assert not asked(client, **HOSTS, max_bandwidth="0.916666666")["candidates"]


def test_of_a_range_the_best_of_every_size_are_ranked(client):
    found = asked(client, nodes_min=10, nodes_max=40, degree=4, limit=100, **RUN)["candidates"]
    assert len({one["nodes"] for one in found}) > 5
    ratios = [Fraction(one["exact_seconds"]) / Fraction(one["bound_seconds"]) for one in found]
    assert ratios == pytest.approx(sorted(ratios))
    assert len(asked(client, nodes_min=10, nodes_max=40, degree=4, limit=3)["candidates"]) == 3


def test_two_way_links_are_named_only_where_they_are_known(client):
    client.post("/v1/frontiers", json={"nodes": 6, "degree": 2})
    one_way = asked(client, nodes=6, degree=2)["candidates"]
    two_way = asked(client, nodes=6, degree=2, links="bidirectional")["candidates"]
    assert len(one_way) > len(two_way)
    client.post("/v1/frontiers", json={"nodes": 6, "degree": 2, "links": "bidirectional"})
    found = asked(client, nodes=6, degree=2, links="bidirectional")["candidates"]
    assert "BiRing(6)" in {one["recipe"] for one in found}


@pytest.mark.slow
def test_a_search_is_made_only_when_it_is_asked_for(client):
    assert client.get("/v1/frontiers").json()["items"] == []
    found = asked(client, **HOSTS, search="true")
    (stored,) = client.get("/v1/frontiers").json()["items"]
    assert found["searched"] == {"kind": "frontier", "id": stored["id"]}
    assert found["candidates"][0]["recipe"] == "Circulant(12, 2, 3)"
    found = asked(client, **HOSTS, **RUN, search="true")
    assert client.get(f"/v1/designs/{found['searched']['id']}").status_code == 200


def test_workloads_are_said_as_of_a_design(client):
    client.post("/v1/frontiers", json=HOSTS)
    tasks = [{"collective": "allreduce", "bytes": "25MiB", "count": 40}]
    tasks += [{"collective": "reduce-scatter", "bytes": "1MB"}]
    design = client.post("/v1/designs", json=HOSTS | {"workload": tasks}).json()
    words = ["allreduce:25MiB:40", "reduce-scatter:1MB"]
    found = asked(client, **HOSTS, workload=words)["candidates"][0]
    assert found["seconds"] == pytest.approx(design["best"]["seconds"])
    preset = asked(client, **HOSTS, preset="resnet50-ddp")["candidates"][0]
    told = client.post("/v1/designs", json=HOSTS | {"preset": "resnet50-ddp"}).json()
    assert preset["seconds"] == pytest.approx(told["frontier"][0]["seconds"])


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ({"degree": 4}, ""),
        ({"nodes": 12}, "/degree"),
        ({"nodes": 12, "nodes_min": 3, "degree": 4}, ""),
        ({"nodes_min": 12, "degree": 4}, ""),
        ({"nodes_min": 12, "nodes_max": 11, "degree": 4}, ""),
        ({"nodes_min": 2, "nodes_max": 5000, "degree": 4}, ""),
        ({"nodes_min": 2, "nodes_max": 5, "degree": 4, "search": "true"}, ""),
        ({**HOSTS, "collective": "allreduce"}, ""),
        ({**HOSTS, "workload": "allreduce"}, "/workload/0"),
        ({**HOSTS, "workload": "allreduce:1MB:x"}, "/workload/0"),
        ({**HOSTS, "workload": "gossip:1MB"}, "/workload/0/collective"),
        ({**HOSTS, "collective": "all-to-all", "bytes": 1}, "/collective"),
        ({**HOSTS, "preset": "mixtral-8x7b-ep"}, "/collective"),
        ({**HOSTS, "preset": "none"}, "/preset"),
        ({**HOSTS, "max_bandwidth": "0"}, "/max_bandwidth"),
        ({"nodes": 2, "degree": 1, "links": "both"}, "/links"),
    ],
)
def test_a_bad_question_is_refused_by_its_field(client, query, pointer):
    refused = client.get("/v1/best", params=query)
    assert refused.status_code == 422
    assert [error["pointer"] for error in refused.json()["errors"]] == [pointer]


@pytest.mark.slow
def test_the_command_says_what_the_service_says(client, topoloom):
    words = ["best", "--nodes", "12", "--degree", "4"]
    nothing = topoloom(*words)
    assert (nothing.code, "no known topology matches" in nothing.err) == (1, True)
    client.post("/v1/designs", json=HOSTS | RUN)
    shown = topoloom(*words, "--collective", "allreduce", "--bytes", "1MB", "--json")
    expected = client.get("/v1/best", params=HOSTS | RUN)
    assert (shown.code, shown.out) == (0, expected.text + "\n")
    timed = topoloom(*words, "--collective", "allreduce", "--bytes", "1MB").out
    assert timed.endswith("times for 100 Gbit/s per host, 10 us per hop\n")
    assert "circulant-12x4-c960" in timed and "circulant-12x4-c960" in topoloom(*words).out
    assert topoloom(*words, "--csv").out.count("\n") == 2
    assert topoloom("best", "--degree", "4").code == 2
