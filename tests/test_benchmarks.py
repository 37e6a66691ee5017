"""What the benchmarks say of a peer is decided right."""

import doctest

import pytest

from benchmarks import bench_efficientdirect, bench_nccl, optccl_model
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


def test_a_row_of_forestcoll_beside_nccl_names_the_fastest_and_the_ratio():
    row = bench_nccl.Row
    rows = [
        row("f", "allgather", "forestcoll", 2**20, 1e-3, 3.0),
        row("f", "allgather", "nccl-ring", 2**20, 2e-3, 1.5),
        row("f", "allgather", "nccl-pat", 2**20, 3e-3, 1.0),
    ]
    assert list(bench_nccl.table(rows))[2:] == [
        "| `f` | allgather | 1MiB | 3.0 | 1.5 (nccl-ring) | 2.00 |"
    ]


def test_the_plot_has_a_panel_for_each_fabric_and_collective(tmp_path):
    pytest.importorskip("matplotlib")
    rows = [
        bench_nccl.Row(fabric, collective, name, size, 1e-3, 1.0)
        for fabric in ("f", "g")
        for collective in ("allgather", "allreduce")
        for name in ("forestcoll", "nccl-ring")
        for size in bench_nccl.SIZES
    ]
    bench_nccl.plot(rows, tmp_path / "out.svg")
    text = (tmp_path / "out.svg").read_text()
    assert text.count(">allgather<") == text.count(">allreduce<") == 2
