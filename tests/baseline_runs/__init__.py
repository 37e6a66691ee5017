"""A schedule of every baseline on a topology of its own: the oracle of its closed form."""

from collections.abc import Callable, Mapping
from functools import partial

from tests.baseline_runs import (
    bruck,
    hypercube,
    pairwise_exchange,
    permutation_rings,
    rabenseifner,
    shifted_ring,
    single_tree,
    torus_rings,
    twisted_torus,
)
from tests.baseline_runs.dimension_exchange import exchange_run
from tests.baseline_runs.full_mesh import mesh_run
from tests.baseline_runs.routed_torus import RoutedRun
from tests.baseline_runs.runs import BaselineRun
from tests.baseline_runs.two_trees import trees_run
from topoloom.schedules.baselines.dimension_exchange import SWING, TRIVANCE
from topoloom.schedules.baselines.full_mesh import FullMesh
from topoloom.schedules.baselines.operation import Operation
from topoloom.schedules.baselines.two_tree_schedule import DOUBLE_BINARY_TREE, WIDE_DOUBLE_TREE

Run = Callable[[int, int, Operation], BaselineRun | RoutedRun | None]

RUNS: Mapping[str, Run] = {
    "shifted-ring": shifted_ring.baseline_run,
    "double-binary-tree": partial(trees_run, DOUBLE_BINARY_TREE),
    "double-tree": partial(trees_run, WIDE_DOUBLE_TREE),
    "single-tree": single_tree.baseline_run,
    "torus-rings": torus_rings.baseline_run,
    "twisted-torus": twisted_torus.baseline_run,
    "full-mesh-2d": partial(mesh_run, FullMesh(2)),
    "full-mesh-3d": partial(mesh_run, FullMesh(3)),
    "recursive-doubling": hypercube.baseline_run,
    "permutation-rings": permutation_rings.baseline_run,
    "direct": pairwise_exchange.baseline_run,
    "switch-bruck": bruck.baseline_run,
    "switch-rabenseifner": rabenseifner.baseline_run,
    "routed-swing": partial(exchange_run, SWING),
    "routed-trivance": partial(exchange_run, TRIVANCE),
}
"""Baseline -> its run on hosts with a number of ports; None where the baseline does not apply."""
