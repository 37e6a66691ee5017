"""For small messages no known allreduce in one pass beats the best baseline: all are simulated."""

from fractions import Fraction
from itertools import product

import networkx
import pytest

from topoloom.schedules.baselines import Operation, assumed_baselines, baselines
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.model.transcript import Message, Span, Transcript
from topoloom.schedules.simulate import Network, simulate
from topoloom.synth.topology.topology import Topology

ALPHA, RATE = Fraction(1, 10**5), Fraction(125 * 10**8)
EXHAUSTIVE = 7
"""Hosts up to which all trees are simulated."""


class Run:
    """The messages of an allreduce, added one by one; parts of the data have equal size."""

    def __init__(self, hosts, parts):
        self.hosts, self.parts, self.messages = hosts, parts, []
        self.sums = {(part, host): 1 << host for part in range(parts) for host in range(hosts)}
        self.came: dict[tuple[int, int], tuple[int, ...]] = dict.fromkeys(self.sums, ())

    def send(self, source, target, part, mask, needs):
        span = Span(part * self.hosts, (part + 1) * self.hosts, mask)
        self.messages.append(Message(source, target, (span,), needs))
        return len(self.messages) - 1

    def seconds(self, links, copies, degree, size, **how):
        topology = Topology(range(self.hosts), sorted(links) * copies)
        bounds = tuple(self.parts * host for host in range(self.hosts + 1))
        transcript = Transcript(Collective.ALLREDUCE, bounds, tuple(self.messages))
        network = Network(ALPHA, RATE / degree)
        return simulate(transcript, topology, network, size_bytes=size, **how).seconds


def grid_seconds(shape, rings, copies, degree, size):
    """Gather sums along one dimension after another, half of every part around each side."""
    points = list(product(*map(range, shape)))
    run, links = Run(len(points), 2 * len(shape)), set()

    def moved(point, axis, by):
        return (*point[:axis], (point[axis] + by) % shape[axis], *point[axis + 1 :])

    for part in range(run.parts):
        for turn in range(len(shape)):
            axis = (part // 2 + turn) % len(shape)
            side, sums, came = shape[axis], dict(run.sums), dict(run.came)
            ways = [(by, 1) for by in range(1, side)]
            if rings:
                # The first half goes one host farther forward where the ring is even.
                ahead = side // 2 if part % 2 == 0 else (side - 1) // 2
                ways = [(1, ahead), (-1, side - 1 - ahead)]
            for by, hops in ways:
                for point in points:
                    at, number = point, came[part, points.index(point)]
                    for _ in range(hops):
                        source, target = points.index(at), points.index(moved(at, axis, by))
                        mask = sums[part, points.index(point)]
                        number = (run.send(source, target, part, mask, number),)
                        run.sums[part, target] |= mask
                        run.came[part, target] += number
                        links.add((source, target))
                        at = points[target]
    run.messages = merged(run.messages)
    assert set(run.sums.values()) == {(1 << len(points)) - 1}
    return run.seconds(links, copies, degree, size, synchronous=True)


def merged(messages):
    """Return the messages with one for all halves that cross a link together, in order."""
    rounds = []
    for message in messages:
        rounds.append(1 + max((rounds[need] for need in message.needs), default=-1))
    groups = {}
    for number, (message, level) in enumerate(zip(messages, rounds, strict=True)):
        whole = message.spans[0].first // (2 * len_of(message))
        key = level, message.source, message.target, whole, message.spans[0].contributions
        groups.setdefault(key, []).append(number)
    place, made = {}, []
    for numbers in (groups[key] for key in sorted(groups, key=lambda key: key[0])):
        spans = [messages[number].spans[0] for number in numbers]
        needs = {place[need] for number in numbers for need in messages[number].needs}
        span = Span(min(s.first for s in spans), max(s.past for s in spans), spans[0].contributions)
        place |= dict.fromkeys(numbers, len(made))
        first = messages[numbers[0]]
        made.append(Message(first.source, first.target, (span,), tuple(sorted(needs))))
    return made


def len_of(message):
    return message.spans[0].past - message.spans[0].first


def tree_seconds(tree, center, copies, degree, size):
    """Sum up towards a host, or an edge whose ends exchange their sums, and back."""
    run = Run(len(tree), 1)
    sums = {host: 1 << host for host in tree}
    came: dict[int, tuple[int, ...]] = dict.fromkeys(tree, ())
    parents, order = dict.fromkeys(center, -1), list(center)
    for host in order:
        for near in sorted(tree[host]):
            if near not in parents:
                parents[near] = host
                order.append(near)
    for child in reversed(order[len(center) :]):
        up = run.send(child, parents[child], 0, sums[child], came[child])
        came[parents[child]] += (up,)
        sums[parents[child]] |= sums[child]
    if len(center) == 2:
        one, other = center
        swapped = [run.send(a, b, 0, sums[a], came[a]) for a, b in ((one, other), (other, one))]
        came[other] += (swapped[0],)
        came[one] += (swapped[1],)
    for child in order[len(center) :]:
        everything = (1 << len(tree)) - 1
        came[child] = (run.send(parents[child], child, 0, everything, came[parents[child]]),)
    links = {pair for a, b in tree.edges for pair in ((a, b), (b, a))}
    return run.seconds(links, copies, degree, size, chunks=1)


def shapes(nodes, most):
    """Return all sides, from 2 up, in order, of grids of at most ``most`` dimensions."""
    found = [(nodes,)]
    for side in range(2, nodes):
        if nodes % side == 0 and most > 1:
            found += [(side, *rest) for rest in shapes(nodes // side, most - 1) if side <= rest[0]]
    return found


def known_seconds(nodes, degree, size):
    """Return the times of all known ways by name."""
    found = {}
    for shape in shapes(nodes, nodes.bit_length()):
        if len(shape) <= 3 or set(shape) == {2}:
            copies = degree // (sum(shape) - len(shape))
            if copies:
                found["mesh", shape] = grid_seconds(shape, False, copies, degree, size)
        copies = degree // (2 * len(shape))
        if min(shape) > 2 and copies:
            found["rings", shape] = grid_seconds(shape, True, copies, degree, size)
    made = networkx.nonisomorphic_trees(nodes) if nodes <= EXHAUSTIVE else ()
    for tree in map(networkx.Graph, made):
        copies = degree // max(dict(tree.degree).values())
        if copies:
            for center in [*((host,) for host in tree), *tree.edges]:
                key = "tree", tuple(tree.edges), center
                found[key] = tree_seconds(tree, center, copies, degree, size)
    return found


@pytest.mark.parametrize("size", [1, 1000, 4000])
@pytest.mark.parametrize(
    ("nodes", "degree"),
    [(3, 2), (4, 2), (4, 3), (5, 3), (6, 2), (6, 4), (7, 3), (8, 3), (8, 4), (9, 4), (12, 4)],
)
def test_no_known_allreduce_of_a_small_message_beats_the_best_baseline(nodes, degree, size):
    work = Operation(Collective.ALLREDUCE, size, RATE, ALPHA)
    listed = min(one.seconds for one in baselines(nodes, degree, work))
    known = min(known_seconds(nodes, degree, size).values())
    assert listed <= known
    # Nor is a baseline faster than everything that is known.
    if nodes <= EXHAUSTIVE:
        assert listed == known


@pytest.mark.parametrize(("nodes", "degree"), [(2, 1), (6, 2), (12, 4), (13, 3), (27, 2), (100, 4)])
def test_a_switch_takes_the_fewest_steps_that_reach_all_hosts(nodes, degree):
    work = Operation(Collective.ALLREDUCE, 1, RATE, ALPHA)
    listed = {one.name: one.steps for one in assumed_baselines(nodes, degree, work)}
    steps = listed["switch-bruck"]
    assert (degree + 1) ** steps >= nodes > (degree + 1) ** (steps - 1)


def test_a_mesh_of_12_hosts_and_a_tree_of_1024_are_the_fastest_for_1_kilobyte():
    work = Operation(Collective.ALLREDUCE, 1000, RATE, ALPHA)
    best = {n: min(baselines(n, 4, work), key=lambda one: one.seconds) for n in (12, 1024)}
    shown = {n: (one.name, round(float(one.seconds) * 1e6, 1)) for n, one in best.items()}
    assert shown == {12: ("full-mesh-3d", 30.3), 1024: ("single-tree", 123.8)}
