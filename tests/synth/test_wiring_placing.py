import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.synth.errors import DoesNotFit
from topoloom.synth.families import FAMILIES
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import plan_moves, smallest_plant, uniform, violations
from topoloom.synth.wiring.placement.annealing import anneal, kept_arcs
from topoloom.synth.wiring.placement.graph_isomorphism import Arcs, isomorphism
from topoloom.synth.wiring.placement.host_placement import plan_placed
from topoloom.synth.wiring.plant import read_plant

SIZES = (12, 16, 27, 64, 182, 240, 256)


def members():
    """Planes, and a member of every family at some sizes, up to the largest of 256 nodes."""
    for plane in ("ProjectivePlane(7)", "AffinePlane(9)", "NonincidenceGraph(8)"):
        yield parse(plane)
    for family in FAMILIES:
        for nodes in SIZES:
            found = next(
                (one for d in (2, 3, 4, 6, 8) for one in list(family.matching(nodes, d))[:1]), None
            )
            if found is not None:
                yield found


MEMBERS = list(members())


def relabelled(topology, seed):
    perm = np.random.default_rng(seed).permutation(topology.node_count)
    return Topology.direct(topology.node_count, perm[topology.sources], perm[topology.targets])


@pytest.mark.one_in(30)
@pytest.mark.parametrize("member", MEMBERS, ids=str)
def test_todays_wiring_with_names_changed_needs_no_move(member):
    topology = build(member)
    plant = smallest_plant(topology)
    today = plan_moves(topology, plant).final
    plan = plan_placed(relabelled(topology, 3), plant, today)
    assert (plan.moves, plan.lower_bound, plan.optimal) == (0, 0, True)


@pytest.mark.parametrize("duplex", [False, True])
def test_lanes_of_a_port_are_one_link_of_the_names_that_change(duplex):
    topology = build(parse("Hypercube(6)"))
    count, degree = topology.node_count, topology.degree + 1

    def port(h, k):
        return {
            "id": str(k),
            "tx": [f"p{k}/{2 * h}A", f"p{k}/{2 * h + 1}A"],
            "rx": [f"p{k}/{2 * h}B", f"p{k}/{2 * h + 1}B"],
            "duplex": duplex,
        }

    panels = [{"id": f"p{k}", "a": 2 * count, "b": 2 * count} for k in range(degree)]
    rows = [{"id": f"h{h}", "ports": [port(h, k) for k in range(degree)]} for h in range(count)]
    plant = read_plant({"schema": "plant/1", "panels": panels, "hosts": rows})
    today = plan_moves(topology, plant).final
    plan = plan_placed(relabelled(topology, 5), plant, today)
    assert (plan.moves, plan.lower_bound) == (0, 0)


@st.composite
def digraphs(draw, most=8):
    size = draw(st.integers(2, most))
    ends = st.tuples(st.integers(0, size - 1), st.integers(1, size - 1))
    links = [(i, (i + k) % size) for i, k in draw(st.lists(ends, max_size=20))]
    return Topology(range(size), links)


def arcs(topology):
    ends = (topology.sources.astype(np.int64), topology.targets.astype(np.int64))
    return Arcs.of(topology.node_count, *ends)


@given(digraphs(), st.integers(0, 99))
def test_an_isomorphism_takes_every_link_to_a_link(topology, seed):
    other = relabelled(topology, seed)
    image = isomorphism(arcs(topology), arcs(other))
    taken = sorted(
        zip(image[topology.sources].tolist(), image[topology.targets].tolist(), strict=True)
    )
    assert taken == list(zip(other.sources.tolist(), other.targets.tolist(), strict=True))


@given(digraphs(most=5), digraphs(most=5))
def test_graphs_that_are_not_alike_have_no_isomorphism(one, other):
    import networkx as nx

    def plain(topology):
        graph = nx.MultiDiGraph()
        graph.add_nodes_from(range(topology.node_count))
        graph.add_edges_from(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))
        return graph

    alike = nx.is_isomorphic(plain(one), plain(other))
    assert (isomorphism(arcs(one), arcs(other)) is not None) == alike


@given(digraphs(most=6), digraphs(most=6))
def test_a_placing_is_never_worse_than_none_and_its_bound_holds(before, after):
    size = max(before.node_count, after.node_count)
    plant = uniform("single", size, max(before.degree, after.degree, 1))
    today = plan_moves(before, plant).final
    fixed, placed = plan_moves(after, plant, today), plan_placed(after, plant, today)
    assert violations(placed.wiring, after) == []
    assert placed.lower_bound <= placed.moves <= fixed.moves


def test_fixed_nodes_stay_where_they_are():
    ring = Topology(range(6), [(i, (i + 1) % 6) for i in range(6)])
    plant = uniform("per-port", 8, 1)
    today = plan_moves(ring, plant, hosts=[2, 3, 4, 5, 6, 7]).final
    assert plan_placed(ring, plant, today).moves == 0
    plan = plan_placed(ring, plant, today, fixed={0: 0, 3: 7})
    assert plan.wiring.hosts[0] == 0 and plan.wiring.hosts[3] == 7
    assert violations(plan.wiring, ring) == []


def test_two_nodes_on_one_host_are_refused():
    ring = Topology(range(3), [(i, (i + 1) % 3) for i in range(3)])
    with pytest.raises(DoesNotFit, match="one host"):
        plan_placed(ring, uniform("single", 4, 1), fixed={0: 1, 1: 1})


def test_a_few_changed_links_are_found_again_under_other_names():
    rng = np.random.default_rng(5)
    cycles = [rng.permutation(60) for _ in range(3)]
    sources = np.concatenate(cycles)
    before = Topology.direct(60, sources, np.concatenate([np.roll(c, -1) for c in cycles]))
    links = list(before.links)[:-2]
    after = relabelled(Topology(range(60), links), 8)
    plant = smallest_plant(before, "single")
    today = plan_moves(before, plant).final
    plan = plan_placed(after, plant, today)
    assert plan.moves <= plan_moves(after, plant, today).moves // 2


@given(digraphs(), st.integers(0, 99))
def test_the_search_never_loses_what_it_began_with(topology, seed):
    wanted = arcs(topology)
    today = (
        np.random.default_rng(seed).integers(0, 2, (topology.node_count + 2,) * 2).astype(np.int16)
    )
    start = np.arange(topology.node_count)
    frozen = np.zeros(topology.node_count, bool)
    frozen[0] = True
    found = anneal(wanted, today, start, frozen)
    assert found[0] == 0 and len(set(found.tolist())) == topology.node_count
    assert kept_arcs(wanted, today, found) >= kept_arcs(wanted, today, start)
