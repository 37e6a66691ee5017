"""Compiling the kernels ahead of the first question."""

from fractions import Fraction
from importlib import import_module
from pathlib import Path

__all__ = ["is_compiled", "load", "warm"]


def warm() -> None:
    """Run every kernel once on small topologies; numba keeps the machine code on disk."""
    from schedules import alltoall
    from schedules.collectives import make
    from schedules.forestcoll import optimum
    from schedules.formats.schedule.binary import pack
    from schedules.model import Collective
    from schedules.simulate import Network, simulate
    from schedules.verify import require_valid, step_cost
    from synth.build import build
    from synth.cost import Links
    from synth.fabrics import fabric
    from synth.recipe import parse
    from synth.search import frontier
    from synth.wiring import plan_moves, uniform
    from synth.wiring.placing import plan_placed

    network = Network(Fraction(0), Fraction(1))
    frontier(12, 4)
    # Sizes that no atlas has: the search for bases, of one way and of two; also over groups so
    # large that their elements are a choice.
    for links in Links:
        frontier(700, 3, links)
        # Labels, greedy and by moves, on random graphs that exchanges have shortened.
        frontier(62, 3, links)
        frontier(40, 12, links)
    for topology in (build(parse("BiRing(5)")), build(parse("Kautz(2, 2)"))):
        schedule = make(topology, Collective.ALLREDUCE, "bfb")
        require_valid(schedule, topology)
        step_cost(schedule, topology)
        simulate(schedule, topology, network, size_bytes=1)
        pack(schedule)
    make(build(parse("RandomRegular(20, 3, 1, 4, 50)")), Collective.ALLREDUCE, "slack")
    for altered in ("Inserted(1, 2, 1, Kautz(2, 2))", "Removed(1, 9, 1, Kautz(2, 4))"):
        build(parse(f"Shortened(2, 9, 1, {altered})"))
    make(build(parse("Product(UniRing(2), BiRing(3))")), Collective.ALLGATHER, "lifted")
    for topology in (build(parse("Kautz(2, 2)")), fabric("dgx-a100-2")):
        optimum(topology)
        forest = make(topology, Collective.ALLREDUCE, "forestcoll")
        require_valid(forest, topology)
        simulate(forest, topology, network, size_bytes=1)
    exchange = build(parse("GeneralizedKautz(3, 11)"))
    require_valid(make(exchange, Collective.ALL_TO_ALL, "mcf"), exchange)
    # Patch plans on panels without a free port, hosts fixed and chosen.
    plant = uniform("per-port", 12, 4)
    one, other = (build(parse(f"RandomRegular(12, 4, {seed})")) for seed in (1, 2))
    today = plan_moves(one, plant).final
    plan_moves(other, plant, today)
    plan_placed(other, plant, today)
    # Without the linear program: lengths that adapt.
    alltoall.optimum(exchange, max_variables=0)


def is_compiled() -> bool:
    """Whether the kernels' machine code is on disk for this machine and version of the code."""
    from synth import balance

    dispatcher = balance.spread
    folder = Path(dispatcher.stats.cache_path or "")
    name = f"balance.{dispatcher.py_func.__name__}-"
    return any(path.name.startswith(name) for path in folder.glob("*.nbc"))


def load() -> None:
    """Import what answers are computed with, and load the kernels of the usual ones.

    Numba reads machine code from disk when a kernel is first called: a second for all of them.
    """
    for name in _IMPORTED:
        import_module(name)
    from schedules.collectives import make
    from schedules.model import Collective
    from schedules.verify import require_valid
    from synth.build import build
    from synth.recipe import parse
    from synth.search import frontier

    frontier(12, 4)
    topology = build(parse("BiRing(5)"))
    require_valid(make(topology, Collective.ALLREDUCE, "bfb"), topology)


_IMPORTED = (
    "app.services.cached_sources",
    "schedules.design",
    "schedules.forestcoll",
    "schedules.formats",
    "schedules.simulate",
    "schedules.verified",
    "scipy.optimize",
    "scipy.sparse",
    "synth.formats",
)
