"""The schedules that run a collective on a topology, by size of the data."""

from dataclasses import dataclass

from topoloom.schedules.compare.crossover import SIZES
from topoloom.schedules.compare.judged_ranges import judged_ranges
from topoloom.schedules.execute.limits import MAX_PIPELINE_CHUNKS
from topoloom.schedules.execute.runner import Served
from topoloom.schedules.generate.collectives import ONE_SHOT
from topoloom.schedules.generate.make_and_verify import default_algorithm, verified_schedule
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.options import Options
from topoloom.schedules.simulate import Judge, Network
from topoloom.synth.topology.topology import Topology


@dataclass(frozen=True, slots=True)
class Fabric:
    """A topology and its speed; rank i of a group is the i-th compute node."""

    topology: Topology
    network: Network

    @property
    def ranks(self) -> int:
        """The number of compute nodes."""
        return len(self.topology.compute_nodes)

    def schedules(self, collective: Collective, root: int | None = None) -> tuple[Served, ...]:
        """Return verified schedules of a collective, each with the least size that selects it.

        An allreduce of small data runs in one pass where the topology has no switches; all else
        runs by the default algorithm of ``topoloom schedule``.

        Args:
            root: Rank of the root of a broadcast or reduce.

        Raises:
            ScheduleError, SynthError: No schedule runs the collective on the topology.

        >>> from fractions import Fraction
        >>> ring = Topology(range(4), [(i, (i + step) % 4) for i in range(4) for step in (1, 3)])
        >>> fabric = Fabric(ring, Network(Fraction(1, 10**6), 10**9))
        >>> [one.first_bytes for one in fabric.schedules(Collective.ALLREDUCE)]
        [0, 2667]
        >>> [tree.root for tree in fabric.schedules(Collective.BROADCAST, 2)[0].schedule.trees]
        [2, 2]
        """
        node = None if root is None else self.topology.compute_nodes[root]
        options = Options(root=node)
        usual = default_algorithm(self.topology, collective, options)
        once = collective is Collective.ALLREDUCE and usual in ONE_SHOT
        made = {}
        for name in (ONE_SHOT[usual], usual) if once else (usual,):
            schedule = verified_schedule(self.topology, collective, name, options).schedule
            made[name] = schedule, Judge(schedule, self.topology, self.network)
        times = [lambda size, judge=judge: judge.time(size).seconds for _, judge in made.values()]
        found = []
        for index, fastest in enumerate(judged_ranges(list(made), times, SIZES)):
            schedule, judge = made[fastest.name]
            first = fastest.first_bytes if index else 0
            chunks = judge.time(max(1, first)).chunks
            found.append(Served(schedule, first, min(chunks, MAX_PIPELINE_CHUNKS)))
        return tuple(found)
