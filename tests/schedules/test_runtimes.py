"""What a file must keep so that a run-time loads it and runs it as it is meant."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import pytest

from tests.schedule_oracles import every_schedule, ring, shortest_steps, shortest_trees
from tests.schedules.export_cases import FABRICS, schedule_of, topology_of
from topoloom.schedules.errors import InvalidProgram, NotExportable
from topoloom.schedules.formats.inspection.check_program import program_violations
from topoloom.schedules.formats.inspection.requirements import requirements
from topoloom.schedules.formats.msccl.read import parse
from topoloom.schedules.formats.msccl.write import render
from topoloom.schedules.formats.msccl.write import text as written
from topoloom.schedules.formats.targets.fit_runtime import coarser, round_weights
from topoloom.schedules.formats.targets.runtimes import DEFAULTS, RUNTIMES, runtime_of, runtimes_for
from topoloom.schedules.model.schedule import Collective
from topoloom.schedules.verify import violations

MSCCL = [name for name in RUNTIMES if RUNTIMES[name].dialect]


def program(collective="steps-allreduce", dialect="msccl", count=3):
    return parse(render(every_schedule(ring(count))[collective], ring(count), dialect), dialect)


def with_gpu(made, at, **changes):
    gpus = list(made.gpus)
    gpus[at] = replace(gpus[at], **changes)
    return replace(made, gpus=tuple(gpus))


def refused(made, runtime):
    with pytest.raises(InvalidProgram) as caught:
        parse(written(made, RUNTIMES[runtime]), RUNTIMES[runtime])
    return str(caught.value)


@pytest.mark.parametrize("name", MSCCL)
def test_one_step_more_than_a_run_time_reads_is_refused(name):
    runtime, made = RUNTIMES[name], program(dialect=RUNTIMES[name].dialect)
    idle = made.gpus[0].blocks[0].steps[0]
    copy = replace(idle, type="cpy", wait_block=-1, wait_step=-1, is_awaited=False)

    def of(steps):
        block = replace(made.gpus[0].blocks[0], send=-1, recv=-1, steps=(copy,) * steps)
        return with_gpu(made, 0, blocks=(block,))

    parse(written(of(runtime.steps), runtime), runtime)
    assert f"may have {runtime.steps} steps" in refused(of(runtime.steps + 1), name)


@pytest.mark.parametrize("name", MSCCL)
def test_one_thread_block_more_than_runs_at_once_is_refused(name):
    runtime, made = RUNTIMES[name], program(dialect=RUNTIMES[name].dialect)
    step = replace(made.gpus[0].blocks[0].steps[0], type="cpy", wait_block=-1, wait_step=-1)
    block = replace(made.gpus[0].blocks[0], send=-1, recv=-1, steps=(step,))
    of = lambda count: with_gpu(made, 0, blocks=(block,) * count)  # noqa: E731
    parse(written(of(runtime.thread_blocks), runtime), runtime)
    assert "thread blocks" in refused(of(runtime.thread_blocks + 1), name)
    assert runtime.thread_blocks <= runtime.multiprocessors


def test_a_wait_for_block_128_which_an_int8_turns_negative_is_refused():
    made = program()
    step = replace(made.gpus[0].blocks[0].steps[0], type="cpy", wait_block=-1, wait_step=-1)
    block = replace(
        made.gpus[0].blocks[0], send=-1, recv=-1, steps=(replace(step, is_awaited=True),)
    )

    def waiting_for(at):
        last = replace(block, steps=(replace(step, wait_block=at, wait_step=0, is_awaited=False),))
        return with_gpu(made, 0, blocks=(*(block,) * 131, last))

    parse(written(waiting_for(127), RUNTIMES["msccl-h100"]), RUNTIMES["msccl-h100"])
    assert "0 to 127" in refused(waiting_for(128), "msccl-h100")


def test_an_offset_that_an_int16_turns_negative_is_refused():
    made = program()
    sizes = {"i": 60_000, "o": 60_000, "s": 0}
    step = replace(made.gpus[0].blocks[0].steps[0], type="cpy", wait_block=-1, wait_step=-1)
    for offset, fine in ((32_767, True), (32_768, False), (40_000, False)):
        for place in ("source_offset", "target_offset"):
            moved = replace(step, source_buffer="i", target_buffer="o", **{place: offset})
            block = replace(made.gpus[0].blocks[0], send=-1, recv=-1, steps=(moved,))
            wrong = with_gpu(replace(made, chunks=60_000), 0, blocks=(block,), sizes=sizes)
            wrong = replace(wrong, gpus=tuple(replace(gpu, sizes=sizes) for gpu in wrong.gpus))
            if fine:
                parse(written(wrong, "msccl"), "msccl")
            else:
                assert "at most at chunk 32767" in refused(wrong, "msccl-a100")


def test_scratch_that_the_device_does_not_have_is_refused_where_it_is_allocated_at_start():
    text = render(every_schedule(ring(5))["steps-reduce-scatter"], ring(5), "msccl")
    huge = re.sub('maxBytes="[0-9]+"', f'maxBytes="{2**40}"', text)
    found = program_violations("msccl-xml", [huge.encode()], ring(5), RUNTIMES["msccl-a100"])
    assert "allocate 659706976665 bytes of scratch" in str(found[0])
    # 2^27 is what msccl takes where nothing is said.
    silent = re.sub(' maxBytes="[0-9]+"', "", text)
    assert parse(silent, "msccl").bytes == (0, 2**27)
    assert program_violations("msccl-xml", [text.encode()], ring(5), "msccl") == []


def test_a_file_that_lets_no_size_pass_is_refused():
    text = render(shortest_steps(ring(3)), ring(3), "azure")
    text = text.replace('minBytes="0"', 'minBytes="9"')
    assert parse(text, "azure").bytes == (9, 0)
    with pytest.raises(InvalidProgram, match="maxBytes"):
        parse(text.replace('maxBytes="0"', 'maxBytes="8"'), "azure")


@pytest.mark.slow
@pytest.mark.parametrize("name", MSCCL)
def test_the_largest_forest_is_written_within_the_limits_of_each_run_time(name):
    topology, schedule = topology_of("mi250-2"), schedule_of("mi250-2", "allreduce")
    text = render(schedule, topology, RUNTIMES[name])
    found = requirements("msccl-xml", text, RUNTIMES[name])
    assert found.steps <= RUNTIMES[name].steps
    assert found.thread_blocks <= RUNTIMES[name].multiprocessors


@pytest.mark.parametrize("fabric", FABRICS)
def test_what_a_program_needs_is_what_its_file_says(fabric):
    schedule, topology = schedule_of(fabric, "reduce-scatter"), topology_of(fabric)
    text = render(schedule, topology, "azure")
    root, found = ET.fromstring(text), requirements("msccl-xml", text, RUNTIMES["azure"])
    gpus = len(topology.compute_nodes)
    assert found.multiple == int(root.get("nchunksperloop"))
    assert found.scheduler_multiple == gpus * found.multiple
    assert found.channels == int(root.get("nchannels"))
    assert found.thread_blocks == max(len(gpu) for gpu in root)
    assert found.steps == max(len(block) for gpu in root for block in gpu)
    assert found.scratch * found.multiple == max(int(gpu.get("s_chunks")) for gpu in root)


def test_every_default_is_a_run_time_of_its_dialect_or_format():
    for key, names in DEFAULTS.items():
        for name in names:
            assert key in (RUNTIMES[name].dialect, RUNTIMES[name].form)
        sizes = [RUNTIMES[name].thread_blocks for name in names]
        assert sizes == sorted(sizes)


@pytest.mark.parametrize(
    ("said", "field"),
    [
        (("msccl-xml", "nccl", None), "/dialect"),
        (("msccl-xml", None, "mscclpp-b200"), "/runtime"),
        (("mscclpp-json", None, "rccl"), "/runtime"),
        (("msccl-xml", "rccl", "azure"), "/dialect"),
    ],
)
def test_what_is_no_run_time_of_a_format_is_named(said, field):
    with pytest.raises(NotExportable) as caught:
        runtimes_for(*said)
    assert caught.value.field == field


def test_run_times_are_found_by_their_names():
    for name, runtime in RUNTIMES.items():
        assert runtime_of(name, runtime.form) is runtime
        assert runtime.source and runtime.name == name


@pytest.mark.parametrize("weights", [(5, 2), (1, 1, 1), (4097, 1), (64,)], ids=str)
@pytest.mark.parametrize(
    "collective", ["trees-allgather", "trees-reduce-scatter", "trees-allreduce"]
)
def test_coarser_trees_are_valid_and_end_with_one_chunk(weights, collective):
    schedule = every_schedule(ring(4), 1, weights)[collective]
    made = list(coarser(schedule))
    assert made[0] is schedule
    for each in made:
        assert violations(each, ring(4)) == []
    last = getattr(made[-1], "parts", (made[-1],))[0]
    assert last.trees_per_root == 1 and len(last.trees) == 4


def test_rounding_keeps_sizes_of_unequal_shards_and_schedules_in_steps_as_they_are():
    trees = shortest_trees(ring(3), (3, 2))
    assert round_weights(trees, 5).trees == trees.trees
    assert list(coarser(shortest_steps(ring(3), 4)))[1:] == []
    assert round_weights(trees, 2).collective is Collective.ALLGATHER
