"""Breadth-first broadcast: schedules with the fewest steps, at exactly the measured cost."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import NoSchedule, TooLarge
from topoloom.schedules.model.schedule import COPY, NO_LINK, SEND, Collective, StepSchedule
from topoloom.schedules.steps import chunking
from topoloom.schedules.steps.bfb_kernels import COLUMNS, arrivals
from topoloom.synth.evaluation.bfs_broadcast import InLinks, in_links, search_memory
from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.evaluation.load_balance import scratch
from topoloom.synth.evaluation.measure import MAX_DEGREE, step_loads, whole_capacities
from topoloom.synth.topology.topology import Topology

MAX_SENDS = 20_000_000
MAX_CHUNKS = 1 << 24
_WORKERS = min(8, os.cpu_count() or 1)


def allgather(topology: Topology, max_chunks: int | None = None) -> StepSchedule:
    """Return the allgather that spreads every shard evenly over its shortest paths.

    In step t every node receives the shards of all nodes at distance t.  The number of steps is
    the diameter.  The bandwidth is exactly that of `synth.evaluation.measure.measure`, or with
    ``max_chunks`` that of `cost`.

    Args:
        topology: Direct-connect, strongly connected, all links of one capacity.
        max_chunks: Maximum chunks per shard, 1 .. `chunking.MAX_GIVEN`; the number that loses least
            is chosen.

    Returns:
        With the least number of chunks per shard that reaches this cost.  Sends are
        ordered by step and target.

    Raises:
        NoSchedule: The topology has switches, unequal capacities, or too many links into a node;
            ``max_chunks`` is out of range.
        TooLarge: More than `MAX_SENDS` sends or `MAX_CHUNKS` chunks per shard.
        Unreachable, InvalidTopology: Not strongly connected, or fewer than two nodes.

    Let p/q, in lowest terms, be the largest load of step t, in shards per link, and C
    the number of chunks per shard.

    *C = lcm of all q suffices.*  At a destination each source at distance t supplies C
    chunks and each link takes up to C p/q, a whole number.  The shares exist as
    fractions, by definition of p/q, hence as whole numbers: the problem is a flow.

    *No smaller C does.*  At the destination that attains p/q, some set S of links carries
    |S| p/q shards.  Each link carries at most C p/q chunks, hence exactly C p/q: a whole
    number, so q divides C.  (This holds where every shard arrives as early as possible;
    schedules with later arrivals may need fewer chunks.)

    *With fewer chunks* see `schedules.steps.chunking`.

    *Nothing is sent before it is held.*  In step t shard v travels to u from a
    neighbor at distance t - 1 from v, which holds all of it since step t - 1.

    O(N links) for the searches, and small flows; about N^2 sends.

    References:
        Zhao et al., arXiv:2202.03356, BFB schedules.

    >>> schedule = allgather(Topology(range(3), [(0, 1), (1, 2), (2, 0)]))
    >>> schedule.chunks_per_shard, [step["shard"].tolist() for step in schedule.steps]
    (1, [[2, 0, 1], [1, 2, 0]])
    """
    _require_served(topology)
    loads = step_loads(topology)
    chunks = _chunks(loads, max_chunks)
    limits = np.array([0, *chunking.whole_loads(loads, chunks)], np.int64)
    links = in_links(topology, whole_capacities(topology))
    pieces = min(topology.node_count, 4 * _WORKERS)
    bounds = np.linspace(0, topology.node_count, pieces + 1).astype(int).tolist()
    parallel = parallel_index(topology)

    def run(piece: int) -> list[NDArray[np.void]]:
        goals = range(bounds[piece], bounds[piece + 1])
        return _by_step(_sends_into(links, goals, chunks, limits), len(loads), parallel)

    with ThreadPoolExecutor(_WORKERS) as pool:
        parts = list(pool.map(run, range(pieces)))
    return StepSchedule(
        Collective.ALLGATHER,
        topology.digest,
        topology.nodes,
        chunks,
        tuple(np.concatenate(some) for some in zip(*parts, strict=True)),
    )


def cost(topology: Topology, max_chunks: int | None = None) -> Cost:
    """Return the cost of `allgather`, in closed form; domain and errors are the same.

    On a bidirectional ring of four, half of the farthest shard arrives from each side; with
    whole shards one side stays idle.

    >>> ring = Topology(range(4), [(i, (i + way) % 4) for i in range(4) for way in (1, 3)])
    >>> cost(ring).bandwidth, cost(ring, max_chunks=1).bandwidth
    (Fraction(3, 4), Fraction(1, 1))
    """
    _require_served(topology)
    loads = step_loads(topology)
    chunks = _chunks(loads, max_chunks)
    total = Fraction(sum(chunking.whole_loads(loads, chunks)), chunks)
    return Cost(len(loads), total * topology.degree / topology.node_count)


def _chunks(loads: Sequence[Fraction], most: int | None) -> int:
    if most is not None:
        return chunking.best_chunks(loads, most)
    chunks = chunking.exact_chunks(loads)
    if chunks > MAX_CHUNKS:
        raise TooLarge(
            "/topology",
            f"needs {chunks} chunks per shard, over {MAX_CHUNKS}; set max_chunks to allow fewer",
        )
    return chunks


def _require_served(topology: Topology) -> None:
    if topology.switches:
        raise NoSchedule("/algorithm", "bfb serves no switches; use forestcoll")
    topology.require_connected()
    if len(set(topology.capacities)) > 1:
        raise NoSchedule(
            "/algorithm", "bfb needs links of one capacity; use slack for few steps or forestcoll"
        )
    if topology.in_degrees.max() > MAX_DEGREE:
        raise NoSchedule("/algorithm", f"bfb takes at most {MAX_DEGREE} links into a node")
    sends = topology.node_count * (topology.node_count - 1)
    if sends > MAX_SENDS:
        raise TooLarge("/topology", f"needs at least {sends} sends; at most {MAX_SENDS}")


def _sends_into(
    links: InLinks, goals: range, chunks: int, limits: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return the sends into a range of destinations as rows of `COLUMNS`."""
    nodes = len(links.start) - 1
    degree = int(np.diff(links.start).max())
    found, memory = search_memory(nodes), scratch(nodes, degree)
    buffer = np.empty((nodes * degree, len(COLUMNS)), np.int32)
    parts = []
    for goal in goals:
        rows = arrivals(links, goal, chunks, limits, found, memory, buffer)
        parts.append(buffer[:rows].copy())
    return np.concatenate(parts)


def _by_step(
    rows: NDArray[np.int32], steps: int, parallel: NDArray[np.int32]
) -> list[NDArray[np.void]]:
    """Return one array of sends per step; the order within a step is kept."""
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    sends = np.zeros(len(rows), SEND)
    for column, name in enumerate(COLUMNS[1:6], start=1):
        sends[name] = rows[:, column]
    sends["link"] = parallel[rows[:, 6]]
    sends["op"] = COPY
    return np.split(sends, np.searchsorted(rows[:, 0], np.arange(2, steps + 1)))


def parallel_index(topology: Topology) -> NDArray[np.int32]:
    """Return each link's index among its parallel links; `NO_LINK` for a single link."""
    sources, targets = topology.sources, topology.targets
    same = np.zeros(topology.link_count + 1, np.bool_)
    same[1:-1] = (np.diff(sources) == 0) & (np.diff(targets) == 0)
    index = np.arange(topology.link_count, dtype=np.int32)
    first = np.maximum.accumulate(np.where(same[:-1], 0, index))
    return np.where(same[:-1] | same[1:], index - first, NO_LINK).astype(np.int32)
