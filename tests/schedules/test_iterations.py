"""Training iterations: the simulation equals closed forms, and links are shared fairly."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.iteration_oracles import simulate_iteration
from topoloom.schedules.errors import NoSchedule
from topoloom.schedules.groups.process_groups import ProcessGroups
from topoloom.schedules.iterations.communications import Cost, FreeNetwork, Traffic
from topoloom.schedules.iterations.event_simulation import simulate
from topoloom.schedules.iterations.iteration import layer_seconds
from topoloom.schedules.iterations.job_operations import job_plan
from topoloom.schedules.iterations.link_sharing import LinkShares, Row
from topoloom.schedules.iterations.operations import Operation
from topoloom.schedules.iterations.pipeline_schedules import Work, stage_groups
from topoloom.schedules.iterations.training_job import (
    Layer,
    PipelineOrder,
    Sharding,
    TrainingJob,
    processes_of,
)

F = Fraction
seconds = st.builds(F, st.integers(1, 60), st.integers(1, 12))


class OneLink:
    """A network of one link per kind: a collective of M bytes takes latency + M / rate."""

    def __init__(self, rate=1, latency=0):
        self.rate, self.latency = F(rate), F(latency)

    def cost(self, kind, traffic, stage, size_bytes):
        return Cost("link", self.latency, size_bytes / self.rate, Row.of())


def layer(forward=1, backward=2, **members):
    times = {"forward_seconds": F(forward), "backward_seconds": F(backward)}
    return Layer("layer", **times, **members)


def job(layers, parallel, **members):
    return TrainingJob("job", tuple(layers), ProcessGroups.parse(parallel), **members)


def run(job, network=None):
    return simulate_iteration(job_plan(job, layer_seconds(job)), network or FreeNetwork())


@given(seconds, seconds, st.integers(1, 5), st.integers(1, 9))
def test_a_pipeline_takes_its_microbatches_and_p_minus_1_more(forward, backward, stages, count):
    for order in (PipelineOrder.GPIPE, PipelineOrder.ONE_F_ONE_B):
        found = run(
            job(
                [layer(forward, backward)] * stages,
                f"pipeline={stages}",
                microbatches=count,
                order=order,
            )
        )
        assert found.seconds == (count + stages - 1) * (forward + backward)
        assert found.bubble_seconds / found.compute_seconds == F(stages - 1, count)


shares = st.fractions(0, 1, max_denominator=6)


@given(seconds, seconds, shares, st.integers(1, 5), st.integers(0, 6))
def test_zero_bubble_has_the_bubble_of_zb_h1(forward, inputs, share, stages, more):
    """Qi et al., arXiv:2401.10241, table 2: (p - 1)(F + B - W) for inputs' gradients B."""
    weights = min(forward, inputs) * share
    one = layer(forward, inputs + weights, weight_share=weights / (inputs + weights))
    found = run(
        job(
            [one] * stages,
            f"pipeline={stages}",
            microbatches=stages + more,
            order=PipelineOrder.ZERO_BUBBLE,
        )
    )
    assert found.bubble_seconds == (stages - 1) * (forward + inputs - weights)


@given(seconds, shares, st.integers(1, 4), st.integers(0, 3))
def test_dualpipe_has_the_bubble_of_its_paper(forward, share, half, more):
    """arXiv:2412.19437, table 2: (p/2 - 1)(F&B + B - 3W), where inputs' gradients take F, too."""
    weights = forward * share
    backward = forward + weights
    one = layer(forward, backward, weight_share=weights / backward)
    found = run(
        job(
            [one] * 2 * half,
            f"pipeline={2 * half}",
            microbatches=4 * half + 2 * more,
            order=PipelineOrder.DUALPIPE,
        )
    )
    assert found.bubble_seconds == (half - 1) * (forward + backward + backward - 3 * weights)


@pytest.mark.parametrize("order", PipelineOrder)
def test_every_microbatch_passes_every_chunk_once_each_way(order):
    chunks = 3 if order is PipelineOrder.INTERLEAVED else 1
    seen = [
        one
        for stage in range(4)
        for group in stage_groups(order, stage, 4, 12, chunks)
        for one in group
    ]
    assert len(seen) == len(set(seen))
    forward = {(one.chunk, one.microbatch) for one in seen if one.forward}
    assert forward == {(chunk, count) for chunk in range(4 * chunks) for count in range(12)}
    gradients = [(one.chunk, one.microbatch) for one in seen if one.has_gradients]
    assert sorted(gradients) == sorted(forward)
    split = {
        work: {(one.chunk, one.microbatch) for one in seen if one.work is work}
        for work in (Work.INPUTS, Work.WEIGHTS)
    }
    assert split[Work.INPUTS] == split[Work.WEIGHTS]


def test_gradients_follow_the_weights_of_a_split_pass():
    layers = [layer(parameters=100)] * 2
    split = job(layers, "pipeline=2,data=2", microbatches=2, order=PipelineOrder.ZERO_BUBBLE)
    # Two microbatches of 3 s and a bubble of 1 s; a bucket of 400 bytes follows the last pass.
    assert run(split).seconds == 2 * 3 + 1
    assert run(split, OneLink(400)).seconds == 2 * 3 + 1 + 1


def test_both_stages_of_a_chunk_exchange_their_gradients_in_dualpipe():
    members = {"microbatches": 4, "order": PipelineOrder.DUALPIPE, "gradient_bytes": 1}
    members |= {"sharding": Sharding.OPTIMIZER}
    for parallel, size in (("pipeline=2", 100), ("pipeline=2,data=2", 50)):
        found = run(job([layer(parameters=100)] * 2, parallel, **members))
        sent = [one for one in found.plan.messages if one and one.traffic is Traffic.SEND_MIRROR]
        # Two stages with two chunks each, and a bucket for each chunk.
        assert [one.size_bytes for one in sent] == [size] * 4


@given(seconds, st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_an_interleaved_pipeline_divides_its_bubble_by_the_chunks(forward, stages, chunks, rounds):
    layers = [layer(forward, 2 * forward)] * (stages * chunks)
    found = run(
        job(
            layers,
            f"pipeline={stages}",
            microbatches=stages * rounds,
            order=PipelineOrder.INTERLEAVED,
            chunks=chunks,
        )
    )
    assert found.bubble_seconds / found.compute_seconds == F(stages - 1, stages * rounds * chunks)


@given(seconds, seconds, seconds)
def test_one_bucket_follows_the_whole_backward_pass(forward, backward, transfer):
    layers = [layer(forward, backward, parameters=50)] * 2
    network = OneLink(rate=100 / transfer)
    found = run(job(layers, "data=2", gradient_bytes=1, bucket_bytes=100), network)
    assert found.seconds == 2 * (forward + backward) + transfer
    assert found.exposed_seconds == transfer


@given(seconds, seconds, seconds)
def test_buckets_of_layers_overlap_the_backward_pass(forward, backward, transfer):
    layers = [layer(forward, backward, parameters=50)] * 3
    network = OneLink(rate=50 / transfer)
    found = run(job(layers, "data=2", gradient_bytes=1, bucket_bytes=1), network)
    # Bucket k starts after k backward passes, and after bucket k - 1.
    ready = 3 * forward + backward
    assert found.seconds == ready + max(
        3 * transfer, backward + 2 * transfer, 2 * backward + transfer
    )


def test_without_overlap_times_add_up():
    layers = [layer(parameters=50)] * 3
    found = run(job(layers, "data=2", gradient_bytes=1, bucket_bytes=1, overlap=False), OneLink(50))
    assert found.seconds == 3 * 3 + 3


def test_with_full_overlap_only_the_last_bucket_is_exposed():
    layers = [layer(parameters=50)] * 3
    found = run(job(layers, "data=2", gradient_bytes=1, bucket_bytes=1), OneLink(50))
    assert (found.seconds, found.exposed_seconds) == (10, 1)


@pytest.mark.parametrize(
    ("prefetch", "overlap", "expected"), [(1, True, 9 + 1 + 1), (1, False, 15 + 1)]
)
def test_gathers_of_sharded_parameters_hide_behind_the_layer_before(prefetch, overlap, expected):
    # Three layers are gathered twice, 1 s each; the last reduce-scatter takes 1 s.
    network = OneLink(50)
    found = run(
        job(
            [layer(parameters=50)] * 3,
            "data=2",
            element_bytes=1,
            gradient_bytes=1,
            sharding=Sharding.FULL,
            prefetch=prefetch,
            overlap=overlap,
        ),
        network,
    )
    assert found.seconds == expected + (0 if overlap else 2)


def test_collectives_of_tensor_groups_stop_their_stage():
    layers = [layer(tensor_width=8, tensor_runs=2)] * 3
    found = run(job(layers, "tensor=2", element_bytes=1), OneLink(8, latency=F(1, 4)))
    # Forward and backward of three layers: 3 s of computations, 1 s + 2 latencies of allreduces.
    assert found.seconds == 3 * (3 + 2 * F(3, 2))


def test_a_stage_waits_for_activations_and_gradients():
    found = run(job([layer()] * 2, "pipeline=2", width=1, element_bytes=1), OneLink())
    assert found.seconds == 2 * 3 + 2


def test_experts_are_overlapped_by_another_microbatch():
    layers = [layer(1, 1, expert_bytes=(1,), expert_backward_bytes=(1,), experts=2)] * 4
    plain = job(layers, "expert=2", microbatches=8)
    paired = job(layers, "expert=2", microbatches=8, order=PipelineOrder.OVERLAPPED)
    assert run(plain, OneLink()).seconds == 8 * 2 * 4 * 2
    # Only the first forward pass, up to its last exchange, and the last backward pass wait.
    assert run(paired, OneLink()).seconds == 7 * 2 * 4 + (4 * 2 - 1) + 4 * 2


@given(st.integers(1, 4), st.integers(1, 9))
def test_an_overlapped_pipeline_ends_for_any_number_of_microbatches(stages, count):
    layers = [layer(1, 1, expert_bytes=(1,), expert_backward_bytes=(1,), experts=2)] * stages
    sizes = f"expert=2,pipeline={stages}"
    paired = job(layers, sizes, microbatches=count, order=PipelineOrder.OVERLAPPED)
    assert run(paired, OneLink()).seconds >= 2 * count
    assert run(paired).seconds == 2 * (count + stages - 1)


@given(st.lists(seconds, min_size=1, max_size=4))
def test_one_link_is_shared_evenly(transfers):
    """Sort by size: while k transfers are left, each has 1/k of the link."""
    work = [Operation(str(row), "send", F(0), (), row, one) for row, one in enumerate(transfers)]
    found = simulate(work, LinkShares([Row.of(1)] * len(transfers)))
    now, done, expected = F(0), F(0), {}
    for left, one in zip(range(len(transfers), 0, -1), sorted(transfers), strict=True):
        now, done = now + left * (one - done), one
        expected[one] = now
    assert [found.end(row) for row in range(len(transfers))] == [expected[one] for one in transfers]


shares = st.lists(
    st.lists(st.integers(0, 4).map(lambda part: F(part, 4)), min_size=3, max_size=3),
    min_size=1,
    max_size=5,
)


@given(shares)
def test_speeds_are_max_min_fair(rows):
    """No link is too full, and every slow communication has a full link where none is faster."""
    speeds = LinkShares([Row.of(*row) for row in rows]).speeds(range(len(rows)))
    used = [sum(speeds[at] * row[link] for at, row in enumerate(rows)) for link in range(3)]
    assert all(one <= 1 for one in used)
    for at, row in enumerate(rows):
        if speeds[at] < 1:
            assert any(
                row[link]
                and used[link] == 1
                and all(speeds[at] >= speeds[o] for o, other in enumerate(rows) if other[link])
                for link in range(3)
            )


def test_operations_in_a_circle_are_refused():
    work = [Operation("a", "x", F(1), (1,)), Operation("b", "y", F(1), (0,))]
    with pytest.raises(NoSchedule, match="circle"):
        simulate(work, LinkShares([]))


def test_a_row_of_shares_keeps_its_loads():
    assert np.array_equal(Row.of(F(1, 3), F(1, 2)).loads, [2, 3])


REFUSED = {
    "/parallel: must multiply to the 8 ranks; tensor=3 has 3": lambda: processes_of("tensor=3", 8),
    "/parallel: expert=4 must divide the 6 experts": lambda: job(
        [layer(experts=6, expert_bytes=(1,))], "expert=4"
    ),
    "/parallel: expert=2 must be 1 for a model without experts": lambda: job([layer()], "expert=2"),
    "/parallel: must have at most one chunk per layer; 2 [*] 1 exceeds 1": lambda: job(
        [layer()], "pipeline=2"
    ),
    "/microbatches: must be a multiple of the 2 pipeline stages": lambda: job(
        [layer()] * 2, "pipeline=2", order=PipelineOrder.INTERLEAVED, microbatches=3
    ),
    "/microbatches: must be even and at least 4, twice the stages": lambda: job(
        [layer()] * 2, "pipeline=2", order=PipelineOrder.DUALPIPE, microbatches=5
    ),
    "/parallel: must have an even pipeline, not 3 stages": lambda: job(
        [layer()] * 3, "pipeline=3", order=PipelineOrder.DUALPIPE, microbatches=6
    ),
    "/chunks: must be 1 unless": lambda: job([layer()] * 2, "data=2", chunks=2),
    "/layers: must not be empty": lambda: job([], "data=2"),
    "/accelerator: must be given: layer states no seconds": lambda: run(
        job([Layer("layer", forward_flops=F(1))], "data=2")
    ),
}


@pytest.mark.parametrize("rule", REFUSED)
def test_a_job_that_breaks_a_rule_is_refused(rule):
    with pytest.raises(NoSchedule, match=rule):
        REFUSED[rule]()
