"""The worst failures of a plan that was carried out: one part alone, and two at once.

Parts are hosts, panels and pairs.  A failed panel takes all links with it that pass through it,
a failed host its node.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Literal

from topoloom.synth.errors import DoesNotFit
from topoloom.synth.progress import report_progress
from topoloom.synth.topology.topology import Topology
from topoloom.synth.wiring.plans.patch_plan import PatchPlan
from topoloom.synth.wiring.plans.stages import connected
from topoloom.synth.wiring.plant import Pair
from topoloom.synth.wiring.plant.light_paths import links_of

MOST_CASES = 20_000
"""Most failures that are looked at."""

Rate = Callable[[Topology], Fraction | None]
"""Finds the share of the healthy throughput that a topology still has; None where not known."""


@dataclass(frozen=True, slots=True)
class PlanPart:
    """Something that may fail: its kind, its name, and the links and the node that go with it."""

    kind: Literal["host", "panel", "pair"]
    name: str
    links: frozenset[int]
    node: int | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """The effect of a failure of some parts.

    ``lost_links`` are lost links between surviving nodes.  ``share`` is the remaining share of the
    healthy throughput: 0 where the surviving nodes are disconnected, None where unknown.
    """

    parts: tuple[PlanPart, ...]
    lost_links: int
    connected: bool
    share: Fraction | None

    @property
    def order(self) -> tuple[Fraction, int, int]:
        """Sort key of failures, the worst first."""
        share = Fraction(2) if self.share is None else self.share
        return (share if self.connected else Fraction(-1), -self.lost_links, len(self.parts))


def parts(plan: PatchPlan) -> tuple[PlanPart, ...]:
    """Return all that may fail of a plan: its hosts, the panels in use, and its pairs."""
    plant, wiring, topology = plan.plant, plan.wiring, plan.topology
    ends = list(zip(topology.sources.tolist(), topology.targets.tolist(), strict=True))
    found = [
        PlanPart(
            "host",
            plant.hosts[host].id,
            frozenset(index for index, link in enumerate(ends) if node in link),
            node,
        )
        for node, host in enumerate(wiring.hosts)
    ]
    through: dict[int, set[int]] = {}
    for pair, links in wiring.links_of.items():
        through.setdefault(pair.panel, set()).update(links)
    found += [
        PlanPart("panel", plant.panels[panel].id, frozenset(links))
        for panel, links in sorted(through.items())
    ]
    carried = wiring.links_of
    for link in links_of(plant, sorted(carried), wiring.pairs):
        # A dead pair takes both directions of a duplex link.
        links = frozenset(index for pair in link for index in carried[pair])
        found += [PlanPart("pair", _name(plan, pair), links) for pair in link]
    return tuple(found)


def _name(plan: PatchPlan, pair: Pair) -> str:
    return f"{plan.plant.panels[pair.panel].id}/{plan.plant.pair_name(pair)}"


def survey(
    plan: PatchPlan, at_once: int = 1, rate: Rate | None = None, most: int = MOST_CASES
) -> tuple[Failure, ...]:
    """Return the effect of every failure on a completed plan, the worst first.

    Args:
        at_once: Number of parts that fail together, 1 or 2; neither contains the other.
        rate: Returns the throughput of a connected remaining topology; called once for each
            different set of remaining links.
        most: Largest number of failures.

    Raises:
        DoesNotFit: There are more than ``most`` failures.

    >>> from topoloom.synth.wiring import plan_moves, uniform
    >>> ring = Topology(range(3), [(0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2)])
    >>> plan = plan_moves(ring, uniform("per-port", hosts=3, lanes=2))
    >>> [(f.parts[0].kind, f.lost_links, f.connected) for f in survey(plan)][:4]
    [('panel', 3, True), ('panel', 3, True), ('pair', 1, True), ('pair', 1, True)]
    >>> survey(plan, 2)[0].parts[0].name, survey(plan, 2)[0].connected
    ('panel-0', False)
    """
    if at_once not in (1, 2):
        raise DoesNotFit("/at_once", "must be 1 or 2")
    everything = parts(plan)
    count = len(everything) if at_once == 1 else len(everything) * (len(everything) - 1) // 2
    if count > most:
        raise DoesNotFit("/at_once", f"there are {count} failures; at most {most} are looked at")
    known: dict[tuple[frozenset[int], frozenset[int]], tuple[bool, Fraction | None]] = {}
    found = []
    for number, failed in enumerate(_cases(everything, at_once)):
        report_progress("surveying failures", number, count)
        nodes = frozenset(part.node for part in failed if part.node is not None)
        links = frozenset().union(*(part.links for part in failed))
        if (nodes, links) not in known:
            known[nodes, links] = _weighed(_left(plan.topology, nodes, links), rate)
        gone = sum(not nodes & set(_ends(plan.topology, link)) for link in links)
        found.append(Failure(failed, gone, *known[nodes, links]))
    return tuple(sorted(found, key=lambda failure: failure.order))


def _cases(everything: tuple[PlanPart, ...], at_once: int) -> Iterator[tuple[PlanPart, ...]]:
    for failed in combinations(everything, at_once):
        contained = at_once == 2 and (failed[1].links <= failed[0].links and failed[1].node is None)
        if not contained:
            yield failed


def _ends(topology: Topology, link: int) -> tuple[int, int]:
    return int(topology.sources[link]), int(topology.targets[link])


def _left(topology: Topology, nodes: frozenset[int], links: frozenset[int]) -> Topology | None:
    """Return the remaining topology; None where the rest is no topology."""
    names = [name for node, name in enumerate(topology.nodes) if node not in nodes]
    if not names:
        return None
    kept = [link for index, link in enumerate(topology.links) if index not in links]
    return Topology(names, kept, bandwidth_unit=topology.bandwidth_unit)


def _weighed(left: Topology | None, rate: Rate | None) -> tuple[bool, Fraction | None]:
    if left is None or not connected(left):
        return False, Fraction(0)
    return True, None if rate is None else rate(left)
