"""The one graph type: what it keeps, what it refuses."""

import json
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.synth.errors import InvalidTopology, Unreachable
from topoloom.synth.recipes.topology_document import topology_from_document
from topoloom.synth.topology.topology import Link, Topology

PRINTABLE = st.text(st.characters(exclude_categories=["C", "Z"]), max_size=5)
CAPACITY = st.integers(1, 1000) | st.fractions(Fraction(1, 9), 99, max_denominator=12)


@st.composite
def topologies(draw):
    ids = draw(
        st.lists(
            st.integers(-5, 50) | PRINTABLE,
            min_size=2,
            max_size=7,
            unique_by=str,
        )
    )
    pairs = st.tuples(st.sampled_from(ids), st.sampled_from(ids)).filter(lambda p: p[0] != p[1])
    links = draw(st.lists(st.tuples(pairs, CAPACITY).map(lambda link: (*link[0], link[1]))))
    switches = draw(st.sets(st.sampled_from(ids), max_size=len(ids) - 1))
    unit = draw(st.sampled_from(["link", "GB/s"]))
    return Topology(ids, links, switches=switches, name=draw(PRINTABLE), bandwidth_unit=unit)


RING = Topology("abc", [("a", "b"), ("b", "c"), ("c", "a")], name="ring")


@given(topologies())
def test_a_topology_survives_its_document_and_json(topology):
    back = topology_from_document(json.loads(json.dumps(topology.to_document())))
    assert back == topology
    assert (back.name, back.bandwidth_unit) == (topology.name, topology.bandwidth_unit)
    assert back.to_document() == topology.to_document()
    assert back.digest == topology.digest


@given(topologies(), st.randoms())
def test_the_order_of_links_does_not_matter(topology, rng):
    links = list(topology.links)
    rng.shuffle(links)
    again = Topology(
        topology.nodes,
        links,
        switches=topology.switches,
        bandwidth_unit=topology.bandwidth_unit,
    )
    assert again == topology
    assert again.digest == topology.digest
    assert hash(again) == hash(topology)
    assert again.links == topology.links


@given(topologies())
def test_turning_the_links_round_twice_changes_nothing(topology):
    turned = topology.transpose()
    assert turned.transpose() == topology
    assert sorted((t, s, c) for s, t, c in _positions(turned)) == sorted(_positions(topology))
    assert turned.is_bidirectional == topology.is_bidirectional
    assert turned.degree == topology.degree


def _positions(topology):
    return list(
        zip(topology.sources.tolist(), topology.targets.tolist(), topology.capacities, strict=True)
    )


@given(topologies())
def test_links_are_sorted_and_the_arrays_follow_them(topology):
    rows = _positions(topology)
    assert rows == sorted(rows)
    named = [Link(topology.nodes[s], topology.nodes[t], c) for s, t, c in rows]
    assert list(topology.links) == named
    assert topology.link_count == len(named)


@pytest.mark.slow
@given(topologies())
def test_degrees_agree_with_networkx(topology):
    graph = topology.to_networkx()
    out = [graph.out_degree(node) for node in topology.nodes]
    into = [graph.in_degree(node) for node in topology.nodes]
    assert topology.out_degrees.tolist() == out
    assert topology.in_degrees.tolist() == into
    assert topology.degree == max(out + into)
    assert topology.is_regular == (set(out + into) == {topology.degree})
    assert topology.has_parallel_links == (
        graph.number_of_edges() > nx.DiGraph(graph).number_of_edges()
    )
    assert {n for n, kind in graph.nodes(data="kind") if kind == "switch"} == topology.switches


@given(topologies())
def test_it_is_connected_when_all_compute_nodes_reach_each_other(topology):
    graph = topology.to_networkx()
    hosts = topology.compute_nodes
    if len(hosts) < 2:
        with pytest.raises(InvalidTopology, match="at least two compute nodes"):
            topology.require_connected()
        return
    joined = all(nx.has_path(graph, a, b) for a in hosts for b in hosts)
    if joined:
        topology.require_connected()
    else:
        with pytest.raises(Unreachable) as caught:
            topology.require_connected()
        assert caught.value.field == "/links"


def test_ranks_follow_the_order_of_the_nodes():
    topology = Topology(["z", "s", "a"], [], switches=["s"])
    assert topology.compute_nodes == ("z", "a")
    assert topology.position == {"z": 0, "s": 1, "a": 2}


def test_whole_fractions_are_integers_and_all_capacities_stay_exact():
    topology = Topology("ab", [("a", "b", Fraction(4, 2)), ("b", "a", Fraction(1, 3))])
    assert topology.capacities == (2, Fraction(1, 3))
    assert [type(c) for c in topology.capacities] == [int, Fraction]


def test_parallel_links_stay_apart():
    topology = Topology("ab", [("a", "b", 3), ("a", "b", 1), ("b", "a", 4)])
    assert topology.has_parallel_links
    assert topology.capacities == (1, 3, 4)
    assert not topology.is_bidirectional


def test_the_name_is_not_part_of_the_identity_but_the_unit_is():
    renamed = RING.renamed("other")
    assert (renamed.name, RING.name) == ("other", "ring")
    assert renamed == RING
    assert renamed.digest == RING.digest
    fast = Topology(RING.nodes, RING.links, bandwidth_unit="GB/s")
    assert fast != RING
    assert fast.digest != RING.digest
    assert RING != "ring"


def test_the_digest_is_stable_over_releases():
    assert RING.digest == "sha256:" + _digest_by_hand()


def _digest_by_hand():
    import hashlib

    nodes = ",".join(f'{{"id":"{n}","kind":"compute"}}' for n in "abc")
    links = ",".join(
        f'{{"capacity":1,"source":"{s}","target":"{t}"}}' for s, t in ("ab", "bc", "ca")
    )
    text = f'{{"bandwidth_unit":"link","links":[{links}],"nodes":[{nodes}],"schema":"topology/1"}}'
    return hashlib.sha256(text.encode()).hexdigest()


def test_arrays_cannot_be_written():
    for array in (RING.sources, RING.targets):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 2


def test_the_fast_way_equals_the_careful_way():
    sources, targets = np.array([2, 0, 1, 0]), np.array([0, 1, 2, 1])
    fast = Topology.direct(3, sources, targets, name="x")
    assert fast == Topology(range(3), zip([2, 0, 1, 0], [0, 1, 2, 1], strict=True))
    assert fast.name == "x"
    assert sources.tolist() == [2, 0, 1, 0]
    sources[0] = 1
    assert fast.sources.tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize(
    ("count", "sources", "targets", "field"),
    [
        (0, [], [], "/nodes"),
        (2, [0], [2], "/links"),
        (2, [-1], [0], "/links"),
        (2, [1], [1], "/links"),
        (2, [0, 1], [1], "/links"),
    ],
)
def test_the_fast_way_refuses_links_that_cannot_be(count, sources, targets, field):
    with pytest.raises(InvalidTopology) as caught:
        Topology.direct(count, np.array(sources, int), np.array(targets, int))
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("nodes", "links", "switches", "field"),
    [
        ([], [], [], "/nodes"),
        (["a", "b", "a"], [], [], "/nodes/2/id"),
        ([1, "1"], [], [], "/nodes/1/id"),
        ([True, "a"], [], [], "/nodes/0/id"),
        ([1.5], [], [], "/nodes/0/id"),
        ([None], [], [], "/nodes/0/id"),
        (["a", "b"], [], ["c"], "/nodes"),
        (["a", "b"], [("a", "c")], [], "/links/0/target"),
        (["a", "b"], [("a", "b"), ("c", "b")], [], "/links/1/source"),
        ([0, 1], [(False, True)], [], "/links/0/source"),
        (["a", "b"], [("a", "a")], [], "/links/0"),
        (["a", "b"], [("a", "b", 0)], [], "/links/0/capacity"),
        (["a", "b"], [("a", "b", -1)], [], "/links/0/capacity"),
        (["a", "b"], [("a", "b", Fraction(-1, 2))], [], "/links/0/capacity"),
        (["a", "b"], [("a", "b", 1.5)], [], "/links/0/capacity"),
        (["a", "b"], [("a", "b", True)], [], "/links/0/capacity"),
        (["a", "b"], [("a", "b", None)], [], "/links/0/capacity"),
    ],
)
def test_a_topology_that_breaks_a_rule_is_refused_at_the_place(nodes, links, switches, field):
    with pytest.raises(InvalidTopology) as caught:
        Topology(nodes, links, switches=switches)
    assert caught.value.field == field
    assert caught.value.rule
