"""Workload files of AICB: what each column becomes, and the rules of a line."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import topoloom
from tests.iteration_oracles import simulate_iteration
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.formats.aicb_workload import _microbatch, aicb_model
from topoloom.schedules.formats.model_file import read_model
from topoloom.schedules.iterations.communications import Cost
from topoloom.schedules.iterations.iteration import layer_seconds
from topoloom.schedules.iterations.job_operations import job_plan
from topoloom.schedules.iterations.link_sharing import Row

F = Fraction
HEAD = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 ga: 1 all_gpus: 8"
ROWS = (
    "norm\t-1\t0\tBROADCAST\t16\t1000\tNONE\t0\t0\tNONE\t0\t100",
    "mlp -1 2000 ALLREDUCE 4000 3000 REDUCESCATTER 4000 1000 NONE 0 100",
    "moe -1 500 ALLTOALL_EP 2000 500 ALLTOALL_EP 2000 500 REDUCESCATTER_DP_EP 6000 100",
    "grad -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 8000 100",
)


def workload(*rows, head=HEAD):
    return "\n".join([head, str(len(rows)), *rows, ""])


class PerByte:
    """A network on which a collective takes 1 ns per byte; it records every group."""

    def __init__(self):
        self.seen = set()

    def cost(self, kind, traffic, stage, size_bytes):
        self.seen.add((kind, str(traffic), int(size_bytes)))
        return Cost("link", F(0), size_bytes / 10**9, Row.of())


def test_every_column_becomes_a_computation_or_a_collective_of_its_groups():
    job = read_model(aicb_model(workload(*ROWS)), 16)
    assert str(job.processes) == "tensor=2,expert=2,data=4"
    network = PerByte()
    found = simulate_iteration(job_plan(job, layer_seconds(job)), network)
    assert network.seen == {
        ("tensor", "allgather", 16),
        ("tensor", "allreduce", 4000),
        ("tensor", "reduce-scatter", 4000),
        ("expert", "all-to-all", 2000),
        ("data", "reduce-scatter", 6000),
        ("expert+data", "allreduce", 8000),
    }
    assert found.compute_seconds * 10**9 == 2000 + 500 + 1000 + 3000 + 1000 + 500 + 500
    # Collectives of both passes stop the stage; gradients run beside the passes of earlier layers.
    passes = 8500 + 16 + 2 * 4000 + 2 * 2000
    ready = passes - (1000 + 4000 + 4000)
    assert found.seconds * 10**9 == max(passes, ready + 6000, 2500 + 16 + 4000 + 2000 + 8000)


STAGES = HEAD.replace("pp: 1 ga: 1", "pp: 2 ga: 3") + " pp_comm: 512.0"


def test_a_file_of_several_stages_has_the_lines_of_one_and_of_every_microbatch():
    body = ROWS[1], ROWS[2], ROWS[1]
    job = read_model(aicb_model(workload(ROWS[0], *body * 3, ROWS[3], head=STAGES)), 16)
    assert (str(job.processes), job.microbatches) == ("tensor=2,expert=2,pipeline=2,data=2", 3)
    first, second = job.chunk_layers()
    assert first == second
    assert [layer.name for layer in first] == ["norm", "mlp", "moe", "mlp", "grad"]
    # A stage divides its own lines among the microbatches; their collectives run once.
    assert layer_seconds(job)(first[0])[1] * 3 == F(1000, 10**9)
    network = PerByte()
    found = simulate_iteration(job_plan(job, layer_seconds(job)), network)
    assert ("expert+data", "allreduce", 8000) in network.seen
    assert {size for kind, _, size in network.seen if "pipeline" in kind} == {512}
    once, microbatch = 1000, 2 * 6000 + 1500
    assert found.compute_seconds * 10**9 == once + 3 * microbatch


def test_one_microbatch_of_several_stages_has_all_lines():
    head = HEAD.replace("pp: 1", "pp: 2")
    job = read_model(aicb_model(workload(*ROWS, head=head)), 8)
    assert (job.microbatches, len(job.layers), job.stages) == (1, 2 * len(ROWS), 2)


@given(st.integers(2, 4), st.lists(st.sampled_from("ab"), min_size=1, max_size=4), st.data())
def test_a_microbatch_is_found_between_other_lines(times, body, data):
    before, after = data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))
    rows = [*["x"] * before, *body * times, *["y"] * after]
    start, count = _microbatch([(row,) for row in rows], times, "")
    assert rows[start : start + times * count] == rows[start : start + count] * times
    assert count >= len(body)


def test_the_weights_of_a_layer_have_their_share_of_the_backward_pass():
    job = read_model(aicb_model(workload(ROWS[1], head=HEAD.replace("ep: 2", "ep: 1"))), 4)
    assert layer_seconds(job)(job.layers[0]) == (F(2, 10**6), F(4, 10**6), F(1, 10**6))


def test_a_file_without_expert_and_pipeline_sizes_has_one_of_each():
    head = "HYBRID_TRANSFORMER_FWD_IN_BCKWD\tmodel_parallel_NPU_group: 8 checkpoints: 0"
    job = read_model(aicb_model(workload(ROWS[1], head=head)), 8)
    assert (job.size("tensor"), job.size("expert"), job.size("data")) == (8, 1, 1)


def test_python_simulates_a_workload_file():
    text = workload(*ROWS)
    found = topoloom.iteration(text, 8, 2, node_gbps=100, topology="BiRing(8)")
    assert found.best.iteration.compute_seconds * 10**9 == 8500
    assert any("AICB" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "line 1: must be one of HYBRID_TRANSFORMER_FWD_IN_BCKWD"),
        (workload(ROWS[0], head="MICRO"), "line 1: must be one of .*; not 'MICRO'"),
        (
            workload(*ROWS, head=STAGES),
            "line 1: ga must be the number of equal runs of layers, not 3",
        ),
        (
            workload(*ROWS, head=HEAD.replace("pp: 1", "pp: 2000")),
            "line 1: pp must be at most 1024",
        ),
        (f"{HEAD}\n3\n{ROWS[0]}\n", "line 2: must be the number of layers that follow, 1"),
        (f"{HEAD}\nx\n{ROWS[0]}\n", "line 2: must have whole numbers, not 'x'"),
        (workload(ROWS[0], "a -1 1 NONE 0"), "line 4: must have 12 fields, not 5"),
        (workload(ROWS[1].replace("2000", "2e3")), "line 3: must have whole numbers, not '2e3'"),
        (
            workload(ROWS[1].replace("ALLREDUCE", "ALLREDUCE_X")),
            "line 3: must be one of NONE, ALLR",
        ),
        (workload(ROWS[1].replace("ALLREDUCE", "SUM")), "line 3: must be one of NONE.*not 'SUM'"),
    ],
)
def test_a_line_that_breaks_the_format_is_named(text, rule):
    with pytest.raises(NoSchedule, match=rule):
        aicb_model(text)
