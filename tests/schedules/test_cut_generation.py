"""Cuts added as they are violated lead to the same exact optima as a flow to each receiver."""

import random
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.bench_faults import one_way
from tests.oracles import random_topology
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.flow.network import network_of
from topoloom.schedules.trees.forestcoll import optimum
from topoloom.schedules.trees.linear_program.cut_generation import CutProgram
from topoloom.schedules.trees.linear_program.flow_program import FlowProgram
from topoloom.schedules.trees.rates.allreduce_rate import _question, allreduce_bound
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse
from topoloom.synth.topology.degrade import degraded
from topoloom.synth.topology.topology import Topology


def both_ways(topology: Topology, monkeypatch: pytest.MonkeyPatch) -> None:
    """Require equal bounds and rates by flows and by cuts."""
    found = set()
    for most in (limits.MAX_COLUMNS, 0):
        monkeypatch.setattr(limits, "MAX_SIMPLEX_COLUMNS", most)
        bound = allreduce_bound(topology)
        proof = bound.proof
        held = dict.fromkeys(topology.compute_nodes, Fraction(0))
        for cut in proof.cuts:
            for node in cut.nodes & held.keys():
                held[node] += cut.weight
        assert all(weight >= 1 for weight in held.values())
        best = [optimum(topology, inward=inward).inverse_rate for inward in (False, True)]
        found.add((bound.rate, bound.feasible, *best))
    assert len(found) == 1


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(40))
def test_random_fabrics_have_the_same_bounds_by_cuts_and_by_flows(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    topology = random_topology(random.Random(31_000 + seed), balanced=seed % 2 == 0)
    both_ways(topology, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("dgx-1v", ("0.gpu0", "0.gpu4")),
        ("dgx-a100-2", ("0.gpu0", "plane0")),
        ("mi250-1", ("0.gpu5", "0.gpu6")),
        ("trainium2", ("0.0", "0.1")),
    ],
)
def test_damaged_fabrics_have_the_same_bounds_by_cuts_and_by_flows(
    name: str, link: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    both_ways(degraded(fabric(name), without_links=[link]), monkeypatch)


@pytest.mark.slow
def test_unequal_roots_have_the_same_bounds_by_cuts_and_by_flows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both_ways(build(parse("GeneralizedKautz(3, 11)")), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(("source", "target"), [("3.3", "3.4"), ("0.0", "0.1")])
def test_a_mesh_without_one_direction_of_a_link_takes_few_cuts(source: str, target: str) -> None:
    topology = one_way(fabric("tpu-v5e-8x8"), source, target)
    bound = allreduce_bound(topology)
    assert bound.rate == bound.feasible == {"3.3": Fraction(1850, 21), "0.0": 50}[source]
    program = FlowProgram(_question(network_of(topology), (), free=True))
    assert program.columns > limits.MAX_SIMPLEX_COLUMNS
    program.best()
    assert program._cuts.columns < 600 > len(program._cuts._sets)


def test_a_flow_yields_several_violated_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    path = Topology(range(6), [(i, i + s) for i in range(6) for s in (1, -1) if 0 <= i + s < 6])
    layout = FlowProgram(_question(network_of(path), (), free=True))
    values = np.zeros(layout.columns)
    assert not CutProgram(layout)._add_violated(values, 0)
    values[: layout.share_columns] = 1.0
    counts = []
    for most in (1, limits.MAX_NESTED_CUTS):
        monkeypatch.setattr(limits, "MAX_NESTED_CUTS", most)
        program = CutProgram(layout)
        program._add_violated(values, 1)
        counts.append(len(program._sets))
    assert counts[0] < counts[1]
