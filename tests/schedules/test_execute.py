"""Schedules run between real processes; every element of every rank is compared."""

from dataclasses import replace

import numpy as np
import pytest

from tests.schedule_oracles import ring
from topoloom.schedules.errors import ExecutionFailed, TooLarge
from topoloom.schedules.execute import execute
from topoloom.schedules.execute.point_to_point_executor import MESSAGE_BYTES
from topoloom.schedules.generate.collectives import make
from topoloom.schedules.model.schedule import Collective, SequenceSchedule, StepSchedule
from topoloom.synth.fabrics import fabric
from topoloom.synth.recipes.build import build
from topoloom.synth.recipes.recipe import parse

COLLECTIVES = ("allgather", "reduce-scatter", "allreduce")


def topology_of(name):
    return build(parse(name)) if "(" in name else fabric(name)


@pytest.mark.one_in(5)
@pytest.mark.parametrize("collective", COLLECTIVES)
@pytest.mark.parametrize(
    ("name", "algorithm"),
    [
        ("Circulant(8, 1, 3)", "bfb"),
        ("Kautz(3, 2)", "bfb"),
        ("GeneralizedKautz(3, 11)", "bfb"),
        ("Torus(4, 4)", "bfb"),
        ("DeBruijn(2, 3)", "bfb"),
        ("Torus(4, 4)", "forestcoll"),
        ("GeneralizedKautz(3, 11)", "forestcoll"),
        ("dgx-a100-2", "forestcoll"),
        ("dgx-1v", "forestcoll"),
        ("mi250-1", "forestcoll"),
    ],
)
def test_every_rank_holds_every_bit_of_the_result(team, name, algorithm, collective):
    schedule = make(topology_of(name), collective, algorithm)
    done = execute(schedule, size_bytes=120_000, repeat=2, team=team)
    assert done.mistakes == ()
    assert done.exact
    assert len(done.seconds) == 2
    assert all(seconds > 0 for seconds in done.seconds)


@pytest.mark.parametrize("algorithm", ["bfb", "forestcoll"])
def test_data_of_several_messages_in_a_round_holds_every_bit_too(team, algorithm):
    schedule = make(topology_of("Complete(2)"), "allreduce", algorithm)
    done = execute(schedule, size_bytes=3 * MESSAGE_BYTES + 12, pipeline_chunks=1, team=team)
    assert done.exact


@pytest.mark.parametrize(
    ("collective", "options"),
    [
        ("broadcast", {"root": "0.gpu3"}),
        ("reduce", {"root": "1.gpu0"}),
        ("reduce", {"root": "1.gpu0", "participants": ["0.gpu0", "1.gpu0", "1.gpu7"]}),
        ("allgather", {"shards": {"0.gpu0": 3, "1.gpu5": 1}}),
        ("allreduce", {"shards": {"0.gpu0": 3, "1.gpu5": 1}}),
        ("allreduce", {"participants": ["0.gpu0", "0.gpu1", "1.gpu6"]}),
    ],
)
def test_one_root_unequal_shards_and_groups_hold_every_bit_too(team, collective, options):
    schedule = make(fabric("dgx-a100-2"), collective, "forestcoll", **options)
    done = execute(schedule, size_bytes=120_000, team=team)
    assert done.exact
    assert done.ranks == getattr(schedule, "parts", (schedule,))[0].ranks


def without(schedule, step, send):
    steps = list(schedule.steps)
    steps[step] = np.delete(steps[step], send)
    return replace(schedule, steps=tuple(steps))


def test_a_chunk_that_is_never_sent_is_found_in_the_data(team):
    schedule = without(make(build(parse("Kautz(2, 2)")), "allgather"), 1, 0)
    done = execute(schedule, size_bytes=6 * 64, team=team)
    assert not done.exact
    assert {mistake.wrong for mistake in done.mistakes} <= set(range(1, 17))


def test_a_chunk_sent_before_it_has_arrived_is_found_in_the_data(team):
    schedule = make(build(parse("Kautz(2, 2)")), "allgather")
    swapped = replace(schedule, steps=schedule.steps[::-1])
    assert not execute(swapped, team=team).exact


def test_a_contribution_that_counts_twice_is_found_in_the_data(team):
    schedule = make(ring(3), "reduce-scatter")
    step = schedule.steps[-1]
    doubled = replace(schedule, steps=(*schedule.steps[:-1], np.concatenate([step, step[:1]])))
    found = execute(doubled, size_bytes=48, team=team).mistakes
    assert [(m.rank, m.shard, m.wrong, m.first) for m in found] == [
        (int(step[0]["target"]), int(step[0]["shard"]), 4, 0)
    ]


def test_data_smaller_than_the_chunks_is_moved_too(team):
    schedule = make(fabric("dgx-a100-2"), "allreduce", "forestcoll")
    for size in (0, 4, 60):
        done = execute(schedule, size_bytes=size, team=team)
        assert done.exact
        assert done.bytes_moved == 30 * size


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"size_bytes": 6}, "/bytes"),
        ({"size_bytes": 1 << 40}, "/bytes"),
        ({"repeat": 0}, "/repeat"),
        ({"pipeline_chunks": 0}, "/pipeline_chunks"),
        ({"timeout_seconds": 0}, "/timeout_seconds"),
    ],
)
def test_limits_are_explicit(options, field):
    with pytest.raises(TooLarge) as error:
        execute(make(ring(3), "allgather"), **options)
    assert error.value.field == field


def test_a_sequence_without_parts_is_refused():
    with pytest.raises(ExecutionFailed):
        execute(SequenceSchedule(Collective.ALLREDUCE, "", ()))


@pytest.mark.slow
def test_a_team_that_is_too_small_is_refused(team):
    huge = StepSchedule(Collective.ALLGATHER, "", tuple(range(17)), 1, ())
    with pytest.raises(ExecutionFailed, match="17"):
        execute(huge, team=team)
