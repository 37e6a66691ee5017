"""Latencies of links: in documents, in changed topologies, and in the catalogue."""

import copy
import json
import math
from fractions import Fraction

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import for_every
from topoloom.schedules.groups.one_group import member_topology
from topoloom.synth.errors import InvalidTopology
from topoloom.synth.fabrics import fabric
from topoloom.synth.formats import WRITERS, read
from topoloom.synth.formats.topology_json import to_json
from topoloom.synth.recipes.topology_document import topology_from_document
from topoloom.synth.topology.degrade import degraded
from topoloom.synth.topology.hops import hop_seconds, latency_assumptions
from topoloom.synth.topology.topology import Topology

MICROSECOND = Fraction(1, 10**6)

PAIR = {
    "schema": "topology/1",
    "name": "pair",
    "bandwidth_unit": "GB/s",
    "nodes": [{"id": "a", "kind": "compute"}, {"id": "b", "kind": "compute"}],
    "links": [
        {"source": "a", "target": "b", "capacity": 25, "latency_us": "3/5"},
        {"source": "b", "target": "a", "capacity": 25, "latency_us": 4},
    ],
}


def with_values(*values):
    document = copy.deepcopy(PAIR)
    for link, value in zip(document["links"], values, strict=True):
        link["latency_us"] = value
        if value is ...:
            del link["latency_us"]
    return document


def test_a_document_with_latencies_is_written_as_it_is_read():
    topology = topology_from_document(PAIR)
    assert topology.latencies == {("a", "b"): MICROSECOND * 3 / 5, ("b", "a"): 4 * MICROSECOND}
    assert topology.to_document() == PAIR
    assert read(to_json(topology)) == topology


def test_a_decimal_number_counts_as_written():
    for value in (0.6, "0.6", "3/5", "6/10"):
        found = topology_from_document(with_values(value, 4))
        assert found.latencies["a", "b"] == MICROSECOND * 3 / 5


def test_a_document_without_latencies_has_no_new_member_and_the_same_identity():
    bare = with_values(..., ...)
    topology = topology_from_document(bare)
    assert topology.latencies == {}
    assert topology.to_document() == bare
    assert topology.digest == topology_from_document(PAIR).digest
    assert topology != topology_from_document(PAIR)


@for_every(
    ("values", "place"),
    [
        ((-1, 4), "/links/0/latency_us"),
        ((1, -0.5), "/links/1/latency_us"),
        ((math.nan, 4), "/links/0/latency_us"),
        ((math.inf, 4), "/links/0/latency_us"),
        ((1_000_001, 4), "/links/0/latency_us"),
        ((1e300, 4), "/links/0/latency_us"),
        ((10**5000, 4), "/links/0/latency_us"),
        (("1e-3", 4), "/links/0/latency_us"),
        (("1/0", 4), "/links/0/latency_us"),
        (("9" * 4000, 4), "/links/0/latency_us"),
        ((True, 4), "/links/0/latency_us"),
        (([1], 4), "/links/0/latency_us"),
        ((1, ...), "/links/1/latency_us"),
        ((..., 1), "/links/0/latency_us"),
    ],
)
def test_a_wrong_latency_is_refused_at_its_link(values, place):
    with pytest.raises(InvalidTopology) as caught:
        topology_from_document(with_values(*values))
    assert caught.value.field == place


def test_parallel_links_have_one_latency():
    document = copy.deepcopy(PAIR)
    document["links"].append({**document["links"][0], "latency_us": 5})
    with pytest.raises(InvalidTopology, match="same for parallel links"):
        topology_from_document(document)
    document["links"][-1]["latency_us"] = 0.6
    assert topology_from_document(document).link_count == 3


def test_a_link_with_a_wrong_end_is_refused_for_its_end():
    document = copy.deepcopy(PAIR)
    document["links"][0]["source"] = [1]
    with pytest.raises(InvalidTopology) as caught:
        topology_from_document(document)
    assert caught.value.field == "/links/0/source"


@for_every(
    "latencies",
    [
        {("a", "b"): 0},
        {("a", "b"): 0, ("b", "a"): 0, ("a", "c"): 0},
        {("a", "b"): 0, ("b", "a"): -1},
        {("a", "b"): 0, ("b", "a"): 2},
        {("a", "b"): 0, ("b", "a"): 0.5},
        {("a", "b"): 0, ("b", "a"): True},
    ],
)
def test_a_topology_refuses_latencies_that_are_not_those_of_its_links(latencies):
    with pytest.raises(InvalidTopology):
        Topology("abc", ["ab", "ba"], latencies=latencies)


@pytest.mark.slow
@given(st.data())
def test_latencies_follow_their_links_through_every_change(data):
    pairs = [(a, b) for a in range(4) for b in range(4) if a != b]
    latencies = {pair: data.draw(st.fractions(0, 1, max_denominator=10**6)) for pair in pairs}
    full = Topology(range(4), pairs, latencies=latencies)
    turned = full.transpose()
    assert turned.latencies == {(b, a): time for (a, b), time in latencies.items()}
    assert turned.transpose() == full
    assert full.is_bidirectional
    kept = degraded(full, without_nodes=[3], without_links=[(0, 1)])
    slow = degraded(full, slow_links=[(0, 1, Fraction(1, 2))])
    members = member_topology(full, (0, 2))
    assert slow.latencies == latencies
    for changed in (kept, members, full.renamed("x"), topology_from_document(full.to_document())):
        assert changed.latencies == {link[:2]: latencies[link[:2]] for link in changed.links}
        assert changed.latencies


NVIDIA, EIGHT, SIXTEEN = (
    (Fraction("0.6"), 5),
    (Fraction("0.9"), Fraction("10.5")),
    (
        Fraction("0.8"),
        Fraction("32.2"),
    ),
)


@for_every(
    ("name", "hops"),
    [
        ("dgx-1v", NVIDIA),
        ("dgx-2", NVIDIA),
        ("dgx-a100-2", NVIDIA),
        ("dgx-h100-1", NVIDIA),
        ("dgx-h100-sharp-2", NVIDIA),
        ("dgx-b300-3", NVIDIA),
        ("gb300-nvl72-2", NVIDIA),
        ("ndv2-2", NVIDIA),
        ("rail-3-4", NVIDIA),
        ("rail-only-3-4", NVIDIA),
        ("mi300x-2", EIGHT),
        ("mi355x", EIGHT),
        ("mi250-2", SIXTEEN),
    ],
)
def test_a_hop_of_the_catalogue_has_the_published_latency_of_its_library(name, hops):
    inside, between = hops
    topology = fabric(name)
    graph = nx.DiGraph()
    for (source, target), latency in topology.latencies.items():
        graph.add_edge(source, target, latency=latency * 10**6)
    hosts = topology.compute_nodes
    for source, target in {(hosts[0], host) for host in hosts[1:]} | {(hosts[-1], hosts[0])}:
        # A hop passes switches only.
        way = graph.subgraph({source, target, *topology.switches})
        if not nx.has_path(way, source, target):
            continue
        near = {"0.nvswitch", target} & set(graph[source])
        expected = inside if source[:2] == target[:2] and near else between
        assert nx.shortest_path_length(way, source, target, weight="latency") == expected


@for_every(
    "name",
    ["boardfly-2", "dgx-spark-3", "mac-studio-ring-3", "tpu-v4-4x4x8", "trainium2", "fat-tree-4"],
)
def test_a_fabric_without_published_constants_states_no_latencies(name):
    assert fabric(name).latencies == {}


def test_a_stated_latency_counts_before_those_of_the_links():
    box, desk = fabric("dgx-h100-2"), fabric("dgx-spark-2")
    assert hop_seconds(box, None) is None
    assert hop_seconds(box, Fraction(3)) == 3 * MICROSECOND
    assert hop_seconds(desk, None) == 10 * MICROSECOND
    assert latency_assumptions(box, Fraction(3)) == latency_assumptions(desk, None) == ()
    assert latency_assumptions(box, None)[0].option == "alpha_us"


@for_every("name", ["dgx-a100-2", "mi300x-2", "dgx-spark-2"])
def test_infragraph_keeps_the_latencies_of_all_cables(name):
    topology = fabric(name)
    if topology.shared:
        topology = topology._replace(shared=())
    again = read(WRITERS["infragraph"](topology))
    stated = topology.latencies or {link[:2]: 10 * MICROSECOND for link in topology.links}
    expected = sorted((link.capacity, stated[link[:2]]) for link in topology.links)
    assert sorted((k.capacity, again.latencies[k[:2]]) for k in again.links) == expected


@for_every(
    ("latency", "place"),
    [
        ({"us": -1}, "us"),
        ({"choice": "ns", "ns": "fast"}, "ns"),
        ({"ms": True}, "ms"),
        ("soon", ""),
        ({"ms": 2000}, None),
    ],
)
def test_a_wrong_latency_of_infragraph_is_refused_at_its_place(latency, place):
    document = json.loads(WRITERS["infragraph"](fabric("mi300x")))
    document["links"][0]["physical"]["latency"] = latency
    with pytest.raises(InvalidTopology) as caught:
        read(json.dumps(document), "infragraph")
    below = f"/links/0/physical/latency/{place}".rstrip("/")
    assert caught.value.field == ("/links" if place is None else below)


def test_links_of_infragraph_that_state_no_latency_leave_all_without_and_say_so():
    document = json.loads(WRITERS["infragraph"](fabric("mi300x-2")))
    del document["links"][0]["physical"]["latency"]
    topology = read(json.dumps(document), "infragraph")
    assert topology.latencies == {}
    assert any("state no latency" in one.text for one in topology.assumed)
