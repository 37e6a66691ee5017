"""Cuts added as they are violated lead to the same exact optima as a flow to each receiver."""

import random
from fractions import Fraction

import pytest

from tests.oracles import random_topology
from topoloom.schedules.trees import limits
from topoloom.schedules.trees.forestcoll import optimum
from topoloom.schedules.trees.rates.allreduce_rate import allreduce_bound
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
