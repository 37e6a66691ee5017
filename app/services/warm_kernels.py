"""Compiling the kernels ahead of the first question."""

from fractions import Fraction
from importlib import import_module
from pathlib import Path


def warm() -> None:
    """Run every kernel once on small topologies; numba keeps the machine code on disk."""
    from topoloom.schedules.formats.schedule.binary import pack
    from topoloom.schedules.generate.collectives import make
    from topoloom.schedules.model.schedule import Collective
    from topoloom.schedules.routes import all_to_all
    from topoloom.schedules.simulate import Network, simulate
    from topoloom.schedules.trees.forestcoll import optimum
    from topoloom.schedules.verify import require_valid, step_cost
    from topoloom.synth.evaluation.cost import Links
    from topoloom.synth.fabrics import fabric
    from topoloom.synth.recipes.build import build
    from topoloom.synth.recipes.recipe import parse
    from topoloom.synth.search.frontier import frontier
    from topoloom.synth.wiring import plan_moves, uniform
    from topoloom.synth.wiring.placement.host_placement import plan_placed

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
    all_to_all.optimum(exchange, max_variables=0)


def is_compiled() -> bool:
    """Whether the kernels' machine code is on disk for this machine and version of the code."""
    from topoloom.synth.evaluation import load_balance

    dispatcher = load_balance.spread
    folder = Path(dispatcher.stats.cache_path or "")
    name = f"balance.{dispatcher.py_func.__name__}-"
    return any(path.name.startswith(name) for path in folder.glob("*.nbc"))


def load() -> None:
    """Import what answers are computed with, and load the kernels of the usual ones.

    Numba reads machine code from disk when a kernel is first called: a second for all of them.
    """
    for name in _IMPORTED:
        import_module(name)
    from topoloom.schedules.generate.collectives import make
    from topoloom.schedules.model.schedule import Collective
    from topoloom.schedules.verify import require_valid
    from topoloom.synth.recipes.build import build
    from topoloom.synth.recipes.recipe import parse
    from topoloom.synth.search.frontier import frontier

    frontier(12, 4)
    topology = build(parse("BiRing(5)"))
    require_valid(make(topology, Collective.ALLREDUCE, "bfb"), topology)


_IMPORTED = (
    "topoloom.app.services.design_inputs",
    "topoloom.schedules.design",
    "topoloom.schedules.trees.forestcoll",
    "topoloom.schedules.formats",
    "topoloom.schedules.simulate",
    "topoloom.schedules.generate.make_and_verify",
    "scipy.optimize",
    "scipy.sparse",
    "topoloom.synth.formats",
)
