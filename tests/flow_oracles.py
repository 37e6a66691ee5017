"""What a collective can reach, by a plain linear program over flows in floats.

It shares no code with what it judges: every link by itself, a flow from all roots to every rank,
no symmetry, no cuts.
"""

from collections.abc import Mapping
from itertools import combinations

from scipy.optimize import linprog
from scipy.sparse import coo_array

from topoloom.synth.topology.topology import NodeId, Topology


class _Program:
    def __init__(self) -> None:
        self.columns, self.equal, self.most = 0, [], []

    def new(self, count: int) -> range:
        self.columns += count
        return range(self.columns - count, self.columns)

    def solve(self, goal: Mapping[int, float]) -> float:
        costs = [0.0] * self.columns
        for column, value in goal.items():
            costs[column] -= value
        sides = {}
        for name, rows in (("eq", self.equal), ("ub", self.most)):
            cells = [(r, c, v) for r, (row, _) in enumerate(rows) for c, v in row]
            at, columns, values = zip(*cells, strict=True)
            shape = (len(rows), self.columns)
            sides[f"A_{name}"] = coo_array((values, (at, columns)), shape=shape)
            sides[f"b_{name}"] = [limit for _, limit in rows]
        found = linprog(costs, **sides, method="highs")
        assert found.status == 0, found.message
        return -found.fun


def flow_rate(
    topology: Topology, sizes: Mapping[NodeId, int], passes: str, *, free: bool = False
) -> float:
    """Return the most data per unit of time.

    ``passes`` holds an "o" for a pass away from the roots and an "i" for one towards them.  The
    keys of ``sizes`` are the ranks, the values those of their shards, or with ``free`` nothing.
    """
    program, links = _Program(), topology.links
    whole = sum(sizes.values())
    shares = dict(zip(sizes, program.new(len(sizes) if free else 1) if free else [], strict=False))
    rate = program.new(0 if free else 1)
    rooms = []
    for way in passes:
        room = program.new(len(links))
        rooms.append(room)
        ends = [(k.source, k.target) if way == "o" else (k.target, k.source) for k in links]
        for node in set(topology.nodes) - sizes.keys() - topology.multicast:
            row = [(room[i], float(s == node) - float(t == node)) for i, (s, t) in enumerate(ends)]
            program.most.append((row, 0.0))
        for rank in sizes:
            flow = program.new(len(links))
            program.most += [([(flow[i], 1.0), (room[i], -1.0)], 0.0) for i in range(len(links))]
            for node in topology.nodes:
                if node == rank:
                    continue
                row = [
                    (flow[i], float(s == node) - float(t == node)) for i, (s, t) in enumerate(ends)
                ]
                if node in sizes:
                    row.append((shares[node], -1.0) if free else (rate[0], -sizes[node] / whole))
                program.equal.append((row, 0.0))
    for i, link in enumerate(links):
        program.most.append(([(room[i], 1.0) for room in rooms], float(link.capacity)))
    for pairs, capacity in topology.shared:
        held = [i for i, link in enumerate(links) if link[:2] in pairs]
        row = [(room[i], 1.0) for room in rooms for i in held]
        program.most.append((row, float(capacity)))
    return program.solve(dict.fromkeys([*shares.values(), *rate], 1.0))


def copying_rate(topology: Topology, sizes: Mapping[NodeId, int], way: str) -> float:
    """Return the most data per unit of time of one pass, by trees copied at any switches that can.

    The trees that are copied at the same switches share their own part of every link.  ``way`` is
    that of `flow_rate`.
    """
    program, links = _Program(), topology.links
    whole, able = sum(sizes.values()), sorted(topology.multicast, key=str)
    (rate,) = program.new(1)
    rooms, parts = [], []
    for chosen in (some for count in range(len(able) + 1) for some in combinations(able, count)):
        room = program.new(len(links))
        part = dict(zip(sizes, program.new(len(sizes)), strict=True))
        rooms.append(room)
        parts.append(part)
        ends = [(k.source, k.target) if way == "o" else (k.target, k.source) for k in links]
        receivers = {*sizes, *chosen}
        for node in set(topology.nodes) - receivers:
            row = [(room[i], float(s == node) - float(t == node)) for i, (s, t) in enumerate(ends)]
            program.most.append((row, 0.0))
        for receiver in receivers:
            flow = program.new(len(links))
            program.most += [([(flow[i], 1.0), (room[i], -1.0)], 0.0) for i in range(len(links))]
            for node in set(topology.nodes) - {receiver}:
                row = [
                    (flow[i], float(s == node) - float(t == node)) for i, (s, t) in enumerate(ends)
                ]
                row += [(part[node], -1.0)] if node in part else []
                program.equal.append((row, 0.0))
    for rank, size in sizes.items():
        row = [(part[rank], 1.0) for part in parts]
        program.equal.append(([*row, (rate, -size / whole)], 0.0))
    for i, link in enumerate(links):
        program.most.append(([(room[i], 1.0) for room in rooms], float(link.capacity)))
    return program.solve({rate: 1.0})
