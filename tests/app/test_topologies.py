import gzip
import json

import networkx as nx
import pytest

from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.recipes.topology_document import topology_from_document

PAIR = {
    "schema": "topology/1",
    "name": "pair",
    "nodes": [{"id": "a"}, {"id": "b"}],
    "links": [
        {"source": "a", "target": "b", "capacity": "3/2"},
        {"source": "b", "target": "a", "capacity": 2},
    ],
}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"recipe": "Power(2, BiRing(3))"}, build(parse("Power(2, BiRing(3))"))),
        ({"fabric": "dgx-a100-2"}, fabric("dgx-a100-2")),
        ({"document": PAIR}, topology_from_document(PAIR)),
    ],
    ids=["recipe", "fabric", "document"],
)
def test_a_topology_is_built_once_and_read_by_its_id(client, source, expected):
    made = client.post("/v1/topologies", json=source)
    assert made.status_code == 201
    again = client.post("/v1/topologies", json=source)
    assert (again.status_code, again.json()) == (200, made.json())
    read = client.get(made.headers["Location"])
    assert read.json() == made.json()
    assert made.headers["Location"] == f"/v1/topologies/{made.json()['id']}"
    assert topology_from_document(read.json()) == expected
    by_id = client.post("/v1/topologies", json={"id": made.json()["id"]})
    assert (by_id.status_code, by_id.json()) == (200, made.json())


def test_a_topology_document_may_be_sent_as_it_is(client):
    bare = client.post("/v1/topologies", json=PAIR)
    assert (bare.status_code, bare.json()["name"]) == (201, "pair")
    assert client.post("/v1/topologies", json={"document": PAIR}).json() == bare.json()
    named = client.post("/v1/schedules", json={"topology": PAIR, "collective": "allgather"})
    assert named.json()["topology_id"] == bare.json()["id"]


def test_blanks_in_a_recipe_make_no_difference(client):
    first = client.post("/v1/topologies", json={"recipe": "BiRing(5)"})
    assert client.post("/v1/topologies", json={"recipe": " BiRing( 5 )"}).json() == first.json()


def test_a_topology_comes_in_every_format(client):
    place = client.post("/v1/topologies", json={"document": PAIR}).headers["Location"]
    graph = nx.parse_graphml(client.get(place, params={"format": "graphml"}).text)
    assert {(u, v): c for u, v, c in graph.edges(data="capacity")} == {
        ("a", "b"): "3/2",
        ("b", "a"): "2",
    }
    dot = client.get(place, headers={"Accept": "text/vnd.graphviz"})
    assert dot.headers["Content-Type"].startswith("text/vnd.graphviz")
    assert '0 -> 1 [label="3/2"];' in dot.text
    edges = client.get(place, params={"format": "edgelist"})
    assert edges.text == "a b 3/2\nb a 2\n"


def test_the_query_goes_before_the_header_and_the_header_is_weighed(client):
    place = client.post("/v1/topologies", json={"document": PAIR}).headers["Location"]

    def type_of(accept, **query):
        answer = client.get(place, headers={"Accept": accept}, params=query)
        return answer.headers["Content-Type"].partition(";")[0]

    assert type_of("*/*") == "application/json"
    assert type_of("text/plain;q=0.2, application/graphml+xml") == "application/graphml+xml"
    assert type_of("text/plain", format="json") == "application/json"
    refused = client.get(place, headers={"Accept": "image/png, application/json;q=0"})
    assert refused.status_code == 406
    assert refused.json()["type"] == "/problems/not-acceptable"


def test_what_the_client_has_is_not_sent_again(client):
    place = client.post("/v1/topologies", json={"document": PAIR}).headers["Location"]
    tag = client.get(place).headers["ETag"]
    unchanged = client.get(place, headers={"If-None-Match": f'"other", W/{tag}'})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert unchanged.headers["ETag"] == tag
    assert client.get(place, headers={"If-None-Match": '"other"'}).status_code == 200
    assert client.get(place, params={"format": "dot"}).headers["ETag"] != tag


def test_the_list_is_paged(client):
    for size in range(3, 8):
        client.post("/v1/topologies", json={"recipe": f"UniRing({size})"})
    first = client.get("/v1/topologies", params={"limit": 3}).json()
    second = client.get(
        "/v1/topologies", params={"limit": 3, "cursor": first["next_cursor"]}
    ).json()
    names = [item["summary"]["name"] for item in first["items"] + second["items"]]
    assert names == [build(parse(f"UniRing({size})")).name for size in range(7, 2, -1)]
    assert second["next_cursor"] is None
    assert first["items"][0]["created_at"].endswith("Z")


def test_the_optimum_comes_with_its_certificate(client):
    made = client.post("/v1/topologies", json={"fabric": "dgx-a100-2"})
    found = client.get(f"{made.headers['Location']}/optimum").json()
    assert found["inverse_rate"] == "3/65"
    assert (found["nodes"], found["trees_per_root"], found["algbw"]) == (16, 13, 346.6667)
    cut = found["bottleneck"]
    topology = topology_from_document(made.json())
    inside = set(cut["nodes"])
    leaving = sum(
        link.capacity
        for link in topology.links
        if link.source in inside and link.target not in inside
    )
    assert str(leaving) == cut["exit_capacity"]
    assert len(inside - topology.switches) == cut["compute_inside"]


def test_the_optimum_of_few_trees_is_no_better_and_kept_apart(client):
    made = client.post("/v1/topologies", json={"fabric": "dgx-a100-2"})
    place = made.headers["Location"] + "/optimum"
    few = client.get(place, params={"trees_per_root": 1}).json()
    assert (few["trees_per_root"], few["inverse_rate"], few["algbw"]) == (1, "7/150", 342.8571)
    assert client.get(place).json()["inverse_rate"] == "3/65"
    assert client.get(place, params={"trees_per_root": 0}).status_code == 422


def test_the_optimum_of_the_fewest_trees_within_a_gap_says_the_gap(client):
    made = client.post("/v1/topologies", json={"fabric": "dgx-a100-2"})
    place = made.headers["Location"] + "/optimum"
    few = client.get(place, params={"max_gap": "1/50"}).json()
    assert (few["trees_per_root"], few["gap"], few["max_gap"]) == (1, "1/90", "1/50")
    assert (few["inverse_rate"], few["optimal_inverse_rate"]) == ("7/150", "3/65")
    assert client.get(place, params={"max_gap": "0.02"}).json() == few
    assert "gap" not in client.get(place, params={"trees_per_root": 1}).json()


@pytest.mark.parametrize("gap", ["-1", "1/0", "1e-2", "nan", "", "a third", "1/1000000000000"])
def test_a_gap_that_is_no_fraction_is_refused_by_name(client, gap):
    made = client.post("/v1/topologies", json={"recipe": "BiRing(5)"})
    refused = client.get(made.headers["Location"] + "/optimum", params={"max_gap": gap})
    assert refused.status_code == 422
    assert "max_gap" in refused.json()["errors"][0]["pointer"]


def test_the_cost_is_measured_on_the_graph_and_its_transpose(client):
    place = client.post("/v1/topologies", json={"recipe": "UniRing(5)"}).headers["Location"]
    found = client.get(f"{place}/cost").json()
    assert (found["steps"], found["bandwidth"]) == (4, "4/5")
    assert found["transpose"] == found["bounds"] == {"steps": 4, "bandwidth": "4/5"}
    ring = client.post("/v1/topologies", json={"recipe": "BiRing(5)"}).headers["Location"]
    found = client.get(f"{ring}/cost").json()
    assert (found["steps"], found["bandwidth"], found["links"]) == (2, "4/5", "bidirectional")


def test_a_switched_fabric_has_no_breadth_first_cost(client):
    place = client.post("/v1/topologies", json={"fabric": "dgx-a100-2"}).headers["Location"]
    refused = client.get(f"{place}/cost")
    assert refused.status_code == 422
    assert refused.json()["type"] == "/problems/not-measurable"


@pytest.mark.parametrize("name", ["ring.json", "ring.json.gz"])
def test_the_command_line_writes_and_reads_topologies(topoloom, tmp_path, name):
    file = tmp_path / name
    assert topoloom("topology", "BiRing(5)", "--out", str(file)).code == 0
    data = file.read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    assert json.loads(text)["schema"] == "topology/1"
    measured = topoloom("measure", str(file), "--json")
    assert measured.code == 0
    assert json.loads(measured.out)["bandwidth"] == "4/5"
