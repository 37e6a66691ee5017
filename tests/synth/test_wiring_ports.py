import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topoloom.synth.errors import DoesNotFit, OutOfDomain
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import (
    Layout,
    Pair,
    Wiring,
    assign_ports,
    smallest_plant,
    uniform,
    violations,
)


@st.composite
def topologies(draw, most_nodes=7, most_links=20):
    nodes = draw(st.integers(1, most_nodes))
    pairs = [(i, j) for i in range(nodes) for j in range(nodes) if i != j]
    if not pairs:
        return Topology(range(nodes), [])
    return Topology(range(nodes), draw(st.lists(st.sampled_from(pairs), max_size=most_links)))


def classes(wiring):
    """Return the links on each panel, by index."""
    found = [set() for _ in wiring.plant.panels]
    for index, route in enumerate(wiring.routes):
        for pair in route:
            found[pair.panel].add(index)
    return found


def random_regular(nodes, degree, seed=0):
    """Union of ``degree`` permutations without fixed points (shuffled cycles)."""
    rng = np.random.default_rng(seed)
    cycles = [rng.permutation(nodes) for _ in range(degree)]
    return Topology.direct(
        nodes, np.concatenate(cycles), np.concatenate([np.roll(cycle, -1) for cycle in cycles])
    )


@pytest.mark.parametrize("layout", Layout)
@given(topology=topologies(), spare_hosts=st.integers(0, 2), spare_lanes=st.integers(0, 2))
def test_every_topology_of_small_enough_degree_is_wired(layout, topology, spare_hosts, spare_lanes):
    panels = uniform(
        layout, topology.node_count + spare_hosts, max(1, topology.degree) + spare_lanes
    )
    assert violations(assign_ports(topology, panels), topology) == []


@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize(("nodes", "degree"), [(2, 3), (16, 4), (37, 7)])
def test_a_regular_topology_uses_every_port(layout, nodes, degree):
    topology = random_regular(nodes, degree)
    wiring = assign_ports(topology, smallest_plant(topology, layout))
    assert violations(wiring, topology) == []
    per_panel = nodes if layout is Layout.PER_PORT else nodes * degree
    assert [len(links) for links in classes(wiring)] == [per_panel] * len(wiring.plant.panels)


def test_a_colour_class_on_a_panel_per_port_is_a_partial_permutation():
    topology = Topology("abcd", [("a", "b"), ("a", "b"), ("a", "c"), ("d", "b")])
    wiring = assign_ports(topology, smallest_plant(topology))
    for links in classes(wiring):
        sources = [topology.links[index].source for index in links]
        targets = [topology.links[index].target for index in links]
        assert len(set(sources)) == len(sources) and len(set(targets)) == len(targets)


@pytest.mark.slow
@pytest.mark.parametrize("layout", Layout)
def test_four_thousand_hosts_of_sixteen_ports_are_wired_in_seconds(layout):
    topology = random_regular(4096, 16)
    panels = smallest_plant(topology, layout)
    start = time.process_time()
    wiring = assign_ports(topology, panels)
    assert time.process_time() - start < 60
    assert violations(wiring, topology) == []


@pytest.mark.parametrize("layout", Layout)
def test_what_does_not_fit_is_refused_with_the_reason(layout):
    switched = Topology(["a", "s"], [("a", "s"), ("s", "a")], switches=["s"])
    with pytest.raises(DoesNotFit, match=r"/nodes: .*'s' is a switch"):
        assign_ports(switched, uniform(layout, 4, 4))
    with pytest.raises(DoesNotFit, match=r"/nodes: 5 nodes"):
        assign_ports(Topology(range(5), []), uniform(layout, 4, 4))
    with pytest.raises(DoesNotFit, match=r"/links: degree 2"):
        assign_ports(Topology(range(3), [(0, 1), (2, 1)]), uniform(layout, 3, 1))


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("layout", ("ring", 4, 4)),
        ("hosts", ("single", 0, 4)),
        ("lanes", ("single", 4, True)),
        ("hosts", ("per-port", 1 << 20, 2)),
    ],
)
def test_panels_that_cannot_be_are_refused(field, arguments):
    with pytest.raises(OutOfDomain) as caught:
        uniform(*arguments)
    assert caught.value.field == field


def test_the_checker_finds_every_kind_of_fault():
    ring = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    good = assign_ports(ring, smallest_plant(ring, Layout.SINGLE))

    def faults(**changed):
        routes = list(good.routes)
        for index, pair in changed.items():
            routes[int(index[1:])] = (Pair(*pair),)
        return violations(Wiring(good.plant, good.hosts, tuple(routes)), ring)

    assert faults() == []
    short = Wiring(good.plant, good.hosts, good.routes[:2])
    assert "links have 2 routes" in violations(short, ring)[0]
    crowded = Wiring(good.plant, (0, 1, 1), good.routes)
    assert violations(crowded, ring) == ["3 nodes are on 2 hosts"]
    assert "panel 1, which does not exist" in faults(l1=(1, 1, 2))[0]
    assert "a port that does not exist" in faults(l1=(0, 1, 3))[0]
    assert "from host 1 to host 1" in faults(l0=(0, 1, 1))[0]
    assert "port 1A of panel-0 is in 2 pairs" in " ".join(faults(l0=(0, 1, 0)))
    assert "port 0B of panel-0 is in 2 pairs" in " ".join(faults(l1=(0, 1, 0)))
