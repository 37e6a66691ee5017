"""What labels reach on a graph and on its transpose: an allgather and a reduce-scatter."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.slack.certificate import Labels
from topoloom.synth.slack.problem import Integers, require_labelled
from topoloom.synth.slack.solver import posed
from topoloom.synth.symmetry.semiregular_groups import translations
from topoloom.synth.topology.topology import Topology

__all__ = ["BothWays", "Point"]


@dataclass(frozen=True, slots=True)
class Point:
    """An allgather and a reduce-scatter on one graph within a number of steps each.

    They are what `labels` finds for so many steps on the graph and on its transpose.
    """

    steps: int
    """The number: at least the steps of either."""
    gather: Labels
    """On the graph."""
    scatter: Labels
    """On its transpose: reversed, a reduce-scatter on the graph."""

    @property
    def costs(self) -> tuple[Cost, Cost]:
        """What they cost."""
        return self.gather.cost, self.scatter.cost


class BothWays:
    """A graph and its transpose, posed once for questions of several numbers of steps and moves.

    ``known`` are the graph's translations, where they were looked for already.  Domain and errors
    as `synth.slack.labels`.
    """

    def __init__(self, topology: Topology, seed: int = 0, known: Integers | None = None) -> None:
        require_labelled(topology)
        # A graph and its transpose have the same automorphisms.
        images = translations(topology) if known is None else known
        turned = topology.transpose()
        self._gather = posed(topology, seed=seed, known=images)
        same = turned == topology
        self._scatter = self._gather if same else posed(turned, seed=seed, known=images)

    @property
    def cells(self) -> int:
        """Of how many cells the labels of one direction are."""
        return self._gather.cells

    def points(self, most_steps: int | None, moves: int | None) -> tuple[Point, ...]:
        """Return what is reached either way, by number of steps; see `synth.slack.points_of`."""
        if self._scatter is self._gather:
            alike = self._gather.improving(most_steps, moves)
            return tuple(Point(steps, one, one) for steps, one in alike.items())
        # Side by side: both are nearly all in kernels, and often no other graph is looked at.
        with ThreadPoolExecutor(1) as beside:
            scattering = beside.submit(self._scatter.improving, most_steps, moves)
            gathers = self._gather.improving(most_steps, moves)
            scatters = scattering.result()
        # Both directions have one diameter, so both begin with the same number of steps.
        return tuple(
            Point(steps, _within(gathers, steps), _within(scatters, steps))
            for steps in sorted({*gathers, *scatters})
        )


def _within(some: dict[int, Labels], steps: int) -> Labels:
    return some[max(enough for enough in some if enough <= steps)]
