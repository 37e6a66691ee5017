"""The measured cost equals the definition, over every set of links and by linear programming."""

from fractions import Fraction
from itertools import zip_longest
from random import Random

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from topoloom.synth.errors import InvalidTopology, NotMeasurable, Unreachable
from topoloom.synth.evaluation import all_pairs
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.evaluation.load_balance import heaviest, scratch, spread
from topoloom.synth.evaluation.measure import (
    _THREADING_PAYS,
    CostProbe,
    diameter,
    measure,
    measure_both,
    step_loads,
    whole_capacities,
)
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

SMALL = [
    "GeneralizedKautz(3, 11)",
    "GeneralizedKautz(2, 9)",
    "UniRing(5, 3)",
    "LineGraph(1, GeneralizedKautz(2, 6))",
    "Product(UniRing(3), BiRing(4))",
    "Torus(3, 4)",
    "DeBruijn(2, 3)",
]


@st.composite
def connected(draw: st.DrawFn) -> Topology:
    """A random strongly connected digraph, parallel links and odd capacities included."""
    nodes = draw(st.integers(2, 7))
    ring = [(i, (i + 1) % nodes) for i in range(nodes)]
    pairs = [(i, j) for i in range(nodes) for j in range(nodes) if i != j]
    extra = draw(st.lists(st.sampled_from(pairs), max_size=14))
    capacities = draw(st.sampled_from([[1], [1, 2, 3], [Fraction(1, 2), Fraction(2, 3), 1]]))
    return Topology(range(nodes), [(*e, draw(st.sampled_from(capacities))) for e in ring + extra])


def load_by_linear_program(topology: Topology, goal: int, step: int) -> float:
    """The least largest load at one destination and step, as the LP of the definition."""
    graph = nx.DiGraph(list(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True)))
    distance = nx.single_source_shortest_path_length(graph.reverse(), goal)
    into = [i for i, t in enumerate(topology.targets.tolist()) if t == goal]
    arriving = [v for v in range(topology.node_count) if distance[v] == step]
    capacity = whole_capacities(topology)
    shortest = dict(nx.all_pairs_shortest_path_length(graph))
    ways = [
        (row, column)
        for row, v in enumerate(arriving)
        for column, link in enumerate(into)
        if shortest[v][int(topology.sources[link])] == step - 1
    ]
    cost = np.zeros(len(ways) + 1)
    cost[-1] = 1
    once = np.zeros((len(arriving), len(ways) + 1))
    within = np.zeros((len(into), len(ways) + 1))
    for place, (row, column) in enumerate(ways):
        once[row, place] = within[column, place] = 1
    within[:, -1] = [-int(capacity[link]) for link in into]
    solved = linprog(
        cost, A_ub=within, b_ub=np.zeros(len(into)), A_eq=once, b_eq=np.ones(len(arriving))
    )
    return float(solved.fun)


@pytest.mark.slow
@given(connected())
def test_every_step_carries_what_the_linear_program_says(topology: Topology) -> None:
    loads = step_loads(topology)
    for step, load in enumerate(loads, start=1):
        at_any = [
            load_by_linear_program(topology, goal, step)
            for goal in range(topology.node_count)
            if step <= len(step_loads(topology, [goal]))
        ]
        assert float(load) == pytest.approx(max(at_any))


@pytest.mark.parametrize("text", SMALL)
def test_steps_are_the_diameter(text: str) -> None:
    topology = build(parse(text))
    assert measure(topology).steps == diameter(topology)
    assert diameter(topology) == nx.diameter(nx.DiGraph(topology.to_networkx()))


@pytest.mark.parametrize("text", ["Hypercube(6)", "Torus(4, 5)", "Circulant(21, 4, 5)"])
def test_one_destination_suffices_where_all_nodes_look_alike(text: str) -> None:
    topology = build(parse(text))
    assert measure(topology, [3]) == measure(topology)


@pytest.mark.parametrize("text", SMALL)
def test_the_cost_does_not_depend_on_the_unit_of_capacity(text: str) -> None:
    topology = build(parse(text))
    scaled = Topology(topology.nodes, [(s, t, Fraction(5, 7)) for s, t, _ in topology.links])
    assert measure(scaled) == measure(topology)


def test_parallel_links_share_the_load_like_one_link_of_their_capacity() -> None:
    thick = Topology(range(3), [(i, (i + 1) % 3, 2) for i in range(3)])
    pairs = Topology(range(3), [(i, (i + 1) % 3) for i in range(3) for _ in range(2)])
    assert measure(thick) == measure(pairs) == Cost(2, Fraction(2, 3))


def test_the_second_cost_is_that_of_the_transpose() -> None:
    topology = build(parse("GeneralizedKautz(3, 13)"))
    assert measure_both(topology) == (measure(topology), measure(topology.transpose()))


def test_work_shared_among_threads_gives_the_same_loads() -> None:
    large = build(parse("GeneralizedKautz(4, 1500)"))
    few = [step_loads(large, range(start, start + 300)) for start in range(0, 1500, 300)]
    assert 300 * large.link_count < _THREADING_PAYS < 1500 * large.link_count
    assert step_loads(large) == tuple(
        max(loads) for loads in zip_longest(*few, fillvalue=Fraction(0))
    )


@pytest.mark.slow
@settings(max_examples=40)
@given(
    st.integers(40, 120),
    st.integers(1, 6),
    st.integers(0, 2**32),
    st.sampled_from([1, 33, 300]),
)
def test_destinations_side_by_side_cost_what_they_do_one_by_one(
    nodes: int, most: int, seed: int, tail: int
) -> None:
    random = Random(seed)
    links = [(node, (node + 1) % nodes) for node in range(nodes)]
    # Of few links into some nodes and many into others, loops and parallel ones among them.
    links += [
        (random.randrange(nodes), target)
        for target in range(nodes)
        for _ in range(random.randint(0, most))
    ]
    # A tail that is short on the way back and, at times, longer than a byte on the way out.
    far = nodes + tail
    links += [(node, node + 1) for node in range(nodes - 1, far - 1)]
    links += [(nodes + i, nodes + (i - 1) // 2 if i else 0) for i in range(tail)]
    topology = Topology(range(far), [(s, t) for s, t in links if s != t])
    singly = CostProbe(topology)
    costs = [singly.measure([node]) for node in range(far)]
    assert measure(topology) == costs[-1]
    assert step_loads(topology) == singly.loads


@settings(max_examples=30)
@given(st.integers(2, 90), st.integers(0, 4), st.integers(0, 2**32))
def test_searches_from_all_nodes_cost_what_searches_towards_each_do(
    nodes: int, most: int, seed: int
) -> None:
    random = Random(seed)
    links = [(node, (node + 1) % nodes) for node in range(nodes)]
    links += [
        (random.randrange(nodes), target)
        for target in range(nodes)
        for _ in range(random.randint(0, most))
    ]
    topology = Topology(range(nodes), [(s, t) for s, t in links if s != t])
    goals = random.sample(range(nodes), random.randint(nodes // 2 + 1, nodes))
    singly = CostProbe(topology)
    costs = [singly.measure([node]) for node in goals]
    probe = CostProbe(topology)
    degree = int(topology.in_degrees.max())
    found = all_pairs.largest_loads(probe._links, np.array(goals), degree, nodes, workers=2)
    assert found is not None
    longest, loads, whole = found
    assert longest == costs[-1].steps
    assert tuple(Fraction(int(load), whole) for load in loads[1:]) == singly.loads
    too_few = costs[-1].steps - 1
    assert all_pairs.largest_loads(probe._links, np.array(goals), degree, too_few, 1) is None


def test_a_destination_out_of_reach_is_named_whichever_way_they_are_measured() -> None:
    for nodes in (50, all_pairs.FEWEST_NODES):
        links = [(i, (i + k) % nodes) for i in range(nodes) for k in (1, 3, 17)]
        with pytest.raises(Unreachable, match="must reach"):
            measure(Topology(range(nodes + 1), [*links, (nodes, 0)]))
        with pytest.raises(Unreachable, match="must reach"):
            measure(Topology(range(nodes + 1), [*links, (0, nodes)]))


@pytest.mark.slow
@pytest.mark.one_in(2)
@pytest.mark.parametrize("in_degrees", [(8, 9), (5, 20), (16, 17), (2, 8, 12, 18)])
def test_nodes_of_few_and_of_many_links_are_measured_in_one_graph(
    in_degrees: tuple[int, ...],
) -> None:
    nodes, random = 40, Random(sum(in_degrees))
    links = {(node, (node + 1) % nodes) for node in range(nodes)}
    for target in range(nodes):
        others = [node for node in range(nodes) if node not in (target, (target - 1) % nodes)]
        picked = random.sample(others, in_degrees[target % len(in_degrees)] - 1)
        links |= {(source, target) for source in picked}
    topology = Topology(range(nodes), sorted(links))
    for step, load in enumerate(step_loads(topology), start=1):
        at_any = [
            load_by_linear_program(topology, goal, step)
            for goal in range(nodes)
            if step <= len(step_loads(topology, [goal]))
        ]
        assert float(load) == pytest.approx(max(at_any))


@given(st.data())
def test_flows_find_the_same_heaviest_load_as_all_sets_of_links(data: st.DataObject) -> None:
    degree = data.draw(st.integers(1, 6))
    rows = data.draw(st.integers(1, 8))
    full = (1 << degree) - 1
    masks = data.draw(st.lists(st.integers(1, full), min_size=rows, max_size=rows, unique=False))
    counts = data.draw(st.lists(st.integers(1, 9), min_size=rows, max_size=rows))
    capacity = data.draw(st.lists(st.integers(1, 4), min_size=degree, max_size=degree))
    by_sets = max(
        Fraction(
            sum(c for m, c in zip(masks, counts, strict=True) if m & ~links == 0),
            sum(capacity[i] for i in range(degree) if links >> i & 1),
        )
        for links in range(1, full + 1)
    )
    found = heaviest(
        np.array(masks), np.array(counts), rows, np.array(capacity), degree, 0, 1,
        scratch(rows, degree),
    )  # fmt: skip
    assert Fraction(*found) == by_sets


@given(st.data())
def test_shares_are_given_in_full_and_within_every_limit(data: st.DataObject) -> None:
    degree = data.draw(st.integers(1, 5))
    rows = data.draw(st.integers(1, 7))
    full = (1 << degree) - 1
    masks = np.array(data.draw(st.lists(st.integers(1, full), min_size=rows, max_size=rows)))
    supplies = np.array(data.draw(st.lists(st.integers(0, 9), min_size=rows, max_size=rows)))
    limits = np.array(data.draw(st.lists(st.integers(0, 12), min_size=degree, max_size=degree)))
    memory = scratch(rows, degree)
    stuck = spread(masks, supplies, rows, limits, degree, memory)
    if stuck:
        within = supplies[(masks & ~stuck) == 0].sum()
        assert within > sum(int(limits[i]) for i in range(degree) if stuck >> i & 1)
    else:
        assert (memory.flow >= 0).all()
        assert (memory.flow.sum(axis=1) == supplies).all()
        assert (memory.flow.sum(axis=0) <= limits).all()
        for row, mask in enumerate(masks.tolist()):
            assert all(memory.flow[row, i] == 0 for i in range(degree) if not mask >> i & 1)


def test_high_degrees_measure_like_the_complete_graph_they_are() -> None:
    for nodes in (40, 64, 65):
        topology = build(parse(f"Complete({nodes})"))
        assert measure(topology) == Cost(1, Fraction(nodes - 1, nodes))
    # Two steps: the second one has a partner only, which all 64 links share.
    halves = build(parse("CompleteBipartite(64)"))
    assert measure(halves) == Cost(2, Fraction(127, 128))


def test_a_switch_cannot_be_measured_and_the_message_points_to_the_optimum() -> None:
    switched = Topology("abs", [("a", "s"), ("s", "a"), ("b", "s"), ("s", "b")], switches="s")
    with pytest.raises(NotMeasurable, match=r"/nodes: .*optimum"):
        measure(switched)


def test_too_many_links_into_a_node_are_refused() -> None:
    crowded = Topology(range(2), [(0, 1)] * 65 + [(1, 0)])
    with pytest.raises(NotMeasurable, match="/links: at most 64"):
        measure(crowded)


def test_capacities_beyond_exact_arithmetic_are_refused() -> None:
    odd = [(0, 1, Fraction(10**14, 10**11 + 3)), (1, 0, 1)]
    with pytest.raises(NotMeasurable, match="common denominator"):
        measure(Topology(range(2), odd))


def test_a_graph_that_is_not_connected_or_has_one_node_is_refused() -> None:
    with pytest.raises(Unreachable, match="must reach"):
        measure(Topology(range(3), [(0, 1), (1, 0), (0, 2)]))
    with pytest.raises(InvalidTopology, match="at least two compute nodes"):
        measure(Topology([0], []))
