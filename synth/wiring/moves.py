"""The fewest moves from today's wiring to a topology.

Free are: which lane of a host carries which of its links and, on one panel per lane,
which panel carries which colour.  Who sits on which port is fixed.

A *move* is one removed pair or one added pair, so a port that is pointed elsewhere
counts two.  With P the pairs of today that touch a host of the topology, T its links
and k the pairs that stay, there are |P| - k removes and |T| - k adds: fewest moves
means most pairs kept.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, vstack

from synth.topology import Topology
from synth.wiring.assign import violations, wire_colours
from synth.wiring.panels import Layout, Pair, Panels, Wiring
from synth.wiring.present import Present
from synth.wiring.recolouring import complete, exchange, kept_colours, resettle, successive

__all__ = ["EXACT_VARIABLES", "PatchPlan", "plan_moves"]

Integers = NDArray[np.int64]

EXACT_VARIABLES = 600
"""Largest integer program tried: different node pairs of links times panels."""

EXACT_NODES = 200
"""Branch-and-bound nodes after which the best wiring found so far is taken."""


@dataclass(frozen=True, eq=False)
class PatchPlan:
    """What to unplug and what to plug.

    ``moves >= lower_bound`` always.  ``optimal`` means that no wiring of the topology
    on these panels needs fewer moves; without it that is not known.
    """

    topology: Topology
    panels: Panels
    present: Present
    wiring: Wiring
    lower_bound: int
    optimal: bool

    @cached_property
    def removes(self) -> tuple[Pair, ...]:
        """Pairs of today that must go, sorted."""
        target = set(self.wiring.pairs)
        used = self.topology.node_count
        return tuple(
            pair
            for pair in self.present.pairs
            if pair not in target and min(self.panels.host(pair)) < used
        )

    @cached_property
    def adds(self) -> tuple[Pair, ...]:
        """Pairs that are missing today, sorted."""
        return tuple(sorted(set(self.wiring.pairs) - set(self.present.pairs)))

    @property
    def kept(self) -> int:
        """Links of the topology that stay on the pair they have."""
        return self.topology.link_count - len(self.adds)

    @property
    def moves(self) -> int:
        """Removes and adds together."""
        return len(self.removes) + len(self.adds)

    @cached_property
    def final(self) -> Present:
        """The wiring after the plan, pairs of other hosts included."""
        gone = set(self.removes)
        return Present.of([*(pair for pair in self.present.pairs if pair not in gone), *self.adds])


def plan_moves(topology: Topology, panels: Panels, present: Present | None = None) -> PatchPlan:
    """Return a wiring of the topology that is reached from today's by few moves.

    Parameters
    ----------
    topology : Topology
        As for `assign_ports`.
    panels : Panels
    present : Present, optional
        Empty when left out.  Pairs between hosts that are not nodes of the topology
        stay untouched; every other pair that carries no link of it is removed.

    Returns
    -------
    PatchPlan
        Same input, same plan.

    Raises
    ------
    DoesNotFit
        The topology has switches, too many nodes or too large a degree.
    InvalidWiring
        A present port does not exist or is in two pairs.

    Notes
    -----
    Lower bound.  A link can keep a cable only if some pair of today joins its two
    hosts, so k is at most the size of the multiset intersection of today's node pairs
    and the links; ``lower_bound`` is the moves at that k.

    One panel: always reached, so always optimal.  Keep the intersection.  A node with
    o links out has o' of them kept on o' of its ports; ``lanes - o'`` ports are free
    and o - o' <= lanes - o' needed, likewise for links in, and any free A port may be
    joined to any free B port.

    One panel per lane: a coloured multigraph in which a kept link keeps its colour.
    Two starts: every link that a panel carries today keeps that colour and the others
    are inserted with alternating chains; and one matching of greatest weight after
    the other.  Pairs of panels are exchanged while that keeps more; the better result
    is improved by wiring a few panels anew, again and again.  If it does not meet the
    bound and the instance is small (`EXACT_VARIABLES`), an integer program decides.

    Examples
    --------
    >>> there = Topology(range(3), [(0, 1), (1, 2), (2, 0)])
    >>> back = there.transpose()
    >>> panels = Panels.of(there)
    >>> first = plan_moves(there, panels)
    >>> first.moves, plan_moves(there, panels, first.final).moves
    (3, 0)
    >>> plan = plan_moves(back, panels, first.final)
    >>> plan.moves, plan.kept, plan.lower_bound, plan.optimal
    (6, 0, 6, True)
    """
    present = present or Present()
    panels.require_room(topology)
    present.require_valid(panels)
    ours = [pair for pair in present.pairs if min(panels.host(pair)) < topology.node_count]
    bound = _most_kept(topology, panels, ours)
    if panels.layout is Layout.SINGLE:
        wiring, proven = _one_panel(topology, panels, ours), True
    else:
        wiring, proven = _panel_per_lane(topology, panels, ours, bound)
    fewest = len(ours) + topology.link_count - 2 * bound
    return PatchPlan(topology, panels, present, wiring, fewest, proven)


def _node_pairs(topology: Topology) -> list[tuple[int, int]]:
    return list(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))


def _most_kept(topology: Topology, panels: Panels, ours: list[Pair]) -> int:
    wanted = Counter(_node_pairs(topology))
    return (wanted & Counter(panels.host(pair) for pair in ours)).total()


def _one_panel(topology: Topology, panels: Panels, ours: list[Pair]) -> Wiring:
    plugged: dict[tuple[int, int], list[Pair]] = defaultdict(list)
    for pair in reversed(ours):
        plugged[panels.host(pair)].append(pair)
    ends = _node_pairs(topology)
    pairs = [plugged[end].pop() if plugged[end] else None for end in ends]
    kept = [pair for pair in pairs if pair]
    free_a = _free_ports(topology, panels, {pair.a for pair in kept})
    free_b = _free_ports(topology, panels, {pair.b for pair in kept})
    done = [
        pair or Pair(0, free_a[source].pop(), free_b[target].pop())
        for pair, (source, target) in zip(pairs, ends, strict=True)
    ]
    columns = np.array(done, dtype=np.int64).reshape(-1, 3).T
    return Wiring(panels, *columns)


def _free_ports(topology: Topology, panels: Panels, used: set[int]) -> list[list[int]]:
    """Return the ports of every node that are not used, highest first."""
    return [
        [
            port
            for lane in reversed(range(panels.lanes))
            if (port := panels.port(host, lane).a) not in used
        ]
        for host in range(topology.node_count)
    ]


def _panel_per_lane(
    topology: Topology, panels: Panels, ours: list[Pair], bound: int
) -> tuple[Wiring, bool]:
    size = topology.node_count
    sources, targets = topology.sources.astype(np.int64), topology.targets.astype(np.int64)
    keys = sources * size + targets
    preferred = _preferred_by_panel(panels, ours, keys, size)
    colours = complete(size, panels.lanes, sources, targets, _preferred_colours(keys, preferred))
    kept = kept_colours(keys, colours, preferred)
    if kept < bound:
        starts = [colours, successive(size, sources, targets, preferred)]
        for start in starts:
            exchange(size, sources, targets, start, preferred)
        colours = max(starts, key=lambda start: kept_colours(keys, start, preferred))
        kept = kept_colours(keys, colours, preferred)
    if kept < bound:
        resettle(size, sources, targets, colours, preferred)
        kept = kept_colours(keys, colours, preferred)
    wiring = wire_colours(topology, panels, colours)
    if kept == bound or len(np.unique(keys)) * panels.lanes > EXACT_VARIABLES:
        return wiring, kept == bound
    exact, finished = _integer_program(size, keys, preferred)
    # The solver computes in floating point: take nothing from it unchecked.
    if len(exact) != len(keys) or kept_colours(keys, exact, preferred) < kept:
        return wiring, False
    best = wire_colours(topology, panels, exact)
    return (wiring, False) if violations(best, topology) else (best, finished)


def _preferred_by_panel(
    panels: Panels, ours: list[Pair], keys: Integers, size: int
) -> list[Integers]:
    """Return for every panel the sorted keys of the links that it carries today."""
    columns = np.array(ours, dtype=np.int64).reshape(-1, 3)
    columns = columns[columns[:, 1:].max(axis=1, initial=0) < size]
    panel, key = columns[:, 0], columns[:, 1] * size + columns[:, 2]
    useful = np.isin(key, keys)
    panel, key = panel[useful], key[useful]
    return [np.sort(key[panel == number]) for number in range(panels.lanes)]


def _preferred_colours(keys: Integers, preferred: list[Integers]) -> Integers:
    """Return the panel that carries each link today, or -1; each pair is claimed once."""
    colours = np.full(len(keys), -1, dtype=np.int64)
    # Keys are sorted, parallel links are neighbours: claim them from the left.
    first = np.searchsorted(keys, keys)
    last = np.searchsorted(keys, keys, side="right")
    claimed = np.zeros(len(keys), dtype=np.int64)
    for panel, wanted in enumerate(preferred):
        start = np.searchsorted(keys, wanted)
        index = start + claimed[start]
        index = index[index < last[start]]
        colours[index] = panel
        claimed[first[index]] += 1
    return colours


def _integer_program(size: int, keys: Integers, preferred: list[Integers]) -> tuple[Integers, bool]:
    """Return the panel of every link that keeps most, and whether that is proven.

    Nothing is returned for the links if the search found nothing within its limit.

    Variable x[k, p]: node pair k has a link on panel p.  Every node pair has as many
    as it has links; on a panel every node has at most one link out and one in.
    """
    pairs, counts = np.unique(keys, return_counts=True)
    each: Any = counts.astype(float)
    panels = len(preferred)
    pair, panel = (grid.ravel() for grid in np.indices((len(pairs), panels)))
    kept = np.concatenate([np.isin(pairs, wanted) for wanted in preferred])
    kept = kept.reshape(panels, len(pairs)).T.ravel()
    column = np.arange(len(pair))

    def sums(row: Integers, rows: int) -> coo_array:
        return coo_array((np.ones(len(row)), (row, column)), shape=(rows, len(row)))

    leaving = sums(pairs[pair] // size * panels + panel, size * panels)
    entering = sums(pairs[pair] % size * panels + panel, size * panels)
    result = milp(
        -kept.astype(float),
        integrality=np.ones(len(pair)),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(sums(pair, len(pairs)).tocsr(), each, each),
            LinearConstraint(vstack([leaving, entering]).tocsr(), -np.inf, 1),
        ],
        # No time limit: the answer must not depend on the machine.
        options={"node_limit": EXACT_NODES, "mip_rel_gap": 0},
    )
    if result.x is None:
        return panel[:0], False
    chosen = np.round(result.x).astype(bool)
    # Row by row, hence in the order of the sorted keys.
    return panel[chosen], result.status == 0
