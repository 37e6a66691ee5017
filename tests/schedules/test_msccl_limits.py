"""What a run-time of the MSCCL family can load decides how a program is written."""

from collections import Counter

import numpy as np
import pytest

from tests.schedule_oracles import (
    bidirectional_ring,
    complete,
    every_schedule,
    ring,
    shortest_steps,
    shortest_trees,
)
from topoloom.schedules.errors import InvalidSchedule, NotExportable
from topoloom.schedules.formats.msccl.program import MAX_COUNT, Dialect
from topoloom.schedules.formats.msccl.replay import replay
from topoloom.schedules.formats.msccl.write import render
from topoloom.schedules.formats.targets.runtimes import RUNTIMES, runtimes_for
from topoloom.schedules.formats.targets.size_limits import Sizes
from topoloom.schedules.model.schedule import SEND, Collective, StepSchedule
from topoloom.synth.topology.topology import Topology


def test_more_than_71_chunks_are_sent_in_several_messages():
    topology = ring(2)
    text = render(shortest_trees(topology, (200, 1)), topology, "azure")
    program = replay(text, "azure")
    counts = [s.count for g in program.gpus for b in g.blocks for s in b.steps if s.type == "s"]
    assert max(counts) <= MAX_COUNT and sum(counts) == 2 * 201


@pytest.mark.slow
def test_blocks_that_grow_too_long_are_spread_over_channels():
    topology = ring(40)
    schedule = shortest_steps(topology, 1)
    made = every_schedule(topology, 1)
    for dialect in Dialect:
        program = replay(render(made["steps-allreduce"], topology, dialect), dialect)
        longest = max(len(block.steps) for gpu in program.gpus for block in gpu.blocks)
        assert longest <= runtimes_for("msccl-xml", dialect)[0].steps
    channels = {
        block.channel
        for gpu in replay(render(made["steps-allreduce"], topology, "rccl"), "rccl").gpus
        for block in gpu.blocks
    }
    assert channels == {0, 1}
    assert len(schedule.steps) == 39


@pytest.mark.slow
def test_no_gpu_has_more_than_32_peers_on_a_channel_and_blocks_are_shared_if_they_must():
    topology = complete(40)
    schedule = shortest_steps(topology)
    for dialect, blocks in (("azure", 79), ("rccl", 40)):
        program = replay(render(schedule, topology, dialect), dialect)
        assert max(len(gpu.blocks) for gpu in program.gpus) == blocks
        assert {block.channel for gpu in program.gpus for block in gpu.blocks} == {0, 1}


@pytest.mark.slow
def test_a_limit_that_cannot_be_met_is_named_with_the_number_needed():
    # Steps: nothing but their generator makes them coarser.
    topology = complete(70)
    with pytest.raises(NotExportable, match=r"\d+ are needed; .*max_chunks") as caught:
        render(shortest_steps(topology), topology, "rccl")
    assert caught.value.field == "/gpu/thread_blocks"


@pytest.mark.parametrize("weights", [(400_000, 1), (150_000, 1), (32768, 3, 1)], ids=str)
@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.one_in(3)
def test_trees_of_more_chunks_than_a_run_time_can_say_are_made_coarser_and_it_is_said(
    weights, dialect
):
    topology = ring(2)
    text = render(shortest_trees(topology, weights), topology, dialect)
    program = replay(text, dialect)
    assert program.chunks <= 32768 * 2
    before = int(program.name.rpartition("-of-")[2].partition("-")[0])
    assert program.chunks // 2 < before == sum(weights)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", [name for name in RUNTIMES if RUNTIMES[name].dialect])
def test_no_program_passes_a_limit_of_its_run_time(name):
    runtime = RUNTIMES[name]
    for topology in (ring(24), complete(16)):
        made = every_schedule(topology, 1)
        for schedule in (made["steps-allreduce"], made["trees-reduce-scatter"]):
            program = replay(render(schedule, topology, runtime), runtime)
            for gpu in program.gpus:
                assert len(gpu.blocks) <= runtime.multiprocessors
                assert max(len(block.steps) for block in gpu.blocks) <= runtime.steps
                needed = program.bytes[1] * gpu.sizes["s"] // program.chunks
                assert not runtime.scratch_at_start or needed <= 2**30


@pytest.mark.slow
def test_what_one_run_time_cannot_load_another_may_and_is_named():
    topology = complete(50)
    schedule = shortest_steps(topology)
    with pytest.raises(NotExportable, match="on rccl a GPU may have 64 thread blocks; 72 are"):
        render(shortest_steps(complete(72)), complete(72), RUNTIMES["rccl"])
    with pytest.raises(NotExportable, match="msccl-h100 would take it") as caught:
        render(shortest_steps(complete(110)), complete(110), RUNTIMES["msccl-a100"])
    assert caught.value.field == "/gpu/thread_blocks"
    assert replay(render(schedule, topology, RUNTIMES["msccl-v100"]), RUNTIMES["msccl-v100"])


def test_scratch_at_start_stays_within_the_budget_and_sizes_are_what_was_asked_for():
    schedule = every_schedule(ring(5))["steps-reduce-scatter"]

    def program(name, **said):
        return replay(
            render(schedule, ring(5), RUNTIMES[name], sizes=Sizes(**said)), RUNTIMES[name]
        )

    free = program("msccl-a100")
    scratch = max(gpu.sizes["s"] for gpu in free.gpus)
    assert (scratch, free.chunks) == (6, 10)
    assert free.bytes == (0, 2**30 * 5 // 3 + 1)
    assert program("msccl-a100", scratch_budget=4096).bytes == (0, 4096 * 5 // 3 + 1)
    assert program("azure").bytes == (0, 0)
    assert program("azure", min_bytes=100, max_bytes=200).bytes == (100, 200)
    # msccl runs what is smaller than maxBytes, the others what is not larger.
    assert program("msccl-a100", min_bytes=100, max_bytes=200).bytes == (100, 201)
    for name, said, field in (
        ("msccl-a100", {"max_bytes": 2**40}, "/max_bytes"),
        ("azure", {"max_bytes": 2**20, "scratch_budget": 2**19}, "/max_bytes"),
        ("msccl-a100", {"min_bytes": 2**40}, "/min_bytes"),
        ("rccl", {"min_bytes": 2, "max_bytes": 1}, "/max_bytes"),
    ):
        with pytest.raises(NotExportable) as caught:
            program(name, **said)
        assert caught.value.field == field


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("kind", ["steps-allreduce", "trees-allgather", "trees-reduce-scatter"])
def test_instances_carry_every_message_in_so_many_parts_on_channels_of_their_own(kind, dialect):
    topology = bidirectional_ring(5)
    schedule = every_schedule(topology)[kind]
    one, four = (
        replay(render(schedule, topology, dialect, instances=count), dialect, slots=0)
        for count in (1, 4)
    )
    assert four.chunks == 4 * one.chunks

    def carried(program):
        found = Counter()
        for at, gpu in enumerate(program.gpus):
            for block in gpu.blocks:
                for step in block.steps:
                    found[at, block.send, block.channel] += step.count * (step.type == "s")
        return found

    for (gpu, peer, _), chunks in carried(one).items():
        shares = {carried(four)[gpu, peer, channel] for channel in range(4)}
        assert shares == {chunks}
    for wrong in (0, 17):
        with pytest.raises(NotExportable) as caught:
            render(schedule, topology, dialect, instances=wrong)
        assert caught.value.field == "/instances"


def test_a_program_of_too_many_messages_is_refused():
    pair, chunks = ring(2), 140_000
    steps = []
    for parity in (0, 1):
        # Every other chunk, so that none can be joined to the next.
        step = np.zeros((2, chunks // 2), dtype=SEND)
        for rank in (0, 1):
            step["source"][rank], step["target"][rank], step["shard"][rank] = rank, 1 - rank, rank
        step["first"], step["count"] = np.arange(parity, chunks, 2), 1
        steps.append(step.ravel())
    schedule = StepSchedule(Collective.ALLGATHER, pair.digest, (0, 1), chunks, tuple(steps))
    with pytest.raises(NotExportable) as caught:
        render(schedule, pair, "azure")
    assert caught.value.field == "/messages"


def test_what_is_not_valid_is_not_exported():
    topology = ring(3)
    gather = shortest_steps(topology)
    with pytest.raises(InvalidSchedule):
        render(gather, bidirectional_ring(3), "msccl")
    lonely = Topology([0], [])
    with pytest.raises(NotExportable):
        render(shortest_steps(lonely), lonely, "msccl")
