"""Slack schedules of a graph and of its transpose: an allgather and a reduce-scatter."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from topoloom.synth.evaluation.cost import Cost
from topoloom.synth.slack.certificate import SlackSchedule
from topoloom.synth.slack.problem import Integers, require_schedulable
from topoloom.synth.slack.solver import slack_solver
from topoloom.synth.symmetry.semiregular_groups import semiregular_group
from topoloom.synth.topology.topology import Topology


@dataclass(frozen=True, slots=True)
class SchedulePair:
    """An allgather and a reduce-scatter on one graph, each within a number of steps."""

    steps: int
    """The limit on the steps of both."""
    gather: SlackSchedule
    """Schedule of the graph."""
    scatter: SlackSchedule
    """Schedule of the transpose: reversed, a reduce-scatter on the graph."""

    @property
    def costs(self) -> tuple[Cost, Cost]:
        """Costs of the allgather and of the reduce-scatter."""
        return self.gather.cost, self.scatter.cost


class GraphAndTranspose:
    """Solvers of a graph and its transpose, for several numbers of steps and moves.

    ``known`` are the graph's semiregular automorphisms if already computed.  Domain and errors as
    `synth.slack.slack_schedule`.
    """

    def __init__(self, topology: Topology, seed: int = 0, known: Integers | None = None) -> None:
        require_schedulable(topology)
        # A graph and its transpose have the same automorphisms.
        images = semiregular_group(topology) if known is None else known
        turned = topology.transpose()
        self._gather = slack_solver(topology, seed=seed, known=images)
        same = turned == topology
        self._scatter = self._gather if same else slack_solver(turned, seed=seed, known=images)

    @property
    def cells(self) -> int:
        """Number of cells of one direction."""
        return self._gather.cells

    def points(
        self, most_steps: int | None, moves: int | None, *, whole: bool = True
    ) -> tuple[SchedulePair, ...]:
        """Return the best schedules of both directions, by number of steps.

        Each entry holds the best schedule of either direction within a number of steps at which
        one direction improves, so the costs of both fall together.  If not ``whole``, schedules of
        very many cells have no arrival steps.
        """
        if self._scatter is self._gather:
            alike = self._gather.pareto_front(most_steps, moves, whole=whole)
            return tuple(SchedulePair(steps, one, one) for steps, one in alike.items())
        # In parallel: both run nearly entirely in kernels that release the GIL.
        with ThreadPoolExecutor(1) as beside:
            scattering = beside.submit(self._scatter.pareto_front, most_steps, moves, whole=whole)
            gathers = self._gather.pareto_front(most_steps, moves, whole=whole)
            scatters = scattering.result()
        # Both directions have one diameter, so both begin with the same number of steps.
        return tuple(
            SchedulePair(steps, _best_within(gathers, steps), _best_within(scatters, steps))
            for steps in sorted({*gathers, *scatters})
        )


def _best_within(some: dict[int, SlackSchedule], steps: int) -> SlackSchedule:
    return some[max(enough for enough in some if enough <= steps)]
