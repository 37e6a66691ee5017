"""The baselines as they run: their topologies, and every send of an allgather."""

from itertools import product

import numpy as np

from schedules.model import COPY, SEND, Collective, StepSchedule
from synth.topology import Topology


def step_schedule(topology, chunks, rows):
    """Rows are (step, source, target, shard, first, count, link)."""
    steps = [[] for _ in range(1 + max(row[0] for row in rows))]
    for step, *row in rows:
        steps[step].append((*row, COPY))
    arrays = tuple(np.array(step, SEND) for step in steps)
    return StepSchedule(Collective.ALLGATHER, topology.digest, topology.nodes, chunks, arrays)


def rings(nodes, shifts):
    """Two-way rings of every shift (coprime to the number of nodes), sharing the data."""
    ways = [way * shift for shift in shifts for way in (1, -1)]
    topology = Topology(range(nodes), [(i, (i + w) % nodes) for i in range(nodes) for w in ways])
    rows = [
        (step, (i + step * way) % nodes, (i + (step + 1) * way) % nodes, i, part, 1, 0)
        for part, way in enumerate(ways)
        for step in range(nodes - 1)
        for i in range(nodes)
    ]
    return topology, step_schedule(topology, len(ways), rows)


def one_way_ring(nodes):
    topology = Topology(range(nodes), [(i, (i + 1) % nodes) for i in range(nodes)])
    rows = [
        (step, (i + step) % nodes, (i + step + 1) % nodes, i, 0, 1, 0)
        for step in range(nodes - 1)
        for i in range(nodes)
    ]
    return topology, step_schedule(topology, 1, rows)


def torus(rows, columns):
    """``columns`` <= ``rows``; host (a, b) is number a * columns + b."""
    sides = (rows, columns)

    def host(place):
        return place[0] % rows * columns + place[1] % columns

    def moved(place, axis, by):
        return tuple(at + by * (index == axis) for index, at in enumerate(place))

    links, sends = [], []
    for place in product(range(rows), range(columns)):
        for axis, way in product((0, 1), (1, -1)):
            links.append((host(place), host(moved(place, axis, way))))
            # What goes along axis 1, the short rings, first is rows / (rows + columns).
            width = rows if axis == 1 else columns
            first = (0 if axis == 1 else 2 * rows) + (0 if way == 1 else width)
            other = 1 - axis
            for step in range(sides[axis] - 1):
                a, b = moved(place, axis, step * way), moved(place, axis, (step + 1) * way)
                sends.append((step, host(a), host(b), host(place), first, width, 0))
            for turn in range(sides[axis]):
                start = moved(place, axis, turn)
                for step in range(sides[other] - 1):
                    a = moved(start, other, step * way)
                    b = moved(start, other, (step + 1) * way)
                    when = sides[axis] - 1 + step
                    sends.append((when, host(a), host(b), host(place), first, width, 0))
    topology = Topology(range(rows * columns), links)
    return topology, step_schedule(topology, 2 * (rows + columns), sends)


def hypercube(dimensions, parallel):
    """``parallel`` links along each dimension; part j starts at dimension j."""
    nodes = 1 << dimensions
    links, sends = [], []
    for host, axis, link in product(range(nodes), range(dimensions), range(parallel)):
        links.append((host, host ^ (1 << axis)))
        part = axis * parallel + link
        for step in range(dimensions):
            used = [(axis + earlier) % dimensions for earlier in range(step)]
            over = (axis + step) % dimensions
            for signs in product((0, 1), repeat=step):
                shard = host
                for sign, dimension in zip(signs, used, strict=True):
                    shard ^= sign << dimension
                sends.append((step, host, host ^ (1 << over), shard, part, 1, link))
    topology = Topology(range(nodes), links)
    return topology, step_schedule(topology, dimensions * parallel, sends)
