"""Links are counted as links: a duplex link with a dead fiber is down in both directions."""

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.synth.plants import straight, two_way
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import duplex, plan_moves
from topoloom.synth.wiring.operations.repair import Faults, Way, lit_links, repairs, with_faults
from topoloom.synth.wiring.operations.worst_failures import parts, survey
from topoloom.synth.wiring.plant.light_paths import links_of


def ring(count):
    nodes = [str(host) for host in range(count)]
    links = [(nodes[i], nodes[(i + step) % count]) for i in range(count) for step in (1, -1)]
    return Topology(nodes, sorted(set(links)))


@st.composite
def duplex_plans(draw):
    """Draw a plan on ports with two fibers; one port of each host is left free."""
    hosts, degree = draw(st.integers(2, 5)), draw(st.integers(1, 2))
    topology = draw(two_way(hosts, degree).filter(lambda found: found.link_count))
    return plan_moves(topology, straight(hosts, degree + draw(st.integers(degree - 1, 1))))


def ends_of(plan, pair):
    """Return the two ports of hosts at the ends of a pair."""
    return frozenset(plan.plant.at[port] for port in plan.plant.ends(pair))


@settings(deadline=None, max_examples=40)
@given(duplex_plans())
def test_the_pairs_of_a_link_join_the_same_two_ports(plan):
    pairs = plan.wiring.pairs
    found = links_of(plan.plant, pairs, pairs)
    assert sorted(pair for link in found for pair in link) == sorted(pairs)
    joined = [{ends_of(plan, pair) for pair in link} for link in found]
    assert all(len(ends) == 1 for ends in joined)
    assert len(found) == len({ends_of(plan, pair) for pair in pairs})


@settings(deadline=None, max_examples=40)
@given(duplex_plans(), st.data())
def test_a_dead_fiber_takes_both_directions_and_has_a_repair_if_the_rest_is_connected(plan, data):
    pair = data.draw(st.sampled_from(plan.wiring.pairs))
    fault = data.draw(
        st.sampled_from([Faults(pairs=(pair,)), Faults(ports=(plan.plant.ends(pair)[0],))])
    )
    lost = {
        index
        for index, route in enumerate(plan.wiring.routes)
        if ends_of(plan, pair) in {ends_of(plan, one) for one in route}
    }
    plant = with_faults(plan.plant.with_present(plan.final), fault)
    assert set(lit_links(plan.topology, plan.wiring, plant)) == (
        set(range(plan.topology.link_count)) - lost
    )
    left = nx.DiGraph()
    left.add_nodes_from(plan.topology.nodes)
    left.add_edges_from(
        (link.source, link.target)
        for index, link in enumerate(plan.topology.links)
        if index not in lost
    )
    ways = {repair.way: repair for repair in repairs(plan, fault)}
    assert (Way.LEFT_OUT in ways) == nx.is_strongly_connected(left)
    if Way.LEFT_OUT in ways:
        assert set(ways[Way.LEFT_OUT].lost) == lost


def test_a_ring_on_full_panels_survives_a_dead_fiber():
    plan = plan_moves(ring(4), straight(4, 2))
    (found,) = repairs(plan, Faults(pairs=(plan.wiring.routes[0][0],)))
    assert (found.way, found.plan.moves, len(found.lost)) == (Way.LEFT_OUT, 2, 2)
    both = {plan.topology.links[index] for index in found.lost}
    assert len({frozenset((link.source, link.target)) for link in both}) == 1


def test_a_dead_fiber_costs_as_much_as_a_dead_fiber_with_both_directions():
    two_fibers, one_fiber = (plan_moves(ring(4), plant) for plant in (straight(4, 2), duplex(4, 2)))
    lost = [
        {failure.lost_links for failure in survey(plan) if failure.parts[0].kind == "pair"}
        for plan in (two_fibers, one_fiber)
    ]
    assert lost == [{2}, {2}]
    assert {len(part.links) for part in parts(two_fibers) if part.kind == "pair"} == {2}
