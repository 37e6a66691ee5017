"""What the benchmarks say of a peer is decided right."""

import doctest

import pytest

from benchmarks import bench_efficientdirect, optccl_model
from benchmarks.bench_efficientdirect import same_loads
from topoloom.synth.evaluation.measure import step_loads
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse


def answer(topology, error=0.0, missing=0):
    """Return what the peer would answer: one program for every destination and step."""
    loads = [float(load) + error for load in step_loads(topology)]
    return {"loads": loads, "programs": topology.node_count * len(loads) - missing}


@pytest.mark.parametrize("recipe", ["Torus(6, 6)", "Hypercube(4)", "Circulant(12, 2, 3)"])
def test_loads_agree_within_the_tolerance_of_the_peers_solver_only(recipe):
    topology = build(parse(recipe))
    assert same_loads(topology, answer(topology))
    assert same_loads(topology, answer(topology, error=1e-9))
    assert not same_loads(topology, answer(topology, error=1e-4))
    assert not same_loads(topology, answer(topology, error=1.0))


def test_a_program_left_unsolved_is_no_agreement():
    topology = build(parse("Torus(6, 6)"))
    assert not same_loads(topology, answer(topology, missing=1))


def test_the_examples_of_the_peer_benchmarks_hold():
    assert doctest.testmod(bench_efficientdirect) == (0, 3)
    assert doctest.testmod(optccl_model) == (0, 3)
