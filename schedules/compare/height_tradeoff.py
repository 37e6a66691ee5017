"""The trade-off between tree height and rate.

Lower trees have less latency; higher trees may have more throughput.  For a message size, the
alpha-beta model of whole schedules (`schedules.compare.bandwidths`) yields the fastest height.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from topoloom.schedules.compare.bandwidths import SpeedSettings, estimated_seconds
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective, TreeSchedule, schedule_parts, tree_height
from topoloom.schedules.optimum.collective_optimum import collective_optimum
from topoloom.schedules.options import Options
from topoloom.schedules.trees.flow.demand import demand_of
from topoloom.schedules.trees.forests.forests_by_height import low_forests
from topoloom.schedules.verify import require_valid, tree_inverse_rate
from topoloom.synth.topology.topology import Topology


@dataclass(frozen=True, slots=True)
class HeightPoint:
    """The best schedule found whose trees have at most ``height`` hops.

    ``gap`` is the excess over the optimal time at any height, as a share; ``seconds`` is the time
    for a message size, None without a size.
    """

    height: int
    algbw: Fraction
    gap: Fraction
    trees_per_root: int
    seconds: float | None


def height_tradeoff(
    topology: Topology, collective: Collective, options: Options, on: SpeedSettings | None = None
) -> list[HeightPoint]:
    """Return a point per useful height, lowest first; each is faster than the one before.

    Args:
        collective: Any but all-to-all.  An allreduce runs its passes in sequence, each with trees
            of that height.
        options: Options of `schedules.generate.collectives.make`, without gap and height.
        on: Host speeds, and the size for ``seconds``.

    Raises:
        NoSchedule, InvalidTopology, Unreachable, TooLarge: As
            `schedules.generate.collectives.make`.

    >>> from topoloom.synth.fabrics import fabric
    >>> found = height_tradeoff(fabric("dgx-1v"), Collective.ALLGATHER, Options())
    >>> [(point.height, str(point.algbw), str(point.gap)) for point in found]
    [(2, '150', '1/7'), (3, '1200/7', '0')]
    """
    if collective is Collective.ALL_TO_ALL:
        raise NoSchedule("/collective", "must not be all-to-all: it has no trees")
    best = collective_optimum(topology, collective, replace(options, trees_per_root=None))
    found: list[HeightPoint] = []
    for height in useful_heights(topology, collective, options):
        asked = replace(options, max_height=height)
        point = _point(topology, collective, asked, best.algbw, on)
        if not found or point.algbw > found[-1].algbw:
            found.append(point)
    return found


def useful_heights(topology: Topology, collective: Collective, options: Options) -> list[int]:
    """Return the heights at which some pass gains, from the least height that all passes reach.

    Parameters and errors as of `height_tradeoff`.

    >>> from topoloom.synth.fabrics import fabric
    >>> useful_heights(fabric("dgx-1v"), Collective.ALLREDUCE, Options())
    [2, 3]
    """
    demand = demand_of(topology, options.shards, options.participants, options.root)
    passes = []
    if collective.outward or collective is Collective.ALLREDUCE:
        passes.append(topology)
    if not collective.outward:
        passes.append(topology.transpose())
    steps = [
        [low.height for low in low_forests(one, demand, options.trees_per_root)] for one in passes
    ]
    least = max(heights[0] for heights in steps)
    return sorted({max(least, height) for heights in steps for height in heights})


def _point(
    topology: Topology,
    collective: Collective,
    asked: Options,
    best: Fraction,
    on: SpeedSettings | None,
) -> HeightPoint:
    schedule = make(
        topology,
        collective,
        "forestcoll",
        asked.trees_per_root,
        root=asked.root,
        shards=asked.shards,
        participants=asked.participants,
        max_height=asked.max_height,
    )
    require_valid(schedule, topology)
    parts = [part for part in schedule_parts(schedule) if isinstance(part, TreeSchedule)]
    algbw = sum(parts[0].sizes) / tree_inverse_rate(schedule, topology)
    seconds = None
    if on is not None and on.size_bytes is not None:
        seconds = estimated_seconds(schedule, topology, on)
    height = max(tree_height(tree) for part in parts for tree in part.trees)
    most = max(part.trees_per_root for part in parts)
    return HeightPoint(height, algbw, best / algbw - 1, most, seconds)
