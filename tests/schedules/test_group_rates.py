"""Rates of process groups: hand-checkable cases, today's optimum, and a slow linear program."""

from fractions import Fraction
from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tests.schedule_oracles import grouped
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.groups.cheapest_trees import least_arborescence
from topoloom.schedules.groups.exact_trees import exact_solution
from topoloom.schedules.groups.figures import group_figures
from topoloom.schedules.groups.joint_rate import joint_rate
from topoloom.schedules.groups.one_group import group_rate, members_only_rate
from topoloom.schedules.groups.process_groups import Placement, ProcessGroups
from topoloom.schedules.groups.rate import COLLECTIVES
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.optimum.collective_optimum import collective_optimum
from topoloom.schedules.options import Options
from topoloom.schedules.routes import all_to_all
from topoloom.synth.errors import Unreachable
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology

ALLGATHER, REDUCE_SCATTER, ALLREDUCE, ALL_TO_ALL = COLLECTIVES


def ring(nodes):
    return Topology(range(nodes), [(i, (i + s) % nodes) for i in range(nodes) for s in (1, -1)])


HALVES = [(0, 1, 2, 3), (4, 5, 6, 7)]
INTERLEAVED = [(0, 2, 4, 6), (1, 3, 5, 7)]


@pytest.mark.parametrize(
    ("groups", "collective", "own", "alone", "together"),
    [
        # The end of a half takes in 3 units by its one link inside; alone, by two.
        (HALVES, ALLGATHER, Fraction(4, 3), Fraction(8, 3), Fraction(4, 3)),
        (HALVES, REDUCE_SCATTER, Fraction(4, 3), Fraction(8, 3), Fraction(4, 3)),
        # A chain reduces to one root and broadcasts in the other direction: every link twice.
        (HALVES, ALLREDUCE, 1, Fraction(4, 3), 1),
        # 4 units cross the middle link of a half.
        (HALVES, ALL_TO_ALL, 1, 2, 1),
        # Every member takes in 3 units over 2 links each, and all links are shared by two groups.
        (INTERLEAVED, ALLGATHER, None, Fraction(8, 3), Fraction(4, 3)),
        (INTERLEAVED, ALLREDUCE, None, Fraction(4, 3), Fraction(2, 3)),
        # Distances 2, 2 and 4: 8 sources * 8 links of the 16 links, 4 units of data each.
        (INTERLEAVED, ALL_TO_ALL, None, 2, 1),
    ],
)
def test_two_groups_on_a_ring(groups, collective, own, alone, together):
    found = group_figures(ring(8), {"tensor": tuple(groups)}, collective)[0]
    assert (found.members_only and found.members_only.algbw) == own
    assert (found.alone.algbw, found.together.algbw) == (alone, together)
    assert found.alone.exact and found.together.exact


FABRICS = [
    ring(5),
    build(parse("GeneralizedKautz(2, 7)")),
    Topology(["hub", *"abc"], [link for x in "abc" for link in ((x, "hub"), ("hub", x))]),
]


@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize("number", range(len(FABRICS)))
def test_one_group_of_all_hosts_has_the_optimum_of_all_hosts(number, collective):
    topology = FABRICS[number]
    if collective is ALL_TO_ALL:
        best = len(topology.nodes) / all_to_all.optimum(topology).inverse_rate
    else:
        best = collective_optimum(topology, collective, Options()).algbw
    for found in (
        joint_rate(topology, [topology.compute_nodes], collective),
        group_rate(topology, topology.compute_nodes, collective),
        members_only_rate(topology, topology.compute_nodes, collective),
    ):
        assert found is not None
        assert (found.algbw, found.exact) == (best, True)


@pytest.mark.parametrize("collective", COLLECTIVES[:3])
def test_joint_rates_on_switches_equal_those_of_forestcoll(collective):
    boxes = fabric("dgx-a100-2")
    groups = [tuple(boxes.compute_nodes[:8])]
    best = collective_optimum(boxes, collective, Options(participants=groups[0])).algbw
    assert joint_rate(boxes, groups, collective).algbw == best


def flow_rate(topology, groups, collective):
    """Return the joint rate by one linear program of all flows, without any reduction."""
    inward = {ALLGATHER: [False], REDUCE_SCATTER: [True], ALLREDUCE: [True, False]}
    arcs = [(link.source, link.target) for link in topology.links]
    columns, rows, equal = [], [], []

    def column(name):
        columns.append(name)
        return len(columns) - 1

    rate = column("rate")
    used = {}
    for g, members in enumerate(groups):
        shares = {v: column(("share", g, v)) for v in members}
        equal.append(({rate: -1.0} | dict.fromkeys(shares.values(), 1.0), 0))
        if collective is not ALLREDUCE:
            equal += [({at: 1.0, rate: -1 / len(members)}, 0) for at in shares.values()]
        for inside, which in product([members], inward.get(collective, [False])):
            add_pass(
                topology, arcs, inside, which, shares, g, column, rows, equal, used, collective
            )
    for link, load in zip(topology.links, zip(*used.values(), strict=True), strict=True):
        rows.append((dict.fromkeys(load, 1.0), float(link.capacity)))
    return solved(columns, rows, equal, rate)


def add_pass(topology, arcs, members, inward, shares, g, column, rows, equal, used, collective):
    """Add the capacities of one pass of a group, and a flow to every member."""
    ends = [(b, a) if inward else (a, b) for a, b in arcs]
    room = [column(("room", g, inward, arc)) for arc in range(len(arcs))]
    used[g, inward] = room
    for node in topology.nodes:
        if node not in members:
            balance = {room[arc]: 1.0 for arc, (tail, _) in enumerate(ends) if tail == node}
            balance |= {room[arc]: -1.0 for arc, (_, head) in enumerate(ends) if head == node}
            rows.append((balance, 0))
    for goal in members:
        flow = [column(("flow", g, inward, goal, arc)) for arc in range(len(arcs))]
        rows.extend(({flow[arc]: 1.0, room[arc]: -1.0}, 0) for arc in range(len(arcs)))
        for node in topology.nodes:
            if node != goal:
                out = {flow[arc]: 1.0 for arc, (tail, _) in enumerate(ends) if tail == node}
                out |= {flow[arc]: -1.0 for arc, (_, head) in enumerate(ends) if head == node}
                equal.append((out | ({shares[node]: -1.0} if node in shares else {}), 0))


def solved(columns, rows, equal, rate):
    def dense(entries):
        matrix = np.zeros((len(entries), len(columns)))
        for row, (values, _) in enumerate(entries):
            for at, value in values.items():
                matrix[row, at] = value
        return matrix, [limit for _, limit in entries]

    goal = np.zeros(len(columns))
    goal[rate] = -1
    most, limits = dense(rows)
    same, sums = dense(equal)
    found = linprog(goal, A_ub=most, b_ub=limits, A_eq=same, b_eq=sums, method="highs")
    return -found.fun


def exchange_rate(topology, groups):
    """Return the joint rate of all-to-alls by a linear program with a flow for every source."""
    columns, rows, equal = ["rate"], [], []
    arcs = [(link.source, link.target) for link in topology.links]
    loads = [[] for _ in arcs]
    for members in groups:
        for source in members:
            base = len(columns)
            columns += [(source, arc) for arc in arcs]
            for arc in range(len(arcs)):
                loads[arc].append(base + arc)
            for node in topology.nodes:
                if node == source:
                    continue
                into = {base + a: 1.0 for a, (_, head) in enumerate(arcs) if head == node}
                into |= {base + a: -1.0 for a, (tail, _) in enumerate(arcs) if tail == node}
                want = -1 / len(members) if node in members else 0.0
                equal.append((into | {0: want}, 0))
    for link, load in zip(topology.links, loads, strict=True):
        rows.append((dict.fromkeys(load, 1.0), float(link.capacity)))
    return solved(columns, rows, equal, 0)


@pytest.mark.parametrize("collective", COLLECTIVES)
@settings(max_examples=12, deadline=None)
@given(case=grouped())
def test_joint_rates_equal_those_of_a_slow_linear_program(collective, case):
    topology, groups = case
    found = joint_rate(topology, groups, collective)
    oracle = exchange_rate if collective is ALL_TO_ALL else None
    best = oracle(topology, groups) if oracle else flow_rate(topology, groups, collective)
    assert found.gap < Fraction(1, 10**6)
    assert float(found.algbw) == pytest.approx(best, rel=1e-6)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(case=grouped(), collective=st.sampled_from(COLLECTIVES))
def test_own_links_and_all_at_once_are_never_faster_than_one_group_alone(case, collective):
    topology, groups = case
    found = group_figures(topology, {"hosts": tuple(groups)}, collective)[0]
    assert found.together.algbw <= found.alone.bound
    if found.members_only is not None:
        # Without switches no two groups share a link of their own.
        assert found.members_only.algbw <= found.together.bound
        assert found.members_only.algbw <= found.alone.bound


def test_prices_of_links_prove_the_bound_of_the_joint_rate():
    # 16 links of length 1 have capacity 16; every of 8 members takes in 3 units from 2 links away.
    found = joint_rate(ring(8), INTERLEAVED, ALLGATHER)
    assert [(one.count, one.length) for one in found.prices] == [(16, 1)]
    assert found.bound == 4 * Fraction(16, 8 * 3 * 2)


@pytest.mark.parametrize("collective", COLLECTIVES)
def test_a_thousand_hosts_of_a_torus_are_exact(collective):
    torus = build(parse("Torus(32, 32)"))
    groups = Placement.in_order(ProcessGroups.parse("tensor=8,data=128"), torus).groups("tensor")
    found = joint_rate(torus, groups, collective)
    # A segment of 8 hosts in a ring: its end takes in 7 units by one link; 16 cross its middle.
    best = {
        ALLGATHER: Fraction(8, 7),
        REDUCE_SCATTER: Fraction(8, 7),
        ALLREDUCE: 1,
        ALL_TO_ALL: Fraction(1, 2),
    }
    assert (found.algbw, found.exact) == (best[collective], True)


def test_a_member_that_does_not_reach_another_is_named():
    line = Topology("abc", [("a", "b"), ("b", "c")])
    with pytest.raises(Unreachable, match="'c' must reach 'a'"):
        joint_rate(line, [("a", "c")], ALLREDUCE)


@pytest.mark.parametrize("collective", [Collective.BROADCAST, Collective.REDUCE])
def test_collectives_with_one_root_have_no_group_rates(collective):
    with pytest.raises(NoSchedule, match="must be one of allgather"):
        joint_rate(ring(4), [(0, 1)], collective)


@given(st.integers(2, 7), st.integers(0, 2**32 - 1))
def test_arborescences_cost_as_little_as_those_of_networkx(nodes, seed):
    random = np.random.default_rng(seed)
    cost, root = random.integers(0, 6, (nodes, nodes)), int(random.integers(nodes))
    parents = least_arborescence(cost, root)
    below = [node for node in range(nodes) if node != root]
    graph = nx.DiGraph()
    graph.add_weighted_edges_from(
        (a, b, int(cost[a, b])) for a in range(nodes) for b in below if a != b
    )
    best = nx.minimum_spanning_arborescence(graph).size(weight="weight")
    assert sum(int(cost[parents[node], node]) for node in below) == best
    assert nx.is_arborescence(nx.DiGraph((int(parents[node]), node) for node in below))


@given(st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_exact_solutions_are_found_from_floats(size, seed):
    random = np.random.default_rng(seed)
    matrix = random.integers(-5, 6, (size, size))
    if round(np.linalg.det(matrix)) == 0:
        return
    right = random.integers(-5, 6, size)
    found = exact_solution(matrix, right, np.linalg.solve(matrix, right))
    assert found is not None
    for row, value in zip(matrix.tolist(), right.tolist(), strict=True):
        assert sum(a * x for a, x in zip(row, found, strict=True)) == value
