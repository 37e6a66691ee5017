"""Which panel carries which link, on plants of every shape."""

import time
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from tests.synth.plants import plants, topologies
from topoloom.synth.errors import DoesNotFit
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring import Present, cross_wired, duplex, plan_moves, violations
from topoloom.synth.wiring.assignment.demand import Choice, Demand
from topoloom.synth.wiring.assignment.flow_assignment import share_out
from topoloom.synth.wiring.assignment.orientation import balanced_directions
from topoloom.synth.wiring.coloring.kempe import edge_coloring
from topoloom.synth.wiring.plant import read_plant


@st.composite
def questions(draw):
    plant = draw(plants())
    return draw(topologies(plant)), plant


@settings(max_examples=80, deadline=None)
@given(questions())
def test_a_plan_on_any_plant_is_a_wiring_that_touches_nobody_elses(question):
    topology, plant = question
    try:
        plan = plan_moves(topology, plant)
    except DoesNotFit:
        return
    assert violations(plan.wiring, topology) == []
    assert plan.lower_bound <= plan.moves
    today, after = set(plant.present.pairs), set(plan.final.pairs)
    assert plant.present.foreign <= after
    assert after == today - set(plan.removes) | set(plan.adds)
    used = {plant.host_index[node] for node in topology.nodes}
    assert all(used.intersection(plant.hosts_of(pair)) for pair in today ^ after)
    assert plant.with_present(plan.final).present == plan.final
    again = plan_moves(topology, plant, plan.final)
    assert (again.moves, again.optimal) == (0, True)


def brute_force(topology, plant):
    """Return the fewest moves by trying every free port for every link, or None."""
    present = set(plant.present.pairs)
    foreign = {port for pair in plant.present.foreign for port in plant.ends(pair)}
    used = {plant.host_index[node] for node in topology.nodes}
    ours = {pair for pair in present - plant.present.foreign if used & set(plant.hosts_of(pair))}
    double = any(port.duplex for host in plant.hosts for port in host.ports)
    links = [
        (plant.host_index[link.source], plant.host_index[link.target])
        for link in topology.links
        if not double or topology.position[link.source] < topology.position[link.target]
    ]

    def ways(u, v):
        for one in plant.hosts[u].ports:
            for other in plant.hosts[v].ports:
                lanes = [*zip(one.tx, other.rx, strict=True)]
                lanes += zip(other.tx, one.rx, strict=True) if double else []
                ends = {port for lane in lanes for port in lane}
                if all(joinable(plant, *lane) for lane in lanes) and not foreign & ends:
                    yield frozenset(plant.panels[x.panel].join(x, y) for x, y in lanes)

    best = None

    def extend(index, pairs, ports):
        nonlocal best
        if index == len(links):
            moves = len(ours ^ pairs)
            best = moves if best is None else min(best, moves)
            return
        for way in ways(*links[index]):
            ends = {port for pair in way for port in plant.ends(pair)}
            if not ends & ports:
                extend(index + 1, pairs | way, ports | ends)

    extend(0, frozenset(), frozenset())
    return best


def joinable(plant, one, other):
    panel = plant.panels[one.panel]
    return one.panel == other.panel and (panel.one_sided or one.side != other.side)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_on_tiny_plants_nothing_fits_better_and_what_is_refused_does_not_fit(data):
    plant = data.draw(plants(most_hosts=3, most_panels=2, states=False))
    topology = data.draw(topologies(plant, most_links=3))
    fewest = brute_force(topology, plant)
    try:
        plan = plan_moves(topology, plant)
    except DoesNotFit:
        assert fewest is None
        return
    assert plan.lower_bound <= fewest <= plan.moves
    assert not plan.optimal or plan.moves == fewest
    if all(len(port.fibres) <= 1 + (not port.duplex) for h in plant.hosts for port in h.ports):
        assert plan.optimal


@given(st.integers(1, 9), st.data())
def test_links_are_turned_evenly(size, data):
    node = st.integers(0, size - 1)
    ends = data.draw(st.lists(st.tuples(node, node).filter(lambda e: e[0] != e[1]), max_size=40))
    turned = balanced_directions(size, ends)
    sent = Counter(v if turn else u for (u, v), turn in zip(ends, turned, strict=True))
    got = Counter(u if turn else v for (u, v), turn in zip(ends, turned, strict=True))
    assert all(abs(sent[node] - got[node]) <= 1 for node in range(size))


RECIPES = ["Odd(3)", "Complete(5)", "BiRing(7)", "Torus(3, 5)", "Hypercube(4)", "Paley(13)"]


@pytest.mark.parametrize("text", RECIPES)
def test_every_two_way_topology_fits_cross_wired_panels(text):
    topology = build(parse(text))
    lanes = topology.degree + topology.degree % 2
    plant = cross_wired(topology.node_count, lanes)
    plan = plan_moves(topology, plant)
    assert violations(plan.wiring, topology) == []
    assert len(plan.adds) * 2 == topology.link_count


@pytest.mark.parametrize("text", ["Odd(3)", "Complete(5)", "BiRing(7)"])
def test_without_an_edge_colouring_nothing_fits_and_panels_of_two_sides_are_advised(text):
    topology = build(parse(text))
    with pytest.raises(DoesNotFit, match=r"panel-[0-9]+ lacks") as caught:
        plan_moves(topology, duplex(topology.node_count, topology.degree))
    assert ("on panels of two sides" in caught.value.rule) == (topology.degree % 2 == 0)


@pytest.mark.parametrize("text", ["Complete(6)", "Torus(4, 4)", "Hypercube(4)", "BiRing(8)"])
def test_topologies_with_an_edge_colouring_fit_a_panel_for_each_duplex_port(text):
    topology = build(parse(text))
    plant = duplex(topology.node_count, topology.degree)
    plan = plan_moves(topology, plant)
    assert violations(plan.wiring, topology) == []
    assert all(len(route) == 1 for route in plan.wiring.routes)


def rows_of_hosts(hosts, ports):
    """Hosts in two rows; port p of row r is on panel p, but for the last, on panel 8 + r."""
    return read_plant({
        "schema": "plant/1",
        "panels": [{"id": f"p{p}", "a": hosts, "b": hosts} for p in (*range(ports - 1), 8, 9)],
        "hosts": [
            {"id": str(h), "ports": [
                {"id": str(p), "tx": f"p{panel}/{h}A", "rx": f"p{panel}/{h}B"}
                for p in range(ports)
                for panel in [p if p < ports - 1 else 8 + h % 2]
            ]}
            for h in range(hosts)
        ],
    })  # fmt: skip


def test_the_certificate_names_the_panel_that_lacks_ports():
    plant = rows_of_hosts(4, 2)
    across = Topology([str(h) for h in range(4)], [("0", "1"), ("0", "3")])
    with pytest.raises(DoesNotFit) as caught:
        plan_moves(across, plant)
    # Hosts 0 and 1 are in different rows: one link more than p0 has ports for must leave it.
    assert caught.value.rule in (
        "p0 lacks 1 port of 0 that send",
        "p9 lacks 1 port of 0 that send",
    )
    within = Topology([str(h) for h in range(4)], [("0", "1"), ("0", "2")])
    assert violations(plan_moves(within, plant).wiring, within) == []


def regular(nodes, degree, seed):
    rng = np.random.default_rng(seed)
    cycles = [rng.permutation(nodes) for _ in range(degree)]
    return Topology.direct(
        nodes, np.concatenate(cycles), np.concatenate([np.roll(cycle, -1) for cycle in cycles])
    )


def uneven(hosts):
    """Four ports of every host, three on one panel and one on another."""
    return read_plant({
        "schema": "plant/1",
        "panels": [{"id": f"p{p}", "a": 4 * hosts, "b": 4 * hosts} for p in range(2)],
        "hosts": [
            {"id": str(h), "ports": [
                {"id": str(k), "tx": f"p{p}/{4 * h + k}A", "rx": f"p{p}/{4 * h + k}B"}
                for k, p in enumerate((0, 0, 0, 1))
            ]}
            for h in range(hosts)
        ],
    })  # fmt: skip


@pytest.mark.slow
def test_a_thousand_hosts_on_uneven_panels_are_planned_in_seconds_at_the_bound():
    before, after = regular(1024, 4, seed=1), regular(1024, 4, seed=2)
    plant = uneven(1024)
    first = plan_moves(before, plant)
    start = time.process_time()
    plan = plan_moves(after, plant, first.final)
    assert time.process_time() - start < 60
    assert violations(plan.wiring, after) == []
    assert plan.optimal


def most_kept(question):
    """Links that stay at most, by an integer program; None if the links do not fit.

    Of every link and channel, one column is the link on the channel, and one says that it stays.
    """
    links, channels, rows = question.links, range(question.channels), []
    on = np.arange(2 * len(links) * len(channels)).reshape(2, len(links), len(channels))

    def row(columns, least, most, less=()):
        rows.append((np.zeros(on.size), least, most))
        rows[-1][0][list(columns)], rows[-1][0][list(less)] = 1, -1

    for number in range(len(links)):
        row(on[0, number], 1, 1)
    for c in channels:
        for pair in {tuple(sorted(ends)) if question.shared[c] else ends for ends in links}:
            ways = {pair, pair[::-1]} if question.shared[c] else {pair}
            same = [k for k, ends in enumerate(links) if ends in ways]
            row(on[1, same, c], 0, question.joined[c][pair])
            row(on[1, same, c], -np.inf, 0, less=on[0, same, c])
        for node in range(question.size):
            out = on[0, [k for k, (u, _) in enumerate(links) if u == node], c]
            into = on[0, [k for k, (_, v) in enumerate(links) if v == node], c]
            if question.shared[c]:
                row([*out, *into], 0, question.sending[c, node])
            else:
                row(out, 0, question.sending[c, node])
                row(into, 0, question.receiving[c, node])
    matrix, low, high = (np.array(part) for part in zip(*rows, strict=True))
    solved = milp(
        np.repeat([0, -1], on.size // 2), integrality=np.ones(on.size), bounds=Bounds(0, 1),
        constraints=LinearConstraint(matrix, low, high), options={"mip_rel_gap": 0},
    )  # fmt: skip
    assert solved.status in (0, 2)
    return None if solved.x is None else -round(solved.fun)


def demand(size, links, room, turnable=True):
    sources, targets = (np.array(side, np.int64) for side in zip(*links, strict=True))
    channels = len(room)
    return Demand(size, sources, targets, np.array(room), np.array(room),
                  (turnable,) * channels, turnable, (Counter(),) * channels)  # fmt: skip


@settings(deadline=None)
@given(st.integers(3, 6), st.integers(1, 4), st.data())
def test_kempe_chains_colour_what_the_integer_program_colours(size, colours, data):
    everything = list(combinations(range(size), 2))
    links = data.draw(st.lists(st.sampled_from(everything), min_size=1, unique=True))
    room = [[1] * size] * colours
    question = demand(size, sorted(links), room)
    found = edge_coloring(
        (question.sources, question.targets), np.array(room), np.full(len(links), -1)
    )
    if found is not None:
        assert question.fits(Choice.straight(found))
        assert most_kept(question) == 0


@st.composite
def one_way_demands(draw, channels):
    """Links between a few nodes, any ports on the channels, and pairs of today within them."""
    size = draw(st.integers(2, 5))
    node = st.integers(0, size - 1)
    links = st.lists(st.tuples(node, node).filter(lambda e: e[0] != e[1]), min_size=1, max_size=9)
    rows = st.lists(st.integers(0, 4), min_size=size, max_size=size)
    rooms = st.lists(rows, min_size=channels, max_size=channels)
    sending, receiving = (np.array(draw(rooms)) for _ in range(2))
    joined = []
    for out, into in zip(sending.tolist(), receiving.tolist(), strict=True):
        joined.append(Counter())
        for u, v in draw(links):
            if out[u] and into[v]:
                out[u], into[v] = out[u] - 1, into[v] - 1
                joined[-1][u, v] += 1
    sources, targets = (np.array(side) for side in zip(*draw(links), strict=True))
    shared = (False,) * channels
    return Demand(size, sources, targets, sending, receiving, shared, False, tuple(joined))


@pytest.mark.slow
@settings(deadline=None)
@given(one_way_demands(channels=2))
def test_flows_over_two_panels_keep_as_many_links_as_an_integer_program(question):
    exact, found = most_kept(question), share_out(question, question.most_kept())
    if exact is None or found is None:
        assert exact is found
        return
    choice, most = found
    assert question.fits(choice)
    assert question.kept(choice) == exact == most


def test_few_new_links_on_full_uneven_panels_take_moves_that_are_proven_fewest():
    before, plant = regular(200, 4, seed=1), uneven(200)
    targets = before.targets.copy()
    targets[:20:5] = np.roll(targets[:20:5], 1)
    after = Topology.direct(200, before.sources, targets)
    plan = plan_moves(after, plant, plan_moves(before, plant).final)
    assert violations(plan.wiring, after) == []
    # Each of the four links goes and comes, and more links must change their panels.
    assert plan.lower_bound == plan.moves > 8


def test_pairs_on_reserved_ports_stay_and_those_on_dead_ports_go():
    plant = read_plant({
        "schema": "plant/1",
        "panels": [{"id": "p", "a": 6, "b": 6}],
        "hosts": [
            {"id": f"h{h}", "ports": [
                {"id": str(k), "tx": f"p/{2 * h + k}A", "rx": f"p/{2 * h + k}B"} for k in range(2)
            ]}
            for h in range(3)
        ],
        "port_states": [{"port": "p/0A", "state": "dead"}, {"port": "p/2A", "state": "reserved"}],
        "cross_connects": [
            {"panel": "p", "a": "0A", "b": "2B"}, {"panel": "p", "a": "2A", "b": "4B"}
        ],
    })  # fmt: skip
    ring = Topology(["h0", "h1", "h2"], [("h0", "h1"), ("h1", "h2"), ("h2", "h0")])
    plan = plan_moves(ring, plant)
    assert [plant.pair_name(pair) for pair in plan.removes] == ["0A-2B"]
    assert "2A-4B" in [plant.pair_name(pair) for pair in plan.final.pairs]
    used = {plant.port_name(port) for pair in plan.adds for port in plant.ends(pair)}
    assert not used & {"0A", "2A", "4B"}


def test_panels_that_lose_too_much_light_are_not_used():
    document = {
        "schema": "plant/1",
        "link_budget_db": 2,
        "panels": [{"id": "good", "a": 2, "b": 2, "loss_db": 2},
                   {"id": "bad", "a": 2, "b": 2, "loss_db": "2.5"}],
        "hosts": [
            {"id": f"h{h}", "ports": [
                {"id": panel, "tx": f"{panel}/{h}A", "rx": f"{panel}/{h}B"}
                for panel in ("good", "bad")
            ]}
            for h in range(2)
        ],
    }  # fmt: skip
    once = Topology(["h0", "h1"], [("h0", "h1")])
    assert plan_moves(once, read_plant(document)).adds[0].panel == 0
    twice = Topology(["h0", "h1"], [("h0", "h1")] * 2)
    with pytest.raises(DoesNotFit):
        plan_moves(twice, read_plant(document))
    document["link_budget_db"] = 3
    assert plan_moves(twice, read_plant(document)).moves == 2


def test_the_same_question_on_an_uneven_plant_gets_the_same_plan():
    plant = uneven(30)
    plans = [plan_moves(regular(30, 4, 1), plant, Present()) for _ in range(2)]
    assert plans[0].wiring.routes == plans[1].wiring.routes
