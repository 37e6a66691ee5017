"""Trees as arrays: which of them span all ranks over links, and the loads of the links."""

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from topoloom.schedules.errors import InvalidSchedule
from topoloom.schedules.model.schedule import TreeSchedule
from topoloom.schedules.model.tree_table import TreeTable
from topoloom.schedules.verify.link_index import LinkIndex
from topoloom.synth.topology.topology import NodeId, Topology

_Flags = NDArray[np.bool_]


class _Edges(NamedTuple):
    """The edges of a block of trees: ``hop[i]`` is whether node i + 1 is in the edge of node i.

    Edge j visits ``nodes[starts[j]:starts[j + 1]]``, positions in the topology or -1.
    """

    nodes: NDArray[Any]
    starts: NDArray[np.int64]
    hop: _Flags


def spanning_trees(
    table: TreeTable, schedule: TreeSchedule, topology: Topology, links: LinkIndex
) -> _Flags:
    """Return which trees follow all rules for a tree but that of its weight.

    Args:
        table: The trees of the schedule over the nodes of the topology.

    An edge is a path over links, with inner nodes that are switches or idle.  A tree has one edge
    less than there are ranks.  They lead from nodes reached before to further ranks, in order of
    depth: no other node is reached twice, and so all ranks are.  O(hops + edges log height).
    """
    is_rank = _among(topology, set(schedule.ranks))
    is_inner = _among(topology, topology.switches.union(schedule.idle))
    count, near, far = len(schedule.ranks), 0, -1
    if not schedule.collective.outward:
        near, far = far, near
    found = (np.diff(table.firsts) == count - 1) & is_rank[table.roots]
    # Ranks among themselves: few ranks of many nodes take little memory.
    number = np.cumsum(is_rank) - 1
    for block in table.blocks():
        edges = _edges(table, block)
        good = _valid_edges(edges, is_rank, is_inner, links)
        owner = np.repeat(np.arange(len(found))[block], np.diff(table.firsts)[block])
        found[owner[~good]] = False
        whole = np.arange(len(found))[block][found[block]]
        kept = found[owner]
        ends = edges.starts[:-1][kept], edges.starts[1:][kept] - 1
        joined, reached = (
            number[edges.nodes[ends[end]]].reshape(len(whole), count - 1) for end in (near, far)
        )
        found[whole] = _in_order(number[table.roots[whole]], joined, reached)
    return found


def link_loads(table: TreeTable, links: LinkIndex) -> NDArray[Any]:
    """Return the weight of the trees that cross each link.

    Raises:
        InvalidSchedule: A hop uses a missing link.
    """
    most = int(abs(table.weights).max(initial=0)) * len(table.nodes)
    loads = np.zeros(len(links.pairs), np.int64 if most < 1 << 62 else object)
    weights = table.weights.astype(loads.dtype)
    for block in table.blocks():
        edges = _edges(table, block)
        hops = np.flatnonzero(edges.hop)
        link = links.find(edges.nodes[hops], edges.nodes[hops + 1])
        if (link < 0).any():
            raise InvalidSchedule("/trees", "every edge must run over existing links")
        firsts = table.firsts[block.start : block.stop + 1] - table.firsts[block.start]
        before = np.concatenate([[0], np.cumsum(edges.hop)])[edges.starts[firsts]]
        np.add.at(loads, link, np.repeat(weights[block], np.diff(before)))
    return loads


def _among(topology: Topology, nodes: Collection[NodeId]) -> _Flags:
    """Return for every position in the topology, and for -1, whether it is one of the nodes."""
    return np.array([node in nodes for node in topology.nodes] + [False])


def _edges(table: TreeTable, block: slice) -> _Edges:
    starts = table.starts[table.firsts[block.start] : table.firsts[block.stop] + 1]
    nodes, starts = table.nodes[starts[0] : starts[-1]], starts - starts[0]
    hop = np.ones(len(nodes), np.bool_)
    ends = starts[1:]
    hop[ends[ends > 0] - 1] = False
    return _Edges(nodes, starts, hop)


def _valid_edges(edges: _Edges, is_rank: _Flags, is_inner: _Flags, links: LinkIndex) -> _Flags:
    """Return which edges are paths over links from a rank to a rank, over inner nodes."""
    nodes, starts = edges.nodes, edges.starts
    wrong = np.zeros(len(nodes) + 1, np.int64)
    hops = np.flatnonzero(edges.hop)
    wrong[hops[links.find(nodes[hops], nodes[hops + 1]) < 0] + 1] = 1
    inner = edges.hop.copy()
    inner[starts[:-1][starts[:-1] < len(nodes)]] = False
    wrong[1:][inner & ~is_inner[nodes]] = 1
    sums = np.cumsum(wrong)
    good = (np.diff(starts) >= 2) & (sums[starts[1:]] == sums[starts[:-1]])
    ends = nodes[starts[:-1][good]], nodes[starts[1:][good] - 1]
    good[good] = is_rank[ends[0]] & is_rank[ends[1]]
    return good


def _in_order(roots: NDArray[Any], near: NDArray[Any], far: NDArray[Any]) -> _Flags:
    """Return which trees reach no rank twice, each from one before, in order of depth.

    Row i of ``near`` and ``far`` has the ends of the edges of tree i, as numbers of ranks.
    """
    rows, edges = near.shape
    numbers, every = np.arange(1, edges + 1, dtype=np.int32), np.arange(rows)[:, None]
    place = np.full((rows, edges + 1), -1, np.int32)
    place[every, far] = numbers
    place[every[:, 0], roots] = 0
    above = place[every, near]
    found = ((place[every, far] == numbers) & (above >= 0) & (above < numbers)).all(axis=1)
    up = np.zeros((int(found.sum()), edges + 1), np.int32)
    up[:, 1:] = above[found]
    depth = np.ones_like(up)
    depth[:, 0] = 0
    # Twice as far up in every round: an edge is above no earlier one, so that all reach the root.
    while up.any():
        depth += np.take_along_axis(depth, up, 1)
        up = np.take_along_axis(up, up, 1)
    found[found] = (np.diff(depth, axis=1) >= 0).all(axis=1)
    return found
