"""The cost that labels prove, slowly: plain Python, every set of links, nothing of the search."""

from collections import Counter
from fractions import Fraction
from itertools import combinations


def proved_cost(links, arrival, loads):
    """Return (steps, T_B) if labels prove it, by Hall's condition node by node; fail otherwise.

    ``links`` are pairs of nodes 0 .. N-1, ``arrival[owner][node]`` the step after which the
    owner's shard is at the node, ``loads`` by step from 1: shards for all links of a node together.
    """
    nodes = len(arrival)
    assert all(len(row) == nodes for row in arrival)
    into = [[source for source, target in links if target == node] for node in range(nodes)]
    busiest = max(*map(len, into), *Counter(source for source, _ in links).values())
    assert sum(arrival[owner].count(0) for owner in range(nodes)) == nodes
    assert all(arrival[owner][owner] == 0 for owner in range(nodes))
    for node, sources in enumerate(into):
        coming = Counter()
        for owner in range(nodes):
            if owner != node:
                step = arrival[owner][node]
                assert 1 <= step <= len(loads)
                there = [k for k, source in enumerate(sources) if arrival[owner][source] < step]
                assert there
                coming[step, frozenset(there)] += 1
        for step in {step for step, _ in coming}:
            for size in range(1, len(sources) + 1):
                for some in combinations(range(len(sources)), size):
                    only = sum(
                        count
                        for (at, there), count in coming.items()
                        if at == step and there <= set(some)
                    )
                    assert only <= loads[step - 1] * Fraction(size, busiest)
    return len(loads), sum(loads, Fraction(0)) / nodes
