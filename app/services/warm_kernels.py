"""Compile the kernels before the first request."""

from fractions import Fraction
from importlib import import_module
from pathlib import Path

import numpy as np


def warm() -> None:
    """Run every kernel once on small topologies; numba caches the machine code on disk."""
    from topoloom.iterations import iteration
    from topoloom.schedules.formats.schedule.binary import pack
    from topoloom.schedules.generate.collectives import make
    from topoloom.schedules.iterations.communications import Row
    from topoloom.schedules.iterations.link_sharing import LinkShares
    from topoloom.schedules.model.schedule import Collective
    from topoloom.schedules.network_curves import ring_collective, ring_time
    from topoloom.schedules.network_curves.network import Network as LatencyNetwork
    from topoloom.schedules.routes import all_to_all
    from topoloom.schedules.simulate import Network, simulate
    from topoloom.schedules.trees.forestcoll import allgather, optimum
    from topoloom.schedules.verify import require_valid, step_cost
    from topoloom.synth.edge_swaps.local_search import apply_targeted_swaps, head_array
    from topoloom.synth.edge_swaps.random_regular import random_ends
    from topoloom.synth.evaluation.cost import Links
    from topoloom.synth.fabrics import fabric
    from topoloom.synth.kernels.splitmix import seeded
    from topoloom.synth.recipes.build import build
    from topoloom.synth.recipes.recipe import parse
    from topoloom.synth.search.frontier import frontier
    from topoloom.synth.wiring import plan_moves, uniform
    from topoloom.synth.wiring.coloring.kempe import edge_coloring
    from topoloom.synth.wiring.placement.host_placement import plan_placed

    network = Network(Fraction(0), Fraction(1))
    frontier(12, 4)
    # Sizes outside of the atlas: the search for unidirectional and bidirectional bases, also over
    # groups so large that the search uses a selection of their elements.
    for links in Links:
        frontier(700, 3, links)
        # Slack schedules, greedy and by local moves, on random graphs after edge swaps.
        frontier(62, 3, links)
        frontier(40, 12, links)
    for topology in (build(parse("BiRing(5)")), build(parse("Kautz(2, 2)"))):
        schedule = make(topology, Collective.ALLREDUCE, "bfb")
        require_valid(schedule, topology)
        step_cost(schedule, topology)
        simulate(schedule, topology, network, size_bytes=1)
        pack(schedule)
    make(build(parse("RandomRegular(20, 3, 1, 4, 50)")), Collective.ALLREDUCE, "slack")
    build(parse("RandomRegular(256, 3, 1, 4, 50)"))
    apply_targeted_swaps(head_array(80, *random_ends(80, 3, 1, False)), 4, 9, False, seeded(1))
    for altered in ("Inserted(1, 2, 1, Kautz(2, 2))", "Removed(1, 9, 1, Kautz(2, 4))"):
        build(parse(f"Shortened(2, 9, 1, {altered})"))
    make(build(parse("Product(UniRing(2), BiRing(3))")), Collective.ALLGATHER, "lifted")
    for topology in (build(parse("Kautz(2, 2)")), fabric("dgx-a100-2")):
        optimum(topology)
        forest = make(topology, Collective.ALLREDUCE, "forestcoll")
        require_valid(forest, topology)
        simulate(forest, topology, network, size_bytes=1)
    # Latencies of links, and switches whose neighbors cannot share them evenly.
    simulate(forest, topology, Network(None, Fraction(1)), size_bytes=1)
    allgather(fabric("mi250-2"))
    # Shares of 2^31 and more: trees with 64-bit capacities.
    allgather(build(parse("BiRing(3)")), shards={0: 1 << 31, 1: 1, 2: 1})
    exchange = build(parse("GeneralizedKautz(3, 11)"))
    require_valid(make(exchange, Collective.ALL_TO_ALL, "mcf"), exchange)
    layer = {"count": 2, "parameters": 1, "forward_seconds": 1}
    iteration({"layers": [layer], "microbatches": 1}, nodes=4, degree=2, node_gbps=1)
    LinkShares([Row.of(1), Row.of(1)]).speeds({0, 1})
    # Patch plans on panels without a free port, with fixed and with chosen hosts.
    plant = uniform("per-port", 12, 4)
    one, other = (build(parse(f"RandomRegular(12, 4, {seed})")) for seed in (1, 2))
    today = plan_moves(one, plant).final
    plan_moves(other, plant, today)
    plan_placed(other, plant, today)
    edge_coloring((np.arange(3), np.array([1, 2, 0])), np.ones((3, 3), np.int64), np.full(3, -1))
    pair = ring_collective.Channel((1,), (1,))
    ring = ring_collective.RingCollective(Collective.ALLGATHER, 2, (pair,))
    zero = Fraction(0)
    ring_time.ring_time(ring, LatencyNetwork(zero, zero, zero), zero, zero)
    # Without the linear program: the multiplicative-weights algorithm.
    all_to_all.optimum(exchange, max_variables=0)


def is_compiled() -> bool:
    """Return whether machine code of this version is on disk for this machine."""
    from topoloom.synth.evaluation import load_balance

    dispatcher = load_balance.spread
    folder = Path(dispatcher.stats.cache_path or "")
    module = dispatcher.py_func.__module__.rpartition(".")[2]
    name = f"{module}.{dispatcher.py_func.__name__}-"
    return any(path.name.startswith(name) for path in folder.glob("*.nbc"))


def load() -> None:
    """Import the modules of computations, and load the kernels of usual requests.

    Numba reads machine code from disk at the first call of a kernel: one second for all kernels.
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
